"""Altair charts, read from their Vega-Lite specifications."""

from __future__ import annotations

import json

import altair as alt
import numpy as np
import pandas as pd
from cellblock_charts import published
from cellblock_charts.figures import stats, vega_lite

from checks import layers, only_layer, same

FRAME = pd.DataFrame({"city": ["Rome", "Oslo", "Rome", "Oslo"], "year": ["a", "a", "b", "b"],
                      "n": [1.5, 2.0, 3.0, 4.5], "day": pd.date_range("2024-01-01", periods=4)})


def read(chart) -> dict:
    model = vega_lite.read(chart.to_dict(), 60.0)
    json.dumps(model, allow_nan=False)
    assert model["source"]["lib"] == "altair"
    return model


def test_bars_are_aggregated_sorted_and_stacked_as_vega_lite_does():
    model = read(alt.Chart(FRAME).mark_bar().encode(x="city", y="sum(n)"))
    panel = model["panels"][0]
    assert panel["x"]["categories"] == ["Oslo", "Rome"]
    assert panel["y"]["label"] == "Sum of n"
    data = only_layer(model)["data"]
    assert dict(zip(data["cat"], data["value"])) == {0: 6.5, 1: 4.5}
    stacked = layers(read(alt.Chart(FRAME).mark_bar().encode(x="city", y="n", color="year")))
    assert [layer["label"] for layer in stacked] == ["a", "b"]
    upper = stacked[0]["data"]
    assert dict(zip(upper["cat"], upper["base"])) == {0: 4.5, 1: 3.0}  # the first is on top


def test_offsets_group_bars_and_sorting_by_value_orders_names():
    grouped = layers(read(alt.Chart(FRAME).mark_bar().encode(
        x="city", y="n", color="year", xOffset="year")))
    assert sorted(grouped[0]["data"]["pos"]) == [-0.2, 0.8]
    model = read(alt.Chart(FRAME).mark_bar().encode(alt.Y("city", sort="-x"), x="sum(n)"))
    assert model["panels"][0]["y"]["categories"] == ["Oslo", "Rome"]
    assert only_layer(model)["orient"] == "h"


def test_bins_are_those_of_vega():
    samples = pd.DataFrame({"v": np.random.default_rng(5).normal(size=300)})
    chart = alt.Chart(samples).mark_bar().encode(alt.X("v", bin=True), y="count()")
    layer = only_layer(read(chart))
    edges = layer["data"]["edges"]
    expected, _ = np.histogram(samples["v"], bins=edges)
    assert same(layer["data"]["count"], expected)
    # As vega computes them: at most ten nice steps.
    assert stats.vega_bins(0, 97) == (0, 100, 10)
    assert stats.vega_bins(-2.9, 3.1) == (-3, 4, 1)
    assert stats.vega_bins(0.1, 0.9, 5) == (0, 1.0, 0.2)


def test_lines_and_areas_by_series_and_time():
    model = read(alt.Chart(FRAME).mark_line().encode(x="day", y="n", color="year"))
    first, second = layers(model)
    assert model["panels"][0]["x"]["scale"] == "datetime"
    assert same(first["data"]["x"], [1704067200000, 1704153600000])
    assert same(second["data"]["y"], [3.0, 4.5])
    areas = layers(read(alt.Chart(FRAME).mark_area().encode(x="city", y="n", color="year")))
    assert same(areas[0]["data"]["lo"], [4.5, 3.0]) and same(areas[0]["data"]["hi"], [6.5, 4.5])


def test_points_cells_slices_and_boxes():
    points = read(alt.Chart(FRAME).mark_circle().encode(x="n", y="n", color="n"))
    assert same(only_layer(points)["data"]["c"], FRAME["n"])
    cells = only_layer(read(alt.Chart(FRAME).mark_rect().encode(x="city", y="year", color="n")))
    assert cells["data"]["v"] == [[2.0, 1.5], [4.5, 3.0]]
    slices = only_layer(read(alt.Chart(FRAME).mark_arc().encode(theta="sum(n)", color="city")))
    assert slices["data"]["label"] == ["Oslo", "Rome"] and same(slices["data"]["value"], [6.5, 4.5])
    frame = pd.DataFrame({"g": ["a"] * 9, "v": [1, 2, 3, 4, 5, 6, 7, 8, 30]})
    box = only_layer(read(alt.Chart(frame).mark_boxplot().encode(x="g", y="v")))["data"]
    assert same(box["q1"], [3]) and same(box["q3"], [7]) and box["outliers"] == [[30]]


def test_layers_facets_and_concatenations():
    line = alt.Chart(FRAME).mark_line().encode(x="day", y="n")
    rule = alt.Chart(pd.DataFrame({"n": [2.5]})).mark_rule(color="red").encode(y="n")
    (panel,) = read(line + rule)["panels"]
    assert panel["refs"] == [{"kind": "hline", "value": 2.5, "label": None, "color": "#ff0000"}]
    facets = read(line.facet(column="year"))["panels"]
    assert [item["title"] for item in facets] == ["year = a", "year = b"]
    assert same(facets[1]["layers"][0]["data"]["y"], [3.0, 4.5])
    assert [item["cell"]["row"] for item in read(line & line)["panels"]] == [0, 1]


def test_what_the_browser_computes_says_so():
    chart = alt.Chart(FRAME).mark_bar().encode(x="city", y="m:Q").transform_calculate(m="datum.n*2")
    layer = only_layer(read(chart))
    assert layer["kind"] == "unknown" and "calculate" in layer["error"]
    address = alt.Chart("https://example.com/x.csv").mark_point().encode(x="a:Q", y="b:Q")
    assert "address" in only_layer(read(address))["error"]
    large = alt.Chart(pd.DataFrame({"v": range(6000)})).mark_point().encode(x="v")
    model = published._model_of_object(large)
    assert model is not None and "MaxRowsError" in only_layer(model)["error"]
    assert vega_lite.read({"mark": 3, "encoding": [], "data": 5})["v"] == 1
