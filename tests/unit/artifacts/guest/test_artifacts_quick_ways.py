"""The quick ways through capture give what the plain ones give."""

from __future__ import annotations

import collections
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cellblock_artifacts import budget, values
from cellblock_artifacts.sources import pandas_arrow, pandas_moments, pandas_statistics
from cellblock_artifacts.sources.base import Column
from cellblock_artifacts.sources.statistics import plain_statistics

RNG = np.random.default_rng(1)
COLUMNS = {
    "small integers": pd.Series(RNG.integers(-5, 5, 3000)),
    "bytes of the largest": pd.Series(np.array([127, -128, 127], dtype="int8")),
    "large integers": pd.Series(RNG.integers(-(2**62), 2**62, 3000)),
    "past signed": pd.Series(np.array([2**64 - 1, 1, 2**64 - 1], dtype="uint64")),
    "near the end": pd.Series(np.array([2**63 - 1, 2**63 - 2, 2**63 - 1])),
    "floats with gaps": pd.Series([1.5, np.nan, -2.0, 1.5]),
    "single precision": pd.Series(np.array([0.1, 0.2], dtype="float32")),
    "one float": pd.Series([2.5]),
    "infinite": pd.Series([1.0, np.inf]),
    "only gaps": pd.Series([np.nan, np.nan]),
    "no rows": pd.Series([], dtype="float64"),
    "truth": pd.Series([True, False, True]),
    "only false": pd.Series([False, False]),
    "moments": pd.Series(pd.to_datetime(["2024-03-31 00:30", None, "1890-01-01 00:00"])
                         ).dt.tz_localize("Europe/Oslo"),
    "seconds": pd.Series(np.array(["2024-01-01", "NaT"], dtype="datetime64[s]")),
    "durations": pd.Series(pd.to_timedelta(["1h", None, "-2min"])),
    "categories": pd.Series(pd.Categorical(["b", None, "a", "b"], categories=["a", "b", "c"])),
    "no category": pd.Series(pd.Categorical([None, None], categories=["a"])),
    "texts": pd.Series(["x", None, "y", float("nan"), "y", "é", "y", "é"]),
    "different texts": pd.Series(["x", "y"]),
}
KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "floating", "M": "datetime",
         "m": "duration"}


def kind_of(series: pd.Series) -> str:
    if isinstance(series.dtype, pd.CategoricalDtype):
        return "category"
    return KINDS.get(series.dtype.kind, "text")


@pytest.mark.parametrize("name", COLUMNS)
def test_statistics_by_numpy_and_arrow_are_those_of_plain_python(name: str) -> None:
    series = COLUMNS[name]
    kind = kind_of(series)
    items = series.astype(object).tolist() if kind == "category" else series.tolist()
    expected = plain_statistics(items, kind)
    nulls = int(series.isna().sum())
    for counted in (None, nulls):
        found = pandas_statistics.statistics(series, kind, counted)
        for moment in ("mean", "std"):
            assert found.pop(moment, None) == pytest.approx(expected.get(moment))
        tops = [dict(map(tuple, some.pop("top", []))) for some in (found, dict(expected))]
        assert collections.Counter(tops[0].values()) == collections.Counter(tops[1].values())
        counts = collections.Counter(values.cell(v) for v in items if not values.is_null(v))
        assert all(counts[value] == count for value, count in tops[0].items())
        assert found == {key: value for key, value in expected.items()
                         if key not in ("mean", "std", "top")}


def test_the_most_frequent_values_come_first_also_of_a_sample() -> None:
    rows = budget.STATISTICS_ROWS * 2
    series = pd.Series(np.arange(rows) % 10 // 7)
    found = pandas_statistics.statistics(series, "integer", None)
    assert found["exact"] is False and "distinct" not in found
    assert [value for value, _ in found["top"]] == [0, 1]
    assert (found["min"], found["max"], found["nulls"]) == (0, 1, 0)


MOMENTS = [
    ["2024-01-31 10:00", None, "2024-02-01"],
    ["2024-01-31 10:00:00.5", "2024-01-31 10:00:00", "1969-12-31 23:59:59.999999"],
    ["1890-01-01", "2024-03-31 01:30", "2024-10-27 00:30"],
    [None],
    [],
]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Oslo", "Asia/Kolkata", "America/St_Johns"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("texts", MOMENTS, ids=range(len(MOMENTS)))
def test_moments_are_written_as_python_writes_each(texts: list, unit: str, zone: Any) -> None:
    series = pd.Series(pd.to_datetime(texts, format="ISO8601").astype(f"datetime64[{unit}]"))
    if zone:
        series = series.dt.tz_localize("UTC").dt.tz_convert(zone)
    expected = [None if v is pd.NaT else v.isoformat() for v in series]
    assert pandas_moments.iso_texts(series) == expected


def test_moments_that_need_more_care_are_left_to_python() -> None:
    assert pandas_moments.iso_texts(pd.Series([pd.Timestamp(1)])) is None
    far = pd.Series(np.array([10**12], dtype="datetime64[s]"))
    assert pandas_moments.iso_texts(far) is None
    assert pandas_moments.iso_texts(pd.Series([1])) is None


@pytest.mark.parametrize("texts", [["a", None, float("nan"), pd.NA, "é"], ["\ud800", "a", None],
                                   [None, None], []])
def test_texts_are_read_at_once_or_one_by_one(texts: list) -> None:
    array = pandas_arrow.convert(pd.Series(texts, dtype=object), Column("t", "object", "text"),
                                 None)
    assert str(array.type) == "large_string"
    assert array.to_pylist() == [None if values.is_null(t) else values.clean(t) for t in texts]


def test_finite_sums_do_not_hide_what_is_not_finite(captured: Any) -> None:
    huge = captured(pd.DataFrame({"a": [1e308, 1e308, 1.0], "b": [1.0, -math.inf, math.inf]}))
    assert huge.data == {"a": [1e308, 1e308, 1.0], "b": [1.0, None, None]}


def test_looking_through_a_column_of_objects_ends_when_the_time_is_up(captured: Any,
                                                                     monkeypatch: Any) -> None:
    monkeypatch.setattr(budget, "BATCH_ROWS", 10)
    looked = []
    monkeypatch.setattr(values, "present", lambda items: looked.append(len(items)) or items)
    monkeypatch.setattr(budget.Clock, "spent", lambda self: len(looked) > 1)
    result = captured(pd.DataFrame({"n": pd.Series([1] * 2000, dtype=object)}))
    assert len(looked) < 5 and result.bundle["data"] is None
    assert "the time for capturing tables was used up" in result.bundle["reason"]
