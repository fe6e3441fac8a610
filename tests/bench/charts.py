#!/usr/bin/env python3
"""What reading a figure as data costs, against drawing that figure, in the same guest.

    python3 tests/bench/charts.py [--runs 5]

Prints medians and ratios; asserts nothing, because speed depends on the machine. "read" is the
chart model as a notebook would have it; "with data" is the same in a gateway's execution, which
also keeps the full data of layers that were sampled. Needs build/cellblock and a template, and
Python with requests.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from support.gateway import Gateway  # noqa: E402

FIGURES = """
import numpy as np
import matplotlib.pyplot as plt

def line(count):
    fig, ax = plt.subplots()
    ax.plot(np.arange(count), np.sin(np.arange(count) / count * 50), label="wave")
    ax.legend()
    return fig

def scatter(count):
    fig, ax = plt.subplots()
    points = np.random.default_rng(1).normal(size=(2, count))
    ax.scatter(*points, c=points[0])
    return fig

def bars(count):
    fig, axs = plt.subplots(2, 2)
    for number, ax in enumerate(axs.ravel()):
        ax.bar([f"b{i}" for i in range(count)], np.arange(count) + number)
        ax.set_title(f"panel {number}")
    return fig

def heatmap(size):
    fig, ax = plt.subplots()
    fig.colorbar(ax.imshow(np.random.default_rng(1).random((size, size))))
    return fig
"""

MEASURE = """
import io, json, os, statistics, time
from cellblock_artifacts import budget
from cellblock_charts import read_figure

def draw(figure):
    figure.savefig(io.BytesIO(), format="png")

def read(figure):
    kernel, kernel.cellblock_execution_id = get_ipython().kernel, None
    try:
        return read_figure(figure, 600.0)
    finally:
        kernel.cellblock_execution_id = execution

def read_with_data(figure):
    budget.cell_time.renew()
    return read_figure(figure, 600.0)

execution = get_ipython().kernel.cellblock_execution_id
times = {"draw": [], "read": [], "read_with_data": []}
rows = 0
for run in range(RUNS + 1):
    for name, work in (("draw", draw), ("read", read), ("read_with_data", read_with_data)):
        figure = FIGURE
        started = time.perf_counter()
        result = work(figure)
        if run > 0:  # the first warms up
            times[name].append(time.perf_counter() - started)
        plt.close(figure)
    data = result.get("full_data", {}).get("data") or {}
    rows = data.get("rows", 0)
    if "path" in data:
        os.unlink(data["path"])
print(json.dumps({**{name: statistics.median(found) for name, found in times.items()},
                  "rows": rows, "warnings": result["warnings"]}))
"""

TYPICAL = {
    "line, 1e3 points": "line(1_000)",
    "line, 1e5 points": "line(100_000)",
    "line, 1e6 points": "line(1_000_000)",
    "scatter, 1e5 points": "scatter(100_000)",
    "4 subplots of 12 bars": "bars(12)",
    "heatmap, 500 × 500": "heatmap(500)",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    gateway = Gateway("--pool-size", "0")
    try:
        sandbox = gateway.create_sandbox(timeout=3600, memoryMB=2048)
        assert gateway.execute(FIGURES, sandbox=sandbox).error is None
        print(
            "figure                      drawn    read   of drawing  with data  of drawing   rows"
        )
        print("                                s       s                       s")
        for name, figure in TYPICAL.items():
            code = MEASURE.replace("RUNS", str(arguments.runs)).replace("FIGURE", figure)
            run = gateway.execute(code, sandbox=sandbox)
            assert run.error is None, run.error
            found = json.loads(run.stdout)
            drawn, read, kept = found["draw"], found["read"], found["read_with_data"]
            print(
                f"{name:24} {drawn:8.3f} {read:7.3f} {read / drawn:11.2f}x {kept:9.3f} "
                f"{kept / drawn:10.2f}x {found['rows']:7}  {'; '.join(found['warnings'])}",
                flush=True,
            )
    finally:
        gateway.remove()


if __name__ == "__main__":
    main()
