"""The files that a cell has made or changed."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from cellblock_artifacts import files


def watch_in(folder: Path, monkeypatch: Any, execution: str | None = "e1") -> tuple[Any, list]:
    monkeypatch.chdir(folder)
    published: list[dict[str, Any]] = []
    shell = SimpleNamespace(
        kernel=SimpleNamespace(cellblock_execution_id=execution),
        display_pub=SimpleNamespace(publish=published.append),
    )
    return files.Watch(shell), published


def test_new_and_changed_files_are_told_with_size_and_type(
    tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "old.txt").write_text("old")
    (tmp_path / "same.txt").write_text("same")
    watch, published = watch_in(tmp_path, monkeypatch)
    watch.begin()
    (tmp_path / "old.txt").write_text("longer")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "new.xlsx").write_bytes(b"PK..")
    watch.end()
    (bundle,) = published
    excel = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    assert bundle[files.FILES_MIME] == {
        "files": [
            {
                "path": str(tmp_path / "old.txt"),
                "size": 6,
                "mime": "text/plain",
                "change": "changed",
                "size_before": 3,
            },
            {
                "path": str(tmp_path / "sub" / "new.xlsx"),
                "size": 4,
                "mime": excel,
                "change": "new",
            },
        ],
        "more": 0,
    }


def test_hidden_files_links_and_caches_are_not_the_cells_results(
    tmp_path: Path, monkeypatch: Any
) -> None:
    watch, published = watch_in(tmp_path, monkeypatch)
    watch.begin()
    (tmp_path / ".hidden").write_text("x")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("x")
    os.symlink("/etc/passwd", tmp_path / "link")
    watch.end()
    assert published == []


def test_a_folder_that_is_too_large_is_not_watched_which_is_told_once(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(files, "ENTRIES_MAX", 3)
    watch, published = watch_in(tmp_path, monkeypatch)
    watch.begin()
    for name in "abcd":
        (tmp_path / name).write_text("x")
    assert files.look(str(tmp_path)) is None
    watch.end()
    assert published == [{files.FILES_MIME: {"files": [], "more": 0, "unseen": True}}]
    watch.begin()
    (tmp_path / "e").write_text("x")
    watch.end()
    assert len(published) == 1


def test_only_a_gateways_executions_are_watched(tmp_path: Path, monkeypatch: Any) -> None:
    watch, published = watch_in(tmp_path, monkeypatch, execution=None)
    watch.begin()
    (tmp_path / "new").write_text("x")
    watch.end()
    assert published == []


def test_of_very_many_files_some_are_named_and_the_others_counted(
    tmp_path: Path, monkeypatch: Any
) -> None:
    watch, published = watch_in(tmp_path, monkeypatch)
    watch.begin()
    for number in range(files.FILES_MAX + 5):
        (tmp_path / f"{number:03}").write_text("x")
    watch.end()
    bundle = published[0][files.FILES_MIME]
    assert len(bundle["files"]) == files.FILES_MAX and bundle["more"] == 5


def test_a_folder_that_the_cell_left_or_removed_is_no_error(
    tmp_path: Path, monkeypatch: Any
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    watch, published = watch_in(folder, monkeypatch)
    watch.begin()
    folder.rmdir()
    watch.end()
    watch.begin()
    watch.end()
    assert published == []
