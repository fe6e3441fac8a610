"""Remembers what some Axes methods returned, where the drawn artists alone would be ambiguous.

A histogram looks like bars, a pie's values are gone once it is drawn, a contour keeps no grid. The
wrappers here call the original, note its return value (and the statistics it was given) on the
Axes, and give the value on unchanged; what fails in the noting is dropped. Nothing is drawn
differently, and a figure that was made before the wrappers came is read from its artists alone.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any, Callable

ATTRIBUTE = "_cellblock_provenance"
_MARK = "_cellblock_wrapped"
_MAX_GRID = 4_000_000  # values of a contour's grid that we keep alive
_MAX_NOTES = 2000


def install(axes_class: Any) -> None:
    """Wraps the methods of matplotlib.axes.Axes once."""
    for name, note in _NOTES.items():
        original = axes_class.__dict__.get(name)
        if isinstance(original, types.FunctionType) and not hasattr(original, _MARK):
            setattr(axes_class, name, _wrap(name, original, note))


def records(ax: Any, method: str) -> list[dict[str, Any]]:
    """What was noted for an Axes, oldest first."""
    return [note for note in getattr(ax, ATTRIBUTE, ()) if note["method"] == method]


def _wrap(name: str, original: Any, note: Callable[..., dict[str, Any] | None]) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        result = original(self, *args, **kwargs)
        remember(self, name, note, original, result, args, kwargs)
        return result

    # Matplotlib attributes its warnings to the first frame outside of matplotlib: not to ours.
    space = {**globals(), "__name__": "matplotlib.axes.cellblock"}
    method = types.FunctionType(method.__code__, space, name, None, method.__closure__)
    functools.update_wrapper(method, original)
    setattr(method, _MARK, True)
    return method


def remember(ax: Any, name: str, note: Any, original: Any, result: Any, args: Any,
             kwargs: Any) -> None:
    """Never raises: what cannot be noted is not noted."""
    try:
        caller = sys._getframe(2).f_globals.get("__name__", "")
        found = note(result, lambda: _bound(original, ax, args, kwargs), caller)
        if found is None:
            return
        notes = ax.__dict__.setdefault(ATTRIBUTE, [])
        if len(notes) < _MAX_NOTES:
            notes.append({"method": name, **found})
    except Exception:
        pass


def _bound(original: Any, ax: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments by name; only for options, not for the data's meaning."""
    bound = inspect.signature(original).bind(ax, *args, **kwargs)
    return bound.arguments


def _bxp(result: Any, bound: Any, caller: str) -> dict[str, Any]:
    keys = ("med", "q1", "q3", "whislo", "whishi", "fliers", "mean", "cilo", "cihi", "label")
    stats = [{key: stat[key] for key in keys if key in stat} for stat in bound()["bxpstats"]]
    return {"artists": dict(result), "stats": stats}


def _violin(result: Any, bound: Any, caller: str) -> dict[str, Any]:
    keys = ("coords", "mean", "median", "min", "max", "quantiles")
    stats = [{key: stat[key] for key in keys if key in stat} for stat in bound()["vpstats"]]
    return {"artists": dict(result), "stats": stats}


def _hist(result: Any, bound: Any, caller: str) -> dict[str, Any]:
    counts, edges, patches = result
    options = bound()
    options = {**options.get("kwargs", {}), **options}
    return {"counts": counts, "edges": edges, "patches": patches,
            "density": bool(options.get("density")),
            "cumulative": bool(options.get("cumulative")),
            "stacked": bool(options.get("stacked"))
            or options.get("histtype") == "barstacked",
            "horizontal": options.get("orientation") == "horizontal"}


def _pie(result: Any, bound: Any, caller: str) -> dict[str, Any]:
    parts = getattr(result, "wedges", None)
    if parts is not None:  # PieContainer, matplotlib 3.11
        texts = [item for group in getattr(result, "texts", ()) for item in group]
        return {"wedges": list(parts), "texts": texts, "values": list(result.values)}
    texts = [item for group in result[1:] for item in group]
    return {"wedges": list(result[0]), "texts": texts, "values": bound().get("x")}


def _contour(result: Any, bound: Any, caller: str) -> dict[str, Any]:
    arguments = bound()
    given = [item for item in arguments.get("args", ())]
    grids = None
    if len(given) in (1, 2):
        grids = (None, None, given[0])
    elif len(given) >= 3:
        grids = (given[0], given[1], given[2])
    if grids is not None and getattr(grids[2], "size", 0) > _MAX_GRID:
        grids = None
    return {"set": result, "grids": grids}


def _artist(result: Any, bound: Any, caller: str) -> dict[str, Any]:
    return {"artist": result}


def _hexbin(result: Any, bound: Any, caller: str) -> dict[str, Any]:
    options = bound()
    return {"artist": result,
            "log": [options.get(name) == "log" for name in ("xscale", "yscale")]}


def _fill(result: Any, bound: Any, caller: str) -> dict[str, Any]:
    return {"artist": result, "step": bound().get("step"), "caller": caller}


def _bar(result: Any, bound: Any, caller: str) -> dict[str, Any] | None:
    if caller.startswith("seaborn.distributions"):
        return {"container": result}
    return None


def _mesh(result: Any, bound: Any, caller: str) -> dict[str, Any] | None:
    if caller.startswith("seaborn.distributions"):
        return {"artist": result}
    return None


def _hist2d(result: Any, bound: Any, caller: str) -> dict[str, Any]:
    return {"artist": result[3]}


def _stream(result: Any, bound: Any, caller: str) -> dict[str, Any]:
    return {"artist": result.lines}


def _list(result: Any, bound: Any, caller: str) -> dict[str, Any]:
    return {"artists": list(result)}


_NOTES: dict[str, Callable[..., dict[str, Any] | None]] = {
    "bxp": _bxp, "violin": _violin, "hist": _hist, "pie": _pie,
    "contour": _contour, "contourf": _contour, "tricontour": _artist, "tricontourf": _artist,
    "hexbin": _hexbin, "hist2d": _hist2d, "pcolormesh": _mesh,
    "fill_between": _fill, "fill_betweenx": _fill,
    "bar": _bar, "ecdf": _artist, "broken_barh": _artist, "streamplot": _stream,
    "bar_label": _list, "stackplot": _list,
}
