"""The reading of one Axes: which artists are still to be explained, and the layers found so far.

A reader claims every artist that it has understood (also helpers like caps and grid lines of an
error bar); what nobody claims ends up as `shape` or `unknown`, never silently away.
"""

from __future__ import annotations

from typing import Any, Iterator

from . import colour as colours
from . import provenance, text
from .axis import AxisReader
from .budget import MAX_LAYERS, MAX_NOTES, MAX_REFS, Budget


class Reading:
    """One Axes while it is read. Not shared between panels."""

    def __init__(self, ax: Any, budget: Budget, side: str = "y") -> None:
        self.ax = ax
        self.budget = budget
        self.side = side  # which axis pair of the panel the layers use: y, y2, x2
        self.x = AxisReader(ax.xaxis, "x", ax)
        self.y = AxisReader(ax.yaxis, "y", ax)
        found = getattr(ax, "_children", None)
        self.children = [artist for artist in (found if found is not None else ax.get_children())]
        self._order = {id(artist): index for index, artist in enumerate(self.children)}
        self._claimed: set[int] = set()
        self.layers: list[dict[str, Any]] = []
        self.refs: list[dict[str, Any]] = []
        self.notes: list[dict[str, Any]] = []
        self.color: dict[str, Any] | None = None
        self.warnings: list[str] = []

    # ---- artists

    def claim(self, *artists: Any) -> None:
        for artist in artists:
            if artist is None:
                continue
            if isinstance(artist, (list, tuple)):
                self.claim(*artist)
            else:
                self._claimed.add(id(artist))

    def is_free(self, artist: Any) -> bool:
        return id(artist) in self._order and id(artist) not in self._claimed

    def free(self, *class_names: str) -> Iterator[Any]:
        """Visible artists that nobody explained yet, by the name of one of their classes."""
        for artist in self.children:
            if id(artist) in self._claimed or not artist.get_visible():
                continue
            if class_names and not is_a(artist, *class_names):
                continue
            self.budget.check()
            yield artist

    def order(self, artist: Any) -> int:
        return self._order.get(id(artist), len(self.children))

    def noted(self, method: str) -> list[dict[str, Any]]:
        return provenance.records(self.ax, method)

    def in_data(self, artist: Any) -> bool:
        """Both coordinates are data: false for axhline, spans, and what sits on the frame."""
        transform = artist.get_transform()
        try:
            parts = transform.contains_branch_seperately(self.ax.transData)
        except AttributeError:
            parts = transform.contains_branch_separately(self.ax.transData)
        return tuple(parts) == (True, True)

    def along(self, orient: str) -> tuple[AxisReader, AxisReader]:
        """The position axis and the value axis of bars, boxes, bands that stand or lie."""
        return (self.x, self.y) if orient == "v" else (self.y, self.x)

    def values(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Plotted columns as values: x, x_lo, … of the x axis, y, y_lo, … of the y axis."""
        axes = {"x": self.x, "y": self.y}
        return {name: axes[name[0]].values(column)
                if column is not None and name.partition("_")[0] in axes else column
                for name, column in columns.items()}

    # ---- results

    def add(self, kind: str, artist: Any, data: dict[str, Any], *, label: str | None = None,
            color: str | None = None, **fields: Any) -> dict[str, Any]:
        """One layer. `artist` gives its place in the drawing order, and label and colour."""
        if len(self.layers) >= MAX_LAYERS:
            raise OverflowError("too many layers")
        if label is None and artist is not None:
            label = text.label_of(artist)
        if color is None and artist is not None:
            color = colours.face_of(artist)
        layer = {"kind": kind, "label": label, "color": color, "data": data,
                 "_order": self.order(artist), **fields}
        if self.side != "y":
            layer["axis"] = self.side
        self.layers.append(layer)
        return layer

    def ref(self, artist: Any, **fields: Any) -> None:
        if len(self.refs) < MAX_REFS:
            entry = {**fields, "label": text.label_of(artist),
                     "color": colours.face_of(artist)}
            if self.side != "y":
                entry["axis"] = self.side
            self.refs.append(entry)

    def note(self, **fields: Any) -> None:
        if len(self.notes) < MAX_NOTES:
            self.notes.append(fields)


def is_a(artist: Any, *class_names: str) -> bool:
    """Whether one of the artist's classes has one of these names (no import needed to ask)."""
    return any(base.__name__ in class_names for base in type(artist).__mro__)


def style_of(artist: Any) -> dict[str, Any]:
    """The few style facts that a chart of another library can use."""
    style: dict[str, Any] = {}
    for name, getter in (("width", "get_linewidth"), ("line", "get_linestyle"),
                         ("marker", "get_marker"), ("alpha", "get_alpha")):
        method = getattr(artist, getter, None)
        if method is None:
            continue
        value = method()
        if isinstance(value, (str, int, float)) and value not in ("", "None", " ", "none"):
            style[name] = value
    return style
