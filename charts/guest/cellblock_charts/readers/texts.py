"""Words on the plot: notes with their places, tables."""

from __future__ import annotations

from typing import Any

from .. import text
from ..encode import number
from ..reading import Reading, is_a


def read(reading: Reading) -> None:
    for note in reading.noted("bar_label"):
        reading.claim(note["artists"])
    for item in list(reading.free("Text")):
        reading.claim(item)
        words = text.plain(item.get_text()).strip()
        if words:
            place = _place(reading, item)
            if place is not None:
                reading.note(text=words, **place)


def _place(reading: Reading, item: Any) -> dict[str, Any] | None:
    """Where the text points: in data, or as a fraction of the axes."""
    if is_a(item, "Annotation"):
        system = item.xycoords
        point = item.xy
        if system == "axes fraction":
            return {"axes": [number(point[0]), number(point[1])]}
        if system != "data":
            return {}
        return _data_point(reading, point)
    transform = item.get_transform()
    point = item.get_position()
    if transform.contains_branch(reading.ax.transData):
        if reading.in_data(item):
            return _data_point(reading, point)
        return {}
    if transform.contains_branch(reading.ax.transAxes):
        return {"axes": [number(point[0]), number(point[1])]}
    return {}


def _data_point(reading: Reading, point: Any) -> dict[str, Any]:
    try:
        x = float(reading.ax.convert_xunits(point[0]))
        y = float(reading.ax.convert_yunits(point[1]))
    except Exception:
        return {}
    return {"at": [number(reading.x.value(x)), number(reading.y.value(y))]}


def read_tables(reading: Reading) -> None:
    for table in list(reading.free("Table")):
        reading.claim(table)
        cells = table.get_celld()
        if not cells:
            continue
        rows = sorted({place[0] for place in cells})
        columns = sorted({place[1] for place in cells})

        def word(row: int, column: int, cells: Any = cells) -> str:
            cell = cells.get((row, column))
            return text.plain(cell.get_text().get_text()) if cell is not None else ""

        body = [[word(row, column) for column in columns] for row in rows[:1000]]
        header = rows[0] == 0 and len(body) > 1
        data = {"columns": body[0] if header else [""] * len(columns),
                "rows": body[1:] if header else body}
        reading.add("table", table, data, color="", n=len(rows))["color"] = None
