"""Which files of the working directory a cell has made or changed: they are offered as artifacts.

Looked for before and after each cell that a gateway runs, by name, size and time only: no file is
opened. A folder that is too large to be looked through in time is not watched, which is told once.
"""

from __future__ import annotations

import contextlib
import mimetypes
import os
import time
from typing import Any

FILES_MIME = "application/vnd.cellblock.files+json"

# What looking may cost: a project's folder, not a data lake. Twice per cell.
ENTRIES_MAX = 2000
DEPTH_MAX = 3
SECONDS_MAX = 0.05
# As many are looked at however long it takes: on a busy host without KVM ten take 50 ms.
ENTRIES_AT_LEAST = 200
# Files of one cell that are named; of the others only their number is told.
FILES_MAX = 50

_SKIPPED = {"__pycache__", "node_modules"}
# What a table's reader calls them, where Python's list has no name or differs by machine.
_TYPES = {
    ".arrow": "application/vnd.apache.arrow.file",
    ".csv": "text/csv",
    ".ipynb": "application/x-ipynb+json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

Seen = dict[str, tuple[int, int, int]]  # path: size, time of change, inode


def look(folder: str) -> Seen | None:
    """The regular files below a folder; None when there are too many, or it takes too long."""
    seen: Seen = {}
    entries = 0
    end = time.monotonic() + SECONDS_MAX
    waiting = [(folder, 1)]
    while waiting:
        current, depth = waiting.pop()
        try:
            with os.scandir(current) as listing:
                for entry in listing:
                    entries += 1
                    late = entries > ENTRIES_AT_LEAST and time.monotonic() > end
                    if entries > ENTRIES_MAX or late:
                        return None
                    if entry.name.startswith(".") or entry.name in _SKIPPED:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        if depth < DEPTH_MAX:
                            waiting.append((entry.path, depth + 1))
                    elif entry.is_file(follow_symlinks=False):
                        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                            info = entry.stat(follow_symlinks=False)
                            seen[entry.path] = (info.st_size, info.st_mtime_ns, info.st_ino)
        except OSError:
            continue  # removed meanwhile, or not ours to read
    return seen


def type_of(path: str) -> str:
    """By its name: the host serves files so that a wrong type is harmless."""
    extension = os.path.splitext(path)[1].lower()
    guessed = _TYPES.get(extension) or mimetypes.guess_type(path, strict=False)[0]
    return guessed or "application/octet-stream"


def changes(before: Seen, after: Seen) -> list[dict[str, Any]]:
    """The files that are new or not as they were, by path."""
    found = []
    for path in sorted(after):
        old = before.get(path)
        if old == after[path]:
            continue
        file = {
            "path": path,
            "size": after[path][0],
            "mime": type_of(path),
            "change": "new" if old is None else "changed",
        }
        if old is not None:
            file["size_before"] = old[0]
        found.append(file)
    return found


def is_of_gateway(shell: Any) -> bool:
    """Whether a gateway runs the shell's cell: it fetches files, a notebook would leave them."""
    kernel = getattr(shell, "kernel", None)
    return getattr(kernel, "cellblock_execution_id", None) is not None


def for_a_notebook(shell: Any) -> bool:
    """Whether a kernel runs a cell that did not come by a gateway's /execute."""
    return getattr(shell, "kernel", None) is not None and not is_of_gateway(shell)


class Watch:
    """Of one shell: what the folder held when its cell began."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._folder = ""
        self._before: Seen | None = None
        self._unseen: set[str] = set()  # folders of which it was told that they are not watched

    def begin(self, *_: Any) -> None:
        """Before a cell. Only a gateway's executions are watched: notebooks have no use for it."""
        self._folder, self._before = "", None
        if not is_of_gateway(self._shell):
            return
        try:
            self._folder = os.getcwd()
        except OSError:
            return
        self._before = look(self._folder)

    def end(self, *_: Any) -> None:
        """After it, however it ended: tells of what changed, or that it was not looked for."""
        folder, self._folder = self._folder, ""
        before, self._before = self._before, None
        if not folder:
            return
        after = look(folder) if before is not None else None
        if before is None or after is None:
            if folder not in self._unseen:
                self._unseen.add(folder)
                self._publish({"files": [], "more": 0, "unseen": True})
            return
        found = changes(before, after)
        if found:
            self._publish({"files": found[:FILES_MAX], "more": max(0, len(found) - FILES_MAX)})

    def _publish(self, bundle: dict[str, Any]) -> None:
        self._shell.display_pub.publish({FILES_MIME: bundle})
