"""Helpers that carry no data, filled outlines, and what remains unexplained."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy

from .. import text
from ..encode import floats, number
from ..reading import Reading, is_a


def probe(reading: Reading) -> None:
    """Sets aside lines and clouds whose data cannot be had, so that they cost no other layer."""
    for artist in list(reading.free("Line2D", "Collection")):
        try:
            if is_a(artist, "Line2D"):
                artist.get_xdata(orig=False)
                artist.get_ydata(orig=False)
            else:
                artist.get_offsets()
        except Exception as error:
            reading.claim(artist)
            reading.warnings.append(text.clean(
                f"{type(artist).__name__}: could not be read ({type(error).__name__}: {error})"))


def drop_helpers(reading: Reading) -> None:
    """seaborn puts empty artists on the axes to have entries for its legend."""
    boxes = {id(line) for note in reading.noted("bxp")
             for group in note["artists"].values() for line in group}
    for artist in list(reading.free()):
        if id(artist) in boxes:
            continue
        if is_a(artist, "Rectangle"):
            empty = artist.get_width() == 0 and artist.get_height() == 0 \
                and artist.get_xy() == (0, 0)
        elif is_a(artist, "Line2D") and not is_a(artist, "AxLine", "_AxLine"):
            empty = len(artist.get_xdata(orig=False)) == 0
        elif is_a(artist, "PathCollection"):
            empty = len(artist.get_offsets()) == 0
        else:
            continue
        if empty and not _in_container(reading, artist):
            reading.claim(artist)


def _in_container(reading: Reading, artist: Any) -> bool:
    for container in reading.ax.containers:
        for part in getattr(container, "patches", ()) or ():
            if part is artist:
                return True
    return False


def read(reading: Reading) -> None:
    """Everything left: shapes by their extent, other artists by their class and number."""
    rest: Counter[str] = Counter()
    box: numpy.ndarray | None = None
    first = None
    label = None
    for artist in list(reading.free()):
        reading.claim(artist)
        if is_a(artist, "Legend", "OffsetBox", "Text", "FancyArrowPatch", "QuiverKey"):
            continue
        if is_a(artist, "Line2D") and not reading.in_data(artist):
            continue
        rest[type(artist).__name__] += 1
        first = first or artist
        label = label or text.label_of(artist)
        box = _extend(box, artist)
    if not rest:
        return
    drawn = all(name in _SHAPES for name in rest)
    data: dict[str, Any] = {"artists": dict(rest), "n": sum(rest.values())}
    if box is not None and numpy.isfinite(box).all():
        x = reading.x.values(box[[0, 2]])
        y = reading.y.values(box[[1, 3]])
        data["bbox"] = [number(x[0]), number(y[0]), number(x[1]), number(y[1])]
    reading.add("shape" if drawn else "unknown", first, data, label=label)


_SHAPES = {"Circle", "Ellipse", "Polygon", "Rectangle", "PathPatch", "FancyBboxPatch", "Arc",
           "Arrow", "FancyArrow", "RegularPolygon", "CirclePolygon", "Annulus", "PolyCollection",
           "PatchCollection", "EllipseCollection", "FillBetweenPolyCollection"}


def _extend(box: numpy.ndarray | None, artist: Any) -> numpy.ndarray | None:
    """The extent in data coordinates, of patches only."""
    if not is_a(artist, "Patch"):
        return box
    try:
        points = floats(artist.get_patch_transform().transform(artist.get_path().vertices))
    except Exception:
        return box
    if not len(points):
        return box
    low, high = points.min(axis=0), points.max(axis=0)
    if box is None:
        return numpy.concatenate((low, high))
    return numpy.concatenate((numpy.fmin(box[:2], low), numpy.fmax(box[2:], high)))
