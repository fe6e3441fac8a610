"""One panel: runs the readers over its axes and puts their layers together."""

from __future__ import annotations

from collections import Counter
from typing import Any

from . import encode, layout, legend, text, tidy
from .budget import Budget, OutOfTime
from .reading import Reading
from .readers import FLAT, SPATIAL


def read(place: layout.Place, budget: Budget) -> dict[str, Any] | None:
    """The panel's model, columns not yet encoded; None when nothing is on it."""
    lead = place.axes[0]
    spatial = lead.name == "3d"
    readings = []
    for ax in place.axes:
        reading = Reading(ax, budget, _side(lead, ax))
        readings.append(reading)
        _run(reading, SPATIAL if spatial else FLAT)
    if len(readings) > 1 and not readings[0].layers and not readings[0].refs:
        readings = _promote(readings)  # seaborn's PairGrid draws its diagonal on a twin
    legends = [legend.read(ax.get_legend()) for ax in place.axes]
    shown = next((item for item in legends if item), None)
    title = _title(place.axes)
    layers: list[dict[str, Any]] = []
    for reading, own in zip(readings, legends):
        reading.layers.sort(key=lambda layer: layer["_order"])
        found = tidy.intervals(reading.layers)
        found = legend.name_layers(found, own or shown)
        reading.layers = tidy.merge(reading, found)
        layers += reading.layers
        _categories(reading)
    notes = [note for reading in readings for note in reading.notes]
    refs = [ref for reading in readings for ref in reading.refs]
    if not layers and not refs and not notes and title is None:
        return None
    panel: dict[str, Any] = {
        "title": title, "cell": place.cell, "bounds": place.bounds,
        "projection": _projection(lead), "layers": layers, "refs": refs, "notes": notes,
        "legend": shown, "warnings": [line for reading in readings for line in reading.warnings]}
    _axes(panel, readings, place)
    return panel


def _side(lead: Any, ax: Any) -> str:
    """Which axes of the panel a twin's data go by: the right y axis or the upper x axis."""
    if ax is lead:
        return "y"
    return "x2" if ax.get_shared_y_axes().joined(lead, ax) \
        and not ax.get_shared_x_axes().joined(lead, ax) else "y2"


def _promote(readings: list[Reading]) -> list[Reading]:
    first, rest = readings[1], readings[2:]
    first.side = "y"
    for entry in first.layers + first.refs:
        entry.pop("axis", None)
    return [first, *rest]


def _run(reading: Reading, readers: list[Any]) -> None:
    """Each reader by itself: the failure of one costs its layers, not the chart."""
    for name, reader in readers:
        try:
            reader(reading)
        except OutOfTime:
            _stopped(reading)
            raise
        except OverflowError as error:
            reading.warnings.append(text.clean(f"{name}: {error}"))
            return
        except Exception as error:
            reading.warnings.append(text.clean(
                f"{name}: could not be read ({type(error).__name__}: {error})"))


def _stopped(reading: Reading) -> None:
    rest = Counter(type(artist).__name__ for artist in reading.children
                   if reading.is_free(artist))
    if rest:
        reading.warnings.append(f"not read in time: {sum(rest.values())} artists")


def _title(axes: list[Any]) -> str | None:
    for ax in axes:
        for place in ("center", "left", "right"):
            found = text.or_none(ax.get_title(loc=place))
            if found:
                return found
    return None


def _projection(ax: Any) -> str:
    return {"polar": "polar", "3d": "3d", "rectilinear": "cartesian"}.get(ax.name, "geo")


def _categories(reading: Reading) -> None:
    """Hand-set tick labels are categories when bars stand on them, or by E2B's 0..n-1 rule."""
    for axis in (reading.x, reading.y):
        if axis.categories is None and axis.fixed_labels() is not None:
            on_ticks = [layer for layer in reading.layers if "_raw_pos" in layer
                        and _position_axis(reading, layer) is axis]
            axis.use_fixed_labels()
            fits = on_ticks and all(
                index is not None for layer in on_ticks
                for index in axis.category_at(layer["_raw_pos"]))
            if not fits and not axis.counts_from_zero():
                axis.categories = axis.positions = None
    for layer in reading.layers:
        raw = layer.get("_raw_pos")
        if raw is None or layer["kind"] not in ("bar", "gantt", "box", "violin"):
            continue
        axis = _position_axis(reading, layer)
        if axis.categories is not None:
            found = axis.category_at(raw)
            if all(index is not None for index in found):
                layer["data"]["cat"] = found


def _position_axis(reading: Reading, layer: dict[str, Any]) -> Any:
    if layer["kind"] == "gantt":
        return reading.y
    return reading.along(layer.get("orient", "v"))[0]


def _shared_label(axis: Any, ax: Any, name: str) -> str | None:
    """The label that only the outer axes of a row or column of shared axes carry."""
    if axis.label():
        return None
    group = (ax.get_shared_x_axes() if name == "x" else ax.get_shared_y_axes())
    for other in group.get_siblings(ax):
        found = text.or_none(getattr(other, f"get_{name}label")())
        if found:
            return found
    whole = getattr(ax.figure, f"get_sup{name}label", None)
    if whole is not None:
        return text.or_none(whole())
    item = getattr(ax.figure, f"_sup{name}label", None)
    return text.or_none(item.get_text()) if item is not None else None


def _axes(panel: dict[str, Any], readings: list[Reading], place: layout.Place) -> None:
    lead = readings[0]
    panel["x"] = lead.x.model(_shared_label(lead.x, lead.ax, "x"))
    panel["y"] = lead.y.model(_shared_label(lead.y, lead.ax, "y"))
    for reading in readings[1:]:
        if reading.side not in panel:
            panel[reading.side] = (reading.y if reading.side == "y2" else reading.x).model()
        else:
            panel["warnings"].append(
                f"more than one further {reading.side[0]} axis: its layers share {reading.side}")
    if panel["projection"] == "3d":
        from .axis import AxisReader

        panel["z"] = AxisReader(lead.ax.zaxis, "z", lead.ax).model()
    if panel["projection"] == "polar":
        import math

        panel["theta"] = {"zero_deg": round(math.degrees(lead.ax.get_theta_offset()), 3),
                          "direction": int(lead.ax.get_theta_direction())}
    color = next((reading.color for reading in readings if reading.color), None)
    if color:
        panel["color"] = {key: value for key, value in color.items() if key != "_bar"}
    for child in place.secondary:
        _secondary(panel, lead, child)


def _secondary(panel: dict[str, Any], lead: Reading, child: Any) -> None:
    """A second scale for the same data: its label and two points of the mapping."""
    try:
        name = child._orientation
        low, high = getattr(lead.ax, f"get_{name}lim")()
        forward = child._functions[0]
        pairs = [[encode.number(value), encode.number(float(forward(value)))]
                 for value in (low, high)]
        panel[name]["secondary"] = {
            "label": text.or_none(getattr(child, f"get_{name}label")()), "map": pairs}
    except Exception:
        panel["warnings"].append("a secondary axis could not be read")
