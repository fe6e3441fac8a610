"""The host's end of a guest link in Python: speaks to an agent without a gateway between.

A second, independent implementation of vm/link/protocol.h, for tests of the agent alone. Blocking,
one reader thread per connection. Not for hostile guests: it checks little.
"""

from __future__ import annotations

import json
import os
import queue
import socket
import struct
import threading
import time
import uuid
from typing import Any

MAGIC = 0xC31BB10C
END_MARKER = 0xE5D1E5D1
HEADER = struct.Struct("<IB3xIIQ")
HELLO = struct.Struct("<IIQQ16s16s")
MAX_PAYLOAD = 64 * 1024
PADDING = bytes(MAX_PAYLOAD + 28 + 36)
WINDOW = 256 * 1024
HELLO_FRAME, HELLO_REPLY, ACK, OPEN, DATA, END, RESET, CREDIT = range(1, 9)
CALL, KERNEL, FILE_READ, FILE_WRITE, PROCESS, TCP, EVENTS = range(1, 8)
SHELL, CONTROL, STDIN, IOPUB = range(4)


class GuestError(Exception):
    """An error that the guest answered with, or a reset stream."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Stream:
    """One stream; what the guest sends arrives in `received` (None: END)."""

    def __init__(self, link: GuestLink, number: int, kind: int) -> None:
        self.link, self.number, self.kind = link, number, kind
        self.received: queue.Queue[bytes | None | GuestError] = queue.Queue()
        self.buffer = b""
        self.ended = False
        self.credit = WINDOW
        self.paused = False  # no credit for what is read while set
        self.owed = 0
        self.changed = threading.Condition()
        self.error: GuestError | None = None

    def write(self, data: bytes, timeout: float = 120) -> None:
        view = memoryview(data)
        while view:
            with self.changed:
                if not self.changed.wait_for(lambda: self.credit > 0 or self.error, timeout):
                    raise TimeoutError("the guest gives no credit")
                if self.error:
                    raise self.error
                size = min(len(view), self.credit, MAX_PAYLOAD)
                self.credit -= size
            self.link.send(DATA, self.number, bytes(view[:size]))
            view = view[size:]

    def finish(self) -> None:
        self.link.send(END, self.number)

    def reset(self) -> None:
        self.link.send(RESET, self.number, b"\x09cancelled" + struct.pack("<H", 4) + b"test")

    def resume(self) -> None:
        self.paused = False
        if self.owed:
            self.link.send(CREDIT, self.number, struct.pack("<I", self.owed))
            self.owed = 0

    def read_some(self, timeout: float = 120) -> bytes:
        if self.buffer:
            data, self.buffer = self.buffer, b""
            return data
        if self.ended:
            return b""
        try:
            item = self.received.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError("nothing from the guest") from None
        if isinstance(item, GuestError):
            raise item
        if item is None:
            self.ended = True
            return b""
        return item

    def read_exactly(self, size: int, timeout: float = 120) -> bytes:
        parts, have = [], 0
        while have < size:
            part = self.read_some(timeout)
            if not part:
                raise EOFError("the stream ended inside a message")
            parts.append(part)
            have += len(part)
        data = b"".join(parts)
        self.buffer = data[size:]
        return data[:size]

    def read_message(self, timeout: float = 120) -> bytes | None:
        first = self.read_some(timeout)
        if not first:
            return None
        self.buffer = first
        (size,) = struct.unpack("<I", self.read_exactly(4, timeout))
        return self.read_exactly(size, timeout) if size else b""

    def write_message(self, data: bytes) -> None:
        self.write(struct.pack("<I", len(data)) + data)


class GuestLink:
    """The link over a Unix socket; survives disconnect() and connect()."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.session = os.urandom(16)
        self.streams: dict[int, Stream] = {}
        self.events: queue.Queue[dict[str, Any]] = queue.Queue()
        self.lock = threading.RLock()
        self.next_number = 1
        self.next_sequence = 1
        self.last_received = 0
        self.unacknowledged: list[tuple[int, bytes]] = []
        self.socket: socket.socket | None = None
        self.ready = threading.Event()

    def connect(self, timeout: float = 120) -> GuestLink:
        deadline = time.monotonic() + timeout
        while True:
            try:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.connect(self.path)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        self.ready.clear()
        nonce = os.urandom(16)
        threading.Thread(target=self._read, args=(self.socket, nonce), daemon=True).start()
        hello = HELLO.pack(1, 0, 0, self.last_received, nonce, self.session)
        while not self.ready.is_set():
            self.socket.sendall(PADDING + self._frame(HELLO_FRAME, 0, 0, hello))
            if self.ready.wait(1.0):
                break
            if time.monotonic() > deadline:
                raise TimeoutError("the agent did not answer the handshake")
        return self

    def disconnect(self) -> None:
        assert self.socket
        with self.lock:
            self.ready.clear()
            self.socket.shutdown(socket.SHUT_RDWR)
            self.socket.close()

    @staticmethod
    def _frame(kind: int, stream: int, sequence: int, payload: bytes) -> bytes:
        return (HEADER.pack(MAGIC, kind, stream, len(payload), sequence) + payload
                + struct.pack("<I", END_MARKER))

    def send(self, kind: int, stream: int, payload: bytes = b"") -> None:
        with self.lock:
            frame = self._frame(kind, stream, self.next_sequence, payload)
            self.unacknowledged.append((self.next_sequence, frame))
            self.next_sequence += 1
            if self.ready.is_set():
                try:
                    self.socket.sendall(frame)
                except OSError:
                    self.ready.clear()

    def open(self, kind: int, params: dict[str, Any]) -> Stream:
        with self.lock:
            stream = Stream(self, self.next_number, kind)
            self.streams[stream.number] = stream
            self.next_number += 2
            self.send(OPEN, stream.number, bytes([kind]) + json.dumps(params).encode())
        return stream

    def call(self, method: str, params: dict[str, Any] | None = None, timeout: float = 120) -> Any:
        stream = self.open(CALL, {})
        stream.write_message(json.dumps({"method": method, "params": params or {}}).encode())
        stream.finish()
        message = stream.read_message(timeout)
        if message is None:
            raise GuestError("connection_lost", "no reply")
        reply = json.loads(message)
        if "error" in reply:
            raise GuestError(reply["error"]["code"], reply["error"]["message"])
        return reply["result"]

    def write_file(self, path: str, data: bytes, **more: Any) -> dict[str, Any]:
        stream = self.open(FILE_WRITE, {"path": path, **more})
        stream.write(data)
        stream.finish()
        return json.loads(stream.read_message() or b"null")

    def read_file(self, path: str, **more: Any) -> bytes:
        stream = self.open(FILE_READ, {"path": path, **more})
        stat = json.loads(stream.read_message() or b"null")
        if "error" in stat:
            raise GuestError(stat["error"]["code"], stat["error"]["message"])
        parts = []
        while part := stream.read_some():
            parts.append(part)
        return b"".join(parts)

    def _read(self, connection: socket.socket, nonce: bytes) -> None:
        data = bytearray()
        synchronised = False
        try:
            while chunk := connection.recv(1 << 18):
                data += chunk
                if not synchronised:
                    at = data.find(struct.pack("<IB", MAGIC, HELLO_REPLY))
                    if at < 0 or len(data) < at + HEADER.size + HELLO.size + 4:
                        continue
                    del data[:at]
                    hello = HELLO.unpack_from(data, HEADER.size)
                    del data[: HEADER.size + HELLO.size + 4]
                    if hello[4] != nonce:
                        continue
                    synchronised = True
                    self._welcome(hello[1] == 1, hello[3])
                while len(data) >= HEADER.size:
                    magic, kind, number, size, sequence = HEADER.unpack_from(data)
                    assert magic == MAGIC, "lost synchronisation"
                    if len(data) < HEADER.size + size + 4:
                        break
                    payload = bytes(data[HEADER.size : HEADER.size + size])
                    del data[: HEADER.size + size + 4]
                    self._take(kind, number, sequence, payload)
        except OSError:
            pass

    def _welcome(self, resumed: bool, last_received: int) -> None:
        with self.lock:
            if not resumed and self.last_received:
                raise RuntimeError("the guest forgot the session")
            self.unacknowledged = [f for f in self.unacknowledged if f[0] > last_received]
            for _, frame in self.unacknowledged:
                self.socket.sendall(frame)
            self.ready.set()

    def _take(self, kind: int, number: int, sequence: int, payload: bytes) -> None:
        if kind == ACK:
            (acknowledged,) = struct.unpack("<Q", payload)
            with self.lock:
                self.unacknowledged = [f for f in self.unacknowledged if f[0] > acknowledged]
            return
        if kind == HELLO_REPLY or sequence <= self.last_received:
            return
        assert sequence == self.last_received + 1, "a frame is missing"
        self.last_received = sequence
        with self.lock:
            if self.ready.is_set():
                ack = self._frame(ACK, 0, 0, struct.pack("<Q", sequence))
                self.socket.sendall(ack)
            stream = self.streams.get(number)
            if kind == OPEN:
                stream = Stream(self, number, payload[0])
                self.streams[number] = stream
                if payload[0] == EVENTS:
                    threading.Thread(target=self._events, args=(stream,), daemon=True).start()
        if stream is None:
            return
        if kind == DATA:
            stream.received.put(payload)
            if stream.paused:
                stream.owed += len(payload)
            else:
                self.send(CREDIT, number, struct.pack("<I", len(payload)))
        elif kind == END:
            stream.received.put(None)
        elif kind == RESET:
            length = payload[0]
            (text,) = struct.unpack_from("<H", payload, 1 + length)
            stream.error = GuestError(payload[1 : 1 + length].decode(),
                                      payload[3 + length : 3 + length + text].decode())
            stream.received.put(stream.error)
            with stream.changed:
                stream.changed.notify_all()
        elif kind == CREDIT:
            with stream.changed:
                stream.credit += struct.unpack("<I", payload)[0]
                stream.changed.notify_all()

    def _events(self, stream: Stream) -> None:
        try:
            while (message := stream.read_message(1e6)) is not None:
                self.events.put(json.loads(message))
        except GuestError:
            pass


class Kernel:
    """A Jupyter client over one `kernel` stream."""

    def __init__(self, link: GuestLink, kernel_id: str, **params: Any) -> None:
        self.stream = link.open(KERNEL, {"kernel_id": kernel_id, **params})
        self.session = uuid.uuid4().hex

    def send(self, channel: int, kind: str, content: dict[str, Any],
             metadata: dict[str, Any] | None = None) -> str:
        message_id = uuid.uuid4().hex
        header = {"msg_id": message_id, "session": self.session, "username": "test",
                  "date": "2026-01-01T00:00:00.000000Z", "msg_type": kind, "version": "5.3"}
        frames = [json.dumps(part).encode() for part in (header, {}, metadata or {}, content)]
        head = bytes([channel, len(frames)]) + b"".join(struct.pack("<I", len(f)) for f in frames)
        self.stream.write_message(head + b"".join(frames))
        return message_id

    def receive(self, timeout: float = 120) -> tuple[int, dict[str, Any]]:
        data = self.stream.read_message(timeout)
        if data is None:
            raise EOFError("the kernel's stream ended")
        channel, count = data[0], data[1]
        sizes = struct.unpack_from(f"<{count}I", data, 2)
        at, frames = 2 + 4 * count, []
        for size in sizes:
            frames.append(data[at : at + size])
            at += size
        names = ("header", "parent_header", "metadata", "content")
        message = {name: json.loads(frame) for name, frame in zip(names, frames, strict=False)}
        message["buffers"] = frames[4:]
        return channel, message

    def execute(self, code: str, timeout: float = 120, **metadata: Any) -> dict[str, Any]:
        """Runs a cell; {"reply", "text", "outputs"} once the reply and idle are both there."""
        message_id = self.send(SHELL, "execute_request", {
            "code": code, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": False, "stop_on_error": False}, metadata)
        return self.collect(message_id, timeout)

    def begin(self, code: str, sign: str) -> tuple[str, dict[str, Any]]:
        """Starts a cell and waits until it has printed `sign`: its id, and its results so far."""
        message_id = self.send(SHELL, "execute_request", {"code": code})
        return message_id, self.collect(message_id, until=sign)

    def collect(self, message_id: str, timeout: float = 120, until: str | None = None,
                so_far: dict[str, Any] | None = None) -> dict[str, Any]:
        """Reads on to the end of the cell, or to a text that it prints."""
        result: dict[str, Any] = so_far or {"reply": None, "text": "", "outputs": [], "idle": False}
        deadline = time.monotonic() + timeout
        while not (result["idle"] and result["reply"]):
            if until is not None and until in result["text"]:
                break
            channel, message = self.receive(max(0.01, deadline - time.monotonic()))
            if message["parent_header"].get("msg_id") != message_id:
                continue
            kind, content = message["header"]["msg_type"], message["content"]
            if channel == SHELL:
                result["reply"] = content
            elif kind == "stream":
                result["text"] += content["text"]
            elif kind == "status":
                result["idle"] = content["execution_state"] == "idle"
            elif kind not in ("execute_input",):
                result["outputs"].append(message)
        return result
