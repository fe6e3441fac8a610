"""What holds QEMU: a user of its own, no capabilities, seccomp, empty namespaces, limits."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def qemu(gateway, sandbox) -> Path:
    detail = gateway.request("GET", f"/sandboxes/{sandbox}").json()
    process = Path(f"/proc/{detail['machine']['pid']}")
    assert (process / "comm").read_text().startswith("qemu")
    return process


def status(process: Path) -> dict[str, str]:
    return dict(
        line.split(":\t", 1)
        for line in (process / "status").read_text().splitlines()
        if ":\t" in line
    )


def test_qemu_has_no_privilege_and_no_way_to_gain_one(qemu):
    fields = status(qemu)
    assert "0" not in fields["Uid"].split()
    for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(fields[kind], 16) == 0, kind
    assert fields["NoNewPrivs"].strip() == "1"
    assert fields["Seccomp"].strip() == "2"


@pytest.mark.parametrize("kind", ["mnt", "pid", "ipc", "net", "uts", "user"])
def test_qemu_has_a_namespace_of_its_own(qemu, kind):
    assert os.readlink(qemu / "ns" / kind) != os.readlink(f"/proc/self/ns/{kind}")


def test_qemu_sees_no_network_and_none_of_the_gateways_files(qemu, gateway):
    devices = (qemu / "net" / "dev").read_text().splitlines()[2:]
    assert all(line.split(":")[0].strip() == "lo" for line in devices), devices
    root = qemu / "root"
    assert not (root / str(gateway.state).lstrip("/") / "token").exists()
    assert not (root / "etc" / "shadow").exists()
    assert not (root / "root").exists() or not os.listdir(root / "root")
    mounts = (qemu / "mountinfo").read_text()
    assert str(gateway.state / "token") not in mounts


def test_qemu_has_limits_and_dumps_no_core(qemu):
    limits = (qemu / "limits").read_text()
    core = next(line for line in limits.splitlines() if line.startswith("Max core file size"))
    assert core.split()[4] == "0"
    files = next(line for line in limits.splitlines() if line.startswith("Max open files"))
    assert int(files.split()[3]) <= 1024


def test_qemu_holds_none_of_the_gateways_descriptors(qemu, gateway):
    targets = [os.readlink(entry) for entry in (qemu / "fd").iterdir()]
    assert not [
        target
        for target in targets
        if "state.db" in target or "index.db" in target or target.endswith("/token")
    ]
