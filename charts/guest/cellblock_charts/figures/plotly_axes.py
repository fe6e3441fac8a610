"""Plotly's layout: which traces share a panel, what its axes are, shapes and annotations."""

from __future__ import annotations

from typing import Any

from .. import text
from ..encode import number
from .frame import Panel
from .values import ValueAxis, color, is_number, plain

_COLORWAY = ["#636efa", "#ef553b", "#00cc96", "#ab63fa", "#ffa15a", "#19d3f3", "#ff6692",
             "#b6e880", "#ff97ff", "#fecb52"]
_POLAR = {"scatterpolar", "scatterpolargl", "barpolar"}
_SPATIAL = {"scatter3d", "surface", "mesh3d", "cone", "streamtube", "isosurface", "volume"}
_PLACED = {"pie", "table", "indicator", "sunburst", "treemap", "icicle", "funnelarea", "sankey",
           "parcoords", "parcats"}
# The first colour of a colour scale tells which of the usual ones it is.
_SCALES = {"#0d0887": "plasma", "#440154": "viridis", "#000004": "inferno", "#00224e": "cividis",
           "#30123b": "turbo", "rgb(5,10,172)": "RdBu_r", "rgb(103,0,31)": "RdBu"}


def title_of(value: Any) -> str | None:
    if isinstance(value, dict):
        value = value.get("text")
    if not isinstance(value, str):
        return None
    return text.or_none(_without_tags(value))


def _without_tags(value: str) -> str:
    """Plotly's texts have a few tags; what a reader sees is the text between them."""
    import re

    value = re.sub(r"<br\s*/?>", " ", value)
    value = re.sub(r"</?(b|i|em|strong|sup|sub|span|a)\b[^>]*>", "", value)
    return value.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


class Figure:
    """The figure while it is read."""

    def __init__(self, bundle: dict[str, Any]) -> None:
        self.layout: dict[str, Any] = bundle.get("layout") or {}
        self.traces: list[dict[str, Any]] = [
            trace for trace in bundle.get("data") or [] if isinstance(trace, dict)]
        self.frames = len(bundle.get("frames") or [])
        self.title = title_of(self.layout.get("title"))
        template = (self.layout.get("template") or {}).get("layout") or {}
        self.colorway = self.layout.get("colorway") or template.get("colorway") or _COLORWAY
        self.panels: dict[Any, Panel] = {}
        self._serial = {id(trace): index for index, trace in enumerate(self.traces)}

    # ---- traces

    def shown(self, trace: dict[str, Any]) -> bool:
        return trace.get("visible", True) is True

    def name(self, trace: dict[str, Any]) -> str | None:
        return title_of(trace.get("name"))

    def color(self, trace: dict[str, Any]) -> str | None:
        for place in ("line", "marker"):
            found = color((trace.get(place) or {}).get("color"))
            if found:
                return found
        return color(trace.get("fillcolor")) or color(
            self.colorway[self._serial[id(trace)] % len(self.colorway)])

    def axis_settings(self, name: str) -> dict[str, Any]:
        """Of "x", "y2", ...: layout.xaxis, layout.yaxis2."""
        return self.layout.get(f"{name[0]}axis{name[1:]}") or {}

    def _base(self, name: str) -> str:
        """The axis that this one lies over, if it is a twin."""
        over = self.axis_settings(name).get("overlaying")
        return over if isinstance(over, str) and over[:1] == name[:1] else name

    def sides(self, trace: dict[str, Any]) -> tuple[str, str]:
        """Which axes of its panel a trace uses: "x" or "x2", "y" or "y2"."""
        names = trace.get("xaxis", "x"), trace.get("yaxis", "y")
        return tuple(name[0] if self._base(name) == name else f"{name[0]}2"
                     for name in names)  # type: ignore[return-value]

    def side(self, trace: dict[str, Any]) -> str | None:
        """A layer's `axis`: nothing for the usual pair."""
        second = [side for side in self.sides(trace) if side.endswith("2")]
        return second[0] if second else None

    def along(self, trace: dict[str, Any], letter: str) -> ValueAxis:
        sides = self.sides(trace)
        return self.panel_of(trace).axis(sides[0] if letter == "x" else sides[1])

    def panel_of(self, trace: dict[str, Any]) -> Panel:
        kind = trace.get("type", "scatter")
        if kind in _PLACED:
            return self._panel(("place", id(trace)), "none", trace.get("domain") or {})
        if kind in _POLAR:
            name = trace.get("subplot", "polar")
            return self._panel(name, "polar", (self.layout.get(name) or {}).get("domain") or {})
        if kind in _SPATIAL:
            name = trace.get("scene", "scene")
            return self._panel(name, "3d", (self.layout.get(name) or {}).get("domain") or {})
        pair = self._base(trace.get("xaxis", "x")), self._base(trace.get("yaxis", "y"))
        domain = {letter: self.axis_settings(name).get("domain")
                  for letter, name in zip("xy", pair)}
        return self._panel(pair, "cartesian", domain)

    def _panel(self, key: Any, projection: str, domain: dict[str, Any]) -> Panel:
        if key not in self.panels:
            panel = Panel(projection)
            x, y = domain.get("x") or [0, 1], domain.get("y") or [0, 1]
            panel.bounds = [float(x[0]), float(y[0]), float(x[1] - x[0]), float(y[1] - y[0])]
            self.panels[key] = panel
        return self.panels[key]

    # ---- axes

    def learn(self, trace: dict[str, Any]) -> None:
        """Tells the panel's axes what values will come."""
        panel = self.panel_of(trace)
        if panel.projection != "cartesian":
            return
        for letter, side, name in zip("xy", self.sides(trace),
                                      (trace.get("xaxis", "x"), trace.get("yaxis", "y"))):
            if side not in panel.axes:
                settings = self.axis_settings(name)
                panel.axes[side] = ValueAxis(settings.get("type"), settings.get("categoryarray"))
                panel.described[side] = {}
            axis = panel.axes[side]
            values = trace.get(letter)
            if values is not None:
                axis.learn(values)
            elif trace.get("type") == "box" and trace.get("name") is not None:
                axis.learn([trace["name"]])
        panel.described = {side: self._described(panel, side, name) for side, name in
                           zip(self.sides(trace), (trace.get("xaxis", "x"),
                                                   trace.get("yaxis", "y")))} | {
                               side: known for side, known in panel.described.items()
                               if side not in self.sides(trace)}

    def _described(self, panel: Panel, side: str, name: str) -> dict[str, Any]:
        settings = self.axis_settings(name)
        known: dict[str, Any] = {"label": title_of(settings.get("title"))}
        if settings.get("autorange") == "reversed":
            known["inverted"] = True
        limits = settings.get("range")
        if isinstance(limits, (list, tuple)) and len(limits) == 2 and all(
                is_number(end) for end in limits):
            ends = [float(end) for end in limits]
            if settings.get("type") == "log":
                ends = [10.0 ** end for end in ends]
            if ends[0] > ends[1]:
                known["inverted"] = True
            known["lim"] = sorted(ends)
        return known

    # ---- words around the traces

    def add_words(self) -> None:
        self._cells()
        for shape in self.layout.get("shapes") or []:
            if isinstance(shape, dict):
                self._shape(shape)
        for note in self.layout.get("annotations") or []:
            if isinstance(note, dict):
                self._annotation(note)

    def _cells(self) -> None:
        """Rows and columns from where the panels lie."""
        panels = list(self.panels.values())
        if len(panels) < 2:
            return
        lefts = sorted({round(panel.bounds[0], 3) for panel in panels if panel.bounds})
        tops = sorted({round(panel.bounds[1] + panel.bounds[3], 3)
                       for panel in panels if panel.bounds}, reverse=True)
        for panel in panels:
            if panel.bounds:
                top = round(panel.bounds[1] + panel.bounds[3], 3)
                panel.cell = {"row": tops.index(top), "col": lefts.index(round(panel.bounds[0], 3)),
                              "rowspan": 1, "colspan": 1}

    def _pair(self, item: dict[str, Any]) -> Panel | None:
        names = [str(item.get(f"{letter}ref", letter)).split(" ")[0] for letter in "xy"]
        for index, letter in enumerate("xy"):
            if names[index] == "paper":  # across the panel of the other axis
                names[index] = letter + names[1 - index][1:] if names[1 - index] != "paper" else ""
        return self.panels.get((self._base(names[0]), self._base(names[1]))) if all(names) else None

    def _shape(self, shape: dict[str, Any]) -> None:
        panel = self._pair(shape)
        if panel is None:
            return
        ends = {}
        for key in ("x0", "x1", "y0", "y1"):
            if shape.get(key) is not None and key[0] in panel.axes:
                values = panel.axis(key[0]).values([shape[key]])
                ends[key] = number(values[0])
        tint = color((shape.get("line") or {}).get("color")) or color(shape.get("fillcolor"))
        label = title_of(shape.get("label")) or self.name(shape)
        paper = {letter: "domain" in str(shape.get(f"{letter}ref", ""))
                 or shape.get(f"{letter}ref") == "paper" for letter in "xy"}
        common = {"label": label, "color": tint}
        if any(ends.get(key) is None for key in ("x0", "x1", "y0", "y1")):
            return
        if shape.get("type") == "line":
            if paper["x"]:
                panel.refs.append({"kind": "hline", "value": ends["y0"], **common})
            elif paper["y"]:
                panel.refs.append({"kind": "vline", "value": ends["x0"], **common})
            else:
                panel.refs.append({"kind": "line", "p1": [ends["x0"], ends["y0"]],
                                   "p2": [ends["x1"], ends["y1"]], **common})
        elif shape.get("type") == "rect" and (paper["x"] or paper["y"]):
            kind, low, high = (("hspan", "y0", "y1") if paper["x"] else ("vspan", "x0", "x1"))
            panel.refs.append({"kind": kind, "lo": min(ends[low], ends[high]),
                               "hi": max(ends[low], ends[high]), **common})

    def _annotation(self, note: dict[str, Any]) -> None:
        words = title_of(note.get("text"))
        if not words or note.get("visible") is False:
            return
        if note.get("xref") == "paper" and note.get("yref") == "paper":
            self._panel_title(words, note)
            return
        panel = self._pair(note)
        if panel is None:
            return
        place = []
        for letter in "xy":
            values = panel.axis(letter).values([note.get(letter)])
            value = number(values[0])
            if value is not None and panel.axis(letter).kind == "log":
                value = 10.0 ** float(value)
            place.append(value)
        if None not in place:
            panel.notes.append({"text": words, "at": place})

    def _panel_title(self, words: str, note: dict[str, Any]) -> None:
        """make_subplots and facets write the panels' titles as annotations above or beside them."""
        x, y = note.get("x"), note.get("y")
        if not is_number(x) or not is_number(y):
            return
        for panel in self.panels.values():
            if panel.bounds is None or panel.title is not None or len(self.panels) < 2:
                continue
            left, bottom, width, height = panel.bounds
            if abs(float(x) - (left + width / 2)) < 0.02 and abs(
                    float(y) - (bottom + height)) < 0.02:
                panel.title = words
                return

    def color_scale(self, trace: dict[str, Any], holder: dict[str, Any],
                    low: float, high: float) -> dict[str, Any]:
        """The colour scale of a marker or a heat map, its own or the figure's shared one."""
        shared = holder.get("coloraxis")
        if isinstance(shared, str):
            holder = self.layout.get(shared) or {}
        names = (("cmin", "cmax") if "cmin" in holder or "marker" in trace or shared
                 else ("zmin", "zmax"))
        ends = [holder.get(name) for name in names]
        if not all(is_number(end) for end in ends):
            ends = [low, high]
        stops = plain(holder.get("colorscale"))
        name = ""
        if isinstance(stops, str):
            name = stops
        elif isinstance(stops, (list, tuple)) and stops and len(stops[0]) == 2:
            name = _SCALES.get(str(stops[0][1]).lower().replace(" ", ""), "")
        return {"label": title_of((holder.get("colorbar") or {}).get("title")), "cmap": name,
                "lim": [float(end) for end in ends], "scale": "linear"}
