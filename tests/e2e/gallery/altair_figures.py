"""altair: marks, aggregates, bins, layers, facets."""
# ruff: noqa: F821

import numpy as np
import pandas as pd

from .core import figure, ms
from .data import CITIES, counts, days, more_counts, survey, wave


@figure("altair")
def altair_line():
    frame = pd.DataFrame({"day": days(), "load": wave()})
    return alt.Chart(frame, title="Load").mark_line().encode(x="day:T", y="load:Q")


@altair_line.expects
def _(chart):
    chart.layer(kind="line").holds(x=ms(days()), y=wave())
    chart.has_titles("Load", "day", "load")


@figure("altair")
def altair_lines_by_colour():
    one = pd.DataFrame({"t": range(60), "y": wave(), "city": "Oslo"})
    two = pd.DataFrame({"t": range(60), "y": wave(level=4), "city": "Rome"})
    return alt.Chart(pd.concat([one, two])).mark_line().encode(x="t", y="y", color="city")


@altair_lines_by_colour.expects
def _(chart):
    chart.layer("Oslo").holds("line", x=range(60), y=wave())
    chart.layer("Rome").holds("line", x=range(60), y=wave(level=4))


@figure("altair")
def altair_points():
    return alt.Chart(survey()).mark_circle().encode(x="value", y="weight", color="group")


@altair_points.expects
def _(chart):
    for group, part in survey().groupby("group"):
        chart.layer(group).holds("scatter", x=part.value, y=part.weight)


@figure("altair")
def altair_bars():
    frame = pd.DataFrame({"city": CITIES, "orders": counts()})
    return alt.Chart(frame).mark_bar().encode(x="city", y="orders")


@altair_bars.expects
def _(chart):
    assert chart.layer(kind="bar").bars() == dict(zip(CITIES, counts(), strict=True))
    # Vega-Lite sorts names unless it is told otherwise.
    assert chart.axis("x")["categories"] == sorted(CITIES)


@figure("altair")
def altair_stacked_bars():
    one = pd.DataFrame({"city": CITIES, "orders": counts(), "state": "paid"})
    two = pd.DataFrame({"city": CITIES, "orders": more_counts(), "state": "open"})
    bars = alt.Chart(pd.concat([one, two])).mark_bar()
    return bars.encode(y=alt.Y("city", sort=None), x="orders", color="state")


@altair_stacked_bars.expects
def _(chart):
    paid, unpaid = chart.layer("paid"), chart.layer("open")
    assert paid.bars("y") == dict(zip(CITIES, counts(), strict=True))
    assert unpaid.bars("y") == dict(zip(CITIES, more_counts(), strict=True))


@figure("altair")
def altair_means():
    return alt.Chart(survey()).mark_bar().encode(x="group", y="mean(value)")


@altair_means.expects
def _(chart):
    means = survey().groupby("group").value.mean()
    bars = chart.layer(kind="bar").bars()
    np.testing.assert_allclose([bars[name] for name in means.index], means.values)


@figure("altair")
def altair_histogram():
    bins = alt.X("value", bin=alt.Bin(step=2))
    return alt.Chart(survey()).mark_bar().encode(x=bins, y="count()")


@altair_histogram.expects
def _(chart):
    layer = chart.layers()[0]
    heights = layer["count"] if layer.kind == "hist" else layer["value"]
    values = survey().value
    expected = pd.Series(np.floor(values / 2) * 2).value_counts().sort_index()
    np.testing.assert_allclose(heights[heights > 0], expected.values)


@figure("altair")
def altair_areas():
    frame = pd.DataFrame({"t": range(12), "y": [v + 1.0 for v in range(12)]})
    return alt.Chart(frame).mark_area(opacity=0.6).encode(x="t", y="y")


@altair_areas.expects
def _(chart):
    layer = chart.layers()[0]
    assert layer.kind in ("area", "band")
    np.testing.assert_allclose(layer["hi"] - layer["lo"], np.arange(12) + 1)


@figure("altair")
def altair_heatmap():
    frame = pd.DataFrame(
        [
            {"row": r, "column": c, "z": i * 4 + j}
            for i, r in enumerate("abc")
            for j, c in enumerate("wxyz")
        ]
    )
    return alt.Chart(frame).mark_rect().encode(x="column:N", y="row:N", color="z:Q")


@altair_heatmap.expects
def _(chart):
    data = chart.layer(kind="heatmap").model["data"]
    cells = {
        (row, column): value
        for row, line in zip(data["y_cats"], data["v"], strict=True)
        for column, value in zip(data["x_cats"], line, strict=True)
    }
    assert cells == {(r, c): i * 4 + j for i, r in enumerate("abc") for j, c in enumerate("wxyz")}


@figure("altair")
def altair_layers():
    frame = pd.DataFrame({"t": range(60), "y": wave()})
    base = alt.Chart(frame).encode(x="t", y="y")
    rule = alt.Chart(pd.DataFrame({"y": [4]})).mark_rule(color="red").encode(y="y")
    return base.mark_line() + base.mark_point() + rule


@altair_layers.expects
def _(chart):
    chart.layer(kind="line").holds(x=range(60), y=wave())
    chart.layer(kind="scatter").holds(x=range(60), y=wave())
    assert [ref["value"] for ref in chart.panels[0]["refs"]] == [4]


@figure("altair")
def altair_facets():
    points = alt.Chart(survey()).mark_point().encode(x="value", y="weight")
    return points.properties(width=160, height=140).facet(column="group")


@altair_facets.expects
def _(chart):
    assert len(chart.panels) == 3
    for i, (_, part) in enumerate(survey().groupby("group")):
        chart.layer(kind="scatter", panel=i).holds(x=part.value, y=part.weight)


@figure("altair")
def altair_side_by_side():
    frame = pd.DataFrame({"t": range(60), "y": wave(), "z": wave(level=9)})
    base = alt.Chart(frame).mark_line().properties(width=220)
    return base.encode(x="t", y="y") | base.encode(x="t", y="z")


@altair_side_by_side.expects
def _(chart):
    chart.layer(panel=0).holds("line", y=wave())
    chart.layer(panel=1).holds("line", y=wave(level=9))


@figure("altair")
def altair_pie():
    frame = pd.DataFrame({"city": CITIES, "orders": counts()})
    return alt.Chart(frame).mark_arc().encode(theta="orders", color="city")


@altair_pie.expects
def _(chart):
    data = chart.layer(kind="pie").model["data"]
    total = sum(counts())
    shares = dict(zip(data["label"], data["frac"], strict=True))
    for name, count in zip(CITIES, counts(), strict=True):
        np.testing.assert_allclose(shares[name], count / total)
