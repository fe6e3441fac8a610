"""Plotly's other traces, each as layers of its panel."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .. import sample, text
from ..budget import Budget
from . import frame, stats
from .frame import Panel
from .plotly_axes import Figure, title_of
from .plotly_bars import error_bounds
from .values import color, edges_of, is_number, listed, numbers, plain

_STEPS = {"hv": "post", "vh": "pre", "hvh": "mid"}
_DASH = {"dash": "--", "dot": ":", "dashdot": "-.", "longdash": "--"}
_PT_PER_PX = 0.75


def _common(figure: Figure, trace: dict[str, Any]) -> dict[str, Any]:
    return {"label": figure.name(trace), "color": figure.color(trace),
            "axis": figure.side(trace)}


def _xy(figure: Figure, trace: dict[str, Any]) -> tuple[numpy.ndarray, numpy.ndarray]:
    columns = []
    for letter, other in (("x", "y"), ("y", "x")):
        if trace.get(letter) is not None:
            columns.append(figure.along(trace, letter).values(trace[letter]))
        else:
            count = len(listed(trace.get(other)))
            columns.append(float(trace.get(f"{letter}0") or 0)
                           + float(trace.get(f"d{letter}") or 1) * numpy.arange(count))
    size = min(len(columns[0]), len(columns[1]))
    return columns[0][:size], columns[1][:size]


def scatter(figure: Figure, panel: Panel, trace: dict[str, Any], budget: Budget,
            stacks: dict[Any, Any]) -> None:
    x, y = _xy(figure, trace)
    shape = (trace.get("line") or {}).get("shape")
    mode = trace.get("mode") or ("lines" if trace.get("stackgroup") or len(x) >= 20
                                 else "lines+markers")
    if trace.get("stackgroup"):
        return _stacked(figure, panel, trace, x, y, stacks)
    if trace.get("fill") in ("tozeroy", "tonexty", "tozerox", "tonextx"):
        _filled(figure, panel, trace, x, y, stacks)
    stacks["last"] = (x, y)
    x_low, x_high = error_bounds(trace.get("error_x"), x)
    y_low, y_high = error_bounds(trace.get("error_y"), y)
    if x_low is not None or y_low is not None:
        data = {"x": x, "y": y, "x_lo": x_low, "x_hi": x_high, "y_lo": y_low, "y_hi": y_high}
        style = {"line": "-"} if "lines" in mode else {"line": "none"}
        panel.add("errorbar", data, n=len(x), style=style, **_common(figure, trace))
        return
    if "lines" in mode:
        style: dict[str, Any] = {"line": _DASH.get((trace.get("line") or {}).get("dash"), "-")}
        width = (trace.get("line") or {}).get("width")
        if is_number(width):
            if float(width) == 0 and trace.get("fill"):
                return  # only the filling is seen
            style["width"] = float(width) * _PT_PER_PX
        if "markers" in mode:
            style["marker"] = "o"
        columns, fields = frame.points(budget, "line", x, y)
        if shape in _STEPS:
            columns["step"] = _STEPS[shape]
        if trace.get("opacity") is not None:
            style["alpha"] = trace["opacity"]
        panel.add("step" if shape in _STEPS else "line", columns, style=style, **fields,
                  **_common(figure, trace))
    elif "markers" in mode or "text" in mode:
        _markers(figure, panel, trace, budget, x, y, mode)


def _markers(figure: Figure, panel: Panel, trace: dict[str, Any], budget: Budget,
             x: numpy.ndarray, y: numpy.ndarray, mode: str) -> None:
    marker = trace.get("marker") or {}
    more, style = _look(figure, panel, trace, len(x))
    words = listed(trace.get("text"))
    if "text" in mode and len(words) == len(x):
        more["text"] = [text.clean(word) for word in words]
    columns, fields = frame.points(budget, "scatter", x, y, more)
    common = _common(figure, trace)
    if isinstance(marker.get("color"), str):
        common["color"] = color(marker["color"]) or common["color"]
    panel.add("scatter", columns, style=style or None, **fields, **common)


def _look(figure: Figure, panel: Panel, trace: dict[str, Any],
          count: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Sizes (areas in square points) and colours, of each point or of all."""
    marker = trace.get("marker") or {}
    more: dict[str, Any] = {}
    style: dict[str, Any] = {}
    size = plain(marker.get("size", 6))
    if is_number(size):
        style["size"] = (float(size) * _PT_PER_PX) ** 2
    elif size is not None and len(size) == count:
        reference = float(marker.get("sizeref") or 1)
        diameters = numbers(size) / reference
        if marker.get("sizemode") == "area":
            diameters = 2 * numpy.sqrt(numpy.maximum(numbers(size), 0) / 2 / reference)
        more["size"] = (diameters * _PT_PER_PX) ** 2
    tint = plain(marker.get("color"))
    if isinstance(tint, (list, numpy.ndarray)) and len(tint) == count:
        if all(is_number(value) or value is None for value in tint):
            more["c"] = numbers(tint)
            finite = more["c"][numpy.isfinite(more["c"])]
            low, high = (finite.min(), finite.max()) if len(finite) else (0, 1)
            panel.color = panel.color or figure.color_scale(trace, marker, float(low), float(high))
        else:
            more["color"] = [color(value) or "" for value in tint]
    if trace.get("opacity") is not None or is_number(marker.get("opacity")):
        style["alpha"] = trace.get("opacity", marker.get("opacity"))
    return more, style


def _filled(figure: Figure, panel: Panel, trace: dict[str, Any], x: numpy.ndarray,
            y: numpy.ndarray, stacks: dict[Any, Any]) -> None:
    lying = trace["fill"].endswith("x")
    along, across = (y, x) if lying else (x, y)
    lower = numpy.zeros(len(along))
    kind = "area"
    if trace["fill"].startswith("tonext") and stacks.get("last") is not None:
        before_x, before_y = stacks["last"]
        before_along, before_across = (before_y, before_x) if lying else (before_x, before_y)
        kind = "band"
        if len(before_along) != len(along) or not numpy.allclose(before_along, along,
                                                                 equal_nan=True):
            panel.unknown("fill", "an area between lines of different places",
                          label=figure.name(trace))
            return
        lower = before_across
    common = _common(figure, trace)
    common["color"] = color(trace.get("fillcolor")) or common["color"]
    panel.add(kind, {"x": along, "lo": numpy.minimum(lower, across) if kind == "band" else lower,
                     "hi": numpy.maximum(lower, across) if kind == "band" else across},
              n=len(along), orient="h" if lying else "v", **common)


def _stacked(figure: Figure, panel: Panel, trace: dict[str, Any], x: numpy.ndarray,
             y: numpy.ndarray, stacks: dict[Any, Any]) -> None:
    """Areas on each other; plotly joins different places, which we do not do in its stead."""
    group = str(trace["stackgroup"])
    known = stacks.setdefault(("area", group), {"x": x, "sum": numpy.zeros(len(x)), "order": 0})
    if len(known["x"]) != len(x) or not numpy.array_equal(known["x"], x, equal_nan=True):
        panel.unknown("area", "stacked areas at different places", label=figure.name(trace))
        return
    if trace.get("groupnorm"):
        panel.unknown("area", "normalised stacks are computed in the browser",
                      label=figure.name(trace))
        return
    lower = known["sum"]
    upper = lower + numpy.nan_to_num(y)
    panel.add("area", {"x": x, "lo": lower, "hi": upper,
                       "stack": {"group": group, "order": known["order"], "normalize": False}},
              n=len(x), **_common(figure, trace))
    known["sum"] = upper
    known["order"] += 1


def _samples(figure: Figure,
             trace: dict[str, Any]) -> tuple[str, list[str], list[float], list[Any]]:
    """Samples by place: orientation, names, places on the axis, arrays."""
    lying = trace.get("orientation") == "h" or (
        trace.get("orientation") is None and trace.get("x") is not None
        and trace.get("y") is None)
    letter, other = ("x", "y") if lying else ("y", "x")
    values = figure.along(trace, letter).values(trace.get(letter))
    axis = figure.along(trace, other)
    places = trace.get(other)
    if places is None:
        name = trace.get("name")
        place = axis.values([name])[0] if name is not None and axis.kind == "category" else 0.0
        return "h" if lying else "v", [text.clean(name or "")], [float(place)], [values]
    at = axis.values(places)
    names, found, arrays = [], [], []
    for place in numpy.unique(at[numpy.isfinite(at)]):
        names.append(axis.names[int(place)] if axis.kind == "category" else f"{place:g}")
        found.append(float(place))
        arrays.append(values[at == place])
    return "h" if lying else "v", names, found, arrays


def box(figure: Figure, panel: Panel, trace: dict[str, Any], budget: Budget,
        stacks: dict[Any, Any]) -> None:
    if trace.get("q1") is not None:
        return _given_boxes(figure, panel, trace)
    orient, names, places, arrays = _samples(figure, trace)
    method = trace.get("quartilemethod", "linear")
    rows = []
    for name, place, values in zip(names, places, arrays):
        found = stats.box(values, method)
        if found is not None:
            rows.append({"label": name, "pos": place, **found})
    if not rows:
        panel.unknown("box", "no samples", label=figure.name(trace))
        return
    data = {key: [row[key] for row in rows] for key in rows[0]}
    data = {key: numpy.array(column) if key not in ("label", "outliers") else column
            for key, column in data.items()}
    panel.add("box", data, n=sum(len(values) for values in arrays), orient=orient,
              **_common(figure, trace))


def _given_boxes(figure: Figure, panel: Panel, trace: dict[str, Any]) -> None:
    lying = trace.get("orientation") == "h"
    axis = figure.along(trace, "y" if lying else "x")
    count = len(numbers(trace["q1"]))
    given = trace.get("y" if lying else "x")
    places = (axis.values(given) if given is not None and len(listed(given)) == count
              else numpy.arange(count, dtype="float64"))
    names = [axis.names[int(place)] if axis.kind == "category" and math.isfinite(place)
             else f"{place:g}" for place in places]
    data: dict[str, Any] = {"label": names, "pos": places}
    for ours, theirs in (("min", "lowerfence"), ("q1", "q1"), ("median", "median"),
                         ("q3", "q3"), ("max", "upperfence"), ("mean", "mean")):
        if trace.get(theirs) is not None:
            data[ours] = numbers(trace[theirs])
    data.setdefault("min", data["q1"])
    data.setdefault("max", data["q3"])
    panel.add("box", data, n=count, orient="h" if lying else "v", **_common(figure, trace))


def violin(figure: Figure, panel: Panel, trace: dict[str, Any], budget: Budget,
           stacks: dict[Any, Any]) -> None:
    orient, names, places, arrays = _samples(figure, trace)
    rows: list[dict[str, Any]] = []
    for name, place, values in zip(names, places, arrays):
        found = stats.box(values)
        if found is None:
            continue
        coords, density = stats.density(values)
        half = density / density.max() * 0.4
        rows.append({"label": name, "pos": place, "coords": coords, "half_lo": half,
                     "half_hi": half, "min": float(numpy.nanmin(values)),
                     "max": float(numpy.nanmax(values)), "mean": found["mean"],
                     "median": found["median"], "q1": found["q1"], "q3": found["q3"]})
    if not rows:
        panel.unknown("violin", "no samples", label=figure.name(trace))
        return
    lists = ("label", "coords", "half_lo", "half_hi")
    data = {key: [row[key] for row in rows] if key in lists
            else numpy.array([row[key] for row in rows]) for key in rows[0]}
    # The outline is a kernel density by the same rule as the browser's, not its own numbers.
    panel.add("violin", data, n=sum(len(values) for values in arrays), orient=orient,
              computed=False, **_common(figure, trace))


def _grid(trace: dict[str, Any]) -> numpy.ndarray:
    rows = plain(trace.get("z"))
    if isinstance(rows, numpy.ndarray):
        return rows.astype("float64")
    rows = [numbers(row) for row in listed(rows)]
    width = max((len(row) for row in rows), default=0)
    return numpy.array([numpy.pad(row, (0, width - len(row)), constant_values=numpy.nan)
                        for row in rows]).reshape(len(rows), width)


def heatmap(figure: Figure, panel: Panel, trace: dict[str, Any], budget: Budget,
            stacks: dict[Any, Any]) -> None:
    grid = _grid(trace)
    if not grid.size:
        panel.unknown("heatmap", "an empty grid", label=figure.name(trace))
        return
    data: dict[str, Any] = {}
    for letter, size in (("x", grid.shape[1]), ("y", grid.shape[0])):
        axis = figure.along(trace, letter)
        given = trace.get(letter)
        at = axis.values(given) if given is not None else numpy.arange(size, dtype="float64")
        if axis.kind == "category" and len(at) == size:
            data[f"{letter}_cats"] = [axis.names[int(place)] for place in at]
        order = numpy.argsort(at) if len(at) == size else numpy.arange(size)
        if len(at) == size and not numpy.array_equal(order, numpy.arange(size)):
            grid = grid[:, order] if letter == "x" else grid[order]
            at = at[order]
            if f"{letter}_cats" in data:
                data[f"{letter}_cats"] = [data[f"{letter}_cats"][place] for place in order]
        data[f"{letter}_edges"] = at if len(at) == size + 1 else edges_of(at)
    data["v"] = grid
    words = plain(trace.get("text"))
    if trace.get("texttemplate") and isinstance(words, list):
        data["text"] = [[text.clean(word) for word in row] for row in words]
    low, high = float(numpy.nanmin(grid)), float(numpy.nanmax(grid))
    panel.color = panel.color or figure.color_scale(trace, trace, low, high)
    panel.add("heatmap", data, n=grid.size, label=figure.name(trace), axis=figure.side(trace))


def contour(figure: Figure, panel: Panel, trace: dict[str, Any], budget: Budget,
            stacks: dict[Any, Any]) -> None:
    grid = _grid(trace)
    places = {}
    for letter, size in (("x", grid.shape[1]), ("y", grid.shape[0])):
        given = trace.get(letter)
        places[letter] = (figure.along(trace, letter).values(given) if given is not None
                          else numpy.arange(size, dtype="float64"))
    settings = trace.get("contours") or {}
    levels = numpy.array([])
    if all(is_number(settings.get(key)) for key in ("start", "end", "size")):
        levels = numpy.arange(float(settings["start"]),
                              float(settings["end"]) + float(settings["size"]) / 2,
                              float(settings["size"]))[:256]
    panel.color = panel.color or figure.color_scale(
        trace, trace, float(numpy.nanmin(grid)), float(numpy.nanmax(grid)))
    kind = "contour" if settings.get("coloring") in ("lines", "none") else "contourf"
    panel.add(kind, {"levels": levels, "z": {"x": places["x"], "y": places["y"], "v": grid}},
              n=grid.size, label=figure.name(trace), axis=figure.side(trace))


def pie(figure: Figure, panel: Panel, trace: dict[str, Any], budget: Budget,
        stacks: dict[Any, Any]) -> None:
    given = listed(trace.get("labels"))
    values = trace.get("values")
    values = numbers(values) if values is not None else numpy.ones(len(given))
    labels = [text.clean(label) for label in given] or [str(i) for i in range(len(values))]
    sums: dict[str, float] = {}
    for label, value in zip(labels, values):
        if numpy.isfinite(value) and value >= 0:
            sums[label] = sums.get(label, 0.0) + float(value)
    if trace.get("sort", True):
        sums = dict(sorted(sums.items(), key=lambda pair: -pair[1]))
    total = sum(sums.values())
    if not total > 0:
        panel.unknown("pie", "no values above zero", label=figure.name(trace))
        return
    shares = numpy.array(list(sums.values())) / total
    spans = shares * 360
    turned = 90 - float(trace.get("rotation") or 0)
    if trace.get("direction", "counterclockwise") == "clockwise":
        ends = turned - numpy.cumsum(spans) + spans
        starts = ends - spans
    else:  # the first slice lies with the clock from the start, the others follow against it
        starts = turned - spans[0] + numpy.concatenate(([0.0], numpy.cumsum(spans)[:-1]))
        ends = starts + spans
    tints = listed((trace.get("marker") or {}).get("colors"))
    colors = [color(tints[index]) if index < len(tints)
              else color(figure.colorway[index % len(figure.colorway)])
              for index in range(len(sums))]
    hole = float(trace.get("hole") or 0)
    panel.add("pie", {"label": list(sums), "value": numpy.array(list(sums.values())),
                      "frac": numpy.round(shares, 12), "angle0": starts, "angle1": ends,
                      "r": numpy.ones(len(sums)), "r_inner": numpy.full(len(sums), hole),
                      "color": [tint or "" for tint in colors]},
              n=len(sums), label=figure.name(trace))
    panel.title = panel.title or title_of(trace.get("title"))


def candlestick(figure: Figure, panel: Panel, trace: dict[str, Any], budget: Budget,
                stacks: dict[Any, Any]) -> None:
    data = {"t": figure.along(trace, "x").values(trace.get("x"))}
    for ours, theirs in (("o", "open"), ("h", "high"), ("l", "low"), ("c", "close")):
        data[ours] = numbers(trace.get(theirs))
    size = min(len(column) for column in data.values())
    panel.add("candlestick", {key: column[:size] for key, column in data.items()}, n=size,
              label=figure.name(trace), axis=figure.side(trace))


def polar(figure: Figure, panel: Panel, trace: dict[str, Any], budget: Budget,
          stacks: dict[Any, Any]) -> None:
    settings = (figure.layout.get(trace.get("subplot", "polar")) or {}).get("angularaxis") or {}
    turn = -1 if settings.get("direction", "counterclockwise") == "clockwise" else 1
    panel.theta = {"zero_deg": float(settings.get("rotation", 0 if turn == 1 else 90)),
                   "direction": turn}
    radius = numbers(trace.get("r"))
    given = trace.get("theta")
    axis = panel.axis("x")
    if given is None:
        theta = 2 * numpy.pi * numpy.arange(len(radius)) / max(1, len(radius))
    elif all(is_number(value) for value in listed(given)):
        theta = numbers(given)
        if trace.get("thetaunit") != "radians":
            theta = numpy.radians(theta)
    else:
        axis.learn(given)
        axis.kind = "category"
        codes = axis.values(given)
        theta = 2 * numpy.pi * codes / max(1, len(axis.names))
        panel.described["x"] = {
            "scale": "linear", "categories": None, "positions": None, "strings": None,
            "ticks": [2 * math.pi * code / len(axis.names) for code in range(len(axis.names))],
            "tick_labels": axis.names}
    common = {"label": figure.name(trace), "color": figure.color(trace), "n": len(radius)}
    if trace.get("type") == "barpolar":
        width = (numpy.radians(numbers(trace["width"])) if trace.get("width") is not None
                 else numpy.array([2 * math.pi / max(1, len(radius)) * 0.8]))
        panel.add("bar", {"pos": theta, "value": radius, "base": numpy.zeros(len(radius)),
                          "width": numpy.broadcast_to(width, radius.shape).copy()}, **common)
    elif (trace.get("mode") or "lines") == "markers":
        panel.add("scatter", {"x": theta, "y": radius}, **common)
    else:
        panel.add("line", {"x": theta, "y": radius}, **common)


def spatial(figure: Figure, panel: Panel, trace: dict[str, Any], budget: Budget,
            stacks: dict[Any, Any]) -> None:
    columns = {}
    for letter in "xyz":
        values = listed(trace.get(letter))
        if not all(is_number(value) or value is None for value in values):
            raise ValueError("names or dates in three dimensions are not read")
        columns[letter] = numbers(values)
        settings = (figure.layout.get(trace.get("scene", "scene")) or {}).get(f"{letter}axis")
        panel.described.setdefault(letter, {
            "scale": "linear", "label": title_of((settings or {}).get("title"))})
    markers = (trace.get("mode") or "lines+markers") == "markers"
    size = min(len(column) for column in columns.values())
    step = max(1, -(-size // budget.points(10_000, 3)))
    fields: dict[str, Any] = {"n": size}
    picked = (numpy.arange(0, size, step), "stride") if step > 1 else None
    columns = sample.cut({key: column[:size] for key, column in columns.items()}, picked, fields)
    panel.add("scatter3d" if markers else "line3d", columns,
              label=figure.name(trace), color=figure.color(trace), **fields)


def surface(figure: Figure, panel: Panel, trace: dict[str, Any], budget: Budget,
            stacks: dict[Any, Any]) -> None:
    z = _grid(trace)
    x = numbers(trace["x"]) if trace.get("x") is not None else numpy.arange(z.shape[1])
    y = numbers(trace["y"]) if trace.get("y") is not None else numpy.arange(z.shape[0])
    if x.ndim == 1 and y.ndim == 1:
        x, y = numpy.meshgrid(x, y)
    step = max(1, math.ceil(math.sqrt(z.size / 40_000)))
    columns = {"x": x.astype("float64"), "y": y.astype("float64"), "z": z}
    data = {name: values[::step, ::step] for name, values in columns.items()}
    fields: dict[str, Any] = {"n": z.size}
    if step > 1:
        sample.note_full(fields, "stride", data["z"].size, z.size, lambda: {
            name: values.ravel() for name, values in columns.items()})
    panel.add("surface", data, label=figure.name(trace), **fields)


def table(figure: Figure, panel: Panel, trace: dict[str, Any], budget: Budget,
          stacks: dict[Any, Any]) -> None:
    header = [text.clean(" ".join(str(part) for part in name) if isinstance(name, list) else name)
              for name in listed((trace.get("header") or {}).get("values"))]
    columns = [listed(column) for column in listed((trace.get("cells") or {}).get("values"))]
    height = min(max((len(column) for column in columns), default=0), 1000)
    rows = [[text.clean(column[row]) if row < len(column) else "" for column in columns]
            for row in range(height)]
    if len(header) != len(columns):
        header = (header + [""] * len(columns))[: len(columns)]
    panel.add("table", {"columns": header, "rows": rows}, n=height)
