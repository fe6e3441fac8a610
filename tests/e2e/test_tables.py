"""Tables that a cell shows, paged without a kernel and turned into other formats."""

import csv
import io
import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.awkward_frames import PATIENCE

FRAME = """
import numpy as np, pandas as pd
frame = pd.DataFrame({
    "n": np.arange(200_000),
    "amount": np.arange(200_000) * 37 % 200_000 / 4,
    "city": pd.Categorical(np.array(["Oslo", "Rome", "São Paulo"])[np.arange(200_000) % 3]),
    "day": pd.date_range("2024-01-01", periods=200_000, freq="min", tz="Europe/Oslo"),
})
frame
"""


def table_of(run) -> dict:
    assert run.error is None, run.error
    tables = [line for line in run.artifacts if line["kind"] == "table"]
    assert len(tables) == 1, run.lines
    return tables[0]


@pytest.fixture(scope="module")
def table(gateway):
    """The frame's artifact. Its sandbox is gone before the first test: nothing needs it."""
    sandbox = gateway.create_sandbox(timeout=600)
    assert gateway.execute(PATIENCE, sandbox=sandbox).error is None
    found = table_of(gateway.execute(FRAME, sandbox=sandbox))
    gateway.delete_sandbox(sandbox)
    return found["url"]


def rows(gateway, url: str, **params) -> dict:
    answer = gateway.request("GET", url + "/rows", params=params)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    return answer.json()


def test_a_table_is_paged_after_its_sandbox_has_gone(gateway, table):
    page = rows(gateway, table, offset=131_070, limit=4)
    assert page["total"] == page["matched"] == 200_000
    assert [row[0] for row in page["rows"]] == [131_070, 131_071, 131_072, 131_073]
    assert page["rows"][0][3] == "2024-04-01T01:30:00+02:00"
    assert [column["name"] for column in page["columns"]] == ["n", "amount", "city", "day"]
    assert [column["kind"] for column in page["columns"]] == [
        "integer",
        "floating",
        "category",
        "datetime",
    ]


def test_a_table_is_sorted_and_filtered(gateway, table):
    page = rows(
        gateway,
        table,
        sort="-amount",
        filter=["city:eq:Rome", "day:lt:2024-01-02"],
        columns="n,city",
        limit=2,
    )
    assert page["matched"] == 480
    expected = sorted((n for n in range(1440) if n % 3 == 1), key=lambda n: -(n * 37 % 200_000))
    assert page["rows"] == [[n, "Rome"] for n in expected[:2]]


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("sort=nope", 400, "no column"),
        ("filter=n:like:3", 400, "operators"),
        ("filter=n:eq:x", 400, "number"),
        ("limit=many", 400, "whole number"),
    ],
)
def test_what_is_wrong_with_a_query_is_said(gateway, table, query, status, said):
    answer = gateway.request("GET", f"{table}/rows?{query}")
    assert answer.status_code == status
    assert said in answer.text


def test_data_that_is_not_the_whole_table_says_so_and_where_it_is(gateway, sandbox):
    assert gateway.execute(PATIENCE, sandbox=sandbox).error is None
    run = gateway.execute(
        "import pandas as pd; pd.DataFrame({'a': range(60_000), 'b': 1.5})", sandbox=sandbox
    )
    (result,) = run.results
    cut = result["extra"]["data_cut"]
    assert cut == {"rows": 10_000, "rows_total": 60_000, "artifact": table_of(run)["url"]}
    assert [len(items) for items in result["data"].values()] == [10_000, 10_000]
    assert rows(gateway, cut["artifact"], offset=59_999)["rows"] == [[59_999, 1.5]]
    whole = gateway.execute("pd.DataFrame({'a': range(50_000)})", sandbox=sandbox).results[0]
    assert whole["extra"] == {} and len(whole["data"]["a"]) == 50_000


def test_only_tables_have_rows(gateway, sandbox):
    picture = gateway.execute(
        "from IPython.display import SVG\nSVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')",
        sandbox=sandbox,
    ).artifacts[0]
    for path in ("/rows", ".csv", ".parquet"):
        answer = gateway.request("GET", picture["url"] + path)
        assert answer.status_code == 400, answer.text
        assert "no table" in answer.json()["message"]
    assert gateway.request("GET", "/artifacts/nope/rows").status_code == 404
    assert gateway.request("GET", "/artifacts/nope.csv").status_code == 404


def test_a_table_comes_as_csv_json_html_and_markdown(gateway, table):
    text = gateway.request("GET", table + ".csv")
    assert text.headers["Content-Type"].startswith("text/csv")
    assert 'filename="table-1.csv"' in text.headers["Content-Disposition"]
    lines = list(csv.DictReader(io.StringIO(text.content.decode())))
    assert len(lines) == 200_000
    assert lines[2]["city"] == "São Paulo"
    records = gateway.request("GET", table + ".json").json()
    assert len(records) == 200_000
    assert records[1]["day"] == "2024-01-01T00:01:00+01:00"
    page = gateway.request("GET", table + ".html")
    assert page.headers["Content-Security-Policy"].startswith("sandbox;")
    assert page.content.count(b"<tr>") == 200_001
    markdown = gateway.request("GET", table + ".md", params={"rows": 2}).content.decode()
    assert markdown.endswith("\nThe first 2 of 200,000 rows.\n")
    head = gateway.request("HEAD", table + ".csv")
    assert head.headers["Content-Type"].startswith("text/csv")
    unknown = gateway.request("GET", table + ".exe")
    assert unknown.status_code == 404
    assert "formats are" in unknown.json()["advice"]


def sandboxes(gateway) -> set[str]:
    return {entry["sandboxID"] for entry in gateway.request("GET", "/sandboxes").json()}


def test_parquet_and_excel_are_made_in_a_sandbox_that_is_gone_afterwards(gateway, table):
    before = sandboxes(gateway)
    made = gateway.request("GET", table + ".parquet", timeout=300)
    assert made.status_code == 200, made.text
    frame = pq.read_table(io.BytesIO(made.content)).to_pandas()
    assert str(frame["day"].dtype).endswith("Europe/Oslo]")
    assert frame["city"].dtype == "category"
    assert sandboxes(gateway) == before


def test_excel_has_the_rows_and_no_formulas(gateway, sandbox):
    code = "import pandas as pd\npd.DataFrame({'t': ['=1+1', None], 'n': [1.5, 2**60]})"
    url = table_of(gateway.execute(code, sandbox=sandbox))["url"]
    made = gateway.request("GET", url + ".xlsx", timeout=300)
    assert made.status_code == 200, made.text
    assert made.content.startswith(b"PK")
    assert made.headers["Content-Disposition"].startswith("attachment")
    assert b"<f>" not in made.content


def test_a_file_that_lies_about_itself_is_refused_by_every_door(gateway, sandbox):
    """The guest's own process can write any bytes where the host takes tables from."""
    code = """
import base64, json
from IPython.display import display
broken = b"ARROW1\\x00\\x00" + b"\\xff" * 200 + b"\\x10\\x00\\x00\\x00ARROW1"
display({"application/vnd.cellblock.table+json": {
    "v": 1, "columns": [{"name": "a", "dtype": "int64", "kind": "integer"}], "columns_total": 1,
    "rows_total": 1, "preview": [[1]], "preview_head": 1, "partial": False, "reason": "",
    "data": {"format": "arrow", "rows": 1, "base64": base64.b64encode(broken).decode()},
}, "text/plain": "a"}, raw=True)
"""
    url = table_of(gateway.execute(code, sandbox=sandbox))["url"]
    for path in ("/rows", ".csv", ".html"):
        answer = gateway.request("GET", url + path)
        assert answer.status_code == 502, answer.text
        assert "Arrow file" in answer.json()["message"]
    answer = gateway.request("GET", url + ".parquet", timeout=300)
    assert answer.status_code == 501, answer.text
    assert "cannot be converted" in answer.json()["message"]


def test_the_arrow_file_itself_opens_in_pandas(gateway, table):
    content = gateway.request("GET", table + ".arrow").content
    frame = pa.ipc.open_file(pa.BufferReader(content)).read_pandas()
    assert len(frame) == 200_000
    assert isinstance(frame, pd.DataFrame)
    assert json.loads(pa.ipc.open_file(content).schema.metadata[b"cellblock.table"])["library"]
