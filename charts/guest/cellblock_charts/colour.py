"""Colours as #rrggbb or #rrggbbaa."""

from __future__ import annotations

from typing import Any


def to_hex(value: Any) -> str | None:
    """A matplotlib colour; None for no colour and for what is not one."""
    from matplotlib.colors import to_rgba

    try:
        rgba = to_rgba(value)
    except (ValueError, TypeError):
        return None
    parts = [max(0, min(255, round(float(part) * 255))) for part in rgba]
    if parts[3] == 0:
        return None
    return "#" + "".join(f"{part:02x}" for part in (parts if parts[3] < 255 else parts[:3]))


def rgb(value: str | None) -> str | None:
    """The colour without its transparency, to compare by."""
    return value[:7] if value else None


def face_of(artist: Any) -> str | None:
    """The colour that a reader of the chart would name: fill, else edge, else line."""
    for getter in ("get_facecolor", "get_edgecolor", "get_color"):
        method = getattr(artist, getter, None)
        if method is None:
            continue
        value = method()
        if isinstance(value, str):
            colour = to_hex(value)
        elif getattr(value, "ndim", 0) == 2:
            colour = to_hex(value[0]) if len(value) else None
        else:
            colour = to_hex(value)
        if colour is not None:
            return colour
    return None


def of_rows(rows: Any) -> list[str | None]:
    """Hex colours of an (n, 4) array; equal rows are converted once."""
    known: dict[bytes, str | None] = {}
    result: list[str | None] = []
    for row in rows:
        key = row.tobytes()
        if key not in known:
            known[key] = to_hex(row)
        result.append(known[key])
    return result
