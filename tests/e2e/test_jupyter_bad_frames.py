"""Broken messages over WebSocket: no crash, one line in the log, the connection's own fault."""

import json
import struct

import pytest
from support.kernels import KernelSocket, encode_v1, execute_request, new_kernel, text_of

DEEP = b'{"a":' * 100_000
HEADER = b'{"msg_id": "m", "msg_type": "execute_request"}'


def v1(*offsets: int, body: bytes = b"", count: int | None = None) -> bytes:
    table = struct.pack(f"<{len(offsets)}Q", *offsets)
    return struct.pack("<Q", len(offsets) if count is None else count) + table + body


def v1_message(channel: bytes, *frames: bytes) -> bytes:
    offset = 8 * (len(frames) + 3)
    offsets = [offset]
    for part in (channel, *frames):
        offset += len(part)
        offsets.append(offset)
    return v1(*offsets, body=b"".join((channel, *frames)))


LEGACY = {
    "no JSON": b"not json",
    "a header of numbers": b'{"header": {"msg_id": 1, "msg_type": "x"}}',
    "no header": b'{"content": {}}',
    "a list": b"[]",
    "deep JSON": DEEP,
    "a deep header": b'{"header": {"msg_id": "m", "msg_type": "x", "d": ' + DEEP,
    "invalid UTF-8": b'{"header": {"msg_id": "\xff", "msg_type": "x"}}',
    "an unfinished text": b'{"header": {"msg_id": "m',
    "parts that are not there": b"\x00\x00\x00\x02\xff\xff\xff\xff",
    "no parts": b"\x00\x00\x00\x00",
    "more parts than bytes": b"\x7f\xff\xff\xff\x00\x00\x00\x08",
    "offsets that go back": struct.pack(">3I", 2, 20, 12) + b"{}" * 10,
}
V1 = {
    "less than a table": b"\xff" * 8,
    "a count of 2^64 - 1": b"\xff" * 56,
    "no offsets": v1(),
    "too few offsets": v1(48, 53, 55, 57, body=b"shell{}{}"),
    "more offsets than bytes": v1(24, 30, count=1 << 40),
    "the first behind the end": v1(*[1 << 62] * 6),
    "offsets that go back": v1(56, 61, 59, 65, 67, 69, body=b"shell" + b"{}" * 4),
    "a header without an id": v1_message(b"shell", b"{}", b"{}", b"{}", b"{}"),
    "a header that is no JSON": v1_message(b"shell", b"nope", b"{}", b"{}", b"{}"),
    "a deep header": v1_message(b"shell", DEEP, b"{}", b"{}", b"{}"),
    "a header of invalid UTF-8": v1_message(
        b"shell", b'{"msg_id": "\xff", "msg_type": "x"}', b"{}", b"{}", b"{}"
    ),
}
CASES = [(False, name, data) for name, data in LEGACY.items()]
CASES += [(True, name, data) for name, data in V1.items()]


@pytest.fixture(scope="module")
def kernel(gateway):
    with new_kernel(gateway) as kernel:
        yield kernel


@pytest.fixture
def good(gateway, kernel):
    """A client that has nothing to do with it, before and afterwards."""
    with KernelSocket(gateway, kernel) as socket:
        yield socket
        assert text_of(socket.run("print('alive')")) == "alive\n"


def refusals(gateway) -> int:
    return gateway.log_path.read_text(errors="replace").count('"kernel_client_message_refused"')


def end_of(socket: KernelSocket) -> int:
    with pytest.raises(ConnectionError) as ended:
        socket.until(lambda _: False)
    return ended.value.args[0]


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize("is_v1, name, data", CASES, ids=[f"{c[0] * 'v1 '}{c[1]}" for c in CASES])
def test_a_broken_message_ends_its_connection_with_one_line(gateway, kernel, is_v1, name, data):
    before = refusals(gateway)
    with KernelSocket(gateway, kernel, v1=is_v1) as bad:
        bad.socket.send_binary(data)
        assert end_of(bad) == 1007
    assert refusals(gateway) == before + 1


@pytest.mark.parametrize(
    "frame, code",
    [
        (b"\x82\xff" + (1 << 30).to_bytes(8, "big") + b"mask", 1009),
        (b"\x82\xff" + (1 << 63).to_bytes(8, "big") + b"mask", 1009),
        (b"\x81\x05hello0000", 1002),
        (b"\xf1\x80mask", 1002),
        (b"\x80\x80mask", 1002),
        (b"\x89\xfe\x01\x00mask", 1002),
        (b"\x83\x80mask", 1002),
    ],
    ids=[
        "1 GiB announced",
        "a length of 64 bits",
        "no mask",
        "reserved bits",
        "a continuation of nothing",
        "a long ping",
        "an unknown opcode",
    ],
)
def test_a_frame_that_breaks_the_protocol_ends_its_connection(gateway, kernel, good, frame, code):
    with KernelSocket(gateway, kernel) as bad:
        bad.socket.sock.sendall(frame)
        assert end_of(bad) == code


def test_messages_that_are_only_strange_pass_or_are_passed_over(gateway, kernel, good):
    message = execute_request("print('strange')")
    for channel in ("smoke", "", "shell\0"):
        good.socket.send(json.dumps({**message, "channel": channel}))
        with KernelSocket(gateway, kernel, v1=True) as socket:
            socket.socket.send_binary(encode_v1({**message, "channel": channel}))
            assert text_of(socket.run("print('on')")) == "on\n"
    deep = v1_message(b"shell", HEADER, b"{}", b"{}", DEEP)
    with KernelSocket(gateway, kernel, v1=True) as socket:
        # The content is the kernel's to read: it refuses it and goes on.
        socket.socket.send_binary(deep)
        assert text_of(socket.run("print('read')")) == "read\n"
