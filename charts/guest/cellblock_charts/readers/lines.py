"""Line2D: lines, steps, empirical distributions, and markers without a line (scatter)."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy

from .. import colour, sample
from ..budget import LINE_POINTS
from ..encode import floats
from ..reading import Reading, style_of

_STEPS = {"steps": "pre", "steps-pre": "pre", "steps-mid": "mid", "steps-post": "post"}


def read(reading: Reading) -> None:
    ecdfs = {id(note["artist"]) for note in reading.noted("ecdf")}
    for line in list(reading.free("Line2D")):
        if not reading.is_free(line) or not reading.in_data(line):
            continue
        reading.claim(line)
        x, y = data_of(line)
        if len(x):
            add(reading, line, x, y, ecdf=id(line) in ecdfs)


def data_of(line: Any) -> tuple[numpy.ndarray, numpy.ndarray]:
    return floats(line.get_xdata(orig=False)), floats(line.get_ydata(orig=False))


def is_markers_only(line: Any) -> bool:
    return (line.get_linestyle() in ("None", "none", " ", "")
            and line.get_marker() not in ("None", "none", " ", "", None))


def add(reading: Reading, line: Any, x: numpy.ndarray, y: numpy.ndarray, *,
        ecdf: bool = False) -> dict[str, Any]:
    note_dates(reading, line)
    step = _STEPS.get(line.get_drawstyle())
    if step and len(x) > 2 and numpy.isneginf(x[0]):  # how ecdf and ecdfplot begin
        x, y, ecdf = x[1:], y[1:], True
    kind = "line"
    if is_markers_only(line):
        kind, step = "scatter", None
    elif ecdf:
        kind = "ecdf"
    elif step:
        kind = "step"
    fields: dict[str, Any] = {"n": len(x), "style": style_of(line)}
    limit = reading.budget.points(LINE_POINTS)
    picked = (sample.cloud if kind == "scatter" else sample.line)(x, y, limit)
    data = sample.cut({"x": x, "y": y, "step": step}, picked, fields, reading.values)
    color = colour.to_hex(line.get_color())
    if kind == "scatter":
        color = colour.to_hex(line.get_markerfacecolor()) or color
    return reading.add(kind, line, data, color=color, **fields)


def note_dates(reading: Reading, line: Any) -> None:
    """Whether the user's own values were dates without a time of day."""
    for axis, getter in ((reading.x, line.get_xdata), (reading.y, line.get_ydata)):
        if axis.kind != "date":
            continue
        original = getter(orig=True)
        first = original[0] if isinstance(original, (list, tuple, numpy.ndarray)) \
            and len(original) else None
        if isinstance(first, date) and not isinstance(first, datetime):
            axis.date_only = True
