"""stdout and stderr of the kernel: print, C code and child processes, in the order they wrote.

Text is cut into pieces and sent by the IOPub thread. A writer waits when more than BACKLOG
characters are unsent, so that `while True: print(...)` runs at the reader's pace and a flood
costs no memory. File descriptors 1 and 2 are pipes whose reader feeds the same queue.

Owner: the kernel application, one object per stream. Threads: write from any; _flush on IOPub;
_watch_pipe_fd on a thread of its own. Invariant: _pieces and _pending change under _lock only, and
sizes before text, so that an interrupt in between cannot make the sum too large for ever.
"""

from __future__ import annotations

import codecs
import ctypes
import fcntl
import os
import select
import struct
import sys
import termios
import threading
from collections import deque
from io import StringIO
from typing import Any

from ipykernel.iostream import OutStream

from .iopub import may_wait
from .waiting import CHECK_SECONDS, Signal, Waiters

PIECE = 64 * 1024
"""Characters in one stream message: at most 256 KiB of UTF-8."""

BACKLOG = 16 * PIECE
"""Characters that may wait to be sent before a writer has to wait."""

DRAIN_BYTES = 1 << 20
"""What one drain reads at most, so that a child process that never stops cannot hold a cell."""


class _Piece:
    """Text of one parent message that waits to be sent."""

    __slots__ = ("parent", "size", "text")

    def __init__(self, parent: dict[str, Any]) -> None:
        self.parent = parent
        self.text = StringIO()
        self.size = 0


class PacedStream(OutStream):
    """An OutStream with bounded memory, no loss, and child processes' output in order."""

    def __init__(self, session: Any, pub_thread: Any, name: str, *args: Any, **kw: Any) -> None:
        self._lock = threading.Lock()
        self._changed = Waiters()
        self._pieces: deque[_Piece] = deque()
        self._pending = 0
        self._prompt = False
        self._child_text = ""
        self._reading = False
        self._drains_asked = 0
        self._drains_done = 0
        self._wake_in = self._wake_out = -1
        self.watch_fd_thread: threading.Thread | None = None
        super().__init__(session, pub_thread, name, *args, **kw)
        os.register_at_fork(after_in_child=self._after_fork)

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        self._changed = Waiters()
        self._pieces = deque()
        self._pending = 0
        self._flush_pending = False

    # Writing

    def write(self, string: str) -> int:
        """Take text; waits while the reader is behind."""
        if not isinstance(string, str):
            raise TypeError(f"write() argument must be str, not {type(string).__name__}")
        if self.pub_thread is None:
            raise ValueError("I/O operation on closed file")
        if not self._is_master_process():
            return self._write_in_child(string)
        if not string:
            return 0
        if not string.isascii():
            string = _encodable(string)
        self._drain_pipe()
        parent = self.parent_header
        for start in range(0, len(string), PIECE):
            self._put(parent, string if len(string) <= PIECE else string[start : start + PIECE])
        return len(string)

    def _put(self, parent: dict[str, Any], text: str) -> None:
        size = len(text)
        if self._pending + size > BACKLOG and self._may_wait():
            self._changed.wait_until(lambda: self._has_room(size))
        with self._lock:
            last = self._pieces[-1] if self._pieces else None
            if last is None or last.parent is not parent or last.size + size > PIECE:
                last = _Piece(parent)
                self._pieces.append(last)
            last.size += size
            self._pending += size
            last.text.write(text)
            prompt = self._pending >= PIECE and not self._prompt
            if prompt:
                self._prompt = True
        if prompt:
            self.pub_thread.schedule(self._flush)
        else:
            self._schedule_flush()

    def _has_room(self, size: int) -> bool:
        return not self._pending or self._pending + size <= BACKLOG or not self.pub_thread.running

    def _may_wait(self) -> bool:
        return may_wait() and not self.pub_thread.on_own_thread()

    def _write_in_child(self, string: str) -> int:
        """In a process that the user's code forked: the pipe leads to the kernel. Whole lines go
        in one write, so that the lines of several children do not mix."""
        self._child_text += string
        end = len(self._child_text)
        if self.name == "stdout" and end < PIECE:
            end = self._child_text.rfind("\n") + 1
        self._send_child_text(end)
        return len(string)

    def _send_child_text(self, end: int) -> None:
        text, self._child_text = self._child_text[:end], self._child_text[end:]
        data = memoryview(_encodable(text).encode("utf-8"))
        fd = self._original_stdstream_fd if self._should_watch else self.fileno()
        while data:
            data = data[os.write(fd, data) :]

    def fileno(self) -> int:
        """The captured descriptor: what a child process writes to it is shown as well."""
        if self._should_watch:
            return self._original_stdstream_fd
        return super().fileno()

    # Sending

    def flush(self) -> None:
        """Return when all that was written so far, by whatever means, is on its way."""
        thread = self.pub_thread
        if thread is None:
            return
        if not self._is_master_process():
            self._send_child_text(len(self._child_text))
            return
        if thread.on_own_thread() or not thread.running:
            self._flush()
            return
        if not may_wait():
            thread.schedule(self._flush)
            return
        _flush_c_library(self.name)
        self._drain_pipe()
        done = Signal()
        thread.schedule(self._flush)
        thread.schedule(done.set)
        while not done.wait(CHECK_SECONDS):
            if not thread.running:
                return

    def _flush(self) -> None:
        """Send what waits. Runs on the IOPub thread (or after its end, at exit)."""
        self._flush_pending = False
        self._subprocess_flush_pending = False
        with self._lock:
            self._prompt = False
            count = len(self._pieces)
        for _ in range(count):
            with self._lock:
                if not self._pieces:
                    return
                piece = self._pieces.popleft()
            try:
                self._send_text(piece.parent, piece.text.getvalue())
            finally:
                with self._lock:
                    self._pending -= piece.size
                self._changed.wake_all()

    def _send_text(self, parent: dict[str, Any], text: str) -> None:
        if self.pub_thread is None or not text:
            return
        self.session.pid = os.getpid()
        message = self.session.msg("stream", {"name": self.name, "text": text}, parent=parent)
        for hook in self._hooks:
            message = hook(message)
            if message is None:
                return
        self.session.send(self.pub_thread, message, ident=self.topic)

    # File descriptors

    def _setup_stream_redirects(self, name: str) -> None:
        number = self._original_stdstream_fd = getattr(sys, name).fileno()
        self._original_stdstream_copy = os.dup(number)
        self._fid, write_end = os.pipe()
        self._wake_out, self._wake_in = os.pipe()
        os.set_blocking(self._wake_out, False)
        os.set_blocking(self._wake_in, False)
        os.dup2(write_end, number)
        os.close(write_end)
        self._exc = None
        self.watch_fd_thread = threading.Thread(
            target=self._watch_pipe_fd, name=f"Watch {name}", daemon=True
        )
        self.watch_fd_thread.start()

    def _watch_pipe_fd(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        poll = select.poll()
        poll.register(self._fid, select.POLLIN)
        poll.register(self._wake_out, select.POLLIN)
        while self._should_watch:
            ready = {fd for fd, _ in poll.poll()}
            asked = self._drains_asked
            if self._wake_out in ready:
                try:
                    os.read(self._wake_out, 4096)
                except BlockingIOError:
                    pass
            try:
                self._read_pipe(decoder)
            except Exception as error:  # the stream is closing, or the kernel is
                if self._should_watch:
                    self._complain(f"captured {self.name} was lost: {error!r}")
            self._drains_done = asked
            self._changed.wake_all()

    def _read_pipe(self, decoder: codecs.IncrementalDecoder) -> None:
        total = 0
        while total < DRAIN_BYTES and _readable(self._fid):
            self._reading = True
            try:
                data = os.read(self._fid, PIECE)
                total += len(data)
                text = decoder.decode(data)
                if text:
                    self.write(text)
            finally:
                self._reading = False

    def _drain_pipe(self) -> None:
        """Let the watcher take what child processes have written before this moment."""
        watcher = self.watch_fd_thread
        if not self._should_watch or watcher is None or not self._may_wait():
            return
        if watcher is threading.current_thread():
            return
        if not _readable(self._fid) and not self._reading:
            return
        with self._lock:
            self._drains_asked += 1
            ticket = self._drains_asked
        self._wake()
        self._changed.wait_until(
            lambda: (
                self._drains_done >= ticket
                or not watcher.is_alive()
                or not self.pub_thread.running
            )
        )

    def _wake(self) -> None:
        try:
            os.write(self._wake_in, b"\0")
        except BlockingIOError:
            pass  # full: the watcher will wake anyway

    def _complain(self, text: str) -> None:
        try:
            os.write(self._original_stdstream_copy, text.encode() + b"\n")
        except OSError:
            pass

    def close(self) -> None:
        """Give the descriptors back."""
        if self._should_watch:
            self._should_watch = False
            self._wake()
            if self.watch_fd_thread is not None:
                self.watch_fd_thread.join(timeout=5)
            os.dup2(self._original_stdstream_copy, self._original_stdstream_fd)
            os.close(self._original_stdstream_copy)
            os.close(self._fid)
            os.close(self._wake_in)
            os.close(self._wake_out)
        self.pub_thread = None


def _encodable(text: str) -> str:
    """Text that UTF-8 can carry: lone surrogates become visible escapes."""
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _readable(fd: int) -> int:
    """How many bytes wait in a pipe."""
    try:
        return int(struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0\0\0\0"))[0])
    except OSError:
        return 0


_c_library: Any = None
_c_files: dict[str, Any] = {}


def prepare_c_library() -> None:
    """Let C code's printf appear line by line although it writes to a pipe."""
    global _c_library
    try:
        library = ctypes.CDLL(None)
        for name in ("stdout", "stderr"):
            _c_files[name] = ctypes.c_void_p.in_dll(library, name)
        library.setvbuf(_c_files["stdout"], None, 1, ctypes.c_size_t(0))  # 1: _IOLBF
        _c_library = library
    except (OSError, ValueError, AttributeError):
        _c_files.clear()


def _flush_c_library(name: str) -> None:
    if _c_library is not None and name in _c_files:
        _c_library.fflush(_c_files[name])
