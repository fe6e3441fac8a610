"""Which axes of a figure are panels: twins are one, colour bars none, insets belong to another."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .encode import number


@dataclass
class Place:
    """One panel to be: its axes (the first leads, twins follow) and where it is."""

    axes: list[Any]
    cell: dict[str, int] | None = None
    bounds: list[float] | None = None
    inset_of: Any = None
    secondary: list[Any] = field(default_factory=list)


def is_colorbar(ax: Any) -> bool:
    return hasattr(ax, "_colorbar") or ax.get_label() == "<colorbar>"


def places(figure: Any) -> list[Place]:
    """The panels in reading order: top to bottom, left to right; insets after their owners."""
    found: list[Place] = []
    seen: set[int] = set()
    for ax in figure.axes:
        if id(ax) in seen or not ax.get_visible() or is_colorbar(ax):
            continue
        twins = [other for other in figure.axes if other is not ax and id(other) not in seen
                 and other.get_visible() and _are_twins(ax, other)]
        place = Place([ax, *twins])
        seen.update(id(item) for item in place.axes)
        place.cell, place.bounds = _cell(ax), _bounds(ax)
        found.append(place)
        for child in getattr(ax, "child_axes", ()):
            if type(child).__name__ == "SecondaryAxis":
                place.secondary.append(child)
            elif child.get_visible() and not is_colorbar(child) and id(child) not in seen:
                seen.add(id(child))
                found.append(Place([child], None, _bounds(child), inset_of=ax))
    _find_insets(found)
    owners = {id(place.axes[0]): index for index, place in enumerate(_ordered(found))}
    return sorted(_ordered(found), key=lambda place: (
        owners.get(id(place.inset_of), owners[id(place.axes[0])]), place.inset_of is not None))


def _ordered(found: list[Place]) -> list[Place]:
    if all(place.cell for place in found if place.inset_of is None):
        return sorted(found, key=lambda place: (
            (place.cell["row"], place.cell["col"]) if place.cell else (10**6, 10**6)))
    return sorted(found, key=lambda place: (-round((place.bounds or [0, 0, 0, 0])[1], 2),
                                            (place.bounds or [0, 0, 0, 0])[0]))


def _are_twins(ax: Any, other: Any) -> bool:
    try:
        return bool(ax._twinned_axes.joined(ax, other))
    except AttributeError:
        return False


def _find_insets(found: list[Place]) -> None:
    """Axes put by hand inside another (add_axes) are its insets."""
    for place in found:
        if place.cell is not None or place.inset_of is not None or place.bounds is None:
            continue
        left, bottom, width, height = place.bounds
        for other in found:
            if other is place or other.bounds is None or other.inset_of is not None:
                continue
            x, y, w, h = other.bounds
            if w * h > width * height * 1.5 and x <= left and y <= bottom \
                    and left + width <= x + w and bottom + height <= y + h:
                place.inset_of = other.axes[0]
                break


def _cell(ax: Any) -> dict[str, int] | None:
    spec = ax.get_subplotspec() if hasattr(ax, "get_subplotspec") else None
    if spec is None:
        return None
    rows, columns = spec.rowspan, spec.colspan
    parent = getattr(spec.get_gridspec(), "_subplot_spec", None)
    if parent is not None:  # a grid inside a cell of another grid: no common numbering
        return None
    return {"row": rows.start, "col": columns.start, "rowspan": rows.stop - rows.start,
            "colspan": columns.stop - columns.start}


def _bounds(ax: Any) -> list[float] | None:
    try:
        return [number(round(value, 4)) for value in ax.get_position().bounds]
    except Exception:
        return None


def grid(found: list[Place]) -> dict[str, int]:
    """The size of the grid that the panels' cells are on."""
    rows = columns = 1
    for place in found:
        if place.cell:
            rows = max(rows, place.cell["row"] + place.cell["rowspan"])
            columns = max(columns, place.cell["col"] + place.cell["colspan"])
    return {"rows": rows, "cols": columns}


_FACET = re.compile(r"^([^=|]{1,60}?) = ([^|]{1,100}?)$")


def facet(title: str | None) -> dict[str, str] | None:
    """seaborn's facet titles: "sex = M | smoker = yes"."""
    if not title:
        return None
    pairs = [_FACET.match(part.strip()) for part in title.split(" | ")]
    if not all(pairs):
        return None
    return {pair.group(1).strip(): pair.group(2).strip() for pair in pairs if pair}
