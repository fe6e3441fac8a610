"""seaborn: what it computes before it draws, and its grids."""
# ruff: noqa: F821

import numpy as np

from .core import figure
from .data import cloud, survey


@figure("seaborn")
def seaborn_scatter_by_hue():
    sns.scatterplot(survey(), x="value", y="weight", hue="group")


@seaborn_scatter_by_hue.expects
def _(chart):
    frame = survey()
    points = {
        (round(x, 6), round(y, 6))
        for layer in chart.layers("scatter")
        for x, y in zip(layer["x"], layer["y"], strict=True)
    }
    assert points == {(round(x, 6), round(y, 6)) for x, y in zip(frame.value, frame.weight)}
    chart.has_titles(x="value", y="weight")


@figure("seaborn")
def seaborn_lines_with_bands():
    frame = survey()
    frame["step"] = frame.groupby(["group", "sex"]).cumcount() // 4
    sns.lineplot(frame, x="step", y="value", hue="group", errorbar=("sd", 1))


@seaborn_lines_with_bands.expects
def _(chart):
    frame = survey()
    frame["step"] = frame.groupby(["group", "sex"]).cumcount() // 4
    for group, part in frame.groupby("group"):
        chart.layer(group, "line").holds(y=part.groupby("step").value.mean())


@figure("seaborn")
def seaborn_bars_of_means():
    sns.barplot(survey(), x="group", y="value", hue="sex", errorbar=None)


@seaborn_bars_of_means.expects
def _(chart):
    frame = survey()
    for sex in ["f", "m"]:
        means = frame[frame.sex == sex].groupby("group").value.mean()
        bars = chart.layer(sex, "bar").bars()
        assert list(bars) == list(means.index)
        np.testing.assert_allclose(list(bars.values()), means.values)


@figure("seaborn")
def seaborn_counts():
    sns.countplot(survey(), y="group")


@seaborn_counts.expects
def _(chart):
    layer = chart.layer(kind="bar")
    assert layer.bars("y") == survey().group.value_counts().to_dict()


@figure("seaborn")
def seaborn_histogram_with_density():
    sns.histplot(survey(), x="value", bins=12, kde=True)


@seaborn_histogram_with_density.expects
def _(chart):
    count, edges = np.histogram(survey().value, bins=12)
    bars = chart.layers("hist") + chart.layers("bar")
    assert len(bars) == 1
    heights = bars[0]["count" if bars[0].kind == "hist" else "value"]
    np.testing.assert_allclose(heights, count)


@figure("seaborn")
def seaborn_boxes():
    sns.boxplot(survey(), x="group", y="value")


@seaborn_boxes.expects
def _(chart):
    groups = survey().groupby("group").value
    medians = np.concatenate([layer["median"] for layer in chart.layers("box")])
    np.testing.assert_allclose(sorted(medians), sorted(groups.median()))
    quartiles = np.concatenate([layer["q3"] for layer in chart.layers("box")])
    np.testing.assert_allclose(sorted(quartiles), sorted(groups.quantile(0.75)))


@figure("seaborn")
def seaborn_violins():
    sns.violinplot(survey(), x="group", y="value", hue="sex", split=True)


@seaborn_violins.expects
def _(chart):
    assert chart.layers("violin")
    assert chart.axis("x")["categories"] == ["Adelie", "Chinstrap", "Gentoo"]


@figure("seaborn")
def seaborn_heatmap():
    table = survey().pivot_table(index="group", columns="sex", values="value")
    sns.heatmap(table, annot=True, fmt=".1f")


@seaborn_heatmap.expects
def _(chart):
    table = survey().pivot_table(index="group", columns="sex", values="value")
    data = chart.layer(kind="heatmap").model["data"]
    np.testing.assert_allclose(np.array(data["v"]), table.values)
    assert data["x_cats"] == list(table.columns) and data["y_cats"] == list(table.index)
    assert data["text"] == [[f"{v:.1f}" for v in row] for row in table.values]


@figure("seaborn")
def seaborn_regression():
    x, y = cloud()
    sns.regplot(x=x, y=y, ci=None)


@seaborn_regression.expects
def _(chart):
    x, y = cloud()
    chart.layer(kind="scatter").holds(x=x, y=y)
    line = chart.layer(kind="line")
    slope, start = np.polyfit(x, y, 1)
    np.testing.assert_allclose(line["y"], start + slope * line["x"], rtol=1e-6)


@figure("seaborn")
def seaborn_facets():
    sns.relplot(survey(), x="value", y="weight", col="group", height=3)


@seaborn_facets.expects
def _(chart):
    frame = survey()
    assert len(chart.panels) == 3
    for i, (_, part) in enumerate(frame.groupby("group")):
        layer = chart.layer(kind="scatter", panel=i)
        np.testing.assert_allclose(np.sort(layer["x"]), np.sort(part.value))


@figure("seaborn")
def seaborn_cumulative():
    sns.ecdfplot(survey(), x="value")


@seaborn_cumulative.expects
def _(chart):
    layer = chart.layers()[0]
    np.testing.assert_allclose(layer["y"].max(), 1)
    finite = layer["x"][np.isfinite(layer["x"])]
    np.testing.assert_allclose(np.sort(finite), np.sort(survey().value), rtol=1e-6)
