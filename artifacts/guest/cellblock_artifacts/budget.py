"""What capture may cost. Every limit of the package, with its reason, and the clock they run on."""

from __future__ import annotations

import os
import time

# --- time ---------------------------------------------------------------------------------------
# One table: long enough to write a million rows on a machine without hardware virtualisation.
TABLE_SECONDS = 3.0
# All tables of one cell: a loop that displays a thousand frames must not take an hour. Past it
# tables still get their schema and preview.
CELL_SECONDS = 8.0
# Statistics, of each table's time: after it columns come without.
STATISTICS_SECONDS = 0.5
# Values for e2b/data.
E2B_SECONDS = 1.0

# --- size ---------------------------------------------------------------------------------------
# The file with the full data.
FILE_MAX_BYTES = 256 * 1024 * 1024
# ... of which at most this share of the free disk, and of the memory that the sandbox has left
# (page cache and conversion buffers count against it).
DISK_SHARE = 0.5
MEMORY_SHARE = 0.25
# A file up to here travels inside the bundle: one message instead of a file to fetch and remove.
EMBED_BYTES = 48 * 1024
# Rows of one Arrow record batch, and cells of one (for wide tables): a reader pages by batch.
BATCH_ROWS = 65536
BATCH_CELLS = 1 << 20
# Columns in the file. More is a matrix, not a table.
FILE_COLUMNS = 4096

# e2b/data: all of it is JSON in the reply. Of a table that is larger the first few rows do, since
# its artifact has them all; the result says so.
E2B_CELLS = 100_000
E2B_SOME_CELLS = 20_000
E2B_BYTES = 4 * 1024 * 1024

# Preview: small tables whole, others by head and tail.
PREVIEW_WHOLE_ROWS = 20
PREVIEW_HEAD_ROWS = 10
PREVIEW_TAIL_ROWS = 5
PREVIEW_COLUMNS = 200
PREVIEW_BYTES = 256 * 1024
# One text cell in a preview, and a value written as text in the full data.
CELL_CHARACTERS = 500
TEXT_CHARACTERS = 100_000

# Tables up to here are handled by plain Python, which starts faster than any library.
SMALL_ROWS = 1000

# Statistics: exact up to so many rows, else (but for nulls, and the extremes of numbers) over a
# sample of about as many; the most frequent values then over a smaller one.
STATISTICS_ROWS = 100_000
STATISTICS_COLUMNS = 200
FREQUENCY_ROWS = 20_000
TOP_VALUES = 5

# application/json for lists and dictionaries: values in all, and depth.
JSON_VALUES = 100_000
JSON_BYTES = 4 * 1024 * 1024
JSON_DEPTH = 32

# duckdb relations are queries: so many rows are asked for.
RELATION_ROWS = 100_000


class Spent(Exception):
    """A limit was reached; the text says which one."""


class Clock:
    """A stretch of time that ends."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def left(self) -> float:
        return self.end - time.monotonic()

    def spent(self) -> bool:
        return self.left() <= 0


class CellTime:
    """The time that all captures of one cell share."""

    def __init__(self) -> None:
        self.left = CELL_SECONDS

    def renew(self) -> None:
        self.left = CELL_SECONDS

    def take(self, seconds: float) -> None:
        self.left = max(0.0, self.left - seconds)


cell_time = CellTime()


def file_max_bytes(folder: str) -> int:
    """What the file with the full data may take now."""
    limit = FILE_MAX_BYTES
    try:
        disk = os.statvfs(folder)
        limit = min(limit, int(disk.f_bavail * disk.f_frsize * DISK_SHARE))
    except OSError:
        pass
    memory = _free_memory()
    if memory is not None:
        limit = min(limit, int(memory * MEMORY_SHARE))
    return max(limit, 0)


def _free_memory() -> int | None:
    """Bytes that this process' cgroup (version 2) may still take, else what the machine has."""
    found = []
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    found.append(int(line.split()[1]) * 1024)
    except (OSError, ValueError, IndexError):
        pass
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            group = next(line[3:].strip() for line in file if line.startswith("0::"))
        base = "/sys/fs/cgroup" + group.rstrip("/")
        with open(base + "/memory.max", encoding="ascii") as file:
            limit = file.read().strip()
        with open(base + "/memory.current", encoding="ascii") as file:
            current = int(file.read())
        if limit != "max":
            found.append(max(0, int(limit) - current))
    except (OSError, ValueError, StopIteration):
        pass
    return min(found) if found else None
