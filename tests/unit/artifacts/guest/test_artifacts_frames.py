"""Every awkward frame: valid JSON, the right values back from the file, the frame untouched."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from awkward import CASES


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    return a == b


def unchanged(before: Any, after: Any) -> None:
    if isinstance(before, pd.DataFrame):
        pd.testing.assert_frame_equal(before, after)
        assert list(map(repr, before.columns)) == list(map(repr, after.columns))
    elif isinstance(before, pd.Series):
        pd.testing.assert_series_equal(before, after)
    elif isinstance(before, pd.Index):
        pd.testing.assert_index_equal(before, after)
    else:
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(("make", "expected"), [case[1:] for case in CASES],
                         ids=[case[0] for case in CASES])
def test_values_come_back_and_the_object_is_untouched(make: Any, expected: Any, captured: Any,
                                                      stored: Any) -> None:
    value = make()
    before = copy.copy(value) if isinstance(value, pd.Index) else value.copy()
    result = captured(value)
    unchanged(before, value)
    table = stored(result)
    back = {name: table.column(position).to_pylist()
            for position, name in enumerate(table.schema.names)}
    assert list(back) == list(expected)
    for name, column in expected.items():
        assert len(back[name]) == len(column), name
        assert all(map(same, back[name], column)), (name, back[name], column)
    assert not result.bundle["partial"]


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 40
