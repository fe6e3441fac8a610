"""Each kind of matplotlib chart, checked against the numbers that were plotted."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import gallery
from checks import layers, ms, numbers, only_layer, same


def test_line_with_dates(model):
    figure = model(gallery.line())
    panel = figure["panels"][0]
    assert panel["title"] == "Plot of sin(x) and cos(x)"
    assert panel["x"]["scale"] == "datetime" and panel["x"]["date_only"] is True
    assert panel["x"]["label"] == "Time (s)" and panel["x"]["unit"] == "s"
    assert panel["y"]["unit"] == "Hz"
    sine, cosine = panel["layers"]
    x = np.linspace(0, 2 * np.pi, 100)
    assert (sine["kind"], sine["label"], cosine["label"]) == ("line", "sin(x)", "cos(x)")
    assert same(sine["data"]["y"], np.sin(x)) and same(cosine["data"]["y"], np.cos(x))
    assert same(sine["data"]["x"], [ms(2023, 9, 1)] * 100)


def test_dates_gaps_and_references(model):
    panel = model(gallery.dates())["panels"][0]
    (line,) = panel["layers"]
    assert same(line["data"]["x"], [ms(2024, 1, day, 12) for day in range(1, 6)])
    assert line["data"]["y"] == [1.5, 2.5, None, 2, 4]
    assert "date_only" not in panel["x"] and panel["y"]["unit"] == "°C"
    kinds = {ref["kind"]: ref for ref in panel["refs"]}
    assert kinds["hline"]["value"] == 2 and kinds["hline"]["label"] == "limit"
    assert kinds["hline"]["color"] == "#ff0000"
    assert kinds["vspan"]["lo"] == ms(2024, 1, 2, 12)
    assert kinds["vspan"]["hi"] == ms(2024, 1, 3, 12)


def test_zone_of_aware_times(model):
    import datetime

    zone = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
    when = [datetime.datetime(2024, 1, day, tzinfo=zone) for day in (1, 2, 3)]
    fig, ax = plt.subplots()
    ax.plot(when, [1, 2, 3])
    panel = model(fig)["panels"][0]
    assert panel["x"]["tz_offset_min"] == 330
    assert same(panel["layers"][0]["data"]["x"], [moment.timestamp() * 1000 for moment in when])


def test_log_scale(model):
    panel = model(gallery.log())["panels"][0]
    assert panel["y"]["scale"] == "log" and panel["y"]["base"] == 10
    x = np.linspace(0, 100, 100)
    assert np.allclose(numbers(only_layer({"panels": [panel]})["data"]["y"]), np.exp(x), rtol=1e-12)
    assert all("$" not in label for label in panel["y"]["tick_labels"])
    assert "10^" in panel["y"]["tick_labels"][1]


@pytest.mark.parametrize("scale,parameters", [
    ("symlog", {"linthresh": 2}), ("logit", {}), ("asinh", {"linear_width": 3})])
def test_other_scales(model, scale, parameters):
    fig, ax = plt.subplots()
    ax.plot([1, 2, 3], [0.1, 0.5, 0.9])
    ax.set_yscale(scale, **parameters)
    axis = model(fig)["panels"][0]["y"]
    assert axis["scale"] == scale
    if parameters:
        assert axis["linthresh"] == next(iter(parameters.values()))


def test_categories(model):
    panel = model(gallery.categorical())["panels"][0]
    assert panel["x"]["scale"] == "linear" and panel["y"]["scale"] == "categorical"
    assert panel["y"]["categories"] == list("ABCDE") and panel["y"]["strings"] is True
    assert panel["layers"][0]["data"] == {"x": [1, 2, 3, 4, 5], "y": [0, 1, 2, 3, 4]}


def test_scatter(model):
    first, second = layers(model(gallery.scatter()))
    assert first["kind"] == "scatter" and first["label"] == "Dataset 1"
    assert first["color"] == "#0000ff"
    assert same(first["data"]["x"], [1, 2, 3, 4, 5]) and same(first["data"]["y"], [2, 1, 4, 3, 5])
    assert same(second["data"]["y"], np.arange(10) ** 2)


def test_scatter_mapped_to_colour_and_size(model):
    figure = model(gallery.scatter_mapped())
    layer = only_layer(figure)  # the colour bar is no panel
    panel = figure["panels"][0]
    assert layer["data"]["c"] == [0.1, 0.5, 0.9] and layer["data"]["size"] == [20, 80, 50]
    assert panel["color"] == {"label": "Load (kN)", "cmap": "plasma", "lim": [0.1, 0.9],
                              "scale": "linear"}
    assert panel["notes"] == [{"text": "best", "at": [2, 2.5]}]


def test_markers_without_a_line_are_a_scatter(model):
    fig, ax = plt.subplots()
    ax.plot([1, 2, 3], [3, 2, 1], "o")
    assert only_layer(model(fig))["kind"] == "scatter"


def test_masked_points_are_missing(model):
    fig, ax = plt.subplots()
    ax.scatter([1, np.nan, 3], [1, 2, 3])
    ax.plot(np.ma.array([1, 2, 3], mask=[0, 1, 0]), [4, 5, 6])
    cloud, line = layers(model(fig))
    assert cloud["data"]["x"] == [1, None, 3]
    assert line["data"]["x"] == [1, None, 3]


def test_bar(model):
    figure = model(gallery.bar())
    layer = only_layer(figure)
    assert layer["kind"] == "bar" and layer["orient"] == "v" and layer["color"] == "#0000ff"
    assert layer["data"]["value"] == [100, 200, 300, 400] and layer["data"]["cat"] == [0, 1, 2, 3]
    assert figure["panels"][0]["x"]["categories"] == [f"Author {letter}" for letter in "ABCD"]


def test_equal_bars_stand_when_they_stand(model):
    """E2B takes bars of equal height for lying ones."""
    fig, ax = plt.subplots()
    ax.bar(["a", "b"], [5, 5])
    layer = only_layer(model(fig))
    assert layer["orient"] == "v" and layer["data"]["value"] == [5, 5]


def test_grouped_bars_with_errors(model):
    figure = model(gallery.bar_grouped())
    first, second = layers(figure)
    assert first["data"]["cat"] == second["data"]["cat"] == [0, 1, 2]
    assert figure["panels"][0]["x"]["categories"] == ["Oslo", "Rome", "Bonn"]
    assert same(first["data"]["err_lo"], [2.9, 3.8, 4.7])
    assert same(first["data"]["err_hi"], [3.1, 4.2, 5.3])
    assert same(second["data"]["pos"], [0.2, 1.2, 2.2]) and "err_lo" not in second["data"]
    assert "stack" not in first["data"]
    assert figure["panels"][0]["legend"]["title"] == "Year"
    assert first["series"] == {"Year": "2024"}


def test_stacked_lying_bars(model):
    first, second = layers(model(gallery.bar_stacked_lying()))
    assert first["orient"] == second["orient"] == "h"
    assert first["data"]["stack"] == second["data"]["stack"]
    assert second["data"]["base"] == [1, 2, 3] and second["data"]["value"] == [4, 5, 6]


def test_negative_stack(model):
    fig, ax = plt.subplots()
    ax.bar([0, 1], [1, -2])
    ax.bar([0, 1], [3, -4], bottom=[1, -2])
    first, second = layers(model(fig))
    assert first["data"]["stack"] == second["data"]["stack"]
    assert second["data"]["value"] == [3, -4] and second["data"]["base"] == [1, -2]


def test_bars_at_dates(model):
    import datetime

    fig, ax = plt.subplots()
    ax.bar([datetime.date(2024, 1, day) for day in (1, 2, 3)], [1, 2, 3], width=0.5)
    layer = only_layer(model(fig))
    assert layer["kind"] == "bar"
    assert same(layer["data"]["pos"], [ms(2024, 1, day) for day in (1, 2, 3)])
    assert same(layer["data"]["width"], [43_200_000] * 3)


def test_histogram(model):
    values = [1, 2, 2, 3, 3, 3, 4, 4, 5, 9]
    counts, edges = np.histogram(values, bins=4)
    layer = only_layer(model(gallery.hist()))
    assert layer["kind"] == "hist" and layer["n"] == len(values) and layer["label"] == "ages"
    assert same(layer["data"]["edges"], edges) and same(layer["data"]["count"], counts)
    assert layer["data"]["density"] is False


VALUES = np.sin(np.arange(200.0)) * 3
OTHERS = np.cos(np.arange(100.0) * 2)


@pytest.mark.parametrize("kind", ["bar", "barstacked", "step", "stepfilled"])
@pytest.mark.parametrize("orientation", ["vertical", "horizontal"])
def test_histogram_types(model, kind, orientation):
    fig, ax = plt.subplots()
    ax.hist([VALUES, OTHERS], bins=7, histtype=kind, orientation=orientation, label=["a", "b"])
    edges = np.histogram_bin_edges(np.concatenate((VALUES, OTHERS)), bins=7)
    found = {layer["label"]: layer for layer in layers(model(fig))}
    assert set(found) == {"a", "b"}
    for name, values in (("a", VALUES), ("b", OTHERS)):
        data = found[name]["data"]
        assert found[name]["kind"] == "hist"
        assert found[name]["orient"] == orientation[0]
        assert same(data["edges"], edges)
        assert same(data["count"], np.histogram(values, bins=edges)[0])
    if kind == "barstacked":
        assert same(found["b"]["data"]["base"], np.histogram(VALUES, bins=edges)[0])


def test_histogram_density_and_cumulative(model):
    fig, axs = plt.subplots(1, 2)
    axs[0].hist(VALUES, bins=5, density=True)
    axs[1].hist(VALUES, bins=5, cumulative=True, histtype="step")
    figure = model(fig)
    density, cumulative = layers(figure, 0)[0]["data"], layers(figure, 1)[0]["data"]
    assert density["density"] is True
    assert same(density["count"], np.histogram(VALUES, bins=5, density=True)[0])
    assert cumulative["cumulative"] is True
    assert same(cumulative["count"], np.histogram(VALUES, bins=5)[0].cumsum())


def test_bars_that_touch_on_whole_numbers_are_no_histogram(model):
    fig, ax = plt.subplots()
    ax.bar([0, 1, 2], [5, 3, 4], width=1)
    assert only_layer(model(fig))["kind"] == "bar"


def test_stairs(model):
    fig, ax = plt.subplots()
    ax.stairs([1, 3, 2], [0, 1, 4, 5], fill=True)
    layer = only_layer(model(fig))
    assert layer["kind"] == "hist"
    assert layer["data"]["edges"] == [0, 1, 4, 5] and layer["data"]["count"] == [1, 3, 2]


def test_pie(model):
    layer = only_layer(model(gallery.pie()))
    data = layer["data"]
    assert data["label"] == ["No", "No, in blue"] and data["value"] == [90, 10]
    assert data["frac"] == [0.9, 0.1] and data["r"] == [1, 1] and data["r_inner"] == [0, 0]
    assert data["angle0"] == [90, 414] and data["angle1"] == [414, 450]


def test_donut_of_two_rings(model):
    fig, ax = plt.subplots()
    ax.pie([1, 1], radius=1, wedgeprops={"width": 0.3}, labels=["a", "b"])
    ax.pie([1, 2, 1], radius=0.7, wedgeprops={"width": 0.3})
    outer, inner = layers(model(fig))
    assert same(outer["data"]["r_inner"], [0.7, 0.7]) and same(inner["data"]["r"], [0.7] * 3)
    assert inner["data"]["frac"] == [0.25, 0.5, 0.25]


def test_pie_with_exploded_wedge(model):
    fig, ax = plt.subplots()
    ax.pie([5, 3, 2], explode=[0, 0.1, 0])
    assert same(only_layer(model(fig))["data"]["explode"], [0, 0.1, 0])


def quartiles(values):
    q1, median, q3 = np.percentile(values, [25, 50, 75])
    reach = 1.5 * (q3 - q1)
    inside = [value for value in values if q1 - reach <= value <= q3 + reach]
    return {"q1": q1, "median": median, "q3": q3, "min": min(inside), "max": max(inside),
            "outliers": [value for value in values if value not in inside]}


@pytest.mark.parametrize("draw,orient", [(gallery.box, "v"), (gallery.box_lying, "h")])
def test_box(model, draw, orient):
    layer = only_layer(model(draw()))
    assert layer["kind"] == "box" and layer["orient"] == orient
    for index, (name, values) in enumerate(gallery.BOXES.items()):
        expected = quartiles(values)
        outliers = expected.pop("outliers")
        for key, value in expected.items():
            assert layer["data"][key][index] == pytest.approx(value), (name, key)
        assert layer["data"]["outliers"][index] == outliers
    if orient == "v":
        assert layer["data"]["label"] == list(gallery.BOXES)
        assert "mean" not in layer["data"] and "ci_lo" not in layer["data"]
    else:
        assert same(layer["data"]["mean"], [np.mean(v) for v in gallery.BOXES.values()])
        assert "ci_lo" in layer["data"]


@pytest.mark.parametrize("vert", [True, False])
@pytest.mark.parametrize("method", ["bxp", ""])
def test_box_from_lines_alone(model, vert, method):
    """A figure that was drawn before the wrappers came."""
    fig, ax = plt.subplots()
    ax.boxplot(list(gallery.BOXES.values()), vert=vert)
    if not method:
        del ax._cellblock_provenance
    layer = only_layer(model(fig))
    assert layer["kind"] == "box" and layer["orient"] == ("v" if vert else "h")
    expected = [quartiles(values) for values in gallery.BOXES.values()]
    for key in ("q1", "median", "q3", "min", "max"):
        assert same(layer["data"][key], [row[key] for row in expected])
    assert layer["data"]["outliers"] == [[], [76], []]


def test_violin(model):
    layer = only_layer(model(gallery.violin()))
    assert layer["kind"] == "violin" and layer["orient"] == "v" and layer["n"] == 2
    data = layer["data"]
    assert same(data["pos"], [1, 2])
    assert same(data["mean"], [np.mean(np.arange(20) ** 0.5), np.mean(np.arange(30) ** 0.4)])
    assert same(data["max"], [19 ** 0.5, 29 ** 0.4])
    for low, high in zip(data["half_lo"], data["half_hi"]):
        assert np.allclose(numbers(low), numbers(high))
        assert numbers(high).max() == pytest.approx(0.25)


def test_steps(model):
    post, mid = layers(model(gallery.step()))
    assert (post["kind"], post["data"]["step"]) == ("step", "post")
    assert mid["data"]["step"] == "mid" and post["data"]["y"] == [3, 1, 2, 4]


def test_band(model):
    line, band = layers(model(gallery.band()))
    x = np.arange(5.0)
    assert band["kind"] == "band" and band["label"] == "95% CI"
    assert same(band["data"]["x"], x)
    assert same(band["data"]["lo"], x - 1) and same(band["data"]["hi"], x + 1)


def test_area_with_gaps_and_sideways(model):
    fig, ax = plt.subplots()
    x = np.arange(6.0)
    ax.fill_between(x, x + 1, where=[True, True, False, False, True, True])
    ax.fill_betweenx(x, x - 2, x + 2)
    area, band = layers(model(fig))
    assert area["kind"] == "area" and area["data"]["x"] == [0, 1, None, 4, 5]
    assert area["data"]["hi"] == [1, 2, None, 5, 6] and area["data"]["lo"] == [0, 0, None, 0, 0]
    assert band["kind"] == "band" and band["orient"] == "h" and same(band["data"]["hi"], x + 2)


def test_stackplot(model):
    found = layers(model(gallery.stackplot()))
    assert [layer["label"] for layer in found] == ["a", "b", "c"]
    assert [layer["data"]["stack"]["order"] for layer in found] == [0, 1, 2]
    assert found[2]["data"]["lo"] == [3, 4, 4] and found[2]["data"]["hi"] == [4, 4, 6]
    assert found[0]["data"]["stack"]["normalize"] is False


def test_heatmap_with_labels_and_texts(model):
    figure = model(gallery.heatmap())
    panel = figure["panels"][0]
    layer = only_layer(figure)
    assert layer["kind"] == "heatmap"
    assert layer["data"]["v"] == [[1, 0.2, -0.3], [0.2, 1, 0.5], [-0.3, 0.5, 1]]
    assert layer["data"]["x_cats"] == ["u", "v", "w"] == layer["data"]["y_cats"]
    assert layer["data"]["text"][0] == ["1.0", "0.2", "-0.3"]
    assert panel["color"] == {"label": "r", "cmap": "coolwarm", "lim": [-1, 1],
                              "scale": "linear"}
    assert panel["notes"] == [] and panel["y"]["inverted"] is True


def test_image_rows_go_by_their_edges(model):
    fig, axs = plt.subplots(1, 2)
    values = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    axs[0].imshow(values, origin="upper", extent=[0, 2, 0, 3])
    axs[1].imshow(values, origin="lower", extent=[0, 2, 0, 3])
    upper, lower = layers(model(fig), 0)[0]["data"], layers(model(fig), 1)[0]["data"]
    assert upper["y_edges"] == lower["y_edges"] == [0, 1, 2, 3]
    assert upper["v"] == [[5, 6], [3, 4], [1, 2]] and lower["v"] == values.tolist()


def test_picture_is_an_image_without_data(model):
    fig, ax = plt.subplots()
    ax.imshow(np.zeros((4, 5, 3)))
    layer = only_layer(model(fig))
    assert layer["kind"] == "image" and (layer["data"]["w"], layer["data"]["h"]) == (5, 4)


def test_hist2d(model):
    layer = only_layer(model(gallery.hist2d()))
    expected, x_edges, y_edges = np.histogram2d(
        [0.1, 0.2, 0.7, 0.8, 0.9, 0.4], [0.1, 0.9, 0.8, 0.2, 0.7, 0.3], bins=[2, 3],
        range=[[0, 1], [0, 1]])
    assert layer["kind"] == "hist2d"
    assert same(layer["data"]["x_edges"], x_edges) and same(layer["data"]["y_edges"], y_edges)
    for row, values in zip(layer["data"]["v"], expected.T):
        assert same(row, values)


@pytest.mark.parametrize("method", ["pcolormesh", "pcolor"])
def test_colour_mesh(model, method):
    fig, ax = plt.subplots()
    values = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]])
    getattr(ax, method)([0, 1, 3], [10, 20, 40], values)
    found = layers(model(fig))
    assert found[0]["data"]["x_edges"] == [0, 1, 3]
    assert found[0]["data"]["y_edges"] == [10, 20, 40]
    assert found[0]["data"]["v"] == [[1, None], [3, 4]]


def test_large_grid_is_averaged(model):
    fig, ax = plt.subplots()
    values = np.arange(300.0 * 400).reshape(300, 400)
    ax.imshow(values)
    layer = only_layer(model(fig))
    rows = np.array([numbers(row) for row in layer["data"]["v"]])
    assert layer["n"] == 120_000 and layer["sampled"]["method"] == "block_mean"
    assert rows.size == layer["sampled"]["n"] <= 40_000
    assert len(numbers(layer["data"]["x_edges"])) == rows.shape[1] + 1
    assert rows.mean() == pytest.approx(values.mean(), rel=0.01)


def test_errorbar(model):
    layer = only_layer(model(gallery.errorbar()))
    assert layer["kind"] == "errorbar" and layer["label"] == "m"
    data = layer["data"]
    assert data["y"] == [1, 4, 9]
    assert same(data["y_lo"], [0.9, 3.8, 8.7]) and same(data["y_hi"], [1.4, 4.5, 9.6])
    assert same(data["x_lo"], [0.9, 1.9, 2.9]) and same(data["x_hi"], [1.1, 2.1, 3.1])


def test_stem(model):
    layer = only_layer(model(gallery.stem()))
    assert layer["kind"] == "stem" and layer["label"] == "impulses"
    assert layer["data"] == {"pos": [1, 2, 4], "value": [3, -1, 2], "base": [0.5, 0.5, 0.5]}


def test_twin_axes_are_one_panel(model):
    (panel,) = model(gallery.twin())["panels"]
    line, bars = panel["layers"]
    assert "axis" not in line and bars["axis"] == "y2"
    assert panel["y2"]["scale"] == "log" and panel["y2"]["unit"] == "mm"
    assert bars["data"]["value"] == [1, 100, 10] and line["data"]["y"] == [10, 20, 15]


def test_twin_y_uses_the_upper_axis(model):
    fig, ax = plt.subplots()
    ax.plot([1, 2], [1, 2])
    ax.twiny().plot([100, 200], [1, 2])
    (panel,) = model(fig)["panels"]
    assert panel["layers"][1]["axis"] == "x2" and panel["x2"]["lim"][1] > 190


def test_secondary_axis(model):
    fig, ax = plt.subplots()
    ax.plot([0, 10], [0, 1])
    ax.set_xlim(0, 10)
    ax.secondary_xaxis("top", functions=(lambda x: x * 2 + 1, lambda x: (x - 1) / 2)) \
        .set_xlabel("double")
    secondary = model(fig)["panels"][0]["x"]["secondary"]
    assert secondary == {"label": "double", "map": [[0, 1], [10, 21]]}


def test_hexbin(model):
    layer = only_layer(model(gallery.hexbin()))
    assert layer["kind"] == "hexbin"
    assert numbers(layer["data"]["v"]).sum() == 100
    assert layer["data"]["dx"] > 0 and layer["data"]["dy"] > 0


def test_hexbin_on_log_axes(model):
    fig, ax = plt.subplots()
    rng = np.random.default_rng(0)
    ax.hexbin(10 ** rng.uniform(0, 3, 500), 10 ** rng.uniform(0, 2, 500), gridsize=5,
              xscale="log", yscale="log")
    data = only_layer(model(fig))["data"]
    assert numbers(data["v"]).sum() == 500
    assert numbers(data["x"]).max() > 100 and numbers(data["x"]).min() > 0


def test_contours_keep_their_grid(model):
    filled, lines = layers(model(gallery.contour()))
    x, y = np.linspace(-1, 1, 7), np.linspace(-2, 2, 9)
    grid_x, grid_y = np.meshgrid(x, y)
    assert filled["kind"] == "contourf" and filled["data"]["levels"] == [0, 1, 2, 3, 4, 5]
    assert same(filled["data"]["z"]["x"], x) and same(filled["data"]["z"]["y"], y)
    for row, values in zip(filled["data"]["z"]["v"], grid_x ** 2 + grid_y ** 2):
        assert same(row, values)
    assert lines["kind"] == "contour" and lines["color"] == "#000000"
    for path in lines["data"]["paths"]:
        points = np.array(path["pts"])
        assert path["level"] in (1, 3)
        # On the line the interpolated value is the level; the grid is coarse, so only near it.
        assert np.allclose((points ** 2).sum(axis=1), path["level"], atol=0.3)


def test_quiver(model):
    data = only_layer(model(gallery.quiver()))["data"]
    assert data == {"x": [0, 1, 2], "y": [0, 1, 0], "u": [1, 0, -1], "v": [0, 1, 1]}


def test_streamplot_is_summarised(model):
    fig, ax = plt.subplots()
    y, x = np.mgrid[-1:1:10j, -1:1:10j]
    ax.streamplot(x, y, -y, x)
    layer = only_layer(model(fig))
    assert layer["kind"] == "flow" and layer["data"]["segments"] > 10


def test_polar(model):
    panel = model(gallery.polar())["panels"][0]
    assert panel["projection"] == "polar"
    assert panel["theta"] == {"zero_deg": 90, "direction": -1}
    assert same(panel["layers"][0]["data"]["x"], [0, np.pi / 2, np.pi])


def test_three_dimensions(model):
    panel = model(gallery.scatter3d())["panels"][0]
    assert panel["projection"] == "3d" and panel["z"]["unit"] == "m"
    assert panel["layers"][0]["data"] == {"x": [1, 2, 3], "y": [4, 5, 6], "z": [7, 8, 9]}


def test_surface_and_bars_in_three_dimensions(model):
    fig = plt.figure()
    ax = fig.add_subplot(projection="3d")
    x, y = np.meshgrid(np.arange(5.0), np.arange(4.0))
    ax.plot_surface(x, y, x * y)
    ax.bar3d([0, 1], [0, 1], [0, 0], 0.5, 0.5, [2, 3])
    ax.plot([1, 2], [3, 4], [5, 6])
    found = {layer["kind"]: layer for layer in layers(model(fig))}
    surface = found["surface"]["data"]
    assert np.allclose(surface["z"], x * y) and np.allclose(surface["x"], x)
    assert found["bar3d"]["data"]["dz"] == [2, 3]
    assert found["line3d"]["data"]["z"] == [5, 6]


def test_events(model):
    data = only_layer(model(gallery.events()))["data"]
    assert data["pos"] == [[1, 2, 3], [2, 3]] and data["offsets"] == [0, 1]


def test_gantt(model):
    figure = model(gallery.gantt())
    first, second = layers(figure)
    assert first["kind"] == "gantt"
    assert first["data"]["start"] == [1, 4] and first["data"]["end"] == [3, 5]
    assert figure["panels"][0]["y"]["categories"] == ["first", "second"]
    assert second["data"]["cat"] == [1]


def test_segments(model):
    fig, ax = plt.subplots()
    ax.hlines([1, 2], [0, 1], [3, 4])
    layer = only_layer(model(fig))
    assert layer["data"] == {"x": [0, 3, None, 1, 4], "y": [1, 1, None, 2, 2]}
    assert layer["style"]["segments"] is True


def test_table(model):
    data = only_layer(model(gallery.table()))["data"]
    assert data == {"columns": ["a", "b"], "rows": [["1", "2"], ["3", "4"]]}


def test_shapes_and_unknown(model):
    layer = only_layer(model(gallery.unknown()))
    assert layer["kind"] == "shape" and layer["data"]["artists"] == {"Circle": 2}
    assert layer["data"]["bbox"] == [-2, -2, 2, 2]


def test_sloped_reference_line(model):
    fig, ax = plt.subplots()
    ax.plot([0, 1], [0, 1])
    ax.axline((0, 0), slope=2)
    (ref,) = model(fig)["panels"][0]["refs"]
    assert ref["kind"] == "line" and ref["p1"] == [0, 0] and ref["p2"] == [1, 2]


def test_two_point_line_along_an_axis_is_data(model):
    """E2B drops it as a grid line."""
    fig, ax = plt.subplots()
    ax.plot([0, 1], [2, 2], label="flat")
    assert only_layer(model(fig))["label"] == "flat"
