"""What pyarrow and pandas need to make the user's frame of the Arrow file again: names that repeat
or are no text, the index, nullable and other dtypes. The format is pandas' own schema metadata."""

from __future__ import annotations

import types
import warnings
from typing import Any

import numpy as np
import pandas as pd

# Wider tables go without: describing a column costs about 20 µs, under emulation ten times that.
_COLUMNS_MAX = 512


def describe(source: Any, names: list[str], kinds: list[Any]) -> dict[bytes, bytes]:
    """Empty when there is no such description, for whatever reason: it is an extra."""
    if len(names) > _COLUMNS_MAX:
        return {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _describe(source, names, kinds)
    except Exception:
        return {}


def _describe(source: Any, names: list[str], kinds: list[Any]) -> dict[bytes, bytes]:
    from pyarrow import pandas_compat

    labels, data = _places(source)
    order = data + labels
    descriptors: list[Any] = [names[at] for at in labels]
    levels: list[Any] = [_level(source, at) for at in labels]
    if not labels:
        index = source.index
        descriptors = [
            {
                "kind": "range",
                "name": index.name,
                "start": index.start,
                "stop": index.stop,
                "step": index.step,
            }
        ]
        levels = [index]
    frame = types.SimpleNamespace(columns=_columns_of(source, data), attrs={})
    return pandas_compat.construct_metadata(
        [_described(source, at) for at in data],
        frame,
        [pandas_compat._column_name_to_strings(name) for name in frame.columns],
        levels,
        descriptors,
        None,
        [kinds[at] for at in order],
        [names[at] for at in data],
    )


def _places(source: Any) -> tuple[list[int], list[int]]:
    labels = [at for at, column in enumerate(source.columns) if column.index]
    return labels, [at for at, column in enumerate(source.columns) if not column.index]


def _columns_of(source: Any, data: list[int]) -> Any:
    if isinstance(source.value, pd.DataFrame):
        return source.value.columns
    return pd.Index([source.columns[at].name for at in data])


def _level(source: Any, at: int) -> Any:
    level = source.value.index
    if level.nlevels > 1:
        level = level.get_level_values(at)
    # Only its name and dtype are looked at.
    if source.columns[at].store_as or not _reads_back(level.dtype):
        return pd.Index([], dtype=object, name=level.name)
    return level[:0]


def _described(source: Any, at: int) -> Any:
    series = source.series(at).iloc[:0]
    column = source.columns[at]
    if column.store_as == "dense":
        return pd.Series([], dtype=series.dtype.subtype)
    if column.store_as or not _reads_back(series.dtype):
        return pd.Series([], dtype=object)
    return series


def _reads_back(dtype: Any) -> bool:
    """Whether the dtype's name is understood when the file is read; pyarrow fails on others."""
    if isinstance(dtype, np.dtype):
        return True
    try:
        return pd.api.types.pandas_dtype(str(dtype)) is not None
    except Exception:
        return False
