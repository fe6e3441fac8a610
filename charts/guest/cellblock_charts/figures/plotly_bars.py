"""Plotly's bars and histograms: where the browser puts them, side by side or on each other."""

from __future__ import annotations

from typing import Any

import numpy

from .. import text
from ..encode import number
from . import stats
from .frame import Panel
from .plotly_axes import Figure
from .values import color, is_number, listed, numbers, plain


class _Bars:
    """One trace as positions and lengths, before it is put in its place."""

    def __init__(self, figure: Figure, trace: dict[str, Any]) -> None:
        self.trace = trace
        self.lying = trace.get("orientation") == "h" or (
            trace.get("orientation") is None and trace.get("type") == "histogram"
            and trace.get("x") is None and trace.get("y") is not None)
        self.along = figure.along(trace, "y" if self.lying else "x")
        self.across = figure.along(trace, "x" if self.lying else "y")
        self.group = trace.get("offsetgroup") or trace.get("alignmentgroup") or ""
        self.edges: numpy.ndarray | None = None
        if trace.get("type") == "histogram":
            self._bin()
        else:
            letters = ("y", "x") if self.lying else ("x", "y")
            values = trace.get(letters[0])
            self.length = self.across.values(trace.get(letters[1]))
            self.position = (self.along.values(values) if values is not None
                             else float(number(trace.get(f"{letters[0]}0", 0)) or 0)
                             + numpy.arange(len(self.length)))
            size = min(len(self.position), len(self.length))
            self.position, self.length = self.position[:size], self.length[:size]

    def _bin(self) -> None:
        letter = "y" if self.lying else "x"
        samples = self.along.values(self.trace.get(letter))
        other = self.trace.get("x" if self.lying else "y")
        weights = numbers(other) if other is not None else None
        if self.along.kind == "category":
            self.position = numpy.arange(len(self.along.names), dtype="float64")
            edges = numpy.arange(len(self.along.names) + 1) - 0.5
        else:
            edges = self._edges(samples, letter)
            self.position = (edges[1:] + edges[:-1]) / 2
            self.edges = edges
        self.length = self._counts(samples, weights, edges)

    def _edges(self, samples: numpy.ndarray, letter: str) -> numpy.ndarray:
        given = self.trace.get(f"{letter}bins") or {}
        if all(is_number(given.get(key)) for key in ("start", "end", "size")):
            start, end, size = (float(given[key]) for key in ("start", "end", "size"))
            return start + size * numpy.arange(min(int(numpy.ceil((end - start) / size)), 5000) + 1)
        if self.along.kind == "date":
            raise ValueError("bins of dates are chosen in the browser")
        wanted = self.trace.get(f"nbins{letter}")
        return stats.plotly_bins(samples, int(wanted) if wanted else None)

    def _counts(self, samples: numpy.ndarray, weights: numpy.ndarray | None,
                edges: numpy.ndarray) -> numpy.ndarray:
        place = numpy.searchsorted(edges, samples, side="right") - 1
        inside = (place >= 0) & (place < len(edges) - 1) & numpy.isfinite(samples)
        counts = numpy.bincount(place[inside], minlength=len(edges) - 1).astype("float64")
        how = self.trace.get("histfunc", "count")
        result = counts
        if how != "count" and weights is not None:
            sums = numpy.bincount(place[inside], weights[inside], minlength=len(edges) - 1)
            if how == "sum":
                result = sums
            elif how == "avg":
                result = numpy.divide(sums, counts, out=numpy.full(len(sums), numpy.nan),
                                      where=counts > 0)
            else:
                raise ValueError(f"histfunc {how} is not read")
        norm = self.trace.get("histnorm") or ""
        total = result.sum()
        if norm in ("percent", "probability", "probability density") and total > 0:
            result = result / total * (100 if norm == "percent" else 1)
        if norm in ("density", "probability density"):
            result = result / numpy.diff(edges)
        if (self.trace.get("cumulative") or {}).get("enabled"):
            result = numpy.cumsum(result)
        self.observations = int(inside.sum())
        return result


def read(figure: Figure, panel: Panel, traces: list[dict[str, Any]]) -> None:
    """All bars of one panel at once: their places depend on each other."""
    bars: list[_Bars] = []
    for trace in traces:
        try:
            bars.append(_Bars(figure, trace))
        except (ValueError, KeyError, TypeError) as error:
            panel.unknown(str(trace.get("type")), str(error), label=figure.name(trace))
    mode = figure.layout.get("barmode", "group")
    stacked = mode in ("stack", "relative")
    groups: list[Any] = []
    for index, item in enumerate(bars):
        key = item.group or (index if mode == "group" else "")
        if key not in groups:
            groups.append(key)
    pitch = _pitch(bars)
    share = 1 - float(figure.layout.get("bargap", 0.2))
    slots = len(groups) if mode == "group" else 1
    factors = _norms(figure, bars)
    ends: dict[Any, dict[float, list[float]]] = {}
    for index, item in enumerate(bars):
        key = item.group or (index if mode == "group" else "")
        slot = groups.index(key) if mode == "group" else 0
        usual = pitch * share / slots
        offset = (slot - (slots - 1) / 2) * usual
        base = numpy.zeros(len(item.length))
        if stacked:
            base = _stack(item, ends.setdefault(key, {}), factors)
        _add(figure, panel, item, usual, offset, base, f"s{key}" if stacked else None)


def _pitch(bars: list[_Bars]) -> float:
    places = numpy.unique(numpy.concatenate([item.position for item in bars] or [numpy.zeros(1)]))
    gaps = numpy.diff(places[numpy.isfinite(places)])
    gaps = gaps[gaps > 0]
    return float(gaps.min()) if len(gaps) else 1.0


def _norms(figure: Figure, bars: list[_Bars]) -> dict[float, float] | None:
    norm = figure.layout.get("barnorm")
    if norm not in ("fraction", "percent"):
        return None
    sums: dict[float, float] = {}
    for item in bars:
        for place, length in zip(item.position.tolist(), item.length.tolist()):
            if numpy.isfinite(length):
                sums[place] = sums.get(place, 0.0) + abs(length)
    whole = 1.0 if norm == "fraction" else 100.0
    return {place: whole / total for place, total in sums.items() if total > 0}


def _stack(item: _Bars, ends: dict[float, list[float]],
           factors: dict[float, float] | None) -> numpy.ndarray:
    """Positive bars grow upwards from the last one, negative ones downwards."""
    base = numpy.zeros(len(item.length))
    length = item.length.copy()
    for index, place in enumerate(item.position.tolist()):
        if factors is not None:
            length[index] *= factors.get(place, 1.0)
        reach = ends.setdefault(place, [0.0, 0.0])
        value = length[index]
        if not numpy.isfinite(value):
            continue
        side = 0 if value >= 0 else 1
        base[index] = reach[side]
        reach[side] += value
    item.length = length
    return base


def _add(figure: Figure, panel: Panel, item: _Bars, usual: float, offset: float,
         base: numpy.ndarray, stack: str | None) -> None:
    trace = item.trace
    fields = {"label": figure.name(trace), "color": figure.color(trace),
              "axis": figure.side(trace), "orient": "h" if item.lying else "v"}
    if item.edges is not None:
        data = {"edges": item.edges, "count": item.length,
                "base": base if base.any() else None,
                "density": "density" in (trace.get("histnorm") or ""),
                "cumulative": bool((trace.get("cumulative") or {}).get("enabled")),
                "stack": stack}
        given = trace.get("ybins" if item.lying else "xbins")
        panel.add("hist", data, n=item.observations, computed=None if given else False, **fields)
        return
    if trace.get("base") is not None:
        base = numpy.broadcast_to(item.across.values(trace["base"]), base.shape).copy()
    width = numbers(trace["width"]) if trace.get("width") is not None else numpy.array([usual])
    position = item.position + (0 if trace.get("width") is not None else offset)
    codes = item.position if item.along.kind == "category" else None
    tints = listed((trace.get("marker") or {}).get("color"))
    data = {"pos": position, "value": item.length, "base": base,
            "width": numpy.broadcast_to(width, base.shape).copy(), "cat": codes, "stack": stack}
    if len(tints) == len(base) and all(isinstance(tint, str) for tint in tints):
        data["color"] = [color(tint) or "" for tint in tints]
    low, high = error_bounds(trace.get("error_x" if item.lying else "error_y"), base + item.length)
    if low is not None:
        data |= {"err_lo": low, "err_hi": high}
    panel.add("bar", data, n=len(base), **fields)


def error_bounds(error: Any, values: numpy.ndarray) -> tuple[Any, Any]:
    """Absolute ends of error bars; nothing when there are none."""
    if not isinstance(error, dict) or error.get("visible") is False:
        return None, None
    kind = error.get("type", "data" if "array" in error else "percent")
    if kind == "data":
        if plain(error.get("array")) is None:
            return None, None
        up = numbers(error["array"])
        down = numbers(error["arrayminus"]) if error.get("arrayminus") is not None else up
    elif kind == "constant":
        up = numpy.full(len(values), float(error.get("value", 10)))
        down = numpy.full(len(values), float(error.get("valueminus", error.get("value", 10))))
    elif kind == "percent":
        up = numpy.abs(values) * float(error.get("value", 10)) / 100
        down = numpy.abs(values) * float(error.get("valueminus", error.get("value", 10))) / 100
    else:
        up = down = numpy.sqrt(numpy.abs(values))
    size = len(values)
    if len(up) < size or len(down) < size:
        raise ValueError(text.clean("error bars are shorter than their values"))
    return values - down[:size], values + up[:size]
