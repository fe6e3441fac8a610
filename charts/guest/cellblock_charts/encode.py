"""Columns as JSON values: short ones as lists, long ones as base64 of little-endian numbers.

In lists a missing value (masked, NaN) is null and infinities are the strings "inf" and "-inf"; in
base64 they are native. No value that leaves here needs a JSON extension.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy

from .text import clean

LIST_LIMIT = 256


def floats(values: Any) -> numpy.ndarray:
    """Numbers as float64, masked and None as NaN."""
    array = numpy.ma.asarray(values)
    if array.dtype.kind in "mM":
        array = array.astype("int64")
    if array.dtype.kind != "f":
        array = array.astype("float64")
    return numpy.asarray(numpy.ma.filled(array, numpy.nan), dtype="float64")


def number(value: Any) -> Any:
    """One number; None when it is missing."""
    if value is None or value is numpy.ma.masked:
        return None
    value = float(value)
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _list(array: numpy.ndarray) -> list[Any]:
    return [number(value) for value in array.tolist()]


def column(values: Any) -> Any:
    """One column: numbers, strings, or a list of columns (ragged data)."""
    if isinstance(values, numpy.ndarray):
        if values.ndim == 2:
            return [column(row) for row in values]
        if values.dtype.kind in "OUS":
            return [clean(value) for value in values.tolist()]
        values = floats(values)
        if len(values) <= LIST_LIMIT:
            return _list(values)
        return _packed(values)
    if isinstance(values, (list, tuple)):
        return [_item(value) for value in values]
    return _item(values)


def _packed(values: numpy.ndarray) -> dict[str, Any]:
    whole = numpy.isfinite(values).all() and (values == numpy.rint(values)).all()
    if whole and numpy.abs(values).max(initial=0) < 2**31:
        packed, dtype = values.astype("<i4"), "i4"
    else:
        packed, dtype = values.astype("<f8"), "f8"
    return {"b64": base64.b64encode(packed.tobytes()).decode("ascii"), "dtype": dtype,
            "n": len(values)}


def _item(value: Any) -> Any:
    if value is None or isinstance(value, (bool, numpy.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _item(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, numpy.ndarray)):
        return column(value)
    return number(value)


def data(columns: dict[str, Any]) -> dict[str, Any]:
    """A layer's data; columns that are None are left out."""
    return {key: column(value) for key, value in columns.items() if value is not None}
