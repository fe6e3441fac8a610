"""Filled curves: bands between two lines, areas down to zero, stacked areas.

A fill's polygon is: start, N points of curve 1, end, N points of curve 2 backwards, and a closing
point. In a layer of orient "h" (fill_betweenx) the column `x` runs along the y axis.
"""

from __future__ import annotations

from typing import Any

import numpy

from .. import sample
from ..budget import LINE_POINTS
from ..reading import Reading, is_a
from .lines import data_of

Curves = tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]


def curves(vertices: numpy.ndarray, direction: str) -> Curves | None:
    """(position, first curve, second curve) of one region; None if it is no such shape."""
    if len(vertices) < 5:
        return None
    closed = len(vertices) % 2 == 1 and (vertices[0] == vertices[-1]).all()
    count = (len(vertices) - 3) // 2 if closed else (len(vertices) - 2) // 2
    along, across = (0, 1) if direction == "x" else (1, 0)
    first = vertices[1: count + 1]
    second = vertices[count + 2: 2 * count + 2][::-1]
    if len(first) != len(second) or not numpy.array_equal(first[:, along], second[:, along]):
        return None
    return first[:, along], first[:, across], second[:, across]


def read(reading: Reading) -> None:
    fills = _fills(reading)
    _stack(fills)
    for fill in fills:
        _drop_twin_line(reading, fill)
        _add(reading, fill)


def _fills(reading: Reading) -> list[dict[str, Any]]:
    directions = {id(note["artist"]): "x" for note in reading.noted("fill_between")}
    directions.update({id(note["artist"]): "y" for note in reading.noted("fill_betweenx")})
    fills = []
    for artist in list(reading.free("PolyCollection")):
        known = getattr(artist, "t_direction", None) or directions.get(id(artist))
        if known is None and (is_a(artist, "PolyQuadMesh") or len(artist.get_offsets()) > 1
                              or artist.get_array() is not None):
            continue
        if not reading.in_data(artist):
            continue
        for direction in ((known,) if known else ("x", "y")):
            parts = [curves(path.vertices, direction) for path in artist.get_paths()]
            if parts and all(part is not None for part in parts):
                reading.claim(artist)
                fills.append(_join(artist, direction, parts))
                break
    return fills


def _join(artist: Any, direction: str, parts: list[Any]) -> dict[str, Any]:
    """Regions cut by `where` become one layer with gaps."""
    gap = numpy.array([numpy.nan])
    columns: list[list[numpy.ndarray]] = [[], [], []]
    for index, part in enumerate(parts):
        for column, values in zip(columns, part):
            if index:
                column.append(gap)
            column.append(values)
    x, first, second = (numpy.concatenate(column) for column in columns)
    return {"artist": artist, "orient": "v" if direction == "x" else "h", "x": x,
            "first": first, "second": second, "stack": None}


def _stack(fills: list[dict[str, Any]]) -> None:
    """A chain where each region begins on the one below is a stacked area."""
    serial = 0
    chain: list[dict[str, Any]] = []
    for fill in fills + [None]:  # type: ignore[list-item]
        if fill is not None and chain and _continues(chain[-1], fill):
            chain.append(fill)
            continue
        if len(chain) > 1:
            top = numpy.fmax(chain[-1]["first"], chain[-1]["second"])
            total = top - numpy.fmin(chain[0]["first"], chain[0]["second"])
            whole = bool(numpy.isfinite(total).all()) and (
                numpy.allclose(total, 1.0) or numpy.allclose(total, 100.0))
            for order, item in enumerate(chain):
                item["stack"] = {"group": f"a{serial}", "order": order, "normalize": whole}
            serial += 1
        chain = [fill] if fill is not None else []


def _continues(below: dict[str, Any], above: dict[str, Any]) -> bool:
    if below["orient"] != above["orient"] or len(below["x"]) != len(above["x"]):
        return False
    if not numpy.array_equal(below["x"], above["x"], equal_nan=True):
        return False
    scale = max(1e-300, float(numpy.nanmax(numpy.abs(below["second"]), initial=0)))
    close = numpy.isclose(above["first"], below["second"], rtol=1e-9, atol=1e-9 * scale,
                          equal_nan=True)
    return bool(close.all()) and bool(numpy.any(below["first"] != below["second"]))


def _drop_twin_line(reading: Reading, fill: dict[str, Any]) -> None:
    """pandas draws a line without a label along every area's upper edge."""
    for line in reading.free("Line2D"):
        x, y = data_of(line)
        if len(x) != len(fill["x"]) or not line.get_label().startswith("_"):
            continue
        same = numpy.array_equal(x, fill["x"]) and any(
            numpy.allclose(y, fill[side], equal_nan=True) for side in ("first", "second"))
        if same and _same_colour(line, fill["artist"]):
            reading.claim(line)
            return


def _same_colour(line: Any, fill: Any) -> bool:
    from ..colour import face_of, rgb, to_hex

    return rgb(to_hex(line.get_color())) == rgb(face_of(fill))


def _add(reading: Reading, fill: dict[str, Any]) -> None:
    x, first, second = fill["x"], fill["first"], fill["second"]
    along, across = reading.along(fill["orient"])
    fields: dict[str, Any] = {"n": len(x), "orient": fill["orient"]}
    picked = sample.line(x, second, reading.budget.points(LINE_POINTS, 3))
    grounded = _is_zero(first) or _is_zero(second)
    low, high = numpy.fmin(first, second), numpy.fmax(first, second)
    if fill["stack"]:
        low, high = first, second  # a negative part of a stack keeps its direction
    kind = "area" if fill["stack"] or grounded else "band"
    data = sample.cut({"x": x, "lo": low, "hi": high}, picked, fields, lambda some: {
        "x": along.values(some["x"]), "lo": across.values(some["lo"]),
        "hi": across.values(some["hi"])})
    reading.add(kind, fill["artist"], {**data, "stack": fill["stack"]}, **fields)


def _is_zero(values: numpy.ndarray) -> bool:
    good = values[numpy.isfinite(values)]
    return len(good) > 0 and bool((good == 0).all())
