"""Rows of a Vega-Lite view: its data, its transforms, and what its encoding aggregates.

Only what can be computed exactly is; everything else raises Unread with the reason.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from . import stats
from .values import is_date, is_number, milliseconds

MAX_ROWS = 200_000
_PARTS = ["year", "month", "date", "hours", "minutes", "seconds"]
_TRUNCATED = {"year": "Y", "yearmonth": "M", "yearmonthdate": "D", "yearmonthdatehours": "h",
              "yearmonthdatehoursminutes": "m"}


class Unread(Exception):
    """Why a view cannot be read."""


def resolve(data: Any, datasets: dict[str, Any]) -> list[dict[str, Any]]:
    if not isinstance(data, dict):
        raise Unread("the view has no data")
    if "name" in data and data["name"] in datasets:
        values = datasets[data["name"]]
    elif "values" in data:
        values = data["values"]
    else:
        raise Unread("its data is at an address and not in the specification")
    if not isinstance(values, list):
        raise Unread("its data is no list of rows")
    if len(values) > MAX_ROWS:
        raise Unread(f"it has {len(values)} rows, and {MAX_ROWS} are read")
    return [row if isinstance(row, dict) else {"data": row} for row in values]


def transformed(rows: list[dict[str, Any]], transforms: Any) -> list[dict[str, Any]]:
    for step in transforms or []:
        if "filter" in step:
            rows = [row for row in rows if _holds(step["filter"], row)]
        elif "fold" in step:
            names = step.get("as", ["key", "value"])
            rows = [{**row, names[0]: field, names[1]: row.get(field)}
                    for row in rows for field in step["fold"]]
        elif "aggregate" in step and isinstance(step["aggregate"], list):
            measures = [(item["as"], item["op"], item.get("field")) for item in step["aggregate"]]
            rows = aggregated(rows, step.get("groupby", []), measures)
        elif "bin" in step:
            names = step["as"] if isinstance(step["as"], list) else [step["as"],
                                                                     f"{step['as']}_end"]
            rows = binned(rows, step["field"], step["bin"], names)
        else:
            raise Unread(f"the transform {next(iter(step), '')} is computed in the browser")
    return rows


def _holds(test: Any, row: dict[str, Any]) -> bool:
    if isinstance(test, dict):
        if "and" in test:
            return all(_holds(part, row) for part in test["and"])
        if "or" in test:
            return any(_holds(part, row) for part in test["or"])
        if "not" in test:
            return not _holds(test["not"], row)
        if "timeUnit" not in test and "field" in test:
            return _compares(test, row.get(test["field"]))
    raise Unread("a filter is computed in the browser")


def _compares(test: dict[str, Any], value: Any) -> bool:
    """As JavaScript compares, where its rules are plain: nothing is missing and no moment."""
    if "equal" in test:
        return _same(value, test["equal"])
    if "oneOf" in test:
        return any(_same(value, one) for one in test["oneOf"])
    limits = {"lt": lambda a, b: a < b, "lte": lambda a, b: a <= b,
              "gt": lambda a, b: a > b, "gte": lambda a, b: a >= b}
    for name, holds in limits.items():
        if name in test:
            return holds(*_comparable(value, test[name]))
    if "range" in test and isinstance(test["range"], list) and len(test["range"]) == 2:
        low, high = test["range"]
        return limits["lte"](*_comparable(low, value)) and limits["lte"](*_comparable(value, high))
    raise Unread("a filter is computed in the browser")


def _same(value: Any, other: Any) -> bool:
    if isinstance(other, (dict, list)):
        raise Unread("a filter by a moment is computed in the browser")
    # 1 is not true, as in JavaScript.
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _comparable(value: Any, end: Any) -> tuple[Any, Any]:
    for kinds in (str, (int, float)):
        if isinstance(value, kinds) and isinstance(end, kinds):
            return value, end
    raise Unread("a filter compares values of different types, or missing ones")


def binned(rows: list[dict[str, Any]], field: str, settings: Any,
           names: list[str]) -> list[dict[str, Any]]:
    """Vega's `bin`: the last bin has its upper end too. Rows without a number have no bin."""
    numbers = [float(row[field]) for row in rows if is_number(row.get(field))]
    if not numbers:
        return rows
    settings = settings if isinstance(settings, dict) else {}
    unknown = set(settings) - {"extent", "step", "maxbins", "nice", "binned"}
    if unknown:
        raise Unread(f"bins by {', '.join(sorted(unknown))} are computed in the browser")
    low, high = settings.get("extent") or [min(numbers), max(numbers)]
    given = settings.get("step")
    start, stop, step = stats.vega_bins(low, high, int(settings.get("maxbins", 10)),
                                        float(given) if is_number(given) else None,
                                        settings.get("nice") is not False)
    if min(numbers) < start or max(numbers) > stop:
        raise Unread("values outside of the bins are computed in the browser")
    result = []
    for row in rows:
        if not is_number(row.get(field)):
            continue
        value = max(start, min(float(row[field]), stop - step))
        begin = start + math.floor(1e-14 + (value - start) / step) * step
        result.append({**row, names[0]: begin, names[1]: begin + step})
    return result


def time_unit(rows: list[dict[str, Any]], field: str, unit: str, name: str) -> list[dict[str, Any]]:
    plain = unit.removeprefix("utc")
    if plain not in _TRUNCATED:
        raise Unread(f"the time unit {unit} is computed in the browser")
    stamps = milliseconds([row.get(field) for row in rows])
    result = []
    for row, stamp in zip(rows, stamps):
        if not math.isfinite(stamp):
            continue
        start = numpy.datetime64(int(stamp), "ms").astype(f"datetime64[{_TRUNCATED[plain]}]")
        result.append({**row, name: start.astype("datetime64[ms]").astype("int64").item()})
    return result


def aggregated(rows: list[dict[str, Any]], keys: list[str],
               measures: list[tuple[str, str, str | None]]) -> list[dict[str, Any]]:
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(_hashable(row.get(key)) for key in keys), []).append(row)
    result = []
    for members in groups.values():
        row = {key: members[0].get(key) for key in keys}
        for name, op, field in measures:
            row[name] = _measure(op, members, field)
        result.append(row)
    return result


def _hashable(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _measure(op: str, rows: list[dict[str, Any]], field: str | None) -> Any:
    if op == "count":
        return len(rows)
    values = [row.get(field) for row in rows if row.get(field) is not None] if field else []
    if op == "distinct":
        return len({_hashable(row.get(field)) for row in rows})
    if op == "valid":
        return len(values)
    if op == "missing":
        return len(rows) - len(values)
    numbers = _numbers_of(values)
    if op == "sum":
        return float(numbers.sum())
    if not len(numbers):
        return None
    simple = {"mean": numpy.mean, "average": numpy.mean, "median": numpy.median,
              "min": numpy.min, "max": numpy.max}
    if op in simple:
        return float(simple[op](numbers))
    if op in ("stdev", "variance", "stderr") and len(numbers) > 1:
        variance = float(numbers.var(ddof=1))
        return {"variance": variance, "stdev": math.sqrt(variance),
                "stderr": math.sqrt(variance / len(numbers))}[op]
    if op in ("q1", "q3"):
        return float(numpy.quantile(numbers, 0.25 if op == "q1" else 0.75))
    raise Unread(f"the aggregate {op} is computed in the browser")


def _numbers_of(values: list[Any]) -> Any:
    """Moments as their milliseconds."""
    if values and all(is_date(value) for value in values):
        return milliseconds(values)
    if not all(is_number(value) for value in values):
        raise Unread("an aggregate of values that are no numbers is computed in the browser")
    return numpy.array([float(value) for value in values])
