"""Violins: matplotlib's by the statistics it was given, seaborn's by the drawn bodies."""

from __future__ import annotations

from typing import Any

import numpy

from .. import text
from ..encode import floats
from ..reading import Reading
from .areas import curves
from .lines import data_of

_POINTS = 200  # of one outline


def read(reading: Reading) -> None:
    for note in reading.noted("violin"):
        _from_note(reading, note)
    _from_seaborn(reading)


def _from_note(reading: Reading, note: dict[str, Any]) -> None:
    artists = note["artists"]
    bodies = [body for body in artists.get("bodies", ()) if reading.is_free(body)]
    if not bodies:
        return
    reading.claim([item for key, item in artists.items() if key != "bodies"], bodies)
    rows = []
    orient = None
    for body in bodies:
        shape = _body(body, orient)
        if shape is None:
            continue
        orient = shape.pop("orient")
        rows.append(shape)
    if len(rows) != len(note["stats"]):
        return
    for row, stat in zip(rows, note["stats"]):
        row["min"], row["max"] = stat.get("min"), stat.get("max")
        row["mean"] = stat.get("mean") if "cmeans" in artists else None
        row["median"] = stat.get("median")
    _add(reading, bodies[0], orient or "v", rows)


def _body(body: Any, orient: str | None) -> dict[str, Any] | None:
    """One outline: the coordinates along the values, and how far it reaches to each side."""
    if len(body.get_paths()) != 1:
        return None
    vertices = body.get_paths()[0].vertices
    if orient is None:
        orient = _direction(body, vertices)
    shape = curves(vertices, "y" if orient == "v" else "x")
    if shape is None:
        return None
    coords, low, high = shape
    centre = float(numpy.median((low + high) / 2))
    if len(coords) > _POINTS:
        keep = numpy.linspace(0, len(coords) - 1, _POINTS).astype("int64")
        coords, low, high = coords[keep], low[keep], high[keep]
    return {"orient": orient, "pos": centre, "coords": coords,
            "half_lo": centre - low, "half_hi": high - centre}


def _direction(body: Any, vertices: numpy.ndarray) -> str:
    known = getattr(body, "t_direction", None)
    if known in ("x", "y"):
        return "v" if known == "y" else "h"
    return "v" if curves(vertices, "y") is not None else "h"


def _from_seaborn(reading: Reading) -> None:
    rows: list[dict[str, Any]] = []
    bodies: list[Any] = []
    orient = "v"
    for method in ("fill_betweenx", "fill_between"):
        for note in reading.noted(method):
            body = note["artist"]
            if not note["caller"].startswith("seaborn.categorical") or not reading.is_free(body):
                continue
            shape = _body(body, "v" if method == "fill_betweenx" else "h")
            reading.claim(body)
            if shape is None:
                continue
            orient = shape.pop("orient")
            bodies.append(body)
            rows.append(shape)
    if not rows:
        return
    for body, row in zip(bodies, rows):
        along, _ = reading.along(orient)
        # A split violin is one-sided: its centre is the flat side.
        flat = row["half_lo"] if numpy.ptp(row["half_lo"]) < 1e-9 else (
            row["half_hi"] if numpy.ptp(row["half_hi"]) < 1e-9 else None)
        if flat is not None:
            shift = float(flat[0]) * (1 if flat is row["half_hi"] else -1)
            row["pos"] += shift
            row["half_lo"], row["half_hi"] = row["half_lo"] + shift, row["half_hi"] - shift
        row["min"], row["max"] = float(row["coords"].min()), float(row["coords"].max())
        _inner(reading, row, orient)
    by_colour: dict[str | None, list[int]] = {}
    from ..colour import face_of, rgb
    for index, body in enumerate(bodies):
        by_colour.setdefault(rgb(face_of(body)), []).append(index)
    if len(by_colour) == len(rows):  # a colour per category is no hue
        by_colour = {None: list(range(len(rows)))}
    for indices in by_colour.values():
        _add(reading, bodies[indices[0]], orient, [rows[index] for index in indices])


def _inner(reading: Reading, row: dict[str, Any], orient: str) -> None:
    """seaborn's inner marks: thin line = whiskers, thick line = quartiles, mark = median."""
    inside: list[tuple[float, numpy.ndarray, Any]] = []
    left = row["pos"] - float(row["half_lo"].max()) - 1e-9
    right = row["pos"] + float(row["half_hi"].max()) + 1e-9
    for line in list(reading.free("Line2D")):
        x, y = data_of(line)
        along, across = (x, y) if orient == "v" else (y, x)
        if len(along) not in (1, 2) or along.min() < left or along.max() > right:
            continue
        if across.min() < row["min"] - 1e-9 or across.max() > row["max"] + 1e-9:
            continue
        inside.append((line.get_linewidth(), across, line))
        reading.claim(line)
    pairs = sorted((item for item in inside if len(item[1]) == 2 and item[1][0] != item[1][1]),
                   key=lambda item: item[0])
    if len(pairs) == 2:
        row["q1"], row["q3"] = sorted(pairs[1][1].tolist())
    single = [item for item in inside if len(item[1]) == 1]
    if single:
        row["median"] = float(single[0][1][0])
    level = sorted(float(item[1][0]) for item in inside
                   if len(item[1]) == 2 and item[1][0] == item[1][1])
    if len(level) == 3:  # inner="quart"
        row["q1"], row["median"], row["q3"] = level
    for cloud in list(reading.free("PathCollection")):  # seaborn 0.12 marks the median so
        offsets = numpy.ma.filled(cloud.get_offsets(), numpy.nan)
        if len(offsets) != 1:
            continue
        along, value = offsets[0] if orient == "v" else offsets[0][::-1]
        if left <= along <= right and row["min"] <= value <= row["max"]:
            row["median"] = float(value)
            reading.claim(cloud)


def _add(reading: Reading, first: Any, orient: str, rows: list[dict[str, Any]]) -> None:
    along, across = reading.along(orient)
    along.use_fixed_labels()
    raw = numpy.array([row["pos"] for row in rows])
    places = along.category_at(raw)
    names = [str(index + 1) if place is None else (along.categories or [])[place]
             for index, place in enumerate(places)]
    data: dict[str, Any] = {
        "label": [text.plain(name) for name in names], "pos": along.values(raw),
        "coords": [across.values(row["coords"]) for row in rows],
        "half_lo": [floats(row["half_lo"]) for row in rows],
        "half_hi": [floats(row["half_hi"]) for row in rows]}
    for key in ("min", "max", "mean", "median", "q1", "q3"):
        column = [row.get(key) for row in rows]
        if any(value is not None for value in column):
            data[key] = across.values([numpy.nan if value is None else value
                                       for value in column])
    layer = reading.add("violin", first, data, orient=orient, n=len(rows))
    layer["_raw_pos"] = raw


