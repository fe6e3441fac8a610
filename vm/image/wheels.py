"""Downloads the wheels that a lock file names, and checks every one of them against its hash."""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

PYTHON = "3.13"
PLATFORMS = [
    "manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_26_x86_64",
    "manylinux_2_24_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64",
    "manylinux_2_12_x86_64", "manylinux2010_x86_64", "manylinux_2_5_x86_64", "manylinux1_x86_64",
]  # fmt: skip


class NoIndex(Exception):
    """The wheels cannot be had."""


class Forged(Exception):
    """A downloaded wheel is not the one that was locked: never a reason to do without."""


def locked_hashes(lock: Path) -> set[str]:
    return set(re.findall(r"--hash=sha256:([0-9a-f]{64})", lock.read_text()))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def pip_command(scratch: Path) -> list[str]:
    """A pip that runs on this host: the system's, or one in a throw-away virtual environment."""
    probe = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True)
    if probe.returncode == 0:
        return [sys.executable, "-m", "pip"]
    made = subprocess.run([sys.executable, "-m", "venv", scratch / "venv"], capture_output=True)
    if made.returncode != 0:
        raise NoIndex("there is no pip: install it with: sudo apt-get install python3-pip")
    return [str(scratch / "venv/bin/python"), "-m", "pip"]


def download_options() -> list[str]:
    options = ["--only-binary=:all:", "--implementation=cp", f"--python-version={PYTHON}"]
    return options + [f"--platform={platform}" for platform in PLATFORMS]


def fetch(lock: Path, cache: Path, log: Callable[[str], None]) -> Path:
    """Returns a folder named `wheels` with exactly the lock's wheels, kept for the next build."""
    wanted = locked_hashes(lock)
    folder = cache / hashlib.sha256(lock.read_bytes()).hexdigest()[:12] / "wheels"
    if complete(folder, wanted):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (
        (folder.parent / ".lock").open("w") as lock_file,
        tempfile.TemporaryDirectory(dir=folder.parent) as temporary,
    ):
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        if complete(folder, wanted):  # another builder was quicker
            return folder
        scratch = Path(temporary)
        command = pip_command(scratch) + [
            "download", "--quiet", "--no-deps", "--require-hashes", "--no-cache-dir", "--retries=2",
            "--timeout=20", "--progress-bar=off", "--dest", str(scratch / "wheels"),
            "-r", str(lock), *download_options(),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        log(done.stdout + done.stderr)
        if "DO NOT MATCH THE HASHES" in done.stderr:
            raise Forged("a downloaded wheel has another hash than science.lock; see the log")
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise NoIndex(lines[-1].removeprefix("ERROR: ") if lines else "pip failed; see the log")
        if not complete(scratch / "wheels", wanted):
            raise NoIndex("pip downloaded other files than the lock names")
        shutil.rmtree(folder, ignore_errors=True)
        (scratch / "wheels").rename(folder)
    return folder


def complete(folder: Path, wanted: set[str]) -> bool:
    return folder.is_dir() and {sha256(path) for path in folder.iterdir()} == wanted
