"""stdout and stderr: order, completeness under backpressure, bounded memory, interrupts."""

from __future__ import annotations

import json
import mmap
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

COUNTING = """
import mmap, struct
_file = open({path!r}, 'r+b')
_shared = mmap.mmap(_file.fileno(), 8)
for i in range({count}):
    print(i, 'x' * {width})
    _shared[:8] = struct.pack('<q', i + 1)
"""


class Progress:
    """A number that the cell writes and the test reads, without any message."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(b"\0" * 8)
        path.chmod(0o666)
        self.path = path
        self._file = path.open("r+b")
        self._map = mmap.mmap(self._file.fileno(), 8)

    def value(self) -> int:
        return struct.unpack("<q", self._map[:8])[0]

    def settled(self, helpers: Any) -> int:
        """The value once it has stopped growing for half a second (the writer waits)."""
        state = {"value": -1, "since": time.monotonic()}

        def quiet() -> bool:
            value = self.value()
            if value != state["value"]:
                state.update(value=value, since=time.monotonic())
            return value > 0 and time.monotonic() - state["since"] > 0.5

        helpers.wait_for(quiet, "the writer to wait")
        return self.value()


@pytest.fixture
def progress(zygote: Any) -> Iterator[Progress]:
    path = zygote.home / "progress"
    yield Progress(path)
    path.unlink()


@pytest.fixture
def slow_kernel(zygote: Any) -> Iterator[Any]:
    """A kernel whose only iopub client holds few messages and reads when told to."""
    kernel = zygote.start()
    kernel.client.iopub_channel.stop()
    info = json.loads((kernel.folder / "connection.json").read_text())
    reader = zmq.Context.instance().socket(zmq.SUB)
    reader.rcvhwm = 4
    reader.subscribe(b"")
    reader.connect(f"ipc://{info['ip']}-{info['iopub_port']}")
    kernel.reader = reader
    # Subscribed once a message of a cell arrives.
    while True:
        kernel.send("None", silent=True)
        if reader.poll(200):
            break
    drain_until_quiet(reader)
    yield kernel
    reader.close(0)
    kernel.stop()


def drain_until_quiet(reader: zmq.Socket[bytes]) -> None:
    while reader.poll(300):
        reader.recv_multipart()


def read_cell(kernel: Any, msg_id: str, seconds: float = 120) -> tuple[str, list[dict[str, Any]]]:
    """stdout of a cell and all its messages, up to idle."""
    text, messages = [], []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not kernel.reader.poll(1000):
            continue
        _ids, parts = kernel.client.session.feed_identities(kernel.reader.recv_multipart())
        message = kernel.client.session.deserialize(parts)
        if message["parent_header"].get("msg_id") != msg_id:
            continue
        messages.append(message)
        content = message["content"]
        if message["msg_type"] == "stream" and content["name"] == "stdout":
            text.append(content["text"])
        if message["msg_type"] == "status" and content["execution_state"] == "idle":
            return "".join(text), messages
    raise AssertionError("no idle")


def test_print_and_processes_keep_their_order(kernel: Any) -> None:
    code = (
        "import os, subprocess, sys, ctypes\n"
        "for i in range(20):\n"
        "    print('python', i)\n"
        "    os.system(f'echo system {i}')\n"
        "    subprocess.run(['echo', 'run', str(i)])\n"
        "    subprocess.run(['echo', 'given', str(i)], stdout=sys.stdout)\n"
        "    os.write(1, f'write {i}\\n'.encode())\n"
        "    ctypes.CDLL(None).printf(b'c %d\\n', i)\n"
        "print('end')"
    )
    kinds = ("python", "system", "run", "given", "write", "c")
    want = "".join(f"{kind} {i}\n" for i in range(20) for kind in kinds) + "end\n"
    assert kernel.run(code).stdout == want


def test_output_of_a_child_comes_before_idle(kernel: Any) -> None:
    for i in range(30):
        assert kernel.run(f"import os; _ = os.system('echo last {i}')").stdout == f"last {i}\n"


def test_c_output_without_newline_is_flushed(kernel: Any) -> None:
    out = kernel.run("import ctypes; _ = ctypes.CDLL(None).printf(b'no newline')")
    assert out.stdout == "no newline"


def test_stderr_is_separate(kernel: Any) -> None:
    out = kernel.run("import sys, os; print('e', file=sys.stderr); os.system('echo f >&2');"
                     " print('o')")
    assert (out.stdout, out.stream("stderr")) == ("o\n", "e\nf\n")


def test_a_line_arrives_while_the_cell_runs(kernel: Any) -> None:
    msg_id = kernel.send("import threading; print('early'); threading.Event().wait(60)")
    kernel.next_stream("early")
    kernel.interrupt()
    assert kernel.collect(msg_id).error["ename"] == "KeyboardInterrupt"


def test_split_characters_and_bad_bytes(kernel: Any) -> None:
    out = kernel.run("import os\nfor b in 'é€😀'.encode(): os.write(1, bytes([b]))")
    assert out.stdout == "é€😀"
    assert kernel.run("import os; _ = os.write(1, b'a\\xffb')").stdout == "a\ufffdb"
    assert kernel.run("print('\\ud800 lone')").stdout == "\\ud800 lone\n"
    assert kernel.run("print('x\\0y')").stdout == "x\0y\n"


def test_errors_with_surrogates_and_nan_are_valid_json(kernel: Any) -> None:
    assert "lone" in kernel.run("raise ValueError('\\udcff lone')").error["evalue"]
    out = kernel.run("from IPython.display import display\n"
                     "display({'application/json': {'a': float('nan'), 'b': float('inf')}},"
                     " raw=True)")
    assert out.of("display_data")[0]["data"]["application/json"] == {"a": None, "b": None}


def test_large_print_arrives_whole_in_small_pieces(kernel: Any) -> None:
    output = kernel.run("print('é' * 3_000_000)")
    assert output.stdout == "é" * 3_000_000 + "\n"
    assert max(len(c["text"].encode()) for c in output.of("stream")) <= 256 * 1024


def test_a_slow_reader_loses_nothing(slow_kernel: Any, progress: Progress, helpers: Any) -> None:
    count, width = 60_000, 500
    code = COUNTING.format(path=str(progress.path), count=count, width=width)
    msg_id = slow_kernel.send(code)
    assert progress.settled(helpers) < count  # it waits for the reader
    text, _ = read_cell(slow_kernel, msg_id)
    assert text == "".join(f"{i} {'x' * width}\n" for i in range(count))


def test_a_flood_costs_no_memory(slow_kernel: Any, progress: Progress, helpers: Any) -> None:
    before = slow_kernel.rss_kib()
    code = COUNTING.format(path=str(progress.path), count=10**9, width=1000)
    msg_id = slow_kernel.send(code)
    first = progress.settled(helpers)
    assert slow_kernel.rss_kib() - before < 64 * 1024
    for _ in range(200):  # 12 MB through it, then it waits again
        slow_kernel.reader.recv_multipart()
    helpers.wait_for(lambda: progress.value() > first, "the writer to go on")
    progress.settled(helpers)
    assert slow_kernel.rss_kib() - before < 64 * 1024
    slow_kernel.interrupt()
    _, messages = read_cell(slow_kernel, msg_id)
    errors = [m["content"] for m in messages if m["msg_type"] == "error"]
    assert errors[0]["ename"] == "KeyboardInterrupt"
    assert "cellblock_kernel" not in "".join(errors[0]["traceback"])
    text, _ = read_cell(slow_kernel, slow_kernel.send("print('fine')"))
    assert text == "fine\n"


def test_a_child_process_that_floods_waits_as_well(
    slow_kernel: Any, progress: Progress, helpers: Any
) -> None:
    before = slow_kernel.rss_kib()
    child = COUNTING.format(path=str(progress.path), count=10**9, width=1000)
    msg_id = slow_kernel.send(f"import subprocess, sys; subprocess.run([sys.executable, '-uc',"
                              f" {child!r}])")
    progress.settled(helpers)
    assert slow_kernel.rss_kib() - before < 64 * 1024
    slow_kernel.interrupt()
    _, messages = read_cell(slow_kernel, msg_id)
    assert any(m["msg_type"] == "error" for m in messages)


def test_one_huge_string_needs_only_itself(slow_kernel: Any) -> None:
    size = 200_000_000
    read_cell(slow_kernel, slow_kernel.send(f"big = 'x' * {size}"))
    before = slow_kernel.rss_kib()
    msg_id = slow_kernel.send("print(big)")
    peak, got, end = 0, 0, time.monotonic() + 120
    while got < size:
        assert time.monotonic() < end
        parts = slow_kernel.reader.recv_multipart()
        got += len(parts[-1])
        peak = max(peak, slow_kernel.rss_kib())
    assert peak - before < 64 * 1024
    read_cell(slow_kernel, msg_id)


def test_a_flood_of_displays_costs_no_memory(slow_kernel: Any, helpers: Any) -> None:
    before = slow_kernel.rss_kib()
    msg_id = slow_kernel.send(
        "from IPython.display import HTML, display\nwhile True: display(HTML('x' * 100_000))")
    for _ in range(300):
        slow_kernel.reader.recv_multipart()
    assert slow_kernel.rss_kib() - before < 96 * 1024
    slow_kernel.interrupt()
    read_cell(slow_kernel, msg_id)


def test_control_answers_while_output_is_stuck(
    slow_kernel: Any, progress: Progress, helpers: Any
) -> None:
    code = COUNTING.format(path=str(progress.path), count=10**9, width=1000)
    msg_id = slow_kernel.send(code)
    progress.settled(helpers)
    session = slow_kernel.client.session
    for kind in ("kernel_info_request", "interrupt_request"):
        message = session.msg(kind, {})
        slow_kernel.client.control_channel.send(message)
        reply = slow_kernel.client.get_control_msg(timeout=10)
        assert reply["parent_header"]["msg_id"] == message["header"]["msg_id"]
    read_cell(slow_kernel, msg_id)


def test_interrupts_at_any_moment_break_nothing(kernel: Any, helpers: Any) -> None:
    """Locks that an interrupt could leave taken would stop all output: try many moments."""
    for i in range(40):
        msg_id = kernel.send("while True: print('x' * 100)")
        kernel.next_stream("x")
        deadline = time.perf_counter() + (i % 7) * 0.0013
        while time.perf_counter() < deadline:
            pass
        kernel.interrupt()
        assert kernel.collect(msg_id).error["ename"] == "KeyboardInterrupt"
        assert kernel.run(f"print('ok {i}')").stdout == f"ok {i}\n"


def test_an_oversized_message_says_so(kernel: Any) -> None:
    out = kernel.run("from IPython.display import HTML\nHTML('x' * 70_000_000)")
    assert "66 MiB" in out.result and "limit" in out.result
    assert out.reply["status"] == "ok"


def test_output_of_forked_children_and_threads(kernel: Any) -> None:
    code = (
        "import multiprocessing as m\n"
        "def work(i):\n    print('child', i, flush=True)\n    return i * i\n"
        "with m.get_context('fork').Pool(3) as pool:\n    print(pool.map(work, range(6)))"
    )
    lines = kernel.run(code).stdout.splitlines()
    assert sorted(lines[:-1]) == [f"child {i}" for i in range(6)]
    assert lines[-1] == "[0, 1, 4, 9, 16, 25]"
    code = (
        "import threading\n"
        "t = [threading.Thread(target=print, args=('thread', i)) for i in range(5)]\n"
        "[x.start() for x in t]; [x.join() for x in t]; None"
    )
    text = kernel.run(code).stdout  # a print is several writes: threads may mix them
    assert text.count("thread") == 5 and all(digit in text for digit in "01234")
    out = kernel.run("import os\npid = os.fork()\nif pid == 0:\n    print('in child')\n"
                     "    os._exit(0)\n_ = os.waitpid(pid, 0)\nprint('in parent')")
    assert out.stdout == "in child\nin parent\n"
