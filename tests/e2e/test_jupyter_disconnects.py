"""Clients that vanish: at any moment, without a goodbye, in mid-upgrade, or by reading nothing."""

import os
import random
import socket as sockets
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.kernels import (
    KernelSocket,
    execute_request,
    is_reply_to,
    new_kernel,
    text_of,
    wait_until,
)

DISCONNECTS = 200
COUNT = """
import time
number = 0
while True:
    print(number, flush=True)
    number += 1
    time.sleep(0.002)
"""
UPGRADES = 3000


@pytest.fixture(scope="module")
def kernel(gateway):
    with new_kernel(gateway) as kernel:
        yield kernel


def vanish(socket: KernelSocket, how: str) -> None:
    raw = socket.socket.sock
    if how == "goodbye":
        return socket.close()
    if how == "reset":
        raw.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0))
    raw.close()


def test_a_session_that_vanishes_200_times_in_a_cell_hears_each_number_once_in_order(
    gateway, kernel
):
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    cell, heard = None, []
    for _ in range(DISCONNECTS):
        socket = KernelSocket(gateway, kernel, "returning", v1=chance.random() < 0.5)
        if cell is None:
            cell = socket.send(execute_request(COUNT))
            heard.append(socket.receive())  # it has arrived
        heard += [socket.receive() for _ in range(chance.randrange(12))]
        vanish(socket, chance.choice(["goodbye", "silence", "reset"]))
    assert gateway.request("POST", f"/api/kernels/{kernel}/interrupt").status_code == 204
    with KernelSocket(gateway, kernel, "returning") as socket:
        heard += socket.until(lambda m: m["channel"] == "shell" and is_reply_to(m, cell))
    numbers = [int(number) for number in text_of(heard).split()]
    assert len(numbers) > DISCONNECTS, f"{seed=}"
    assert numbers == list(range(len(numbers))), f"{seed=}"
    ids = [message["header"]["msg_id"] for message in heard]
    assert len(set(ids)) == len(ids), f"{seed=}"


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def test_thousands_of_aborted_upgrades_leave_nothing_open(gateway, kernel):
    host, port = gateway.url.removeprefix("http://").split(":")
    head = (
        f"GET /api/kernels/{kernel}/channels?token={gateway.token}&session_id=s HTTP/1.1\r\n"
        "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    ).encode()
    pid = gateway.process.pid
    with KernelSocket(gateway, kernel) as socket:
        socket.run("1")
        before = open_files(pid)
        for cut in range(UPGRADES):
            with sockets.create_connection((host, int(port))) as raw:
                if cut % 3 == 0:
                    raw.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0))
                raw.sendall(head[: len(head) - (cut % 50)])
        # The test's own keep-alive connection may come back.
        wait_until(lambda: open_files(pid) <= before + 1, "the end of aborted connections")
        assert text_of(socket.run("print('alive')")) == "alive\n"
    url = f"/api/kernels/{kernel}"
    wait_until(lambda: gateway.request("GET", url).json()["connections"] == 0, "no connections")


def test_a_client_that_reads_nothing_is_ended_and_the_others_get_everything(gateway, kernel):
    """Twenty megabytes: more than the journal and all sockets' buffers hold."""
    code = "for i in range(20):\n    print(str(i % 10) * 1_000_000)"
    with (
        KernelSocket(gateway, kernel, "reader") as reader,
        KernelSocket(gateway, kernel, "sleeper") as sleeper,
    ):
        cell = reader.send(execute_request(code))
        with ThreadPoolExecutor() as pool:
            reading = pool.submit(reader.until, lambda m: is_reply_to(m, cell))
            line = f'"kernel_client_too_slow","kernel_id":"{kernel}"'
            wait_until(lambda: line in gateway.log(), "the end of the sleeper")
            with pytest.raises(ConnectionError) as ended:
                sleeper.until(lambda _: False)
            heard = reading.result()
        code, reason = ended.value.args
        assert code == 1008 and "too far behind" in reason
        text = text_of([m for m in heard if m["parent_header"].get("msg_id") == cell])
        assert text == "".join(f"{str(i % 10) * 1_000_000}\n" for i in range(20))
        with KernelSocket(gateway, kernel, "sleeper") as back:
            assert text_of(back.run("print('back')")).endswith("back\n")
    status = Path(f"/proc/{gateway.process.pid}/status").read_text()
    resident_kib = int(status.split("VmRSS:")[1].split()[0])
    assert resident_kib < 300 * 1024, "the journal bounds what is kept"
