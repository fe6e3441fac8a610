"""Pies and donuts: wedges by angle, with the user's values where they are known."""

from __future__ import annotations

from typing import Any

import numpy

from .. import colour, text
from ..encode import floats
from ..reading import Reading


def read(reading: Reading) -> None:
    for note in reading.noted("pie"):
        wedges = [wedge for wedge in note["wedges"] if reading.is_free(wedge)]
        if wedges:
            reading.claim(wedges, note["texts"])
            _add(reading, wedges, _values(note["values"], wedges))
    rings: dict[tuple[float, float], list[Any]] = {}
    for wedge in list(reading.free("Wedge")):
        reading.claim(wedge)
        rings.setdefault((round(wedge.r, 9), round(wedge.width or 0.0, 9)), []).append(wedge)
    for ring in rings.values():
        _add(reading, ring, None)


def _values(given: Any, wedges: list[Any]) -> numpy.ndarray | None:
    """The values given to pie(), if they are what the wedges show."""
    try:
        values = floats(numpy.ravel(given))
    except (TypeError, ValueError):
        return None
    spans = _spans(wedges)
    if len(values) != len(wedges) or not numpy.isfinite(values).all() or values.sum() <= 0:
        return None
    ratio = values / values.sum() * spans.sum()
    return values if numpy.allclose(ratio, spans, atol=1e-2) else None


def _spans(wedges: list[Any]) -> numpy.ndarray:
    return numpy.round([wedge.theta2 - wedge.theta1 for wedge in wedges], 4)


def _add(reading: Reading, wedges: list[Any], values: numpy.ndarray | None) -> None:
    start = numpy.round([float(wedge.theta1) for wedge in wedges], 4)
    end = numpy.round([float(wedge.theta2) for wedge in wedges], 4)
    radius = numpy.array([float(wedge.r) for wedge in wedges])
    inner = numpy.array([wedge.r - wedge.width if wedge.width else 0.0 for wedge in wedges])
    labels = [text.label_of(wedge) or "" for wedge in wedges]
    tints = colour.of_rows(numpy.array([wedge.get_facecolor() for wedge in wedges]))
    centres = numpy.array([wedge.center for wedge in wedges], dtype="float64")
    middle = numpy.median(centres, axis=0) if len(wedges) > 2 else numpy.zeros(2)
    away = numpy.hypot(*(centres - middle).T)
    fractions = values / values.sum() * (_spans(wedges).sum() / 360.0) \
        if values is not None else _spans(wedges) / 360.0
    data = {"label": labels, "value": values, "frac": numpy.round(fractions, 9),
            "angle0": start, "angle1": end, "r": radius, "r_inner": inner,
            "explode": numpy.round(away, 6) if (away > 1e-9).any() else None,
            "color": [tint or "" for tint in tints]}
    layer = reading.add("pie", wedges[0], data, n=len(wedges))
    layer["label"] = None
