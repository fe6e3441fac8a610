"""A disk that is full while a sandbox is paused or kept: a clear error, and the sandbox goes on."""

import subprocess

import pytest
from support.gateway import Gateway


@pytest.fixture
def cramped(tmp_path):
    """A gateway whose saved sandboxes lie on file systems of 64 MiB (microVM tests run as root)."""
    state = tmp_path / "state"
    mounted = []
    for name in ("paused", "snapshots"):
        folder = state / name
        folder.mkdir(parents=True)
        command = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)]
        subprocess.run(command, check=True)
        mounted.append(folder)
    gateway = None
    try:
        gateway = Gateway("--pool-size", "0", state=state)
        yield gateway
    finally:
        if gateway:
            gateway.stop()
        for folder in mounted:
            subprocess.run(["umount", str(folder)], check=False)
        if gateway:
            gateway.remove()


def test_a_full_disk_is_told_and_the_sandbox_goes_on(cramped):
    sandbox = cramped.create_sandbox(timeout=300)
    cramped.execute("x = 'kept'", sandbox=sandbox)
    for action in ("pause", "snapshots"):
        refused = cramped.request("POST", f"/sandboxes/{sandbox}/{action}", json={})
        assert refused.status_code == 507, (refused.status_code, refused.text)
        assert "disk space" in refused.json()["message"]
        assert cramped.request("GET", f"/sandboxes/{sandbox}").json()["state"] == "running"
        assert cramped.execute("print(x)", sandbox=sandbox).stdout == "kept\n"
    assert cramped.request("GET", "/snapshots").json() == []
    assert list((cramped.state / "paused").iterdir()) == []
