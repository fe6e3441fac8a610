"""seaborn and pandas: what they draw with matplotlib, checked against the data."""

from __future__ import annotations

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from checks import layers, ms, numbers, only_layer, same  # noqa: E402


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"day": np.repeat(["Thu", "Fri", "Sat"], 20),
                         "sex": np.tile(["M", "F"], 30),
                         "bill": rng.normal(20, 4, 60), "tip": rng.normal(3, 1, 60)})


@pytest.fixture
def sns():
    import warnings

    warnings.simplefilter("ignore")
    return pytest.importorskip("seaborn")


def by_label(model):
    return {layer["label"]: layer for layer in layers(model)}


# ---- pandas


@pytest.mark.parametrize("frequency,count", [("D", 3), ("MS", 5), ("W", 4)])
def test_pandas_time_series(model, frequency, count):
    index = pd.date_range("2024-01-07", periods=count, freq=frequency)
    ax = pd.DataFrame({"a": np.arange(count) * 1.5}, index=index).plot()
    figure = model(ax.figure)
    assert figure["panels"][0]["x"]["scale"] == "datetime"
    starts = [stamp.to_period(index.to_period().freq).to_timestamp() for stamp in index]
    layer = only_layer(figure)
    assert same(layer["data"]["x"], [stamp.timestamp() * 1000 for stamp in starts])
    assert same(layer["data"]["y"], np.arange(count) * 1.5)


def test_pandas_bars(model, frame):
    table = frame.groupby(["day", "sex"]).bill.mean().unstack()
    for stacked in (False, True):
        figure = model(table.plot.bar(stacked=stacked).figure)
        found = by_label(figure)
        for sex in ("F", "M"):
            assert same(found[sex]["data"]["value"], table[sex])
            assert found[sex]["data"]["cat"] == [0, 1, 2]
            assert found[sex]["series"] == {"sex": sex}
        assert ("stack" in found["F"]["data"]) is stacked
        assert figure["panels"][0]["x"]["categories"] == ["Fri", "Sat", "Thu"]


def test_pandas_lying_bars(model):
    layer = only_layer(model(pd.Series([3, 1], index=["a", "b"]).plot.barh().figure))
    assert layer["orient"] == "h" and layer["data"]["value"] == [3, 1]


def test_pandas_area_has_no_twin_lines(model):
    figure = model(pd.DataFrame({"a": [1, 2, 3.0], "b": [2, 3, 1]}).plot.area().figure)
    first, second = layers(figure)
    assert (first["kind"], first["label"], second["label"]) == ("area", "a", "b")
    assert second["data"]["lo"] == [1, 2, 3] and second["data"]["hi"] == [3, 5, 4]


def test_pandas_hist_and_box(model, frame):
    figure = model(frame[["bill", "tip"]].plot.hist(alpha=0.5).figure)
    edges = np.histogram_bin_edges(frame[["bill", "tip"]].to_numpy().ravel(), bins=10)
    for name in ("bill", "tip"):
        data = by_label(figure)[name]["data"]
        assert same(data["edges"], edges)
        assert same(data["count"], np.histogram(frame[name], bins=edges)[0])
    box = only_layer(model(frame[["bill", "tip"]].plot.box().figure))
    assert box["kind"] == "box" and box["data"]["label"] == ["bill", "tip"]
    assert same(box["data"]["median"], frame[["bill", "tip"]].median())


def test_pandas_pie_scatter_hexbin(model, frame):
    totals = frame.groupby("day").bill.sum()
    pie = only_layer(model(totals.plot.pie(autopct="%.0f").figure))
    assert pie["data"]["label"] == list(totals.index) and same(pie["data"]["value"], totals)
    cloud = only_layer(model(frame.plot.scatter(x="bill", y="tip", c="tip",
                                                colormap="viridis").figure))
    assert same(cloud["data"]["x"], frame.bill) and same(cloud["data"]["c"], frame.tip)
    hexagons = only_layer(model(frame.plot.hexbin(x="bill", y="tip", gridsize=5).figure))
    assert numbers(hexagons["data"]["v"]).sum() == 60


def test_pandas_secondary_axis(model):
    ax = pd.DataFrame({"a": [1, 2, 3.0], "b": [200, 300, 100]}).plot(secondary_y="b")
    first, second = layers(model(ax.figure))
    assert first["data"]["y"] == [1, 2, 3] and "axis" not in first
    assert second["data"]["y"] == [200, 300, 100] and second["axis"] == "y2"


def test_pandas_timestamps_without_frequency(model):
    index = pd.to_datetime(["2024-01-01", "2024-01-05", "2024-02-01"])
    layer = only_layer(model(pd.Series([1, 2, 3], index=index).plot().figure))
    assert same(layer["data"]["x"], [ms(2024, 1, 1), ms(2024, 1, 5), ms(2024, 2, 1)])


# ---- seaborn


@pytest.mark.parametrize("capsize", [0, 0.1])
def test_seaborn_bars(model, frame, sns, capsize):
    ax = sns.barplot(data=frame, x="day", y="bill", hue="sex", capsize=capsize)
    figure = model(ax.figure)
    found = by_label(figure)
    for sex in ("M", "F"):
        data = found[sex]["data"]
        means = [frame[(frame.day == day) & (frame.sex == sex)].bill.mean()
                 for day in ("Thu", "Fri", "Sat")]
        assert found[sex]["kind"] == "bar" and same(data["value"], means)
        assert data["cat"] == [0, 1, 2]
        low, high = numbers(data["err_lo"]), numbers(data["err_hi"])
        assert (low < means).all() and (high > means).all()
    assert len(layers(figure)) == 2
    assert figure["panels"][0]["x"]["categories"] == ["Thu", "Fri", "Sat"]


def test_seaborn_boxes(model, frame, sns):
    found = by_label(model(sns.boxplot(data=frame, x="day", y="bill", hue="sex").figure))
    for sex in ("M", "F"):
        medians = [frame[(frame.day == day) & (frame.sex == sex)].bill.median()
                   for day in ("Thu", "Fri", "Sat")]
        assert found[sex]["kind"] == "box" and same(found[sex]["data"]["median"], medians)
        assert found[sex]["data"]["label"] == ["Thu", "Fri", "Sat"]


@pytest.mark.parametrize("lying", [False, True])
def test_seaborn_violins(model, frame, sns, lying):
    names = {"x": "bill", "y": "day"} if lying else {"x": "day", "y": "bill"}
    layer = only_layer(model(sns.violinplot(data=frame, **names).figure))
    assert layer["kind"] == "violin" and layer["orient"] == ("h" if lying else "v")
    groups = [frame[frame.day == day].bill for day in ("Thu", "Fri", "Sat")]
    assert same(layer["data"]["median"], [group.median() for group in groups])
    assert same(layer["data"]["q1"], [group.quantile(0.25) for group in groups])


def test_seaborn_split_violins(model, frame, sns):
    found = by_label(model(sns.violinplot(data=frame, x="day", y="bill", hue="sex", split=True,
                                          inner="quart").figure))
    assert set(found) == {"M", "F"}
    for sex in ("M", "F"):
        assert np.allclose(found[sex]["data"]["pos"], [0, 1, 2], atol=1e-9)
        medians = [frame[(frame.day == day) & (frame.sex == sex)].bill.median()
                   for day in ("Thu", "Fri", "Sat")]
        assert np.allclose(found[sex]["data"]["median"], medians, rtol=0.02)


def test_seaborn_scatter_by_hue(model, frame, sns):
    found = by_label(model(sns.scatterplot(data=frame, x="bill", y="tip", hue="sex",
                                           size="tip").figure))
    for sex in ("M", "F"):
        rows = frame[frame.sex == sex]
        assert same(found[sex]["data"]["x"], rows.bill)
        assert found[sex]["series"] == {"sex": sex} and found[sex]["n"] == 30


@pytest.mark.parametrize("kind", ["stripplot", "swarmplot"])
def test_seaborn_points_on_categories(model, frame, sns, kind):
    figure = model(getattr(sns, kind)(data=frame, x="day", y="bill", hue="sex").figure)
    found = by_label(figure)
    assert len(layers(figure)) == 2
    for sex in ("M", "F"):
        assert sorted(numbers(found[sex]["data"]["y"])) == pytest.approx(
            sorted(frame[frame.sex == sex].bill))


def test_seaborn_point_plot(model, frame, sns):
    found = by_label(model(sns.pointplot(data=frame, x="day", y="bill", hue="sex").figure))
    assert set(found) == {"M", "F"}
    for sex, layer in found.items():
        means = [frame[(frame.day == day) & (frame.sex == sex)].bill.mean()
                 for day in ("Thu", "Fri", "Sat")]
        assert layer["kind"] == "errorbar" and same(layer["data"]["y"], means)
        assert (numbers(layer["data"]["y_lo"]) < means).all()


def test_seaborn_line_with_band(model, frame, sns):
    figure = model(sns.lineplot(data=frame, x="day", y="bill", hue="sex").figure)
    assert [(layer["kind"], layer["label"]) for layer in layers(figure)] == [
        ("line", "M"), ("band", "M"), ("line", "F"), ("band", "F")]


def test_seaborn_histograms(model, frame, sns):
    import matplotlib.pyplot as plt

    figure = model(sns.histplot(data=frame, x="bill", kde=True).figure)
    bars, curve = layers(figure)
    assert bars["kind"] == "hist" and numbers(bars["data"]["count"]).sum() == 60
    assert curve["kind"] == "line"
    plt.close("all")
    found = by_label(model(sns.histplot(data=frame, x="bill", hue="sex", multiple="stack").figure))
    assert sum(found["M"]["data"]["count"]) == 30 == sum(found["F"]["data"]["count"])
    plt.close("all")
    layer = only_layer(model(sns.histplot(data=frame, x="bill", y="tip").figure))
    assert layer["kind"] == "hist2d"


def test_seaborn_ecdf(model, frame, sns):
    layer = only_layer(model(sns.ecdfplot(data=frame, x="bill").figure))
    assert layer["kind"] == "ecdf"
    assert same(layer["data"]["x"], sorted(frame.bill))
    assert same(layer["data"]["y"], np.arange(1, 61) / 60)


def test_seaborn_heatmap(model, frame, sns):
    table = frame[["bill", "tip"]].corr()
    layer = only_layer(model(sns.heatmap(table, annot=True).figure))
    assert layer["data"]["v"] == table.to_numpy().tolist()
    assert layer["data"]["x_cats"] == ["bill", "tip"] == layer["data"]["y_cats"]
    assert float(layer["data"]["text"][0][1]) == pytest.approx(table.iloc[0, 1], rel=0.1)


def test_seaborn_facets(model, frame, sns):
    grid = sns.catplot(data=frame, x="day", y="bill", col="sex", kind="bar")
    figure = model(grid.figure)
    assert [panel["facet"] for panel in figure["panels"]] == [{"sex": "M"}, {"sex": "F"}]
    for panel in figure["panels"]:
        assert panel["x"]["categories"] == ["Thu", "Fri", "Sat"]
        assert panel["x"]["label"] == "day" and panel["y"]["label"] == "bill"


def test_seaborn_facets_share_a_legend(model, frame, sns):
    grid = sns.relplot(data=frame, x="bill", y="tip", col="sex", hue="day")
    figure = model(grid.figure)
    for panel in figure["panels"]:
        assert [layer["label"] for layer in panel["layers"]] == ["Thu", "Fri", "Sat"]
    assert [entry["label"] for entry in figure["legend"]["entries"]] == ["Thu", "Fri", "Sat"]


def test_seaborn_pairs(model, frame, sns):
    figure = model(sns.pairplot(frame[["bill", "tip"]]).figure)
    kinds = [panel["layers"][0]["kind"] for panel in figure["panels"]]
    assert kinds == ["hist", "scatter", "scatter", "hist"]


def test_seaborn_density(model, frame, sns):
    import matplotlib.pyplot as plt

    pytest.importorskip("scipy")
    figure = model(sns.kdeplot(data=frame, x="bill", hue="sex", fill=True).figure)
    assert {layer["label"] for layer in layers(figure)} == {"M", "F"}
    assert {layer["kind"] for layer in layers(figure)} == {"area"}
    plt.close("all")
    layer = only_layer(model(sns.kdeplot(data=frame, x="bill", y="tip").figure))
    assert layer["kind"] == "contour" and layer["data"]["z"]
