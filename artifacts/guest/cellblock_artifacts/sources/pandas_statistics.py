"""What a column of pandas holds, in a few numbers."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .. import budget, values
from .statistics import COUNTED, ORDERED


def statistics(series: Any, kind: str) -> dict[str, Any]:
    """nulls over all rows; the rest over all or, past budget.STATISTICS_ROWS, over a sample."""
    found: dict[str, Any] = {"nulls": int(series.isna().sum())}
    sample = series
    if len(series) > budget.STATISTICS_ROWS:
        sample = series.iloc[:: len(series) // budget.STATISTICS_ROWS + 1]
        found["exact"] = False
    sample = sample[sample.notna().to_numpy(dtype=bool)]
    if isinstance(sample.dtype, pd.SparseDtype):
        sample = sample.sparse.to_dense()
    if len(sample) == 0:
        return found
    if kind in ORDERED:
        found["min"] = values.cell(sample.min())
        found["max"] = values.cell(sample.max())
    if kind in ("integer", "floating"):
        numbers = sample.astype("float64")
        _put_number(found, "mean", numbers.mean())
        _put_number(found, "std", numbers.std())
    if kind in COUNTED:
        _count(sample, found)
    return found


def _put_number(found: dict[str, Any], name: str, number: Any) -> None:
    number = values.scalar(float(number))
    if type(number) is float:
        found[name] = number


def _count(sample: Any, found: dict[str, Any]) -> None:
    if len(sample) > budget.FREQUENCY_ROWS:
        sample = sample.iloc[:: len(sample) // budget.FREQUENCY_ROWS + 1]
        found["exact"] = False
    counts = sample.value_counts()
    if found.get("exact", True):
        found["distinct"] = int((counts > 0).sum())
    # All different: then the first few say nothing.
    if len(counts) and int(counts.iloc[0]) > 1:
        top = counts.iloc[: budget.TOP_VALUES]
        found["top"] = [[values.cell(value), int(count)]
                        for value, count in zip(top.index, top, strict=True) if count > 0]
