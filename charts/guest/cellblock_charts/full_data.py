"""The full data of layers that were cut (sample.py), as one table that goes along with the chart.

One row per point: the layer's name and its columns, called as in the layer, dates as times. Kept
only where a gateway runs the cell; it is captured as every table is, within the same time and room.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Iterator

import numpy

from . import text

# Of one chart; with the columns that layers have about 100 MiB while they are put together.
MAX_ROWS = 4_000_000
_NAMES = 50
_COLUMN_BYTES = 8


class LeftOut(Exception):
    """Why the full data is not kept."""


def keep(model: dict[str, Any], panels: list[dict[str, Any]]) -> None:
    """Adds `full_data` to a model whose layers are not encoded yet. Never raises."""
    pieces = list(_pieces(panels))
    if not pieces or not _is_wanted():
        return
    try:
        model["full_data"] = _captured(pieces, model["source"]["lib"])
    except Exception as error:
        reason = str(error) if isinstance(error, LeftOut) else f"{type(error).__name__}: {error}"
        model["warnings"].append(text.clean(
            f"the full data of the layers that were sampled is not kept: {reason}"))


def _is_wanted() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None:
        return False
    try:
        from cellblock_artifacts.files import is_of_gateway
    except ImportError:
        return False
    return is_of_gateway(shell)


class _Piece:
    """One layer that was cut."""

    def __init__(self, entry: dict[str, Any], layer: dict[str, Any], name: str) -> None:
        self.entry = entry
        self.layer = layer
        self.name = name
        self.full = layer["_full"]

    def zone(self, column: str) -> str | None:
        """Whether a column holds times: "UTC", "" for those of a clock; None for numbers."""
        axis = self.entry.get(self._axis(column)) or {}
        if axis.get("scale") != "datetime":
            return None
        return "UTC" if axis.get("tz") else ""

    def _axis(self, column: str) -> str:
        first = column.partition("_")[0]
        orient = self.layer.get("orient")
        if orient is not None:  # positions run along one axis; what stands on them is no time
            if first not in ("x", "pos", "edge"):
                return ""
            first = "y" if orient == "h" else "x"
        side = self.layer.get("axis") or first
        return side if side[0] == first else first


def _pieces(panels: list[dict[str, Any]]) -> Iterator[_Piece]:
    """The layers in the order of their ids, each with a name of its own."""
    used: set[str] = set()
    layers = [(entry, layer) for entry in panels for layer in entry["layers"]]
    for serial, (entry, layer) in enumerate(layers):
        if "_full" not in layer:
            continue
        name = layer.get("label") or f"l{serial}"
        name = f"{name} (l{serial})" if name in used else name
        used.add(name)
        yield _Piece(entry, layer, name)


def _captured(pieces: list[_Piece], library: str) -> dict[str, Any]:
    import os

    from cellblock_artifacts import budget, storage, table
    from cellblock_artifacts.sources import source_of

    started = time.monotonic()
    rows = sum(piece.full.rows for piece in pieces)
    if rows > MAX_ROWS or rows * 3 * _COLUMN_BYTES > budget.file_max_bytes(storage.FOLDER):
        raise LeftOut(f"{rows} rows are too many")
    try:
        source = source_of(_frame(pieces))
        source.library, source.type_name = library, "chart"
        bundle = table.describe(source)
    finally:
        budget.cell_time.take(time.monotonic() - started)
    data = bundle["data"]
    if data is None or bundle["rows_total"] != data["rows"]:
        if data is not None and "path" in data:
            os.unlink(data["path"])
        raise LeftOut(bundle["reason"])
    names = [piece.name for piece in pieces]
    return {**bundle, "layers": names[:_NAMES], "layers_total": len(names)}


def _frame(pieces: list[_Piece]) -> Any:
    import pandas

    found = [{name: values for name, values in piece.full.columns().items()
              if isinstance(values, (numpy.ndarray, list))} for piece in pieces]
    times = _times(pieces, found)
    frames = []
    for number, columns in enumerate(found):
        made = {name: _times_of(values, times[name]) if name in times else values
                for name, values in columns.items()}
        frame = pandas.DataFrame(made, copy=False)
        codes = numpy.full(len(frame), number, dtype="int32")
        layer = pandas.Categorical.from_codes(codes, [piece.name for piece in pieces])
        frame.insert(0, "layer", layer)
        frames.append(frame)
    return frames[0] if len(frames) == 1 else pandas.concat(frames, ignore_index=True)


def _times(pieces: list[_Piece], found: list[dict[str, Any]]) -> dict[str, str]:
    """The columns that hold times in every layer that has them."""
    zones: dict[str, set[str | None]] = {}
    for piece, columns in zip(pieces, found):
        for name in columns:
            zones.setdefault(name, set()).add(piece.zone(name))
    return {name: zone for name, (zone, *more) in zones.items() if zone is not None and not more}


def _times_of(milliseconds: Any, zone: str) -> Any:
    import pandas

    values = numpy.asarray(milliseconds, dtype="float64")
    good = numpy.isfinite(values)
    stamps = numpy.full(len(values), numpy.datetime64("NaT"), dtype="datetime64[us]")
    stamps[good] = numpy.rint(values[good] * 1000).astype("int64").view("datetime64[us]")
    series = pandas.Series(stamps)
    return series.dt.tz_localize(zone) if zone else series
