"""A whole figure as one model. The only entry that the display hook calls."""

from __future__ import annotations

from typing import Any

from . import MODEL_VERSION, encode, full_data, layout, legend, panel, text
from .budget import MAX_PANELS, Budget, OutOfTime


def read(figure: Any, seconds: float | None = None) -> dict[str, Any]:
    """Never raises: what fails is said in `warnings`."""
    budget = Budget(seconds)
    model: dict[str, Any] = {"v": MODEL_VERSION, "kind": "figure", "title": None,
                             "source": {"lib": "matplotlib"}, "panels": [], "warnings": []}
    try:
        _fill(model, figure, budget)
    except Exception as error:
        model["warnings"].append(text.clean(
            f"the figure could not be read ({type(error).__name__}: {error})"))
    return model


def _fill(model: dict[str, Any], figure: Any, budget: Budget) -> None:
    import matplotlib

    model["id"] = f"f{id(figure):x}"
    model["title"] = text.or_none(_super_title(figure))
    model["source"]["version"] = text.clean(matplotlib.__version__)
    width, height = figure.get_size_inches() * figure.dpi
    model["size_px"] = [round(float(width)), round(float(height))]
    found = layout.places(figure)
    model["layout"] = layout.grid(found)
    if len(found) > MAX_PANELS:
        model["warnings"].append(f"only {MAX_PANELS} of {len(found)} panels are described")
        found = found[:MAX_PANELS]
    budget.expect_layers(sum(len(ax.lines) + len(ax.collections) + len(ax.images)
                             for place in found for ax in place.axes))
    shown = [legend.read(item) for item in figure.legends]
    shared = next((item for item in shown if item), None)
    if shared:
        model["legend"] = shared
    panels = _panels(model, found, budget)
    for entry in panels:
        if shared and entry.get("legend") is None:
            entry["layers"] = legend.name_layers(entry["layers"], shared)
    full_data.keep(model, panels)
    model["panels"] = _encoded(panels, model)


def _super_title(figure: Any) -> str | None:
    getter = getattr(figure, "get_suptitle", None)
    if getter is not None:
        return getter()
    item = getattr(figure, "_suptitle", None)
    return item.get_text() if item is not None else None


def _panels(model: dict[str, Any], found: list[layout.Place],
            budget: Budget) -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = []
    owners: dict[int, str] = {}
    for index, place in enumerate(found):
        try:
            budget.check()
            entry = panel.read(place, budget)
        except OutOfTime:
            model["partial"] = True
            model["warnings"].append(
                f"reading stopped after {budget.seconds:g} s: {len(found) - index} of "
                f"{len(found)} panels are missing or incomplete")
            break
        except Exception as error:
            model["warnings"].append(text.clean(
                f"panel {index}: could not be read ({type(error).__name__}: {error})"))
            continue
        if entry is None:
            continue
        entry["id"] = f"p{len(panels)}"
        for ax in place.axes:
            owners[id(ax)] = entry["id"]
        if place.inset_of is not None and id(place.inset_of) in owners:
            entry["inset_of"] = owners[id(place.inset_of)]
        panels.append(entry)
        _sharing(entry, place.axes[0], owners)
    _facets(panels)
    return panels


def _sharing(entry: dict[str, Any], ax: Any, owners: dict[int, str]) -> None:
    for name, group in (("shares_x", ax.get_shared_x_axes()), ("shares_y", ax.get_shared_y_axes())):
        known = {owners.get(id(other)) for other in group.get_siblings(ax)}
        known -= {None, entry["id"]}
        if known:
            entry[name] = sorted(known, key=lambda item: int(item[1:]))


def _facets(panels: list[dict[str, Any]]) -> None:
    found = [layout.facet(entry["title"]) for entry in panels]
    if len(panels) > 1 and all(found):
        for entry, value in zip(panels, found):
            entry["facet"] = value


def _encoded(panels: list[dict[str, Any]], model: dict[str, Any]) -> list[dict[str, Any]]:
    serial = 0
    for entry in panels:
        layers = []
        for layer in entry["layers"]:
            layer = {key: value for key, value in layer.items()
                     if not key.startswith("_") and value is not None}
            layer["data"] = encode.data(layer["data"])
            layer["id"] = f"l{serial}"
            serial += 1
            layers.append(layer)
        entry["layers"] = layers
        model["warnings"] += entry.pop("warnings")
    return [{key: value for key, value in entry.items() if value is not None}
            for entry in panels]
