"""One axis of an Axes: its label, scale, limits, ticks, and how its numbers become values.

Matplotlib plots floats. What they mean is the axis' converter's business: days since an epoch,
ordinals of a pandas frequency, codes of categories. Values leave here as numbers (dates as
milliseconds since 1970-01-01 UTC, categories as codes), never as objects.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy

from . import text
from .budget import MAX_CATEGORIES, MAX_TICKS
from .encode import floats, number

_DATE_CONVERTERS = {"_SwitchableDateConverter", "DateConverter", "ConciseDateConverter",
                    "DatetimeConverter"}
_SCALES = {"linear", "log", "symlog", "logit", "asinh", "function", "functionlog"}
_MS_PER_DAY = 86_400_000.0


def converter_of(axis: Any) -> Any:
    getter = getattr(axis, "get_converter", None)
    return getter() if getter is not None else getattr(axis, "converter", None)


class AxisReader:
    """Reads one matplotlib Axis; computed once per panel and axis."""

    def __init__(self, axis: Any, name: str, ax: Any) -> None:
        self.axis = axis
        self.name = name
        self.ax = ax
        self.categories: list[str] | None = None
        self.positions: list[float] | None = None  # where the categories are
        self.date_only = False  # the user plotted dates without a time of day
        self._frequency: Any = None
        self.kind = self._kind()
        self.tick_values, self.tick_labels, self.offset = self._ticks()
        if self.kind == "category":
            self._read_mapping()

    def _kind(self) -> str:
        name = type(converter_of(self.axis)).__name__
        locator = type(self.axis.get_major_locator()).__name__
        if name == "StrCategoryConverter" or locator == "StrCategoryLocator":
            return "category"  # (of shared axes only the first has the converter)
        if name == "PeriodConverter" or locator == "TimeSeries_DateLocator":
            self._frequency = (getattr(self.axis, "freq", None) or getattr(self.ax, "freq", None)
                               or getattr(self.axis.get_major_locator(), "freq", None))
            if self._frequency is not None:
                return "period"
        if name in _DATE_CONVERTERS:
            return "date"
        module = type(self.axis.get_major_formatter()).__module__
        return "date" if module == "matplotlib.dates" else "number"

    def is_date(self) -> bool:
        return self.kind in ("date", "period")

    # ---- numbers -> values

    def values(self, raw: Any) -> numpy.ndarray:
        """Plotted floats as this axis' values."""
        array = floats(raw)
        if self.kind == "date":
            return numpy.round(array * _MS_PER_DAY + _epoch_ms(), 3)
        if self.kind == "period":
            return _periods_to_ms(array, self._frequency)
        return array

    def value(self, raw: Any) -> float:
        return float(self.values(numpy.array([raw], dtype="float64"))[0])

    def widths(self, centre: Any, width: Any) -> numpy.ndarray:
        """Extents along this axis (a bar's width) as distances between its values."""
        if self.kind == "date":
            return floats(width) * _MS_PER_DAY
        if self.kind == "period":
            half = floats(width) / 2
            return self.values(floats(centre) + half) - self.values(floats(centre) - half)
        return floats(width)

    # ---- ticks and categories

    def _view(self) -> tuple[float, float]:
        low, high = self.axis.get_view_interval()
        return (float(low), float(high)) if low <= high else (float(high), float(low))

    def _ticks(self) -> tuple[numpy.ndarray, list[str], str | None]:
        """Ticks inside the view. The label artists of a shared axis may be empty: never read."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                getattr(self.ax, f"get_{self.name}lim", lambda: None)()  # resolve autoscaling
                locations = floats(self.axis.get_majorticklocs())
                formatter = self.axis.get_major_formatter()
                labels = [text.plain(label) for label in formatter.format_ticks(locations)]
                offset = text.or_none(formatter.get_offset())
        except Exception:
            return numpy.array([]), [], None
        low, high = self._view()
        slack = (high - low) * 1e-9
        inside = [index for index, location in enumerate(locations)
                  if low - slack <= location <= high + slack][:MAX_TICKS]
        labels += [""] * (len(locations) - len(labels))
        return locations[inside], [labels[index] for index in inside], offset

    def _read_mapping(self) -> None:
        mapping = getattr(getattr(self.axis, "units", None), "_mapping", None) \
            or getattr(self.axis.get_major_locator(), "_units", None)
        if not mapping or len(mapping) > MAX_CATEGORIES:
            return
        pairs = sorted(mapping.items(), key=lambda pair: pair[1])
        self.categories = [text.plain(name) for name, _ in pairs]
        self.positions = [float(code) for _, code in pairs]

    def fixed_labels(self) -> tuple[list[float], list[str]] | None:
        """Tick positions and labels that someone set by hand as words; None for numbers."""
        if self.kind != "number" or len(self.tick_values) == 0:
            return None
        if type(self.axis.get_major_locator()).__name__ != "FixedLocator":
            return None
        formatter = type(self.axis.get_major_formatter()).__name__
        if formatter not in ("FixedFormatter", "FuncFormatter"):
            return None
        if not any(self.tick_labels):
            return None
        if all(_says_number(label, value)
               for label, value in zip(self.tick_labels, self.tick_values)):
            return None
        return self.tick_values.tolist(), self.tick_labels

    def use_fixed_labels(self) -> None:
        """Takes the hand-set tick labels as this axis' categories."""
        fixed = self.fixed_labels()
        if fixed is not None and self.categories is None:
            self.positions, self.categories = fixed

    def counts_from_zero(self) -> bool:
        """E2B's rule for a category axis: hand-set ticks exactly 0..n-1 with other labels."""
        fixed = self.fixed_labels()
        return fixed is not None and fixed[0] == list(range(len(fixed[0])))

    def pitch(self) -> float:
        positions = self.positions or []
        if len(positions) < 2:
            return 1.0
        return float(numpy.diff(numpy.sort(numpy.array(positions))).min())

    def category_at(self, raw: Any) -> list[int | None]:
        """For each position the index of its category: the nearest within half a pitch."""
        if not self.positions:
            return [None] * len(raw)
        known = numpy.array(self.positions)
        half = self.pitch() / 2 * (1 + 1e-6)
        result: list[int | None] = []
        for position in floats(raw).tolist():
            if position != position:
                result.append(None)
                continue
            nearest = int(numpy.abs(known - position).argmin())
            result.append(nearest if abs(known[nearest] - position) <= half else None)
        return result

    # ---- the model

    def scale_name(self) -> str:
        if self.is_date():
            return "datetime"
        if self.categories is not None:
            return "categorical"
        name = self.axis.get_scale() if hasattr(self.axis, "get_scale") else "linear"
        return name if name in _SCALES else "unknown"

    def label(self) -> str | None:
        return text.or_none(self.axis.get_label().get_text())

    def model(self, label: str | None = None) -> dict[str, Any]:
        label = self.label() or label
        low, high = self._view()
        ends = self.values(numpy.array([low, high]))
        raw_low, raw_high = self.axis.get_view_interval()
        ticks = self.values(self.tick_values)
        scale = self.scale_name()
        result: dict[str, Any] = {
            "label": label, "unit": text.unit_of(label), "scale": scale,
            "lim": [number(ends[0]), number(ends[1])],
            "inverted": bool(raw_low > raw_high),
            "ticks": [number(tick) for tick in ticks], "tick_labels": self.tick_labels,
        }
        result.update(self._parameters(scale))
        if self.offset:
            result["offset"] = self.offset
        if self.categories is not None:
            result["categories"] = self.categories
            result["positions"] = [number(position) for position in self.positions or []]
            if self.kind == "category":
                result["strings"] = True  # the user plotted strings, not labels on numbers
        if self.is_date():
            result["unit_time"] = "ms"
            result.update(self._zone(ends[0], ends[1]))
            if self.date_only:
                result["date_only"] = True
        return result

    def _parameters(self, scale: str) -> dict[str, Any]:
        if scale not in ("log", "symlog", "asinh", "functionlog"):
            return {}
        transform = self.axis.get_transform()
        names = {"base": "base", "linthresh": "linthresh", "linscale": "linscale",
                 "linear_width": "linthresh"}
        found: dict[str, Any] = {}
        for source, target in names.items():
            value = getattr(transform, source, None)
            if isinstance(value, (int, float, numpy.number)):
                found[target] = number(value)
        return found

    def _zone(self, low: float, high: float) -> dict[str, Any]:
        """The zone that the user's times carried; none for naive ones."""
        zone = self.axis.get_units() if self.kind == "date" else None
        if zone is None or not hasattr(zone, "utcoffset"):
            return {}
        from datetime import datetime, timezone

        result: dict[str, Any] = {"tz": text.clean(zone)}
        try:
            offsets = {datetime.fromtimestamp(end / 1000, timezone.utc).astimezone(zone)
                       .utcoffset().total_seconds() for end in (low, high)}
        except Exception:
            return result
        if len(offsets) == 1:
            result["tz_offset_min"] = round(offsets.pop() / 60)
        return result


def _says_number(label: str, value: float) -> bool:
    try:
        return abs(float(label.replace("\u2212", "-")) - value) <= 1e-9 * max(1.0, abs(value))
    except ValueError:
        return label == ""


def _epoch_ms() -> float:
    import matplotlib.dates

    return float(numpy.datetime64(matplotlib.dates.get_epoch(), "ms").astype("int64"))


def _periods_to_ms(ordinals: numpy.ndarray, frequency: Any) -> numpy.ndarray:
    """Ordinals of a pandas frequency as the times at which these periods start."""
    result = numpy.full(ordinals.shape, numpy.nan)
    good = numpy.flatnonzero(numpy.isfinite(ordinals))
    if len(good) == 0:
        return result
    floor = numpy.floor(ordinals[good])
    unique, inverse = numpy.unique(numpy.concatenate((floor, floor + 1)), return_inverse=True)
    starts = _period_starts(unique.astype("int64"), frequency)[inverse.ravel()]
    first, second = starts[: len(good)], starts[len(good):]
    result[good] = numpy.round(first + (ordinals[good] - floor) * (second - first), 3)
    return result


def _period_starts(ordinals: numpy.ndarray, frequency: Any) -> numpy.ndarray:
    import pandas

    maker = getattr(pandas.PeriodIndex, "from_ordinals", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index = (maker(ordinals, freq=frequency) if maker is not None
                 else pandas.PeriodIndex(ordinal=ordinals, freq=frequency))
        stamps = index.to_timestamp()
    return stamps.to_numpy().astype("datetime64[us]").astype("int64") / 1000.0
