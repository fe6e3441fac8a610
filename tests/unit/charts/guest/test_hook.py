"""The way in: the formatter in IPython, and the promises to the user's cell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from cellblock_charts import MIME, hook, read_figure

import gallery

GUEST = Path(__file__).resolve().parents[4] / "charts" / "guest"


def pixels(figure) -> bytes:
    figure.canvas.draw()
    return bytes(figure.canvas.buffer_rgba())


@pytest.mark.parametrize("name", [name for name in gallery.FIGURES if name != "long_line"])
def test_reading_changes_nothing(name):
    plain = gallery.FIGURES[name]()
    before = pixels(plain)
    read = gallery.FIGURES[name]()
    read_figure(read, 60.0)
    assert pixels(read) == before


def test_reading_again_gives_the_same():
    figure = gallery.bar_grouped()
    first = read_figure(figure, 60.0)
    figure.canvas.draw()
    assert read_figure(figure, 60.0) == first


def test_time_is_bounded_and_said():
    fig, axs = plt.subplots(2, 2)
    for ax in axs.ravel():
        for _ in range(10):
            ax.bar(np.arange(100), np.arange(100))
    model = read_figure(fig, 0.001)
    assert model["partial"] is True
    assert any("stopped after 0.001 s" in line for line in model["warnings"])


def test_size_is_bounded():
    fig, ax = plt.subplots()
    for index in range(60):
        ax.plot(np.arange(20_000), np.sin(np.arange(20_000.0) * index))
    text = json.dumps(read_figure(fig, 60.0), allow_nan=False)
    assert len(text) < 5_000_000


def test_a_broken_artist_costs_its_layer_only():
    from matplotlib.lines import Line2D

    class Broken(Line2D):
        def get_xdata(self, orig=True):
            raise RuntimeError("no data")

    fig, ax = plt.subplots()
    ax.bar(["a", "b"], [1, 2])
    ax.add_artist(Broken([0], [0]))
    model = read_figure(fig, 60.0)
    assert model["panels"][0]["layers"][0]["kind"] == "bar"
    assert any("no data" in line for line in model["warnings"])


def test_what_is_no_figure_gives_a_warning_and_no_exception():
    model = read_figure(object())
    assert model["panels"] == [] and model["warnings"]


def test_text_is_cleaned():
    fig, ax = plt.subplots()
    ax.plot([1, 2], [1, 2], label="a\x00b" + "x" * 5000)
    ax.set_title(r"$\alpha$ and $10^{2}$ and $\frac{1}{2}$")
    model = read_figure(fig, 60.0)
    panel = model["panels"][0]
    assert panel["title"] == r"α and 10^2 and $\frac{1}{2}$"
    assert len(panel["layers"][0]["label"]) <= 250 and "\x00" not in panel["layers"][0]["label"]


def test_wrappers_keep_names_signatures_and_return_values():
    import inspect

    from matplotlib.axes import Axes

    assert Axes.hist.__name__ == "hist" and "bins" in inspect.signature(Axes.hist).parameters
    fig, ax = plt.subplots()
    counts, edges, patches = ax.hist([1, 2, 2, 3], bins=3)
    assert counts.tolist() == [1, 2, 1] and len(edges) == 4 and len(patches) == 3
    with pytest.raises(TypeError):
        ax.hist()


def test_figures_still_pickle():
    import pickle

    copy = pickle.loads(pickle.dumps(gallery.hist()))
    assert read_figure(copy, 60.0)["panels"][0]["layers"][0]["kind"] == "hist"


def test_warnings_point_at_the_user(recwarn):
    fig, ax = plt.subplots()
    with pytest.warns(Warning) as caught:
        ax.contourf([[0, 1], [2, 3]], linewidths=1)
    assert caught[0].filename == __file__


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={"PYTHONPATH": str(GUEST), "MPLBACKEND": "agg", "HOME": "/tmp"},
                          timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_imports_no_library():
    assert run("import sys, cellblock_charts, cellblock_charts.hook\n"
               "print('matplotlib' in sys.modules, 'numpy' in sys.modules)") == "False False\n"


def test_wrappers_come_with_a_later_import():
    out = run("from cellblock_charts import hook, read_figure\n"
              "hook.install_provenance()\n"
              "import matplotlib.pyplot as plt\n"
              "fig, ax = plt.subplots(); ax.hist([1, 2, 2])\n"
              "print(hasattr(ax, '_cellblock_provenance'))\n"
              "import sys\n"
              "print(any('Axes' in type(f).__name__ for f in sys.meta_path))")
    assert out == "True\nFalse\n"


def test_formatter_in_ipython():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell
    from cellblock_charts import register

    shell = InteractiveShell.instance()
    try:
        register(shell)
        register(shell)  # twice is as once
        data, _ = shell.display_formatter.format(gallery.bar())
        assert data[MIME]["panels"][0]["layers"][0]["kind"] == "bar"
        assert "text/plain" in data
        assert MIME not in shell.display_formatter.format(42)[0]
        assert hook.chart_of(object())["panels"] == []
    finally:
        InteractiveShell.clear_instance()
