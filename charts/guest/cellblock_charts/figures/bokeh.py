"""Bokeh figures as chart models, read from the document that `show` publishes."""

from __future__ import annotations

from typing import Any

import numpy

from .. import text
from ..budget import Budget, OutOfTime
from ..encode import number
from . import frame
from .bokeh_document import Document, Model, documents
from .frame import Panel
from .values import ValueAxis, color, edges_of, is_number, listed, numbers

_GRIDS = {"Row", "Column", "GridBox", "GridPlot", "Tabs", "Panel", "TabPanel"}
_STEPS = {"before": "pre", "after": "post", "center": "mid"}


class Unread(Exception):
    """Why a glyph cannot be read."""


def read(script: str, seconds: float | None = None) -> dict[str, Any] | None:
    """The model of a published script; nothing when there is no document in it. Never raises."""
    model = frame.empty("bokeh")
    budget = Budget(seconds)
    try:
        found = documents(script)
        if not found:
            return None
        panels: list[Panel] = []
        for raw in found:
            document = Document(raw)
            model["source"]["version"] = text.clean(document.version)
            for root in document.roots:
                if isinstance(root, Model):
                    _place(root, 0, 0, panels, budget)
        if not panels:
            return None
        if len(panels) == 1:
            panels[0].cell = None
        frame.finished(model, panels)
    except OutOfTime:
        model["partial"] = True
        model["warnings"].append(f"reading stopped after {budget.seconds:g} s")
    except Exception as error:
        model["warnings"].append(text.clean(
            f"the figure could not be read ({type(error).__name__}: {error})"))
    return model


def _place(root: Model, row: int, column: int, panels: list[Panel], budget: Budget) -> None:
    """Figures in rows, columns and grids."""
    if root.name == "Figure":
        panels.append(_Figure(root, budget).read(row, column))
        return
    if root.name not in _GRIDS:
        return
    for index, child in enumerate(root.get("children") or root.get("tabs") or []):
        if isinstance(child, list) and len(child) >= 3 and isinstance(child[0], Model):
            _place(child[0], row + int(child[1]), column + int(child[2]), panels, budget)
        elif isinstance(child, Model):
            down = index if root.name == "Column" else 0
            along = index if root.name == "Row" else 0
            _place(child, row + down, column + along, panels, budget)
    for name in ("child", "grid"):
        if isinstance(root.get(name), Model):
            _place(root.model(name), row, column, panels, budget)


class _Figure:
    def __init__(self, figure: Model, budget: Budget) -> None:
        self.figure = figure
        self.budget = budget
        self.panel = Panel()
        self.labels: dict[Any, str] = {}

    def read(self, row: int, column: int) -> Panel:
        panel = self.panel
        panel.title = text.or_none(self.figure.model("title").get("text"))
        panel.cell = {"row": row, "col": column, "rowspan": 1, "colspan": 1}
        for letter, sides in (("x", ("below", "above")), ("y", ("left", "right"))):
            panel.axes[letter], panel.described[letter] = self._axis(letter, sides)
        for side in ("center", "left", "right", "above", "below"):
            for item in self.figure.models(side):
                self._annotation(item)
        for renderer in self.figure.models("renderers"):
            self.budget.check()
            if renderer.name != "GlyphRenderer" or renderer.get("visible") is False:
                continue
            glyph = renderer.model("glyph")
            label = self.labels.get(renderer.id)
            try:
                self._glyph(renderer, glyph, label)
            except Unread as reason:
                panel.unknown(glyph.name, str(reason), label=label)
            except Exception as error:
                panel.unknown(glyph.name, f"{type(error).__name__}: {error}", label=label)
        return panel

    def _axis(self, letter: str, sides: tuple[str, ...]) -> tuple[ValueAxis, dict[str, Any]]:
        scale_range = self.figure.model(f"{letter}_range")
        drawn = [item for side in sides for item in self.figure.models(side)
                 if item.name.endswith("Axis")]
        kind = "linear"
        if scale_range.name == "FactorRange":
            kind = "category"
        elif any(item.name == "DatetimeAxis" for item in drawn):
            kind = "date"
        elif self.figure.model(f"{letter}_scale").name == "LogScale":
            kind = "log"
        known: dict[str, Any] = {
            "label": text.or_none(drawn[0].get("axis_label")) if drawn else None}
        axis = ValueAxis(kind)
        if kind == "category":
            axis.learn(scale_range.get("factors") or [])
        elif scale_range.name == "Range1d":
            ends = [number(scale_range.get(name, default))
                    for name, default in (("start", 0), ("end", 1))]
            if all(isinstance(end, (int, float)) for end in ends) and ends[0] != ends[1]:
                known["lim"] = sorted(ends)
                if ends[0] > ends[1]:
                    known["inverted"] = True
        axis.settle()
        return axis, known

    def _annotation(self, item: Model) -> None:
        if item.name == "Legend":
            for entry in item.models("items"):
                label = entry.get("label")
                words = label.get("value") if isinstance(label, dict) else label
                for renderer in entry.models("renderers"):
                    if isinstance(words, str):
                        self.labels[renderer.id] = text.clean(words)
        elif item.name == "Span" and is_number(item.get("location")):
            level = item.get("dimension", "width") == "width"
            self.panel.refs.append({"kind": "hline" if level else "vline",
                                    "value": number(item.get("location")), "label": None,
                                    "color": color(item.get("line_color"))})
        elif item.name == "BoxAnnotation":
            ends = {side: item.get(side) for side in ("left", "right", "bottom", "top")}
            for kind, low, high in (("hspan", "bottom", "top"), ("vspan", "left", "right")):
                # An open side is NaN, or a node of the frame.
                if all(is_number(ends[side]) and numpy.isfinite(ends[side])
                       for side in (low, high)):
                    self.panel.refs.append({"kind": kind, "lo": ends[low], "hi": ends[high],
                                            "label": None, "color": color(item.get("fill_color"))})
        elif item.name == "Title" and self.panel.title is None:
            self.panel.title = text.or_none(item.get("text"))

    # ---- columns of a glyph

    def _source(self, renderer: Model) -> dict[str, Any]:
        view = renderer.model("view").model("filter")
        if view.name not in ("", "AllIndices"):
            raise Unread("rows are chosen in the browser")
        return renderer.model("data_source").get("data") or {}

    def _raw(self, spec: Any, data: dict[str, Any], size: int | None) -> Any:
        """A glyph's property: a field of the source, a sum of fields, or one value for all."""
        if isinstance(spec, dict) and spec.get("type") == "field":
            if spec.get("field") not in data:
                raise Unread(f"the column {spec.get('field')} is not in the source")
            return data[spec["field"]]
        if isinstance(spec, dict) and spec.get("type") == "expr":
            stack = spec.get("expr")
            if not isinstance(stack, Model) or stack.name != "Stack":
                raise Unread("an expression is computed in the browser")
            fields = stack.get("fields") or []
            columns = [numbers(data[field]) for field in fields]
            return sum(columns) if columns else numpy.zeros(size or 1)
        value = spec.get("value") if isinstance(spec, dict) else spec
        return [value] * (size or 1)

    def _column(self, glyph: Model, name: str, data: dict[str, Any], letter: str | None,
                default: Any = None) -> numpy.ndarray:
        spec = glyph.get(name, default)
        size = max((len(listed(column)) for column in data.values()), default=1)
        raw = self._raw(spec, data, size)
        values = self.panel.axis(letter).values(raw) if letter else numbers(raw)
        moved = spec.get("transform") if isinstance(spec, dict) else None
        if isinstance(moved, Model):
            if moved.name != "Dodge":
                raise Unread(f"the transform {moved.name} is computed in the browser")
            values = values + float(moved.get("value") or 0)
        return values

    def _color(self, glyph: Model) -> str | None:
        for name in ("fill_color", "line_color"):
            spec = glyph.get(name)
            found = color(spec.get("value") if isinstance(spec, dict) else spec)
            if found:
                return found
        return None

    # ---- glyphs

    def _glyph(self, renderer: Model, glyph: Model, label: str | None) -> None:
        data = self._source(renderer)
        common = {"label": label, "color": self._color(glyph)}
        readers = {"Line": self._line, "Step": self._line, "Scatter": self._scatter,
                   "Circle": self._scatter, "VBar": self._bars, "HBar": self._bars,
                   "Quad": self._quads, "VArea": self._area, "HArea": self._area,
                   "Wedge": self._wedges, "AnnularWedge": self._wedges, "Rect": self._cells,
                   "Image": self._image, "Text": self._texts}
        if glyph.name not in readers:
            raise Unread(f"glyphs of kind {glyph.name} are not read")
        readers[glyph.name](glyph, data, common)

    def _line(self, glyph: Model, data: dict[str, Any], common: dict[str, Any]) -> None:
        x, y = self._column(glyph, "x", data, "x"), self._column(glyph, "y", data, "y")
        columns, fields = frame.points(self.budget, "line", x, y)
        step = glyph.name == "Step"
        if step:
            columns["step"] = _STEPS.get(glyph.get("mode", "before"), "pre")
        width = glyph.get("line_width")
        width = width.get("value") if isinstance(width, dict) else width
        style = {"width": float(width) * 0.75} if isinstance(width, (int, float)) else None
        self.panel.add("step" if step else "line", columns, style=style, **fields, **common)

    def _scatter(self, glyph: Model, data: dict[str, Any], common: dict[str, Any]) -> None:
        x, y = self._column(glyph, "x", data, "x"), self._column(glyph, "y", data, "y")
        more: dict[str, Any] = {}
        if glyph.name == "Scatter":
            more["size"] = (self._column(glyph, "size", data, None, 4) * 0.75) ** 2
        self._mapped(glyph, data, more, len(x))
        columns, fields = frame.points(self.budget, "scatter", x, y, more)
        self.panel.add("scatter", columns, **fields, **common)

    def _mapped(self, glyph: Model, data: dict[str, Any], more: dict[str, Any], size: int) -> None:
        """Colours from a column: values by a colour mapper, or colours as they are."""
        spec = glyph.get("fill_color")
        if not isinstance(spec, dict) or spec.get("type") != "field":
            return
        values = listed(data.get(spec.get("field")))
        mapper = spec.get("transform")
        if len(values) != size:
            return
        if not isinstance(mapper, Model):
            more["color"] = [color(value) or "" for value in values]
        elif mapper.name == "CategoricalColorMapper":
            palette = mapper.get("palette") or []
            known = {str(factor): palette[index] for index, factor in
                     enumerate(mapper.get("factors") or []) if index < len(palette)}
            more["color"] = [color(known.get(str(value))) or "" for value in values]
        else:
            more["c"] = numbers(values)
            self._scale(mapper, more["c"])

    def _scale(self, mapper: Model, values: numpy.ndarray) -> None:
        low, high = number(mapper.get("low")), number(mapper.get("high"))
        finite = values[numpy.isfinite(values)]
        if len(finite):
            low = float(finite.min()) if low is None else low
            high = float(finite.max()) if high is None else high
        self.panel.color = {"label": None, "cmap": "", "lim": [low, high],
                            "scale": "log" if mapper.name.startswith("Log") else "linear"}

    def _bars(self, glyph: Model, data: dict[str, Any], common: dict[str, Any]) -> None:
        lying = glyph.name == "HBar"
        along, across = ("y", "x") if lying else ("x", "y")
        ends = ("left", "right") if lying else ("bottom", "top")
        position = self._column(glyph, along, data, along)
        base = self._column(glyph, ends[0], data, across, 0)
        top = self._column(glyph, ends[1], data, across)
        width = self._column(glyph, "height" if lying else "width", data, None, 1)
        codes = None
        if self.panel.axis(along).kind == "category":
            codes = numpy.rint(position)
        more: dict[str, Any] = {}
        self._mapped(glyph, data, more, len(position))
        size = len(position)
        self.panel.add("bar", {"pos": position, "value": top - base,
                               "base": numpy.broadcast_to(base, (size,)).copy(),
                               "width": numpy.broadcast_to(width, (size,)).copy(), "cat": codes,
                               "color": more.get("color")},
                       n=size, orient="h" if lying else "v", **common)

    def _quads(self, glyph: Model, data: dict[str, Any], common: dict[str, Any]) -> None:
        left = self._column(glyph, "left", data, "x")
        right = self._column(glyph, "right", data, "x")
        bottom = self._column(glyph, "bottom", data, "y", 0)
        top = self._column(glyph, "top", data, "y")
        bottom = numpy.broadcast_to(bottom, left.shape)
        if len(left) > 1 and numpy.allclose(left[1:], right[:-1]) and not bottom.any():
            self.panel.add("hist", {"edges": numpy.append(left, right[-1]), "count": top},
                           orient="v", **common)
            return
        self.panel.add("bar", {"pos": (left + right) / 2, "value": top - bottom,
                               "base": bottom.copy(), "width": right - left},
                       n=len(left), orient="v", **common)

    def _area(self, glyph: Model, data: dict[str, Any], common: dict[str, Any]) -> None:
        lying = glyph.name == "HArea"
        along, across = ("y", "x") if lying else ("x", "y")
        at = self._column(glyph, along, data, along)
        first = self._column(glyph, f"{across}1", data, across)
        second = self._column(glyph, f"{across}2", data, across)
        self.panel.add("band", {"x": at, "lo": numpy.minimum(first, second),
                                "hi": numpy.maximum(first, second)},
                       n=len(at), orient="h" if lying else "v", **common)

    def _wedges(self, glyph: Model, data: dict[str, Any], common: dict[str, Any]) -> None:
        angles = {}
        for name in ("start_angle", "end_angle"):
            spec = glyph.get(name)
            if isinstance(spec, dict) and isinstance(spec.get("expr"), Model):
                # cumsum(): the sum up to here, with or without the row itself.
                sums = spec["expr"]
                values = numpy.cumsum(numbers(data[sums.get("field")]))
                if sums.get("include_zero"):
                    values = numpy.concatenate(([0.0], values[:-1]))
                angles[name] = values
            else:
                angles[name] = self._column(glyph, name, data, None)
        start, end = numpy.degrees(angles["start_angle"]), numpy.degrees(angles["end_angle"])
        if (end < start).any() or (end - start).sum() > 360.0001:
            raise Unread("wedges that are no shares of one whole")
        names = next((listed(column) for name, column in data.items()
                      if all(isinstance(value, str) for value in listed(column))
                      and name not in ("color", "fill_color")), [""] * len(start))
        more: dict[str, Any] = {}
        self._mapped(glyph, data, more, len(start))
        inner = 0.5 if glyph.name == "AnnularWedge" else 0.0
        self.panel.projection = "none"
        self.panel.add("pie", {"label": [text.clean(name) for name in names],
                               "frac": numpy.round((end - start) / 360, 9), "angle0": start,
                               "angle1": end, "r": numpy.ones(len(start)),
                               "r_inner": numpy.full(len(start), inner),
                               "color": more.get("color")}, n=len(start))

    def _cells(self, glyph: Model, data: dict[str, Any], common: dict[str, Any]) -> None:
        spec = glyph.get("fill_color")
        mapper = spec.get("transform") if isinstance(spec, dict) else None
        if not isinstance(mapper, Model) or "ColorMapper" not in mapper.name:
            raise Unread("rectangles without a value")
        value = numbers(data[spec["field"]])
        columns: dict[str, Any] = {}
        places = {}
        for letter in "xy":
            at = self._column(glyph, letter, data, letter)
            axis = self.panel.axis(letter)
            if axis.kind == "category":
                columns[f"{letter}_cats"] = axis.names
                middles = numpy.arange(len(axis.names), dtype="float64")
            else:
                middles = numpy.unique(at)
            columns[f"{letter}_edges"] = edges_of(middles)
            places[letter] = numpy.searchsorted(middles, at)
        grid = numpy.full((len(columns["y_edges"]) - 1, len(columns["x_edges"]) - 1), numpy.nan)
        grid[places["y"], places["x"]] = value
        self._scale(mapper, value)
        self.panel.add("heatmap", {**columns, "v": grid}, n=len(value), label=common["label"])

    def _image(self, glyph: Model, data: dict[str, Any], common: dict[str, Any]) -> None:
        images = self._raw(glyph.get("image"), data, 1)
        if len(images) != 1:
            raise Unread("several pictures in one glyph")
        grid = numpy.asarray(images[0], dtype="float64")
        edges = {}
        for letter, size, count in (("x", "dw", grid.shape[1]), ("y", "dh", grid.shape[0])):
            start = float(self._column(glyph, letter, data, None)[0])
            length = float(self._column(glyph, size, data, None)[0])
            edges[f"{letter}_edges"] = start + length * numpy.arange(count + 1) / count
        mapper = glyph.get("color_mapper")
        if isinstance(mapper, Model):
            self._scale(mapper, grid.ravel())
        self.panel.add("heatmap", {**edges, "v": grid}, n=grid.size, label=common["label"])

    def _texts(self, glyph: Model, data: dict[str, Any], common: dict[str, Any]) -> None:
        x, y = self._column(glyph, "x", data, "x"), self._column(glyph, "y", data, "y")
        words = listed(self._raw(glyph.get("text"), data, len(x)))
        for at_x, at_y, word in list(zip(x, y, words))[:100]:
            if numpy.isfinite(at_x) and numpy.isfinite(at_y) and word is not None:
                self.panel.notes.append({"text": text.clean(word),
                                         "at": [float(at_x), float(at_y)]})
