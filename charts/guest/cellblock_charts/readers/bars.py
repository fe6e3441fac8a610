"""Bars from their containers: vertical or horizontal, grouped, stacked, with error bars."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from .. import colour, sample, text
from ..axis import AxisReader
from ..budget import BAR_COUNT
from ..encode import floats
from ..reading import Reading, is_a
from . import hists


def read(reading: Reading) -> None:
    groups: list[dict[str, Any]] = []
    histograms = {id(note["container"]) for note in reading.noted("bar")}
    for container in reading.ax.containers:
        if not is_a(container, "BarContainer"):
            continue
        reading.budget.check()
        patches = [patch for patch in container.patches
                   if reading.is_free(patch) and patch.get_visible()]
        if not patches:
            continue
        reading.claim(patches)
        orient = orientation(container, patches)
        bars = geometry(patches, orient)
        label = text.label_of(container) or None
        if hists.is_histogram(reading, bars, orient, known=id(container) in histograms):
            hists.add_bars(reading, patches[0], bars, orient, label)
            _claim_errors(reading, container)
            continue
        group = _group(reading, container, patches, bars, orient, label)
        groups.append(group)
    _loose(reading, groups)
    _attach_intervals(reading, groups)
    _stack(groups)
    for group in groups:
        _add(reading, group)


def orientation(container: Any, patches: list[Any]) -> str:
    known = getattr(container, "orientation", None)
    if known in ("vertical", "horizontal"):
        return known[0]
    heights = {patch.get_height() for patch in patches}
    return "h" if len(heights) == 1 and len(patches) > 1 else "v"


def geometry(patches: list[Any], orient: str) -> dict[str, numpy.ndarray]:
    """Raw floats: position (centre), width, value, base. Value is signed as the user gave it."""
    raw = numpy.array([(patch.get_x(), patch.get_y(), patch.get_width(), patch.get_height())
                       for patch in patches], dtype="float64")
    x, y, width, height = raw.T
    if orient == "h":
        x, y, width, height = y, x, height, width
    return {"pos": x + width / 2, "left": x, "width": numpy.abs(width), "value": height,
            "base": y}


def _group(reading: Reading, container: Any, patches: list[Any], bars: dict[str, Any],
           orient: str, label: str | None) -> dict[str, Any]:
    group = {"patches": patches, "bars": bars, "orient": orient, "label": label,
             "err": None, "stack": None}
    segments = _claim_errors(reading, container)
    if segments:
        group["err"] = _match(bars, segments, orient)
    if label is None:
        # `hist` and `bar(label=[...])` put labels on the patches
        labels = [text.label_of(patch) for patch in patches]
        if len(set(labels)) == 1:
            group["label"] = labels[0]
        elif any(labels):
            group["names"] = [name or "" for name in labels]
    return group


def _claim_errors(reading: Reading, container: Any) -> list[numpy.ndarray]:
    errors = getattr(container, "errorbar", None)
    if errors is None:
        return []
    data_line, caps, lines = errors.lines
    reading.claim(data_line, list(caps), list(lines))
    return [path.vertices for collection in lines for path in collection.get_paths()]


def _match(bars: dict[str, numpy.ndarray], segments: list[numpy.ndarray],
           orient: str) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Absolute bounds per bar, found by position."""
    low = numpy.full(len(bars["pos"]), numpy.nan)
    high = low.copy()
    along, across = (0, 1) if orient == "v" else (1, 0)
    for points in segments:
        if len(points) < 2 or not numpy.isfinite(points).all():
            continue
        if points[:, along].max() - points[:, along].min() > 1e-9 * max(
                1.0, abs(points[0, along])):
            continue  # runs the other way: an xerr of a vertical bar
        place = points[0, along]
        nearest = int(numpy.nanargmin(numpy.abs(bars["pos"] - place)))
        if abs(bars["pos"][nearest] - place) <= bars["width"][nearest] / 2 + 1e-9:
            low[nearest], high[nearest] = points[:, across].min(), points[:, across].max()
    return low, high


def _loose(reading: Reading, groups: list[dict[str, Any]]) -> None:
    """Rectangles in no container (drawn by hand): bars when they stand on a common line."""
    patches = [patch for patch in reading.free("Rectangle")
               if reading.in_data(patch) and (patch.get_width() or patch.get_height())]
    if len(patches) < 2:
        return
    for orient in ("v", "h"):
        bars = geometry(patches, orient)
        if (bars["base"] == 0).all() and len(numpy.unique(bars["pos"])) == len(patches):
            reading.claim(patches)
            groups.append({"patches": patches, "bars": bars, "orient": orient, "label": None,
                           "err": None, "stack": None})
            return


def _attach_intervals(reading: Reading, groups: list[dict[str, Any]]) -> None:
    """seaborn draws a confidence interval as a Line2D per bar, in no container, its caps in the
    same line or (before 0.13) as two more lines."""
    if not groups:
        return
    count = sum(len(group["patches"]) for group in groups)
    lines = [line for line in reading.free("Line2D")
             if len(line.get_xdata(orig=False)) in (2, 6, 8)
             and reading.in_data(line) and text.label_of(line) is None]
    if len(lines) > count * 3:
        return
    for line in lines:
        x, y = floats(line.get_xdata(orig=False)), floats(line.get_ydata(orig=False))
        for group in groups:
            if _attach(group, x, y) or _is_cap(group, x, y):
                reading.claim(line)
                break


def _nearest(group: dict[str, Any], place: float) -> int | None:
    bars = group["bars"]
    offset = numpy.abs(bars["pos"] - place)
    nearest = int(offset.argmin())
    return nearest if offset[nearest] <= bars["width"][nearest] * 1e-3 else None


def _attach(group: dict[str, Any], x: numpy.ndarray, y: numpy.ndarray) -> bool:
    along, across = (x, y) if group["orient"] == "v" else (y, x)
    good = numpy.isfinite(along)
    along, across = along[good], across[good]
    if len(along) < 2:
        return False
    place = float(along.min() + along.max()) / 2
    on_stem = numpy.abs(along - place) <= 1e-9 * max(1.0, abs(place))
    if int(on_stem.sum()) != 2:
        return False
    index = _nearest(group, place)
    if index is None:
        return False
    if numpy.isnan(across).all():
        return True  # a category with one value has an interval of nothing
    tip = group["bars"]["base"][index] + group["bars"]["value"][index]
    low, high = numpy.nanmin(across), numpy.nanmax(across)
    slack = 1e-9 * abs(tip)
    if not low - slack <= tip <= high + slack:
        return False
    if group["err"] is None:
        empty = numpy.full(len(group["bars"]["pos"]), numpy.nan)
        group["err"] = (empty, empty.copy())
    group["err"][0][index], group["err"][1][index] = low, high
    return True


def _is_cap(group: dict[str, Any], x: numpy.ndarray, y: numpy.ndarray) -> bool:
    along, across = (x, y) if group["orient"] == "v" else (y, x)
    if len(along) != 2 or across[0] != across[1] or group["err"] is None:
        return False
    index = _nearest(group, float(along.sum()) / 2)
    return index is not None and bool(across[0] in (group["err"][0][index],
                                                    group["err"][1][index]))


def _stack(groups: list[dict[str, Any]]) -> None:
    """Marks groups that stand on one another at equal positions."""
    serial = 0
    for index, group in enumerate(groups):
        for below in reversed(groups[:index]):
            if below["orient"] == group["orient"] and _stands_on(group["bars"], below["bars"]):
                if below["stack"] is None:
                    below["stack"] = f"s{serial}"
                    serial += 1
                group["stack"] = below["stack"]
                break


def _stands_on(above: dict[str, numpy.ndarray], below: dict[str, numpy.ndarray]) -> bool:
    """Equal positions, and every bar begins where a bar below ended (or at 0 past a sign)."""
    if len(above["pos"]) != len(below["pos"]):
        return False
    reach = numpy.nanmax(numpy.abs(below["width"]), initial=0) * 1e-6
    if not numpy.allclose(above["pos"], below["pos"], rtol=0, atol=max(reach, 1e-12)):
        return False
    tip = below["base"] + below["value"]
    tolerance = 1e-9 * max(1.0, float(numpy.nanmax(numpy.abs(tip), initial=0)))
    meets = numpy.abs(above["base"] - tip) <= tolerance
    free = numpy.isnan(tip) | numpy.isnan(above["base"]) \
        | (numpy.sign(above["value"]) != numpy.sign(below["value"]))
    return bool((meets | free).all() and (meets & (below["value"] != 0)).any())


def _add(reading: Reading, group: dict[str, Any]) -> None:
    bars, patches, orient = group["bars"], group["patches"], group["orient"]
    along, across = reading.along(orient)
    fields: dict[str, Any] = {"orient": orient, "n": len(patches)}
    columns = {name: bars[name] for name in ("pos", "value", "base", "width")}
    if group["err"] is not None:
        columns["err_lo"], columns["err_hi"] = group["err"]
    if group.get("names"):
        columns["label"] = numpy.array(group["names"], dtype=object)
    picked = None
    positions = bars["pos"]
    if len(patches) > BAR_COUNT:
        largest = numpy.argsort(-numpy.abs(bars["value"]), kind="stable")[:BAR_COUNT]
        picked = numpy.sort(largest), "largest"
        patches = [patches[index] for index in picked[0]]
        positions = positions[picked[0]]
    data = sample.cut(columns, picked, fields, functools.partial(_data, along, across))
    if group["stack"]:
        data["stack"] = group["stack"]
    tints = colour.of_rows(numpy.array([patch.get_facecolor() for patch in patches]))
    if len(set(tints)) > 1:
        data["color"] = [tint or "" for tint in tints]
    hatch = patches[0].get_hatch()
    if hatch:
        fields["style"] = {"hatch": hatch}
    layer = reading.add("bar", patches[0], data, label=group["label"], color=tints[0], **fields)
    layer["label"] = group["label"]
    layer["_raw_pos"] = positions


def _data(along: AxisReader, across: AxisReader, bars: dict[str, Any]) -> dict[str, Any]:
    data = {**bars, "pos": along.values(bars["pos"]),
            "width": along.widths(bars["pos"], bars["width"])}
    if across.is_date():  # a bar along a time axis: its length is a duration in ms
        data["base"] = across.values(bars["base"])
        data["value"] = across.values(bars["base"] + bars["value"]) - data["base"]
    for name in ("err_lo", "err_hi"):
        if name in bars:
            data[name] = across.values(bars[name])
    return data
