"""Awkward tables, shown in a real microVM: from each format comes back what the user had."""

import datetime as dt
import decimal
import io
import json

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from support.awkward_frames import FRAMES, PREAMBLE, expected, made

# Columns that CSV, as pyarrow reads it with the right types, can carry.
FLAT = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_large_string,
    pa.types.is_decimal,
    pa.types.is_date,
    pa.types.is_timestamp,
)


class Shown:
    """What one shown table became."""

    def __init__(self, gateway, name: str, sandbox: str) -> None:
        run = gateway.execute(FRAMES[name].replace("\n", " "), sandbox=sandbox)
        assert run.error is None, run.error
        tables = [line for line in run.artifacts if line["kind"] == "table"]
        assert len(tables) == 1, run.lines
        self.gateway = gateway
        self.artifact = tables[0]
        self.data = run.results[-1].get("data", {})  # none of a table without columns
        self.arrow = pa.ipc.open_file(pa.BufferReader(self.fetch(".arrow"))).read_all()

    def fetch(self, what: str) -> bytes:
        answer = self.gateway.request("GET", self.artifact["url"] + what, timeout=300)
        assert answer.status_code == 200, answer.text
        return answer.content


@pytest.fixture(scope="module")
def shown(gateway):
    """Shows each table when a test first asks for it; all in one sandbox."""
    sandbox = gateway.create_sandbox(timeout=1800)
    assert gateway.execute(PREAMBLE, sandbox=sandbox).error is None
    kept: dict[str, Shown] = {}

    def show(name: str) -> Shown:
        if name not in kept:
            kept[name] = Shown(gateway, name, sandbox)
        return kept[name]

    yield show
    gateway.delete_sandbox(sandbox)


def test_there_are_enough_of_them():
    assert len(FRAMES) >= 40


@pytest.mark.parametrize("name", FRAMES)
def test_arrow_gives_back_what_the_user_had(shown, name):
    table = shown(name).arrow
    table.validate(full=True)
    want = expected(name)
    if isinstance(want, pl.DataFrame):
        assert pl.from_arrow(table).equals(want)
    elif isinstance(want, pd.DataFrame):
        pd.testing.assert_frame_equal(table.to_pandas(), want, check_freq=False)
    else:  # pyarrow, and what becomes it
        want = want if isinstance(want, pa.Table) else want.to_arrow_table()
        assert table.schema.names == want.schema.names
        assert table.to_pylist() == want.to_pylist()


def same_cell(got, want) -> bool:
    """A cell of a page against e2b/data: equal, but for what a column stored as text is."""
    if got == want:
        return True
    if isinstance(got, str) and isinstance(want, (list, dict)):
        return json.loads(got) == want
    if got in ("inf", "-inf"):  # data has no infinity
        return want is None
    if isinstance(got, str) and isinstance(want, (int, float)):
        return got == str(want)
    if isinstance(got, str) and isinstance(want, str):
        try:  # the decimals of a column have one scale
            return decimal.Decimal(got) == decimal.Decimal(want)
        except decimal.InvalidOperation:
            return got.endswith("…") and want.startswith(got[:-1])
    return False


@pytest.mark.parametrize("name", FRAMES)
def test_pages_and_json_have_the_cells_that_e2b_data_has(shown, name):
    table = shown(name)
    page = json.loads(table.fetch("/rows"))
    records = json.loads(table.fetch(".json"))
    names = [column["name"] for column in page["columns"]]
    assert names == table.arrow.schema.names
    assert page["total"] == len(page["rows"]) == len(records) == table.arrow.num_rows
    assert [list(record) for record in records] == [names] * len(records)
    data = table.data or {}
    assert set(data) <= set(names)
    labels = [column["name"] for column in page["columns"] if column.get("index")]
    assert [name for name in names if name not in data] == labels
    for column, values in data.items():
        at = names.index(column)
        for row, value in enumerate(values):
            assert same_cell(page["rows"][row][at], value), (column, page["rows"][row][at], value)
            assert same_cell(records[row][column], value), (column, records[row][column], value)


@pytest.mark.parametrize("name", FRAMES)
def test_csv_read_with_the_types_has_the_same_values(shown, name):
    table = shown(name)
    content = table.fetch(".csv")
    alone = table.arrow.num_columns == 1
    fields = [field for field in table.arrow.schema if any(test(field.type) for test in FLAT)]
    options = pa.csv.ConvertOptions(
        column_types={field.name: csv_type(field.type) for field in fields},
        include_columns=[field.name for field in fields],
        strings_can_be_null=True,
        # The only cell of a row is quoted, so that the line is not empty.
        quoted_strings_can_be_null=alone,
        null_values=[""],
    )
    if not fields or not table.arrow.num_rows:
        assert content.count(b"\n") >= 1
        return
    parse = pa.csv.ParseOptions(newlines_in_values=True)
    read = pa.csv.read_csv(io.BytesIO(content), parse_options=parse, convert_options=options)
    assert read.num_rows == table.arrow.num_rows
    for field in fields:
        got = [csv_value(value, field.type) for value in read.column(field.name).to_pylist()]
        want = [None if v != v else v for v in table.arrow.column(field.name).to_pylist()]
        if alone:
            want = [None if v == "" else v for v in want]
        assert list(map(comparable, got)) == list(map(comparable, want)), field


def csv_type(kind: pa.DataType) -> pa.DataType:
    """Halves and moments are read as what pyarrow's CSV reader knows."""
    if pa.types.is_float16(kind):
        return pa.float32()
    return pa.string() if pa.types.is_timestamp(kind) or pa.types.is_date(kind) else kind


def csv_value(value, kind: pa.DataType):
    if value is None or not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        return value
    return pd.Timestamp(value) if kind == pa.timestamp("ns") else dt.datetime.fromisoformat(value)


def comparable(value):
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return pd.Timestamp(value).tz_convert("UTC")
    if isinstance(value, dt.datetime):
        return pd.Timestamp(value).to_pydatetime(warn=False) if value.year > 1677 else value
    if isinstance(value, dt.date):
        return dt.datetime(value.year, value.month, value.day)
    return value


KINDS = """pd.DataFrame({'i': [1, 2**62], 'f': [0.5, None], 's': ['é=', None], 'b': [True, False],
    'day': pd.to_datetime(['2024-02-29 10:00', None]), 'zone': pd.date_range('2024-03-31',
    periods=2, freq='12h', tz='Europe/Oslo'), 'wait': pd.to_timedelta(['1h', None]),
    'dec': [D('1.10'), None], 'cat': pd.Categorical(['x', None]), 'l': [[1], []],
    'n': pd.array([1, None], 'Int64')}, index=pd.Index(['r1', 'r2'], name='row'))"""


def test_parquet_and_excel_have_every_kind_of_column(gateway, shown):
    FRAMES["every kind"] = KINDS
    try:
        table = shown("every kind")
    finally:
        del FRAMES["every kind"]
    frame = pq.read_table(io.BytesIO(table.fetch(".parquet"))).to_pandas()
    pd.testing.assert_frame_equal(frame, made(KINDS))
    sheet = openpyxl.load_workbook(io.BytesIO(table.fetch(".xlsx")))["table"]
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0][:4] == ("row", "i", "f", "s")
    assert rows[1][:6] == ("r1", 1, 0.5, "é=", True, dt.datetime(2024, 2, 29, 10))
    assert rows[1][6] == "2024-03-31T00:00:00+01:00"
    assert rows[2][:6] == ("r2", str(2**62), None, None, False, None)
