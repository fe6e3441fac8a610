"""bokeh: glyphs on a figure."""
# ruff: noqa: F821

import numpy as np

from .core import figure as gallery_figure
from .core import ms
from .data import CITIES, cloud, counts, days, grid, more_counts, spread, wave


@gallery_figure("bokeh")
def bokeh_lines():
    p = figure(title="Temperature", x_axis_type="datetime", width=600, height=320)
    p.line(days(), wave(), legend_label="Oslo", line_width=2)
    p.line(days(), wave(level=4), legend_label="Rome", line_color="firebrick")
    show(p)


@bokeh_lines.expects
def _(chart):
    chart.layer("Oslo").holds("line", x=ms(days()), y=wave())
    chart.layer("Rome").holds("line", x=ms(days()), y=wave(level=4))
    chart.has_titles("Temperature")


@gallery_figure("bokeh")
def bokeh_points():
    x, y = cloud()
    p = figure(x_axis_label="x", y_axis_label="Height (m)")
    p.scatter(x, y, size=8, color="teal", alpha=0.6)
    show(p)


@bokeh_points.expects
def _(chart):
    x, y = cloud()
    chart.layer(kind="scatter").holds(x=x, y=y)
    chart.has_titles(x="x", y="Height (m)")


@gallery_figure("bokeh")
def bokeh_bars():
    p = figure(x_range=CITIES, height=300, title="Orders")
    p.vbar(x=CITIES, top=counts(), width=0.8)
    show(p)


@bokeh_bars.expects
def _(chart):
    assert chart.layer(kind="bar").bars() == dict(zip(CITIES, counts(), strict=True))


@gallery_figure("bokeh")
def bokeh_lying_bars():
    p = figure(y_range=CITIES, height=300)
    p.hbar(y=CITIES, right=counts(), height=0.7, color="#e07b39")
    show(p)


@bokeh_lying_bars.expects
def _(chart):
    assert chart.layer(kind="bar").bars("y") == dict(zip(CITIES, counts(), strict=True))


@gallery_figure("bokeh")
def bokeh_stacked_bars():
    source = {"city": CITIES, "paid": counts(), "open": more_counts()}
    p = figure(x_range=CITIES, height=300)
    p.vbar_stack(["paid", "open"], x="city", width=0.8, source=source, color=["#4c78a8", "#f58518"])
    show(p)


@bokeh_stacked_bars.expects
def _(chart):
    first, second = chart.layers("bar")
    first.holds(value=counts())
    second.holds(value=more_counts(), base=counts())


@gallery_figure("bokeh")
def bokeh_histogram():
    count, edges = np.histogram(spread(), bins=16)
    p = figure(height=300)
    p.quad(top=count, bottom=0, left=edges[:-1], right=edges[1:], line_color="white")
    show(p)


@bokeh_histogram.expects
def _(chart):
    count, edges = np.histogram(spread(), bins=16)
    layer = chart.layers()[0]
    heights = layer["count"] if layer.kind == "hist" else layer["value"]
    np.testing.assert_allclose(heights, count)


@gallery_figure("bokeh")
def bokeh_area():
    p = figure(height=300)
    p.varea(x=list(range(60)), y1=wave() - 1, y2=wave() + 1, alpha=0.4)
    show(p)


@bokeh_area.expects
def _(chart):
    layer = chart.layers()[0]
    assert layer.kind in ("area", "band")
    layer.holds(x=range(60), lo=wave() - 1, hi=wave() + 1)


@gallery_figure("bokeh")
def bokeh_steps():
    p = figure(height=300)
    p.step(list(range(8)), [1, 3, 2, 5, 4, 4, 6, 1], mode="after")
    show(p)


@bokeh_steps.expects
def _(chart):
    chart.layer(kind="step").holds(x=range(8), y=[1, 3, 2, 5, 4, 4, 6, 1])


@gallery_figure("bokeh")
def bokeh_log_axis():
    p = figure(y_axis_type="log", height=300)
    p.line([0, 1, 2, 3], [1, 10, 100, 1000])
    show(p)


@bokeh_log_axis.expects
def _(chart):
    chart.layer(kind="line").holds(x=[0, 1, 2, 3], y=[1, 10, 100, 1000])
    assert chart.axis("y")["scale"] == "log"


@gallery_figure("bokeh")
def bokeh_image():
    p = figure(height=300)
    p.image(image=[grid()], x=0, y=0, dw=8, dh=6, palette="Viridis256")
    show(p)


@bokeh_image.expects
def _(chart):
    layer = chart.layer(kind="heatmap")
    np.testing.assert_allclose(np.array(layer.model["data"]["v"], float), grid())


@gallery_figure("bokeh")
def bokeh_panels():
    from bokeh.layouts import row

    left, right = (
        figure(width=300, height=260, title="Left"),
        figure(width=300, height=260, title="Right"),
    )
    left.line(list(range(60)), wave())
    right.scatter(*cloud())
    show(row(left, right))


@bokeh_panels.expects
def _(chart):
    assert [panel["title"] for panel in chart.panels] == ["Left", "Right"]
    chart.layer(panel=0).holds("line", y=wave())
    chart.layer(panel=1).holds("scatter", x=cloud()[0], y=cloud()[1])
