"""In a real IPython shell: what a cell's last expression and display() send."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import cellblock_artifacts
import pandas as pd
import pytest
from cellblock_artifacts import E2B_DATA_MIME, TABLE_MIME, budget

InteractiveShell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell


@pytest.fixture(scope="module")
def shell() -> Iterator[Any]:
    shell = InteractiveShell()
    cellblock_artifacts.register(shell)
    cellblock_artifacts.register(shell)  # twice does no harm
    # Terminal shells show text only; a kernel shows everything.
    shell.display_formatter.active_types = shell.display_formatter.format_types
    yield shell


def bundle(shell: Any, value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    data, metadata = shell.display_formatter.format(value)
    json.dumps(data, allow_nan=False)
    return data, metadata


def test_a_frame_has_its_usual_forms_and_ours(shell: Any) -> None:
    data, _ = bundle(shell, pd.DataFrame({"a": [1]}))
    assert {"text/plain", "text/html", TABLE_MIME, E2B_DATA_MIME} <= set(data)
    assert data[E2B_DATA_MIME] == {"a": [1]}


def test_a_notebooks_frame_has_only_what_a_notebook_may_hold(shell: Any) -> None:
    shell.kernel = SimpleNamespace(cellblock_execution_id=None)
    try:
        data, _ = bundle(shell, pd.DataFrame({"a": [1]}))
        assert E2B_DATA_MIME not in data and TABLE_MIME in data
        shell.kernel.cellblock_execution_id = "e1"
        assert E2B_DATA_MIME in bundle(shell, pd.DataFrame({"a": [1]}))[0]
    finally:
        del shell.kernel


def test_lists_and_dictionaries_are_json(shell: Any) -> None:
    data, metadata = bundle(shell, {"a": [1, float("nan")], 2: None})
    assert data["application/json"] == {"a": [1, None], "2": None}
    assert metadata["application/json"] == {"expanded": True}
    assert bundle(shell, [1, "x"])[0]["application/json"] == [1, "x"]
    import numpy as np

    assert bundle(shell, [np.int64(3), np.array([1.5])])[0]["application/json"] == [3, [1.5]]


def test_what_has_no_json_form_has_its_text_only(shell: Any) -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    for value in ([object()], cycle, list(range(budget.JSON_VALUES + 1)), "text", 3, {1, 2}):
        data, _ = bundle(shell, value)
        assert "application/json" not in data
        assert "text/plain" in data


def test_objects_with_their_own_data_keep_it(shell: Any) -> None:
    class Own:
        def _repr_e2b_data_(self) -> dict[str, Any]:
            return {"mine": [1]}

    assert bundle(shell, Own())[0][E2B_DATA_MIME] == {"mine": [1]}
    assert E2B_DATA_MIME not in bundle(shell, object())[0]


def test_each_cell_has_its_own_time(shell: Any) -> None:
    budget.cell_time.left = 0.0
    shell.run_cell("1", store_history=False)
    assert budget.cell_time.left > budget.CELL_SECONDS - 1


def test_data_of_one_object_never_goes_out_with_another(shell: Any) -> None:
    formatters = shell.display_formatter.formatters
    frame = pd.DataFrame({"a": [1]})
    formatters[TABLE_MIME](frame)
    assert formatters[E2B_DATA_MIME](pd.DataFrame({"b": [2]})) is None
    assert formatters[E2B_DATA_MIME](frame) is None
