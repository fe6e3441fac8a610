"""The full data of a table, Arrow IPC or CSV without pyarrow: a file that the host fetches, or,
when it is small, the file's content inside the bundle."""

from __future__ import annotations

import base64
import csv
import os
import uuid
from typing import Any

from . import budget, values
from .sources.base import Source

FOLDER = os.environ.get("CELLBLOCK_ARTIFACTS", "/run/cellblock/artifacts")


class Stored:
    """What was written."""

    def __init__(self, fmt: str, path: str) -> None:
        self.format = fmt
        self.path = path
        self.rows = 0
        self.reason = ""  # why not all rows; empty when all are there
        self.nulls: list[int] = []  # of each column, when Arrow has counted them

    def bundle(self) -> dict[str, Any]:
        size = os.path.getsize(self.path)
        said: dict[str, Any] = {"format": self.format, "rows": self.rows, "size": size}
        if size > budget.EMBED_BYTES:
            return {**said, "path": self.path}
        with open(self.path, "rb") as file:
            content = file.read()
        os.unlink(self.path)
        return {**said, "base64": base64.b64encode(content).decode("ascii")}


def store(source: Source, clock: budget.Clock) -> Stored:
    """Writes what fits into the time and the size. Raises OSError when nothing could be written,
    and budget.Spent when there is no time or room at all."""
    if clock.spent():
        raise budget.Spent("the time for capturing the tables of this cell is used up")
    if len(source.columns) > budget.FILE_COLUMNS:
        raise budget.Spent(f"more than {budget.FILE_COLUMNS} columns are not stored")
    limit = budget.file_max_bytes(FOLDER)
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return _guarded(_write_csv, source, clock, limit, "csv")
    return _guarded(_write_arrow, source, clock, limit, "arrow")


def _guarded(write: Any, source: Source, clock: budget.Clock, limit: int, fmt: str) -> Stored:
    """No half-written file stays behind, whatever ends the writing."""
    stored = Stored(fmt, f"{FOLDER}/{uuid.uuid4().hex}.{fmt}")
    done = False
    try:
        write(source, clock, limit, stored)
        done = True
    finally:
        if not done and os.path.exists(stored.path):
            os.unlink(stored.path)
    return stored


def _batch_rows(source: Source) -> int:
    return max(256, min(budget.BATCH_ROWS, budget.BATCH_CELLS // max(1, len(source.columns))))


def _write_arrow(source: Source, clock: budget.Clock, limit: int, stored: Stored) -> None:
    _prepare(source, clock)
    while True:
        failed = _try_arrow(source, clock, limit, stored)
        if failed is None:
            return
        # One column does not fit its type: from the start again, with that one as text.
        index, error = failed
        column = source.columns[index]
        if column.store_as == "text":
            raise error
        column.store_as = "text"
        column.note = column.note or f"stored as text: {_short(error)}"


def _short(error: Exception) -> str:
    return values.cut(f"{type(error).__name__}: {error}".splitlines()[0], 200)


def _prepare(source: Source, clock: budget.Clock) -> None:
    series = getattr(source, "series", None)
    if series is None:
        return
    from .sources import pandas_arrow

    for index, column in enumerate(source.columns):
        if column.kind in ("mixed", "record"):
            column.store_as = "text"
            what = "nested objects" if column.kind == "record" else "values of different types"
            column.note = column.note or f"stored as text: {what}"
            continue
        try:
            pandas_arrow.prepare(series(index), column, clock)
        except budget.Spent:
            raise
        except Exception as error:
            column.store_as = "text"
            column.note = f"stored as text: {_short(error)}"


def _column(source: Source, index: int, start: int, stop: int, wanted: Any) -> Any:
    if source.columns[index].store_as == "text":
        from .sources.pandas_arrow import text_array

        return text_array(source.values(index, start, stop))
    return source.arrow(index, start, stop, wanted)


def _schema(source: Source, arrays: list[Any]) -> Any:
    import json

    import pyarrow as pa

    names = source.names()
    fields = []
    for name, column, array in zip(names, source.columns, arrays, strict=True):
        said = {"cellblock.kind": column.kind, "cellblock.dtype": column.dtype}
        if column.index:
            said["cellblock.index"] = "1"
        if column.note:
            said["cellblock.note"] = column.note
        fields.append(pa.field(name, array.type, metadata=said))
    about = {"library": source.library, "type": source.type_name}
    metadata = source.metadata(names, [array.type for array in arrays])
    metadata[b"cellblock.table"] = json.dumps(about).encode()
    return pa.schema(fields, metadata=metadata)


def _try_arrow(source: Source, clock: budget.Clock, limit: int,
               stored: Stored) -> tuple[int, Exception] | None:
    """None when written; else the column that could not be, and why."""
    import pyarrow as pa

    step = _batch_rows(source)
    schema = None
    writer = None
    stored.rows, stored.reason = 0, ""
    stored.nulls = [0] * len(source.columns)
    with pa.OSFile(stored.path, "wb") as file:
        try:
            for start in range(0, max(source.rows, 1), step):
                stop = min(start + step, source.rows)
                arrays = []
                for index in range(len(source.columns)):
                    wanted = schema.field(index).type if schema is not None else None
                    try:
                        array = _column(source, index, start, stop, wanted)
                        if wanted is not None and array.type != wanted:
                            raise TypeError(f"{array.type} after {wanted}")
                    except Exception as error:
                        return index, error
                    arrays.append(array)
                if schema is None:
                    schema = _schema(source, arrays)
                    writer = pa.ipc.new_file(file, schema)
                batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
                if file.tell() + batch.nbytes > limit:
                    stored.reason = f"the file would be larger than {limit} bytes"
                    break
                writer.write_batch(batch)
                stored.rows = stop
                stored.nulls = [n + a.null_count for n, a in zip(stored.nulls, arrays, strict=True)]
                if clock.spent() and stop < source.rows:
                    stored.reason = "the time for capturing tables was used up"
                    break
        finally:
            if writer is not None:
                writer.close()
    return None


def _write_csv(source: Source, clock: budget.Clock, limit: int, stored: Stored) -> None:
    step = min(2048, _batch_rows(source))
    width = range(len(source.columns))
    with open(stored.path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(source.names())
        for start in range(0, source.rows, step):
            stop = min(start + step, source.rows)
            columns = [[_csv_cell(v) for v in source.values(i, start, stop)] for i in width]
            writer.writerows(zip(*columns, strict=True))
            stored.rows = stop
            if stop < source.rows and file.tell() > limit:
                stored.reason = f"the file would be larger than {limit} bytes"
                break
            if stop < source.rows and clock.spent():
                stored.reason = "the time for capturing tables was used up"
                break


def _csv_cell(value: Any) -> Any:
    try:
        return values.scalar(value)
    except values.NotPlain:
        return values.as_text(value)
