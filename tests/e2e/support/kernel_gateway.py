"""Our program in the place of `jupyter kernelgateway`, as agent frameworks start it."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path

from support.gateway import BINARY


@contextmanager
def as_kernelgateway(folder: Path):
    """Whoever runs `jupyter kernelgateway` in here gets ours, with its state in `folder`."""
    (folder / "bin").mkdir()
    (folder / "bin" / "jupyter-kernelgateway").symlink_to(BINARY)
    changes = {
        "PATH": f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "CELLBLOCK_STATE_DIR": str(folder / "state"),
        "CELLBLOCK_POOL_SIZE": "0",
    }
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
