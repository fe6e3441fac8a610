"""Kernels behind an installed kernelspec, whose clients speak ZeroMQ and know of no gateway."""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

from jupyter_client.manager import start_new_kernel

from support.gateway import BINARY
from support.kernels import TIMEOUT_S

NAME = "cellblock-python3"


def cellblock(gateway, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(BINARY), *arguments, "--gateway", gateway.url, "--state-dir", str(gateway.state)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
    )


@contextmanager
def jupyter_folders(gateway, folder: Path):
    """The kernelspec in a folder of its own, where this process's Jupyter clients look."""
    before = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = str(folder / "share/jupyter")
    try:
        cellblock(gateway, "kernelspec", "install", "--prefix", str(folder))
        yield folder
    finally:
        if before is None:
            del os.environ["JUPYTER_PATH"]
        else:
            os.environ["JUPYTER_PATH"] = before


@contextmanager
def running_kernel():
    manager, client = start_new_kernel(kernel_name=NAME, startup_timeout=TIMEOUT_S)
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
