#!/usr/bin/env python3
"""Writes the Arrow files that unit tests and fuzzers read: python3 tests/data/tables/generate.py

The files are kept, so that no test needs pyarrow; their values stand in the tests.
"""

import datetime as dt
import decimal
from pathlib import Path

import numpy as np
import pyarrow as pa

HERE = Path(__file__).parent
CORPUS = HERE.parents[1] / "fuzz" / "corpus" / "arrow_file"


def write(path: Path, table: pa.Table, rows: int | None = None) -> None:
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)


def kinds() -> dict[str, pa.Array]:
    """Three rows of every type that the reader knows; the last one is null."""
    moment = dt.datetime(2024, 7, 1, 10, 30, 0, 250)
    keyed = pa.map_(pa.string(), pa.int32())
    pair = pa.struct([("x", pa.int64()), ("y", pa.string())])
    return {
        "flag": pa.array([True, False, None]),
        "small": pa.array([-128, 127, None], pa.int8()),
        "big": pa.array([2**53, 2**53 + 1, None], pa.int64()),
        "huge": pa.array([0, 2**64 - 1, None], pa.uint64()),
        "half": pa.array([np.float16(0.5), np.float16(-65504), None], pa.float16()),
        "single": pa.array([0.25, float("inf"), None], pa.float32()),
        "double": pa.array([1e300, float("nan"), None]),
        "money": pa.array(
            [decimal.Decimal("1.10"), decimal.Decimal("-0.05"), None], pa.decimal128(38, 2)
        ),
        "day": pa.array([dt.date(1, 1, 1), dt.date(2024, 2, 29), None]),
        "clock": pa.array([dt.time(0, 0), dt.time(23, 59, 59, 5), None], pa.time64("us")),
        "naive": pa.array(
            [moment, dt.datetime(1969, 12, 31, 23, 59, 59), None], pa.timestamp("us")
        ),
        "oslo": pa.array(
            [moment, dt.datetime(2024, 1, 1), None], pa.timestamp("us", "Europe/Oslo")
        ),
        "fixed": pa.array([1, -1, None], pa.timestamp("ns", "+05:30")),
        "wait": pa.array(
            [dt.timedelta(days=1, hours=2), dt.timedelta(microseconds=-1), None], pa.duration("us")
        ),
        "span": pa.array(
            [
                pa.scalar((14, 3, 0), pa.month_day_nano_interval()),
                pa.scalar((0, 0, -5_000_000_000), pa.month_day_nano_interval()),
                None,
            ],
            pa.month_day_nano_interval(),
        ),
        "text": pa.array(['😀 "q"\n', "", None], pa.large_string()),
        "bytes": pa.array([b"\x00\xff", b"", None]),
        "fours": pa.array([b"abcd", b"efgh", None], pa.binary(4)),
        "city": pa.array(["Oslo", "Rome", None]).dictionary_encode(),
        "list": pa.array([[1, None], [], None]),
        "nested": pa.array([[["a"], []], [[None]], None]),
        "pairs": pa.array([[1.5, 2.5], [3.5, None], None], pa.list_(pa.float64(), 2)),
        "record": pa.array([{"x": 1, "y": "a"}, {"x": None, "y": "b"}, None], pair),
        "lookup": pa.array([[("k", 1)], [], None], keyed),
        "nothing": pa.nulls(3),
    }


def sales(rows: int) -> pa.Table:
    """Rows whose order and values a test can say: n, and what follows from it."""
    numbers = np.arange(rows)
    amount = pa.array((numbers * 37 % rows) / 4, mask=numbers % 10 == 9)
    names = pa.array([f"name {n:05}" for n in numbers], pa.large_string())
    city = pa.DictionaryArray.from_arrays(
        pa.array(numbers % 3, pa.int8()), ["Oslo", "Rome", "São Paulo"]
    )
    day = pa.array(numbers * 86_400_000_000, pa.timestamp("us", "UTC"))
    return pa.table({"n": numbers, "amount": amount, "name": names, "city": city, "day": day})


def main() -> None:
    CORPUS.mkdir(parents=True, exist_ok=True)
    all_kinds = kinds()
    write(HERE / "kinds.arrow", pa.table(all_kinds))
    write(HERE / "sales.arrow", sales(1000), 64)
    marked = pa.field("a", pa.int64(), metadata={"cellblock.index": "1"})
    write(
        HERE / "names.arrow",
        pa.table(
            [pa.array([1, 2]), pa.array(["=1+1", "<b>|"]), pa.array([None, "x,y"])],
            schema=pa.schema([marked, ("a:b,c", pa.large_string()), ("-a", pa.large_string())]),
        ),
    )
    write(HERE / "alone.arrow", pa.table({"s": pa.array(["x", "", None], pa.large_string())}))
    for name, array in all_kinds.items():
        write(CORPUS / name, pa.table({name: array}))
    write(CORPUS / "batches", sales(40), 16)
    write(CORPUS / "empty", sales(40).slice(0, 0))
    write(CORPUS / "no-columns", pa.table({}))
    many = pa.array([f"{n}" for n in range(300)]).dictionary_encode()
    write(CORPUS / "long-dictionary", pa.table({"d": many}), 100)


if __name__ == "__main__":
    main()
