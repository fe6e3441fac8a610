"""Vega-Lite specifications (altair) as chart models. `read` never raises.

Views in layers share a panel; concatenated, repeated and faceted ones have panels of their own.
What Vega would compute in the browser is computed here where that is exact; else the layer is
`unknown` with the reason.
"""

from __future__ import annotations

import copy
from typing import Any

from .. import text
from ..budget import Budget, OutOfTime
from . import frame, vega_marks, vega_rows
from .frame import Panel
from .vega_rows import Unread
from .vega_view import View


def read(spec: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
    model = _empty()
    budget = Budget(seconds)
    try:
        model["title"] = _title(spec)
        reader = _Reader(spec.get("datasets") or {}, budget)
        try:
            reader.view(spec, {}, 0, 0)
        except OutOfTime:
            model["partial"] = True
            model["warnings"].append(f"reading stopped after {budget.seconds:g} s")
        if len(reader.panels) == 1:
            reader.panels[0].title = reader.panels[0].title or model["title"]
            model["title"] = None
        frame.finished(model, reader.panels)
    except Exception as error:
        model["warnings"].append(text.clean(
            f"the figure could not be read ({type(error).__name__}: {error})"))
    return model


def unreadable(reason: str) -> dict[str, Any]:
    """A figure that gave no specification at all."""
    model = _empty()
    panel = Panel()
    panel.unknown("chart", reason)
    return frame.finished(model, [panel])


def _empty() -> dict[str, Any]:
    return frame.empty("altair")


def _title(spec: dict[str, Any]) -> str | None:
    title = spec.get("title")
    if isinstance(title, dict):
        title = title.get("text")
    return text.or_none(" ".join(map(str, title)) if isinstance(title, list) else title)


class _Reader:
    def __init__(self, datasets: dict[str, Any], budget: Budget) -> None:
        self.datasets = datasets
        self.budget = budget
        self.panels: list[Panel] = []

    def view(self, spec: dict[str, Any], above: dict[str, Any], row: int, column: int) -> None:
        """Any specification; `above` is what it inherits: data, transforms, encoding. One that
        cannot be laid out is a panel that says why, and its neighbours are read all the same."""
        try:
            self._view(spec, above, row, column)
        except OutOfTime:
            raise
        except Exception as reason:
            said = str(reason) if isinstance(reason, Unread) else \
                f"{type(reason).__name__}: {reason}"
            self._new_panel(row, column, _title(spec)).unknown("view", said)

    def _view(self, spec: dict[str, Any], above: dict[str, Any], row: int, column: int) -> None:
        here = {"data": spec.get("data") or above.get("data"),
                "transform": (above.get("transform") or []) + (spec.get("transform") or []),
                "encoding": {**(above.get("encoding") or {}), **(spec.get("encoding") or {})}}
        if spec.get("data"):
            here["transform"] = spec.get("transform") or []
        for name in ("hconcat", "vconcat", "concat"):
            if name in spec:
                columns = int(spec.get("columns") or len(spec[name]))
                for index, part in enumerate(spec[name]):
                    down = index if name == "vconcat" else index // columns
                    along = 0 if name == "vconcat" else index % columns
                    self.view(part, here, row + down, column + along)
                return
        if "repeat" in spec:
            return self._repeated(spec, here, row, column)
        facets = [name for name in ("row", "column", "facet") if name in here["encoding"]
                  or (name == "facet" and isinstance(spec.get("facet"), dict))
                  or (isinstance(spec.get("facet"), dict) and name in spec["facet"])]
        if facets:
            return self._faceted(spec, here, row, column)
        self._panel(spec, here, row, column, _title(spec) if above else None)

    def _repeated(self, spec: dict[str, Any], here: dict[str, Any], row: int,
                  column: int) -> None:
        repeat = spec["repeat"]
        if isinstance(repeat, list):
            repeat = {"repeat": repeat}
        if "layer" in repeat:
            raise Unread("repeated layers are not read")
        for down, first in enumerate(repeat.get("row", [None])):
            for along, second in enumerate(repeat.get("column", repeat.get("repeat", [None]))):
                part = copy.deepcopy(spec["spec"])
                names = {"row": first, "column": second, "repeat": second}
                _substitute(part, names)
                self.view(part, here, row + down, column + along)

    def _faceted(self, spec: dict[str, Any], here: dict[str, Any], row: int,
                 column: int) -> None:
        encoding = dict(here["encoding"])
        outer = spec.get("facet") if isinstance(spec.get("facet"), dict) else {}
        if "field" in outer:
            outer = {"facet": outer}
        facets = {name: encoding.pop(name, None) or outer.get(name)
                  for name in ("row", "column", "facet")}
        for channel in facets.values():
            if channel and (channel.get("timeUnit") or channel.get("bin")):
                raise Unread("facets by a time unit or by bins are not read")
        inner = spec.get("spec", {key: value for key, value in spec.items()
                                  if key not in ("facet", "data", "transform", "encoding")})
        rows = vega_rows.transformed(vega_rows.resolve(here["data"], self.datasets),
                                     here["transform"])
        columns = spec.get("columns") or (facets["facet"] or {}).get("columns")

        def values(channel: dict[str, Any] | None) -> list[Any]:
            if not channel or "field" not in channel:
                return [None]
            found = {row.get(channel["field"]) for row in rows}
            missing = [None] if None in found else []
            return missing + sorted(found - {None}, key=lambda one: (isinstance(one, str), one))

        cells = [(down, along, {facets["row"]["field"]: first} if facets["row"] else {},
                  {facets["column"]["field"]: second} if facets["column"] else {})
                 for down, first in enumerate(values(facets["row"]))
                 for along, second in enumerate(values(facets["column"]))]
        if facets["facet"]:
            wrap = int(columns) if columns else len(values(facets["facet"]))
            cells = [(index // wrap, index % wrap, {facets["facet"]["field"]: value}, {})
                     for index, value in enumerate(values(facets["facet"]))]
        for down, along, first, second in cells:
            wanted = {**first, **second}
            own = [item for item in rows
                   if all(item.get(field) == value for field, value in wanted.items())]
            below = {"data": {"values": own}, "transform": inner.get("transform") or [],
                     "encoding": {**encoding, **(inner.get("encoding") or {})}}
            title = " | ".join(f"{field} = {value}" for field, value in wanted.items())
            self._panel({key: value for key, value in inner.items() if key != "data"}, below,
                        row + down, column + along, text.or_none(title))

    def _panel(self, spec: dict[str, Any], here: dict[str, Any], row: int, column: int,
               title: str | None) -> None:
        self._layers(spec, here, self._new_panel(row, column, title))

    def _new_panel(self, row: int, column: int, title: str | None) -> Panel:
        panel = Panel()
        panel.title = title
        panel.cell = {"row": row, "col": column, "rowspan": 1, "colspan": 1}
        self.panels.append(panel)
        return panel

    def _layers(self, spec: dict[str, Any], here: dict[str, Any], panel: Panel) -> None:
        if "layer" in spec:
            independent = ((spec.get("resolve") or {}).get("scale") or {}).get("y")
            if independent == "independent" and len(spec["layer"]) > 1:
                panel.unknown("layer", "layers with scales of their own are not read")
                return
            for part in spec["layer"]:
                below = {"data": part.get("data") or here["data"],
                         "transform": (here["transform"] if not part.get("data") else [])
                         + (part.get("transform") or []),
                         "encoding": {**here["encoding"], **(part.get("encoding") or {})}}
                self._layers(part, below, panel)
            return
        self.budget.check()
        try:
            rows = vega_rows.transformed(vega_rows.resolve(here["data"], self.datasets),
                                         here["transform"])
            vega_marks.add(View({"mark": spec.get("mark"), "encoding": here["encoding"]}, rows),
                           panel, self.budget)
        except OutOfTime:
            raise
        except Unread as reason:
            panel.unknown(_mark_name(spec), str(reason))
        except Exception as error:
            panel.unknown(_mark_name(spec), f"{type(error).__name__}: {error}")


def _mark_name(spec: dict[str, Any]) -> str:
    mark = spec.get("mark")
    return str(mark.get("type") if isinstance(mark, dict) else mark)


def _substitute(value: Any, names: dict[str, Any]) -> None:
    """Puts the repeated fields in place of {"repeat": "row"}."""
    if isinstance(value, dict):
        for key, item in list(value.items()):
            if isinstance(item, dict) and set(item) == {"repeat"}:
                value[key] = names.get(item["repeat"])
            else:
                _substitute(item, names)
    elif isinstance(value, list):
        for item in value:
            _substitute(item, names)
