"""Puts the guest package on the path, hooks matplotlib as a kernel does, and closes figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

for package in ("charts", "artifacts"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[4] / package / "guest"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

pytest.importorskip("matplotlib")

import matplotlib  # noqa: E402

matplotlib.use("agg")

from cellblock_charts import hook, read_figure  # noqa: E402

hook.install_provenance()


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def model() -> Callable[[Any], dict[str, Any]]:
    """Reads a figure and insists on what holds for every model."""
    def read(figure: Any, seconds: float = 60.0) -> dict[str, Any]:
        import json

        result = read_figure(figure, seconds)
        json.dumps(result, allow_nan=False)
        assert result["v"] == 1
        assert not result["warnings"], result["warnings"]
        return result
    return read
