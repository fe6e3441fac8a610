"""A shown table as the bundle that the host reads, and as e2b/data."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

from . import budget, storage, values
from .sources import library_of, source_of
from .sources.base import Column, Source


class Captured:
    def __init__(self, bundle: dict[str, Any], data: dict[str, list[Any]] | None) -> None:
        self.bundle = bundle
        self.data = data  # e2b/data


def capture(value: Any) -> Captured | None:
    """None for what is no table. A failure is a bundle without columns that says why."""
    started = time.monotonic()
    try:
        if library_of(value) is None:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source = source_of(value)
            return None if source is None else _capture(source)
    except Exception as error:
        return Captured(_failure(error), None)
    finally:
        budget.cell_time.take(time.monotonic() - started)


def _failure(error: Exception) -> dict[str, Any]:
    reason = f"the table could not be captured: {values.described(error)}"
    return {"v": 1, "columns": [], "columns_total": 0, "rows_total": None, "preview": [],
            "preview_head": 0, "data": None, "partial": True, "reason": reason}


def _capture(source: Source) -> Captured:
    data, shown_rows = _e2b_data(source)
    bundle = describe(source)
    if shown_rows < source.rows:
        bundle["e2b_rows"] = shown_rows
    return Captured(bundle, data)


def describe(source: Source) -> dict[str, Any]:
    """The bundle of a table: schema, statistics, preview, and where its full data is."""
    reasons: list[str] = []
    bundle: dict[str, Any] = {
        "v": 1,
        "library": source.library,
        "type": source.type_name,
        "rows_total": source.rows if source.rows_known else None,
        "columns_total": len(source.columns),
    }
    if not source.rows_known:
        reasons.append(f"only the first {source.rows} rows were asked for")
    seconds = min(budget.TABLE_SECONDS, budget.cell_time.left)
    width = min(len(source.columns), budget.PREVIEW_COLUMNS)
    if width < len(source.columns):
        reasons.append(f"only the first {width} columns are described")
    bundle["preview"], bundle["preview_head"] = _preview(source, width)
    stored = _stored(source, budget.Clock(seconds), reasons)
    bundle["data"] = stored.bundle() if stored else None
    # Storing counts what is missing anyway; numbers are then where Arrow has read them.
    nulls = stored.nulls if stored and stored.rows == source.rows else []
    found = _statistics(source, width, min(budget.STATISTICS_SECONDS, seconds), nulls)
    names = source.names()
    bundle["columns"] = [
        _column(source.columns[index], names[index], found.get(index)) for index in range(width)
    ]
    bundle["partial"] = bool(reasons)
    bundle["reason"] = "; ".join(reasons)
    return bundle


def _stored(source: Source, clock: budget.Clock, reasons: list[str]) -> storage.Stored | None:
    if source.rows == 0 and not source.columns:
        return None
    try:
        stored = storage.store(source, clock)
    except Exception as error:
        text = str(error) if isinstance(error, budget.Spent) else values.described(error)
        reasons.append(f"the full data was not stored: {text}")
        return None
    if stored.reason:
        reasons.append(f"only {stored.rows} of {source.rows} rows were stored: {stored.reason}")
    return stored


def _column(column: Column, name: str, found: dict[str, Any] | None) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": name,
        "dtype": values.clean(values.cut(column.dtype, 200)),
        "kind": column.kind,
    }
    if column.index:
        described["index"] = True
    if column.note:
        described["note"] = column.note
    if found:
        found = dict(found)
        nulls = found.pop("nulls", None)
        if nulls is not None:
            described["nulls"] = nulls
        if found and found != {"exact": False}:
            described["stats"] = found
    return described


def _statistics(source: Source, width: int, seconds: float,
                nulls: list[int]) -> dict[int, dict[str, Any]]:
    """Per column, until the time is up. A column that cannot be summed up has none."""
    clock = budget.Clock(seconds)
    found = {}
    for index in range(min(width, budget.STATISTICS_COLUMNS)):
        if clock.spent():
            break
        try:
            found[index] = source.statistics(index, nulls[index] if nulls else None)
        except Exception:
            continue
    return found


def _preview(source: Source, width: int) -> tuple[list[list[Any]], int]:
    """Rows of cells: all of a small table, else head and tail; and how many are the head."""
    if source.rows <= budget.PREVIEW_WHOLE_ROWS:
        head, tail = source.rows, 0
    else:
        head, tail = budget.PREVIEW_HEAD_ROWS, budget.PREVIEW_TAIL_ROWS
    columns = []
    for index in range(width):
        cells = [_preview_cell(v) for v in source.values(index, 0, head)]
        if tail:
            last = source.values(index, source.rows - tail, source.rows)
            cells += [_preview_cell(v) for v in last]
        columns.append(cells)
    rows = [list(row) for row in zip(*columns, strict=True)]
    return _fitting(rows, head)


def _preview_cell(value: Any) -> Any:
    return values.cell(value)


def _fitting(rows: list[list[Any]], head: int) -> tuple[list[list[Any]], int]:
    """Within PREVIEW_BYTES: rows go from the end of the head until it fits."""
    sizes = [sum(len(c) if type(c) is str else 8 for c in row) for row in rows]
    while len(rows) > 1 and sum(sizes) > budget.PREVIEW_BYTES:
        drop = head - 1 if head > 1 else len(rows) - 1
        head -= head > 1
        del rows[drop], sizes[drop]
    return rows, min(head, len(rows))


def _e2b_data(source: Source) -> tuple[dict[str, list[Any]] | None, int]:
    """{column: values} without row labels, as E2B's clients know it; and how many rows it has."""
    places = [i for i, column in enumerate(source.columns) if not column.index]
    if not places or len(places) > budget.E2B_CELLS:
        return None, 0
    rows = source.rows
    if rows * len(places) > budget.E2B_CELLS:
        rows = max(1, budget.E2B_SOME_CELLS // len(places))
    clock = budget.Clock(min(budget.E2B_SECONDS, budget.cell_time.left))
    data: dict[str, list[Any]] = {}
    names = source.names()
    left = budget.E2B_BYTES
    for index in places:
        if clock.spent():
            return None, 0
        moments = source.moments(index, 0, rows)
        items = _e2b_values(source.values(index, 0, rows)) if moments is None else moments
        left -= _size_of(items)
        data[names[index]] = items
    if left < 0:
        # Fewer rows, in the proportion by which it is too large.
        used = budget.E2B_BYTES - left
        rows = int(rows * budget.E2B_BYTES / used)
        data = {name: items[:rows] for name, items in data.items()}
    return data, rows


def _size_of(items: list[Any]) -> int:
    """About how many bytes they are in JSON."""
    kinds = set(map(type, items))
    if str not in kinds:
        return 8 * len(items)
    if kinds == {str}:
        return sum(map(len, items))
    return sum(len(v) if type(v) is str else 8 for v in items)


def _e2b_values(items: list[Any]) -> list[Any]:
    """The usual columns at the speed of built-in functions, the others value by value."""
    kinds = set(map(type, items))
    if kinds == {float} and math.isfinite(sum(items)):  # so is then each of them
        return items
    kinds.discard(type(None))
    if kinds == {float}:
        return [v if v is not None and math.isfinite(v) else None for v in items]
    if kinds == {bool} or (kinds == {int} and values.all_exact(items)):
        return items
    if kinds == {str} and values.all_clean(items):
        return items
    return [_e2b_value(v) for v in items]


def _e2b_value(value: Any) -> Any:
    try:
        return values.plain(value, [1000], budget.JSON_DEPTH)
    except (values.NotPlain, budget.Spent):
        return values.as_text(value, budget.CELL_CHARACTERS)
    except Exception:
        return f"<{type(value).__name__}>"
