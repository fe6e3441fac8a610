"""Table capture for Cellblock: what a cell shows as a frame also goes out as data.

`register(ip)` adds display formatters to IPython. A shown pandas, polars, pyarrow, duckdb or numpy
table then carries, beside its usual text and HTML, a bundle TABLE_MIME (schema, statistics, a
preview, and a file with the full data) and `e2b/data` (columns of JSON values). Lists and
dictionaries carry `application/json`.

Importing this package imports none of those libraries. Capture never changes the user's object,
never raises into the cell, and stops at the limits of budget.py.
"""

from __future__ import annotations

from typing import Any

TABLE_MIME = "application/vnd.cellblock.table+json"
E2B_DATA_MIME = "e2b/data"

__all__ = ["E2B_DATA_MIME", "TABLE_MIME", "capture_table", "register"]


def register(ip: Any) -> None:
    """Adds the formatters to an IPython shell. Can be repeated."""
    from . import hook

    hook.register(ip)


def capture_table(value: Any) -> dict[str, Any] | None:
    """The table bundle of a value, or None when it is no table. Never raises."""
    from . import table

    captured = table.capture(value)
    return captured.bundle if captured else None
