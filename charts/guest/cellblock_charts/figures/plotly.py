"""Plotly figures ({"data", "layout"}) as chart models. `read` never raises."""

from __future__ import annotations

from typing import Any

from .. import text
from ..budget import Budget, OutOfTime
from . import frame, plotly_axes, plotly_bars, plotly_traces

_BAR_LIKE = {"bar", "histogram"}
_READERS = {
    "scatter": plotly_traces.scatter, "scattergl": plotly_traces.scatter,
    "box": plotly_traces.box, "violin": plotly_traces.violin,
    "heatmap": plotly_traces.heatmap, "heatmapgl": plotly_traces.heatmap,
    "contour": plotly_traces.contour, "pie": plotly_traces.pie,
    "candlestick": plotly_traces.candlestick, "ohlc": plotly_traces.candlestick,
    "scatterpolar": plotly_traces.polar, "scatterpolargl": plotly_traces.polar,
    "barpolar": plotly_traces.polar, "scatter3d": plotly_traces.spatial,
    "surface": plotly_traces.surface, "table": plotly_traces.table,
}


def read(bundle: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
    model = frame.empty("plotly")
    budget = Budget(seconds)
    try:
        figure = plotly_axes.Figure(bundle)
        model["title"] = figure.title
        size = [figure.layout.get("width"), figure.layout.get("height")]
        if all(isinstance(part, (int, float)) for part in size):
            model["size_px"] = size
        _fill(model, figure, budget)
    except Exception as error:
        model["warnings"].append(text.clean(
            f"the figure could not be read ({type(error).__name__}: {error})"))
    return model


def _fill(model: dict[str, Any], figure: plotly_axes.Figure, budget: Budget) -> None:
    budget.expect_layers(len(figure.traces))
    for trace in figure.traces:
        figure.learn(trace)
    for panel in figure.panels.values():
        for axis in panel.axes.values():
            axis.settle()
    try:
        for panel_traces in _by_panel(figure):
            _read_panel(figure, panel_traces, budget)
    except OutOfTime:
        model["partial"] = True
        model["warnings"].append(f"reading stopped after {budget.seconds:g} s")
    figure.add_words()
    frame.finished(model, list(figure.panels.values()))
    if len(figure.traces) == 0:
        model["warnings"].append("the figure has no traces")
    frames = figure.frames
    if frames:
        model["warnings"].append(f"an animation of {frames} frames; this is its first state")


def _by_panel(figure: plotly_axes.Figure) -> list[list[dict[str, Any]]]:
    groups: dict[int, list[dict[str, Any]]] = {}
    for trace in figure.traces:
        groups.setdefault(id(figure.panel_of(trace)), []).append(trace)
    return list(groups.values())


def _read_panel(figure: plotly_axes.Figure, traces: list[dict[str, Any]],
                budget: Budget) -> None:
    bars = [trace for trace in traces if trace.get("type") in _BAR_LIKE and figure.shown(trace)]
    stacks: dict[Any, Any] = {}
    for trace in traces:
        budget.check()
        if not figure.shown(trace):
            continue
        kind = trace.get("type", "scatter")
        panel = figure.panel_of(trace)
        try:
            if kind in _BAR_LIKE:
                if trace is bars[0]:
                    plotly_bars.read(figure, panel, bars)
            elif kind in _READERS:
                _READERS[kind](figure, panel, trace, budget, stacks)
            else:
                panel.unknown(str(kind), f"traces of type {kind} are not read",
                              label=figure.name(trace))
        except OutOfTime:
            raise
        except Exception as error:
            panel.unknown(str(kind), f"{type(error).__name__}: {error}", label=figure.name(trace))
