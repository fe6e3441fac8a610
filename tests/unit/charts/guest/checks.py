"""Reading encoded columns back, for the tests."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

DTYPES = {"f8": "<f8", "f4": "<f4", "i4": "<i4", "u1": "u1"}


def numbers(column: Any) -> np.ndarray:
    """A column as floats: missing values are NaN."""
    if isinstance(column, dict):
        raw = np.frombuffer(base64.b64decode(column["b64"]), dtype=DTYPES[column["dtype"]])
        assert len(raw) == column["n"]
        return raw.astype(float)
    tokens = {None: np.nan, "inf": np.inf, "-inf": -np.inf}
    return np.array([tokens[item] if item is None or isinstance(item, str) else item
                     for item in column], dtype=float)


def same(column: Any, expected: Any) -> bool:
    return bool(np.allclose(numbers(column), np.asarray(expected, dtype=float), rtol=1e-12,
                            atol=1e-12, equal_nan=True))


def only_layer(model: dict[str, Any]) -> dict[str, Any]:
    (panel,) = model["panels"]
    (layer,) = panel["layers"]
    return layer


def layers(model: dict[str, Any], panel: int = 0) -> list[dict[str, Any]]:
    return model["panels"][panel]["layers"]


def ms(*when: int) -> float:
    """A naive date and time as the model's milliseconds."""
    import datetime

    moment = datetime.datetime(*when, tzinfo=datetime.timezone.utc)  # type: ignore[misc]
    return moment.timestamp() * 1000
