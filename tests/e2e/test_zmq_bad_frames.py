"""Broken messages at the ZeroMQ door: refused with one line each, and the kernel goes on."""

import hashlib
import hmac
import json
import socket
import subprocess
import uuid
from contextlib import contextmanager

import pytest
import zmq
from jupyter_client import BlockingKernelClient
from support.gateway import BINARY
from support.kernels import TIMEOUT_S, new_kernel, wait_until

DELIMITER = b"<IDS|MSG>"
DEEP = b'{"a":' * 100_000


class Door:
    """`cellblock connect`: a kernel's sockets, and what it writes to stderr."""

    def __init__(self, gateway, kernel, folder):
        self.path = folder / "kernel.json"
        self.errors = folder / "errors"
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                [
                    *[str(BINARY), "connect", kernel, "-o", str(self.path)],
                    *["--gateway", gateway.url, "--state-dir", str(gateway.state)],
                ],
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        assert self.process.stdout.readline()
        self.connection = json.loads(self.path.read_text())
        self.key = self.connection["key"].encode()

    def address(self, channel="shell"):
        return (self.connection["ip"], self.connection[f"{channel}_port"])

    def refusals(self) -> int:
        return self.errors.read_text().count("kernel_client_message_refused")

    def sign(self, *frames: bytes) -> bytes:
        return hmac.new(self.key, b"".join(frames), hashlib.sha256).hexdigest().encode()

    @contextmanager
    def client(self):
        client = BlockingKernelClient(connection_file=str(self.path))
        client.load_connection_file()
        client.start_channels()
        client.wait_for_ready(timeout=TIMEOUT_S)
        try:
            yield client
        finally:
            client.stop_channels()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=TIMEOUT_S)


@pytest.fixture(scope="module")
def door(gateway, tmp_path_factory):
    with new_kernel(gateway) as kernel:
        door = Door(gateway, kernel, tmp_path_factory.mktemp("door"))
        yield door
        assert door.process.poll() is None, door.errors.read_text()
        door.stop()


def header() -> bytes:
    return json.dumps(
        {"msg_id": uuid.uuid4().hex, "msg_type": "kernel_info_request", "session": "s"}
    ).encode()


def signed(door, *frames: bytes) -> list[bytes]:
    return [DELIMITER, door.sign(*frames[:4]), *frames]


def truncated(door, frames: int) -> list[bytes]:
    """Signed as the whole, of which only the first frames come."""
    whole = signed(door, header(), b"{}", b"{}", b"{}")
    return whole[:frames]


BAD = {
    "an empty frame": lambda door: [b""],
    "no delimiter": lambda door: [b"one", b"two", b"three", b"four", b"five", b"six", b"seven"],
    "a hundred identities": lambda door: [b"i"] * 100 + signed(door, header(), *[b"{}"] * 3),
    "only a delimiter": lambda door: truncated(door, 1),
    "two frames": lambda door: truncated(door, 2),
    "three frames": lambda door: truncated(door, 3),
    "four frames": lambda door: truncated(door, 4),
    "five frames": lambda door: truncated(door, 5),
    "no signature": lambda door: [DELIMITER, b"", header(), b"{}", b"{}", b"{}"],
    "a short signature": lambda door: [DELIMITER, b"ab", header(), b"{}", b"{}", b"{}"],
    "a long signature": lambda door: [DELIMITER, b"a" * 65, header(), b"{}", b"{}", b"{}"],
    "a wrong signature": lambda door: [DELIMITER, b"0" * 64, header(), b"{}", b"{}", b"{}"],
    "another message's signature": lambda door: [
        DELIMITER,
        door.sign(header(), b"{}", b"{}", b"{}"),
        header(),
        b"{}",
        b"{}",
        b"{}",
    ],
    "a header that is no JSON": lambda door: signed(door, b"no", b"{}", b"{}", b"{}"),
    "a header of numbers": lambda door: signed(door, b'{"msg_id": 1}', b"{}", b"{}", b"{}"),
    "a deep header": lambda door: signed(door, DEEP, b"{}", b"{}", b"{}"),
    "a header of invalid UTF-8": lambda door: signed(
        door, b'{"msg_id": "\xff", "msg_type": "x"}', b"{}", b"{}", b"{}"
    ),
    "too many frames": lambda door: signed(door, header(), *[b"{}"] * 3, *[b"b"] * 100),
}


def send(door, frames, channel="shell"):
    context = zmq.Context.instance()
    with context.socket(zmq.DEALER) as dealer:
        dealer.linger = 10_000
        dealer.connect("tcp://{}:{}".format(*door.address(channel)))
        dealer.send_multipart(frames)


@pytest.mark.parametrize("name", BAD)
def test_a_broken_message_is_refused_with_one_line(door, name):
    with door.client() as client:
        before = door.refusals()
        send(door, BAD[name](door))
        # Its own line, and nothing else's, before the next client is served.
        wait_until(lambda: door.refusals() > before, "the refusal")
        client.kernel_info(reply=True, timeout=TIMEOUT_S)
        assert door.refusals() == before + 1


def test_broken_messages_on_every_channel_are_refused(door):
    with door.client() as client:
        before = door.refusals()
        for channel in ("shell", "control", "stdin"):
            send(door, BAD["a wrong signature"](door), channel)
        wait_until(lambda: door.refusals() == before + 3, "three refusals")
        client.kernel_info(reply=True, timeout=TIMEOUT_S)


def test_an_announced_gibibyte_is_not_waited_for(door):
    """ZMTP 3.0 by hand: a greeting, READY, then the head of a frame of 1 GiB."""
    greeting = b"\xff" + b"\0" * 8 + b"\x7f" + b"\x03\0" + b"NULL".ljust(20, b"\0") + b"\0" * 32
    ready = b"\x05READY" + b"\x0bSocket-Type" + (6).to_bytes(4, "big") + b"DEALER"
    with door.client() as client:
        with socket.create_connection(door.address(), timeout=TIMEOUT_S) as raw:
            raw.sendall(greeting)
            raw.sendall(b"\x04" + bytes([len(ready)]) + ready)
            raw.sendall(b"\x02" + (1 << 30).to_bytes(8, "big") + b"x")
            while raw.recv(4096):
                pass  # its greeting; then it hangs up
        client.kernel_info(reply=True, timeout=TIMEOUT_S)


def test_bytes_that_are_no_zeromq_at_all_end_their_connection_only(door):
    with door.client() as client:
        for data in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100, b"\xff" * 100, b"\xff"):
            for channel in ("shell", "iopub", "hb"):
                with socket.create_connection(door.address(channel), timeout=TIMEOUT_S) as raw:
                    raw.sendall(data)
        client.kernel_info(reply=True, timeout=TIMEOUT_S)


def test_deep_content_is_the_kernels_to_refuse(door):
    with door.client() as client:
        send(door, signed(door, header(), b"{}", b"{}", DEEP))
        reply = client.execute_interactive("6 * 7", output_hook=lambda _: None, timeout=TIMEOUT_S)
        assert reply["content"]["status"] == "ok"
