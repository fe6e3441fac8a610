"""Bokeh's documents: finding them in what is published, and following their references."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

import numpy

_DOCUMENTS = re.compile(r"\bdocs_json = ")
MAX_SCRIPT = 64 * 1024 * 1024


def documents(script: str) -> list[dict[str, Any]]:
    """The documents in the script that `show` publishes; it holds them as a JSON literal."""
    match = _DOCUMENTS.search(script) if len(script) <= MAX_SCRIPT else None
    if match is None:
        return []
    found, _ = json.JSONDecoder().raw_decode(script, match.end())
    return list(found.values()) if isinstance(found, dict) else []


class Model:
    """One object of a document; attributes come decoded, references followed."""

    def __init__(self, document: Document, raw: dict[str, Any]) -> None:
        self._document = document
        self.name = str(raw.get("name", ""))
        self.id = raw.get("id")
        self._attributes = raw.get("attributes") or {}

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self._attributes:
            return default
        return self._document.value(self._attributes[name])

    def model(self, name: str) -> Model:
        found = self.get(name)
        return found if isinstance(found, Model) else Model(self._document, {})

    def models(self, name: str) -> list[Model]:
        found = self.get(name) or []
        return [item for item in found if isinstance(item, Model)]


class Document:
    def __init__(self, raw: dict[str, Any]) -> None:
        self.version = str(raw.get("version", ""))
        self._models: dict[Any, Model] = {}
        self._collect(raw.get("roots"))
        self.roots = [self.value(root) for root in raw.get("roots") or []]

    def _collect(self, value: Any) -> None:
        """Every object by its id: the first place names it, the others refer to it."""
        waiting = [value]
        while waiting:
            item = waiting.pop()
            if isinstance(item, dict):
                if item.get("type") == "object" and "id" in item:
                    self._models[item["id"]] = Model(self, item)
                if item.get("type") != "ndarray":
                    waiting.extend(item.values())
            elif isinstance(item, list):
                waiting.extend(part for part in item if isinstance(part, (dict, list)))

    def value(self, raw: Any) -> Any:
        if isinstance(raw, list):
            plain = all(isinstance(item, (int, float, str, type(None))) for item in raw)
            return raw if plain else [self.value(item) for item in raw]
        if not isinstance(raw, dict):
            return raw
        kind = raw.get("type")
        if kind == "object" or (kind is None and set(raw) == {"id"}):
            return self._models.get(raw.get("id"))
        if kind == "map":
            return {str(key): self.value(item) for key, item in raw.get("entries") or []}
        if kind == "ndarray":
            return self._array(raw)
        if kind == "number":
            return float(str(raw["value"]).replace("+", ""))
        return {key: self.value(item) for key, item in raw.items()}

    def _array(self, raw: dict[str, Any]) -> Any:
        data = raw["array"]
        if raw.get("dtype") == "object":
            return self.value(data)
        if isinstance(data, dict):
            order = "<" if raw.get("order", "little") == "little" else ">"
            packed = base64.b64decode(data["data"])
            if packed[:2] == b"\x1f\x8b":  # gzip, as bokeh writes it since 3.2
                packed = gzip.decompress(packed)
            array = numpy.frombuffer(packed, numpy.dtype(raw["dtype"]).newbyteorder(order))
        else:
            array = numpy.array(data, dtype=raw["dtype"])
        return array.reshape(raw["shape"])
