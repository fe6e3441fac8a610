"""How capture gets to see what a cell shows and writes: three IPython formatters, and the start
and the end of each cell.

IPython asks every formatter for one object in turn. The table is captured once, by the first that
asks; the second finds the rest of it, by the object's identity, in the same thread.
"""

from __future__ import annotations

import json
import threading
from typing import Any

from . import E2B_DATA_MIME, TABLE_MIME, budget, files, values
from .table import capture

_METHOD = "_repr_cellblock_table_"
_WATCH = "_cellblock_watch"


class _Last(threading.local):
    """The table that this thread's formatter has just captured, for the next formatter only."""

    identity: int | None = None
    data: Any = None


_last = _Last()


def register(ip: Any) -> None:
    """Adds the formatters. Can be repeated."""
    formatters = ip.display_formatter.formatters
    table_formatter, data_formatter = _classes(ip)
    for mime, kind in ((TABLE_MIME, table_formatter), (E2B_DATA_MIME, data_formatter)):
        if mime not in formatters:
            formatter = kind(parent=ip.display_formatter)
            formatter.enabled = True
            formatters[mime] = formatter
    if "application/json" in formatters:
        formatters["application/json"].for_type(list, as_json)
        formatters["application/json"].for_type(dict, as_json)
    ip.events.register("pre_run_cell", _renew)
    if _WATCH not in vars(ip):
        watch = files.Watch(ip)
        setattr(ip, _WATCH, watch)
        ip.events.register("pre_run_cell", watch.begin)
        ip.events.register("post_run_cell", watch.end)


def _renew(*_: Any) -> None:
    budget.cell_time.renew()


def _classes(ip: Any) -> tuple[Any, Any]:
    from IPython.core.formatters import BaseFormatter
    from traitlets import ObjectName, Unicode

    class TableFormatter(BaseFormatter):
        """Tables with schema, statistics, preview and a file of the full data."""

        format_type = Unicode(TABLE_MIME)
        print_method = ObjectName(_METHOD)
        _return_type = dict

        def __call__(self, obj: Any) -> Any:
            if not self.enabled:
                return None
            captured = capture(obj)
            if captured is None:
                return super().__call__(obj)
            _last.identity, _last.data = id(obj), captured.data
            return captured.bundle

    class DataFormatter(BaseFormatter):
        """Columns of values, as E2B's clients read them."""

        format_type = Unicode(E2B_DATA_MIME)
        print_method = ObjectName("_repr_e2b_data_")
        _return_type = (dict, str)

        def __call__(self, obj: Any) -> Any:
            if not self.enabled:
                return None
            identity, data = _last.identity, _last.data
            _last.identity = _last.data = None
            own = super().__call__(obj)
            if own is not None:
                return own
            # A notebook with it would be invalid: its type is not one of JSON's.
            return data if identity == id(obj) and not files.for_a_notebook(ip) else None

    return TableFormatter, DataFormatter


def as_json(value: Any) -> Any:
    """A list or dictionary as JSON with IPython's wish to show it opened; None for what has no
    valid JSON form or is too large: its text is shown all the same."""
    try:
        data = values.plain(value, [budget.JSON_VALUES], budget.JSON_DEPTH)
        if len(json.dumps(data)) > budget.JSON_BYTES:
            return None
    except Exception:
        return None
    return data, {"expanded": True}
