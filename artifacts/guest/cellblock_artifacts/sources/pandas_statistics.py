"""What a column of pandas holds, in a few numbers.

Columns that numpy holds (numbers, times, the codes of categories) are summed up by numpy, texts by
Arrow: several times quicker than pandas' own methods, which matters where the CPU is emulated.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from .. import budget, values
from .statistics import COUNTED, ORDERED


def is_quick(series: Any) -> bool:
    """Whether numpy holds the column, so that summing it up costs next to nothing."""
    return isinstance(series.dtype, pd.CategoricalDtype) or _as_numbers(series) is not None


def statistics(series: Any, kind: str, nulls: int | None) -> dict[str, Any]:
    """nulls over all rows (given when they have been counted already), and of plain numbers the
    extremes; the rest over all or, past budget.STATISTICS_ROWS, over a sample."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return _of_categories(series, nulls)
    numbers = _as_numbers(series)
    if numbers is not None:
        return _of_numbers(series, numbers, kind, nulls)
    found = _of_texts(series, nulls) if kind == "text" else None
    return _of_others(series, kind, nulls) if found is None else found


def _as_numbers(series: Any) -> Any:
    """The values as a numpy array with their order, without a copy; None when there is none."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind in "biuf":
            return series.to_numpy()
    elif not isinstance(dtype, pd.DatetimeTZDtype):
        return None
    return series.array.asi8 if dtype.kind in "mM" else None


def _of_numbers(series: Any, numbers: Any, kind: str, nulls: int | None) -> dict[str, Any]:
    missing = None
    if nulls != 0 and series.dtype.kind in "fmM":
        missing = np.isnan(numbers) if series.dtype.kind == "f" else numbers == pd.NaT._value
        nulls = int(np.count_nonzero(missing))
    found: dict[str, Any] = {"nulls": nulls or 0}
    if nulls:
        numbers = numbers[~missing]
    if len(numbers) == 0:
        return found
    if kind in ORDERED:
        found["min"] = _cell(series, numbers.min())
        found["max"] = _cell(series, numbers.max())
    if kind in ("integer", "floating"):
        _moments(_sample(numbers, budget.STATISTICS_ROWS, found), found)
    if kind in COUNTED:
        rows = budget.STATISTICS_ROWS
        rows = rows if len(numbers) <= rows else budget.FREQUENCY_ROWS
        _top(found, *_counted(_sample(numbers, rows, found)))
    return found


def _cell(series: Any, number: Any) -> Any:
    """One of a column's values, from its place in the array of numbers."""
    dtype = series.dtype
    if dtype.kind not in "mM":
        return values.cell(number)
    unit = getattr(series.array, "unit", "ns")
    if dtype.kind == "m":
        return values.cell(pd.Timedelta(int(number), unit=unit))
    zone = getattr(dtype, "tz", None)
    moment = pd.Timestamp(int(number), unit=unit, tz=None if zone is None else "UTC")
    return values.cell(moment if zone is None else moment.tz_convert(zone))


def _moments(numbers: Any, found: dict[str, Any]) -> None:
    with np.errstate(all="ignore"):
        numbers = numbers.astype("float64", copy=False)
        mean = float(numbers.mean())
        away = numbers - mean
        squares = float(np.dot(away, away))
    if math.isfinite(mean):
        found["mean"] = mean
        if len(numbers) > 1 and math.isfinite(squares):
            found["std"] = math.sqrt(squares / (len(numbers) - 1))


def _counted(numbers: Any) -> tuple[Any, Any]:
    """The different values and how often each comes."""
    if numbers.dtype.kind == "b":
        ones = int(np.count_nonzero(numbers))
        counts = np.array([len(numbers) - ones, ones])
        return np.array([False, True])[counts > 0], counts[counts > 0]
    low, high = int(numbers.min()), int(numbers.max())
    if high - low <= max(1024, len(numbers)) and high < 2**63:
        counts = np.bincount(numbers.astype("int64", copy=False) - low)
        places = np.flatnonzero(counts)
        return places + low, counts[places]
    return np.unique(numbers, return_counts=True)


def _of_categories(series: Any, nulls: int | None) -> dict[str, Any]:
    codes = series.cat.codes.to_numpy()
    if nulls is None:
        nulls = int(np.count_nonzero(codes < 0))
    found: dict[str, Any] = {"nulls": nulls}
    sample = _sample(codes, budget.STATISTICS_ROWS, found)
    counts = np.bincount(sample[sample >= 0] if nulls else sample)
    if len(counts):
        places = np.flatnonzero(counts)
        _top(found, places, counts[places], series.cat.categories)
    return found


def _of_texts(series: Any, nulls: int | None) -> dict[str, Any] | None:
    """None when Arrow is not there, or cannot carry them."""
    try:
        import pyarrow as pa

        if nulls is None:
            nulls = int(series.isna().sum())
        found: dict[str, Any] = {"nulls": nulls}
        rows = budget.STATISTICS_ROWS
        rows = rows if len(series) <= rows else budget.FREQUENCY_ROWS
        array = pa.Array.from_pandas(_sample(series, rows, found)).drop_null()
        counts = array.value_counts()
        if isinstance(counts, pa.ChunkedArray):
            return None
        if len(counts):
            _top(found, counts.field(0), counts.field(1).to_numpy())
        return found
    except Exception:
        return None


def _of_others(series: Any, kind: str, nulls: int | None) -> dict[str, Any]:
    """By pandas' own methods: dates and decimals that are objects, nullable and other dtypes."""
    missing = series.isna().to_numpy(dtype=bool)
    found: dict[str, Any] = {"nulls": int(missing.sum())}
    present = series[~missing] if found["nulls"] else series
    if len(present) == 0:
        return found
    sample = _sample(present, budget.STATISTICS_ROWS, found)
    if isinstance(sample.dtype, pd.SparseDtype):
        sample = sample.sparse.to_dense()
    if kind in ORDERED:
        found["min"] = values.cell(sample.min())
        found["max"] = values.cell(sample.max())
    if kind in ("integer", "floating"):
        _moments(sample.to_numpy(dtype="float64"), found)
    if kind in COUNTED:
        counts = sample.value_counts()
        _top(found, counts.index, counts.to_numpy())
    return found


def _sample(column: Any, rows: int, found: dict[str, Any]) -> Any:
    """The column (an array or a Series), or of a longer one about `rows` values all over it."""
    if len(column) <= rows:
        return column
    found["exact"] = False
    step = len(column) // rows + 1
    return column.iloc[::step] if isinstance(column, pd.Series) else column[::step]


def _top(found: dict[str, Any], items: Any, counts: Any, labels: Any = None) -> None:
    """`distinct`, and the most frequent items; with labels, the items are places among them."""
    if found.get("exact", True):
        found["distinct"] = len(counts)
    # All different: then the first few say nothing.
    if len(counts) and counts.max() > 1:
        first = np.argsort(-counts, kind="stable")[: budget.TOP_VALUES].tolist()
        chosen = [items[at] for at in first]
        if labels is not None:
            chosen = [labels[place] for place in chosen]
        found["top"] = [[values.cell(_plain(item)), int(counts[at])]
                        for item, at in zip(chosen, first, strict=True)]


def _plain(item: Any) -> Any:
    return item.as_py() if hasattr(item, "as_py") else item
