"""Values of JSON figures as columns: typed arrays, dates, names, and how one axis numbers them."""

from __future__ import annotations

import base64
import re
from typing import Any

import numpy

from .. import text
from ..budget import MAX_CATEGORIES

_TYPED = {"i1": "i1", "u1": "u1", "i2": "<i2", "u2": "<u2", "i4": "<i4", "u4": "<u4",
          "f4": "<f4", "f8": "<f8"}
_DATE = re.compile(r"-?\d{4}(-\d\d?(-\d\d?)?)?([T ]\d\d?(:\d\d(:\d\d(\.\d+)?)?)?)?"
                   r"(Z|[+-]\d\d:?\d\d)?$")
_ZONE = re.compile(r"([T ].*?)(Z|[+-]\d\d:?\d\d)$")


def plain(values: Any) -> Any:
    """Plotly's typed arrays ({"dtype", "bdata", "shape"}) as numpy arrays; others as they are."""
    if isinstance(values, dict) and "bdata" in values:
        array = numpy.frombuffer(base64.b64decode(values["bdata"]), dtype=_TYPED[values["dtype"]])
        shape = str(values.get("shape", "")).replace(" ", "")
        if shape:
            array = array.reshape([int(part) for part in shape.split(",")])
        return array
    return values


def listed(values: Any) -> list[Any] | numpy.ndarray:
    values = plain(values)
    if values is None:
        return []
    return values if isinstance(values, (list, numpy.ndarray)) else [values]


def number_or_nan(value: Any) -> float:
    if value is None or isinstance(value, bool):
        return float(value) if isinstance(value, bool) else numpy.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return numpy.nan


def numbers(values: Any) -> numpy.ndarray:
    values = listed(values)
    if isinstance(values, numpy.ndarray):
        return values.astype("float64")
    try:
        return numpy.array(values, dtype="float64")  # fast, where all are numbers
    except (TypeError, ValueError):
        return numpy.array([number_or_nan(value) for value in values], dtype="float64")


def is_number(value: Any) -> bool:
    if isinstance(value, (bool, int, float, numpy.number)):
        return True
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return False
    return True


def is_date(value: Any) -> bool:
    return isinstance(value, str) and _DATE.match(value) is not None and not is_number(value)


def milliseconds(values: Any) -> numpy.ndarray:
    """Dates on the clock that they are written in, as the browser shows them."""
    result = numpy.full(len(values), numpy.nan)
    for index, value in enumerate(values):
        if isinstance(value, (int, float, numpy.number)) and not isinstance(value, bool):
            result[index] = float(value)
        elif isinstance(value, str):
            moment = _ZONE.sub(r"\1", value.strip())
            try:
                stamp = numpy.datetime64(moment.replace(" ", "T"), "us")
                result[index] = stamp.astype("int64") / 1000
            except ValueError:
                pass
    return result


class ValueAxis:
    """What the values of one axis are: numbers, dates, or names in the order of their coming."""

    def __init__(self, kind: str | None = None, names: list[Any] | None = None) -> None:
        self.kind = kind if kind in ("linear", "log", "date", "category") else None
        self.names: list[str] = [text.clean(name) for name in names or []]
        self._codes = {name: code for code, name in enumerate(self.names)}
        self._dates = self._numbers = self._texts = 0

    def learn(self, values: Any) -> None:
        """Every column of the axis passes here once, before the first is converted."""
        values = listed(values)
        if isinstance(values, numpy.ndarray):
            self._numbers += len(values)
            return
        for value in values:
            if value is None:
                continue
            if isinstance(value, (list, tuple)):
                value = " / ".join(str(part) for part in value)
            if is_number(value):
                self._numbers += 1
            elif is_date(value):
                self._dates += 1
            else:
                self._texts += 1
            if self.kind in (None, "category"):
                self._name(value)

    def _name(self, value: Any) -> None:
        name = text.clean(value)
        if name not in self._codes and len(self.names) < MAX_CATEGORIES:
            self._codes[name] = len(self.names)
            self.names.append(name)

    def settle(self) -> None:
        if self.kind is None:
            if self._texts > 0 and self._texts >= self._dates:
                self.kind = "category"
            elif self._dates > self._numbers:
                self.kind = "date"
            else:
                self.kind = "category" if self._texts > self._numbers else "linear"

    def values(self, values: Any) -> numpy.ndarray:
        values = listed(values)
        if self.kind == "date":
            return milliseconds(values)
        if self.kind == "category":
            joined = [" / ".join(str(part) for part in value)
                      if isinstance(value, (list, tuple)) else value for value in values]
            return numpy.array([self._codes.get(text.clean(value), numpy.nan)
                                if value is not None else numpy.nan for value in joined],
                               dtype="float64")
        return numbers(values)

    def describe(self) -> dict[str, Any]:
        if self.kind == "category":
            return {"scale": "categorical", "categories": self.names,
                    "positions": list(range(len(self.names))), "strings": True,
                    "ticks": list(range(len(self.names))), "tick_labels": self.names}
        if self.kind == "date":
            return {"scale": "datetime", "unit_time": "ms"}
        return {"scale": self.kind or "linear"}


def edges_of(centres: numpy.ndarray) -> numpy.ndarray:
    """Borders of cells from their middles, or the borders themselves when they were given."""
    if len(centres) == 1:
        return numpy.array([centres[0] - 0.5, centres[0] + 0.5])
    middle = (centres[1:] + centres[:-1]) / 2
    return numpy.concatenate(([centres[0] - (middle[0] - centres[0])], middle,
                              [centres[-1] + (centres[-1] - middle[-1])]))


_NAMED = {"black": "#000000", "white": "#ffffff", "red": "#ff0000", "green": "#008000",
          "blue": "#0000ff", "yellow": "#ffff00", "orange": "#ffa500", "purple": "#800080",
          "gray": "#808080", "grey": "#808080", "brown": "#a52a2a", "pink": "#ffc0cb",
          "cyan": "#00ffff", "magenta": "#ff00ff", "teal": "#008080", "navy": "#000080",
          "gold": "#ffd700", "crimson": "#dc143c", "steelblue": "#4682b4", "tomato": "#ff6347",
          "royalblue": "#4169e1", "firebrick": "#b22222", "indianred": "#cd5c5c",
          "lightblue": "#add8e6", "lightgreen": "#90ee90", "darkblue": "#00008b",
          "olive": "#808000", "lime": "#00ff00", "salmon": "#fa8072", "coral": "#ff7f50",
          "skyblue": "#87ceeb", "darkorange": "#ff8c00", "seagreen": "#2e8b57",
          "lightgray": "#d3d3d3", "lightgrey": "#d3d3d3", "silver": "#c0c0c0"}
_RGB = re.compile(r"rgba?\(([^)]*)\)$")


def color(value: Any) -> str | None:
    """A CSS colour as "#rrggbb[aa]"; nothing for what is none."""
    if not isinstance(value, str):
        return None
    value = value.strip().lower()
    if re.fullmatch(r"#[0-9a-f]{6}([0-9a-f]{2})?", value):
        return value
    if re.fullmatch(r"#[0-9a-f]{3}", value):
        return "#" + "".join(digit * 2 for digit in value[1:])
    match = _RGB.match(value)
    if match:
        try:
            parts = [float(part.strip().rstrip("%")) for part in match.group(1).split(",")]
        except ValueError:
            return None
        if len(parts) < 3:
            return None
        hexed = "#" + "".join(f"{max(0, min(255, round(part))):02x}" for part in parts[:3])
        alpha = parts[3] if len(parts) > 3 else 1.0
        return hexed if alpha >= 1 else hexed + f"{max(0, min(255, round(alpha * 255))):02x}"
    return _NAMED.get(value)
