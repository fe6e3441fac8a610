"""pandas plotting: DataFrame.plot and its kinds."""
# ruff: noqa: F821

import numpy as np

from .core import figure, ms
from .data import CITIES, counts, days, more_counts, spread, wave


@figure("pandas")
def pandas_lines():
    frame = pd.DataFrame({"load": wave(), "price": wave(level=4)}, index=days())
    frame.plot(title="Market")


@pandas_lines.expects
def _(chart):
    chart.layer("load").holds("line", x=ms(days()), y=wave())
    chart.layer("price").holds("line", x=ms(days()), y=wave(level=4))
    chart.has_titles("Market")


@figure("pandas")
def pandas_bars():
    pd.DataFrame({"2024": counts(), "2025": more_counts()}, index=CITIES).plot.bar(rot=0)


@pandas_bars.expects
def _(chart):
    assert chart.layer("2024").bars() == dict(zip(CITIES, counts(), strict=True))
    assert chart.layer("2025").bars() == dict(zip(CITIES, more_counts(), strict=True))


@figure("pandas")
def pandas_stacked_lying_bars():
    pd.DataFrame({"2024": counts(), "2025": more_counts()}, index=CITIES).plot.barh(stacked=True)


@pandas_stacked_lying_bars.expects
def _(chart):
    chart.layer("2024").holds("bar", value=counts())
    chart.layer("2025").holds("bar", value=more_counts(), base=counts())
    assert chart.layer("2024").names("y") == CITIES


@figure("pandas")
def pandas_histograms():
    pd.DataFrame({"a": spread(), "b": spread(seed=9)}).plot.hist(bins=10, alpha=0.6)


@pandas_histograms.expects
def _(chart):
    both = np.concatenate([spread(), spread(seed=9)])
    edges = np.histogram_bin_edges(both, bins=10)
    for name, values in {"a": spread(), "b": spread(seed=9)}.items():
        chart.layer(name, "hist").holds(count=np.histogram(values, edges)[0], edges=edges)


@figure("pandas")
def pandas_areas():
    pd.DataFrame({"a": range(1, 9), "b": [3] * 8}).plot.area()


@pandas_areas.expects
def _(chart):
    first = np.arange(1, 9)
    areas = chart.layers("area")
    assert [area.label for area in areas] == ["a", "b"]
    np.testing.assert_allclose(areas[0]["hi"] - areas[0]["lo"], first)
    np.testing.assert_allclose(areas[1]["hi"], first + 3)


@figure("pandas")
def pandas_boxes():
    pd.DataFrame({"a": spread(), "b": spread(seed=9, scale=2)}).plot.box()


@pandas_boxes.expects
def _(chart):
    values = [spread(), spread(seed=9, scale=2)]
    medians = np.concatenate([layer["median"] for layer in chart.layers("box")])
    np.testing.assert_allclose(medians, [np.median(v) for v in values])


@figure("pandas")
def pandas_scatter():
    frame = pd.DataFrame({"a": wave(), "b": wave(period=7), "c": np.arange(60.0)})
    frame.plot.scatter("a", "b", c="c", colormap="viridis")


@pandas_scatter.expects
def _(chart):
    chart.layer(kind="scatter").holds(x=wave(), y=wave(period=7), c=np.arange(60))


@figure("pandas")
def pandas_pie():
    pd.Series(counts(), index=CITIES, name="Orders").plot.pie()


@pandas_pie.expects
def _(chart):
    layer = chart.layer(kind="pie")
    assert layer.model["data"]["label"] == CITIES
    np.testing.assert_allclose(layer["frac"], np.array(counts()) / sum(counts()), rtol=1e-5)
