"""One Vega-Lite view: its mark, its channels, its rows as they are drawn."""

from __future__ import annotations

from typing import Any

import numpy

from .. import text
from . import vega_rows
from .values import ValueAxis, color
from .vega_rows import Unread

MISSING = "null"
_CATEGORY10 = ["#4c78a8", "#f58518", "#e45756", "#72b7b2", "#54a24b", "#eeca3b", "#b279a2",
               "#ff9da6", "#9d755d", "#bab0ac"]
_GROUPING = ("x", "y", "color", "fill", "stroke", "detail", "xOffset", "yOffset", "shape",
             "strokeDash", "row", "column", "facet", "theta", "size", "opacity", "text", "x2", "y2")


class View:
    """A unit specification with its rows computed."""

    def __init__(self, spec: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        mark = spec.get("mark")
        self.settings: dict[str, Any] = mark if isinstance(mark, dict) else {}
        self.mark = str(self.settings.get("type", mark))
        self.channels: dict[str, dict[str, Any]] = {
            name: channel for name, channel in (spec.get("encoding") or {}).items()
            if isinstance(channel, dict)}
        self.names: dict[str, str] = {}
        self.bins: dict[str, str] = {}  # the name of a binned channel's other end
        self.rows = self._computed(rows)

    def _computed(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        measures: list[tuple[str, str, str | None]] = []
        keys: list[str] = []
        composite = self.mark in ("boxplot", "errorbar", "errorband")
        for name, channel in self.channels.items():
            field = channel.get("field")
            if isinstance(field, dict):
                raise Unread("a field that a selection or repetition chooses")
            own = field
            if field is None and self.mark != "rule":
                own = self._placed(name, channel)
                if own is not None:
                    rows = [{**row, own: channel["datum"]} for row in rows]
            if channel.get("bin") and channel["bin"] != "binned" and field is not None:
                own, end = f"{name} bin", f"{name} bin end"
                rows = vega_rows.binned(rows, field, channel["bin"], [own, end])
                self.bins[name] = end
                keys.append(end)
            elif channel.get("timeUnit") and field is not None:
                unit = channel["timeUnit"]
                unit = unit.get("unit", "") if isinstance(unit, dict) else unit
                own = f"{name} {unit}"
                rows = vega_rows.time_unit(rows, field, unit, own)
            if channel.get("aggregate") and not composite:
                op = channel["aggregate"]
                if not isinstance(op, str):
                    raise Unread("argmin and argmax are computed in the browser")
                own = f"{name} {op}"
                measures.append((own, op, field))
            elif own is not None and name in _GROUPING:
                keys.append(own)
            if own is not None:
                self.names[name] = own
        return vega_rows.aggregated(rows, list(dict.fromkeys(keys)), measures) if measures else rows

    def _placed(self, name: str, channel: dict[str, Any]) -> str | None:
        """The name of a position that is the same in all rows."""
        if name not in ("x", "y", "x2", "y2") or self.mark == "text":
            return None
        if isinstance(channel.get("datum"), (dict, list)):
            raise Unread("a position that is computed in the browser")
        if "datum" in channel:
            return f"{name} datum"
        if "value" in channel and self.mark != "arc":
            raise Unread("a position in pixels is no value")
        return None

    # ---- channels

    def has(self, name: str) -> bool:
        return name in self.names

    def column(self, name: str) -> list[Any]:
        values = [row.get(self.names[name]) for row in self.rows]
        if not self.is_discrete(name) or None not in values:
            return values
        # Missing is a category of its own, as on the picture.
        if MISSING in values:
            raise Unread(f'a category called "{MISSING}" beside missing ones')
        return [MISSING if value is None else value for value in values]

    def kind(self, name: str) -> str:
        channel = self.channels.get(name, {})
        given = channel.get("type")
        if given in ("quantitative", "temporal", "nominal", "ordinal"):
            return "temporal" if channel.get("timeUnit") and given == "ordinal" else given
        if "datum" in channel and not isinstance(channel["datum"], str):
            return "quantitative"
        return "quantitative" if channel.get("aggregate") or channel.get("bin") else "nominal"

    def is_discrete(self, name: str) -> bool:
        return self.has(name) and self.kind(name) in ("nominal", "ordinal")

    def title(self, name: str) -> str | None:
        channel = self.channels.get(name, {})
        for place in (channel, channel.get("axis") or {}, channel.get("legend") or {}):
            if isinstance(place, dict) and "title" in place:
                title = place["title"]
                return text.or_none(" ".join(title) if isinstance(title, list) else title)
        field, op = channel.get("field"), channel.get("aggregate")
        if op == "count":
            return "Count of Records"
        if isinstance(op, str) and field:
            return text.clean(f"{op.capitalize()} of {field}")
        if channel.get("bin") and channel["bin"] != "binned":
            return text.clean(f"{field} (binned)")
        unit = channel.get("timeUnit")
        return text.clean(f"{field} ({unit})") if isinstance(unit, str) else text.or_none(field)

    def axis(self, name: str) -> ValueAxis:
        """The axis of a position channel, with its names in the order in which they are drawn."""
        kind = self.kind(name)
        if kind == "temporal":
            return ValueAxis("date")
        if kind == "quantitative" or not self.has(name):
            return ValueAxis((self.channels.get(name, {}).get("scale") or {}).get("type"))
        axis = ValueAxis("category", self.order(name))
        axis.learn(self.column(name))
        return axis

    def order(self, name: str) -> list[Any]:
        """The domain of a discrete channel: sorted, unless it says otherwise."""
        channel = self.channels[name]
        domain = (channel.get("scale") or {}).get("domain")
        if isinstance(domain, list):
            return domain
        values = list(dict.fromkeys(self.column(name)))
        sort = channel.get("sort", "ascending")
        if isinstance(sort, list):
            return [value for value in sort if value in values] + [
                value for value in values if value not in sort]
        if sort is None:
            return values
        missing = None in (row.get(self.names[name]) for row in self.rows)
        ordered = sorted(values, key=lambda value: (not (missing and value == MISSING),
                                                    isinstance(value, str), value))
        if sort == "descending":
            return ordered[::-1]
        if isinstance(sort, str) and sort.lstrip("-") in ("x", "y"):
            other = sort.lstrip("-")
            sums: dict[Any, float] = {}
            for value, length in zip(self.column(name), self.column(other)):
                sums[value] = sums.get(value, 0.0) + float(length or 0)
            return sorted(ordered, key=lambda value: sums.get(value, 0.0),
                          reverse=sort.startswith("-"))
        if isinstance(sort, dict):
            raise Unread("an order that is computed in the browser")
        return ordered

    def describe(self, name: str) -> dict[str, Any]:
        channel = self.channels.get(name, {})
        scale = channel.get("scale") if isinstance(channel.get("scale"), dict) else {}
        known: dict[str, Any] = {"label": self.title(name)}
        kinds = {"log": "log", "symlog": "symlog", "sqrt": "function", "pow": "function"}
        if scale.get("type") in kinds:
            known["scale"] = kinds[scale["type"]]
        domain = scale.get("domain")
        if isinstance(domain, list) and len(domain) == 2 and all(
                isinstance(end, (int, float)) for end in domain):
            known["lim"] = sorted(float(end) for end in domain)
        reverse = bool(scale.get("reverse"))
        # Vega-Lite's first name of a vertical axis is at the top.
        if reverse != (name == "y" and self.is_discrete("y")):
            known["inverted"] = True
        return known

    # ---- series

    def series_channel(self) -> str | None:
        for name in ("color", "stroke", "fill", "detail", "strokeDash", "shape"):
            if self.is_discrete(name):
                return name
        return None

    def series(self) -> list[tuple[Any, str | None, numpy.ndarray]]:
        """Value, colour and places of the rows of each series; one without a name otherwise."""
        name = self.series_channel()
        if name is None:
            return [(None, self.own_color(), numpy.arange(len(self.rows)))]
        order = self.order(name)
        values = self.column(name)
        colors = (self.channels[name].get("scale") or {}).get("range")
        colors = colors if isinstance(colors, list) else _CATEGORY10
        result = []
        for index, value in enumerate(order):
            places = numpy.array([row for row, own in enumerate(values) if own == value],
                                 dtype="int64")
            tint = color(colors[index % len(colors)]) if name != "detail" else self.own_color()
            result.append((value, tint, places))
        return result

    def own_color(self) -> str:
        for channel in ("color", "fill", "stroke"):
            fixed = color(self.channels.get(channel, {}).get("value"))
            if fixed:
                return fixed
        return color(self.settings.get("color")) or color(self.settings.get("fill")) or "#4c78a8"
