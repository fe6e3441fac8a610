"""Figures of several panels, and what a panel says about its axes."""

from __future__ import annotations

import matplotlib.pyplot as plt

import gallery
from checks import numbers, only_layer


def test_superchart_in_reading_order(model):
    figure = model(gallery.superchart())
    assert figure["title"] == "Multiple Charts Example"
    assert [panel["title"] for panel in figure["panels"]] == ["Sine Wave", "Scatter Plot"]
    assert figure["layout"] == {"rows": 1, "cols": 2}
    assert figure["panels"][1]["cell"] == {"row": 0, "col": 1, "rowspan": 1, "colspan": 1}


def test_shared_axes_have_labels_and_ticks(model):
    fig, axs = plt.subplots(2, 1, sharex=True)
    axs[0].plot([1, 2], [3, 4])
    axs[1].plot([1, 2], [5, 6])
    axs[1].set_xlabel("shared (m)")
    upper, lower = model(fig)["panels"]
    assert upper["x"]["label"] == "shared (m)" and upper["x"]["tick_labels"]
    assert lower["shares_x"] == ["p0"]


def test_inset(model):
    fig, ax = plt.subplots()
    ax.plot([1, 2], [3, 4])
    ax.inset_axes([0.5, 0.5, 0.4, 0.4]).plot([1, 2], [5, 6])
    outer, inner = model(fig)["panels"]
    assert inner["inset_of"] == outer["id"] and inner["layers"][0]["data"]["y"] == [5, 6]


def test_empty_panels_are_left_out(model):
    fig, axs = plt.subplots(2, 2)
    axs[0, 1].plot([1], [1], "o")
    assert len(model(fig)["panels"]) == 1
    assert model(gallery.blank())["panels"] == []


def test_offset_text_of_large_numbers(model):
    fig, ax = plt.subplots()
    ax.plot([1, 2], [1e9, 3e9])
    axis = model(fig)["panels"][0]["y"]
    assert axis["offset"] == "1e9" and axis["ticks"][0] >= 1e9


def test_long_line_keeps_its_spike(model):
    layer = only_layer(model(gallery.long_line()))
    x, y = numbers(layer["data"]["x"]), numbers(layer["data"]["y"])
    assert layer["n"] == 100_000 and layer["sampled"]["n"] == len(x) <= 10_000
    assert layer["sampled"]["method"] == "minmaxlttb"
    assert y.max() == 10 and x[y.argmax()] == 54_321
    assert x[0] == 0 and x[-1] == 99_999
