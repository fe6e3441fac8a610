"""Columns of pandas as Arrow arrays, a piece at a time, all pieces of one type.

Raises when a column cannot be carried so; it is then stored as text by the caller.
"""

from __future__ import annotations

from typing import Any, Iterator

import pandas as pd

from .. import budget, values
from .base import Column

_DECIMAL_DIGITS = 38


def shares_memory(series: Any, column: Column) -> bool:
    """Whether the Arrow array of the whole column is (nearly) no copy: numbers, dates, categories.
    It is then made once, and cut, which is much quicker than converting piece by piece."""
    if column.store_as:
        return False
    dtype = series.dtype
    if isinstance(dtype, (pd.CategoricalDtype, pd.DatetimeTZDtype)):
        return True
    return type(dtype).__module__.startswith("numpy") and dtype.kind in "biufmM"


def convert(series: Any, column: Column, wanted: Any) -> Any:
    import pyarrow as pa

    if column.store_as == "text":
        return text_array(series.tolist())
    if column.store_as == "dense":
        series = pd.Series(series.sparse.to_dense())
    if column.kind == "category" and isinstance(series.dtype, pd.CategoricalDtype):
        return _dictionary(series, wanted)
    if series.dtype == object:
        return _objects(series, column, wanted)
    array = pa.Array.from_pandas(series, type=wanted)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):  # pieces too large for 32-bit offsets
            array = array.cast(_large(array.type)).combine_chunks()
    if array.type == pa.string() or array.type == pa.string_view():
        return array.cast(pa.large_string())
    return array


def _large(kind: Any) -> Any:
    import pyarrow as pa

    return pa.large_string() if pa.types.is_string(kind) else pa.large_binary()


def whole_texts(items: list[str | None]) -> Any:
    import pyarrow as pa

    return pa.array(items, type=pa.large_string())


def text_array(items: list[Any]) -> Any:
    import pyarrow as pa

    texts = [None if values.is_null(item) else values.as_text(item) for item in items]
    return pa.array(texts, type=pa.large_string())


def _dictionary(series: Any, wanted: Any) -> Any:
    import pyarrow as pa

    labels = _labels(series.cat.categories, wanted.value_type if wanted is not None else None)
    codes = series.cat.codes.to_numpy()
    indices = pa.array(codes, mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, labels, ordered=bool(series.cat.ordered))


def _labels(categories: Any, kind: Any) -> Any:
    """The values of a dictionary: as they are, or as text where Arrow has no plain type."""
    import pyarrow as pa

    texts = isinstance(categories, (pd.IntervalIndex, pd.PeriodIndex))
    if categories.dtype == object and len(categories):
        texts = True
    if texts or kind == pa.string():
        return pa.array([values.as_text(label) for label in categories], type=pa.string())
    labels = pa.Array.from_pandas(categories, type=kind)
    if isinstance(labels, pa.ChunkedArray):
        labels = labels.combine_chunks()
    return labels


def _objects(series: Any, column: Column, wanted: Any) -> Any:
    import pyarrow as pa

    kind = column.kind
    if kind == "text":
        return _texts(series)
    items = series.tolist()
    if kind == "datetime":
        return _datetimes(items, column, wanted)
    if kind == "decimal":
        return pa.array([None if values.is_null(v) else v for v in items],
                        type=wanted or _decimal_type(column))
    if kind == "list":
        items = [None if values.is_null(v) else _as_list(v) for v in items]
        return pa.array(items, type=wanted)
    types = {
        "integer": pa.int64(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "time": pa.time64("us"),
        "duration": pa.duration("us"),
        "floating": pa.float64(),
        "binary": pa.large_binary(),
        "null": pa.null(),
    }
    if kind not in types:
        raise TypeError("values of different types")
    if kind == "floating":  # a NaN is not a missing value
        items = [None if values.is_null(v) and not isinstance(v, float) else v for v in items]
        return pa.array(items, type=types[kind], from_pandas=False)
    items = [None if values.is_null(v) else v for v in items]
    if kind == "integer" and column.extra.get("long"):
        return pa.array(items, type=pa.decimal128(_DECIMAL_DIGITS, 0))
    return pa.array(items, type=types[kind])


def _texts(series: Any) -> Any:
    """Read by Arrow itself; one by one only where a text has a lone surrogate."""
    import pyarrow as pa

    try:
        array = pa.array(series.to_numpy(), from_pandas=True)
        if pa.types.is_string(array.type) or pa.types.is_null(array.type):
            return array.cast(pa.large_string())
    except (pa.ArrowException, UnicodeError):
        pass
    return pa.array([None if values.is_null(v) else values.clean(v) for v in series],
                    type=pa.large_string())


def _as_list(value: Any) -> Any:
    return value.tolist() if type(value).__name__ == "ndarray" else list(value)


def prepare(series: Any, column: Column, clock: budget.Clock) -> None:
    """Looks once at a whole column where its pieces could differ: scale of decimals, zones."""
    if series.dtype != object:
        return
    if column.kind == "integer":
        largest = max((max(max(part), -min(part)) for part in _present(series, clock)), default=0)
        if largest >= 2**63:
            if largest >= 10**_DECIMAL_DIGITS:
                raise OverflowError("integers of more than 38 digits")
            column.extra["long"] = True
            column.note = column.note or "integers past 64 bits, stored as decimals"
    if column.kind == "decimal":
        exponents = {v.as_tuple().exponent for part in _present(series, clock) for v in part}
        if any(isinstance(e, str) for e in exponents):  # NaN or infinity
            raise TypeError("decimals that are no numbers")
        column.extra["scale"] = max([0, *(-e for e in exponents)])
    if column.kind == "datetime":
        zones = {str(getattr(v, "tzinfo", None)) for part in _present(series, clock) for v in part}
        if len(zones) > 1:
            raise TypeError("dates with different zones")


def _present(series: Any, clock: budget.Clock) -> Iterator[list[Any]]:
    """The values that are there, piece by piece and within the time."""
    for start in range(0, len(series), budget.BATCH_ROWS):
        if clock.spent():
            raise budget.Spent("the time for capturing tables was used up")
        part = values.present(series.iloc[start : start + budget.BATCH_ROWS].tolist())
        if part:
            yield part


def _decimal_type(column: Column) -> Any:
    import pyarrow as pa

    return pa.decimal128(_DECIMAL_DIGITS, column.extra.get("scale", 0))


def _datetimes(items: list[Any], column: Column, wanted: Any) -> Any:
    import pyarrow as pa

    kept = [None if values.is_null(v) else v for v in items]
    first = next((v for v in kept if v is not None), None)
    zone = getattr(first, "tzinfo", None)
    if wanted is None:
        wanted = pa.timestamp("us", tz=None if zone is None else str(zone))
    return pa.array(kept, type=wanted)
