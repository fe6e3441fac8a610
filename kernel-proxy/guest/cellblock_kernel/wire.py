"""How messages become JSON: always valid UTF-8 and valid JSON, whatever the user's code printed.

jupyter_client's own packer lets lone surrogates through as bytes that are not UTF-8; a strict
reader at the other end then refuses the whole message.
"""

from __future__ import annotations

import json
import math
from typing import Any

from jupyter_client.jsonutil import json_default


def _finite(value: Any) -> Any:
    """Replace what JSON cannot say (NaN, infinities) by None, and unknown keys by their text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {
            key if isinstance(key, str) else str(key): _finite(item) for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def _default(value: Any) -> Any:
    try:
        return json_default(value)
    except TypeError:
        return repr(value)


def pack(value: Any) -> bytes:
    """Serialise one part of a message."""
    try:
        text = json.dumps(value, default=_default, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        text = json.dumps(_finite(value), default=_default, ensure_ascii=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def unpack(data: bytes | str) -> Any:
    """Parse one part of a message."""
    if isinstance(data, bytes):
        data = data.decode("utf-8", "replace")
    return json.loads(data)
