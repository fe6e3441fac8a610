"""How the reader gets to see figures: an IPython formatter, a hook on matplotlib's import, and the
bundles that other libraries publish (published.py).

Neither matplotlib nor numpy is imported here; a kernel that never plots pays nothing.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from typing import Any

from . import MIME, published

_METHOD = "_repr_cellblock_chart_"


def register(ip: Any) -> None:
    """Adds the formatter for matplotlib figures and the provenance wrappers. Can be repeated."""
    from IPython.core.formatters import BaseFormatter
    from traitlets import ObjectName, Unicode

    class ChartFormatter(BaseFormatter):
        """Figures as chart models. A figure that cannot be read still has its picture."""

        format_type = Unicode(MIME)
        print_method = ObjectName(_METHOD)
        _return_type = dict

    formatters = ip.display_formatter.formatters
    if MIME not in formatters:
        formatter = ChartFormatter(parent=ip.display_formatter)
        formatter.enabled = True
        formatters[MIME] = formatter
    formatters[MIME].for_type_by_name("matplotlib.figure", "Figure", chart_of)
    install_provenance()
    published.register(ip)


def chart_of(figure: Any) -> dict[str, Any] | None:
    """The formatter's function: a model, or nothing; never an exception."""
    try:
        from .figure import read

        return read(figure)
    except Exception:
        return None


def install_provenance() -> None:
    """Wraps Axes' methods now, or as soon as matplotlib.axes is imported."""
    module = sys.modules.get("matplotlib.axes")
    if module is not None and hasattr(module, "Axes"):
        _wrap(module)
    elif not any(isinstance(finder, _AxesFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AxesFinder())


def _wrap(module: Any) -> None:
    try:
        from .provenance import install

        install(module.Axes)
    except Exception:
        pass  # figures are then read from their artists alone


class _AxesFinder(importlib.abc.MetaPathFinder):
    """Waits for the import of matplotlib.axes, wraps its class, and goes away."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "matplotlib.axes":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        if spec is None or spec.loader is None:
            return None
        original = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            original(module)
            _wrap(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
