"""What a kernel registers before the first cell: figures, pictures, tables and charts."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Any

from .imports import when_imported

PACKAGES = ("cellblock_artifacts", "cellblock_charts")
INLINE = "module://matplotlib_inline.backend_inline"


def register_packages(shell: Any, log: Any) -> None:
    """Let the sibling packages add their formatters. A fault in one never stops the kernel."""
    for name in PACKAGES:
        try:
            if importlib.util.find_spec(name) is None:
                log.info("%s is not installed; its outputs are not captured", name)
                continue
            importlib.import_module(name).register(shell)
        except Exception:
            log.error("%s could not be registered; its outputs are not captured", name,
                      exc_info=True)


def enable_inline_figures(shell: Any, log: Any) -> None:
    """Connect matplotlib's inline backend to this shell.

    Where matplotlib is not loaded yet, its import does it by itself (MPLBACKEND is set). In a
    child of the zygote it is loaded, and was told then that there is no shell.
    """
    if "matplotlib" not in sys.modules or os.environ.get("MPLBACKEND", INLINE) != INLINE:
        return
    try:
        shell.enable_matplotlib("inline")
    except Exception:
        log.error("figures will not be shown inline", exc_info=True)


def show_images_inline() -> None:
    """PIL.Image.Image.show() displays the picture instead of looking for a desktop."""
    when_imported("PIL.ImageShow", _register_viewer)


def _register_viewer(module: Any) -> None:
    class DisplayViewer(module.Viewer):
        """Shows a picture as an output of the cell."""

        def show(self, image: Any, **options: Any) -> int:
            from IPython.display import display

            display(image)
            return 1

    module.register(DisplayViewer(), order=0)
