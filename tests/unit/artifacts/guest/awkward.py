"""Frames that are hard to carry, each with the columns of values that must come back from its file.

A case is (name, make, expected): `expected` maps a column's name in the file to its Python values;
columns that are stored as text are written as text there.
"""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

UTC = dt.UTC
OSLO = "Europe/Oslo"


class Opaque:
    def __repr__(self) -> str:
        return "<Opaque>"


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def days(*texts: str) -> list[dt.datetime]:
    return [dt.datetime.fromisoformat(text) for text in texts]


Case = tuple[str, Callable[[], Any], dict[str, list[Any]]]

CASES: list[Case] = [
    ("integers", lambda: pd.DataFrame({"a": [1, -2]}), {"a": [1, -2]}),
    ("floats", lambda: pd.DataFrame({"a": [0.1, np.nan, np.inf, -np.inf]}),
     {"a": [0.1, None, np.inf, -np.inf]}),
    ("float16 and float32", lambda: pd.DataFrame({"a": np.array([0.5], "f2"),
                                                  "b": np.array([0.25], "f4")}),
     {"a": [0.5], "b": [0.25]}),
    ("booleans", lambda: pd.DataFrame({"a": [True, False]}), {"a": [True, False]}),
    ("booleans with none", lambda: pd.DataFrame({"a": [True, None]}, dtype=object),
     {"a": [True, None]}),
    ("strings with none", lambda: pd.DataFrame({"a": ["x", None, ""]}), {"a": ["x", None, ""]}),
    ("emoji and control characters", lambda: pd.DataFrame({"a": ["😀", "a\x00b\n|c"]}),
     {"a": ["😀", "a\x00b\n|c"]}),
    ("lone surrogates", lambda: pd.DataFrame({"a": pd.Series(["\ud800x"], dtype=object)}),
     {"a": ["?x"]}),
    ("integers past 64 bits", lambda: pd.DataFrame({"a": [2**70, 1]}, dtype=object),
     {"a": [decimal.Decimal(2**70), decimal.Decimal(1)]}),
    ("integers past 38 digits", lambda: pd.DataFrame({"a": [10**40, -1]}, dtype=object),
     {"a": [str(10**40), "-1"]}),
    ("NaN beside None", lambda: pd.DataFrame({"a": [float("nan"), None, 1.5]}, dtype=object),
     {"a": [float("nan"), None, 1.5]}),
    ("unsigned 64 bits", lambda: pd.DataFrame({"a": np.array([2**64 - 1], "u8")}),
     {"a": [2**64 - 1]}),
    ("nullable integers", lambda: pd.DataFrame({"a": pd.array([1, None], "Int64")}),
     {"a": [1, None]}),
    ("nullable booleans", lambda: pd.DataFrame({"a": pd.array([True, None], "boolean")}),
     {"a": [True, None]}),
    ("nullable floats", lambda: pd.DataFrame({"a": pd.array([1.5, None], "Float64")}),
     {"a": [1.5, None]}),
    ("string dtype", lambda: pd.DataFrame({"a": pd.array(["x", None], "string")}),
     {"a": ["x", None]}),
    ("mixed types", lambda: pd.DataFrame({"a": [1, "b", None, 2.5]}, dtype=object),
     {"a": ["1", "b", None, "2.5"]}),
    ("mixed numbers", lambda: pd.DataFrame({"a": [1, 2.5]}, dtype=object), {"a": [1.0, 2.5]}),
    ("decimals", lambda: pd.DataFrame({"a": [decimal.Decimal("1.10"), None,
                                             decimal.Decimal("-2.5")]}),
     {"a": [decimal.Decimal("1.10"), None, decimal.Decimal("-2.50")]}),
    ("long decimals", lambda: pd.DataFrame({"a": [decimal.Decimal(10**40)]}),
     {"a": [str(10**40)]}),
    ("decimal NaN", lambda: pd.DataFrame({"a": [decimal.Decimal("NaN"), decimal.Decimal(1)]}),
     {"a": ["NaN", "1"]}),
    ("naive dates", lambda: pd.DataFrame({"a": pd.to_datetime(["2024-01-31", None])}),
     {"a": [dt.datetime(2024, 1, 31), None]}),
    ("dates with a zone", lambda: pd.DataFrame({"a": pd.to_datetime(["2024-07-01 12:00"])
                                                .tz_localize(OSLO)}),
     {"a": [dt.datetime(2024, 7, 1, 10, tzinfo=UTC)]}),
    ("dates with different zones", lambda: pd.DataFrame(
        {"a": days("2024-01-01T00:00:00+01:00", "2024-01-01T00:00:00+05:30")}, dtype=object),
     {"a": ["2024-01-01T00:00:00+01:00", "2024-01-01T00:00:00+05:30"]}),
    ("date objects", lambda: pd.DataFrame({"a": [dt.date(2024, 2, 29), None]}),
     {"a": [dt.date(2024, 2, 29), None]}),
    ("dates out of pandas' range", lambda: pd.DataFrame(
        {"a": [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)]}, dtype=object),
     {"a": [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)]}),
    ("times", lambda: pd.DataFrame({"a": [dt.time(12, 30, 1)]}), {"a": [dt.time(12, 30, 1)]}),
    ("durations", lambda: pd.DataFrame({"a": pd.to_timedelta(["1 days 02:00:00", None])}),
     {"a": [dt.timedelta(days=1, hours=2), None]}),
    ("periods", lambda: pd.DataFrame({"a": pd.period_range("2024-01", periods=2, freq="M")}),
     {"a": ["2024-01", "2024-02"]}),
    ("intervals", lambda: pd.DataFrame({"a": pd.cut(pd.Series([1, 5]), [0, 2, 6]).astype(object)}),
     {"a": ["(0, 2]", "(2, 6]"]}),
    ("categories", lambda: pd.DataFrame({"a": pd.Categorical(["x", None, "y"])}),
     {"a": ["x", None, "y"]}),
    ("categories of intervals", lambda: pd.DataFrame({"a": pd.cut(pd.Series([1, 5]), [0, 2, 6])}),
     {"a": ["(0, 2]", "(2, 6]"]}),
    ("categories of numbers", lambda: pd.DataFrame({"a": pd.Categorical([3, 1, 3])}),
     {"a": [3, 1, 3]}),
    ("lists", lambda: pd.DataFrame({"a": [[1, 2], [], None]}), {"a": [[1, 2], [], None]}),
    ("ragged lists", lambda: pd.DataFrame({"a": [[1, "x"], [2.5]]}),
     {"a": ['[1, "x"]', "[2.5]"]}),
    ("dictionaries", lambda: pd.DataFrame({"a": [{"k": float("nan")}, {"j": [1]}]}),
     {"a": ['{"k": null}', '{"j": [1]}']}),
    ("arrays in cells", lambda: pd.DataFrame({"a": [np.array([1, 2]), np.array([3])]}),
     {"a": [[1, 2], [3]]}),
    ("bytes", lambda: pd.DataFrame({"a": [b"\x00\xff", None]}), {"a": [b"\x00\xff", None]}),
    ("uuids", lambda: pd.DataFrame({"a": [uuid.UUID(int=1)]}),
     {"a": ["00000000-0000-0000-0000-000000000001"]}),
    ("complex numbers", lambda: pd.DataFrame({"a": [1 + 2j]}), {"a": ["(1+2j)"]}),
    ("objects", lambda: pd.DataFrame({"a": [Opaque(), Unprintable()]}),
     {"a": ["<Opaque>", "<Unprintable>"]}),
    ("sparse", lambda: pd.DataFrame({"a": pd.arrays.SparseArray([0, 0, 1])}), {"a": [0, 0, 1]}),
    ("all missing", lambda: pd.DataFrame({"a": [None, None]}), {"a": [None, None]}),
    ("no rows", lambda: pd.DataFrame({"a": pd.Series([], dtype="int64")}), {"a": []}),
    ("no columns", lambda: pd.DataFrame(index=[1, 2]), {"index": [1, 2]}),
    ("duplicate names", lambda: pd.DataFrame([[1, 2, 3]], columns=["a", "a", "a.1"]),
     {"a": [1], "a.1": [2], "a.1.1": [3]}),
    ("names that are no text", lambda: pd.DataFrame([[1, 2, 3, 4]], columns=[
        0, None, float("nan"), pd.Timestamp("2024-01-01")]),
     {"0": [1], "None": [2], "nan": [3], "2024-01-01T00:00:00": [4]}),
    ("MultiIndex columns", lambda: pd.DataFrame(
        [[1, 2]], columns=pd.MultiIndex.from_tuples([("x", 1), ("x", "")])),
     {"x / 1": [1], "x": [2]}),
    ("MultiIndex rows", lambda: pd.DataFrame(
        {"v": [1, 2]}, index=pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["k", None])),
     {"k": ["x", "y"], "level_1": [1, 2], "v": [1, 2]}),
    ("an index that is named like a column", lambda: pd.DataFrame(
        {"index": [5]}, index=pd.Index(["r"])),
     {"index.1": ["r"], "index": [5]}),
    ("date index", lambda: pd.DataFrame({"v": [1]}, index=pd.DatetimeIndex(["2024-01-01"],
                                                                          name="day")),
     {"day": [dt.datetime(2024, 1, 1)], "v": [1]}),
    ("a slice of a frame", lambda: pd.DataFrame({"v": range(10)}).iloc[7:],
     {"index": [7, 8, 9], "v": [7, 8, 9]}),
    ("a series", lambda: pd.Series([1.5, None], name="s"), {"s": [1.5, None]}),
    ("a series without a name", lambda: pd.Series([1], index=["r"]),
     {"index": ["r"], "value": [1]}),
    ("an index", lambda: pd.Index([3, 4], name="i"), {"i": [3, 4]}),
    ("a range index", lambda: pd.RangeIndex(2), {"value": [0, 1]}),
    ("a MultiIndex", lambda: pd.MultiIndex.from_tuples([("x", 1)]),
     {"level_0": ["x"], "level_1": [1]}),
    ("a big-endian record array", lambda: np.array([(1, 2.5, "x")], dtype=[
        ("i", ">i4"), ("f", ">f8"), ("s", "U3")]), {"i": [1], "f": [2.5], "s": ["x"]}),
    ("records with sub-arrays", lambda: np.array([(1, [2, 3])], dtype=[
        ("i", "i4"), ("v", "i4", (2,))]), {"i": [1], "v": [[2, 3]]}),
    ("a matrix", lambda: np.array([[1.5, 2.0], [3.0, 4.0]]), {"0": [1.5, 3.0], "1": [2.0, 4.0]}),
    ("an array of objects", lambda: np.array([[1, "x"], [None, 2]], dtype=object),
     {"0": [1, None], "1": ["x", "2"]}),
]
