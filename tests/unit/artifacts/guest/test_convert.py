"""Every awkward frame as Parquet and as a workbook: the same values, and nothing that runs."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from awkward import CASES
from cellblock_artifacts import convert
from table_data import content_of


@pytest.fixture
def converted(captured: Any, tmp_path: Path) -> Any:
    def make(value: Any, fmt: str) -> tuple[pa.Table, bytes]:
        content = content_of(captured(value).bundle["data"])
        source, target = tmp_path / "in.arrow", tmp_path / "out"
        source.write_bytes(content)
        convert.convert(str(source), str(target), fmt)
        return pa.ipc.open_file(pa.BufferReader(content)).read_all(), target.read_bytes()

    return make


@pytest.mark.parametrize("make", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_parquet_has_the_same_values(make: Any, converted: Any) -> None:
    stored, content = converted(make(), "parquet")
    table = pq.read_table(io.BytesIO(content))
    assert table.schema.names == stored.schema.names
    assert repr(table.to_pylist()) == repr(stored.to_pylist())
    assert table.schema.pandas_metadata == stored.schema.pandas_metadata


@pytest.mark.parametrize("make", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_a_workbook_has_every_row(make: Any, converted: Any) -> None:
    stored, content = converted(make(), "xlsx")
    sheet = openpyxl.load_workbook(io.BytesIO(content))["table"]
    rows = list(sheet.iter_rows(values_only=True))
    shown = [index for index, row in enumerate(stored.to_pylist())
             if any(value is not None for value in row.values())]
    # A sheet ends with its last row that has something in it.
    assert len(rows) == 1 + (shown[-1] + 1 if shown else 0)
    assert [str(name) for name in rows[0] if name is not None] == [
        name for name in stored.schema.names if name
    ]


def test_values_that_excel_has_types_for_keep_them(converted: Any) -> None:
    frame = pd.DataFrame({
        "n": [1, 2], "f": [0.5, float("nan")], "t": ["=1+1", "+x"], "b": [True, False],
        "d": pd.to_datetime(["2024-02-29 10:00", None]), "long": [2**60, 1],
    })
    _, content = converted(frame, "xlsx")
    rows = list(openpyxl.load_workbook(io.BytesIO(content))["table"].iter_rows(values_only=True))
    assert rows[1] == (1, 0.5, "=1+1", True, dt.datetime(2024, 2, 29, 10), str(2**60))
    assert rows[2] == (2, None, "+x", False, None, 1)


def test_text_is_never_a_formula(converted: Any) -> None:
    frame = pd.DataFrame({"=cmd()": ["=HYPERLINK(1)", "#REF!", "\x01"]})
    _, content = converted(frame, "xlsx")
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet
    assert 't="e"' not in sheet


def test_what_excel_cannot_hold_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convert, "EXCEL_ROWS", 3)
    table = pa.table({"a": [1, 2, 3]})
    with pa.ipc.new_file(str(tmp_path / "in"), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(convert.DoesNotFit, match="Excel holds 2 rows"):
        convert.convert(str(tmp_path / "in"), str(tmp_path / "out"), "xlsx")


def test_single_values() -> None:
    assert convert.excel_value(float("inf")) == "inf"
    assert convert.excel_value(decimal.Decimal("1.5")) == decimal.Decimal("1.5")
    assert convert.excel_value(decimal.Decimal(10**20)) == str(10**20)
    assert convert.excel_value(dt.datetime(1, 1, 1)) == "0001-01-01T00:00:00"
    assert convert.excel_value([1, {"a": None}]) == '[1, {"a": null}]'
    assert convert.excel_value(dt.timedelta(hours=1)) == "PT1H"
