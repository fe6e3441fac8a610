"""Vega-Lite's marks as layers."""

from __future__ import annotations

from typing import Any

import numpy

from .. import text
from ..budget import Budget
from . import frame, stats
from .frame import Panel
from .values import edges_of, number_or_nan, numbers
from .vega_rows import Unread
from .vega_view import View

_STEPS = {"step-after": "post", "step-before": "pre", "step": "mid"}


def add(view: View, panel: Panel, budget: Budget) -> None:
    readers = {"point": _points, "circle": _points, "square": _points, "tick": _points,
               "line": _lines, "trail": _lines, "area": _areas, "bar": _bars, "rect": _cells,
               "arc": _slices, "boxplot": _boxes, "rule": _rules, "text": _texts}
    if view.mark not in readers:
        raise Unread(f"the mark {view.mark} is not read")
    if view.mark != "arc":
        for name in ("x", "y"):
            if view.has(name) and name not in panel.axes:
                panel.axes[name] = view.axis(name)
            elif view.has(name) and panel.axes[name].kind == "category":
                panel.axes[name].learn(view.column(name))
            if view.has(name) and not panel.described.get(name, {}).get("label"):
                panel.described[name] = view.describe(name)
    for axis in panel.axes.values():
        axis.settle()
    readers[view.mark](view, panel, budget)


def _label(value: Any) -> str | None:
    return None if value is None else text.clean(value)


def _column(view: View, panel: Panel, name: str) -> numpy.ndarray:
    if not view.has(name):
        return numpy.zeros(len(view.rows))
    if name in view.bins:
        return (numbers(view.column(name))
                + numbers([row.get(view.bins[name]) for row in view.rows])) / 2
    return panel.axis(name[0]).values(view.column(name))


def _points(view: View, panel: Panel, budget: Budget) -> None:
    x, y = _column(view, panel, "x"), _column(view, panel, "y")
    value = None
    if view.has("color") and view.kind("color") in ("quantitative", "temporal"):
        value = numbers(view.column("color"))
        finite = value[numpy.isfinite(value)]
        if len(finite):
            panel.color = {"label": view.title("color"), "cmap": "Blues", "scale": "linear",
                           "lim": [float(finite.min()), float(finite.max())]}
    for name, tint, rows in view.series():
        more = {"c": value[rows]} if value is not None else {}
        columns, fields = frame.points(budget, "scatter", x[rows], y[rows], more)
        panel.add("scatter", columns, label=_label(name), color=tint, **fields)


def _lines(view: View, panel: Panel, budget: Budget) -> None:
    x, y = _column(view, panel, "x"), _column(view, panel, "y")
    step = _STEPS.get(view.settings.get("interpolate", ""))
    for name, tint, rows in view.series():
        if view.has("order"):
            rows = rows[numpy.argsort(numbers(view.column("order"))[rows], kind="stable")]
        else:
            rows = rows[numpy.argsort(x[rows], kind="stable")]
        columns, fields = frame.points(budget, "line", x[rows], y[rows])
        if step:
            columns["step"] = step
        style = {"marker": "o"} if view.settings.get("point") else None
        panel.add("step" if step else "line", columns, label=_label(name), color=tint,
                  style=style, **fields)


def _stack_mode(view: View, channel: str) -> str | None:
    """How lengths along a channel add up: nothing, "zero", "normalize", "center"."""
    settings = view.channels.get(channel, {})
    if "stack" in settings:
        mode = settings["stack"]
        return None if mode in (None, False) else "zero" if mode is True else mode
    scale = (settings.get("scale") or {}).get("type")
    return "zero" if view.series_channel() and scale in (None, "linear") else None


def _areas(view: View, panel: Panel, budget: Budget) -> None:
    lying = view.kind("y") != "quantitative" and view.kind("x") == "quantitative"
    along, across = ("y", "x") if lying else ("x", "y")
    at, length = _column(view, panel, along), _column(view, panel, across)
    orient = "h" if lying else "v"
    if view.has(f"{across}2"):
        low = numbers(view.column(f"{across}2"))
        for name, tint, rows in view.series():
            rows = rows[numpy.argsort(at[rows], kind="stable")]
            panel.add("band", {"x": at[rows], "lo": numpy.minimum(low, length)[rows],
                               "hi": numpy.maximum(low, length)[rows]},
                      n=len(rows), label=_label(name), color=tint, orient=orient)
        return
    mode = _stack_mode(view, across)
    if mode not in (None, "zero", "normalize"):
        raise Unread("a centred stack is computed in the browser")
    totals = _totals(at, length) if mode == "normalize" else {}
    sums: dict[float, float] = {}
    # Vega-Lite stacks in the reverse order of the series: the first one is on top.
    layers = []
    for order, (name, tint, rows) in enumerate(reversed(view.series())):
        rows = rows[numpy.argsort(at[rows], kind="stable")]
        low = numpy.array([sums.get(place, 0.0) for place in at[rows]]) if mode else \
            numpy.zeros(len(rows))
        own = numpy.nan_to_num(length[rows])
        if mode == "normalize":
            own = own / numpy.array([totals.get(place) or 1.0 for place in at[rows]])
        for place, part in zip(at[rows], own):
            sums[place] = sums.get(place, 0.0) + part
        stack = {"group": "s", "order": order, "normalize": mode == "normalize"} if mode else None
        layers.append(({"x": at[rows], "lo": low, "hi": low + own, "stack": stack},
                       {"n": len(rows), "label": _label(name), "color": tint, "orient": orient}))
    for data, fields in reversed(layers):
        panel.add("area", data, **fields)


def _totals(at: numpy.ndarray, length: numpy.ndarray) -> dict[float, float]:
    sums: dict[float, float] = {}
    for place, value in zip(at, numpy.nan_to_num(length)):
        sums[place] = sums.get(place, 0.0) + abs(value)
    return sums


def _bars(view: View, panel: Panel, budget: Budget) -> None:
    lying = (view.kind("x") == "quantitative" and "x" not in view.bins and view.has("x")
             and (view.kind("y") != "quantitative" or "y" in view.bins))
    lying = lying or (view.has("x2") and view.is_discrete("y"))
    along, across = ("y", "x") if lying else ("x", "y")
    orient = "h" if lying else "v"
    at, length = _column(view, panel, along), _column(view, panel, across)
    if view.has(f"{across}2"):
        return _spans(view, panel, along, across)
    if view.has(f"{along}2"):
        return _given_bins(view, panel, along, across)
    offset, slots = _offsets(view, "yOffset" if lying else "xOffset")
    mode = _stack_mode(view, across) if slots == 1 else None
    if mode not in (None, "zero", "normalize"):
        raise Unread("a centred stack is computed in the browser")
    totals = _totals(at, length) if mode == "normalize" else {}
    pitch = _gap(at, 86_400_000.0 if panel.axis(along).kind == "date" else 1.0)
    ends: dict[tuple[float, int], float] = {}
    result = []
    for name, tint, rows in reversed(view.series()):
        own = length[rows].copy()
        if mode == "normalize":
            own = own / numpy.array([totals.get(place) or 1.0 for place in at[rows]])
        base = numpy.zeros(len(rows))
        for index, (place, value) in enumerate(zip(at[rows], own)):
            if mode and numpy.isfinite(value):
                side = 0 if value >= 0 else 1
                base[index] = ends.get((place, side), 0.0)
                ends[place, side] = base[index] + value
        stack = "s" if mode and view.series_channel() else None
        fields = {"label": _label(name), "color": tint, "orient": orient}
        if along in view.bins:
            result.append(("hist", _bins(view, along, rows, own, base), fields))
        else:
            discrete = view.is_discrete(along)
            result.append(("bar", {
                "pos": at[rows] + offset[rows], "value": own, "base": base,
                "width": numpy.full(len(rows), 0.8 * (1 / slots if discrete else pitch)),
                "cat": at[rows] if discrete else None, "stack": stack}, {"n": len(rows), **fields}))
    for kind, data, fields in reversed(result):
        panel.add(kind, data, **fields)


def _gap(at: numpy.ndarray, alone: float) -> float:
    gaps = numpy.diff(numpy.unique(at[numpy.isfinite(at)]))
    return float(gaps.min()) if len(gaps) else alone


def _offsets(view: View, channel: str) -> tuple[numpy.ndarray, int]:
    if not view.has(channel):
        return numpy.zeros(len(view.rows)), 1
    order = view.order(channel)
    codes = numpy.array([order.index(value) if value in order else 0
                         for value in view.column(channel)], dtype="float64")
    return (codes - (len(order) - 1) / 2) * 0.8 / len(order), len(order)


def _bins(view: View, along: str, rows: numpy.ndarray, length: numpy.ndarray,
          base: numpy.ndarray) -> dict[str, Any]:
    """Bars over bins as a histogram: edges without holes, empty bins as zero."""
    starts = numbers(view.column(along))
    ends = numbers([row.get(view.bins[along]) for row in view.rows])
    step = float(ends[0] - starts[0])
    first, last = float(starts.min()), float(ends.max())
    count = int(round((last - first) / step))
    edges = first + step * numpy.arange(count + 1)
    values, bases = numpy.zeros(count), numpy.zeros(count)
    places = [int(round((place - first) / step)) for place in starts[rows]]
    if len(set(places)) < len(places):
        raise Unread("several bars over one bin are not read")
    for index, value, bottom in zip(places, length, base):
        values[index], bases[index] = value, bottom
    return {"edges": edges, "count": values, "base": bases if bases.any() else None}


def _spans(view: View, panel: Panel, along: str, across: str) -> None:
    """Bars from one value to another: a Gantt chart where they lie."""
    start = _column(view, panel, across)
    end = panel.axis(across).values(view.column(f"{across}2"))
    at = _column(view, panel, along)
    for name, tint, rows in view.series():
        fields = {"n": len(rows), "label": _label(name), "color": tint}
        if along == "y":
            panel.add("gantt", {"row": at[rows], "start": start[rows], "end": end[rows]}, **fields)
        else:
            panel.add("bar", {"pos": at[rows], "value": (end - start)[rows], "base": start[rows],
                              "cat": at[rows] if view.is_discrete(along) else None}, **fields)


def _given_bins(view: View, panel: Panel, along: str, across: str) -> None:
    """Bars over ranges that the data itself has: a histogram, if they join."""
    start, end = _column(view, panel, along), numbers(view.column(f"{along}2"))
    length = _column(view, panel, across)
    if view.series_channel() is not None:
        raise Unread("several series of ranges are not read")
    order = numpy.argsort(start)
    start, end = start[order], end[order]
    if not numpy.allclose(start[1:], end[:-1]):
        raise Unread("ranges with gaps between them are not read")
    panel.add("hist", {"edges": numpy.append(start, end[-1]), "count": length[order]},
              color=view.own_color(), orient="h" if along == "y" else "v")


def _cells(view: View, panel: Panel, budget: Budget) -> None:
    if not view.has("color") or view.kind("color") != "quantitative":
        raise Unread("rectangles without a value")
    value = numbers(view.column("color"))
    data: dict[str, Any] = {}
    places = {}
    for name in ("x", "y"):
        at = _column(view, panel, name)
        axis = panel.axis(name)
        if axis.kind == "category":
            data[f"{name}_cats"] = axis.names
            data[f"{name}_edges"] = numpy.arange(len(axis.names) + 1) - 0.5
            places[name] = at.astype("int64")
        else:
            middles = numpy.unique(at)
            data[f"{name}_edges"] = edges_of(middles)
            places[name] = numpy.searchsorted(middles, at)
    grid = numpy.full((len(data["y_edges"]) - 1, len(data["x_edges"]) - 1), numpy.nan)
    grid[places["y"], places["x"]] = value
    panel.color = {"label": view.title("color"), "cmap": "YlGnBu", "scale": "linear",
                   "lim": [float(numpy.nanmin(value)), float(numpy.nanmax(value))]}
    panel.add("heatmap", {**data, "v": grid}, n=len(value))


def _slices(view: View, panel: Panel, budget: Budget) -> None:
    panel.projection = "none"
    length = numpy.array([number_or_nan(value) for value in view.column("theta")])
    names, values, tints = [], [], []
    for name, tint, rows in view.series():
        names.append(_label(name) or "")
        values.append(float(numpy.nansum(length[rows])))
        tints.append(tint or "")
    total = sum(values)
    if not total > 0:
        raise Unread("no values above zero")
    shares = numpy.array(values) / total
    ends = 90 - 360 * (numpy.cumsum(shares) - shares)  # with the clock from the top
    inner = view.settings.get("innerRadius")
    panel.add("pie", {"label": names, "value": numpy.array(values), "frac": numpy.round(shares, 12),
                      "angle0": ends - 360 * shares, "angle1": ends, "r": numpy.ones(len(names)),
                      "r_inner": numpy.full(len(names), 0.5 if inner else 0.0), "color": tints},
              n=len(names))


def _boxes(view: View, panel: Panel, budget: Budget) -> None:
    lying = view.kind("x") == "quantitative" and view.kind("y") != "quantitative"
    along, across = ("y", "x") if lying else ("x", "y")
    extent = view.settings.get("extent", 1.5)
    if extent != 1.5:
        raise Unread("whiskers of another length are computed in the browser")
    at = _column(view, panel, along) if view.has(along) else numpy.zeros(len(view.rows))
    values = _column(view, panel, across)
    axis = panel.axis(along)
    rows = []
    for place in numpy.unique(at[numpy.isfinite(at)]):
        found = stats.tukey(values[at == place])
        if found:
            name = axis.names[int(place)] if axis.kind == "category" else f"{place:g}"
            rows.append({"label": name, "pos": place, **found})
    if not rows:
        raise Unread("no samples")
    data = {key: [row[key] for row in rows] if key in ("label", "outliers")
            else numpy.array([row[key] for row in rows]) for key in rows[0]}
    panel.add("box", data, n=len(values), orient="h" if lying else "v", color=view.own_color())


def _rules(view: View, panel: Panel, budget: Budget) -> None:
    for name, kind in (("y", "hline"), ("x", "vline")):
        other = "x" if name == "y" else "y"
        fixed = view.channels.get(name, {}).get("datum")
        if view.has(other) or f"{name}2" in view.channels:
            continue
        values = [fixed] if fixed is not None else view.column(name) if view.has(name) else []
        if not values:
            continue
        for value in panel.axis(name).values(values)[:50]:
            if numpy.isfinite(value):
                panel.refs.append({"kind": kind, "value": float(value), "label": None,
                                   "color": view.own_color()})
        return
    if view.has("x") and view.has("y") and view.has("y2"):
        x, y = _column(view, panel, "x"), _column(view, panel, "y")
        end = numbers(view.column("y2"))
        panel.add("errorbar", {"x": x, "y": (y + end) / 2, "y_lo": numpy.minimum(y, end),
                               "y_hi": numpy.maximum(y, end)}, n=len(x), color=view.own_color(),
                  style={"line": "none"})
        return
    raise Unread("rules between values are not read")


def _texts(view: View, panel: Panel, budget: Budget) -> None:
    if not (view.has("x") and view.has("y") and view.has("text")):
        return  # words on the picture, no data
    x, y = _column(view, panel, "x"), _column(view, panel, "y")
    for at_x, at_y, words in list(zip(x, y, view.column("text")))[:100]:
        if numpy.isfinite(at_x) and numpy.isfinite(at_y) and words is not None:
            panel.notes.append({"text": text.clean(words), "at": [float(at_x), float(at_y)]})
