"""Contours: levels, iso-lines, and the grid they were computed from where it is known."""

from __future__ import annotations

from typing import Any

import numpy

from .. import colour, scalar
from ..encode import floats
from ..reading import Reading, is_a

_PATH_POINTS = 20_000  # of all lines of one contour set
_LINE_POINTS = 400
_GRID_SIDE = 100


def read(reading: Reading) -> None:
    grids: dict[int, Any] = {}
    sets: list[Any] = []
    for method in ("contour", "contourf", "tricontour", "tricontourf"):
        for note in reading.noted(method):
            found = note.get("set") or note.get("artist")
            sets.append(found)
            grids[id(found)] = note.get("grids")
    sets += [artist for artist in reading.free("ContourSet")
             if not any(artist is known for known in sets)]
    for contours in sets:
        _read_set(reading, contours, grids.get(id(contours)))


def _read_set(reading: Reading, contours: Any, grid: Any) -> None:
    old = [] if is_a(contours, "Collection") else list(contours.collections)
    parts = old or [contours]
    if not any(reading.is_free(part) for part in parts):
        return
    reading.claim(parts, list(getattr(contours, "labelTexts", ()) or ()))
    filled = bool(contours.filled)
    data: dict[str, Any] = {"levels": floats(contours.levels)}
    data["z"] = _grid(reading, grid)
    if data["z"] is None or not filled:
        data["paths"] = _paths(reading, contours)
    tint = None
    if getattr(contours, "colors", None) is not None:  # colours that the user chose
        tint = colour.face_of(parts[0]) if filled else _line_colour(parts[0])
    else:
        scalar.note(reading, contours)
    layer = reading.add("contourf" if filled else "contour", parts[0], data, color="")
    layer["color"] = tint


def _line_colour(part: Any) -> str | None:
    rows = numpy.asarray(part.get_edgecolor())
    return colour.to_hex(rows[0]) if rows.ndim == 2 and len(rows) else None


def _grid(reading: Reading, grid: Any) -> dict[str, Any] | None:
    if grid is None:
        return None
    try:
        values = floats(grid[2])
        if values.ndim != 2:
            return None
        rows, columns = values.shape
        x = floats(numpy.arange(columns)) if grid[0] is None else _units(reading, "x", grid[0])
        y = floats(numpy.arange(rows)) if grid[1] is None else _units(reading, "y", grid[1])
    except (TypeError, ValueError):
        return None
    if x.ndim == 2:
        if not ((x == x[0]).all() and (y.T == y[:, 0]).all()):
            return None  # a curved grid
        x, y = x[0], y[:, 0]
    if x.shape != (columns,) or y.shape != (rows,):
        return None
    across, down = -(-columns // _GRID_SIDE), -(-rows // _GRID_SIDE)
    x, y, values = x[::across], y[::down], values[::down, ::across]
    return {"x": reading.x.values(x), "y": reading.y.values(y), "v": values}


def _units(reading: Reading, name: str, given: Any) -> numpy.ndarray:
    convert = getattr(reading.ax, f"convert_{name}units")
    return floats(convert(given))


def _paths(reading: Reading, contours: Any) -> list[dict[str, Any]]:
    levels = floats(contours.layers if contours.filled else contours.levels)
    result: list[dict[str, Any]] = []
    left = _PATH_POINTS
    for level, polygons in zip(levels.tolist(), _polygons(contours)):
        reading.budget.check()
        for points in polygons:
            if len(points) < 2 or left <= 0:
                continue
            if len(points) > _LINE_POINTS:
                keep = numpy.linspace(0, len(points) - 1, _LINE_POINTS).astype("int64")
                points = points[keep]
            left -= len(points)
            x, y = reading.x.values(points[:, 0]), reading.y.values(points[:, 1])
            result.append({"level": level, "pts": numpy.column_stack((x, y)).tolist()})
    return result


def _polygons(contours: Any) -> list[list[numpy.ndarray]]:
    """Per level the vertices of each closed or open piece."""
    if is_a(contours, "Collection"):
        return [[floats(piece) for piece in path.to_polygons(closed_only=False)]
                for path in contours.get_paths()]
    return [[floats(piece) for path in collection.get_paths()
             for piece in path.to_polygons(closed_only=False)]
            for collection in contours.collections]


