"""Tables that are hard to carry: each is made by the same expression in the guest and in the test.

FRAMES maps a name to its expression. What an Arrow file gives back to pandas is the frame itself,
unless AS_STORED has another expression: then that, and the difference is a stated one (the column's
note in the artifact's schema says it too).
"""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytz

# A busy machine is no reason for a partial capture.
PATIENCE = """
from cellblock_artifacts import budget
for _name in ("TABLE_SECONDS", "CELL_SECONDS", "STATISTICS_SECONDS", "E2B_SECONDS"):
    setattr(budget, _name, 120.0)
"""

PREAMBLE = (
    PATIENCE
    + """
import datetime as dt, decimal, uuid
import duckdb, numpy as np, pandas as pd, polars as pl, pyarrow as pa
D = decimal.Decimal
nan, NaT = float("nan"), pd.NaT
"""
)

FRAMES: dict[str, str] = {
    "integers of every width": """pd.DataFrame({str(t): np.array([0, np.iinfo(t).max], t)
        for t in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")})""",
    "integers past 64 bits": "pd.DataFrame({'a': [2**70, -(2**90), None]}, dtype=object)",
    "integers past 38 digits": "pd.DataFrame({'a': [10**40, -1]}, dtype=object)",
    "floats": "pd.DataFrame({'a': [0.1, nan, np.inf, -np.inf, -0.0, 5e-324, 1.7e308]})",
    "short floats": "pd.DataFrame({'a': np.array([0.5, nan], 'f2'), 'b': np.array([.1, 2], 'f4')})",
    "booleans": "pd.DataFrame({'a': [True, False]})",
    "nullable types": """pd.DataFrame({'i': pd.array([2**62 + 1, None], 'Int64'),
        'b': pd.array([True, None], 'boolean'), 'f': pd.array([1.5, None], 'Float64'),
        's': pd.array(['x', None], 'string'), 'u': pd.array([None, 255], 'UInt8')})""",
    "NaN beside None": "pd.DataFrame({'a': [nan, None, 1.5]}, dtype=object)",
    "None among booleans": "pd.DataFrame({'a': [True, None, False]}, dtype=object)",
    "texts": """pd.DataFrame({'a': ['', 'x', None, ' y ', 'a,b', 'q"q', "it's", 'two\\nlines',
        '\\ttab', '=1+1', '<b>&amp;</b>', 'null', 'nan', '0x10']})""",
    "emoji and other scripts": "pd.DataFrame({'😀': ['👩‍👩‍👧', '日本語', 'ß', '\\u202eabc', 'é']})",
    "long texts": "pd.DataFrame({'a': ['x' * 100_000, 'é' * 70_000]})",
    "control characters": "pd.DataFrame({'a': ['a\\x00b', '\\x1b[31m', '\\u2028']})",
    "lone surrogates": "pd.DataFrame({'a': pd.Series(['\\ud800x'], dtype=object)})",
    "decimals": "pd.DataFrame({'a': [D('1.10'), None, D('-2.5'), D('0.00000001')]})",
    "long decimals": "pd.DataFrame({'a': [D('1' * 38), D('-' + '9' * 38)]})",
    "dates": """pd.DataFrame({'a': pd.to_datetime(['2024-02-29 23:59:59.123456789', None,
        '1677-09-22', '2262-04-11'], format='ISO8601')})""",
    "dates of other units": """pd.DataFrame({u: pd.Series(pd.to_datetime(['2024-02-29 10:00:01'])
        ).astype(f'datetime64[{u}]') for u in ('s', 'ms', 'us')})""",
    "dates with a zone": """pd.DataFrame({'a': pd.date_range('2024-03-31', periods=4, freq='h',
        tz='Europe/Oslo'), 'b': pd.date_range('2024-10-27', periods=4, freq='h', tz='US/Eastern'),
        'c': pd.date_range('2024-01-01', periods=4, tz='UTC')})""",
    "dates with fixed offsets": """pd.DataFrame({'a': pd.to_datetime(
        ['2024-01-01T00:00:00+05:30'])})""",
    "dates with different zones": """pd.DataFrame({'a': [
        dt.datetime.fromisoformat('2024-01-01T00:00:00+01:00'),
        dt.datetime.fromisoformat('2024-01-01T00:00:00-08:00')]}, dtype=object)""",
    "dates that pandas has no type for": """pd.DataFrame({'a': [dt.datetime(1, 1, 1),
        dt.datetime(9999, 12, 31, 23, 59, 59, 999999), None]}, dtype=object)""",
    "days and times": """pd.DataFrame({'d': [dt.date(2024, 2, 29), None],
        't': [dt.time(12, 30, 1, 5), None]})""",
    "durations": """pd.DataFrame({'a': pd.to_timedelta(['1 days 02:00:00.000000001', None,
        '-1 days', '106751 days'])})""",
    "categories": "pd.DataFrame({'a': pd.Categorical(['x', None, 'y'], ['y', 'z', 'x'])})",
    "ordered categories of numbers": """pd.DataFrame({'a': pd.Categorical([3, 1, 3], [3, 2, 1],
        ordered=True)})""",
    "lists": "pd.DataFrame({'a': [[1, 2], [], None], 'b': [[['x']], [[], None], [['y', None]]]})",
    "arrays in cells": "pd.DataFrame({'a': [np.array([1.5, 2]), np.array([])]})",
    "dictionaries": "pd.DataFrame({'a': [{'k': 1}, {'j': [1, None]}]})",
    "mixed objects": "pd.DataFrame({'a': [1, 'b', None, 2.5, (1, 2), {'k': 'v'}]}, dtype=object)",
    "bytes": "pd.DataFrame({'a': [b'\\x00\\xff', b'', None]})",
    "UUIDs": "pd.DataFrame({'a': [uuid.UUID(int=7)]})",
    "complex numbers": "pd.DataFrame({'a': [1 + 2j, -1j]})",
    "periods": "pd.DataFrame({'a': pd.period_range('2024-01', periods=2, freq='M')})",
    "intervals": "pd.DataFrame({'a': pd.interval_range(0, 2)})",
    "sparse": "pd.DataFrame({'a': pd.arrays.SparseArray([0, 0, 1])})",
    "Arrow-backed": """pd.DataFrame({'i': pd.array([1, None], 'int64[pyarrow]'),
        's': pd.array(['x', None], 'string[pyarrow]')})""",
    "all missing": "pd.DataFrame({'a': [None, None]})",
    "no rows": "pd.DataFrame({'a': pd.Series([], dtype='int64'), 'b': pd.Series([], dtype='str')})",
    "no columns": "pd.DataFrame(index=[1, 2])",
    "duplicate names": "pd.DataFrame([[1, 2.5, 'x']], columns=['a', 'a', 'a.1'])",
    "names that are numbers": "pd.DataFrame([[1, 2]], columns=[10, 20])",
    "names that are dates": """pd.DataFrame([[1, 2]],
        columns=pd.to_datetime(['2024-01-01', '2024-01-02']))""",
    "names of several kinds": "pd.DataFrame([[1, 2, 3]], columns=[0, None, ('a', 1)])",
    "MultiIndex columns": """pd.DataFrame([[1, 2, 3]], columns=pd.MultiIndex.from_tuples(
        [('x', 1), ('x', 2), ('y', 1)], names=['k', None]))""",
    "MultiIndex rows": """pd.DataFrame({'v': [1, 2]}, index=pd.MultiIndex.from_tuples(
        [('x', 1), ('y', 2)], names=['k', None]))""",
    "an index that is named like a column": """pd.DataFrame({'index': [5]},
        index=pd.Index(['r'], name='index'))""",
    "a date index with a zone": """pd.DataFrame({'v': [1.5, 2.5]},
        index=pd.date_range('2024-06-30', periods=2, tz='Asia/Tokyo', name='day'))""",
    "every third row": "pd.DataFrame({'v': range(10)}).iloc[1::3]",
    "a series": "pd.Series([1.5, None], index=['a', 'b'], name='s')",
    "an index": "pd.Index([3, 4], name='i')",
    "a styled frame": "pd.DataFrame({'v': [1, 2]}).style.highlight_max()",
    "a structured array": """np.array([(1, 2.5, 'x', b'yz')],
        dtype=[('i', '>i4'), ('f', '>f8'), ('s', 'U3'), ('b', 'S2')])""",
    "a matrix": "np.array([[1.5, 2.0], [3.0, nan]])",
}

# What a file cannot say of these, said.
AS_STORED: dict[str, str] = {
    "integers past 64 bits": "pd.DataFrame({'a': [D(2**70), D(-(2**90)), None]}, dtype=object)",
    "integers past 38 digits": "pd.DataFrame({'a': [str(10**40), '-1']})",
    "NaN beside None": "pd.DataFrame({'a': [nan, nan, 1.5]})",
    "lone surrogates": "pd.DataFrame({'a': ['?x']})",
    "dates with different zones": """pd.DataFrame({'a': ['2024-01-01T00:00:00+01:00',
        '2024-01-01T00:00:00-08:00']})""",
    "dates that pandas has no type for": """pd.DataFrame({'a': np.array(['0001-01-01',
        '9999-12-31T23:59:59.999999', 'NaT'], 'datetime64[us]')})""",
    "dates with fixed offsets": """pd.DataFrame({'a': pd.to_datetime(['2023-12-31T18:30Z'])
        .tz_convert(pytz.FixedOffset(330))})""",
    "Arrow-backed": """pd.DataFrame({'i': pd.array([1, None], 'int64[pyarrow]'),
        's': pd.array(['x', None], 'string')})""",
    "dictionaries": """pd.DataFrame({'a': ['{"k": 1}', '{"j": [1, null]}']})""",
    "mixed objects": """pd.DataFrame({'a': ['1', 'b', None, '2.5', '[1, 2]', '{"k": "v"}']})""",
    "UUIDs": "pd.DataFrame({'a': [str(uuid.UUID(int=7))]})",
    "complex numbers": "pd.DataFrame({'a': [str(1 + 2j), str(-1j)]})",
    "periods": "pd.DataFrame({'a': ['2024-01', '2024-02']})",
    "intervals": "pd.DataFrame({'a': ['(0, 1]', '(1, 2]']})",
    "sparse": "pd.DataFrame({'a': [0, 0, 1]})",
    "names of several kinds": """pd.DataFrame([[1, 2, 3]], columns=['0', None, "('a', '1')"])""",
    "a series": "pd.DataFrame({'s': [1.5, None]}, index=['a', 'b'])",
    "an index": "pd.DataFrame({'i': [3, 4]})",
    "a styled frame": "pd.DataFrame({'v': [1, 2]})",
    "polars": """pl.DataFrame({'i': [1, None], 'nan': [nan, None], 's': ['é', None],
        'l': [[1], None], 'd': [dt.date(2024, 1, 1), None], 'c': pl.Series(['x', 'y'],
        dtype=pl.Categorical), 'dec': [D('1.5'), None], 'st': [{'x': 1}, None],
        't': pl.Series([dt.datetime(2024, 1, 1), None]).dt.replace_time_zone('Europe/Oslo')})""",
    "a structured array": """pd.DataFrame({'i': np.array([1], 'i4'), 'f': [2.5], 's': ['x'],
        'b': [b'yz']})""",
    "a matrix": "pd.DataFrame([[1.5, 2.0], [3.0, nan]])",
}


def made(expression: str) -> Any:
    """The value that an expression makes here."""
    names = {"dt": dt, "decimal": decimal, "uuid": uuid, "D": decimal.Decimal, "nan": float("nan")}
    names |= {"duckdb": duckdb, "np": np, "pd": pd, "pl": pl, "pa": pa, "pytz": pytz}
    return eval(expression, names)  # the expressions are this file's own


def expected(name: str) -> Any:
    return made(AS_STORED.get(name, FRAMES[name]))
