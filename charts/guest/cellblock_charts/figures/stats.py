"""What the browser would compute from samples: bins, quartiles, densities."""

from __future__ import annotations

import math
from typing import Any

import numpy


def box(values: numpy.ndarray, method: str = "linear") -> dict[str, Any] | None:
    """Plotly's five numbers: quartiles at n·p + 1/2, whiskers to the last point within 1.5 IQR."""
    values = numpy.sort(values[numpy.isfinite(values)])
    if not len(values):
        return None
    if method == "linear":
        q1, median, q3 = numpy.quantile(values, [0.25, 0.5, 0.75], method="hazen")
    else:  # Tukey's hinges without ("exclusive") or with ("inclusive") the median in both halves
        half = len(values) // 2
        odd = len(values) % 2
        keep = half + (odd if method == "inclusive" else 0)
        lower, upper = values[:keep], values[len(values) - keep:]
        median = numpy.median(values)
        q1 = numpy.median(lower) if len(lower) else median
        q3 = numpy.median(upper) if len(upper) else median
    reach = 1.5 * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    low = min(float(inside.min()), q1) if len(inside) else q1
    high = max(float(inside.max()), q3) if len(inside) else q3
    outliers = values[(values < low) | (values > high)]
    return {"min": float(low), "q1": float(q1), "median": float(median), "q3": float(q3),
            "max": float(high), "mean": float(values.mean()), "outliers": outliers[:200]}


def tukey(values: numpy.ndarray) -> dict[str, Any] | None:
    """Vega's box plot: linear quartiles (R's type 7), whiskers to the last point within 1.5 IQR."""
    values = numpy.sort(values[numpy.isfinite(values)])
    if not len(values):
        return None
    q1, median, q3 = numpy.quantile(values, [0.25, 0.5, 0.75])
    reach = 1.5 * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    outliers = values[(values < q1 - reach) | (values > q3 + reach)]
    return {"min": float(inside.min()), "q1": float(q1), "median": float(median),
            "q3": float(q3), "max": float(inside.max()), "mean": float(values.mean()),
            "outliers": outliers[:200]}


def density(values: numpy.ndarray, points: int = 60) -> tuple[numpy.ndarray, numpy.ndarray]:
    """A Gaussian kernel density by Silverman's rule, over the values and two bandwidths beyond."""
    values = values[numpy.isfinite(values)]
    if len(values) > 5000:
        values = values[numpy.linspace(0, len(values) - 1, 5000).astype("int64")]
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    q1, q3 = numpy.quantile(values, [0.25, 0.75])
    width = min(spread, (q3 - q1) / 1.349) or spread
    bandwidth = 1.059 * width * len(values) ** -0.2 if width > 0 else 1.0
    coords = numpy.linspace(values.min() - 2 * bandwidth, values.max() + 2 * bandwidth, points)
    parts = numpy.exp(-0.5 * ((coords[:, None] - values[None, :]) / bandwidth) ** 2)
    return coords, parts.sum(axis=1) / (len(values) * bandwidth * math.sqrt(2 * math.pi))


def plotly_bins(values: numpy.ndarray, wanted: int | None) -> numpy.ndarray:
    """Edges as plotly.js chooses them: a round size, shifted so that points avoid the edges."""
    values = values[numpy.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    if high == low:
        return numpy.array([low - 0.5, low + 0.5])
    if wanted:
        size = (high - low) / wanted
    else:
        gaps = numpy.diff(numpy.unique(values))
        least = float(gaps.min()) if len(gaps) else 1.0
        power = 10.0 ** math.floor(math.log10(least))
        steps = [step for step in (0.9, 1.9, 4.9, 9.9) if step <= least / power]
        smallest = power * (steps[-1] if steps else 0.9)
        size = max(smallest, 2 * float(values.std()) / len(values) ** 0.4)
    power = 10.0 ** math.floor(math.log10(size))
    step = power * next((round_to for round_to in (2, 5) if round_to > size / power), 10)
    start = math.ceil((low - 0.0001 * (high - low)) / step) * step - step
    start = _shifted(start, step, values, low, high)
    count = 1 + math.floor((high - start) / step)
    return start + step * numpy.arange(min(count, 5000) + 1)


def _shifted(start: float, step: float, values: numpy.ndarray, low: float, high: float) -> float:
    def near_edge(points: numpy.ndarray) -> numpy.ndarray:
        return (1 + (points - start) * 100 / step) % 100 < 2

    if (values % 1 == 0).all():
        if step < 1:
            return low - 0.5 * step
        start -= 0.5
        return start + step if start + step < low else start
    middle = near_edge(values + step / 2).sum()
    if middle < 0.1 * len(values):
        ends = near_edge(numpy.array([low, high]))
        if near_edge(values).sum() > 0.3 * len(values) or ends.any():
            return start + (step / 2 if start + step / 2 < low else -step / 2)
    return start


def vega_bins(low: float, high: float, most: int = 10, step: float | None = None,
              nice: bool = True) -> tuple[float, float, float]:
    """Start, stop and step of Vega's `bin` transform."""
    step = _vega_step((high - low) or abs(low) or 1.0, most) if step is None else step
    start, stop = low, high
    if nice:
        digits = math.log(step)
        precision = 0 if digits >= 0 else int(-digits / math.log(10)) + 1
        epsilon = 10.0 ** (-precision - 1)
        start = math.floor(low / step + epsilon) * step
        if low < start:
            start -= step
        stop = math.ceil(high / step) * step
    return start, start + step if start == stop else stop, step


def _vega_step(span: float, most: int) -> float:
    level = math.ceil(math.log(most) / math.log(10))
    step = 10.0 ** (round(math.log(span) / math.log(10)) - level)
    while math.ceil(span / step) > most:
        step *= 10
    for divisor in (5, 2):
        if span / (step / divisor) <= most:
            step /= divisor
    return step
