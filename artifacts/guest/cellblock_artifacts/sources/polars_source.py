"""polars frames and series, read by their own methods: pyarrow is needed for the file only."""

from __future__ import annotations

from typing import Any

from .. import budget, values
from .arrow_source import plain_array
from .base import Column, Source
from .statistics import ORDERED

_KINDS = {
    "Boolean": "boolean",
    "Decimal": "decimal",
    "Datetime": "datetime",
    "Date": "date",
    "Time": "time",
    "Duration": "duration",
    "String": "text",
    "Utf8": "text",
    "Categorical": "category",
    "Enum": "category",
    "Binary": "binary",
    "List": "list",
    "Array": "list",
    "Struct": "record",
    "Null": "null",
}


def kind_of(dtype: Any) -> str:
    name = type(dtype).__name__ if not isinstance(dtype, type) else dtype.__name__
    if name.endswith("Type"):  # a dtype given as its class
        name = str(dtype)
    if name.startswith(("Int", "UInt")):
        return "integer"
    if name.startswith("Float"):
        return "floating"
    return _KINDS.get(name, "other")


class PolarsSource(Source):
    library = "polars"

    def __init__(self, value: Any) -> None:
        self.type_name = type(value).__name__
        self._series = value.get_columns() if hasattr(value, "get_columns") else [value]
        self.rows = len(value)
        self.columns = [
            Column(values.name_of(series.name) or "value", str(series.dtype), kind_of(series.dtype))
            for series in self._series
        ]

    def read(self, index: int, start: int, stop: int) -> list[Any]:
        return self._series[index].slice(start, stop - start).to_list()

    def arrow(self, index: int, start: int, stop: int, wanted: Any) -> Any:
        import polars

        part = self._series[index].slice(start, stop - start)
        compatible = getattr(polars, "CompatLevel", None)
        array = part.to_arrow(compat_level=compatible.oldest()) if compatible else part.to_arrow()
        array = plain_array(array)
        if wanted is not None and array.type != wanted:
            array = array.cast(wanted)
        return array

    def measure(self, index: int, nulls: int | None) -> dict[str, Any]:
        series = self._series[index]
        found: dict[str, Any] = {"nulls": series.null_count()}
        kind = self.columns[index].kind
        if kind in ORDERED:
            found["min"] = values.cell(series.min())
            found["max"] = values.cell(series.max())
        frequent = series
        if self.rows > budget.STATISTICS_ROWS:
            frequent = series.gather_every(self.rows // budget.FREQUENCY_ROWS + 1)
            series = series.gather_every(self.rows // budget.STATISTICS_ROWS + 1)
            found["exact"] = False
        if kind in ("integer", "floating"):
            for name in ("mean", "std"):
                number = getattr(series, name)()
                number = values.scalar(float(number)) if number is not None else None
                if type(number) is float:
                    found[name] = number
        if kind in ("text", "boolean", "integer", "date", "category"):
            self._count(frequent.drop_nulls(), found)
        return found

    def _count(self, series: Any, found: dict[str, Any]) -> None:
        if found.get("exact", True):
            found["distinct"] = series.n_unique()
        counts = series.value_counts(sort=True).head(budget.TOP_VALUES).rows()
        if counts and counts[0][1] > 1:
            found["top"] = [[values.cell(value), count] for value, count in counts]
