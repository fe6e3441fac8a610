"""Clients of a kernel that cost next to nothing, so that what is timed is the way and the kernel.

Requests are packed before the clock starts, and of an answer only as much is read as tells its end:
a few microseconds a message, where jupyter_client and websocket-client take a hundred.
"""

import hashlib
import hmac
import json
import socket
import struct
import time
import uuid

import websocket
import zmq
from support.kernels import V1, channels_url, encode_v1, execute_request

TIMEOUT_S = 120
PARTS = ("header", "parent_header", "metadata", "content")
PING, PONG, BINARY = 0x89, 0x8A, 0x82  # first bytes of whole frames


class Client:
    """`ask` is the same for every way; each packs, sends, receives (header, parent, content)."""

    def post(self, code: str) -> bytes:
        """Sends a request; its id."""
        message = execute_request(code)
        self.send(self.pack(message))
        return message["header"]["msg_id"].encode()

    def ask(self, code: str, outputs: int = 0) -> float:
        """Seconds from a request to its reply and `idle`, with `outputs` displays between them."""
        message = execute_request(code)
        asked = message["header"]["msg_id"].encode()
        packed = self.pack(message)
        started = time.perf_counter()
        self.send(packed)
        self.await_end(asked, outputs)
        return time.perf_counter() - started

    def await_end(self, asked: bytes, outputs: int) -> None:
        replied = idle = False
        seen = 0
        while not (replied and idle):
            header, parent, content = self.receive()
            if b'"display_data"' in header:
                seen += 1
            elif asked in parent:
                replied = replied or b'"execute_reply"' in header
                idle = idle or b'"idle"' in content
        assert seen == outputs, f"{seen} outputs of {outputs} arrived"


class ZmqClient(Client):
    """Over the sockets of a connection file; without a key nothing is signed."""

    def __init__(self, connection: dict):
        def connect(kind: int, channel: str) -> zmq.Socket:
            made = zmq.Context.instance().socket(kind)
            made.rcvhwm = 0
            colon = "-" if connection["transport"] == "ipc" else ":"
            port = connection[f"{channel}_port"]
            made.connect(f"{connection['transport']}://{connection['ip']}{colon}{port}")
            return made

        self.key = connection["key"].encode()
        self.shell, self.iopub = connect(zmq.DEALER, "shell"), connect(zmq.SUB, "iopub")
        self.iopub.subscribe(b"")
        self.poller = zmq.Poller()
        self.poller.register(self.shell, zmq.POLLIN)
        self.poller.register(self.iopub, zmq.POLLIN)
        self._wait_until_subscribed()

    def _wait_until_subscribed(self) -> None:
        """A subscription takes its time, and what came before it is nobody's."""
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            message = execute_request("")
            message["header"]["msg_type"] = "kernel_info_request"
            self.send(self.pack(message))
            if any(ready is self.iopub for ready, _ in self.poller.poll(1000)):
                break
        while self.poller.poll(500):
            self.receive()

    def pack(self, message: dict) -> list[bytes]:
        parts = [json.dumps(message[name]).encode() for name in PARTS]
        signed = hmac.new(self.key, b"".join(parts), hashlib.sha256).hexdigest().encode()
        return [b"<IDS|MSG>", signed if self.key else b"", *parts]

    def send(self, packed: list[bytes]) -> None:
        self.shell.send_multipart(packed)

    def receive(self) -> tuple[bytes, bytes, bytes]:
        ready = self.poller.poll(TIMEOUT_S * 1000)
        assert ready, "the kernel is silent"
        frames = ready[-1][0].recv_multipart()
        begin = frames.index(b"<IDS|MSG>") + 2
        return frames[begin], frames[begin + 1], frames[begin + 3]

    def close(self) -> None:
        self.shell.close(0)
        self.iopub.close(0)


class WebSocketClient(Client):
    """Over the v1 protocol, with a session to come back to, as JupyterLab has one."""

    def __init__(self, server, kernel: str, session: str | None = None, *, quick_ack: bool = False):
        url = channels_url(server, kernel, session or uuid.uuid4().hex)
        self.upgraded = websocket.create_connection(url, subprotocols=[V1], timeout=TIMEOUT_S)
        assert self.upgraded.getsubprotocol() == V1
        self.socket = self.upgraded.sock
        self.socket.settimeout(None)  # with a timeout Python asks poll(2) before each recv(2)
        self.socket.setsockopt(
            socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", TIMEOUT_S, 0)
        )
        self.quick_ack = quick_ack
        self.buffer = bytearray(4 << 20)
        self.begin = self.end = 0
        self.ping: bytes | None = None

    def pack(self, message: dict) -> bytes:
        return frame(BINARY, encode_v1(message))

    def send(self, packed: bytes) -> None:
        self.socket.sendall(packed)

    def receive(self) -> tuple[bytes, bytes, bytes]:
        while True:
            kind, payload = self._frame()
            if kind == BINARY:
                (count,) = struct.unpack_from("<Q", payload)
                at = struct.unpack_from(f"<{count}Q", payload, 8)
                return payload[at[1] : at[2]], payload[at[2] : at[3]], payload[at[4] : at[5]]
            assert kind == PING, (kind, payload[:200])
            self.ping = payload

    def _frame(self) -> tuple[int, bytes]:
        self._need(2)
        length, head = self.buffer[self.begin + 1], 2
        for mark, size, form in ((126, 4, "!H"), (127, 10, "!Q")):
            if length == mark:
                self._need(size)
                (length,) = struct.unpack_from(form, self.buffer, self.begin + 2)
                head = size
                break
        self._need(head + length)
        kind, at = self.buffer[self.begin], self.begin + head
        self.begin = at + length
        return kind, bytes(memoryview(self.buffer)[at : self.begin])

    def _need(self, count: int) -> None:
        while self.end - self.begin < count:
            if self.ping is not None:  # once for all that have come: the last one says it all
                self.socket.sendall(frame(PONG, self.ping))
                self.ping = None
            if len(self.buffer) - self.begin < max(count, 1 << 16):
                self.buffer[: self.end - self.begin] = self.buffer[self.begin : self.end]
                self.begin, self.end = 0, self.end - self.begin
            got = self.socket.recv_into(memoryview(self.buffer)[self.end :])
            assert got, "the server closed the connection"
            self.end += got
            if self.quick_ack:  # the kernel forgets it at once
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def close(self) -> None:
        self.upgraded.close()


def frame(kind: int, payload: bytes) -> bytes:
    """A client's frame, masked with zeros: a legal key, and nothing to compute."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else struct.pack("!BH", 0x80 | 126, size)
    assert size < 1 << 16
    return bytes([kind]) + length + bytes(4) + payload
