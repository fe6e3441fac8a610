"""Histograms in every shape: bars, stacked bars, step and filled outlines, stairs."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from .. import colour, sample, text
from ..budget import BAR_COUNT
from ..encode import floats
from ..reading import Reading, is_a
from . import bars as bar_reader


def read(reading: Reading) -> None:
    """What Axes.hist drew, with the bins that it returned."""
    for note in reading.noted("hist"):
        edges = floats(note["edges"])
        orient = "h" if note["horizontal"] else "v"
        for index, (counts, patches) in enumerate(_parts(note)):
            reading.budget.check()
            patches = [patch for patch in patches if reading.is_free(patch)]
            if not patches:
                continue
            label = next((name for name in map(text.label_of, patches) if name), None)
            reading.claim(patches)
            fields: dict[str, Any] = {}
            base = None
            if is_a(patches[0], "Rectangle") and len(patches) == len(edges) - 1:
                drawn = bar_reader.geometry(patches, orient)
                counts = drawn["value"]
                base = drawn["base"] if note["stacked"] and index else None
            elif note["stacked"] and index:
                base = floats(_parts(note)[index - 1][0])
                counts = counts - base
            if base is not None and not note["cumulative"]:
                fields["stack"] = "hist"
            label = _container_label(reading, patches[0]) or label
            _add(reading, patches[0], edges, counts, orient, label, base=base,
                 density=note["density"], cumulative=note["cumulative"], **fields)


def _parts(note: dict[str, Any]) -> list[tuple[numpy.ndarray, list[Any]]]:
    """(counts, artists) per data set, whatever the shape of hist's return value."""
    counts, patches = note["counts"], note["patches"]
    if is_a(patches, "BarContainer"):
        return [(floats(counts), list(patches))]
    items = list(patches)
    if not items:
        return []
    if is_a(items[0], "BarContainer"):
        return [(floats(row), list(group)) for row, group in zip(counts, items)]
    if is_a(items[0], "Patch"):  # one outline: a silent_list of one Polygon
        return [(floats(counts), items)]
    return [(floats(row), list(group)) for row, group in zip(counts, items)]


def _container_label(reading: Reading, patch: Any) -> str | None:
    for container in reading.ax.containers:
        if is_a(container, "BarContainer") and container.patches \
                and container.patches[0] is patch:
            return text.label_of(container)
    return None


def is_histogram(reading: Reading, bars: dict[str, numpy.ndarray], orient: str, *,
                 known: bool) -> bool:
    """Bars that touch, on an axis of numbers: a histogram that Axes.hist did not draw."""
    along, _ = reading.along(orient)
    if along.kind == "category" or (along.fixed_labels() is not None and not known):
        return False
    left, width = bars["left"], bars["width"]
    if len(left) < 1 or not numpy.isfinite(left).all():
        return False
    order = numpy.argsort(left)
    left, right = left[order], (left + width)[order]
    tolerance = 1e-9 * max(float(right[-1] - left[0]), 1e-300) + 1e-12 * abs(float(right[-1]))
    touching = bool((numpy.abs(right[:-1] - left[1:]) <= tolerance).all())
    if known:
        return touching
    centres = (left + right) / 2
    whole = bool((numpy.abs(centres - numpy.rint(centres)) < 1e-9).all())
    return touching and len(left) >= 3 and not whole and not along.is_date() \
        and bool((bars["base"] == bars["base"][0]).all()) and bool((bars["value"] >= 0).all())


def add_bars(reading: Reading, first: Any, bars: dict[str, numpy.ndarray], orient: str,
             label: str | None) -> None:
    """A histogram out of touching bars (seaborn's histplot)."""
    order = numpy.argsort(bars["left"])
    edges = numpy.append(bars["left"][order],
                         bars["left"][order][-1] + bars["width"][order][-1])
    base = bars["base"][order]
    counts = bars["value"][order]
    area = float((counts * numpy.diff(edges)).sum())
    _add(reading, first, edges, counts, orient, label,
         base=base if base.any() else None, density=abs(area - 1) < 1e-6 and counts.max() != 1,
         cumulative=False)


def read_stairs(reading: Reading) -> None:
    """StepPatch: values, edges and baseline as they were given."""
    for patch in list(reading.free("StepPatch")):
        reading.claim(patch)
        values, edges, baseline = patch.get_data()
        base = None if baseline is None or not numpy.any(baseline) else \
            numpy.broadcast_to(floats(baseline), (len(values),))
        orient = "h" if patch.orientation == "horizontal" else "v"
        if base is not None:
            values = floats(values) - base
        _add(reading, patch, floats(edges), floats(values), orient, text.label_of(patch),
             base=base, density=False, cumulative=False)


def _add(reading: Reading, first: Any, edges: numpy.ndarray, counts: numpy.ndarray, orient: str,
         label: str | None, *, base: numpy.ndarray | None, density: bool, cumulative: bool,
         stack: str | None = None) -> None:
    along, _ = reading.along(orient)
    fields: dict[str, Any] = {"orient": orient}
    bins = len(counts)
    if bins > BAR_COUNT:
        step = -(-bins // BAR_COUNT)
        pad = -bins % step
        weights = numpy.diff(edges) if density else numpy.ones(bins)
        sample.note_full(fields, "merged_bins", -(-bins // step), bins, functools.partial(
            _bins, along, edges, counts, base))
        totals = numpy.pad(counts * weights, (0, pad)).reshape(-1, step).sum(axis=1)
        shares = numpy.pad(weights, (0, pad)).reshape(-1, step).sum(axis=1) if density else 1.0
        edges = numpy.append(edges[:-1:step], edges[-1])
        counts, base = totals / shares, None
    whole = numpy.isfinite(counts).all() and (counts == numpy.rint(counts)).all()
    if whole and not density and not cumulative:
        fields["n"] = int(counts.sum())
    data = {"edges": along.values(edges), "count": counts, "base": base,
            "density": bool(density), "cumulative": bool(cumulative), "stack": stack}
    color = colour.face_of(first)
    layer = reading.add("hist", first, data, label=label, color=color, **fields)
    layer["label"] = label


def _bins(along: Any, edges: numpy.ndarray, counts: numpy.ndarray,
          base: numpy.ndarray | None) -> dict[str, Any]:
    ends = along.values(edges)
    return {"edge_lo": ends[:-1], "edge_hi": ends[1:], "count": counts, "base": base}
