"""Single values as JSON: always valid (no NaN, no infinity, no lone surrogate), never raising.

`cell` is for previews: scalars only, short. `plain` keeps lists and dictionaries as they are.
Libraries are recognised by name, so that none is imported for it.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import math
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from . import budget

_EXACT = 2**53  # integers above are rounded by JavaScript and by C++ doubles
_NULL_TYPES = {"NaTType", "NAType"}


class NotPlain(TypeError):
    """A value that has no JSON form."""


def is_null(value: Any) -> bool:
    if value is None or type(value).__name__ in _NULL_TYPES:
        return True
    if isinstance(value, float):
        return value != value
    return type(value).__module__ == "numpy" and _numpy_null(value)


def _numpy_null(value: Any) -> bool:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if getattr(value, "ndim", 1) != 0 or kind not in "fcMm":
        return False
    return bool(value != value)


# Types of which no value is missing.
_WHOLE = {bool, int, str, bytes, datetime.date, datetime.time}


def present(items: list[Any]) -> list[Any]:
    """What is not missing; lists of the usual types at the speed of built-in functions."""
    kinds = set(map(type, items))
    if kinds <= _WHOLE:
        return items
    if kinds == {float}:
        return [item for item in items if item == item]
    if kinds <= _WHOLE | {type(None)}:
        return [item for item in items if item is not None]
    return [item for item in items if not is_null(item)]


def clean(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot carry."""
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")


def all_clean(texts: list[str | None]) -> bool:
    try:
        "".join(text for text in texts if text is not None).encode("utf-8")
        return True
    except UnicodeEncodeError:
        return False


def all_exact(numbers: list[int | None]) -> bool:
    present = [n for n in numbers if n is not None]
    return not present or (min(present) >= -_EXACT and max(present) <= _EXACT)


def cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def name_of(name: Any) -> str:
    """A column's name as text; parts of a MultiIndex are joined."""
    if isinstance(name, str):
        return clean(cut(name, 1000))
    if isinstance(name, tuple):
        return " / ".join(name_of(part) for part in name if not (part == "" and len(name) > 1))
    if isinstance(name, (datetime.datetime, datetime.date)):
        return str(scalar(name))
    return described(name, str)


def described(value: Any, how: Any = repr) -> str:
    """repr or str of anything; when that fails, its type."""
    try:
        return clean(cut(how(value), 200))
    except Exception:
        return f"<{type(value).__name__}>"


def duration(delta: datetime.timedelta) -> str:
    """ISO 8601: P1DT2H3M4.5S. Nanoseconds, where pandas has them, are kept."""
    nanoseconds = (delta.days * 86400 + delta.seconds) * 10**9 + delta.microseconds * 1000
    nanoseconds += getattr(delta, "nanoseconds", 0)
    sign, nanoseconds = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    seconds, fraction = divmod(nanoseconds, 10**9)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    tail = f".{fraction:09d}".rstrip("0") if fraction else ""
    clock = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    if seconds or tail:
        clock += f"{seconds}{tail}S"
    text = f"{sign}P" + (f"{days}D" if days else "") + (f"T{clock}" if clock else "")
    return text if text[-1] != "P" else text + "T0S"


def scalar(value: Any) -> Any:
    """None, bool, int, float or str for what is one value; NotPlain for containers and others."""
    kind = type(value)
    if kind is str:
        return clean(value)
    if kind is bool or value is None:
        return value
    if kind is int:
        return value if -_EXACT <= value <= _EXACT else str(value)
    if kind is float:
        if math.isfinite(value):
            return value
        return None if value != value else ("inf" if value > 0 else "-inf")
    if is_null(value):
        return None
    if isinstance(value, enum.Enum):
        return described(value, str)
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, str):
        return clean(str.__str__(value))
    if isinstance(value, int):
        return scalar(int(value))
    if isinstance(value, float):
        return scalar(float(value))
    if isinstance(value, datetime.timedelta):
        return duration(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (decimal.Decimal, uuid.UUID, complex)):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _hexadecimal(bytes(value[:200]), len(value))
    if kind.__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        return _numpy_scalar(value)
    if kind.__name__ in ("Period", "Interval"):
        return str(value)
    if kind.__module__.partition(".")[0] == "shapely" and hasattr(value, "wkt"):
        return clean(str(value.wkt))
    raise NotPlain(kind.__name__)


def _hexadecimal(head: bytes, size: int) -> str:
    return "0x" + head.hex() + (f"… ({size} bytes)" if size > len(head) else "")


def _numpy_scalar(value: Any) -> Any:
    kind = value.dtype.kind
    if kind == "V" and value.dtype.names:
        raise NotPlain("structured value")
    if kind == "M":
        return str(value)
    plain = value.item()
    if kind == "m":
        if isinstance(plain, int):  # nanoseconds and years do not fit a timedelta
            return str(value)
        return duration(plain)
    if type(plain) is type(value):  # longdouble gives itself
        return scalar(float(plain)) if kind == "f" else str(value)
    return scalar(plain)


def cell(value: Any) -> Any:
    """A scalar for a preview: containers as JSON text, anything else as its repr; short."""
    try:
        result = scalar(value)
    except NotPlain:
        result = as_text(value, budget.CELL_CHARACTERS)
    except Exception:
        result = f"<{type(value).__name__}>"
    return cut(result, budget.CELL_CHARACTERS) if type(result) is str else result


def as_text(value: Any, characters: int = budget.TEXT_CHARACTERS) -> str | None:
    """A value of a column that is stored as text."""
    if isinstance(value, str):
        return cut(clean(value), characters)
    try:
        plain_value = plain(value, [10_000], budget.JSON_DEPTH)
    except (NotPlain, budget.Spent):
        return described(value)
    except Exception:
        return f"<{type(value).__name__}>"
    if plain_value is None or isinstance(plain_value, str):
        return plain_value if plain_value is None else cut(plain_value, characters)
    return cut(json.dumps(plain_value, ensure_ascii=False), characters)


def plain(value: Any, left: list[int], depth: int) -> Any:
    """JSON of lists, dictionaries and scalars. `left[0]` counts down the values that may come;
    NotPlain for what has no JSON form, Spent past a limit (a cycle is a depth without end)."""
    left[0] -= 1
    if left[0] < 0:
        raise budget.Spent("too many values")
    if depth < 0:
        raise budget.Spent("nested too deeply")
    if isinstance(value, Mapping):
        return {key_of(k): plain(v, left, depth - 1) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v, left, depth - 1) for v in value]
    if _is_array(value):
        if value.size > left[0]:
            raise budget.Spent("too many values")
        return plain(value.tolist(), left, depth - 1)
    return finite(value, scalar(value))


def _is_array(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] in ("numpy", "pandas") and hasattr(
        value, "tolist") and getattr(value, "ndim", 0) > 0


def finite(value: Any, as_scalar: Any) -> Any:
    """In JSON data an infinite number is null, as NaN is; previews say which it was."""
    if type(as_scalar) is str and as_scalar in ("inf", "-inf") and not isinstance(value, str):
        return None
    return as_scalar


def key_of(key: Any) -> str:
    if isinstance(key, str):
        return clean(key)
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    value = scalar(key) if not isinstance(key, tuple) else name_of(key)
    return "null" if value is None else str(value)


def unique_names(names: Iterable[str]) -> list[str]:
    """Names with .1, .2 ... behind repeated ones, as pandas' own readers do."""
    taken: set[str] = set()
    result = []
    for name in names:
        unique, number = name, 0
        while unique in taken:
            number += 1
            unique = f"{name}.{number}"
        taken.add(unique)
        result.append(unique)
    return result
