"""Puts the guest package on the path, gives each test a folder for files and a fresh cell."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "artifacts" / "guest"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from cellblock_artifacts import budget, storage, table  # noqa: E402
from table_data import content_of  # noqa: E402


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(storage, "FOLDER", str(tmp_path))
    # A busy machine is no reason for a partial capture; tests of the limits set their own.
    for name in ("TABLE_SECONDS", "CELL_SECONDS", "STATISTICS_SECONDS", "E2B_SECONDS"):
        monkeypatch.setattr(budget, name, 120.0)
    budget.cell_time.renew()
    yield tmp_path


@pytest.fixture
def captured() -> Callable[[Any], Any]:
    """Captures a value and insists on what holds for every table."""

    def capture(value: Any) -> Any:
        result = table.capture(value)
        assert result is not None, "not taken for a table"
        bundle = result.bundle
        json.dumps(bundle, allow_nan=False).encode("utf-8")
        json.dumps(result.data, allow_nan=False).encode("utf-8")
        assert "could not be captured" not in bundle["reason"], bundle["reason"]
        assert bundle["partial"] == bool(bundle["reason"])
        width = len(bundle["columns"])
        assert all(len(row) == width for row in bundle["preview"])
        scalars = (str, int, float, bool, type(None))
        assert all(isinstance(cell, scalars) for row in bundle["preview"] for cell in row)
        assert bundle["preview_head"] <= len(bundle["preview"])
        if bundle["rows_total"] is not None and bundle["rows_total"] <= 20 and width:
            assert len(bundle["preview"]) == bundle["rows_total"]
        if result.data:
            lengths = {len(column) for column in result.data.values()}
            assert len(lengths) == 1
        return result

    return capture


@pytest.fixture
def stored() -> Callable[[Any], Any]:
    """The file of a captured table as a pyarrow table."""

    def read(result: Any) -> Any:
        import pyarrow as pa

        data = result.bundle["data"]
        assert data is not None, result.bundle["reason"]
        assert data["format"] == "arrow"
        read_back = pa.ipc.open_file(pa.BufferReader(content_of(data))).read_all()
        read_back.validate(full=True)
        assert read_back.num_rows == data["rows"]
        return read_back

    return read
