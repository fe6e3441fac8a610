"""The bundle: schema, statistics, preview, e2b/data, limits, failures, other libraries."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import gc
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cellblock_artifacts import budget, capture_table, storage, table, values
from cellblock_artifacts.sources.statistics import plain_statistics
from table_data import content_of


def column(result: Any, name: str) -> dict[str, Any]:
    return next(c for c in result.bundle["columns"] if c["name"] == name)


def test_statistics_by_kind(captured: Any) -> None:
    frame = pd.DataFrame({
        "n": [1, 2, 3, None],
        "s": ["x", "x", "y", None],
        "d": pd.to_datetime(["2024-01-02", "2024-01-01", None, "2024-01-03"]),
        "c": pd.Categorical(["u", "v", "u", "u"]),
        "b": [True, True, False, True],
    })
    result = captured(frame)
    assert column(result, "n")["nulls"] == 1
    assert column(result, "n")["stats"] == {"min": 1.0, "max": 3.0, "mean": 2.0, "std": 1.0}
    assert column(result, "s")["stats"] == {"distinct": 2, "top": [["x", 2], ["y", 1]]}
    assert column(result, "d")["stats"] == {"min": "2024-01-01T00:00:00",
                                            "max": "2024-01-03T00:00:00"}
    assert column(result, "c")["stats"]["top"] == [["u", 3], ["v", 1]]
    assert column(result, "b")["stats"]["top"] == [[True, 3], [False, 1]]
    assert [c["kind"] for c in result.bundle["columns"]] == [
        "floating", "text", "datetime", "category", "boolean"]


def test_long_columns_measured_by_their_library_agree_with_plain_python(captured: Any) -> None:
    pl = pytest.importorskip("polars")
    rows = budget.SMALL_ROWS + 500
    raw = {
        "n": [None if i % 7 == 0 else i for i in range(rows)],
        "f": [i / 8 for i in range(rows)],
        "s": ["x" if i % 3 else "y" for i in range(rows)],
        "d": [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=i) for i in range(rows)],
        "b": [i % 4 == 0 for i in range(rows)],
    }
    frames = [pd.DataFrame(raw), pl.DataFrame(raw), pl.DataFrame(raw).to_arrow()]
    for frame in frames:
        result = captured(frame)
        plain = {name: plain_statistics(items, column(result, name)["kind"])
                 for name, items in raw.items()}
        for name, expected in plain.items():
            found = column(result, name)
            stats = found["stats"]
            assert found["nulls"] == expected.pop("nulls")
            assert stats.get("distinct") == expected.get("distinct") or name == "n"
            assert stats.get("min") == expected.get("min")
            assert stats.get("max") == expected.get("max")
            if name in ("n", "f"):
                assert stats["mean"] == pytest.approx(expected["mean"])
                assert stats["std"] == pytest.approx(expected["std"])
            if name in ("s", "b"):
                assert stats["top"] == expected["top"]


def test_e2b_data_is_what_clients_of_e2b_know(captured: Any) -> None:
    frame = pd.DataFrame({
        "f": [1.5, np.nan, np.inf],
        "t": pd.to_datetime(["2024-01-31 10:00", None, "2024-02-01 00:00"]),
        "o": [decimal.Decimal("1.10"), dt.date(2024, 1, 1), {"k": [1, float("nan")]}],
        1: [1, 2, 3],
    })
    assert captured(frame).data == {
        "f": [1.5, None, None],
        "t": ["2024-01-31T10:00:00", None, "2024-02-01T00:00:00"],
        "o": ["1.10", "2024-01-01", {"k": [1, None]}],
        "1": [1, 2, 3],
    }


def test_big_integers_and_infinities_are_text_where_numbers_would_be_rounded(captured: Any) -> None:
    result = captured(pd.DataFrame({"a": [2**53 + 1, 1], "b": [np.inf, -np.inf]}))
    assert result.bundle["preview"] == [["9007199254740993", "inf"], [1, "-inf"]]
    assert result.data["a"] == ["9007199254740993", 1]


def test_preview_has_head_and_tail_of_a_long_table(captured: Any) -> None:
    result = captured(pd.DataFrame({"a": range(1000)}))
    assert [row[0] for row in result.bundle["preview"]] == [*range(10), *range(995, 1000)]
    assert result.bundle["preview_head"] == 10
    assert result.bundle["rows_total"] == 1000


def test_long_cells_are_cut_in_the_preview_and_whole_in_the_file(captured: Any,
                                                                 stored: Any) -> None:
    result = captured(pd.DataFrame({"a": ["x" * 50_000]}))
    assert len(result.bundle["preview"][0][0]) == budget.CELL_CHARACTERS
    assert len(stored(result).column(0)[0].as_py()) == 50_000


def test_wide_tables_are_described_up_to_a_limit(captured: Any, stored: Any) -> None:
    result = captured(pd.DataFrame(np.zeros((3, 1000))))
    assert len(result.bundle["columns"]) == budget.PREVIEW_COLUMNS
    assert result.bundle["columns_total"] == 1000
    assert "only the first 200 columns are described" in result.bundle["reason"]
    assert stored(result).num_columns == 1000


def test_e2b_data_is_capped_and_the_bundle_says_so(captured: Any) -> None:
    result = captured(pd.DataFrame({"a": range(150_000), "b": range(150_000)}))
    assert len(result.data["a"]) == budget.E2B_SOME_CELLS // 2
    assert result.bundle["e2b_rows"] == budget.E2B_SOME_CELLS // 2
    heavy = captured(pd.DataFrame({"a": ["x" * 10_000] * 5000}))
    assert sum(map(len, heavy.data["a"])) <= budget.E2B_BYTES
    assert heavy.bundle["e2b_rows"] == len(heavy.data["a"]) > 0


def test_a_column_whose_later_rows_do_not_fit_is_stored_as_text(captured: Any,
                                                                 stored: Any) -> None:
    lists = [[1]] * budget.BATCH_ROWS + [["x"]]
    result = captured(pd.DataFrame({"n": range(len(lists)), "a": lists}))
    assert "stored as text" in column(result, "a")["note"]
    read = stored(result)
    assert read.column(1)[0].as_py() == "[1]"
    assert read.column(1)[len(lists) - 1].as_py() == '["x"]'
    assert read.column(0)[len(lists) - 1].as_py() == len(lists) - 1


def test_many_batches_come_back_whole(captured: Any, stored: Any) -> None:
    rows = budget.BATCH_ROWS * 2 + 17
    frame = pd.DataFrame({"a": np.arange(rows), "c": pd.Categorical(["x", "y"] * (rows // 2) +
                                                                     ["x"] * (rows % 2))})
    read = stored(captured(frame))
    assert read.num_rows == rows
    assert read.column(0).to_numpy().tolist() == list(range(rows))
    assert read.column(1).combine_chunks().to_pylist()[-1] == "x"


def test_size_limit_gives_the_first_rows_and_says_so(captured: Any, stored: Any,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "FILE_MAX_BYTES", 600_000)
    result = captured(pd.DataFrame({"a": np.arange(200_000)}))
    assert result.bundle["partial"]
    assert "only 65536 of 200000 rows were stored" in result.bundle["reason"]
    assert stored(result).column(0).to_numpy()[-1] == 65535


def test_time_limit_of_the_cell(captured: Any, folder: Path) -> None:
    budget.cell_time.left = 0.0
    result = captured(pd.DataFrame({"a": range(10)}))
    assert result.bundle["data"] is None
    assert "time for capturing" in result.bundle["reason"]
    assert len(result.bundle["preview"]) == 10
    assert list(folder.iterdir()) == []


def test_without_a_folder_the_preview_still_goes_out(captured: Any,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "FOLDER", "/nonexistent/folder")
    result = captured(pd.DataFrame({"a": [1]}))
    assert result.bundle["data"] is None
    assert "the full data was not stored" in result.bundle["reason"]


def test_without_pyarrow_the_file_is_csv(captured: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = captured(pd.DataFrame({"a": [1, 2], "b": ["x,\n", None], "l": [[1], {"k": 2}]}))
    data = result.bundle["data"]
    assert data["format"] == "csv"
    text = content_of(data).decode("utf-8")
    assert text == 'a,b,l\r\n1,"x,\n",[1]\r\n2,,"{""k"": 2}"\r\n'
    assert data["rows"] == 2


def test_a_failure_in_the_middle_leaves_no_file(folder: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(storage, "_batch_rows", interrupted)
    Path(folder, "other").write_text("stays")
    with pytest.raises(KeyboardInterrupt):
        capture_table(pd.DataFrame({"a": [1]}))
    assert [p.name for p in folder.iterdir()] == ["other"]


def test_a_broken_frame_is_a_reason_and_not_an_exception() -> None:
    class Broken(pd.DataFrame):
        @property
        def columns(self) -> Any:
            raise RuntimeError("no columns today")

        @columns.setter
        def columns(self, value: Any) -> None:
            pass

    bundle = capture_table(Broken.__new__(Broken))
    assert bundle is not None
    assert bundle["partial"] and bundle["columns"] == [] and bundle["reason"]


def test_what_is_no_table() -> None:
    for value in (1, "x", [1], {"a": 1}, None, np.zeros(3), np.zeros((2, 2, 2)), np.float64(1),
                  object(), pd.Timestamp("2024-01-01"), pd.DataFrame):
        assert capture_table(value) is None


def test_styler(captured: Any) -> None:
    pytest.importorskip("jinja2")
    result = captured(pd.DataFrame({"a": [1]}).style)
    assert result.bundle["type"] == "Styler"
    assert result.data == {"a": [1]}


def test_subclasses_are_tables(captured: Any) -> None:
    class Frame(pd.DataFrame):
        pass

    assert captured(Frame({"a": [1]})).bundle["library"] == "pandas"


def test_polars(captured: Any, stored: Any) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({
        "i": [1, None], "s": ["x", "y"], "d": [dt.date(2024, 1, 1), None],
        "l": [[1], [2, 3]], "r": [{"a": 1}, {"a": 2}], "f": [float("nan"), 1.0],
        "t": [dt.datetime(2024, 1, 1, tzinfo=dt.UTC), None],
        "u": [dt.timedelta(seconds=90), None],
        "c": pl.Series(["p", "q"], dtype=pl.Categorical), "b": [b"\x01", None],
        "z": [decimal.Decimal("1.5"), None], "n": [None, None],
    })
    result = captured(frame)
    assert [c["kind"] for c in result.bundle["columns"]] == [
        "integer", "text", "date", "list", "record", "floating", "datetime", "duration", "category",
        "binary", "decimal", "null"]
    read = stored(result)
    assert read.column("i").to_pylist() == [1, None]
    assert read.column("r").to_pylist() == [{"a": 1}, {"a": 2}]
    assert read.column("c").to_pylist() == ["p", "q"]
    assert "view" not in str(read.schema)
    assert result.data["u"] == ["PT1M30S", None]
    assert result.data["f"] == [None, 1.0]
    assert captured(frame["i"]).data == {"i": [1, None]}
    assert captured(pl.DataFrame()).bundle["columns"] == []


def test_pyarrow(captured: Any, stored: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    source = pa.table([pa.chunked_array([[1, 2], [3]]), pa.array(["a", None, "b"]),
                       pa.array([1, 1, 2]).dictionary_encode()], names=["x", "x", "d"])
    result = captured(source)
    assert [c["kind"] for c in result.bundle["columns"]] == ["integer", "text", "category"]
    assert result.data == {"x": [1, 2, 3], "x.1": ["a", None, "b"], "d": [1, 1, 2]}
    assert stored(result).column(0).to_pylist() == [1, 2, 3]
    assert captured(source.to_batches()[0]).bundle["rows_total"] == 2
    strange = pa.table({"v": pa.array(["x"], pa.string_view()),
                        "r": pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()),
                                                               pa.array(["q"])).slice(0, 1)})
    read = stored(captured(strange))
    assert read.column("v").to_pylist() == ["x"]
    assert read.column("r").to_pylist() == ["q"]


def test_duckdb(captured: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    result = captured(duckdb.sql("select 1 as a, 'x' as b, interval 1 month as i"))
    assert result.bundle["library"] == "duckdb"
    assert result.data["b"] == ["x"]
    assert result.bundle["rows_total"] == 1
    monkeypatch.setattr(budget, "RELATION_ROWS", 10)
    many = captured(duckdb.sql("select * from range(100)"))
    assert many.bundle["rows_total"] is None
    assert "only the first 10 rows were asked for" in many.bundle["reason"]


def test_capture_keeps_no_reference_to_the_frame() -> None:
    import weakref

    frame = pd.DataFrame({"a": [1, 2]})
    gone = weakref.ref(frame)
    capture_table(frame)
    del frame
    gc.collect()
    assert gone() is None


def test_no_warning_reaches_the_user(recwarn: pytest.WarningsRecorder) -> None:
    capture_table(pd.DataFrame([[1, np.inf]], columns=["a", "a"]))
    capture_table(pd.DataFrame({"a": [pd.NaT, "x"]}))
    assert list(recwarn) == []


def test_a_large_table_is_a_file_for_the_host(folder: Path, captured: Any) -> None:
    result = captured(pd.DataFrame({"a": range(20_000)}))
    path = result.bundle["data"]["path"]
    assert os.path.dirname(path) == str(folder)
    assert result.bundle["data"]["size"] == os.path.getsize(path)
    assert "base64" not in result.bundle["data"]


def test_a_small_table_brings_its_data_and_leaves_no_file(folder: Path, captured: Any) -> None:
    data = captured(pd.DataFrame({"a": [1]})).bundle["data"]
    assert len(base64.b64decode(data["base64"], validate=True)) == data["size"]
    assert "path" not in data
    assert list(folder.iterdir()) == []


def test_budget_is_shared_by_the_tables_of_a_cell(captured: Any) -> None:
    before = budget.cell_time.left
    captured(pd.DataFrame({"a": range(100_000)}))
    assert budget.cell_time.left < before


def test_durations_and_odd_scalars() -> None:
    assert values.duration(dt.timedelta(0)) == "PT0S"
    assert values.duration(dt.timedelta(days=-1, seconds=3600)) == "-PT23H"
    assert values.duration(pd.Timedelta(days=1, nanoseconds=5)) == "P1DT0.000000005S"
    assert values.cell(np.datetime64("2024-01-01")) == "2024-01-01"
    assert values.cell(np.float32("nan")) is None
    assert values.cell(np.datetime64("NaT", "s")) is None
    assert values.cell(b"\xff" * 300).endswith("(300 bytes)")
    cycle: list[Any] = []
    cycle.append(cycle)
    assert values.cell(cycle) == "[[...]]"


def test_module_imports_no_library() -> None:
    import subprocess

    code = ("import sys; sys.path.insert(0, sys.argv[1]); import cellblock_artifacts.hook; "
            "print([m for m in ('pandas','numpy','pyarrow','polars','IPython') "
            "if m in sys.modules])")
    guest = Path(table.__file__).parents[1]
    out = subprocess.run([sys.executable, "-c", code, str(guest)], capture_output=True, text=True,
                         check=True)
    assert out.stdout.strip() == "[]"
