"""Chart capture for Cellblock: reads the figures that a cell shows, as data.

`register(ip)` adds one display formatter to IPython: every shown matplotlib figure then carries its
chart model under MIME, beside the picture. The reader looks at the figure that the user drew; it
does not draw it again, does not change it, never raises into the cell and stops after a set time.

Importing this package imports neither matplotlib nor numpy.
"""

from __future__ import annotations

from typing import Any

MIME = "application/vnd.cellblock.chart+json"
MODEL_VERSION = 1

__all__ = ["MIME", "MODEL_VERSION", "read_figure", "register"]


def register(ip: Any) -> None:
    """Adds the chart formatter to an IPython shell and the provenance hooks to matplotlib."""
    from . import hook

    hook.register(ip)


def read_figure(figure: Any, seconds: float | None = None) -> dict[str, Any]:
    """The chart model of a matplotlib figure: plain JSON values, and never an exception."""
    from . import figure as reader

    return reader.read(figure, seconds)
