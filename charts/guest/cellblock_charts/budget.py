"""What reading one figure may cost: time, values, text. Past a limit the result is partial."""

from __future__ import annotations

import os
import time

DEFAULT_SECONDS = 1.5  # a guest without KVM runs Python 15 times slower than its host
MAX_PANELS = 64
MAX_LAYERS = 512
MAX_TICKS = 200
MAX_NOTES = 100
MAX_REFS = 100
MAX_CATEGORIES = 2000
MAX_STRING = 250  # characters, so never more than 1 KiB of UTF-8
LINE_POINTS = 10_000  # per layer, after downsampling
SCATTER_POINTS = 10_000
BAR_COUNT = 5_000
GRID_CELLS = 40_000
FIGURE_VALUES = 300_000  # all layers together
MIN_POINTS = 200  # what a layer gets however many there are


class OutOfTime(Exception):
    """The figure took longer to read than it may."""


def seconds_from_environment() -> float:
    try:
        value = float(os.environ.get("CELLBLOCK_CHARTS_SECONDS", ""))
    except ValueError:
        return DEFAULT_SECONDS
    return value if 0 < value < 3600 else DEFAULT_SECONDS


class Budget:
    """Counts down the time and hands out points to the layers of one figure."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds_from_environment() if seconds is None else seconds
        self._end = time.monotonic() + self.seconds
        self._share = FIGURE_VALUES
        self.layers = 0

    def expect_layers(self, count: int) -> None:
        """Divides the figure's values among so many layers."""
        self._share = FIGURE_VALUES // max(1, count)

    def points(self, limit: int, columns: int = 2) -> int:
        """How many points a layer with so many columns may keep."""
        return max(MIN_POINTS, min(limit, self._share // max(1, columns)))

    def expired(self) -> bool:
        return time.monotonic() > self._end

    def check(self) -> None:
        """Raises OutOfTime when the time is over."""
        if self.expired():
            raise OutOfTime
