"""Layers that were drawn in pieces become one: seaborn draws a strip per category and an interval
per point, each as an artist of its own."""

from __future__ import annotations

from typing import Any

import numpy

from . import colour
from .reading import Reading

Layer = dict[str, Any]


def intervals(layers: list[Layer]) -> list[Layer]:
    """A line with one upright segment through each of its points is one with error bars."""
    result = list(layers)
    for layer in layers:
        if layer["kind"] not in ("line", "scatter") or layer.get("sampled"):
            continue
        segments = [other for other in result if other is not layer and _through(layer, other)]
        x, y = layer["data"]["x"], layer["data"]["y"]
        if len(segments) < 2 or len(segments) != int(numpy.isfinite(y).sum()):
            continue
        for orient in ("v", "h"):
            bounds = [_bounds(segment, orient) for segment in segments]
            if any(bound is None for bound in bounds):
                continue
            along, across = (x, y) if orient == "v" else (y, x)
            low = numpy.full(len(along), numpy.nan)
            high = low.copy()
            for place, bottom, top in bounds:  # type: ignore[misc]
                at = numpy.flatnonzero(numpy.abs(along - place) < 1e-9)
                if len(at) == 1 and bottom <= across[at[0]] <= top:
                    low[at[0]], high[at[0]] = bottom, top
            if int(numpy.isfinite(low).sum()) != len(segments):
                continue
            name = "y" if orient == "v" else "x"
            if layer["kind"] == "scatter":
                layer.setdefault("style", {})["line"] = "none"
            layer["kind"] = "errorbar"
            layer["data"].pop("step", None)
            layer["data"].update({f"{name}_lo": low, f"{name}_hi": high})
            result = [other for other in result if not any(other is item for item in segments)]
            break
    return _without_twins(result)


def _through(layer: Layer, other: Layer) -> bool:
    return (other["kind"] == "line" and other["label"] is None
            and len(other["data"]["x"]) in (2, 6, 8)
            and other["color"] == layer["color"] and other.get("axis") == layer.get("axis"))


def _bounds(segment: Layer, orient: str) -> tuple[float, float, float] | None:
    """(place, low, high) of an upright line, with or without caps."""
    x, y = segment["data"]["x"], segment["data"]["y"]
    along, across = (x, y) if orient == "v" else (y, x)
    good = numpy.isfinite(along) & numpy.isfinite(across)
    along, across = along[good], across[good]
    if len(along) < 2 or across.max() <= across.min():
        return None
    middle = (along.min() + along.max()) / 2
    if len(along) == 2 and along[0] != along[1]:
        return None
    if len(along) > 2 and int((numpy.abs(along - middle) < 1e-9).sum()) != 2:
        return None
    return float(middle), float(across.min()), float(across.max())


def _without_twins(layers: list[Layer]) -> list[Layer]:
    """seaborn 0.12 repeats a point plot's points as a cloud that carries the label."""
    bars = [layer for layer in layers if layer["kind"] == "errorbar"]
    result = []
    for layer in layers:
        twin = None
        if layer["kind"] == "scatter":
            twin = next((bar for bar in bars if _same_points(bar, layer)), None)
        if twin is None:
            result.append(layer)
        elif twin["label"] is None:
            twin["label"] = layer["label"]
    return result


def _same_points(one: Layer, other: Layer) -> bool:
    return (one["color"] == other["color"]
            and numpy.array_equal(one["data"]["x"], other["data"]["x"])
            and numpy.array_equal(one["data"]["y"], other["data"]["y"]))


def merge(reading: Reading, layers: list[Layer]) -> list[Layer]:
    """Pieces of one series, each in a category of its own, in one layer."""
    on_categories = any(axis.categories is not None or axis.fixed_labels() is not None
                        for axis in (reading.x, reading.y))
    if not on_categories:
        return layers
    result: list[Layer] = []
    for layer in layers:
        whole = next((item for item in result if _belongs(item, layer)), None)
        if whole is None:
            result.append(layer)
        else:
            _append(whole, layer)
    return result


def _belongs(whole: Layer, part: Layer) -> bool:
    kind = part["kind"]
    if kind != whole["kind"] or kind not in ("scatter", "box", "violin"):
        return False
    if set(part["data"]) != set(whole["data"]) or part.get("sampled") or whole.get("sampled"):
        return False
    if part["label"] != whole["label"] or part.get("axis") != whole.get("axis"):
        return False
    if kind == "scatter":
        return colour.rgb(part["color"]) == colour.rgb(whole["color"]) \
            and part.get("style") == whole.get("style")
    if part.get("orient") != whole.get("orient"):
        return False
    if part["label"] is None and len(part["_raw_pos"]) != 1:
        return False  # several boxes at once, twice: two series without a name
    return not numpy.isin(part["_raw_pos"], whole["_raw_pos"]).any()


def _append(whole: Layer, part: Layer) -> None:
    for name, values in part["data"].items():
        known = whole["data"][name]
        if isinstance(known, numpy.ndarray):
            whole["data"][name] = numpy.concatenate((known, values))
        elif isinstance(known, list):
            whole["data"][name] = known + values
    if "_raw_pos" in whole:
        whole["_raw_pos"] = numpy.concatenate((whole["_raw_pos"], part["_raw_pos"]))
    whole["n"] = whole.get("n", 0) + part.get("n", 0)
