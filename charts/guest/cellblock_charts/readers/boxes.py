"""Box plots: exact statistics where Axes.bxp was seen, else read from the drawn lines."""

from __future__ import annotations

from typing import Any

import numpy

from .. import colour, text
from ..encode import floats
from ..reading import Reading, is_a
from .lines import data_of


def read(reading: Reading) -> None:
    for note in reading.noted("bxp"):
        _from_note(reading, note)
    _from_lines(reading)


def _from_note(reading: Reading, note: dict[str, Any]) -> None:
    artists = note["artists"]
    if not any(reading.is_free(artist) for artist in artists["medians"]):
        return
    for group in artists.values():
        reading.claim(list(group))
    middles = [data_of(line) for line in artists["medians"]]
    orient = _orient(middles)
    rows = []
    for stat, (x, y), index in zip(note["stats"], middles, range(len(middles))):
        along = x if orient == "v" else y
        rows.append({
            "pos": float(along.mean()), "width": float(along.max() - along.min()),
            "min": stat["whislo"], "q1": stat["q1"], "median": stat["med"], "q3": stat["q3"],
            "max": stat["whishi"], "mean": stat.get("mean") if artists["means"] else None,
            "ci_lo": stat.get("cilo"), "ci_hi": stat.get("cihi"),
            "outliers": floats(stat.get("fliers", ())) if artists["fliers"] else [],
            "label": str(stat.get("label", index + 1)),
        })
        if artists["boxes"] and index < len(artists["boxes"]):
            rows[-1]["width"] = _extent(artists["boxes"][index], orient) or rows[-1]["width"]
    first = (artists["boxes"] or artists["medians"])[0]
    # Notches are drawn only when asked for: a box line then has eleven points.
    points = len(first.get_path().vertices) if artists["boxes"] else 0
    if points not in (11, 12):
        for row in rows:
            row["ci_lo"] = row["ci_hi"] = None
    _add(reading, first, orient, rows)


def _orient(middles: list[tuple[numpy.ndarray, numpy.ndarray]]) -> str:
    for x, y in middles:
        if len(x) >= 2 and numpy.isfinite(x).all() and x[0] != x[-1]:
            return "v"
        if len(y) >= 2 and numpy.isfinite(y).all() and y[0] != y[-1]:
            return "h"
    return "v"


def _extent(box: Any, orient: str) -> float:
    vertices = box.get_path().vertices
    column = vertices[:, 0 if orient == "v" else 1]
    return float(numpy.nanmax(column) - numpy.nanmin(column))


def _add(reading: Reading, first: Any, orient: str, rows: list[dict[str, Any]]) -> None:
    along, across = reading.along(orient)
    raw = numpy.array([row["pos"] for row in rows])
    fixed = along.fixed_labels()
    labels = [row["label"] for row in rows]
    if fixed is not None or along.categories is not None:
        along.use_fixed_labels()
        found = along.category_at(raw)
        labels = [labels[index] if place is None else (along.categories or [])[place]
                  for index, place in enumerate(found)]
    data: dict[str, Any] = {"label": [text.plain(label) for label in labels],
                            "pos": along.values(raw),
                            "width": along.widths(raw, [row["width"] for row in rows])}
    for key in ("min", "q1", "median", "q3", "max", "mean", "ci_lo", "ci_hi"):
        column = [row[key] for row in rows]
        if any(value is not None for value in column):
            data[key] = across.values([numpy.nan if value is None else value
                                       for value in column])
    data["outliers"] = [across.values(floats(row["outliers"]))[:1000] for row in rows]
    color = colour.face_of(first)
    layer = reading.add("box", first, data, color=color, orient=orient, n=len(rows))
    layer["_raw_pos"] = raw
    tint = first.get_facecolor() if is_a(first, "Patch") else None
    if tint is not None:
        layer["color"] = colour.to_hex(tint) or color


def _from_lines(reading: Reading) -> None:
    """Boxes that no wrapper saw drawn: box, 2 whiskers, 2 caps, median, [fliers]."""
    lines = [line for line in reading.free("Line2D") if reading.in_data(line)]
    points = {id(line): data_of(line) for line in lines}
    sizes = [len(points[id(line)][0]) for line in lines]
    rows: list[dict[str, Any]] = []
    used: list[Any] = []
    first = None
    orient = "v"
    index = 0
    while index + 6 <= len(lines):
        x, y = points[id(lines[index])]
        closed = sizes[index] in (5, 11) and x[0] == x[-1] and y[0] == y[-1]
        if not closed or sizes[index + 1: index + 6] != [2] * 5:
            index += 1
            continue
        whisker = points[id(lines[index + 1])]
        orient = "v" if whisker[0][0] == whisker[0][1] else "h"
        along, across = (x, y) if orient == "v" else (y, x)
        pick = 1 if orient == "v" else 0
        ends = [points[id(lines[index + step])][pick] for step in (1, 2, 5)]
        row = {"pos": float((along.min() + along.max()) / 2),
               "width": float(along.max() - along.min()),
               "q1": float(across.min()), "q3": float(across.max()),
               "min": float(ends[0].min()), "max": float(ends[1].max()),
               "median": float(ends[2].mean()), "mean": None, "ci_lo": None, "ci_hi": None,
               "outliers": [], "label": str(len(rows) + 1)}
        taken = 6
        follower = lines[index + 6] if index + 6 < len(lines) else None
        if follower is not None and follower.get_linestyle() in ("None", "none") and (
                sizes[index + 6] not in (5, 11)):
            fx, fy = points[id(follower)]
            row["outliers"] = fy if orient == "v" else fx
            taken = 7
        rows.append(row)
        used += lines[index: index + taken]
        first = first or lines[index]
        index += taken
    if rows and first is not None:
        reading.claim(used)
        _add(reading, first, orient, rows)


def read_boxen(reading: Reading) -> None:
    """seaborn's boxenplot: per category a PatchCollection of nested boxes, a median, fliers."""
    found = [artist for artist in reading.free("PatchCollection") if reading.in_data(artist)
             and len(artist.get_paths()) >= 1
             and all(len(path.vertices) == 5 for path in artist.get_paths())]
    if not found:
        return
    lines = [line for line in reading.free("Line2D") if len(line.get_xdata(orig=False)) == 2]
    rows = []
    for artist in found:
        reading.claim(artist)
        boxes = numpy.array([(*path.vertices[:-1].min(axis=0), *path.vertices[:-1].max(axis=0))
                             for path in artist.get_paths()])
        # Nested boxes share a centre along the category axis, not along the value axis.
        centres = (boxes[:, :2] + boxes[:, 2:]) / 2
        orient = "v" if numpy.ptp(centres[:, 0]) <= numpy.ptp(centres[:, 1]) else "h"
        across = 1 if orient == "v" else 0
        row = {"pos": float(centres[0, 1 - across]), "median": numpy.nan,
               "levels": boxes[:, [across, across + 2]], "outliers": numpy.array([])}
        for line in lines:
            x, y = data_of(line)
            along, value = (x, y) if orient == "v" else (y, x)
            if reading.is_free(line) and abs(along.mean() - row["pos"]) < 1e-6:
                row["median"] = float(value[0])
                reading.claim(line)
                break
        for cloud in reading.free("PathCollection"):
            offsets = numpy.ma.filled(cloud.get_offsets(), numpy.nan)
            if len(offsets) and (numpy.abs(offsets[:, 1 - across] - row["pos"]) < 1e-6).all():
                row["outliers"] = offsets[:, across][:1000]
                reading.claim(cloud)
                break
        rows.append(row)
    along, across = reading.along(orient)
    along.use_fixed_labels()
    raw = numpy.array([row["pos"] for row in rows])
    names = [("" if place is None else (along.categories or [])[place])
             for place in along.category_at(raw)]
    layer = reading.add("boxen", found[0], {
        "label": names, "pos": along.values(raw),
        "levels": [[across.values(level) for level in row["levels"]] for row in rows],
        "median": across.values([row["median"] for row in rows]),
        "outliers": [across.values(row["outliers"]) for row in rows]}, orient=orient, n=len(rows))
    layer["_raw_pos"] = raw
