"""Short marks and bars of time: event plots, rugs, Gantt bars, loose line segments."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from .. import colour, sample, text
from ..budget import LINE_POINTS
from ..encode import floats
from ..reading import Reading, is_a


def read(reading: Reading) -> None:
    _events(reading)
    _rugs(reading)
    _gantt(reading)


def _events(reading: Reading) -> None:
    found = list(reading.free("EventCollection"))
    if not found:
        return
    reading.claim(found)
    orient = "h" if found[0].get_orientation() == "horizontal" else "v"
    along, across = (reading.x, reading.y) if orient == "h" else (reading.y, reading.x)
    limit = reading.budget.points(LINE_POINTS, len(found))
    labels = [text.label_of(item) or "" for item in found]
    data = {"pos": [along.values(floats(item.get_positions())[:limit]) for item in found],
            "offsets": across.values([item.get_lineoffset() for item in found]),
            "label": labels if any(labels) else None}
    reading.add("event", found[0], data, orient=orient,
                n=sum(len(item.get_positions()) for item in found),
                color=colour.to_hex(found[0].get_color()[0]))


def _rugs(reading: Reading) -> None:
    """Segments with one coordinate in data and one in the frame: seaborn's rugplot."""
    for artist in list(reading.free("LineCollection")):
        parts = tuple(artist.get_transform().contains_branch_seperately(reading.ax.transData))
        if parts not in ((True, False), (False, True)):
            continue
        reading.claim(artist)
        column = 0 if parts[0] else 1
        axis = reading.x if column == 0 else reading.y
        points = numpy.array([path.vertices[0, column] for path in artist.get_paths()])
        limit = reading.budget.points(LINE_POINTS)
        reading.add("event", artist, {"pos": [axis.values(points[:limit])],
                                      "offsets": [0.0]},
                    orient="h" if column == 0 else "v", n=len(points))


def _gantt(reading: Reading) -> None:
    known = {id(note["artist"]) for note in reading.noted("broken_barh")}
    found = [artist for artist in reading.free("PolyCollection")
             if id(artist) in known or is_a(artist, "BrokenBarHCollection")]
    for artist in found:
        reading.claim(artist)
        boxes = numpy.array([(*path.vertices.min(axis=0), *path.vertices.max(axis=0))
                             for path in artist.get_paths()]).reshape(-1, 4)
        raw = (boxes[:, 1] + boxes[:, 3]) / 2
        tints = colour.of_rows(numpy.asarray(artist.get_facecolors()))
        data: dict[str, Any] = {
            "row": reading.y.values(raw), "start": reading.x.values(boxes[:, 0]),
            "end": reading.x.values(boxes[:, 2]), "height": boxes[:, 3] - boxes[:, 1]}
        if len(set(tints)) > 1 and len(tints) == len(boxes):
            data["color"] = [tint or "" for tint in tints]
        layer = reading.add("gantt", artist, data, orient="h", n=len(boxes))
        layer["_raw_pos"] = raw


def read_segments(reading: Reading) -> None:
    """hlines, vlines, dendrograms: lines broken by missing points between the segments."""
    for artist in list(reading.free("LineCollection")):
        if not reading.in_data(artist):
            continue
        paths = [floats(path.vertices) for path in artist.get_paths()]
        paths = [points for points in paths if len(points)]
        reading.claim(artist)
        if not paths:
            continue
        total = sum(len(points) for points in paths)
        limit = reading.budget.points(LINE_POINTS)
        fields: dict[str, Any] = {"n": total, "style": {"segments": True}}
        used = count = 0
        for points in paths:
            if used + len(points) > limit:
                break
            used += len(points) + 1
            count += 1

        def columns(some: list[numpy.ndarray]) -> dict[str, Any]:
            points = sample.with_gaps(some)
            return reading.values({"x": points[:, 0], "y": points[:, 1]})

        data = columns(paths[:count] if count else [paths[0][:limit]])
        if count < len(paths):
            sample.note_full(fields, "first", len(data["x"]), total + len(paths),
                             functools.partial(columns, paths))
        rows = numpy.asarray(artist.get_colors())
        reading.add("line", artist, data, color=colour.to_hex(rows[0]) if len(rows) else None,
                    **fields)
