"""matplotlib: bars, histograms, pies, boxes, violins."""
# ruff: noqa: F821

import numpy as np

from .core import figure
from .data import CITIES, counts, more_counts, spread


@figure("matplotlib")
def bars():
    fig, ax = plt.subplots()
    drawn = ax.bar(CITIES, counts(), color="teal")
    ax.bar_label(drawn)
    ax.set(title="Orders", ylabel="Count")


@bars.expects
def _(chart):
    assert chart.layer(kind="bar").bars() == dict(zip(CITIES, counts(), strict=True))
    chart.has_titles("Orders", y="Count")


@figure("matplotlib")
def lying_bars():
    fig, ax = plt.subplots()
    ax.barh(CITIES, counts())
    ax.invert_yaxis()
    ax.set_xlabel("Orders")


@lying_bars.expects
def _(chart):
    layer = chart.layer(kind="bar")
    assert layer.model["orient"] == "h"
    assert layer.bars("y") == dict(zip(CITIES, counts(), strict=True))


@figure("matplotlib")
def grouped_bars():
    at = np.arange(4)
    fig, ax = plt.subplots()
    ax.bar(at - 0.2, counts(), 0.4, label="2024")
    ax.bar(at + 0.2, more_counts(), 0.4, label="2025")
    ax.set_xticks(at, CITIES)
    ax.legend()


@grouped_bars.expects
def _(chart):
    assert chart.layer("2024").bars() == dict(zip(CITIES, counts(), strict=True))
    assert chart.layer("2025").bars() == dict(zip(CITIES, more_counts(), strict=True))


@figure("matplotlib")
def stacked_bars():
    fig, ax = plt.subplots()
    ax.bar(CITIES, counts(), label="paid")
    ax.bar(CITIES, more_counts(), bottom=counts(), label="open")
    ax.legend()


@stacked_bars.expects
def _(chart):
    chart.layer("paid").holds("bar", value=counts())
    chart.layer("open").holds("bar", value=more_counts(), base=counts())


@figure("matplotlib")
def bars_with_errors():
    fig, ax = plt.subplots()
    ax.bar(CITIES, counts(), yerr=[3, 2, 4, 1], capsize=5)


@bars_with_errors.expects
def _(chart):
    errors = np.array([3, 2, 4, 1])
    layer = chart.layer(kind="bar")
    layer.holds(value=counts(), err_lo=counts() - errors, err_hi=counts() + errors)


@figure("matplotlib")
def bars_below_zero():
    fig, ax = plt.subplots()
    ax.bar(range(6), [3, -2, 5, -4, 1, -1], color=["g", "r"] * 3)
    ax.axhline(0, color="black", lw=0.8)


@bars_below_zero.expects
def _(chart):
    chart.layer(kind="bar").holds(pos=range(6), value=[3, -2, 5, -4, 1, -1])


@figure("matplotlib")
def histogram():
    fig, ax = plt.subplots()
    ax.hist(spread(), bins=20, edgecolor="white")
    ax.set(xlabel="Deviation", ylabel="Count")


@histogram.expects
def _(chart):
    count, edges = np.histogram(spread(), bins=20)
    chart.layer(kind="hist").holds(count=count, edges=edges)


@figure("matplotlib")
def two_histograms_of_density():
    fig, ax = plt.subplots()
    ax.hist(spread(), bins=15, density=True, alpha=0.5, label="a")
    ax.hist(spread(seed=8, center=2), bins=15, density=True, alpha=0.5, label="b")
    ax.legend()


@two_histograms_of_density.expects
def _(chart):
    for name, values in {"a": spread(), "b": spread(seed=8, center=2)}.items():
        count, edges = np.histogram(values, bins=15, density=True)
        chart.layer(name, "hist").holds(count=count, edges=edges)


@figure("matplotlib")
def pie_with_shares():
    fig, ax = plt.subplots()
    ax.pie(counts(), labels=CITIES, autopct="%1.0f%%", startangle=90)
    ax.set_title("Shares")


@pie_with_shares.expects
def _(chart):
    layer = chart.layer(kind="pie")
    assert layer.model["data"]["label"] == CITIES
    total = sum(counts())
    np.testing.assert_allclose(layer["frac"], [count / total for count in counts()], rtol=1e-5)


@figure("matplotlib")
def doughnut():
    fig, ax = plt.subplots()
    ax.pie([3, 1, 2], labels=["a", "b", "c"], wedgeprops={"width": 0.4})


@doughnut.expects
def _(chart):
    layer = chart.layer(kind="pie")
    np.testing.assert_allclose(layer["frac"], [3 / 6, 1 / 6, 2 / 6], rtol=1e-5)
    assert np.all(layer["r_inner"] > 0)


@figure("matplotlib")
def boxes():
    fig, ax = plt.subplots()
    groups = [spread(60, center=i, seed=i) for i in range(3)]
    ax.boxplot(groups, tick_labels=["a", "b", "c"], showmeans=True)


@boxes.expects
def _(chart):
    groups = [spread(60, center=i, seed=i) for i in range(3)]
    layer = chart.layer(kind="box")
    layer.holds(
        q1=[np.percentile(g, 25) for g in groups],
        median=[np.median(g) for g in groups],
        q3=[np.percentile(g, 75) for g in groups],
        mean=[np.mean(g) for g in groups],
    )
    assert layer.model["data"]["label"] == ["a", "b", "c"]


@figure("matplotlib")
def violins():
    fig, ax = plt.subplots()
    groups = [spread(60, center=i, seed=i) for i in range(3)]
    ax.violinplot(groups, showmedians=True)


@violins.expects
def _(chart):
    groups = [spread(60, center=i, seed=i) for i in range(3)]
    layer = chart.layer(kind="violin")
    layer.holds(
        min=[g.min() for g in groups],
        max=[g.max() for g in groups],
        median=[np.median(g) for g in groups],
    )


@figure("matplotlib")
def stems():
    fig, ax = plt.subplots()
    ax.stem(range(8), [v**2 % 7 for v in range(8)])


@stems.expects
def _(chart):
    chart.layer(kind="stem").holds(pos=range(8), value=[v**2 % 7 for v in range(8)])


@figure("matplotlib")
def gantt():
    fig, ax = plt.subplots()
    ax.broken_barh([(1, 4), (7, 3)], (0.6, 0.8), facecolors="tab:blue")
    ax.broken_barh([(4, 5)], (1.6, 0.8), facecolors="tab:orange")
    ax.set_yticks([1, 2], ["design", "build"])


@gantt.expects
def _(chart):
    layers = chart.layers("gantt")
    starts = np.concatenate([layer["start"] for layer in layers])
    ends = np.concatenate([layer["end"] for layer in layers])
    assert sorted(starts) == [1, 4, 7] and sorted(ends) == [5, 9, 10]
