"""The common frame of a JSON figure's model: panels with their axes, layers, and never a raise."""

from __future__ import annotations

from typing import Any

import numpy

from .. import MODEL_VERSION, encode, full_data, sample, text
from ..budget import LINE_POINTS, MAX_LAYERS, MAX_PANELS, SCATTER_POINTS, Budget
from .values import ValueAxis


class Panel:
    """One pair of axes while its layers are collected."""

    def __init__(self, projection: str = "cartesian") -> None:
        self.projection = projection
        self.title: str | None = None
        self.axes: dict[str, ValueAxis] = {}
        self.described: dict[str, dict[str, Any]] = {}
        self.color: dict[str, Any] | None = None
        self.layers: list[dict[str, Any]] = []
        self.refs: list[dict[str, Any]] = []
        self.notes: list[dict[str, Any]] = []
        self.cell: dict[str, int] | None = None
        self.bounds: list[float] | None = None
        self.theta: dict[str, Any] | None = None

    def axis(self, name: str) -> ValueAxis:
        return self.axes.setdefault(name, ValueAxis())

    def add(self, kind: str, data: dict[str, Any], **fields: Any) -> dict[str, Any]:
        layer = {"kind": kind, "data": data,
                 **{key: value for key, value in fields.items() if value is not None}}
        if len(self.layers) < MAX_LAYERS:
            self.layers.append(layer)
        return layer

    def unknown(self, name: str, reason: str, **fields: Any) -> None:
        """What cannot be read says so, with the reason."""
        self.add("unknown", {"artists": {text.clean(name): 1}}, error=text.clean(reason), **fields)

    def model(self, number: int) -> dict[str, Any]:
        result: dict[str, Any] = {"id": f"p{number}", "title": self.title,
                                  "projection": self.projection,
                                  "refs": self.refs[:100], "notes": self.notes[:100],
                                  "cell": self.cell, "bounds": self.bounds,
                                  "color": self.color, "theta": self.theta}
        for name in ("x", "y", "y2", "x2", "z"):
            if name in self.axes or name in self.described or name in ("x", "y"):
                own = self.axes[name].describe() if name in self.axes else {"scale": "linear"}
                result[name] = {**own, **self.described.get(name, {})}
                label = result[name].get("label")
                result[name].setdefault("unit", text.unit_of(label))
        result["layers"] = self.layers
        return {key: value for key, value in result.items() if value is not None}


def points(budget: Budget, kind: str, x: numpy.ndarray, y: numpy.ndarray,
           more: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """x and y with what goes along, downsampled where there are too many; and n, sampled."""
    columns: dict[str, Any] = {"x": x, "y": y, **(more or {})}
    fields: dict[str, Any] = {"n": len(x)}
    scattered = kind == "scatter"
    limit = budget.points(SCATTER_POINTS if scattered else LINE_POINTS, len(columns))
    picked = (sample.cloud if scattered else sample.line)(x, y, limit)
    return sample.cut(columns, picked, fields), fields


def finished(model: dict[str, Any], panels: list[Panel]) -> dict[str, Any]:
    """The panels as plain JSON, numbered."""
    if len(panels) > MAX_PANELS:
        model["warnings"].append(f"only {MAX_PANELS} of {len(panels)} panels are described")
    serial = 0
    model["panels"] = [panel.model(number) for number, panel in enumerate(panels[:MAX_PANELS])]
    full_data.keep(model, model["panels"])
    for entry in model["panels"]:
        for layer in entry["layers"]:
            layer.pop("_full", None)
            layer["data"] = encode.data(layer["data"])
            layer["id"] = f"l{serial}"
            serial += 1
    cells = [panel.cell for panel in panels if panel.cell]
    model["layout"] = {"rows": max((cell["row"] + cell.get("rowspan", 1) for cell in cells),
                                   default=1),
                       "cols": max((cell["col"] + cell.get("colspan", 1) for cell in cells),
                                   default=1)}
    return model


def empty(library: str, version: str = "") -> dict[str, Any]:
    return {"v": MODEL_VERSION, "kind": "figure", "id": "figure", "title": None,
            "source": {"lib": library, "version": text.clean(version)}, "panels": [],
            "warnings": [], "layout": {"rows": 1, "cols": 1}}
