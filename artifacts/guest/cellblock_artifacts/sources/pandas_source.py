"""pandas frames, series, indexes and styled frames; numpy arrays through pandas.

Columns are read by position: names may repeat, or be anything. Nothing here writes to the frame.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .. import budget, values
from . import geometry, pandas_arrow, pandas_metadata
from .base import Column, Source
from .pandas_moments import iso_texts
from .pandas_statistics import is_quick, statistics

_OBJECT_KINDS = {
    "string": "text",
    "bytes": "binary",
    "floating": "floating",
    "mixed-integer-float": "floating",
    "integer": "integer",
    "decimal": "decimal",
    "complex": "other",
    "categorical": "category",
    "boolean": "boolean",
    "datetime64": "datetime",
    "datetime": "datetime",
    "date": "date",
    "timedelta64": "duration",
    "timedelta": "duration",
    "time": "time",
    "empty": "null",
}
_DTYPE_KINDS = {
    "b": "boolean",
    "i": "integer",
    "u": "integer",
    "f": "floating",
    "c": "other",
    "M": "datetime",
    "m": "duration",
    "U": "text",
    "S": "binary",
}
# How many values of an object column are looked at to tell its kind.
_INFER_ROWS = 1_000_000


def from_pandas(value: Any) -> PandasSource:
    if isinstance(value, pd.DataFrame):
        return PandasSource(value, "DataFrame")
    if isinstance(value, pd.Series):
        return PandasSource(value, "Series")
    if isinstance(value, pd.Index):
        return PandasSource(value, "Index")
    return PandasSource(value.data, "Styler")


def from_array(array: Any) -> PandasSource:
    if array.dtype.names:
        parts = {}
        for name in array.dtype.names:
            part = array[name]
            if not part.dtype.isnative:
                part = part.astype(part.dtype.newbyteorder("="))
            parts[name] = list(part) if part.ndim > 1 or part.dtype.names else part
        frame = pd.DataFrame(parts, copy=False)
    else:
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        frame = pd.DataFrame(array, copy=False)
    source = PandasSource(frame, "ndarray")
    source.library = "numpy"
    return source


class PandasSource(Source):
    library = "pandas"

    def __init__(self, value: Any, type_name: str) -> None:
        self.type_name = type_name
        self.rows = len(value)
        self.value = value
        self._is_frame = isinstance(value, pd.DataFrame)
        # Per column: ("index", level) or ("data", position).
        self._places: list[tuple[str, int]] = []
        self._series: dict[int, Any] = {}
        self._arrays: dict[int, Any] = {}  # of columns that Arrow can read where they are
        self.columns = []
        if not isinstance(value, pd.Index):
            self._add_index(value.index)
        if self._is_frame:
            for position, name in enumerate(value.columns):
                self._add("data", position, values.name_of(name))
        elif isinstance(value, pd.MultiIndex):
            self._add_index(value, is_label=False)
        else:
            self._add("data", 0, "value" if value.name is None else values.name_of(value.name))

    def _add_index(self, index: Any, is_label: bool = True) -> None:
        plain = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
        if plain and index.name is None and is_label:
            return
        for level, name in enumerate(index.names):
            fallback = "index" if index.nlevels == 1 else f"level_{level}"
            self._add("index", level, fallback if name is None else values.name_of(name))
            self.columns[-1].index = is_label

    def _add(self, place: str, position: int, name: str) -> None:
        self._places.append((place, position))
        series = self.series(len(self._places) - 1)
        self.columns.append(_column_of(name, series))

    def series(self, index: int) -> Any:
        """The column as a Series (of an index: of its values)."""
        if index not in self._series:
            self._series[index] = self._find(index)
        return self._series[index]

    def part(self, index: int, start: int, stop: int) -> Any:
        series = self.series(index)
        return series if start == 0 and stop >= self.rows else series.iloc[start:stop]

    def _find(self, index: int) -> Any:
        place, position = self._places[index]
        if place == "data":
            if self._is_frame:
                return self.value.iloc[:, position]
            return self.value if isinstance(self.value, pd.Series) else pd.Series(self.value)
        labels = self.value if isinstance(self.value, pd.Index) else self.value.index
        if labels.nlevels > 1:
            labels = labels.get_level_values(position)
        return pd.Series(labels)

    @property
    def index(self) -> Any:
        """The row labels; an Index itself has none."""
        return pd.RangeIndex(self.rows) if isinstance(self.value, pd.Index) else self.value.index

    def metadata(self, names: list[str], kinds: list[Any]) -> dict[bytes, bytes]:
        return pandas_metadata.describe(self, names, kinds)

    def read(self, index: int, start: int, stop: int) -> list[Any]:
        series = self.series(index)
        if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biufO":
            return series.to_numpy()[start:stop].tolist()
        part = self.part(index, start, stop)
        if geometry.is_geometry(series.dtype):
            return geometry.texts(list(part.array))
        if self.columns[index].kind == "category":
            part = part.astype(object)
        elif getattr(part.dtype, "kind", "") in "Mm" and isinstance(part.dtype, pd.ArrowDtype):
            part = part.astype(object)
        return part.tolist()

    def arrow(self, index: int, start: int, stop: int, wanted: Any) -> Any:
        column = self.columns[index]
        if column.store_as == "wkt":  # whole, however long: a part of it would be no geometry
            return pandas_arrow.whole_texts(self.read(index, start, stop))
        if not pandas_arrow.shares_memory(self.series(index), column):
            return pandas_arrow.convert(self.part(index, start, stop), column, wanted)
        if index not in self._arrays:
            self._arrays[index] = pandas_arrow.convert(self.series(index), column, None)
        return self._arrays[index].slice(start, stop - start)

    def moments(self, index: int, start: int, stop: int) -> list[str | None] | None:
        if self.columns[index].kind != "datetime":
            return None
        return iso_texts(self.part(index, start, stop))

    def is_quick(self, index: int) -> bool:
        return is_quick(self.series(index))

    def measure(self, index: int, nulls: int | None) -> dict[str, Any]:
        if geometry.is_geometry(self.series(index).dtype):
            return {"nulls": int(self.series(index).isna().sum())}
        return statistics(self.series(index), self.columns[index].kind, nulls)


def _column_of(name: str, series: Any) -> Column:
    dtype = series.dtype
    column = Column(name=name, dtype=str(dtype), kind="other")
    if getattr(dtype, "kind", "") == "O" and isinstance(dtype, np.dtype):
        column.kind = _kind_of_objects(series)
    elif isinstance(dtype, pd.CategoricalDtype):
        column.kind = "category"
    elif isinstance(dtype, pd.StringDtype):
        column.kind = "text"
    elif isinstance(dtype, pd.ArrowDtype):
        from .arrow_source import kind_of

        column.kind = kind_of(dtype.pyarrow_dtype)
    elif isinstance(dtype, pd.SparseDtype):
        column.kind = _DTYPE_KINDS.get(dtype.subtype.kind, "other")
        column.store_as = "dense"
    elif isinstance(dtype, pd.PeriodDtype):
        column.store_as = "text"
        column.note = "periods, stored as text"
    elif geometry.is_geometry(dtype):
        column.kind = "text"
        column.store_as = "wkt"
        column.note = geometry.note(series)
    elif isinstance(dtype, pd.IntervalDtype):
        column.store_as = "text"
        column.note = "intervals, stored as text"
    else:
        column.kind = _DTYPE_KINDS.get(getattr(dtype, "kind", ""), "other")
        if column.kind == "other":
            column.store_as = "text"
            column.note = f"{dtype}, stored as text"
    return column


def _kind_of_objects(series: Any) -> str:
    sample = series
    if len(series) > _INFER_ROWS:
        sample = series.iloc[:: len(series) // _INFER_ROWS + 1]
    inferred = pd.api.types.infer_dtype(sample, skipna=True)
    known = _OBJECT_KINDS.get(inferred)
    if known:
        return known
    if inferred == "mixed":
        kinds = {_container(v) for v in sample.iloc[: budget.BATCH_ROWS] if not _missing(v)}
        if len(kinds) == 1:
            return kinds.pop()
    return "mixed"


def _missing(value: Any) -> bool:
    return values.is_null(value)


def _container(value: Any) -> str:
    if isinstance(value, dict):
        return "record"
    if isinstance(value, (list, tuple)) or type(value).__name__ == "ndarray":
        return "list"
    return "mixed"
