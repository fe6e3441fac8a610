"""Downsampling that keeps the shape: `line` and `cloud` choose points, `cut` takes them.

Lines: min-max preselection, then largest-triangle-three-buckets (MinMaxLTTB), per unbroken run, so
that spikes and gaps stay. Clouds: the extremes and a share of every cell of a grid. Grids: the mean
of blocks.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy

Columns = dict[str, Any]


class Full:
    """What a layer held before it was cut: kept as it is, worked out only when it is stored."""

    def __init__(self, rows: int, columns: Callable[[], Columns]) -> None:
        self.rows = rows
        self.columns = functools.cache(columns)


def cut(columns: Columns, picked: tuple[numpy.ndarray, str] | None, fields: dict[str, Any],
        finish: Callable[[Columns], Columns] = dict) -> Columns:
    """The columns at the picked points, finished (plotted numbers become an axis' values). The
    layer's fields then say how much is left, and hold on to all of it for full_data.py."""
    if picked is None:
        return finish(columns)
    chosen, method = picked
    note_full(fields, method, len(chosen), len(columns["x" if "x" in columns else "pos"]),
              lambda: finish(columns))
    return finish(at(columns, chosen))


def note_full(fields: dict[str, Any], method: str, left: int, rows: int,
              columns: Callable[[], Columns]) -> None:
    fields["sampled"] = {"method": method, "n": left}
    fields["_full"] = Full(rows, columns)


def with_gaps(pieces: list[numpy.ndarray]) -> numpy.ndarray:
    """Rows of points one after the other, with a missing point between the pieces."""
    gap = numpy.full((1, pieces[0].shape[1]), numpy.nan)
    return numpy.concatenate([part for piece in pieces for part in (piece, gap)][:-1])


def at(columns: Columns, chosen: numpy.ndarray) -> Columns:
    """Columns at some rows; what is no column (a step's name) as it is."""
    def some(values: Any) -> Any:
        if isinstance(values, numpy.ndarray):
            return values[chosen]
        return [values[index] for index in chosen] if isinstance(values, list) else values
    return {name: some(values) for name, values in columns.items()}


def line(x: numpy.ndarray, y: numpy.ndarray, limit: int) -> tuple[numpy.ndarray, str] | None:
    """Indices of points and the method's name; None when nothing has to go."""
    count = len(x)
    if count <= limit:
        return None
    rising = numpy.all(numpy.diff(x) > 0) if numpy.isfinite(x).all() else False
    if not rising:
        return numpy.unique(numpy.linspace(0, count - 1, limit).astype("int64")), "stride"
    bad = ~numpy.isfinite(y)
    if bad.any():
        return _with_gaps(x, y, bad, limit), "minmaxlttb"
    return _minmax_lttb(x, y, limit), "minmaxlttb"


def _with_gaps(x: numpy.ndarray, y: numpy.ndarray, bad: numpy.ndarray,
               limit: int) -> numpy.ndarray:
    changes = numpy.flatnonzero(numpy.diff(bad.astype("int8"))) + 1
    starts = numpy.concatenate(([0], changes))
    ends = numpy.concatenate((changes, [len(x)]))
    if len(starts) > limit // 2:
        return numpy.unique(numpy.linspace(0, len(x) - 1, limit).astype("int64"))
    kept = []
    good = int((~bad).sum())
    for start, end in zip(starts.tolist(), ends.tolist()):
        if bad[start]:
            kept.append(numpy.array([start]))  # one missing point says the gap
            continue
        share = max(2, int(limit * (end - start) / max(1, good)))
        if end - start <= share:
            kept.append(numpy.arange(start, end))
        else:
            kept.append(start + _minmax_lttb(x[start:end], y[start:end], share))
    return numpy.concatenate(kept)


def _minmax_lttb(x: numpy.ndarray, y: numpy.ndarray, limit: int) -> numpy.ndarray:
    if limit < 3:
        return numpy.array([0, len(x) - 1][:limit])
    if len(x) > limit * 8:
        chosen = _minmax(y, limit * 4)
        return chosen[_lttb(x[chosen], y[chosen], limit)]
    return _lttb(x, y, limit)


def _minmax(y: numpy.ndarray, limit: int) -> numpy.ndarray:
    """First, last, and the lowest and highest point of equal parts."""
    parts = limit // 2
    size = len(y) // parts
    body = y[: parts * size].reshape(parts, size)
    offsets = numpy.arange(parts) * size
    tail = numpy.arange(parts * size, len(y))
    if len(tail) > 2:
        rest = y[tail]
        tail = tail[[int(rest.argmin()), int(rest.argmax())]]
    return numpy.unique(numpy.concatenate(
        ([0], offsets + body.argmin(axis=1), offsets + body.argmax(axis=1), tail, [len(y) - 1])))


def _lttb(x: numpy.ndarray, y: numpy.ndarray, limit: int) -> numpy.ndarray:
    if len(x) <= limit:
        return numpy.arange(len(x))
    edges = numpy.linspace(1, len(x) - 1, limit - 1).astype("int64")
    chosen = numpy.empty(limit, dtype="int64")
    chosen[0], chosen[-1] = 0, len(x) - 1
    sums_x = numpy.concatenate(([0.0], numpy.cumsum(x - x[0])))
    sums_y = numpy.concatenate(([0.0], numpy.cumsum(y - y[0])))
    at = 0
    for bucket in range(limit - 2):
        start, end = int(edges[bucket]), int(edges[bucket + 1])
        after = int(edges[bucket + 2]) if bucket + 2 < len(edges) else len(x)
        width = max(1, after - end)
        mean_x = x[0] + (sums_x[min(end + width, len(x))] - sums_x[end]) / width
        mean_y = y[0] + (sums_y[min(end + width, len(x))] - sums_y[end]) / width
        area = numpy.abs((x[at] - mean_x) * (y[start:end] - y[at])
                         - (x[at] - x[start:end]) * (mean_y - y[at]))
        at = start + int(area.argmax()) if end > start else start
        chosen[bucket + 1] = at
    return chosen


def cloud(x: numpy.ndarray, y: numpy.ndarray, limit: int) -> tuple[numpy.ndarray, str] | None:
    """A sample of unordered points: the extremes, then a share of each grid cell."""
    count = len(x)
    if count <= limit:
        return None
    good = numpy.flatnonzero(numpy.isfinite(x) & numpy.isfinite(y))
    if len(good) <= limit:
        return good, "finite"
    gx, gy = x[good], y[good]
    extremes = {int(gx.argmin()), int(gx.argmax()), int(gy.argmin()), int(gy.argmax())}
    cells = 32
    column = _bin(gx, cells)
    row = _bin(gy, cells)
    order = numpy.argsort(column * cells + row, kind="stable")
    # Points ordered by cell, then every k-th: each cell keeps its share of the points.
    chosen = order[numpy.linspace(0, len(order) - 1, limit - 4).astype("int64")]
    chosen = numpy.unique(numpy.concatenate((chosen, sorted(extremes))))
    return good[chosen], "grid"


def _bin(values: numpy.ndarray, cells: int) -> numpy.ndarray:
    low, high = values.min(), values.max()
    if not high > low:
        return numpy.zeros(len(values), dtype="int64")
    return numpy.minimum(((values - low) / (high - low) * cells).astype("int64"), cells - 1)


def grid_factors(rows: int, columns: int, limit: int) -> tuple[int, int]:
    """How many rows and columns one block of a too large grid takes together."""
    step_rows = step_columns = 1
    while -(-rows // step_rows) * -(-columns // step_columns) > limit:
        if rows / step_rows >= columns / step_columns:
            step_rows += 1
        else:
            step_columns += 1
    return step_rows, step_columns


def block_mean(values: numpy.ndarray, step_rows: int, step_columns: int) -> numpy.ndarray:
    """The mean of every block; NaN only where a whole block is missing."""
    rows, columns = values.shape
    pad = ((0, -rows % step_rows), (0, -columns % step_columns))
    padded = numpy.pad(values, pad, constant_values=numpy.nan)
    blocks = padded.reshape(padded.shape[0] // step_rows, step_rows,
                            padded.shape[1] // step_columns, step_columns)
    present = numpy.isfinite(blocks)
    total = numpy.where(present, blocks, 0.0).sum(axis=(1, 3))
    count = present.sum(axis=(1, 3))
    with numpy.errstate(invalid="ignore", divide="ignore"):
        return numpy.where(count > 0, total / count, numpy.nan)


def thin_edges(edges: numpy.ndarray, step: int) -> numpy.ndarray:
    """The edges of blocks of so many cells; the last block may be smaller."""
    chosen = edges[::step]
    return chosen if (len(edges) - 1) % step == 0 else numpy.append(chosen, edges[-1])
