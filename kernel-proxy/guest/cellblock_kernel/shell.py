"""The IPython shell of a kernel: tracebacks show the user's code, not this package."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

from ipykernel.zmqshell import ZMQInteractiveShell

_OWN = str(Path(__file__).parent) + "/"


class CellblockShell(ZMQInteractiveShell):
    """ZMQInteractiveShell whose tracebacks end where the user's code ends."""

    def ask_exit(self) -> None:
        """Where a client asks its own questions it decides what exit() means. Elsewhere the process
        stays: the cells that wait behind this one would die for it."""
        if not self.kernel._allow_stdin:
            self.keepkernel_on_exit = True
            print("exit() does not end this kernel. Restart its context to begin anew.",
                  file=sys.stderr)
        super().ask_exit()

    def _get_exc_info(self, exc_tuple: Any = None) -> Any:
        kind, value, trace = super()._get_exc_info(exc_tuple)
        if isinstance(value, BaseException):
            _clean_chain(value)
            trace = _without_own_tail(trace)
        return kind, value, trace


def _clean_chain(value: BaseException) -> None:
    seen: set[int] = set()
    current: BaseException | None = value
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        current.__traceback__ = _without_own_tail(current.__traceback__)
        current = current.__cause__ or current.__context__


def _without_own_tail(trace: types.TracebackType | None) -> types.TracebackType | None:
    """Cut the frames from the first of ours on, if no code of the user's comes after it."""
    frames = []
    current = trace
    while current is not None:
        frames.append(current)
        current = current.tb_next
    cut = len(frames)
    for index in range(len(frames) - 1, -1, -1):
        name = frames[index].tb_frame.f_code.co_filename
        if name.startswith(_OWN):
            cut = index
        elif "ipykernel_" in name or name.startswith("<ipython-input"):
            break
    if cut == len(frames) or cut == 0:
        return trace
    result: types.TracebackType | None = None
    for item in reversed(frames[:cut]):
        result = types.TracebackType(result, item.tb_frame, item.tb_lasti, item.tb_lineno)
    return result
