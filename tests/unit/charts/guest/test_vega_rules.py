"""What Vega computes of rows (bins, filters, missing names, fixed positions), or why not."""

import pytest
from cellblock_charts.figures import stats, vega_lite
from checks import layers, only_layer


def model_of(rows, mark, encoding, **more):
    return vega_lite.read({"data": {"values": rows}, "mark": mark, "encoding": encoding, **more})


def reason_of(model):
    (layer,) = layers(model)
    assert layer["kind"] == "unknown"
    return layer["error"]


def quantitative(field, **more):
    return {"field": field, "type": "quantitative", **more}


COUNT = {"aggregate": "count", "type": "quantitative"}


def test_the_last_bin_has_its_upper_end_too():
    rows = [{"v": value} for value in range(11)]
    layer = only_layer(model_of(rows, "bar", {"x": quantitative("v", bin=True), "y": COUNT}))
    assert list(layer["data"]["edges"]) == list(range(11))
    assert list(layer["data"]["count"]) == [1] * 9 + [2]


def test_bins_that_need_not_be_nice_begin_at_the_least_value():
    assert stats.vega_bins(0.5, 9.5, 4, nice=False) == (0.5, 9.5, 5)
    assert stats.vega_bins(5, 5) == (5, 5.5, 0.5)
    rows = [{"v": value} for value in (0.5, 2.0, 6.0, 9.5)]
    bins = {"nice": False, "maxbins": 4}
    layer = only_layer(model_of(rows, "bar", {"x": quantitative("v", bin=bins), "y": COUNT}))
    assert layer["data"]["edges"][0] == 0.5
    assert sum(layer["data"]["count"]) == 4


@pytest.mark.parametrize("bins", [{"anchor": 0.5}, {"minstep": 2}, {"extent": [2, 4]}])
def test_bins_by_other_rules_are_not_guessed(bins):
    rows = [{"v": value} for value in range(11)]
    model = model_of(rows, "bar", {"x": quantitative("v", bin=bins), "y": COUNT})
    assert "bins" in reason_of(model)


def test_more_rows_than_are_read_are_told_and_not_cut():
    rows = [{"g": "a"}] * 200_000 + [{"g": "b"}]
    model = model_of(rows, "bar", {"x": {"field": "g", "type": "nominal"}, "y": COUNT})
    assert "200001 rows" in reason_of(model)


def test_a_missing_name_is_a_slice_of_its_own():
    rows = [{"c": "x", "n": 1}, {"c": "y", "n": 1}, {"c": None, "n": 2}]
    encoding = {"theta": quantitative("n"), "color": {"field": "c", "type": "nominal"}}
    data = only_layer(model_of(rows, "arc", encoding))["data"]
    assert dict(zip(data["label"], data["frac"])) == {"null": 0.5, "x": 0.25, "y": 0.25}


def test_rows_without_a_name_are_drawn_like_the_others():
    rows = [{"c": "x", "n": 1}, {"c": None, "n": 2}]
    points = layers(model_of(rows, "point", {
        "x": quantitative("n"), "y": quantitative("n"),
        "color": {"field": "c", "type": "nominal"}}))
    assert {layer["label"]: list(layer["data"]["x"]) for layer in points} == {"null": [2], "x": [1]}
    bars = model_of(rows, "bar", {"x": {"field": "c", "type": "nominal"}, "y": quantitative("n")})
    assert bars["panels"][0]["x"]["categories"] == ["null", "x"]
    assert dict(zip(only_layer(bars)["data"]["cat"], only_layer(bars)["data"]["value"])) == {
        0: 2, 1: 1}


def test_a_position_that_is_the_same_everywhere_is_that_value():
    rows = [{"n": 1}, {"n": 2}]
    line = only_layer(model_of(rows, "line", {"x": quantitative("n"), "y": {"datum": 5}}))
    assert list(line["data"]["y"]) == [5, 5]
    band = only_layer(model_of(rows, "area", {
        "x": quantitative("n"), "y": quantitative("n"), "y2": {"datum": -1}}))
    assert list(band["data"]["lo"]) == [-1, -1]
    assert "pixels" in reason_of(model_of(rows, "point", {"x": quantitative("n"),
                                                          "y": {"value": 50}}))


def test_filters_compare_texts_as_texts_and_nothing_across_types():
    rows = [{"d": "2024-01-15", "n": 1}, {"d": "2024-03-01", "n": 2}, {"d": "2024-03-02", "n": 3}]
    encoding = {"x": {"field": "d", "type": "nominal"}, "y": quantitative("n")}

    def read(test):
        return model_of(rows, "bar", encoding, transform=[{"filter": test}])

    early = only_layer(read({"field": "d", "lt": "2024-02-01"}))
    assert list(early["data"]["value"]) == [1]
    between = only_layer(read({"field": "n", "range": [2, 3]}))
    assert list(between["data"]["value"]) == [2, 3]
    assert "different types" in reason_of(read({"field": "d", "lt": 5}))
    assert "moment" in reason_of(read({"field": "d", "equal": {"year": 2024}}))
    assert list(only_layer(read({"field": "n", "equal": True}))["data"]["value"]) == []


def test_spans_of_the_first_and_last_moments_are_a_gantt_chart():
    rows = [{"t": "a", "s": "2024-01-01", "e": "2024-01-03"},
            {"t": "a", "s": "2024-01-02", "e": "2024-01-12"}]
    layer = only_layer(model_of(rows, "bar", {
        "y": {"field": "t", "type": "nominal"},
        "x": {"field": "s", "type": "temporal", "aggregate": "min"},
        "x2": {"field": "e", "aggregate": "max"}}))
    day_ms = 86_400_000
    assert layer["kind"] == "gantt"
    assert layer["data"]["end"][0] - layer["data"]["start"][0] == 11 * day_ms


def test_aggregates_of_texts_are_not_guessed():
    rows = [{"t": "a", "n": "high"}]
    model = model_of(rows, "bar", {"x": {"field": "t", "type": "nominal"},
                                   "y": quantitative("n", aggregate="max")})
    assert "no numbers" in reason_of(model)


def test_a_view_that_cannot_be_laid_out_leaves_its_neighbours_alone():
    rows = {"values": [{"n": 1, "d": "2024-01-01"}]}
    readable = {"mark": "point", "encoding": {"x": quantitative("n"), "y": quantitative("n")}}
    repeated = {"repeat": {"layer": ["n"]}, "spec": readable}
    by_year = {**readable, "encoding": {**readable["encoding"], "row": {
        "field": "d", "type": "temporal", "timeUnit": "year"}}}
    model = vega_lite.read({"data": rows, "hconcat": [repeated, readable, by_year]})
    kinds = [panel["layers"][0]["kind"] for panel in model["panels"]]
    assert kinds == ["unknown", "scatter", "unknown"]


def test_facets_stand_in_the_order_of_their_numbers():
    rows = [{"k": k, "n": k} for k in (10, 9)]
    model = model_of(rows, "point", {"x": quantitative("n"), "y": quantitative("n"),
                                     "row": {"field": "k", "type": "ordinal"}})
    assert [panel["title"] for panel in model["panels"]] == ["k = 9", "k = 10"]
