"""matplotlib: fields on a plane, polar and spatial axes, panels."""
# ruff: noqa: F821

import numpy as np

from .core import figure
from .data import cloud, counts, grid, spread, wave


@figure("matplotlib")
def image_with_colour_bar():
    fig, ax = plt.subplots()
    shown = ax.imshow(grid(), cmap="viridis")
    fig.colorbar(shown, label="Signal")


@image_with_colour_bar.expects
def _(chart):
    np.testing.assert_allclose(np.array(chart.layer(kind="heatmap").model["data"]["v"]), grid())
    assert chart.panels[0]["color"]["label"] == "Signal"


@figure("matplotlib")
def mesh():
    fig, ax = plt.subplots()
    shown = ax.pcolormesh(np.arange(9), np.arange(7) * 10, grid(), cmap="coolwarm")
    fig.colorbar(shown)


@mesh.expects
def _(chart):
    layer = chart.layer(kind="heatmap")
    layer.holds(x_edges=np.arange(9), y_edges=np.arange(7) * 10)
    np.testing.assert_allclose(np.array(layer.model["data"]["v"]), grid())


@figure("matplotlib")
def contours():
    fig, ax = plt.subplots()
    drawn = ax.contour(grid(20, 30), levels=[-1, 0, 1, 2])
    ax.clabel(drawn)


@contours.expects
def _(chart):
    layer = chart.layer(kind="contour")
    layer.holds(levels=[-1, 0, 1, 2])
    assert {path["level"] for path in layer.model["data"]["paths"]} <= {-1, 0, 1, 2}


@figure("matplotlib")
def filled_contours():
    fig, ax = plt.subplots()
    fig.colorbar(ax.contourf(grid(20, 30), levels=8))


@filled_contours.expects
def _(chart):
    layer = chart.layer(kind="contourf")
    assert layer["levels"].min() <= grid(20, 30).min()
    assert layer["levels"].max() >= grid(20, 30).max()


@figure("matplotlib")
def hexagons():
    x, y = cloud(400)
    fig, ax = plt.subplots()
    fig.colorbar(ax.hexbin(x, y, gridsize=12), label="Points")


@hexagons.expects
def _(chart):
    assert chart.layer(kind="hexbin")["v"].sum() == 400


@figure("matplotlib")
def counts_on_a_plane():
    x, y = cloud(400)
    fig, ax = plt.subplots()
    ax.hist2d(x, y, bins=(8, 6))


@counts_on_a_plane.expects
def _(chart):
    x, y = cloud(400)
    expected, x_edges, y_edges = np.histogram2d(x, y, bins=(8, 6))
    layer = chart.layer(kind="hist2d")
    layer.holds(x_edges=x_edges, y_edges=y_edges)
    np.testing.assert_allclose(np.array(layer.model["data"]["v"], float), expected.T)


@figure("matplotlib")
def arrows():
    y, x = np.mgrid[0:4, 0:5]
    fig, ax = plt.subplots()
    ax.quiver(x, y, np.cos(x), np.sin(y))


@arrows.expects
def _(chart):
    y, x = np.mgrid[0:4, 0:5]
    chart.layer(kind="quiver").holds(
        x=x.ravel(), y=y.ravel(), u=np.cos(x).ravel(), v=np.sin(y).ravel()
    )


@figure("matplotlib")
def polar_line():
    angle = np.linspace(0, 2 * np.pi, 60)
    ax = plt.figure().add_subplot(projection="polar")
    ax.plot(angle, 1 + np.sin(3 * angle), label="rose")


@polar_line.expects
def _(chart):
    angle = np.linspace(0, 2 * np.pi, 60)
    chart.layer("rose").holds("line", x=angle, y=1 + np.sin(3 * angle))
    assert chart.panels[0]["projection"] == "polar"


@figure("matplotlib")
def points_in_space():
    x, y = cloud(40)
    ax = plt.figure().add_subplot(projection="3d")
    ax.scatter(x, y, x * y)


@points_in_space.expects
def _(chart):
    x, y = cloud(40)
    layer = chart.layer(kind="scatter3d")
    order = np.argsort(layer["x"])
    np.testing.assert_allclose(layer["x"][order], np.sort(x))
    np.testing.assert_allclose(layer["z"][order], (x * y)[np.argsort(x)])


@figure("matplotlib")
def four_panels():
    fig, axes = plt.subplots(2, 2, figsize=(9, 7))
    axes[0, 0].plot(wave())
    axes[0, 1].bar(["a", "b", "c", "d"], counts())
    axes[1, 0].hist(spread(), bins=10)
    axes[1, 1].scatter(*cloud())
    for letter, ax in zip("ABCD", axes.flat):
        ax.set_title(f"Panel {letter}")
    fig.suptitle("Overview")
    fig.tight_layout()


@four_panels.expects
def _(chart):
    assert [panel["title"] for panel in chart.panels] == [f"Panel {c}" for c in "ABCD"]
    assert chart.model["title"] == "Overview"
    chart.layer(panel=0).holds("line", y=wave())
    chart.layer(panel=1).holds("bar", value=counts())
    chart.layer(panel=2).holds("hist", count=np.histogram(spread(), bins=10)[0])
    chart.layer(panel=3).holds("scatter", x=cloud()[0], y=cloud()[1])


@figure("matplotlib")
def panels_with_a_shared_axis():
    fig, axes = plt.subplots(3, 1, sharex=True)
    for i, ax in enumerate(axes):
        ax.plot(wave(level=i))
        ax.set_ylabel(f"y{i}")
    axes[-1].set_xlabel("step")


@panels_with_a_shared_axis.expects
def _(chart):
    for i in range(3):
        chart.layer(panel=i).holds("line", y=wave(level=i))
        assert chart.axis("y", i)["label"] == f"y{i}"
