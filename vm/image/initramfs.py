"""The initramfs of a guest: /init, busybox, the kernel modules it loads; and the kernel beside it.

A newc cpio, not compressed: the host appends the agent to it (the kernel takes archives back to
back), and unpacking nothing is quickest without KVM.
"""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
from pathlib import Path


class Broken(Exception):
    """A package does not hold what it should."""


def build(
    packages: Path, scratch: Path, modules: list[str], init: Path, target: Path, epoch: int
) -> str:
    """Writes vmlinuz and initramfs-base.img from .deb files; returns the kernel release."""
    for package in packages.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, scratch], check=True)
    kernels = list((scratch / "boot").glob("vmlinuz-*"))
    if len(kernels) != 1:
        raise Broken(f"expected one kernel package, found {len(kernels)}")
    release = kernels[0].name.removeprefix("vmlinuz-")
    shutil.copyfile(kernels[0], target / "vmlinuz")

    archive = Cpio(epoch)
    for folder in ("bin", "dev", "modules"):
        archive.add(folder, b"", 0o040755)
    archive.add("init", init.read_bytes(), 0o100755)
    archive.add("bin/busybox", find(scratch, "bin/busybox").read_bytes(), 0o100755)
    order = load_order(scratch, release, modules)
    for name, data in order.items():
        archive.add(f"modules/{name}.ko", data, 0o100644)
    archive.add("modules/order", ("\n".join(order) + "\n").encode(), 0o100644)
    (target / "initramfs-base.img").write_bytes(archive.finish())
    return release


def find(root: Path, name: str) -> Path:
    for path in (root / name, root / "usr" / name):
        if path.is_file():
            return path
    raise Broken(f"{name} is in none of the packages")


def load_order(root: Path, release: str, wanted: list[str]) -> dict[str, bytes]:
    """The modules and all that they depend on, dependencies first; what is built in is left out."""
    tree = next(path for path in (root / "usr/lib/modules", root / "lib/modules") if path.is_dir())
    files = {re.sub(r"\.ko.*", "", p.name).replace("-", "_"): p for p in tree.rglob("*.ko*")}
    builtin = {
        Path(line).stem.replace("-", "_")
        for line in (tree / release / "modules.builtin").read_text().splitlines()
    }
    order: dict[str, bytes] = {}

    def visit(name: str) -> None:
        if name in order or name in builtin:
            return
        if name not in files:
            raise Broken(f"kernel {release} has no module {name}")
        data = files[name].read_bytes()
        if files[name].suffix == ".xz":
            data = lzma.decompress(data)
        info = re.search(rb"\0depends=([^\0]*)\0", data)
        for dependency in (info[1].decode() if info else "").split(","):
            if dependency:
                visit(dependency.replace("-", "_"))
        order[name] = data

    for name in wanted:
        visit(name)
    return order


class Cpio:
    """A writer of the newc format."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.count = 0
        self.data = bytearray()

    def add(self, name: str, content: bytes, mode: int) -> None:
        self.count += 1
        encoded = name.encode() + b"\0"
        fields = (
            self.count, mode, 0, 0, 1, self.epoch, len(content), 0, 0, 0, 0, len(encoded), 0,
        )  # fmt: skip
        self.data += b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        self.pad()
        self.data += content
        self.pad()

    def pad(self) -> None:
        self.data += bytes(-len(self.data) % 4)

    def finish(self) -> bytes:
        self.add("TRAILER!!!", b"", 0)
        self.data += bytes(-len(self.data) % 512)
        return bytes(self.data)
