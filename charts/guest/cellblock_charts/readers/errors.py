"""Error bars and stems, from their containers."""

from __future__ import annotations

from typing import Any

import numpy

from .. import colour, sample, text
from ..budget import LINE_POINTS
from ..reading import Reading, is_a, style_of
from . import lines


def read(reading: Reading) -> None:
    for container in reading.ax.containers:
        if not is_a(container, "ErrorbarContainer"):
            continue
        data_line, caps, collections = container.lines
        parts = [part for part in (data_line, *caps, *collections) if reading.is_free(part)]
        if not parts:
            continue  # the bars have it already
        reading.claim(parts)
        _add(reading, container, data_line, list(collections))


def _add(reading: Reading, container: Any, data_line: Any, collections: list[Any]) -> None:
    segments = [path.vertices for collection in collections for path in collection.get_paths()]
    level = [points for points in segments if len(points) == 2 and _runs_along(points, 0)]
    upright = [points for points in segments if len(points) == 2 and _runs_along(points, 1)]
    if data_line is not None and len(data_line.get_xdata(orig=False)):
        x, y = lines.data_of(data_line)
        lines.note_dates(reading, data_line)
    elif upright and container.has_yerr:
        x = numpy.array([points[0, 0] for points in upright])
        y = numpy.full(len(x), numpy.nan)  # the drawing does not say where in the bar it is
    elif level:
        y = numpy.array([points[0, 1] for points in level])
        x = numpy.full(len(y), numpy.nan)
    else:
        return
    bounds = {"x_lo": None, "x_hi": None, "y_lo": None, "y_hi": None}
    if container.has_xerr and level:
        bounds["x_lo"], bounds["x_hi"] = _bounds(y, level, 1)
    if container.has_yerr and upright:
        bounds["y_lo"], bounds["y_hi"] = _bounds(x, upright, 0)
    columns: dict[str, Any] = {"x": x, "y": y, **bounds}
    fields: dict[str, Any] = {"n": len(x)}
    limit = reading.budget.points(LINE_POINTS, 4)
    picked = sample.line(x, y, limit)
    data = sample.cut(columns, picked, fields, reading.values)
    first = data_line if data_line is not None else collections[0]
    style = style_of(first)
    if data_line is not None and lines.is_markers_only(data_line):
        style["line"] = "none"
    elif data_line is None:
        style["line"] = "none"
    color = colour.face_of(collections[0]) if data_line is None \
        else colour.to_hex(data_line.get_color())
    layer = reading.add("errorbar", first, data, color=color, style=style, **fields)
    layer["label"] = text.label_of(container) or layer["label"]


def _runs_along(points: numpy.ndarray, axis: int) -> bool:
    other = points[:, 1 - axis]
    return other[0] == other[1] and bool(numpy.isfinite(other[0]))


def _bounds(place: numpy.ndarray, segments: list[numpy.ndarray],
            along: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The segments' ends, matched to the points by place, in order where places repeat."""
    low = numpy.full(len(place), numpy.nan)
    high = low.copy()
    if len(segments) == len(place):
        pairs = list(enumerate(segments))
        if all(points[0, along] == place[index] for index, points in pairs):
            ends = numpy.array([points[:, 1 - along] for points in segments])
            return ends.min(axis=1), ends.max(axis=1)
    waiting: dict[float, list[int]] = {}
    for index, value in enumerate(place.tolist()):
        waiting.setdefault(value, []).append(index)
    for points in segments:
        slots = waiting.get(float(points[0, along]))
        if slots:
            index = slots.pop(0)
            low[index] = points[:, 1 - along].min()
            high[index] = points[:, 1 - along].max()
    return low, high


def read_stems(reading: Reading) -> None:
    for container in reading.ax.containers:
        if not is_a(container, "StemContainer"):
            continue
        marker, stems, baseline = container
        if not reading.is_free(marker):
            continue
        reading.claim(marker, baseline, stems if isinstance(stems, (list, tuple)) else [stems])
        x, y = lines.data_of(marker)
        base_x, base_y = lines.data_of(baseline)
        orient = "h" if len(base_x) > 1 and (base_x == base_x[0]).all() \
            and not (base_y == base_y[0]).all() else "v"
        position, value, base = (x, y, base_y) if orient == "v" else (y, x, base_x)
        along, across = reading.along(orient)
        level = float(base[0]) if len(base) else 0.0
        fields: dict[str, Any] = {"n": len(position), "orient": orient}
        picked = sample.line(position, value, reading.budget.points(LINE_POINTS))
        columns = {"pos": position, "value": value, "base": numpy.full(len(position), level)}
        data = sample.cut(columns, picked, fields, lambda some: {
            "pos": along.values(some["pos"]), "value": across.values(some["value"]),
            "base": across.values(some["base"])})
        layer = reading.add("stem", marker, data, color=colour.to_hex(marker.get_color()),
                            **fields)
        layer["label"] = text.label_of(container)


