"""Plotly figures, drawn by plotly itself and read as the browser gets them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
import pytest
from cellblock_charts import MIME, published
from cellblock_charts.figures import plotly, stats
from plotly.subplots import make_subplots

from checks import layers, only_layer, same

FRAME = pd.DataFrame({"city": ["Oslo", "Rome", "Oslo", "Rome"], "year": ["a", "a", "b", "b"],
                      "n": [1.5, 2.0, 3.0, 4.5]})


def read(figure) -> dict:
    model = plotly.read(json.loads(figure.to_json()), 60.0)
    json.dumps(model, allow_nan=False)
    assert model["source"]["lib"] == "plotly"
    return model


def test_grouped_bars_stand_side_by_side_on_their_names():
    model = read(px.bar(FRAME, x="city", y="n", color="year", barmode="group", title="Cities"))
    assert model["title"] == "Cities"
    panel = model["panels"][0]
    assert panel["x"]["categories"] == ["Oslo", "Rome"]
    assert panel["x"]["label"] == "city" and panel["y"]["label"] == "n"
    first, second = panel["layers"]
    assert first["label"] == "a" and first["color"] == "#636efa"
    assert same(first["data"]["pos"], [-0.2, 0.8]) and same(second["data"]["pos"], [0.2, 1.2])
    assert same(first["data"]["value"], [1.5, 2.0]) and same(second["data"]["value"], [3.0, 4.5])
    assert same(first["data"]["cat"], [0, 1])


def test_stacked_bars_grow_from_the_last_one_and_downwards_below_zero():
    figure = go.Figure([go.Bar(x=["a", "b"], y=[1, -2]), go.Bar(x=["a", "b"], y=[3, -4]),
                        go.Bar(x=["a", "b"], y=[-5, 6])], layout={"barmode": "relative"})
    bars = layers(read(figure))
    assert same(bars[1]["data"]["base"], [1, -2]) and same(bars[2]["data"]["base"], [0, 0])
    shares = go.Figure([go.Bar(x=["a"], y=[1]), go.Bar(x=["a"], y=[3])],
                       layout={"barmode": "stack", "barnorm": "percent"})
    assert same(layers(read(shares))[1]["data"]["value"], [75])


def test_bars_lie_and_have_absolute_error_bars():
    figure = go.Figure(go.Bar(y=["a", "b"], x=[10, 20], orientation="h",
                              error_x={"type": "data", "array": [1, 2], "arrayminus": [3, 4]}))
    layer = only_layer(read(figure))
    assert layer["orient"] == "h"
    assert same(layer["data"]["err_lo"], [7, 16]) and same(layer["data"]["err_hi"], [11, 22])


def test_lines_of_dates_with_gaps_and_steps():
    figure = go.Figure(go.Scatter(x=pd.date_range("2024-01-01", periods=3), y=[1, None, 3],
                                  mode="lines", line={"shape": "hv", "dash": "dash"}))
    model = read(figure)
    layer = only_layer(model)
    assert model["panels"][0]["x"]["scale"] == "datetime"
    assert same(layer["data"]["x"], [1704067200000, 1704153600000, 1704240000000])
    assert same(layer["data"]["y"], [1, np.nan, 3])
    assert layer["kind"] == "step" and layer["data"]["step"] == "post"


def test_scatter_with_typed_arrays_sizes_and_colours():
    values = np.arange(5, dtype="float32") / 4
    figure = go.Figure(go.Scatter(x=values, y=values ** 2, mode="markers", marker={
        "size": np.array([10, 20, 30, 40, 50], dtype="int16"), "color": values,
        "colorscale": "Viridis", "colorbar": {"title": {"text": "heat"}}}))
    model = read(figure)
    data = only_layer(model)["data"]
    assert same(data["x"], values) and same(data["c"], values)
    assert same(data["size"], [(size * 0.75) ** 2 for size in (10, 20, 30, 40, 50)])
    assert model["panels"][0]["color"]["label"] == "heat"
    assert model["panels"][0]["color"]["cmap"] == "viridis"


def test_areas_stack_and_fill_between():
    stacked = layers(read(px.area(FRAME, x="city", y="n", color="year")))
    assert same(stacked[1]["data"]["lo"], [1.5, 2.0]) and same(stacked[1]["data"]["hi"], [4.5, 6.5])
    band = go.Figure([go.Scatter(x=[1, 2], y=[0, 1], mode="lines"),
                      go.Scatter(x=[1, 2], y=[3, 5], fill="tonexty", mode="lines")])
    kinds = {layer["kind"]: layer for layer in layers(read(band))}
    assert same(kinds["band"]["data"]["lo"], [0, 1]) and same(kinds["band"]["data"]["hi"], [3, 5])


def test_histograms_count_their_samples_whoever_chose_the_bins():
    samples = np.random.default_rng(3).normal(size=500)
    given = go.Figure(go.Histogram(x=samples, xbins={"start": -3, "end": 3, "size": 0.5}))
    layer = only_layer(read(given))
    expected, edges = np.histogram(samples, bins=np.arange(-3, 3.1, 0.5))
    assert same(layer["data"]["edges"], edges) and same(layer["data"]["count"], expected)
    assert "computed" not in layer
    chosen = only_layer(read(go.Figure(go.Histogram(x=samples))))
    expected, _ = np.histogram(samples, bins=chosen["data"]["edges"])
    assert same(chosen["data"]["count"], expected) and sum(chosen["data"]["count"]) == 500
    assert chosen["computed"] is False  # the browser's own bins may differ
    names = only_layer(read(go.Figure(go.Histogram(x=["b", "a", "b"]))))
    assert names["kind"] == "bar" and same(names["data"]["value"], [2, 1])


def test_integers_are_binned_between_them():
    edges = stats.plotly_bins(np.array([1.0, 2, 2, 3, 3, 3]), None)
    assert all(edge % 1 == 0.5 for edge in edges)


def test_boxes_have_the_quartiles_of_plotly():
    samples = [1, 2, 3, 4, 5, 6, 7, 8, 9, 40]
    data = only_layer(read(go.Figure(go.Box(y=samples, name="box"))))["data"]
    q1, median, q3 = np.quantile(samples, [0.25, 0.5, 0.75], method="hazen")
    assert same(data["q1"], [q1]) and same(data["median"], [median]) and same(data["q3"], [q3])
    assert data["outliers"] == [[40]] and same(data["max"], [9])
    given = go.Figure(go.Box(x=["a"], q1=[1], median=[2], q3=[3], lowerfence=[0], upperfence=[5]))
    assert same(only_layer(read(given))["data"]["min"], [0])


def test_pies_sum_repeated_names_and_sort():
    data = only_layer(read(go.Figure(go.Pie(labels=["a", "b", "a"], values=[1, 6, 1]))))["data"]
    assert data["label"] == ["b", "a"] and same(data["value"], [6, 2])
    assert same(data["frac"], [0.75, 0.25])
    assert same(np.subtract(data["angle1"], data["angle0"]), [270, 90])


def test_heat_maps_contours_surfaces_candles_and_tables():
    heat = read(px.imshow([[1, 2, 3], [4, 5, 6]], x=["p", "q", "r"], y=["s", "t"]))
    data = only_layer(heat)["data"]
    assert data["x_cats"] == ["p", "q", "r"] and data["v"] == [[1, 2, 3], [4, 5, 6]]
    contour = only_layer(read(go.Figure(go.Contour(z=[[0, 1], [2, 3]], contours={
        "start": 0, "end": 3, "size": 1}))))
    assert contour["kind"] == "contourf" and same(contour["data"]["levels"], [0, 1, 2, 3])
    surface = only_layer(read(go.Figure(go.Surface(z=[[0, 1], [2, 3]]))))
    assert surface["data"]["z"] == [[0, 1], [2, 3]]
    candle = only_layer(read(go.Figure(go.Candlestick(
        x=["2024-01-02"], open=[1], high=[4], low=[0], close=[3]))))
    assert [candle["data"][key] for key in "ohlc"] == [[1], [4], [0], [3]]
    table = only_layer(read(go.Figure(go.Table(header={"values": ["a", "b"]},
                                               cells={"values": [[1, 2], ["x", "y"]]}))))
    assert table["data"] == {"columns": ["a", "b"], "rows": [["1", "x"], ["2", "y"]]}


def test_subplots_have_cells_titles_and_references():
    figure = make_subplots(rows=2, cols=1, subplot_titles=["up", "down"])
    figure.add_scatter(x=[1, 2], y=[3, 4], row=1, col=1)
    figure.add_bar(x=["a"], y=[1], row=2, col=1)
    figure.add_hline(y=3.5, row=1, col=1)
    figure.add_vrect(x0=1, x1=1.5, row=1, col=1)
    upper, lower = read(figure)["panels"]
    assert upper["title"] == "up" and upper["cell"]["row"] == 0
    assert lower["title"] == "down" and lower["cell"]["row"] == 1
    assert {ref["kind"] for ref in upper["refs"]} == {"hline", "vspan"}
    assert upper["refs"][0]["value"] == 3.5


def test_twin_axes_share_a_panel_and_log_ranges_are_powers():
    figure = make_subplots(specs=[[{"secondary_y": True}]])
    figure.add_scatter(x=[1, 2], y=[3, 4])
    figure.add_scatter(x=[1, 2], y=[10, 1000], secondary_y=True)
    figure.update_yaxes(type="log", range=[0, 4], title="right", secondary_y=True)
    (panel,) = read(figure)["panels"]
    assert panel["layers"][1]["axis"] == "y2"
    assert panel["y2"]["scale"] == "log" and same(panel["y2"]["lim"], [1, 10000])
    assert panel["y2"]["label"] == "right"


def test_polar_and_spatial_figures():
    polar = read(go.Figure(go.Scatterpolar(r=[1, 2], theta=[0, 90], mode="lines")))
    assert polar["panels"][0]["projection"] == "polar"
    assert same(only_layer(polar)["data"]["x"], [0, np.pi / 2])
    spatial = read(go.Figure(go.Scatter3d(x=[1], y=[2], z=[3], mode="markers")))
    assert only_layer(spatial)["kind"] == "scatter3d"


def test_what_is_not_read_says_why():
    layer = only_layer(read(px.sunburst(FRAME, path=["city", "year"], values="n")))
    assert layer["kind"] == "unknown" and "sunburst" in layer["error"]
    assert plotly.read({"data": 3, "layout": None})["warnings"]
    assert plotly.read({"data": [{"type": "bar", "x": {"bdata": "!", "dtype": "f8"}}]})["v"] == 1


def test_a_published_bundle_gets_its_chart_and_stays_itself():
    class Publisher:
        def publish(self, data, metadata=None, **kwargs):
            self.data = data

    class Formatter:
        def format(self, obj):
            return {"text/plain": repr(obj)}, {}

    class Shell:
        display_pub = Publisher()
        display_formatter = Formatter()

    shell = Shell()
    published.register(shell)
    published.register(shell)
    bundle = {published.PLOTLY: json.loads(px.line(FRAME, x="city", y="n").to_json())}
    shell.display_pub.publish(bundle)
    assert MIME in shell.display_pub.data and MIME not in bundle
    shell.display_pub.publish({"text/plain": "x"})
    assert shell.display_pub.data == {"text/plain": "x"}
    assert shell.display_formatter.format(3) == ({"text/plain": "3"}, {})


@pytest.mark.parametrize("points", [100, 50_000])
def test_long_lines_are_thinned_and_say_so(points):
    x = np.arange(points)
    y = np.sin(x / 100)
    y[points // 3] = 50
    layer = only_layer(read(go.Figure(go.Scatter(x=x, y=y, mode="lines"))))
    assert layer["n"] == points
    if points > 10_000:
        assert layer["sampled"]["method"] == "minmaxlttb"
        from checks import numbers

        assert numbers(layer["data"]["y"]).max() == 50
