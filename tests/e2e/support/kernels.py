"""Kernels over the Jupyter door, spoken to with the `websocket-client` package as agents do it."""

import json
import struct
import time
import uuid
from contextlib import contextmanager

import websocket

V1 = "v1.kernel.websocket.jupyter.org"
TIMEOUT_S = 120


def wait_until(condition, what: str):
    deadline = time.monotonic() + TIMEOUT_S
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} did not come true"
        time.sleep(0.05)
    return value


def create_kernel(gateway, **body) -> str:
    response = gateway.request("POST", "/api/kernels", json=body)
    assert response.status_code == 201, (response.status_code, response.text)
    return response.json()["id"]


def delete_kernel(gateway, kernel: str) -> None:
    gateway.request("DELETE", f"/api/kernels/{kernel}")


@contextmanager
def new_kernel(gateway, **body):
    kernel = create_kernel(gateway, **body)
    try:
        yield kernel
    finally:
        delete_kernel(gateway, kernel)


def channels_url(gateway, kernel: str, session: str | None = None, token: bool = True) -> str:
    query = [f"session_id={session}"] if session else []
    if token:
        query.append(f"token={gateway.token}")
    url = gateway.url.replace("http", "ws", 1)
    return f"{url}/api/kernels/{kernel}/channels?{'&'.join(query)}"


def request(msg_type: str, content: dict, channel: str | None = "shell", **header) -> dict:
    message = {
        "header": {
            "msg_id": uuid.uuid4().hex,
            "msg_type": msg_type,
            "username": "",
            "session": "test",
            "version": "5.3",
            **header,
        },
        "parent_header": {},
        "metadata": {},
        "content": content,
    }
    return {**message, "channel": channel} if channel else message


def execute_request(code: str, **content) -> dict:
    return request("execute_request", {"code": code, "silent": False, **content})


def encode_v1(message: dict, buffers: list[bytes] = ()) -> bytes:
    parts = [message["channel"].encode()]
    for name in ("header", "parent_header", "metadata", "content"):
        parts.append(json.dumps(message[name]).encode())
    parts += buffers
    offset = 8 * (len(parts) + 2)
    table = [len(parts) + 1]
    for part in parts:
        table.append(offset)
        offset += len(part)
    table.append(offset)
    return struct.pack(f"<{len(table)}Q", *table) + b"".join(parts)


def decode_v1(data: bytes) -> dict:
    (count,) = struct.unpack_from("<Q", data)
    offsets = struct.unpack_from(f"<{count}Q", data, 8)
    parts = [data[a:b] for a, b in zip(offsets, offsets[1:])]
    assert offsets[-1] == len(data)
    names = ("header", "parent_header", "metadata", "content")
    message = {name: json.loads(part) for name, part in zip(names, parts[1:5])}
    return {**message, "channel": parts[0].decode(), "buffers": parts[5:]}


def encode_legacy(message: dict, buffers: list[bytes]) -> bytes:
    parts = [json.dumps(message).encode(), *buffers]
    offset = 4 * (len(parts) + 1)
    table = [len(parts)]
    for part in parts:
        table.append(offset)
        offset += len(part)
    return struct.pack(f">{len(table)}I", *table) + b"".join(parts)


def decode_legacy(data: bytes) -> dict:
    (count,) = struct.unpack_from(">I", data)
    offsets = [*struct.unpack_from(f">{count}I", data, 4), len(data)]
    parts = [data[a:b] for a, b in zip(offsets, offsets[1:])]
    return {**json.loads(parts[0]), "buffers": parts[1:]}


class KernelSocket:
    """One connection; `v1` chooses the protocol. Messages come as dicts with `channel`."""

    def __init__(self, gateway, kernel: str, session: str | None = None, *, v1: bool = False):
        self.v1 = v1
        self.socket = websocket.create_connection(
            channels_url(gateway, kernel, session),
            timeout=TIMEOUT_S,
            subprotocols=[V1] if v1 else None,
        )
        assert self.socket.getsubprotocol() == (V1 if v1 else None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, message: dict, buffers: list[bytes] = ()) -> str:
        if self.v1:
            self.socket.send_binary(encode_v1(message, buffers))
        elif buffers:
            self.socket.send_binary(encode_legacy(message, buffers))
        else:
            self.socket.send(json.dumps(message))
        return message["header"]["msg_id"]

    def receive(self) -> dict:
        opcode, data = self.socket.recv_data()
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            code = int.from_bytes(data[:2], "big")
            raise ConnectionError(code, data[2:].decode())
        if self.v1:
            return decode_v1(data)
        if opcode == websocket.ABNF.OPCODE_BINARY:
            return decode_legacy(data)
        return json.loads(data)

    def until(self, wanted) -> list[dict]:
        """Every message up to the first that `wanted` accepts."""
        heard = []
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            heard.append(self.receive())
            if wanted(heard[-1]):
                return heard
        raise AssertionError([message["header"]["msg_type"] for message in heard])

    def run(self, code: str, **content) -> list[dict]:
        """Executes a cell; every message of it up to its reply."""
        msg_id = self.send(execute_request(code, **content))
        heard = self.until(lambda m: is_reply_to(m, msg_id))
        return [m for m in heard if m["parent_header"].get("msg_id") == msg_id]


def is_reply_to(message: dict, msg_id: str) -> bool:
    return (
        message["channel"] in ("shell", "control")
        and message["parent_header"].get("msg_id") == msg_id
    )


def is_status(message: dict, state: str) -> bool:
    return (
        message["header"]["msg_type"] == "status" and message["content"]["execution_state"] == state
    )


def types(messages: list[dict]) -> list[str]:
    return [message["header"]["msg_type"] for message in messages]


def text_of(messages: list[dict]) -> str:
    return "".join(
        message["content"]["text"]
        for message in messages
        if message["header"]["msg_type"] == "stream"
    )
