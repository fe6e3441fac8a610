"""What a column of pandas holds, in a few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .. import budget, values
from .statistics import COUNTED, ORDERED


def statistics(series: Any, kind: str) -> dict[str, Any]:
    """nulls over all rows, and of plain numbers the extremes; the rest over all or, past
    budget.STATISTICS_ROWS, over a sample."""
    missing = series.isna().to_numpy(dtype=bool)
    found: dict[str, Any] = {"nulls": int(missing.sum())}
    present = series[~missing] if found["nulls"] else series
    if len(present) == 0:
        return found
    sample = _sample(present, budget.STATISTICS_ROWS, found)
    if isinstance(sample.dtype, pd.SparseDtype):
        sample = present = sample.sparse.to_dense()
    if kind in ORDERED:
        numbers = _as_numbers(present)
        if numbers is None:
            found["min"] = values.cell(sample.min())
            found["max"] = values.cell(sample.max())
        else:
            found["min"] = values.cell(present.iloc[int(numbers.argmin())])
            found["max"] = values.cell(present.iloc[int(numbers.argmax())])
    if kind in ("integer", "floating"):
        numbers = sample.astype("float64")
        _put_number(found, "mean", numbers.mean())
        _put_number(found, "std", numbers.std())
    if kind in COUNTED:
        _count(_sample(sample, budget.FREQUENCY_ROWS, found), found)
    return found


def _as_numbers(series: Any) -> Any:
    """The values as a numpy array with their order, without a copy; None when there is none."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iuf":
        return series.to_numpy()
    return getattr(series.array, "asi8", None)  # dates and durations


def _sample(series: Any, rows: int, found: dict[str, Any]) -> Any:
    if len(series) <= rows:
        return series
    found["exact"] = False
    return series.iloc[:: len(series) // rows + 1]


def _put_number(found: dict[str, Any], name: str, number: Any) -> None:
    number = values.scalar(float(number))
    if type(number) is float:
        found[name] = number


def _count(sample: Any, found: dict[str, Any]) -> None:
    counts = sample.value_counts()
    if found.get("exact", True):
        found["distinct"] = int((counts > 0).sum())
    # All different: then the first few say nothing.
    if len(counts) and int(counts.iloc[0]) > 1:
        top = counts.iloc[: budget.TOP_VALUES]
        found["top"] = [
            [values.cell(value), int(count)]
            for value, count in zip(top.index, top, strict=True)
            if count > 0
        ]
