"""The Node programs of tests/e2e/node, with the packages that tests/run has installed for them."""

import hashlib
import os
import subprocess
from pathlib import Path

from support.paths import cache_folder

FOLDER = Path(__file__).resolve().parents[1] / "node"


def packages() -> Path:
    """As tests/run names the folder: by the lock file's hash, beside images and templates."""
    key = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()[:12]
    found = cache_folder() / f"test-node-{key}" / "node_modules"
    assert found.is_dir(), f"no {found}: `tests/run e2e` installs it"
    return found


def run_node(script: str, *arguments: str, timeout_s: float = 1200) -> list[str]:
    """The lines that the program printed; it must end well."""
    done = subprocess.run(
        ["node", str(FOLDER / script), *arguments],
        env={**os.environ, "NODE_PATH": str(packages())},
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout.splitlines()
