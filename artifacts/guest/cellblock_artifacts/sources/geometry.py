"""Columns of geometries (geopandas, and what is built like it), as WKT: exact, and readable in
pages, CSV and words. Their libraries are recognised by name and never imported for it."""

from __future__ import annotations

import sys
from typing import Any

from .. import values


# Decimal places: of a double's shortest form all that there can be, but for trailing zeros.
_PLACES = 30


def is_geometry(dtype: Any) -> bool:
    """Of an extension type: geopandas' own, or one that is called the same."""
    library = type(dtype).__module__.partition(".")[0]
    return str(dtype) == "geometry" or library in ("geopandas", "dask_geopandas")


def texts(items: list[Any]) -> list[str | None]:
    """Each as WKT with all its digits; None for a missing one."""
    shapely = sys.modules.get("shapely")
    if shapely is not None and hasattr(shapely, "to_wkt"):
        try:
            made = shapely.to_wkt(items, rounding_precision=_PLACES)
            return [None if text is None else str(text) for text in made]
        except Exception:  # other libraries' geometries
            pass
    return [None if values.is_null(item) else values.clean(str(item.wkt)) for item in items]


def note(series: Any) -> str:
    """How it is stored, and what is needed to read the numbers: reference system and extent."""
    parts = ["geometry as WKT"]
    try:
        system = series.array.crs
        parts.append("no reference system" if system is None else system.to_string())
    except Exception:
        pass
    try:
        bounds = [format(float(number), ".6g") for number in series.array.total_bounds]
        if "nan" not in bounds:
            parts.append(f"within x {bounds[0]} to {bounds[2]}, y {bounds[1]} to {bounds[3]}")
    except Exception:
        pass
    return values.clean(values.cut(", ".join(parts), 200))
