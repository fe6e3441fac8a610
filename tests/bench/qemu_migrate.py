"""QEMU's own way to keep a machine: `migrate` to a file, and back into a new process.

The machine never runs: what it costs depends on what is in its memory, and that is a template's
(as a sandbox has it) with some of it overwritten.
"""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

BANDWIDTH = 64 << 30  # bytes a second: no limit


class Qemu:
    """A stopped microvm whose RAM is a file."""

    def __init__(self, ram: Path, *arguments: str):
        size = ram.stat().st_size
        self.process = subprocess.Popen(
            [
                "qemu-system-x86_64",
                *["-M", "microvm,memory-backend=ram", "-m", f"{size >> 20}M", "-S", "-nodefaults"],
                *["-object", f"memory-backend-file,id=ram,size={size},mem-path={ram},share=on"],
                *["-display", "none", "-qmp", "stdio", *arguments],
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.receive()  # its greeting
        self.command("qmp_capabilities")
        on = {"capability": "events", "state": True}
        self.command("migrate-set-capabilities", capabilities=[on])
        self.command("migrate-set-parameters", **{"max-bandwidth": BANDWIDTH})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def receive(self) -> dict:
        line = self.process.stdout.readline()
        assert line, "QEMU ended"
        return json.loads(line)

    def command(self, name: str, **arguments) -> None:
        self.process.stdin.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
        self.process.stdin.flush()
        while True:
            answer = self.receive()
            assert "error" not in answer, answer
            if "return" in answer:
                return

    def wait_migrated(self) -> None:
        while True:
            event = self.receive()
            if event.get("event") != "MIGRATION":
                continue
            status = event["data"]["status"]
            assert status != "failed", event
            if status == "completed":
                return


def dirty(ram: Path, mib: int) -> None:
    """Overwrites that much, above what the template uses most."""
    with open(ram, "r+b") as file:
        file.seek(1 << 30)
        file.writelines(os.urandom(1 << 20) for _ in range(mib))


def out_and_back(template: Path, mib: int, folder: Path) -> tuple[float, float, int]:
    """Seconds to the file, seconds back, bytes of the file."""
    ram, fresh, state = folder / "ram", folder / "fresh", folder / "state"
    subprocess.run(["cp", "--sparse=always", template / "ram", ram], check=True)
    dirty(ram, mib)
    with open(fresh, "wb") as file:
        file.truncate(ram.stat().st_size)
    with Qemu(ram) as source:
        started = time.perf_counter()
        source.command("migrate", uri=f"exec:cat > {state}")
        source.wait_migrated()
        out = time.perf_counter() - started
    started = time.perf_counter()
    with Qemu(fresh, "-incoming", "defer") as target:
        target.command("migrate-incoming", uri=f"exec:cat {state}")
        target.wait_migrated()
        back = time.perf_counter() - started
    size = state.stat().st_size
    shutil.rmtree(folder)
    return out, back, size


def newest_template(cache: Path) -> Path:
    templates = [path.parent for path in cache.glob("templates/*/ram")]
    assert templates, f"no template in {cache}"
    return max(templates, key=lambda path: (path / "ram").stat().st_mtime)
