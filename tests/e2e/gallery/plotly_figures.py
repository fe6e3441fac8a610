"""plotly: graph objects and express."""
# ruff: noqa: F821

import numpy as np

from .core import figure, ms
from .data import CITIES, cloud, counts, days, grid, more_counts, prices, spread, survey, wave


@figure("plotly")
def plotly_lines():
    traces = [
        go.Scatter(x=days(), y=wave(), name="Oslo"),
        go.Scatter(x=days(), y=wave(level=4), name="Rome", line={"dash": "dash"}),
    ]
    return go.Figure(traces, {"title": "Temperature", "yaxis": {"title": "°C"}})


@plotly_lines.expects
def _(chart):
    chart.layer("Oslo").holds("line", x=ms(days()), y=wave())
    chart.layer("Rome").holds("line", x=ms(days()), y=wave(level=4))
    chart.has_titles("Temperature", y="°C")


@figure("plotly")
def plotly_scatter_by_colour():
    return px.scatter(survey(), x="value", y="weight", color="group", title="Penguins")


@plotly_scatter_by_colour.expects
def _(chart):
    for group, part in survey().groupby("group"):
        chart.layer(group).holds("scatter", x=part.value, y=part.weight)


@figure("plotly")
def plotly_grouped_bars():
    traces = [
        go.Bar(x=CITIES, y=counts(), name="2024"),
        go.Bar(x=CITIES, y=more_counts(), name="2025"),
    ]
    return go.Figure(traces, {"barmode": "group"})


@plotly_grouped_bars.expects
def _(chart):
    chart.layer("2024").holds("bar", value=counts())
    chart.layer("2025").holds("bar", value=more_counts())
    assert chart.axis("x")["categories"] == CITIES


@figure("plotly")
def plotly_stacked_lying_bars():
    traces = [
        go.Bar(y=CITIES, x=counts(), name="paid", orientation="h"),
        go.Bar(y=CITIES, x=more_counts(), name="open", orientation="h"),
    ]
    return go.Figure(traces, {"barmode": "stack"})


@plotly_stacked_lying_bars.expects
def _(chart):
    chart.layer("paid").holds("bar", value=counts())
    chart.layer("open").holds("bar", value=more_counts(), base=counts())


@figure("plotly")
def plotly_histogram():
    return go.Figure(go.Histogram(x=spread(), xbins={"start": -4, "end": 4, "size": 0.5}))


@plotly_histogram.expects
def _(chart):
    layer = chart.layer(kind="hist")
    expected, edges = np.histogram(spread(), bins=np.arange(-4, 4.01, 0.5))
    by_edge = dict(zip(np.round(edges, 6), expected))
    for left, count in zip(layer["edges"], layer["count"]):
        assert by_edge[round(left, 6)] == count
    assert layer["count"].sum() == expected.sum()


@figure("plotly")
def plotly_boxes():
    return go.Figure([go.Box(y=spread(seed=i, center=i), name=f"g{i}") for i in range(3)])


@plotly_boxes.expects
def _(chart):
    medians = np.concatenate([layer["median"] for layer in chart.layers("box")])
    np.testing.assert_allclose(medians, [np.median(spread(seed=i, center=i)) for i in range(3)])


@figure("plotly")
def plotly_pie():
    return px.pie(names=CITIES, values=counts(), title="Shares")


@plotly_pie.expects
def _(chart):
    data = chart.layer(kind="pie").model["data"]
    total = sum(counts())
    shares = dict(zip(data["label"], data["frac"], strict=True))
    assert {name: round(share, 9) for name, share in shares.items()} == {
        name: round(count / total, 9) for name, count in zip(CITIES, counts(), strict=True)
    }


@figure("plotly")
def plotly_heatmap():
    return go.Figure(
        go.Heatmap(z=grid(), x=list("abcdefgh"), y=list("uvwxyz"), colorbar={"title": "z"})
    )


@plotly_heatmap.expects
def _(chart):
    data = chart.layer(kind="heatmap").model["data"]
    np.testing.assert_allclose(np.array(data["v"], float), grid())
    assert data["x_cats"] == list("abcdefgh") and data["y_cats"] == list("uvwxyz")


@figure("plotly")
def plotly_candlesticks():
    o, h, low, c = prices()
    return go.Figure(go.Candlestick(x=days(20), open=o, high=h, low=low, close=c))


@plotly_candlesticks.expects
def _(chart):
    o, h, low, c = prices()
    chart.layer(kind="candlestick").holds(t=ms(days(20)), o=o, h=h, l=low, c=c)


@figure("plotly")
def plotly_filled_area():
    return go.Figure(go.Scatter(x=list(range(60)), y=wave(level=6), fill="tozeroy", name="load"))


@plotly_filled_area.expects
def _(chart):
    layer = chart.layers()[0]
    values = layer["hi"] if layer.kind in ("area", "band") else layer["y"]
    np.testing.assert_allclose(values, wave(level=6))


@figure("plotly")
def plotly_subplots():
    from plotly.subplots import make_subplots

    fig = make_subplots(1, 2, subplot_titles=["Left", "Right"])
    fig.add_trace(go.Scatter(y=wave(), name="line"), 1, 1)
    fig.add_trace(go.Bar(x=CITIES, y=counts(), name="bars"), 1, 2)
    return fig


@plotly_subplots.expects
def _(chart):
    assert len(chart.panels) == 2
    chart.layer("line", panel=0).holds(y=wave())
    chart.layer("bars", panel=1).holds(value=counts())


@figure("plotly")
def plotly_two_axes():
    fig = go.Figure([go.Bar(x=CITIES, y=counts(), name="orders")])
    fig.add_trace(go.Scatter(x=CITIES, y=[0.1, 0.4, 0.2, 0.3], name="share", yaxis="y2"))
    fig.update_layout(yaxis2={"overlaying": "y", "side": "right", "title": "Share"})
    return fig


@plotly_two_axes.expects
def _(chart):
    chart.layer("orders").holds("bar", value=counts())
    chart.layer("share").holds(y=[0.1, 0.4, 0.2, 0.3])
    assert chart.panels[0]["y2"]["label"] == "Share"


@figure("plotly")
def plotly_error_bars():
    x, y = cloud(12)
    return px.scatter(x=x, y=y, error_y=np.full(12, 0.5)).update_traces(name="run")


@plotly_error_bars.expects
def _(chart):
    x, y = cloud(12)
    errors = [layer for layer in chart.layers() if layer.kind == "errorbar"]
    assert len(errors) == 1
    errors[0].holds(x=x, y=y, y_lo=y - 0.5, y_hi=y + 0.5)


@figure("plotly")
def plotly_log_axis():
    return px.line(x=[1, 10, 100, 1000], y=[2, 30, 500, 9000], log_x=True, log_y=True)


@plotly_log_axis.expects
def _(chart):
    chart.layer(kind="line").holds(x=[1, 10, 100, 1000], y=[2, 30, 500, 9000])
    assert chart.axis("x")["scale"] == chart.axis("y")["scale"] == "log"
