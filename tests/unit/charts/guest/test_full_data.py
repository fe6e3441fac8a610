"""What a chart leaves out goes along as a table: which rows, of which layers, and when not."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pytest
from cellblock_artifacts import budget, storage
from cellblock_charts import full_data, read_figure
from cellblock_charts.figures import plotly


@pytest.fixture(autouse=True)
def gateway_cell(monkeypatch, tmp_path):
    """A cell that a gateway runs, with a folder for files."""
    import IPython

    plt.close(plt.figure())  # matplotlib hooks itself into a real shell, or into none
    shell = SimpleNamespace(kernel=SimpleNamespace(cellblock_execution_id="e1"))
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    monkeypatch.setattr(storage, "FOLDER", str(tmp_path))
    # A busy machine is no reason to leave something out.
    for name in ("TABLE_SECONDS", "CELL_SECONDS", "STATISTICS_SECONDS"):
        monkeypatch.setattr(budget, name, 120.0)
    budget.cell_time.renew()
    return shell


def table_of(model: dict[str, Any]) -> pa.Table:
    json.dumps(model, allow_nan=False)
    assert not model["warnings"], model["warnings"]
    data = model["full_data"]["data"]
    assert data["format"] == "arrow"
    content = base64.b64decode(data["base64"]) if "base64" in data \
        else Path(data["path"]).read_bytes()
    table = pa.ipc.open_file(pa.BufferReader(content)).read_all()
    assert table.num_rows == data["rows"] == model["full_data"]["rows_total"]
    return table


def test_all_points_of_a_long_line_are_kept_in_their_order():
    fig, ax = plt.subplots()
    y = np.sin(np.arange(300_000) / 1000)
    ax.plot(np.arange(300_000), y, label="wave")
    ax.plot([0, 300_000], [0, 0], label="short")
    model = read_figure(fig, 60.0)
    assert model["panels"][0]["layers"][0]["sampled"]["n"] <= 10_000
    table = table_of(model)
    assert table.column_names == ["layer", "x", "y"]
    assert set(table["layer"].to_pylist()) == {"wave"} == set(model["full_data"]["layers"])
    assert (table["x"].to_numpy() == np.arange(300_000)).all()
    assert (table["y"].to_numpy() == y).all()


def test_layers_share_a_table_and_each_has_its_name_and_columns():
    fig, (left, right) = plt.subplots(1, 2)
    rng = np.random.default_rng(1)
    points = rng.normal(size=(2, 20_000))
    left.scatter(*points, c=points[0], s=np.abs(points[1]) + 1, label="a")
    right.plot(np.arange(15_000), points[0, :15_000], label="a")
    right.plot(np.arange(15_000), points[1, :15_000])
    table = table_of(read_figure(fig, 60.0)).to_pandas()
    assert table["layer"].value_counts(sort=False).to_dict() == {
        "a": 20_000, "a (l1)": 15_000, "l2": 15_000}
    cloud = table[table["layer"] == "a"]
    assert (cloud["size"].to_numpy() == np.abs(points[1]) + 1).all()
    assert (cloud["c"].to_numpy() == points[0]).all()
    assert table[table["layer"] == "l2"]["c"].isna().all()


def test_times_are_times():
    import pandas as pd

    fig, ax = plt.subplots()
    when = pd.date_range("2024-01-01", periods=20_000, freq="min")
    ax.plot(when, np.arange(20_000.0))
    table = table_of(read_figure(fig, 60.0))
    assert table.schema.field("x").type == pa.timestamp("us")
    assert (table["x"].to_pandas() == when).all()


def test_a_cloud_in_the_colours_of_a_legend_is_kept_by_series():
    from matplotlib.lines import Line2D

    fig, ax = plt.subplots()
    x = np.arange(30_000.0)
    ax.scatter(x, x % 7, c=np.where(x % 3 == 0, "#ff0000", "#0000ff"))
    ax.legend(handles=[Line2D([], [], marker="o", ls="", color=tint, label=name)
                       for name, tint in (("three", "#ff0000"), ("rest", "#0000ff"))])
    table = table_of(read_figure(fig, 60.0)).to_pandas()
    assert (table[table["layer"] == "three"]["x"].to_numpy() == x[::3]).all()
    assert (table["layer"] == "rest").sum() == 20_000


def test_cells_bars_bins_bands_and_segments_are_rows():
    fig, axs = plt.subplots(3, 2)
    grid = np.arange(300 * 400.0).reshape(300, 400)
    axs[0, 0].imshow(grid, extent=(0, 400, 300, 0))
    axs[0, 1].bar(np.arange(6000), np.arange(6000.0), label="bars")
    axs[1, 0].hist(np.arange(7000.0), bins=7000, label="hist")
    axs[1, 1].fill_between(np.arange(50_000), 1, np.arange(50_000) + 2.0, label="band")
    axs[2, 0].hlines(np.arange(9000), 0, np.arange(9000), label="segments")
    model = read_figure(fig, 60.0)
    table = table_of(model).to_pandas()
    layers = [layer for panel in model["panels"] for layer in panel["layers"]]
    assert all(layer["sampled"] for layer in layers) and len(layers) == 5
    cells = table[table["layer"] == "l0"]
    assert (cells["v"].to_numpy() == grid.ravel()).all()
    assert cells[["x", "y"]].iloc[401].tolist() == [1.5, 1.5]
    assert (table[table["layer"] == "bars"]["value"].to_numpy() == np.arange(6000)).all()
    assert table[table["layer"] == "hist"]["count"].sum() == 7000
    band = table[table["layer"] == "band"]
    assert (band["hi"].to_numpy() == np.arange(50_000) + 2.0).all() and (band["lo"] == 1).all()
    segments = table[table["layer"] == "segments"]
    assert segments["y"].notna().sum() == 18_000


def test_traces_of_plotly_are_kept_too():
    x = np.arange(40_000.0)
    model = plotly.read({"data": [{"type": "scatter", "mode": "lines", "name": "t",
                                   "x": x.tolist(), "y": (x * 2).tolist()}], "layout": {}}, 60.0)
    table = table_of(model)
    assert model["full_data"]["library"] == "plotly"
    assert (table["y"].to_numpy() == x * 2).all()


def test_a_chart_that_holds_everything_has_no_other_data(tmp_path):
    fig, ax = plt.subplots()
    ax.plot(np.arange(5000), np.arange(5000))
    assert "full_data" not in read_figure(fig, 60.0)
    assert list(tmp_path.iterdir()) == []


def test_a_plain_notebook_keeps_nothing(gateway_cell, tmp_path):
    gateway_cell.kernel.cellblock_execution_id = None
    fig, ax = plt.subplots()
    ax.plot(np.arange(50_000), np.arange(50_000))
    model = read_figure(fig, 60.0)
    assert "full_data" not in model and not model["warnings"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", ["rows", "room", "time"])
def test_past_the_limits_it_is_left_out_and_said(limit, tmp_path, monkeypatch):
    if limit == "rows":
        monkeypatch.setattr(full_data, "MAX_ROWS", 10_000)
    elif limit == "room":
        monkeypatch.setattr(budget, "FILE_MAX_BYTES", 100_000)
    else:
        monkeypatch.setattr(budget, "TABLE_SECONDS", 0.0)
    fig, ax = plt.subplots()
    ax.plot(np.arange(200_000), np.arange(200_000))
    model = read_figure(fig, 60.0)
    assert "full_data" not in model and model["panels"][0]["layers"]
    (warning,) = model["warnings"]
    assert warning.startswith("the full data of the layers that were sampled is not kept: ")
    assert list(tmp_path.iterdir()) == []
