"""The kernel application: ipykernel's, with our sockets, streams and start-up order.

Owner: launch.py or a child of the zygote; one per process. Main thread.
"""

from __future__ import annotations

import faulthandler
import inspect
import os
import sys
from pathlib import Path
from typing import Any

import zmq
from ipykernel.iostream import IOPubThread
from ipykernel.kernelapp import IPKernelApp
from traitlets import Type
from traitlets.config import Config

from . import interrupts, startup
from .identity import SOCKET_NAME, IdentityServer
from .iopub import PacedIOPubThread, prepare_socket
from .kernel import CellblockKernel
from .streams import prepare_c_library


def default_config() -> Config:
    """What every kernel is configured with; it is stronger than the user's own IPython files."""
    config = Config()
    config.InteractiveShell.colors = _no_colors()
    config.HistoryManager.hist_file = ":memory:"
    # Jedi reads the sources of what is completed: 16 s for the first word without KVM, and again
    # for each library. Objects are asked instead.
    config.IPCompleter.use_jedi = False
    config.IPKernelApp.outstream_class = "cellblock_kernel.streams.PacedStream"
    config.Session.packer = "cellblock_kernel.wire.pack"
    config.Session.unpacker = "cellblock_kernel.wire.unpack"
    return config


def _no_colors() -> str:
    from IPython import version_info

    return "nocolor" if version_info[0] >= 9 else "NoColor"


class CellblockKernelApp(IPKernelApp):
    """One kernel process."""

    kernel_class = Type(CellblockKernel, klass="ipykernel.kernelbase.Kernel")

    identity: IdentityServer | None = None

    def write_connection_file(self, **kwargs: Any) -> None:
        """The file belongs to whoever wrote it; it is completed only if it left ports open."""
        if self.transport != "ipc":
            super().write_connection_file(**kwargs)

    def parse_command_line(self, argv: Any = None) -> None:
        """There are no options: building the parser for ipykernel's costs a fifth of a start."""

    def log_connection_info(self) -> None:
        self._ports = {
            name: getattr(self, f"{name}_port")
            for name in ("shell", "iopub", "stdin", "hb", "control")
        }

    def init_iopub(self, context: zmq.Context[Any]) -> None:
        takes_session = "session" in inspect.signature(IOPubThread.__init__).parameters
        socket = context.socket(zmq.XPUB if takes_session else zmq.PUB)
        prepare_socket(socket)
        if hasattr(self, "_apply_curve_server_options"):
            self._apply_curve_server_options(socket)
        self.iopub_port = self._bind_socket(socket, self.iopub_port)
        self.configure_tornado_logger()
        more = {"session": self.session} if takes_session else {}
        self.iopub_thread = PacedIOPubThread(socket, pipe=True, **more)
        self.iopub_thread.session_for_signing = self.session
        self.iopub_thread.start()
        self.iopub_socket = self.iopub_thread.background_socket

    def init_io(self) -> None:
        super().init_io()
        prepare_c_library()
        log = getattr(sys.stderr, "_original_stdstream_copy", None)
        if log is not None:
            faulthandler.enable(file=log)

    def init_signal(self) -> None:
        super().init_signal()
        interrupts.start()

    def init_gui_pylab(self) -> None:
        super().init_gui_pylab()
        startup.enable_inline_figures(self.shell, self.log)

    def init_extensions(self) -> None:
        startup.register_packages(self.shell, self.log)
        startup.show_images_inline()
        super().init_extensions()

    def init_identity(self) -> None:
        """Listen for the agent's word that this kernel is a clone."""
        path = Path(self.abs_connection_file).parent / SOCKET_NAME
        self.identity = IdentityServer(path, self._renew_session)

    def _renew_session(self) -> None:
        session = self.session
        session.session = os.urandom(16).hex()

    def initialize(self, argv: Any = None) -> None:
        os.environ.pop("JPY_PARENT_PID", None)
        super().initialize(argv)
        self.init_identity()


def run_kernel(connection_file: str) -> None:
    """Make the kernel and serve it until it is told to end."""
    sys.argv = [""]
    app = CellblockKernelApp.instance(config=default_config(), connection_file=connection_file)
    app.initialize([])
    app.start()
