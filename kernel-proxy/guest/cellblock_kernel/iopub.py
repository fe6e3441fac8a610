"""The iopub sender: every message arrives, in order, and what waits to be sent is bounded.

ipykernel's own thread drops messages when its peer is slow (PUB sockets do) and queues without
limit when the socket is. Here the socket refuses instead of dropping (ZMQ_XPUB_NODROP), the
thread waits, and whoever produces output faster than it is read waits as well.

Owner: the kernel application. Threads: send_multipart from any; _really_send on the IOPub thread.
Invariant: the control channel and the IOPub thread itself never wait here.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import zmq
from ipykernel.iostream import IOPubThread

from . import wire
from .waiting import Waiters

QUEUE_BYTES = 8 << 20
"""Bytes of messages that may wait; a producer that would exceed it waits. One message of any
size may always pass, so this bounds memory without being a limit on a message."""

MESSAGE_BYTES = 60 << 20
"""The largest message that the way to the host carries (64 MiB), less room for its envelope."""

SOCKET_MESSAGES = 32
"""Messages that ZeroMQ itself may hold. Stream messages are cut to 256 KiB, so this is 8 MiB."""

SEND_WAIT_MS = 200
"""How long one attempt to send waits before it looks whether the kernel is ending."""

CONTROL_THREAD = "Control"
"""ipykernel's name for its control thread."""


def may_wait() -> bool:
    """Whether the calling thread may be held back when output is not read fast enough."""
    return threading.current_thread().name != CONTROL_THREAD


def prepare_socket(socket: zmq.Socket[Any]) -> None:
    """Set what has to be set before the socket is bound."""
    socket.linger = 1000
    socket.sndhwm = SOCKET_MESSAGES
    socket.sndtimeo = SEND_WAIT_MS
    socket.setsockopt(zmq.XPUB_NODROP, 1)


class _Outgoing:
    """A message on its way to the IOPub thread, and whether its size is counted at present."""

    __slots__ = ("args", "counted", "kwargs", "msg", "size")

    def __init__(self, msg: Any, size: int, args: Any, kwargs: Any) -> None:
        self.msg = msg
        self.size = size
        self.args = args
        self.kwargs = kwargs
        self.counted = False


class PacedIOPubThread(IOPubThread):
    """ipykernel's IOPub thread with bounded, lossless sending."""

    def __init__(self, socket: zmq.Socket[Any], pipe: bool = False, **kwargs: Any) -> None:
        self._lock = threading.Lock()
        self._room = Waiters()
        self._queued = 0
        self.session_for_signing: Any = None
        super().__init__(socket, pipe=pipe, **kwargs)
        os.register_at_fork(after_in_child=self._after_fork)

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        self._room = Waiters()
        self._queued = 0

    @property
    def running(self) -> bool:
        """Whether the thread takes messages (false while ending, and in forked children)."""
        return self.thread.is_alive() and not self._stopped

    def on_own_thread(self) -> bool:
        return self.thread.ident == threading.get_ident()

    def send_multipart(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Queue a message; waits while too much is queued already."""
        if not self._is_master_process():
            super().send_multipart(msg, *args, **kwargs)
            return
        msg, size = self._fit(list(msg))
        if self.on_own_thread():
            self._really_send(msg, *args, **kwargs)
            return
        if may_wait():
            self._room.wait_until(lambda: self._has_room(size))
        out = _Outgoing(msg, size, args, kwargs)
        try:
            with self._lock:
                self._queued += size
                out.counted = True
            self.schedule(lambda: self._send_counted(out))
        except BaseException:  # an interrupt: the message may or may not go, but the sum is right
            self._settle(out)
            raise

    def _has_room(self, size: int) -> bool:
        return not self._queued or self._queued + size <= QUEUE_BYTES or not self.running

    def _send_counted(self, out: _Outgoing) -> None:
        try:
            self._really_send(out.msg, *out.args, **out.kwargs)
        finally:
            self._settle(out)

    def _settle(self, out: _Outgoing) -> None:
        with self._lock:
            if out.counted:
                out.counted = False
                self._queued -= out.size
        self._room.wake_all()

    def _really_send(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        if not self._is_master_process():
            super()._really_send(msg, *args, **kwargs)
            return
        while not self.closed:
            try:
                super()._really_send(msg, *args, **kwargs)
                return
            except zmq.Again:
                # Refused at the first frame, so nothing of the message is out: try again.
                if self._stopped:
                    return

    def _fit(self, msg: list[Any]) -> tuple[list[Any], int]:
        """Replace the content of a message that is too large for the way to the host."""
        size = sum(_length(part) for part in msg)
        if size <= MESSAGE_BYTES:
            return msg, size
        small = _shrunk(msg, size, self.session_for_signing)
        return small, sum(_length(part) for part in small)


def _length(part: Any) -> int:
    return part.nbytes if isinstance(part, memoryview) else len(part)


def _shrunk(msg: list[Any], size: int, session: Any) -> list[Any]:
    delimiter = next((i for i, part in enumerate(msg) if bytes(part[:16]) == b"<IDS|MSG>"), None)
    if delimiter is None or len(msg) < delimiter + 6:
        return msg
    head = msg[: delimiter + 1]
    header, parent, _metadata, _content = msg[delimiter + 2 : delimiter + 6]
    kind = wire.unpack(bytes(header)).get("msg_type", "")
    notice = (
        f"[this output has {size >> 20} MiB; the limit of one message is {MESSAGE_BYTES >> 20} MiB."
        " Write it to a file instead, or show a part of it]"
    )
    content: dict[str, Any]
    if kind in ("display_data", "execute_result", "update_display_data"):
        old = wire.unpack(bytes(_content))
        content = {**old, "data": {"text/plain": notice}, "metadata": {}}
    elif kind == "error":
        old = wire.unpack(bytes(_content))
        content = {"ename": str(old.get("ename", ""))[:1000], "evalue": notice, "traceback": []}
    else:
        header = wire.pack({**wire.unpack(bytes(header)), "msg_type": "stream"})
        content = {"name": "stderr", "text": notice + "\n"}
    body = [bytes(header), bytes(parent), b"{}", wire.pack(content)]
    signature = session.sign(body) if session is not None else b""
    return [*head, signature, *body]
