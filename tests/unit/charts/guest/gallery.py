"""Figures that the chart tests share: one function for each kind, small and without randomness.

tests/data/charts/generate.py writes their models for the C++ tests; the tests beside this file
check the models against the numbers that were plotted.
"""

from __future__ import annotations

import datetime
from typing import Any, Callable

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

Drawer = Callable[[], Any]
FIGURES: dict[str, Drawer] = {}


def figure(function: Drawer) -> Drawer:
    FIGURES[function.__name__] = function
    return function


@figure
def line() -> Any:
    """E2B's line chart: dates (all the same day, by E2B's own mistake) against two curves."""
    dates = [datetime.date(2023, 9, 1) + datetime.timedelta(seconds=i) for i in range(100)]
    x = np.linspace(0, 2 * np.pi, 100)
    fig = plt.figure(figsize=(10, 6))
    plt.plot(dates, np.sin(x), label="sin(x)")
    plt.plot(dates, np.cos(x), label="cos(x)")
    plt.xlabel("Time (s)")
    plt.ylabel("Amplitude (Hz)")
    plt.title("Plot of sin(x) and cos(x)")
    return fig


@figure
def log() -> Any:
    x = np.linspace(0, 100, 100)
    fig = plt.figure(figsize=(10, 6))
    plt.plot(x, np.exp(x), label="y = e^x")
    plt.yscale("log")
    plt.xlabel("X-axis")
    plt.ylabel("Y-axis (log scale)")
    plt.title("Chart with Log Scale on Y-axis")
    plt.legend()
    plt.grid(True)
    return fig


@figure
def categorical() -> Any:
    fig = plt.figure(figsize=(10, 6))
    plt.plot([1, 2, 3, 4, 5], ["A", "B", "C", "D", "E"])
    return fig


@figure
def dates() -> Any:
    when = [datetime.datetime(2024, 1, 1, 12) + datetime.timedelta(days=i) for i in range(5)]
    fig, ax = plt.subplots()
    ax.plot(when, [1.5, 2.5, float("nan"), 2.0, 4.0], label="temp", marker="o")
    ax.axhline(2.0, color="red", linestyle="--", label="limit")
    ax.axvspan(when[1], when[2], alpha=0.3)
    ax.set_ylabel("T [°C]")
    ax.legend()
    return fig


@figure
def scatter() -> Any:
    fig = plt.figure()
    plt.xlabel("A")
    plt.ylabel("B")
    plt.scatter([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], c="blue", label="Dataset 1")
    plt.scatter(np.arange(10), np.arange(10) ** 2, c="red", label="Dataset 2")
    return fig


@figure
def scatter_mapped() -> Any:
    fig, ax = plt.subplots()
    points = ax.scatter([1, 2, 3], [3, 2.5, 1], c=[0.1, 0.5, 0.9], s=[20, 80, 50], cmap="plasma")
    fig.colorbar(points, label="Load (kN)")
    ax.annotate("best", xy=(2, 2.5), xytext=(2.2, 2.8), arrowprops={"arrowstyle": "->"})
    return fig


@figure
def bar() -> Any:
    fig = plt.figure(figsize=(10, 6))
    plt.bar(["Author A", "Author B", "Author C", "Author D"], [100, 200, 300, 400],
            label="Books Sold", color="blue")
    plt.xlabel("Authors")
    plt.ylabel("Number of Books Sold")
    plt.title("Book Sales by Authors")
    plt.tight_layout()
    return fig


@figure
def bar_grouped() -> Any:
    fig, ax = plt.subplots()
    places = np.arange(3)
    ax.bar(places - 0.2, [3, 4, 5], 0.4, label="2024", yerr=[0.1, 0.2, 0.3], capsize=3)
    ax.bar(places + 0.2, [2, 6, 1], 0.4, label="2025")
    ax.set_xticks(places)
    ax.set_xticklabels(["Oslo", "Rome", "Bonn"])
    ax.set_ylabel("Income (EUR)")
    ax.legend(title="Year")
    return fig


@figure
def bar_stacked_lying() -> Any:
    fig, ax = plt.subplots()
    ax.barh(["x", "y", "z"], [1, 2, 3], label="a")
    ax.barh(["x", "y", "z"], [4, 5, 6], left=[1, 2, 3], label="b")
    ax.set_xlabel("Mass (kg)")
    ax.set_ylabel("Thing")
    ax.legend()
    return fig


@figure
def hist() -> Any:
    fig, ax = plt.subplots()
    ax.hist([1, 2, 2, 3, 3, 3, 4, 4, 5, 9], bins=4, label="ages")
    ax.set_xlabel("Age (years)")
    return fig


@figure
def pie() -> Any:
    fig, ax = plt.subplots(figsize=(8, 8))
    plt.xlabel("x")
    plt.ylabel("y")
    ax.pie([90, 10], labels=["No", "No, in blue"], autopct="%1.1f%%", startangle=90)
    ax.axis("equal")
    plt.title("Will I wake up early tomorrow?")
    return fig


BOXES = {"Class A": [85, 90, 78, 92, 88], "Class B": [95, 89, 76, 91, 84, 87],
         "Class C": [75, 82, 88, 79, 86]}


@figure
def box() -> Any:
    fig, ax = plt.subplots(figsize=(10, 6))
    ax.set_title("Exam Scores Distribution")
    ax.set_xlabel("Class")
    ax.set_ylabel("Score")
    ax.boxplot(list(BOXES.values()), patch_artist=True)
    ax.set_xticklabels(list(BOXES))
    plt.tight_layout()
    return fig


@figure
def box_lying() -> Any:
    fig, ax = plt.subplots()
    ax.boxplot(list(BOXES.values()), vert=False, notch=True, showmeans=True)
    ax.set_xlabel("Score")
    return fig


@figure
def violin() -> Any:
    fig, ax = plt.subplots()
    ax.violinplot([list(np.arange(20) ** 0.5), list(np.arange(30) ** 0.4)], showmeans=True)
    return fig


@figure
def superchart() -> Any:
    x = np.linspace(0, 10, 100)
    fig, axs = plt.subplots(1, 2, figsize=(10, 8))
    fig.suptitle("Multiple Charts Example", fontsize=16)
    axs[0].plot(x, np.sin(x), "r")
    axs[0].set_title("Sine Wave")
    axs[0].grid(True)
    axs[1].scatter([1, 2, 3, 4, 5], [5, 4, 3, 2, 1], c="blue", label="Dataset 1")
    axs[1].set_xlabel("X")
    axs[1].set_ylabel("Y")
    axs[1].set_title("Scatter Plot")
    axs[1].grid(True)
    return fig


@figure
def unknown() -> Any:
    fig, ax = plt.subplots()
    ax.add_artist(plt.Circle((0, 0), 1, color="blue", fill=False, linewidth=2))
    ax.add_artist(plt.Circle((0, 0), 2, color="red", fill=False, linewidth=2))
    ax.grid(True)
    plt.title("Two Concentric Circles")
    return fig


@figure
def blank() -> Any:
    fig, _ = plt.subplots()
    return fig


@figure
def step() -> Any:
    fig, ax = plt.subplots()
    ax.step([0, 1, 2, 3], [3, 1, 2, 4], where="post", label="post")
    ax.plot([0, 1, 2, 3], [1, 2, 3, 2], drawstyle="steps-mid", label="mid")
    return fig


@figure
def band() -> Any:
    fig, ax = plt.subplots()
    x = np.arange(5.0)
    ax.plot(x, x, label="mean")
    ax.fill_between(x, x - 1, x + 1, alpha=0.3, label="95% CI")
    return fig


@figure
def stackplot() -> Any:
    fig, ax = plt.subplots()
    ax.stackplot([1, 2, 3], [1, 2, 1], [2, 2, 3], [1, 0, 2], labels=["a", "b", "c"])
    ax.legend(loc="upper left")
    return fig


@figure
def heatmap() -> Any:
    fig, ax = plt.subplots()
    values = np.array([[1.0, 0.2, -0.3], [0.2, 1.0, 0.5], [-0.3, 0.5, 1.0]])
    image = ax.imshow(values, cmap="coolwarm", vmin=-1, vmax=1)
    ax.set_xticks(range(3))
    ax.set_xticklabels(["u", "v", "w"])
    ax.set_yticks(range(3))
    ax.set_yticklabels(["u", "v", "w"])
    for row in range(3):
        for column in range(3):
            ax.text(column, row, f"{values[row, column]:.1f}", ha="center")
    fig.colorbar(image, label="r")
    return fig


@figure
def hist2d() -> Any:
    fig, ax = plt.subplots()
    ax.hist2d([0.1, 0.2, 0.7, 0.8, 0.9, 0.4], [0.1, 0.9, 0.8, 0.2, 0.7, 0.3], bins=[2, 3],
              range=[[0, 1], [0, 1]])
    return fig


@figure
def errorbar() -> Any:
    fig, ax = plt.subplots()
    ax.errorbar([1, 2, 3], [1.0, 4.0, 9.0], yerr=[[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], xerr=0.1,
                fmt="o-", capsize=4, label="m")
    ax.legend()
    return fig


@figure
def stem() -> Any:
    fig, ax = plt.subplots()
    ax.stem([1, 2, 4], [3, -1, 2], bottom=0.5, label="impulses")
    return fig


@figure
def twin() -> Any:
    fig, ax = plt.subplots()
    ax.plot([1, 2, 3], [10, 20, 15], label="temperature")
    ax.set_xlabel("Day")
    ax.set_ylabel("T (°C)")
    other = ax.twinx()
    other.bar([1, 2, 3], [1, 100, 10], alpha=0.3, label="rain")
    other.set_yscale("log")
    other.set_ylabel("Rain (mm)")
    return fig


@figure
def hexbin() -> Any:
    fig, ax = plt.subplots()
    x = np.repeat(np.arange(10), 10) / 10
    y = np.tile(np.arange(10), 10) / 10
    ax.hexbin(x, y, gridsize=4)
    return fig


@figure
def contour() -> Any:
    fig, ax = plt.subplots()
    x, y = np.meshgrid(np.linspace(-1, 1, 7), np.linspace(-2, 2, 9))
    filled = ax.contourf(x, y, x ** 2 + y ** 2, levels=[0, 1, 2, 3, 4, 5])
    ax.contour(x, y, x ** 2 + y ** 2, levels=[1, 3], colors="black")
    fig.colorbar(filled)
    return fig


@figure
def quiver() -> Any:
    fig, ax = plt.subplots()
    ax.quiver([0, 1, 2], [0, 1, 0], [1, 0, -1], [0, 1, 1])
    return fig


@figure
def polar() -> Any:
    fig, ax = plt.subplots(subplot_kw={"projection": "polar"})
    ax.set_theta_zero_location("N")
    ax.set_theta_direction(-1)
    ax.plot([0, np.pi / 2, np.pi], [1, 2, 3], label="r")
    return fig


@figure
def scatter3d() -> Any:
    fig = plt.figure()
    ax = fig.add_subplot(projection="3d")
    ax.scatter([1, 2, 3], [4, 5, 6], [7, 8, 9])
    ax.set_zlabel("height (m)")
    return fig


@figure
def events() -> Any:
    fig, ax = plt.subplots()
    ax.eventplot([[1, 2, 3], [2, 3]], lineoffsets=[0, 1])
    return fig


@figure
def gantt() -> Any:
    fig, ax = plt.subplots()
    ax.broken_barh([(1, 2), (4, 1)], (10, 5))
    ax.broken_barh([(2, 3)], (20, 5))
    ax.set_yticks([12.5, 22.5])
    ax.set_yticklabels(["first", "second"])
    return fig


@figure
def table() -> Any:
    fig, ax = plt.subplots()
    ax.axis("off")
    ax.table(cellText=[["1", "2"], ["3", "4"]], colLabels=["a", "b"], loc="center")
    return fig


@figure
def long_line() -> Any:
    fig, ax = plt.subplots()
    x = np.arange(100_000)
    y = np.sin(x / 5000.0)
    y[54_321] = 10.0
    ax.plot(x, y, label="signal")
    return fig
