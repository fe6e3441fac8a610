"""pyarrow tables, and what gives one: record batches and duckdb relations."""

from __future__ import annotations

from typing import Any

from .. import budget, values
from .base import Column, Source
from .statistics import ORDERED


def kind_of(arrow_type: Any) -> str:
    """The host's name for a kind of column."""
    from pyarrow import types

    tests = (
        (types.is_boolean, "boolean"),
        (types.is_integer, "integer"),
        (types.is_floating, "floating"),
        (types.is_decimal, "decimal"),
        (types.is_timestamp, "datetime"),
        (types.is_date, "date"),
        (types.is_time, "time"),
        (types.is_duration, "duration"),
        (types.is_dictionary, "category"),
        (types.is_null, "null"),
        (types.is_struct, "record"),
        (types.is_map, "record"),
    )
    for test, kind in tests:
        if test(arrow_type):
            return kind
    name = str(arrow_type)
    if "string" in name and "list" not in name:
        return "text"
    if "binary" in name and "list" not in name:
        return "binary"
    if "list" in name:
        return "list"
    return "other"


def plain_array(array: Any) -> Any:
    """The array in types that every reader of Arrow files knows: no views, no run ends, no unions.
    Raises when it has no such form."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    name = str(array.type)
    if name in ("string", "string_view"):
        return array.cast(pa.large_string())
    if name == "binary_view":
        return array.cast(pa.large_binary())
    if pa.types.is_dictionary(array.type) and "view" in str(array.type.value_type):
        values_ = array.dictionary.cast(pa.large_string())
        return pa.DictionaryArray.from_arrays(array.indices, values_, ordered=array.type.ordered)
    if "view" in name or "run_end" in name or "union" in name or "month_day_nano" in name:
        raise TypeError(f"Arrow type {name}")
    return array


class ArrowSource(Source):
    library = "pyarrow"

    def __init__(self, value: Any, library: str = "pyarrow") -> None:
        import pyarrow as pa

        self.library = library
        self.type_name = type(value).__name__
        if isinstance(value, pa.RecordBatch):
            value = pa.Table.from_batches([value])
        self._table = value
        self.rows = value.num_rows
        self.columns = [
            Column(name=values.name_of(field.name), dtype=str(field.type), kind=kind_of(field.type))
            for field in value.schema
        ]

    def read(self, index: int, start: int, stop: int) -> list[Any]:
        part = self._table.column(index).slice(start, stop - start)
        try:
            return part.to_pylist()
        except Exception:  # nanoseconds that Python's dates cannot carry, and the like
            return [str(item) for item in part]

    def arrow(self, index: int, start: int, stop: int, wanted: Any) -> Any:
        array = plain_array(self._table.column(index).slice(start, stop - start))
        if wanted is not None and array.type != wanted:
            array = array.cast(wanted)
        return array

    def measure(self, index: int, nulls: int | None) -> dict[str, Any]:
        import pyarrow.compute as pc

        column = self._table.column(index)
        found: dict[str, Any] = {"nulls": column.null_count}
        kind = self.columns[index].kind
        if kind in ORDERED:
            extremes = pc.min_max(column)
            found["min"] = values.cell(extremes["min"].as_py())
            found["max"] = values.cell(extremes["max"].as_py())
        frequent = column
        if self.rows > budget.STATISTICS_ROWS:
            column = column.slice(0, budget.STATISTICS_ROWS)
            frequent = column.slice(0, budget.FREQUENCY_ROWS)
            found["exact"] = False
        if kind in ("integer", "floating"):
            for name, number in (("mean", pc.mean(column)), ("std", pc.stddev(column, ddof=1))):
                number = values.scalar(number.as_py())
                if type(number) is float:
                    found[name] = number
        if kind in ("text", "boolean", "integer", "date", "category"):
            _count(frequent, found)
        return found


def _count(column: Any, found: dict[str, Any]) -> None:
    counts = [(pair["values"].as_py(), pair["counts"].as_py()) for pair in column.value_counts()]
    counts = sorted(((v, n) for v, n in counts if v is not None), key=lambda pair: -pair[1])
    if found.get("exact", True):
        found["distinct"] = len(counts)
    if counts and counts[0][1] > 1:
        found["top"] = [[values.cell(v), n] for v, n in counts[: budget.TOP_VALUES]]


def from_relation(relation: Any) -> Source | None:
    """The first rows of a duckdb relation: it is a query, so not all of it is asked for."""
    limited = relation.limit(budget.RELATION_ROWS + 1)
    fetch = getattr(limited, "to_arrow_table", None) or limited.arrow
    table = fetch()
    if hasattr(table, "read_all"):  # newer releases give a reader
        table = table.read_all()
    source = ArrowSource(table.slice(0, budget.RELATION_ROWS), "duckdb")
    source.type_name = "DuckDBPyRelation"
    source.rows_known = table.num_rows <= budget.RELATION_ROWS
    return source
