"""Bokeh figures, read from the script that `show` publishes in a notebook."""

from __future__ import annotations

import json
from math import pi

import numpy as np
from bokeh.embed.notebook import notebook_content
from bokeh.layouts import gridplot
from bokeh.models import BoxAnnotation, ColumnDataSource, LinearColorMapper, Span
from bokeh.plotting import figure
from bokeh.transform import cumsum, dodge, factor_cmap
from cellblock_charts import published
from cellblock_charts.figures import bokeh

from checks import layers, only_layer, same


def read(plot) -> dict:
    script, _, _ = notebook_content(plot)
    model = bokeh.read(script, 60.0)
    assert model is not None and model["warnings"] == []
    json.dumps(model, allow_nan=False)
    return model


def test_lines_and_points_with_their_legend_and_axes():
    plot = figure(title="T", x_axis_label="time (s)", y_axis_label="v", y_range=(0, 10))
    plot.line([1, 2, 3], [3.0, float("nan"), 2.0], legend_label="a", line_color="red")
    plot.scatter([1, 2], [3, 4], size=10, legend_label="b")
    plot.add_layout(Span(location=2.5, dimension="width"))
    plot.add_layout(BoxAnnotation(left=1, right=1.5))
    model = read(plot)
    panel = model["panels"][0]
    line, points = panel["layers"]
    assert panel["title"] == "T" and panel["x"]["unit"] == "s" and panel["y"]["lim"] == [0, 10]
    assert line["label"] == "a" and line["color"] == "#ff0000"
    assert same(line["data"]["y"], [3, np.nan, 2])
    assert points["label"] == "b" and same(points["data"]["size"], [56.25, 56.25])
    assert [ref["kind"] for ref in panel["refs"]] == ["hline", "vspan"]


def test_bars_of_factors_stacked_and_dodged():
    data = {"city": ["Oslo", "Rome"], "a": [1, 2], "b": [3, 4]}
    stacked = figure(x_range=data["city"])
    stacked.vbar_stack(["a", "b"], x="city", width=0.9, source=ColumnDataSource(data))
    first, second = layers(read(stacked))
    assert same(first["data"]["value"], [1, 2]) and same(second["data"]["value"], [3, 4])
    assert same(second["data"]["base"], [1, 2])
    source = ColumnDataSource(data)
    dodged = figure(x_range=data["city"])
    dodged.vbar(x=dodge("city", -0.2, range=dodged.x_range), top="a", width=0.3, source=source)
    model = read(dodged)
    assert model["panels"][0]["x"]["categories"] == ["Oslo", "Rome"]
    assert same(only_layer(model)["data"]["pos"], [-0.2, 0.8])
    assert same(only_layer(model)["data"]["cat"], [0, 1])
    lying = figure(y_range=data["city"])
    lying.hbar(y="city", right="b", height=0.5, source=source,
               fill_color=factor_cmap("city", ["#ff0000", "#00ff00"], data["city"]))
    layer = only_layer(read(lying))
    assert layer["orient"] == "h" and same(layer["data"]["value"], [3, 4])
    assert layer["data"]["color"] == ["#ff0000", "#00ff00"]


def test_histograms_areas_steps_and_dates():
    counts, edges = np.histogram(np.random.default_rng(2).normal(size=100), bins=5)
    plot = figure()
    plot.quad(left=edges[:-1], right=edges[1:], top=counts, bottom=0)
    layer = only_layer(read(plot))
    assert layer["kind"] == "hist" and same(layer["data"]["edges"], edges)
    assert same(layer["data"]["count"], counts)
    plot = figure(x_axis_type="datetime")
    days = np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]")
    plot.varea(x=days, y1=[0, 1], y2=[2, 3])
    plot.step(x=days, y=[1, 2], mode="after")
    area, step = layers(read(plot))
    assert same(area["data"]["x"], [1704067200000, 1704153600000])
    assert same(area["data"]["hi"], [2, 3]) and step["data"]["step"] == "post"


def test_pies_heat_maps_and_grids():
    data = ColumnDataSource({"angle": [pi, pi / 2, pi / 2], "name": ["a", "b", "c"]})
    pie = figure()
    pie.wedge(x=0, y=0, radius=1, source=data, start_angle=cumsum("angle", include_zero=True),
              end_angle=cumsum("angle"))
    shares = only_layer(read(pie))["data"]
    assert shares["label"] == ["a", "b", "c"] and same(shares["frac"], [0.5, 0.25, 0.25])
    mapper = LinearColorMapper(palette="Viridis256", low=0, high=3)
    heat = figure(x_range=["p", "q"], y_range=["r", "s"])
    heat.rect(x="x", y="y", width=1, height=1, source=ColumnDataSource(
        {"x": ["p", "q", "p"], "y": ["r", "r", "s"], "v": [1.0, 2.0, 3.0]}),
        fill_color={"field": "v", "transform": mapper})
    model = read(heat)
    assert only_layer(model)["data"]["v"] == [[1, 2], [3, None]]
    assert model["panels"][0]["color"]["lim"] == [0, 3]
    image = figure()
    image.image(image=[np.arange(6.0).reshape(2, 3)], x=0, y=0, dw=3, dh=2)
    assert only_layer(read(image))["data"]["v"] == [[0, 1, 2], [3, 4, 5]]
    left, right = figure(title="l"), figure(title="r")
    left.line([1], [2])
    right.line([1], [3])
    cells = [panel["cell"] for panel in read(gridplot([[left, right]]))["panels"]]
    assert [(cell["row"], cell["col"]) for cell in cells] == [(0, 0), (0, 1)]


def test_what_is_not_read_says_why_and_other_scripts_are_left_alone():
    plot = figure()
    plot.hex_tile(q=[0], r=[0], size=1)
    layer = only_layer(read(plot))
    assert layer["kind"] == "unknown" and "HexTile" in layer["error"]
    assert bokeh.read("alert(1)") is None
    assert bokeh.read("const docs_json = {broken") is not None
    assert published.model_of({"application/javascript": "x"}) is None
    script, _, _ = notebook_content(plot)
    bundle = {"application/javascript": script, "application/vnd.bokehjs_exec.v0+json": ""}
    model = published.model_of(bundle)
    assert model is not None and model["source"]["lib"] == "bokeh"
