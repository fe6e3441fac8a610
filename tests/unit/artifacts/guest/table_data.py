"""Where a captured table's data is."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any


def content_of(data: dict[str, Any]) -> bytes:
    """The file of a captured table, whether it travels in the bundle or lies in the guest."""
    if "base64" in data:
        return base64.b64decode(data["base64"], validate=True)
    return Path(data["path"]).read_bytes()
