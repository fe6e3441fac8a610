"""The agent as a normal process with real kernels: no VM, the whole way from the link to ipykernel.

What only a guest can show (cgroups, OOM, clock, entropy) is in tests/e2e. Needs an interpreter with
ipykernel: the one that runs pytest, or the one named by CELLBLOCK_TEST_PYTHON.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from guest_link import CONTROL, SHELL, GuestError, GuestLink, Kernel

ROOT = Path(__file__).resolve().parents[4]
AGENT = Path(os.environ.get("CELLBLOCK_AGENT", ROOT / "build/vm/agent/cellblock-agent"))
PYTHON = os.environ.get("CELLBLOCK_TEST_PYTHON", sys.executable)
PYTHON_PATH = ":".join(
    str(ROOT / name) for name in ("kernel-proxy/guest", "artifacts/guest", "charts/guest")
)


NANOSLEEP = ("35", "230")  # nanosleep, clock_nanosleep on x86-64


class Agent:
    """One agent process and a link to it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="cb-agent-"))
        self.home = self.folder / "home"
        self.home.mkdir()
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [AGENT, "--root-less", "--socket", self.folder / "s", "--python", PYTHON,
                 "--python-path", PYTHON_PATH],
                stdout=log, stderr=log, env={**os.environ, "HOME": str(self.home)})
        self.link = GuestLink(str(self.folder / "s")).connect()

    def end(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(20)
        text = (self.folder / "log").read_text(errors="replace")
        shutil.rmtree(self.folder, ignore_errors=True)
        assert code == 0, text
        return text

    def event(self, name: str, timeout: float = 30) -> dict:
        deadline = time.monotonic() + timeout
        while True:
            try:
                event = self.link.events.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no event {name}") from None
            if event["event"] == name:
                return event


@pytest.fixture(scope="module")
def agent() -> Iterator[Agent]:
    running = Agent()
    yield running
    log = running.end()
    print(log)
    assert "task_failed" not in log


@pytest.fixture
def kernel(agent: Agent) -> Iterator[Kernel]:
    agent.link.call("kernel.start", {"kernel_id": "k", "env": {"GREETING": "hi"}}, timeout=300)
    yield Kernel(agent.link, "k")
    agent.link.call("kernel.stop", {"kernel_id": "k"})


def test_info_names_what_a_process_without_root_leaves_out(agent: Agent) -> None:
    info = agent.link.call("info")
    assert info["protocol"] == 1
    assert "cgroups" in info["skipped"]
    assert info["boot_failures"] == []


def test_a_cell_runs_and_its_messages_come_back(agent: Agent, kernel: Kernel) -> None:
    result = kernel.execute("import os\nprint(os.environ['GREETING'])\n6*7")
    assert result["text"] == "hi\n"
    assert result["outputs"][0]["content"]["data"]["text/plain"] == "42"
    assert result["reply"]["status"] == "ok"
    assert agent.link.call("kernel.list")["kernels"][0]["state"] == "running"
    # Nothing of the agent's own questions reaches the host.
    assert kernel.execute("1")["reply"]["execution_count"] == 2


def test_interrupt_ends_a_sleeping_cell(agent: Agent, kernel: Kernel) -> None:
    message_id, so_far = kernel.begin(
        "import time; print('on', flush=True); time.sleep(60)", sign="on")
    # A signal that comes just before the system call does not end it: CPython looks before it.
    pid = agent.link.call("kernel.list")["kernels"][0]["pid"]
    wait_until(lambda: Path(f"/proc/{pid}/syscall").read_text().split()[0] in NANOSLEEP,
               "the cell sleeps")
    agent.link.call("kernel.signal", {"kernel_id": "k", "signal": 2})
    ended = kernel.collect(message_id, 20, so_far=so_far)
    assert ended["reply"]["ename"] == "KeyboardInterrupt"


def _hear(kernel: Kernel, count: int) -> list[str]:
    return [kernel.receive()[1]["header"]["msg_id"] for _ in range(count)]


def test_a_host_that_takes_over_hears_again_what_was_not_confirmed(
    agent: Agent, kernel: Kernel
) -> None:
    first = Kernel(agent.link, "k", after=-1)
    first.send(SHELL, "execute_request", {"code": "print('once')"})
    said = _hear(first, 5)  # busy, input, text, reply and idle, in some order
    assert _hear(Kernel(agent.link, "k", after=0), 5) == said
    assert _hear(Kernel(agent.link, "k", after=2), 3) == said[2:]
    agent.link.call("kernel.acknowledge", {"kernel_id": "k", "position": 3})
    with pytest.raises(GuestError):
        Kernel(agent.link, "k", after=2).receive()
    fourth = Kernel(agent.link, "k", after=3)
    assert _hear(fourth, 2) == said[3:]
    # What comes next is numbered on.
    fourth.send(SHELL, "execute_request", {"code": "1"})
    more = _hear(fourth, 5)
    assert _hear(Kernel(agent.link, "k", after=6), 4) == more[1:]
    # Who begins anew hears nothing of it.
    assert Kernel(agent.link, "k", after=-1).execute("2")["reply"]["execution_count"] == 3


def test_requests_that_come_once_more_by_the_next_host_run_once(
    agent: Agent, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [uuid.UUID(int=number) for number in (7, 8, 9)]
    count = "ran = globals().get('ran', 0) + 1"

    def ask(host: Kernel, name: uuid.UUID) -> None:
        host.session = "one"
        with monkeypatch.context() as fixed:
            fixed.setattr(uuid, "uuid4", lambda: name)
            host.send(SHELL, "execute_request", {"code": count})

    first = Kernel(agent.link, "k", after=-1)
    for name in names[:2]:
        ask(first, name)
    said = _hear(first, 8)  # of each cell busy, input, reply and idle
    second = Kernel(agent.link, "k", after=0)
    for name in names:
        ask(second, name)
    assert _hear(second, 8) == said
    _hear(second, 4)
    # It is no repetition when the same host says it again.
    ask(second, names[2])
    _hear(second, 4)
    assert second.execute("print(ran)")["text"] == "4\n"


def test_control_answers_while_a_flood_that_nobody_reads_paces_the_kernel(
    agent: Agent, kernel: Kernel
) -> None:
    kernel.stream.paused = True
    kernel.send(SHELL, "execute_request", {"code": "while True: print('x' * 1000)"})
    pid = agent.link.call("kernel.list")["kernels"][0]["pid"]
    wait_until(lambda: kernel.stream.owed > 200_000, "the stream's window is full")
    before = _memory_kib(pid), _memory_kib(agent.process.pid)
    _wait_until_paced(pid)
    assert _memory_kib(pid) - before[0] < 20_000
    assert _memory_kib(agent.process.pid) - before[1] < 5_000
    agent.link.call("kernel.signal", {"kernel_id": "k", "signal": 2})
    kernel.stream.resume()
    message_id = kernel.send(CONTROL, "kernel_info_request", {})
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        _, message = kernel.receive(30)
        if message["parent_header"].get("msg_id") == message_id and (
            message["header"]["msg_type"] == "kernel_info_reply"
        ):
            return
    raise AssertionError("control did not answer")


def test_a_lost_connection_loses_no_line(agent: Agent, kernel: Kernel, tmp_path: Path) -> None:
    progress = tmp_path / "progress"
    progress.write_text("0")
    code = (f"import time\nfor i in range(200):\n    print(i, flush=True); time.sleep(0.01)\n"
            f"    open({str(progress)!r}, 'r+').write(str(i))")
    message_id, result = kernel.begin(code, sign="5\n")
    for line in (30, 80, 130):
        result = kernel.collect(message_id, until=f"\n{line}\n", so_far=result)
        agent.link.disconnect()
        wait_until(lambda line=line: int(progress.read_text() or 0) > line + 20,
                   "the cell goes on while nobody is connected")
        agent.link.connect()
    result = kernel.collect(message_id, 60, so_far=result)
    assert result["text"] == "".join(f"{i}\n" for i in range(200))


def test_a_death_is_told_and_the_same_stream_serves_the_next_process(
    agent: Agent, kernel: Kernel
) -> None:
    before = agent.link.call("kernel.list")["kernels"][0]["pid"]
    kernel.send(SHELL, "execute_request",
                {"code": "print('last words', flush=True)\nimport os; os.kill(os.getpid(), 11)"})
    event = agent.event("kernel_died")
    assert event["kernel_id"] == "k" and event["pid"] == before and event["signal"] == 11
    assert event["out_of_memory"] is False
    with pytest.raises(GuestError, match="kernel_died"):
        agent.link.call("kernel.signal", {"kernel_id": "k", "signal": 2})
    started = agent.link.call("kernel.restart", {"kernel_id": "k", "env": {"A": "b"}}, timeout=300)
    assert started["pid"] != before
    assert kernel.execute("import os; print(os.environ['A'])")["text"] == "b\n"


def test_restart_ends_a_kernel_that_does_not_listen(agent: Agent, kernel: Kernel) -> None:
    kernel.begin("import signal, time; signal.pthread_sigmask(signal.SIG_BLOCK, [2, 15])\n"
                 "print('on', flush=True)\n"
                 "import ctypes; ctypes.PyDLL(None).sleep(600)", sign="on")
    agent.link.call("kernel.restart", {"kernel_id": "k"}, timeout=300)
    assert kernel.execute("1+1")["reply"]["status"] == "ok"


def test_claim_reseeds_a_running_kernel(agent: Agent, kernel: Kernel) -> None:
    code = "import random; random.seed(1)"
    kernel.execute(code)
    agent.link.call("claim", {
        "generation": 1, "wall_clock_ns": time.time_ns(), "hostname": "sandbox-1",
        "entropy_base64": base64.b64encode(os.urandom(64)).decode(),
        "memory_limit_bytes": 1 << 30, "env": {"FROM_CLAIM": "yes"}, "cwd": ""})
    import random
    random.seed(1)
    assert kernel.execute("print(random.random())")["text"].strip() != str(random.random())
    agent.link.call("kernel.restart", {"kernel_id": "k"}, timeout=300)
    assert kernel.execute("import os; print(os.environ['FROM_CLAIM'])")["text"] == "yes\n"


def test_claim_fails_closed_when_a_kernel_does_not_confirm(agent: Agent, kernel: Kernel) -> None:
    kernel.execute("import os, glob\n"
                   f"os.remove({str(agent.folder)!r} + '/s.run/kernels/k/identity.sock')")
    with pytest.raises(GuestError, match="reseed"):
        agent.link.call("claim", {
            "generation": 1, "wall_clock_ns": time.time_ns(), "hostname": "sandbox-1",
            "entropy_base64": base64.b64encode(os.urandom(64)).decode(),
            "memory_limit_bytes": 1 << 30})


@pytest.mark.parametrize(("method", "params", "said"), [
    ("kernel.start", {}, "kernel_id"),
    ("kernel.start", {"kernel_id": "../x"}, "kernel_id"),
    ("kernel.start", {"kernel_id": "n", "name": "julia"}, "julia"),
    ("kernel.start", {"kernel_id": "n", "env": {"A": 1}}, "env.A"),
    ("kernel.start", {"kernel_id": "n", "cwd": "/no/such/place"}, "/no/such/place"),
    ("kernel.stop", {"kernel_id": "none"}, "none"),
    ("kernel.signal", {"kernel_id": "none", "signal": 2}, "none"),
    ("kernel.signal", {"kernel_id": "none", "signal": 99}, "signal"),
    ("claim", {"hostname": "x"}, "wall_clock_ns"),
    ("file.list", {"path": ""}, "empty"),
    ("file.list", {"path": "/no/such/place"}, "/no/such/place"),
    ("no.such", {}, "no.such"),
])
def test_bad_parameters_are_named(agent: Agent, method: str, params: dict, said: str) -> None:
    with pytest.raises(GuestError, match=said.replace(".", r"\.")):
        agent.link.call(method, params, timeout=300)


def test_files_go_both_ways(agent: Agent) -> None:
    data = os.urandom(3_000_000)
    assert agent.link.write_file("a/b/data.bin", data)["size"] == len(data)
    assert agent.link.read_file("a/b/data.bin") == data
    assert agent.link.read_file("a/b/data.bin", offset=10, length=20) == data[10:30]
    assert agent.link.call("file.stat", {"path": "a/b/data.bin"})["size"] == len(data)
    agent.link.call("file.move", {"path": "a/b/data.bin", "to": "c.bin"})
    names = [e["name"] for e in agent.link.call("file.list", {"path": "."})["entries"]]
    assert "c.bin" in names
    agent.link.call("file.remove", {"path": "c.bin"})
    with pytest.raises(GuestError, match="not_found"):
        agent.link.read_file("c.bin")
    with pytest.raises(GuestError, match="a/b"):
        agent.link.write_file("a/b", b"x")


def test_a_large_file_does_not_grow_the_agent(agent: Agent) -> None:
    before = _memory_kib(agent.process.pid)
    piece = bytes(1 << 20)
    stream = agent.link.open(4, {"path": "large.bin"})
    peak = 0
    for _ in range(128):
        stream.write(piece)
        peak = max(peak, _memory_kib(agent.process.pid))
    stream.finish()
    assert json.loads(stream.read_message())["size"] == 128 << 20
    assert hashlib.sha256(agent.link.read_file("large.bin")).digest() == (
        hashlib.sha256(piece * 128).digest())
    assert peak - before < 24_000


def wait_until(holds: Callable[[], bool], what: str, timeout: float = 60) -> None:
    deadline = time.monotonic() + timeout
    while not holds():
        assert time.monotonic() < deadline, f"not in {timeout} s: {what}"
        time.sleep(0.02)


def _wait_until_paced(pid: int) -> None:
    """Until the process computes no more: it waits for somebody to read its output."""
    def ticks() -> list[str]:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]

    last: list[list[str]] = [ticks()]

    def rests() -> bool:
        time.sleep(0.3)  # thirty of the kernel's clock ticks
        before, last[0] = last[0], ticks()
        return before == last[0]

    wait_until(rests, "the flooding kernel is held back")


def _memory_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0
