"""Statistics of short columns in plain Python: for a few rows quicker than any library's."""

from __future__ import annotations

import collections
import math
from typing import Any

from .. import budget, values

ORDERED = {"integer", "floating", "datetime", "duration", "decimal", "date", "time"}
COUNTED = {"text", "category", "boolean", "integer", "date"}


def plain_statistics(items: list[Any], kind: str) -> dict[str, Any]:
    present = [item for item in items if not values.is_null(item)]
    found: dict[str, Any] = {"nulls": len(items) - len(present)}
    if not present:
        return found
    if kind in ORDERED:
        found["min"] = values.cell(min(present))
        found["max"] = values.cell(max(present))
    if kind in ("integer", "floating"):
        _moments([float(item) for item in present], found)
    if kind in COUNTED:
        counts = collections.Counter(present)
        found["distinct"] = len(counts)
        top = counts.most_common(budget.TOP_VALUES)
        # All different: then the first few say nothing.
        if top[0][1] > 1:
            found["top"] = [[values.cell(value), count] for value, count in top]
    return found


def _moments(numbers: list[float], found: dict[str, Any]) -> None:
    if not all(map(math.isfinite, numbers)):
        return
    mean = math.fsum(numbers) / len(numbers)
    if not math.isfinite(mean):
        return
    found["mean"] = mean
    if len(numbers) > 1:
        squares = math.fsum((number - mean) ** 2 for number in numbers)
        found["std"] = math.sqrt(squares / (len(numbers) - 1))
