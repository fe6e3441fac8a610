"""Values mapped to colours: the scale that a heat map, a scatter's `c` or a contour goes by."""

from __future__ import annotations

from typing import Any

import numpy

from . import text
from .encode import floats, number
from .reading import Reading

_NORMS = {"LogNorm": "log", "SymLogNorm": "symlog", "AsinhNorm": "asinh",
          "PowerNorm": "power", "BoundaryNorm": "levels", "TwoSlopeNorm": "two_slope",
          "CenteredNorm": "linear", "Normalize": "linear", "NoNorm": "linear"}


def note(reading: Reading, mappable: Any) -> None:
    """The panel's colour scale is that of its first mapped layer; one with a bar goes before."""
    bar = getattr(mappable, "colorbar", None)
    if reading.color is not None and (bar is None or reading.color.get("_bar")):
        return
    model = describe(mappable)
    model["_bar"] = bar is not None
    reading.color = model


def describe(mappable: Any) -> dict[str, Any]:
    norm = mappable.norm
    low, high = norm.vmin, norm.vmax
    if low is None or high is None:  # set at the first drawing: the data's own range
        values = floats(numpy.ravel(mappable.get_array()))
        values = values[numpy.isfinite(values)]
        if len(values):
            low = values.min() if low is None else low
            high = values.max() if high is None else high
    model: dict[str, Any] = {
        "label": _bar_label(mappable), "cmap": text.clean(mappable.get_cmap().name),
        "lim": [number(low), number(high)],
        "scale": _NORMS.get(type(norm).__name__, "unknown")}
    boundaries = getattr(norm, "boundaries", None)
    if boundaries is not None and len(boundaries) <= 256:
        model["levels"] = [number(value) for value in boundaries]
    return model


def _bar_label(mappable: Any) -> str | None:
    bar = getattr(mappable, "colorbar", None)
    ax = getattr(bar, "ax", None)
    if ax is None:
        return None
    return text.or_none(ax.get_ylabel()) or text.or_none(ax.get_xlabel()) \
        or text.or_none(ax.get_title())
