"""Three-dimensional axes. Their offsets are projections: the data is kept elsewhere."""

from __future__ import annotations

from typing import Any

import numpy

from .. import colour, sample, scalar
from ..budget import GRID_CELLS, LINE_POINTS
from ..encode import floats, number
from ..reading import Reading, is_a


def read(reading: Reading) -> None:
    for artist in list(reading.free()):
        if is_a(artist, "Path3DCollection", "Patch3DCollection"):
            reading.claim(artist)
            columns = getattr(artist, "_offsets3d", None)
            if columns is not None:
                _points(reading, artist, columns)
        elif is_a(artist, "Line3D"):
            reading.claim(artist)
            _line(reading, artist)
        elif is_a(artist, "Line3DCollection"):
            reading.claim(artist)
            _segments(reading, artist)
        elif is_a(artist, "Poly3DCollection"):
            reading.claim(artist)
            _faces(reading, artist)


def _points(reading: Reading, artist: Any, columns: Any) -> None:
    x, y, z = (floats(numpy.ravel(column)) for column in columns)
    data = {"x": x, "y": y, "z": z}
    mapped = artist.get_array()
    if mapped is not None and numpy.size(mapped) == len(x):
        data["c"] = floats(numpy.ravel(mapped))
        scalar.note(reading, artist)
    fields: dict[str, Any] = {"n": len(x)}
    picked = sample.cloud(x, y, reading.budget.points(LINE_POINTS, 3))
    _add(reading, "scatter3d", artist, sample.cut(data, picked, fields), **fields)


def _line(reading: Reading, artist: Any) -> None:
    x, y, z = (floats(numpy.ravel(column)) for column in artist.get_data_3d())
    fields: dict[str, Any] = {"n": len(x)}
    limit = reading.budget.points(LINE_POINTS, 3)
    picked = None
    if len(x) > limit:
        picked = numpy.linspace(0, len(x) - 1, limit).astype("int64"), "stride"
    data = sample.cut({"x": x, "y": y, "z": z}, picked, fields)
    marks_only = artist.get_linestyle() in ("None", "none", " ", "")
    _add(reading, "scatter3d" if marks_only else "line3d", artist, data, **fields)


def _segments(reading: Reading, artist: Any) -> None:
    segments = getattr(artist, "_segments3d", None)
    if segments is None or len(segments) == 0:
        return
    total = sum(len(segment) for segment in segments)
    limit = reading.budget.points(LINE_POINTS, 3)
    used = count = 0
    for segment in segments:
        used += len(segment) + 1
        if used > limit:
            break
        count += 1
    if count == 0:
        return

    def columns(some: Any) -> dict[str, Any]:
        points = sample.with_gaps([floats(segment).reshape(-1, 3) for segment in some])
        return {"x": points[:, 0], "y": points[:, 1], "z": points[:, 2]}

    data = columns(segments[:count])
    fields: dict[str, Any] = {"n": total, "style": {"segments": True}}
    if count < len(segments):
        sample.note_full(fields, "first", len(data["x"]), total + len(segments),
                         lambda: columns(segments))
    _add(reading, "line3d", artist, data, **fields)


def _faces(reading: Reading, artist: Any) -> None:
    faces = getattr(artist, "_faces", None)
    if faces is not None and len(faces):
        corners = numpy.asarray(faces)
        sides = getattr(artist, "_segslices", None)
        points = corners.reshape(-1, corners.shape[-1])[:, :3]
    else:
        vector = getattr(artist, "_vec", None)
        if vector is None:
            return
        points = floats(vector)[:3].T
        sides = getattr(artist, "_segslices", None)
        corners = None
        if sides is not None and len({part.stop - part.start for part in sides}) == 1:
            corners = points.reshape(len(sides), -1, 3)
    points = floats(points)
    good = points[numpy.isfinite(points).all(axis=1)]
    count = len(corners) if corners is not None else (len(sides) if sides is not None else 0)
    bars = _bars(corners) if corners is not None else None
    if bars is not None:
        _add(reading, "bar3d", artist, bars, n=len(bars["x"]))
        return
    grid = _grid(floats(corners)[..., :3]) if corners is not None else None
    data: dict[str, Any] = {"faces": count}
    if len(good):
        data["bbox"] = [number(value) for value in
                        (*good.min(axis=0), *good.max(axis=0))]
    if artist.get_array() is not None:
        scalar.note(reading, artist)
    if grid is not None:
        data.update(grid)
        _add(reading, "surface", artist, data, n=int(grid["z"].size))
    else:
        _add(reading, "surface", artist, data, n=count)


def _bars(corners: Any) -> dict[str, numpy.ndarray] | None:
    """bar3d draws six faces for each bar, each along the axes."""
    faces = floats(corners)[..., :3]
    if faces.ndim != 3 or faces.shape[1] != 4 or len(faces) % 6 or len(faces) == 0:
        return None
    boxes = faces.reshape(-1, 24, 3)
    low, high = boxes.min(axis=1), boxes.max(axis=1)
    on_face = ((boxes == low[:, None]) | (boxes == high[:, None])).all()
    if not on_face or numpy.ptp(high - low, axis=0)[:2].max() > 1e-9:
        return None
    return {"x": low[:, 0], "y": low[:, 1], "z": low[:, 2], "dx": (high - low)[:, 0],
            "dy": (high - low)[:, 1], "dz": (high - low)[:, 2]}


def _grid(faces: numpy.ndarray) -> dict[str, numpy.ndarray] | None:
    """plot_surface's quads back as the grid they tile; None for triangles and holes."""
    if faces.ndim != 3 or faces.shape[1] != 4 or not numpy.isfinite(faces).all():
        return None
    if len(faces) > GRID_CELLS:
        return None
    # Faces run along a row first: a new row begins where a face does not touch the one before.
    follows = numpy.isclose(faces[1:, 0, :], faces[:-1, 1, :]).all(axis=1)
    breaks = numpy.flatnonzero(~follows) + 1
    columns = int(breaks[0]) if len(breaks) else len(faces)
    if len(faces) % columns:
        return None
    rows = len(faces) // columns
    quads = faces.reshape(rows, columns, 4, 3)
    corners = numpy.empty((rows + 1, columns + 1, 3))
    corners[:-1, :-1] = quads[:, :, 0]
    corners[:-1, -1] = quads[:, -1, 1]
    corners[-1, :-1] = quads[-1, :, 3]
    corners[-1, -1] = quads[-1, -1, 2]
    rebuilt = numpy.stack((corners[:-1, :-1], corners[:-1, 1:], corners[1:, 1:],
                           corners[1:, :-1]), axis=2)
    if not numpy.allclose(rebuilt, quads):
        return None
    return {"x": corners[..., 0], "y": corners[..., 1], "z": corners[..., 2]}


def _add(reading: Reading, kind: str, artist: Any, data: dict[str, Any],
         **fields: Any) -> None:
    tint = None
    if kind in ("line3d", "scatter3d") and hasattr(artist, "get_color"):
        value = artist.get_color()
        tint = colour.to_hex(value[0]) if numpy.ndim(value) == 2 else colour.to_hex(value)
    reading.add(kind, artist, data, color=tint, **fields)
