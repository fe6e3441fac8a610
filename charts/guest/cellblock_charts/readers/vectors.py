"""Arrows on a plane: quiver, barbs, stream lines."""

from __future__ import annotations

from typing import Any

import numpy

from .. import sample, scalar
from ..budget import SCATTER_POINTS
from ..encode import floats
from ..reading import Reading, is_a


def read(reading: Reading) -> None:
    for artist in list(reading.free("Quiver", "Barbs")):
        reading.claim(artist)
        barbs = is_a(artist, "Barbs")
        x, y = floats(artist.x if barbs else artist.X), floats(artist.y if barbs else artist.Y)
        u, v = floats(artist.u if barbs else artist.U), floats(artist.v if barbs else artist.V)
        hidden = getattr(artist, "Umask", None)
        if hidden is not None and numpy.any(hidden):
            u, v = u.copy(), v.copy()
            u[numpy.ravel(hidden)] = v[numpy.ravel(hidden)] = numpy.nan
        x, y, u, v = (numpy.ravel(item) for item in (x, y, u, v))
        if not len(x) == len(y) == len(u) == len(v):
            continue
        columns: dict[str, Any] = {"x": x, "y": y, "u": u, "v": v}
        mapped = artist.get_array()
        if mapped is not None and numpy.size(mapped) == len(x):
            columns["c"] = floats(numpy.ravel(mapped))
            scalar.note(reading, artist)
        fields: dict[str, Any] = {"n": len(x)}
        picked = sample.cloud(x, y, reading.budget.points(SCATTER_POINTS, 4))
        data = sample.cut(columns, picked, fields, reading.values)
        reading.add("quiver", artist, data, **fields)


def read_flows(reading: Reading) -> None:
    """A stream plot is summarised: its lines are derived from a field that is not kept."""
    for note in reading.noted("streamplot"):
        lines = note["artist"]
        if not reading.is_free(lines):
            continue
        reading.claim(lines)
        reading.claim([patch for patch in reading.free("FancyArrowPatch")])
        points = numpy.concatenate([path.vertices for path in lines.get_paths()]
                                   or [numpy.zeros((0, 2))])
        bbox = None
        if len(points):
            bbox = [*points.min(axis=0).tolist(), *points.max(axis=0).tolist()]
        reading.add("flow", lines, {"segments": len(lines.get_paths()), "bbox": bbox})
