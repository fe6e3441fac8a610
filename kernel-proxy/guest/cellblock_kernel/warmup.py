"""What is done once in a template so that no clone has to do it.

load(): in the zygote, before it forks: imports, font cache, one figure, one table; no shell yet.
run(): in a running kernel, as a silent cell: the same through the kernel's own display path.
freeze(): all that lives now is left alone by the garbage collector, so that its pages stay shared.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
import time
from collections.abc import Callable, Iterable

MODULES = (
    "sqlite3",
    "tornado.platform.asyncio",
    "ipykernel.kernelapp",
    "ipykernel.debugger",
    "ipykernel.comm",
    "IPython.core.completer",
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.core.debugger_backport",
    "IPython.core.logger",
    "IPython.core.magics",
    "IPython.core.magics.ast_mod",
    "IPython.core.magics.execution",
    "IPython.core.oinspect",
    "IPython.extensions.storemagic",
    "pexpect",
    "stack_data.formatting",
    "pygments.formatters.terminal256",
    "numpy",
    "numpy.random",
    "pandas",
    "pandas.io.formats.csvs",
    "pandas.plotting._matplotlib",
    "matplotlib",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_agg",
    "matplotlib_inline.backend_inline",
    "PIL.Image",
    "PIL.PngImagePlugin",
    "PIL.ImageShow",
    "cellblock_kernel.app",
    "cellblock_artifacts",
    "cellblock_charts",
)
"""What nearly every kernel uses, and what each would otherwise load at its start or first error.
None of them may start a thread (polars and duckdb do)."""


def thread_count() -> int:
    """Threads of this process as the operating system counts them."""
    return len(os.listdir("/proc/self/task"))


def load(log: Callable[[str], None], also: Iterable[str] = ()) -> dict[str, float]:
    """Import what kernels usually need; returns seconds per module. Missing ones are skipped."""
    times = {}
    for name in (*MODULES, *also):
        before, started = thread_count(), time.perf_counter()
        try:
            importlib.import_module(name)
        except ImportError as error:
            if (error.name or "").split(".")[0] != name.split(".")[0]:
                log(f"{name} could not be loaded: {error}")
            continue
        except Exception as error:
            log(f"{name} could not be loaded: {type(error).__name__}: {error}")
            continue
        times[name] = time.perf_counter() - started
        if thread_count() > before:
            log(f"{name} started a thread; kernels that are forked from here may hang")
    _exercise(log)
    return times


def _exercise(log: Callable[[str], None]) -> None:
    try:
        import matplotlib.font_manager  # noqa: F401  # builds the font cache
        from IPython.core.pylabtools import find_gui_and_backend, print_figure
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        find_gui_and_backend("inline")  # reads every package's entry points, once
        figure = Figure()
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.plot([1, 2, 3], label="warm")
        axes.set_title("warm")
        axes.legend()
        print_figure(figure, fmt="png")
    except ImportError:
        pass
    except Exception as error:
        log(f"the throw-away figure failed: {type(error).__name__}: {error}")
    _format_an_error(log)
    try:
        import pandas

        frame = pandas.DataFrame({"a": [1, 2], "b": [0.5, None], "c": ["x", "y"]})
        frame.describe()
        frame.to_html()
        repr(frame)
        pandas.read_csv(io.StringIO("a,b\n1,2\n"))
    except ImportError:
        pass
    except Exception as error:
        log(f"the throw-away table failed: {type(error).__name__}: {error}")


def _format_an_error(log: Callable[[str], None]) -> None:
    """In the zygote, so that every kernel that is forked has the formatter's modules and caches: a
    first traceback took 3 to 10 s in a new context, longer than the patience of an interrupt."""
    try:
        from IPython.core.ultratb import VerboseTB

        try:
            compile("1 +", "warm", "exec")
        except SyntaxError:
            pass
        try:
            exec(compile("def f(n):\n    return 1 / n\n\nf(0)", "warm", "exec"), {})
        except ZeroDivisionError:
            VerboseTB(include_vars=False).structured_traceback(*sys.exc_info())
    except Exception as error:
        log(f"the throw-away traceback failed: {type(error).__name__}: {error}")


def _render_an_error() -> None:
    """A kernel's first traceback costs 3 s of an emulated CPU, and an interrupt is one too."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None:
        return
    try:
        raise ZeroDivisionError("warm")
    except ZeroDivisionError:
        shell.InteractiveTB.structured_traceback(*sys.exc_info())


def run() -> None:
    """In a kernel: render an error, draw and show through the display machinery, then freeze."""
    _render_an_error()
    try:
        from matplotlib import pyplot

        pyplot.figure()
        pyplot.plot([1, 2, 3], label="warm")
        pyplot.title("warm")
        pyplot.legend()
        pyplot.show()
        pyplot.close("all")
    except ImportError:
        pass
    try:
        import pandas
        from IPython.display import display

        display(pandas.DataFrame({"a": [1, 2], "b": [0.5, None], "c": ["x", "y"]}).describe())
    except ImportError:
        pass
    freeze()


def freeze() -> None:
    """Collect what is garbage and keep the rest out of later collections."""
    gc.collect()
    gc.freeze()
