"""A stored table (an Arrow file of ours) in a format that the host does not write.

Run in a sandbox that the host makes for it. Raises with one line that a client can read.
"""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from . import values

EXCEL_ROWS = 1_048_576
EXCEL_COLUMNS = 16_384
EXCEL_CHARACTERS = 32_767
_EXACT = 10**15  # Excel's numbers have fifteen digits
_BATCH_ROWS = 4096


class DoesNotFit(ValueError):
    """The table is no table of that format."""


def convert(source: str, target: str, fmt: str) -> None:
    {"parquet": to_parquet, "xlsx": to_xlsx}[fmt](source, target)


def to_parquet(source: str, target: str) -> None:
    """Batch by batch; types, metadata and pandas' index as they are in the Arrow file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pa.memory_map(source) as file:
        reader = pa.ipc.open_file(file)
        schema = pa.schema(
            [_for_parquet(field) for field in reader.schema], metadata=reader.schema.metadata
        )
        with pq.ParquetWriter(target, schema, compression="zstd") as writer:
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                arrays = [
                    _array_for_parquet(array, field.type)
                    for array, field in zip(batch.columns, schema, strict=True)
                ]
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def _for_parquet(field: Any) -> Any:
    import pyarrow as pa

    # Parquet has neither; both are exact as text.
    if pa.types.is_null(field.type) or str(field.type) == "month_day_nano_interval":
        return field.with_type(pa.string())
    return field


def _array_for_parquet(array: Any, kind: Any) -> Any:
    import pyarrow as pa

    if array.type == kind:
        return array
    return pa.array([None if v is None else str(v) for v in array.to_pylist()], kind)


def to_xlsx(source: str, target: str) -> None:
    """One sheet, written row by row. What Excel has no type for becomes text."""
    import openpyxl
    import pyarrow as pa
    from openpyxl.styles import Font

    with pa.memory_map(source) as file:
        reader = pa.ipc.open_file(file)
        names = reader.schema.names
        rows = sum(reader.get_batch(n).num_rows for n in range(reader.num_record_batches))
        if rows >= EXCEL_ROWS or len(names) > EXCEL_COLUMNS:
            raise DoesNotFit(
                f"Excel holds {EXCEL_ROWS - 1:,} rows and {EXCEL_COLUMNS:,} columns; "
                f"this has {rows:,} and {len(names):,}"
            )
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet("table")
        sheet.freeze_panes = "A2"
        bold = Font(bold=True)
        sheet.append([_cell(sheet, name, font=bold) for name in names])
        for number in range(reader.num_record_batches):
            batch = reader.get_batch(number)
            for start in range(0, batch.num_rows, _BATCH_ROWS):
                part = batch.slice(start, _BATCH_ROWS)
                columns = [_excel_values(column) for column in part.columns]
                for row in zip(*columns, strict=True):
                    sheet.append(
                        [_cell(sheet, value) if type(value) is str else value for value in row]
                    )
        book.save(target)


def _excel_values(column: Any) -> list[Any]:
    import pyarrow as pa

    # Nanoseconds that Python's dates cannot carry: as text.
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    elif pa.types.is_duration(column.type) and column.type.unit == "ns":
        column = column.cast(pa.duration("us"), safe=False)
    return [excel_value(value) for value in column.to_pylist()]


def excel_value(value: Any) -> Any:
    """What a cell of Excel can hold, without loss but for what it shows: else text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if -_EXACT < value < _EXACT else str(value)
    if isinstance(value, float):
        return values.scalar(value)
    if isinstance(value, decimal.Decimal):
        return value if len(value.as_tuple().digits) <= 15 else str(value)
    if isinstance(value, datetime.datetime):
        # Excel has no zones, and begins in 1900.
        return value if value.tzinfo is None and value.year >= 1900 else value.isoformat()
    if isinstance(value, datetime.date):
        return value if value.year >= 1900 else value.isoformat()
    if isinstance(value, datetime.time):
        return value
    return values.as_text(value, EXCEL_CHARACTERS)


def _cell(sheet: Any, text: str, font: Any = None) -> Any:
    """A cell that is text and stays text: never a formula, never an error value."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    cell = WriteOnlyCell(sheet)
    cell.value = ""
    cell._value = ILLEGAL_CHARACTERS_RE.sub("\ufffd", values.cut(text, EXCEL_CHARACTERS))
    cell.data_type = "s"
    if font is not None:
        cell.font = font
    return cell
