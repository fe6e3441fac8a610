"""The fork server: has Python and the usual libraries loaded, and forks one kernel per request.

    python3 -m cellblock_kernel.zygote --socket /run/cellblock/zygote.sock

A client connects (SOCK_STREAM) and sends one JSON object a line:
    {"kernel_id", "connection_file", "cwd"?, "env"?, "uid"?, "gid"?, "cgroup_procs"?, "log_file"?}
        -> {"pid": 123}   the child is set up (user, cgroup, environment, directory) and starts
           its kernel; its parent is this process's parent's reaper (PID 1 in a guest)
        -> {"error": "entering the working directory '/x' failed: No such file or directory"}
    {"ping": true} -> {"ok": true, "pid", "python", "ipykernel", "threads"}
The socket appears when the server is ready to fork.

Runs as root, single-threaded (a fork copies only the calling thread). Invariant: no thread, no
ZeroMQ context and no event loop exists here; children make their own.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import spawn
from .launch import forget_working_directory
from .spawn import KernelRequest, prepare_process, report_failure

REQUEST_BYTES = 1 << 20
REPORT_BYTES = 64 * 1024


def log(text: str) -> None:
    print(f"zygote: {text}", file=sys.stderr, flush=True)


class Forked(Exception):
    """Raised in a child: leave the server's stack and run the kernel from the bottom."""

    def __init__(self, request: KernelRequest) -> None:
        super().__init__(request.kernel_id)
        self.request = request


class Zygote:
    """Listens, and forks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._selector = selectors.DefaultSelector()
        self._buffers: dict[socket.socket, bytes] = {}
        self._listener = self._listen(path)
        self._selector.register(self._listener, selectors.EVENT_READ)

    @staticmethod
    def _listen(path: Path) -> socket.socket:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(path.name + ".new")
        temporary.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(temporary))
        temporary.chmod(0o600)
        listener.listen(64)
        listener.setblocking(False)
        temporary.rename(path)  # so that whoever sees the socket can connect
        return listener

    def serve(self) -> None:
        """Answer requests for ever. Raises Forked in each child."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._receive(key.fileobj)  # type: ignore[arg-type]

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        connection.settimeout(10.0)
        self._buffers[connection] = b""
        self._selector.register(connection, selectors.EVENT_READ)

    def _receive(self, connection: socket.socket) -> None:
        try:
            data = connection.recv(65536)
        except OSError:
            data = b""
        buffer = self._buffers[connection] + data
        if not data or len(buffer) > REQUEST_BYTES:
            self._drop(connection)
            return
        *lines, rest = buffer.split(b"\n")
        self._buffers[connection] = rest
        for line in lines:
            if line.strip() and not self._send(connection, self._answer(line)):
                return

    def _send(self, connection: socket.socket, answer: dict[str, Any]) -> bool:
        try:
            connection.sendall(json.dumps(answer).encode() + b"\n")
            return True
        except OSError:
            self._drop(connection)
            return False

    def _drop(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        del self._buffers[connection]
        connection.close()

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            data = json.loads(line)
            if isinstance(data, dict) and data.get("ping"):
                return _state()
            return self._fork(KernelRequest.parse(data))
        except (ValueError, OSError, RecursionError) as error:
            return {"error": report_failure(error)}

    def _fork(self, request: KernelRequest) -> dict[str, Any]:
        """Fork twice, so that the kernel is not our child and nobody here has to reap it."""
        read_end, write_end = os.pipe()
        middle = os.fork()
        if middle == 0:
            try:
                if os.fork() != 0:
                    os._exit(0)
            except OSError as error:
                os.write(write_end, json.dumps({"error": f"fork failed: {error}"}).encode())
                os._exit(1)
            self._become_kernel(request, read_end, write_end)
        os.close(write_end)
        try:
            os.waitpid(middle, 0)
            report = _read_all(read_end)
        finally:
            os.close(read_end)
        if not report:
            return {"error": "the kernel's process ended while it was being set up"}
        return json.loads(report)

    def _become_kernel(self, request: KernelRequest, read_end: int, write_end: int) -> None:
        """In the child. Reports how it went; on success leaves by raising Forked."""
        try:
            self._close_all()
            os.close(read_end)
            os.set_inheritable(write_end, False)
            prepare_process(request)
            report = {"pid": os.getpid()}
        except BaseException as error:
            os.write(write_end, json.dumps({"error": report_failure(error)}).encode())
            os._exit(1)
        os.write(write_end, json.dumps(report).encode())
        os.close(write_end)
        raise Forked(request)

    def _close_all(self) -> None:
        self._selector.close()
        self._listener.close()
        for connection in self._buffers:
            connection.close()
        self._buffers.clear()


def _read_all(fd: int) -> bytes:
    data = b""
    while len(data) < REPORT_BYTES:
        part = os.read(fd, 4096)
        if not part:
            break
        data += part
    return data


def _state() -> dict[str, Any]:
    import ipykernel

    from .warmup import thread_count

    return {
        "ok": True,
        "pid": os.getpid(),
        "python": sys.version.split()[0],
        "ipykernel": ipykernel.__version__,
        "threads": thread_count(),
    }


def _load_libraries(uid: int, gid: int, home: str, also: list[str]) -> None:
    """Import and exercise as the user, so that caches land in the user's home, owned by it."""
    from . import warmup

    gc.disable()
    os.environ.update(spawn.SINGLE_THREADED)
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # or debugpy prints a warning at import
    if home:
        os.environ["HOME"] = home
    root = os.geteuid() == 0 and uid != 0
    if root:
        os.setegid(gid)
        os.seteuid(uid)
    try:
        warmup.load(log, also)
    finally:
        if root:
            os.seteuid(0)
            os.setegid(0)
    if warmup.thread_count() != 1:
        log(f"{warmup.thread_count()} threads run after loading; forked kernels may hang")
    warmup.freeze()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="cellblock_kernel.zygote")
    parser.add_argument("--socket", type=Path, required=True, help="where to listen")
    parser.add_argument("--uid", type=int, default=1000, help="the user that kernels run as")
    parser.add_argument("--gid", type=int, default=1000)
    parser.add_argument("--home", default="/home/user", help="that user's home")
    parser.add_argument("--also", action="append", default=[], metavar="MODULE",
                        help="load this module too; it must not start threads (repeatable)")
    options = parser.parse_args(arguments)
    forget_working_directory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _load_libraries(options.uid, options.gid, options.home, options.also)
    run_child: Callable[[], None] | None = None
    try:
        Zygote(options.socket).serve()
    except Forked as forked:
        request = forked.request
        run_child = lambda: _run_kernel(request)
    if run_child is not None:
        run_child()


def _run_kernel(request: KernelRequest) -> None:
    from . import identity
    from .app import run_kernel

    gc.enable()
    identity.reseed_after_fork()
    spawn.restore_blas_threads()
    run_kernel(str(request.connection_file))


if __name__ == "__main__":
    main()
