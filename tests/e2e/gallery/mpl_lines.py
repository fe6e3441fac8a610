"""matplotlib: lines, steps, areas, error bars, scales, references."""
# ruff: noqa: F821  (the guest's preamble has the names that the drawing functions use)

import numpy as np

from .core import figure, ms
from .data import cloud, days, spread, wave


@figure("matplotlib")
def lines_over_dates():
    fig, ax = plt.subplots()
    ax.plot(days(), wave(level=5), label="Oslo")
    ax.plot(days(), wave(level=9, period=11), label="Rome")
    ax.set(title="Temperature", xlabel="Day", ylabel="Mean (°C)")
    ax.legend()


@lines_over_dates.expects
def _(chart):
    chart.layer("Oslo").holds("line", x=ms(days()), y=wave(level=5))
    chart.layer("Rome").holds("line", x=ms(days()), y=wave(level=9, period=11))
    chart.has_titles("Temperature", "Day", "Mean (°C)")
    assert chart.axis("y")["unit"] == "°C"


@figure("matplotlib")
def line_with_gaps():
    y = wave()
    y[10:14] = np.nan
    fig, ax = plt.subplots()
    ax.plot(np.arange(60), y, "o--")


@line_with_gaps.expects
def _(chart):
    y = wave()
    y[10:14] = np.nan
    chart.layer(kind="line").holds(x=np.arange(60), y=y)


@figure("matplotlib")
def line_on_log_scales():
    x = np.logspace(0, 4, 30)
    fig, ax = plt.subplots()
    ax.loglog(x, x**1.5, marker="s")
    ax.set_xlabel("n")
    ax.set_ylabel("Time (ms)")
    ax.grid(True)


@line_on_log_scales.expects
def _(chart):
    x = np.logspace(0, 4, 30)
    chart.layer(kind="line").holds(x=x, y=x**1.5)
    assert chart.axis("x")["scale"] == chart.axis("y")["scale"] == "log"


@figure("matplotlib")
def line_on_symlog():
    x = np.linspace(-50, 50, 41)
    fig, ax = plt.subplots()
    ax.plot(x, x**3)
    ax.set_yscale("symlog", linthresh=10)


@line_on_symlog.expects
def _(chart):
    x = np.linspace(-50, 50, 41)
    chart.layer(kind="line").holds(x=x, y=x**3)
    assert chart.axis("y")["scale"] == "symlog"


@figure("matplotlib")
def steps_after():
    fig, ax = plt.subplots()
    ax.step(range(10), [v % 4 for v in range(10)], where="post", label="state")
    ax.legend()


@steps_after.expects
def _(chart):
    layer = chart.layer("state")
    layer.holds("step", x=range(10), y=[v % 4 for v in range(10)])


@figure("matplotlib")
def band_between():
    x = np.arange(60)
    fig, ax = plt.subplots()
    ax.plot(x, wave(), label="mean")
    ax.fill_between(x, wave() - 1, wave() + 1, alpha=0.3, label="range")
    ax.legend()


@band_between.expects
def _(chart):
    x = np.arange(60)
    chart.layer("mean").holds("line", x=x, y=wave())
    band = chart.layer("range")
    assert band.kind in ("band", "area")
    band.holds(x=x, lo=wave() - 1, hi=wave() + 1)


@figure("matplotlib")
def stacked_areas():
    x = np.arange(12)
    fig, ax = plt.subplots()
    ax.stackplot(x, x + 1, 2 * x + 1, np.full(12, 4), labels=["a", "b", "c"])
    ax.legend(loc="upper left")


@stacked_areas.expects
def _(chart):
    x = np.arange(12)
    parts = [x + 1, 2 * x + 1, np.full(12, 4)]
    tops = np.cumsum(parts, axis=0)
    for name, part, top in zip("abc", parts, tops, strict=True):
        layer = chart.layer(name)
        assert layer.kind == "area"
        np.testing.assert_allclose(layer["hi"] - layer["lo"], part)
        np.testing.assert_allclose(layer["hi"], top)


@figure("matplotlib")
def points_with_error_bars():
    x = np.arange(8)
    fig, ax = plt.subplots()
    ax.errorbar(x, x**2, yerr=x / 2 + 1, xerr=0.2, fmt="o", capsize=4, label="run")
    ax.legend()


@points_with_error_bars.expects
def _(chart):
    x = np.arange(8)
    layer = chart.layer("run", "errorbar")
    layer.holds(x=x, y=x**2, y_lo=x**2 - x / 2 - 1, y_hi=x**2 + x / 2 + 1)
    layer.holds(x_lo=x - 0.2, x_hi=x + 0.2)


@figure("matplotlib")
def scatter_with_sizes_and_colours():
    x, y = cloud()
    fig, ax = plt.subplots()
    points = ax.scatter(x, y, s=x * 10 + 5, c=y, cmap="plasma")
    fig.colorbar(points, label="Height (m)")
    ax.set(xlabel="x", ylabel="y", title="Cloud")


@scatter_with_sizes_and_colours.expects
def _(chart):
    x, y = cloud()
    chart.layer(kind="scatter").holds(x=x, y=y, c=y, size=x * 10 + 5)
    assert chart.panels[0]["color"]["label"] == "Height (m)"
    assert len(chart.panels) == 1


@figure("matplotlib")
def scatter_of_groups():
    fig, ax = plt.subplots()
    for i, name in enumerate(["low", "mid", "high"]):
        ax.scatter(
            spread(30, i * 3, seed=i), spread(30, i, seed=i + 10), label=name, marker="^sx"[i]
        )
    ax.legend(title="Level")


@scatter_of_groups.expects
def _(chart):
    for i, name in enumerate(["low", "mid", "high"]):
        chart.layer(name).holds(
            "scatter", x=spread(30, i * 3, seed=i), y=spread(30, i, seed=i + 10)
        )
    assert chart.panels[0]["legend"]["title"] == "Level"


@figure("matplotlib")
def references_and_notes():
    fig, ax = plt.subplots()
    ax.plot(np.arange(60), wave(), label="load")
    ax.axhline(4, color="red", ls="--", label="limit")
    ax.axvspan(20, 30, alpha=0.2, color="gray")
    ax.annotate("peak", xy=(21, 4.1), xytext=(35, 5), arrowprops={"arrowstyle": "->"})
    ax.text(5, -1, "start")
    ax.legend()


@references_and_notes.expects
def _(chart):
    chart.layer("load").holds("line", x=np.arange(60), y=wave())
    refs = {ref["kind"]: ref for ref in chart.panels[0]["refs"]}
    assert refs["hline"]["value"] == 4
    assert (refs["vspan"]["lo"], refs["vspan"]["hi"]) == (20, 30)
    assert {note["text"] for note in chart.panels[0]["notes"]} >= {"peak", "start"}


@figure("matplotlib")
def twin_axes():
    fig, ax = plt.subplots()
    ax.plot(np.arange(60), wave(), color="tab:blue", label="load")
    ax.set_ylabel("Load (MW)")
    other = ax.twinx()
    other.plot(np.arange(60), wave() * 100, color="tab:red", label="price")
    other.set_ylabel("Price (EUR)")


@twin_axes.expects
def _(chart):
    chart.layer("load").holds(x=np.arange(60), y=wave())
    chart.layer("price").holds(x=np.arange(60), y=wave() * 100)
    assert chart.panels[0]["y2"]["label"] == "Price (EUR)"


@figure("matplotlib")
def long_category_names():
    fig, ax = plt.subplots()
    names = [f"a category with a long name {i}" for i in range(9)]
    ax.bar(names, range(1, 10))
    ax.tick_params(axis="x", rotation=45)


@long_category_names.expects
def _(chart):
    names = [f"a category with a long name {i}" for i in range(9)]
    assert chart.layer(kind="bar").bars() == dict(zip(names, range(1, 10), strict=True))
