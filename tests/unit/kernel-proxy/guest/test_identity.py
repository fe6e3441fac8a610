"""Reseeding a running kernel, as the agent does in a clone."""

from __future__ import annotations

import os
import random
import socket
import threading
from typing import Any

import numpy
import pytest
from cellblock_kernel import identity

DRAW = (
    "import random, numpy, uuid, tempfile, ssl, multiprocessing\n"
    "[random.random(), float(numpy.random.rand()), float(numpy.random.standard_normal()),"
    " tempfile.mktemp(), uuid.getnode(), ssl.RAND_bytes(8).hex(),"
    " multiprocessing.current_process().authkey.hex()]"
)


def test_every_loaded_generator_is_reseeded(fresh_kernel: Any) -> None:
    fresh_kernel.run("import random, numpy; random.seed(1); numpy.random.seed(1)")
    rows = [eval(fresh_kernel.run(DRAW).result)]
    for _ in range(3):
        # The same seeds again stand for the same memory again; the same entropy must not help.
        fresh_kernel.run("random.seed(1); numpy.random.seed(1); numpy.random.standard_normal()")
        answer = fresh_kernel.reseed(b"e" * 64)
        assert answer["ok"], answer
        assert {"random", "numpy.random.mtrand", "ssl", "uuid", "tempfile"} <= set(
            answer["reseeded"])
        rows.append(eval(fresh_kernel.run(DRAW).result))
    for column in zip(*rows, strict=True):
        assert len(set(column)) == len(rows), column


def test_reseed_gives_the_session_a_new_id(fresh_kernel: Any) -> None:
    def session() -> str:
        return fresh_kernel.run("1").messages[0]["header"]["session"]

    before = session()
    assert session() == before
    assert fresh_kernel.reseed(os.urandom(64))["ok"]
    assert session() != before


@pytest.mark.parametrize(
    "busy",
    ["while True: pass", "import time; time.sleep(600)", "import numpy\n"
     "while True: numpy.random.rand(1000)", "import random\nwhile True: random.random()",
     "import hashlib\nwhile True: hashlib.pbkdf2_hmac('sha256', b'a', b'b', 20000)"],
)
def test_reseed_while_a_cell_runs(kernel: Any, busy: str) -> None:
    msg_id = kernel.send("print('on')\n" + busy)
    kernel.next_stream("on")
    for _ in range(5):
        assert kernel.reseed(os.urandom(64), seconds=20)["ok"]
    kernel.interrupt()
    assert kernel.collect(msg_id).error["ename"] == "KeyboardInterrupt"


@pytest.mark.parametrize(
    ("line", "reason"),
    [(b"nonsense\n", "JSON"), (b'{"reseed":"AA=="}\n', "16 bytes"), (b'{"reseed":"%%"}\n', ""),
     (b"{}\n", "reseed"), (b"x" * 70_000, "too long")],
)
def test_bad_requests_fail_closed(kernel: Any, line: bytes, reason: str) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(kernel.folder / "identity.sock"))
        connection.sendall(line)
        answer = connection.makefile().readline()
    assert '"ok": false' in answer and reason in answer
    assert kernel.reseed(os.urandom(64))["ok"]


def test_silent_clients_do_not_block_the_next(kernel: Any) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(kernel.folder / "identity.sock"))
        assert kernel.reseed(os.urandom(64), seconds=20)["ok"]


def test_a_lock_held_by_a_cell_is_an_error_not_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "LOCK_SECONDS", 0.05)
    lock = numpy.random.mtrand._rand._bit_generator.lock
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)
    try:
        with pytest.raises(TimeoutError, match="numpy"):
            identity.reseed(os.urandom(64))
    finally:
        done.set()
        thread.join()


def test_another_bit_generator_in_the_global_place(fresh_kernel: Any) -> None:
    code = ("import numpy\nnumpy.random.set_bit_generator(numpy.random.PCG64(5))\n"
            "float(numpy.random.rand())")
    first = fresh_kernel.run(code).result
    fresh_kernel.run("numpy.random.set_bit_generator(numpy.random.PCG64(5))")
    assert fresh_kernel.reseed(os.urandom(64))["ok"]
    assert fresh_kernel.run("float(numpy.random.rand())").result != first


def test_what_the_program_seeded_itself_stays(fresh_kernel: Any) -> None:
    want = random.Random(7).random()
    fresh_kernel.run("import random; mine = random.Random(7)")
    assert fresh_kernel.reseed(os.urandom(64))["ok"]
    assert float(fresh_kernel.run("mine.random()").result) == want
