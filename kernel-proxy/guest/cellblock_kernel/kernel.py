"""CellblockKernel: ipykernel's kernel with what a gateway needs around a cell.

A request may carry metadata.cellblock = {"env": {...}, "cwd": "...", "execution_id": "..."}; the
environment and the directory hold for that execution only, and the code runs exactly as sent.
"""

from __future__ import annotations

import signal
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ipykernel.ipkernel import IPythonKernel
from IPython.core.error import StdinNotImplementedError
from traitlets import Type

from .environment import (
    ExecutionEnvironment,
    InvalidRequest,
    checked_environment,
    working_directory,
)
from .shell import CellblockShell

NO_INPUT = (
    "{name}() cannot ask a question here: this execution has no standard input. Put the value "
    "into the code, or read it from a file or from an environment variable (os.environ)."
)


class CellblockKernel(IPythonKernel):
    """The kernel of one context."""

    shell_class = Type(CellblockShell)

    def __init__(self, **kwargs: Any) -> None:
        self._execution_environment = ExecutionEnvironment()
        self.cellblock_execution_id: str | None = None
        super().__init__(**kwargs)
        self._debug = sys.breakpointhook
        sys.breakpointhook = self._breakpoint

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: Any = None,
        allow_stdin: bool = False,
        *,
        cell_meta: Any = None,
        cell_id: Any = None,
    ) -> dict[str, Any]:
        """Run the code in the environment that the request asks for."""
        request = cell_meta.get("cellblock") if isinstance(cell_meta, dict) else None
        request = request if isinstance(request, dict) else {}
        previous = self.cellblock_execution_id
        self.cellblock_execution_id = request.get("execution_id")
        try:
            env = checked_environment(request.get("env"))
            with working_directory(request.get("cwd")), self._execution_environment.applied(env):
                return await super().do_execute(
                    code,
                    silent,
                    store_history,
                    user_expressions,
                    allow_stdin,
                    cell_meta=cell_meta,
                    cell_id=cell_id,
                )
        except InvalidRequest as error:
            return self._refused(str(error))
        finally:
            self.cellblock_execution_id = previous

    def _refused(self, reason: str) -> dict[str, Any]:
        content = {"ename": "InvalidRequest", "evalue": reason, "traceback": [reason]}
        self.send_response(
            self.iopub_socket, "error", content, ident=self._topic("error"), channel="shell"
        )
        count = (self.execution_count or 1) - 1
        return {
            "status": "error",
            **content,
            "execution_count": count,
            "user_expressions": {},
            "payload": [],
        }

    # Standard input

    def raw_input(self, prompt: str = "") -> str:
        """Ask the client if it answers questions; say plainly what to do if it does not."""
        if not self._allow_stdin:
            raise StdinNotImplementedError(NO_INPUT.format(name="input"))
        return super().raw_input(prompt)

    def getpass(self, prompt: str = "", stream: Any = None) -> str:
        """As raw_input, for secrets."""
        if not self._allow_stdin:
            raise StdinNotImplementedError(NO_INPUT.format(name="getpass"))
        return super().getpass(prompt, stream)

    def _breakpoint(self, *args: Any, **kwargs: Any) -> Any:
        """A debugger asks questions too."""
        if not self._allow_stdin:
            raise StdinNotImplementedError(NO_INPUT.format(name="breakpoint"))
        return self._debug(*args, **kwargs)

    # Interrupts

    @contextmanager
    def _cancel_on_sigint(self, future: Any) -> Iterator[None]:
        """ipykernel only cancels a cell with `await` at its next await; a cell that computes
        without awaiting would never end. If its code is what runs right now, raise in it."""
        with super()._cancel_on_sigint(future):
            cancel = signal.getsignal(signal.SIGINT)

            def interrupt(number: int, frame: types.FrameType | None) -> None:
                if _inside_cell(frame):
                    raise KeyboardInterrupt
                if callable(cancel):
                    cancel(number, frame)
                    # It queues a callback, but does not wake a loop that sleeps in select.
                    self.io_loop.asyncio_loop.call_soon_threadsafe(int)

            signal.signal(signal.SIGINT, interrupt)
            yield


def _inside_cell(frame: types.FrameType | None) -> bool:
    while frame is not None:
        code = frame.f_code
        if code.co_name == "run_code" and code.co_filename.endswith("interactiveshell.py"):
            return True
        frame = frame.f_back
    return False
