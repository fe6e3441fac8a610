"""Legends: their title and entries, and the names that layers get from them."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from . import colour, sample, text

_MAX_ENTRIES = 200


def read(legend: Any) -> dict[str, Any] | None:
    """A legend as entries; seaborn's sections begin with an entry whose handle is not visible."""
    if legend is None:
        return None
    handles = getattr(legend, "legend_handles", None)
    if handles is None:
        handles = getattr(legend, "legendHandles", [])
    entries = []
    sections: list[dict[str, Any]] = []
    for handle, words in zip(list(handles)[:_MAX_ENTRIES], legend.get_texts()):
        label = text.plain(words.get_text()).strip()
        if handle is not None and _is_heading(handle):
            sections.append({"title": label, "entries": []})
            continue
        entry = {"label": label, "color": _colour(handle), "marker": _marker(handle)}
        entries.append(entry)
        if sections:
            sections[-1]["entries"].append(entry)
    if not entries:
        return None
    result: dict[str, Any] = {"title": text.or_none(legend.get_title().get_text()),
                              "entries": entries}
    if sections:
        result["sections"] = sections
    return result


def _is_heading(handle: Any) -> bool:
    """seaborn's section titles: an invisible handle, or a white line without width or marker."""
    if not handle.get_visible():
        return True
    size = getattr(handle, "get_markersize", None)
    return size is not None and size() == 0 and handle.get_color() in ("w", "white") \
        and handle.get_marker() in ("", "None", None, " ")


def _colour(handle: Any) -> str | None:
    if handle is None:
        return None
    getters = ("get_markerfacecolor", "get_color") if hasattr(handle, "get_markerfacecolor") \
        and str(handle.get_linestyle()) in ("None", "none", "") \
        else ("get_color", "get_facecolor", "get_edgecolor")
    for name in getters:
        method = getattr(handle, name, None)
        if method is None:
            continue
        value = method()
        if isinstance(value, numpy.ndarray) and value.ndim == 2:
            value = value[0] if len(value) else None
        found = colour.to_hex(value) if value is not None else None
        if found:
            return found
    return None


def _marker(handle: Any) -> str | None:
    method = getattr(handle, "get_marker", None)
    value = method() if method is not None else None
    return value if isinstance(value, str) and value not in ("None", "none", "", " ") else None


def _hue(legend: dict[str, Any]) -> tuple[str | None, dict[str, str]]:
    """The legend's colours that name exactly one thing, and what they stand for."""
    groups = legend.get("sections") or [{"title": legend["title"],
                                         "entries": legend["entries"]}]
    for group in groups:
        names: dict[str, str] = {}
        for entry in group["entries"]:
            key = colour.rgb(entry["color"])
            if key is None or key in names:
                names = {}
                break
            names[key] = entry["label"]
        if len(names) > 1 or (names and len(groups) == 1):
            return group["title"], names
    return None, {}


def name_layers(layers: list[dict[str, Any]], legend: dict[str, Any] | None) -> \
        list[dict[str, Any]]:
    """Layers without a name of their own get the legend entry of their colour; a cloud in the
    colours of several entries becomes one layer for each."""
    if legend is None:
        return layers
    title, names = _hue(legend)
    if not names:
        return layers
    result: list[dict[str, Any]] = []
    for layer in layers:
        tints = layer["data"].get("color")
        if layer["kind"] == "scatter" and isinstance(tints, list):
            result += _split(layer, tints, title, names)
            continue
        name = names.get(colour.rgb(layer["color"]) or "")
        if name and layer["label"] is None and not isinstance(tints, list):
            layer["label"] = name
        if name and title and layer["label"] == name:
            layer["series"] = {title: name}
        result.append(layer)
    return result


def _at(columns: dict[str, Any], chosen: numpy.ndarray) -> dict[str, Any]:
    return sample.at({name: values for name, values in columns.items() if name != "color"}, chosen)


def _of_colour(full: sample.Full, key: str) -> dict[str, Any]:
    columns = full.columns()
    return _at(columns, numpy.flatnonzero([tint[:7] == key for tint in columns["color"]]))


def _split(layer: dict[str, Any], tints: list[str], title: str | None,
           names: dict[str, str]) -> list[dict[str, Any]]:
    keys = numpy.array([tint[:7] for tint in tints])
    found = [key for key in names if (keys == key).any()]
    if sum(int((keys == key).sum()) for key in found) != len(keys):
        return [layer]
    parts = []
    whole = len(keys)
    for key in found:
        chosen = numpy.flatnonzero(keys == key)
        part = dict(layer)
        part["data"] = _at(layer["data"], chosen)
        part["label"], part["color"] = names[key], key
        if title:
            part["series"] = {title: names[key]}
        part["n"] = round(layer["n"] * len(chosen) / whole)
        if "sampled" in layer:
            part["sampled"] = {**layer["sampled"], "n": len(chosen)}
            part["_full"] = sample.Full(part["n"], functools.partial(
                _of_colour, layer["_full"], key))
        parts.append(part)
    return parts
