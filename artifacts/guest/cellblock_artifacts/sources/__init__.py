"""From a value that a cell shows to a Source: the columns of a table, whoever made it.

Types are recognised by the names of their classes, so no library is imported to look.
"""

from __future__ import annotations

import sys
from typing import Any

from .base import Source

_KNOWN = {
    ("pandas", "DataFrame"): "pandas",
    ("pandas", "Series"): "pandas",
    ("pandas", "Index"): "pandas",
    ("pandas", "Styler"): "pandas",
    ("polars", "DataFrame"): "polars",
    ("polars", "Series"): "polars",
    ("pyarrow", "Table"): "arrow",
    ("pyarrow", "RecordBatch"): "arrow",
    ("duckdb", "DuckDBPyRelation"): "duckdb",
    ("_duckdb", "DuckDBPyRelation"): "duckdb",
    ("numpy", "ndarray"): "numpy",
}


def library_of(value: Any) -> str | None:
    """Which reader takes the value; None for what is no table."""
    for kind in type(value).__mro__:
        known = _KNOWN.get((str(kind.__module__).partition(".")[0], kind.__name__))
        if known:
            return known if known != "numpy" or _is_tabular(value) else None
    return None


def _is_tabular(array: Any) -> bool:
    """Two dimensions with something in them, or one of records."""
    if array.dtype.names:
        return array.ndim == 1
    return array.ndim == 2 and array.shape[1] > 0 and array.dtype.kind != "V"


def source_of(value: Any) -> Source | None:
    """The value as a Source, or None when it is no table (or its library cannot be read here)."""
    library = library_of(value)
    if library == "pandas":
        from .pandas_source import from_pandas

        return from_pandas(value)
    if library == "numpy":
        # Read through pandas, where that is loaded: an array alone is not worth its import.
        if "pandas" not in sys.modules:
            return None
        from .pandas_source import from_array

        return from_array(value)
    if library == "polars":
        from .polars_source import PolarsSource

        return PolarsSource(value)
    if library == "arrow":
        from .arrow_source import ArrowSource

        return ArrowSource(value)
    if library == "duckdb":
        from .arrow_source import from_relation

        return from_relation(value)
    return None
