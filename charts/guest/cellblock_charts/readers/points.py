"""Point clouds: scatter, strip and swarm plots, hexagonal bins."""

from __future__ import annotations

from typing import Any

import numpy

from .. import colour, sample, scalar
from ..budget import SCATTER_POINTS
from ..encode import floats
from ..reading import Reading


def read(reading: Reading) -> None:
    for artist in list(reading.free("PathCollection", "CircleCollection",
                                    "RegularPolyCollection")):
        offsets = numpy.ma.asarray(artist.get_offsets())
        if not _offsets_in_data(reading, artist):
            continue
        reading.claim(artist)
        if offsets.ndim == 2 and len(offsets):
            _add(reading, artist, floats(offsets[:, 0]), floats(offsets[:, 1]))


def _offsets_in_data(reading: Reading, artist: Any) -> bool:
    transform = artist.get_offset_transform() if hasattr(artist, "get_offset_transform") \
        else artist._transOffset
    return tuple(transform.contains_branch_seperately(reading.ax.transData)) == (True, True)


def _add(reading: Reading, artist: Any, x: numpy.ndarray, y: numpy.ndarray) -> None:
    count = len(x)
    fields: dict[str, Any] = {"n": count}
    columns: dict[str, Any] = {"x": x, "y": y}
    sizes = floats(artist.get_sizes()) if hasattr(artist, "get_sizes") else numpy.array([])
    style: dict[str, Any] = {}
    if len(sizes) == count and count > 1:
        columns["size"] = sizes
    elif len(sizes):
        style["size"] = round(float(sizes[0]), 3)
    mapped = artist.get_array()
    if mapped is not None:
        values = floats(numpy.ravel(mapped))
        if len(values) == count:
            columns["c"] = values
        scalar.note(reading, artist)
    else:
        rows = numpy.asarray(artist.get_facecolors())
        if len(rows) == 0:
            rows = numpy.asarray(artist.get_edgecolors())
        if len(rows) == count and count > 1 and (rows != rows[0]).any():
            columns["color"] = rows
    width = len(columns) - ("color" in columns)
    picked = sample.cloud(x, y, reading.budget.points(SCATTER_POINTS, width))

    def finish(some: dict[str, Any]) -> dict[str, Any]:
        data = reading.values(some)
        if "color" in some:
            data["color"] = [tint or "" for tint in colour.of_rows(some["color"])]
        return data

    data = sample.cut(columns, picked, fields, finish)
    if style:
        fields["style"] = style
    reading.add("scatter", artist, data, **fields)


def read_hexbins(reading: Reading) -> None:
    known = {id(note["artist"]): note["log"] for note in reading.noted("hexbin")}
    for artist in list(reading.free("PolyCollection")):
        offsets = floats(artist.get_offsets())
        values = artist.get_array()
        paths = artist.get_paths()
        if values is None or not paths or len(paths[0].vertices) not in (6, 7):
            continue
        if id(artist) not in known and len(paths) != 1:
            continue
        values = floats(values)
        if len(offsets) == len(values) and offsets.any() and len(paths) == 1:
            x, y = offsets[:, 0], offsets[:, 1]
            dx, dy = numpy.ptp(paths[0].vertices[:, 0]), numpy.ptp(paths[0].vertices[:, 1])
            # Newer versions keep the centres on log axes as exponents.
            log_x, log_y = known.get(id(artist), [False, False])
            x, dx = (10.0 ** x, numpy.nan) if log_x else (x, dx)
            y, dy = (10.0 ** y, numpy.nan) if log_y else (y, dy)
        elif len(paths) == len(values):  # log axes: a path of its own for every hexagon
            boxes = numpy.array([(*path.vertices.min(axis=0), *path.vertices.max(axis=0))
                                 for path in paths])
            x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
            dx = dy = numpy.nan
        else:
            continue
        reading.claim(artist)
        scalar.note(reading, artist)
        keep = numpy.argsort(-values, kind="stable")[: reading.budget.points(SCATTER_POINTS, 3)]
        fields: dict[str, Any] = {"n": len(values)}
        picked = (numpy.sort(keep), "largest") if len(keep) < len(values) else None
        data = sample.cut({"x": x, "y": y, "v": values}, picked, fields, reading.values)
        reading.add("hexbin", artist, {
            **data,
            "dx": None if numpy.isnan(dx) else float(dx),
            "dy": None if numpy.isnan(dy) else float(dy)}, color="", **fields)["color"] = None

