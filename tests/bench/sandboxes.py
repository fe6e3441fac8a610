#!/usr/bin/env python3
"""What a sandbox costs, against an unisolated ipykernel on the same host in the same run.

    python3 tests/bench/sandboxes.py [--runs 5]

Prints a table of medians and ratios; asserts nothing, because speed depends on the machine. Needs
the tools of tests/requirements.txt (ipykernel, pandas, matplotlib, requests) and a built gateway
whose image and template exist (CELLBLOCK_CACHE_DIR).
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from jupyter_client.manager import start_new_kernel

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from support.gateway import Gateway  # noqa: E402

DESCRIBE = "import pandas as pd\npd.DataFrame({'a': range(100), 'b': [1.5] * 100}).describe()"
CPU_CELLS = {
    "1e6-step Python loop": "t = 0\nfor i in range(1_000_000):\n    t += i",
    "500x500 matmul": "import numpy as np\na = np.random.rand(500, 500)\n_ = a @ a",
    "a figure": "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()",
}


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def proportional_kib(pid: int) -> tuple[int, int]:
    """(PSS, private) of a process and its children, in KiB."""
    pss = private = 0
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "Pss":
            pss += int(value.split()[0])
        if name.startswith("Private"):
            private += int(value.split()[0])
    return pss, private


IDLE_S = 30


def busy_percent(pids: list[int]) -> list[float]:
    """Of one core, over IDLE_S: schedstat counts nanoseconds, where stat counts ticks."""

    def spent_ns(pid: int) -> int:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)

    before = [spent_ns(pid) for pid in pids]
    time.sleep(IDLE_S)
    return [(spent_ns(pid) - was) / IDLE_S / 1e7 for pid, was in zip(pids, before, strict=True)]


class Native:
    """An ipykernel as jupyter_client starts it."""

    def __enter__(self):
        self.manager, self.client = start_new_kernel(kernel_name="python3")
        return self

    def __exit__(self, *exc):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def run(self, code: str) -> None:
        reply = self.client.execute_interactive(code, output_hook=lambda _: None, timeout=120)
        assert reply["content"]["status"] == "ok", reply["content"]


def native_first_result() -> float:
    def work():
        with Native() as kernel:
            kernel.run(DESCRIBE)
            work.ended = time.perf_counter()

    started = time.perf_counter()
    work()
    return work.ended - started


def sandbox_first_result(gateway: Gateway) -> float:
    started = time.perf_counter()
    sandbox = gateway.create_sandbox(timeout=120)
    run = gateway.execute(DESCRIBE, sandbox=sandbox)
    ended = time.perf_counter()
    assert run.error is None and run.results, run.lines
    gateway.delete_sandbox(sandbox)
    return ended - started


def wait_for_warm(gateway: Gateway, count: int) -> None:
    """Until the pool holds `count` machines that have executed a cell."""
    deadline = time.monotonic() + 120
    while gateway.request("GET", "/version").json()["pool"]["warm"] < count:
        if time.monotonic() > deadline:
            raise RuntimeError(f"the pool did not fill:\n{gateway.log()}")


def row(name: str, values: list[float], unit: str, against: float | None = None) -> float:
    middle = statistics.median(values)
    ratio = f"{against / middle:8.2f}x" if against else ""
    spread = f"{min(values):.3f} to {max(values):.3f}"
    print(f"{name:44} {middle:10.3f} {unit:4} ({spread}) {ratio}", flush=True)
    return middle


def bench_start(runs: int) -> None:
    print(
        "\n1. From the request to the first result of df.describe()          ratio: native / ours"
    )
    native = row(
        "native ipykernel, imports pandas", [native_first_result() for _ in range(runs)], "s"
    )
    cold = Gateway("--pool-size", "0")
    try:
        row("clone of the template", [sandbox_first_result(cold) for _ in range(runs)], "s", native)
    finally:
        cold.remove()
    warm = Gateway("--pool-size", "1")
    try:
        values = []
        for _ in range(runs):
            wait_for_warm(warm, 1)
            values.append(sandbox_first_result(warm))
        row("clone from the warm pool", values, "s", native)
    finally:
        warm.remove()


def bench_memory(gateway: Gateway) -> None:
    print(
        "\n2. Memory and CPU of an idle sandbox                              ratio: native / ours"
    )
    with Native() as kernel:
        kernel.run(DESCRIBE)
        pid = kernel.manager.provisioner.process.pid
        native_pss, native_private = proportional_kib(pid)
        [native_busy] = busy_percent([pid])
    row("native ipykernel with pandas, PSS", [native_pss / 1024], "MiB")
    row("native ipykernel with pandas, private", [native_private / 1024], "MiB")
    row("native ipykernel, CPU of one core", [native_busy], "%")
    sandboxes = [gateway.create_sandbox(timeout=300) for _ in range(4)]
    figures, pids = [], []
    for sandbox in sandboxes:
        gateway.execute("1", sandbox=sandbox)
        detail = gateway.request("GET", f"/sandboxes/{sandbox}").json()
        pids.append(detail["machine"]["pid"])
        figures.append(proportional_kib(pids[-1]))
    row("sandbox (of four), PSS", [pss / 1024 for pss, _ in figures], "MiB", native_pss / 1024)
    private = [own / 1024 for _, own in figures]
    row("sandbox (of four), private", private, "MiB", native_private / 1024)
    row("sandbox (of four), CPU of one core", busy_percent(pids), "%", native_busy)
    for sandbox in sandboxes:
        gateway.delete_sandbox(sandbox)


# Runs in the guest, in a second kernel: asks the first one over the sockets that the agent uses,
# with messages made beforehand, so that little but the kernel is measured.
ASK_IN_GUEST = """
import glob, json, time, uuid, zmq
[path] = glob.glob("/run/cellblock/kernels/default/*.json")
said = json.load(open(path))
address = lambda channel: f"ipc://{said['ip']}-{said[channel + '_port']}"
context = zmq.Context.instance()
shell, iopub = context.socket(zmq.DEALER), context.socket(zmq.SUB)
shell.connect(address("shell"))
iopub.connect(address("iopub"))
iopub.subscribe(b"")
content = json.dumps(dict(code="1", silent=False, store_history=True, user_expressions={},
                          allow_stdin=False, stop_on_error=True)).encode()

def ask():
    asked = uuid.uuid4().hex
    header = dict(msg_id=asked, msg_type="execute_request", username="", session="bench",
                  date="2026-01-01T00:00:00Z", version="5.3")
    frames = [b"<IDS|MSG>", b"", json.dumps(header).encode(), b"{}", b"{}", content]
    started = time.perf_counter()
    shell.send_multipart(frames)
    shell.recv_multipart()
    while not (b'"idle"' in (said := iopub.recv_multipart())[-1] and asked.encode() in said[-3]):
        pass
    return time.perf_counter() - started

ask()
print([ask() for _ in range(RUNS)])
# A subscriber that stays and reads no more would hold the kernel back: it drops nothing.
shell.close(0), iopub.close(0)
"""


def inside_guest(gateway: Gateway, sandbox: str, runs: int) -> list[float]:
    second = gateway.request(
        "POST", "/contexts", json={}, headers={"E2b-Sandbox-Id": sandbox}
    ).json()["id"]
    code = ASK_IN_GUEST.replace("RUNS", str(runs))
    run = gateway.execute(code, sandbox=sandbox, context_id=second)
    assert run.error is None, run.error
    return json.loads(run.stdout)


def bench_round_trip(gateway: Gateway, runs: int) -> None:
    print(
        "\n3. Round trip of `1` on a warm kernel                             ratio: native / ours"
    )
    with Native() as kernel:
        kernel.run("1")
        native = row(
            "native ipykernel", [timed(lambda: kernel.run("1")) for _ in range(runs * 4)], "s"
        )
    sandbox = gateway.create_sandbox(timeout=300)
    for _ in range(3):
        gateway.execute("1", sandbox=sandbox)
    values = [timed(lambda: gateway.execute("1", sandbox=sandbox)) for _ in range(runs * 4)]
    ours = row("POST /execute", values, "s", native)
    kernel_alone = row(
        "the same kernel asked inside the guest", inside_guest(gateway, sandbox, runs * 4), "s"
    )
    print(f"{'ours: gateway, link, agent':44} {ours - kernel_alone:10.3f} s")
    gateway.delete_sandbox(sandbox)


def bench_cpu(gateway: Gateway, runs: int) -> None:
    print(
        "\n4. CPU inside the guest                                           ratio: native / ours"
    )
    sandbox = gateway.create_sandbox(timeout=600)
    with Native() as kernel:
        for name, code in CPU_CELLS.items():
            kernel.run(code)
            gateway.execute(code, sandbox=sandbox)
            native = row(
                f"{name}, native", [timed(lambda: kernel.run(code)) for _ in range(runs)], "s"
            )
            values = [timed(lambda: gateway.execute(code, sandbox=sandbox)) for _ in range(runs)]
            row(f"{name}, sandbox", values, "s", native)
    gateway.delete_sandbox(sandbox)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    model = next(
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    )
    python = platform.python_version()
    print(f"{os.cpu_count()} x {model}, Linux {platform.release()}, Python {python}")
    bench_start(runs)
    gateway = Gateway("--pool-size", "0")
    try:
        version = gateway.request("GET", "/version").json()
        print(f"\naccelerator: {version.get('accelerator')}")
        bench_memory(gateway)
        bench_round_trip(gateway, runs)
        bench_cpu(gateway, runs)
    finally:
        gateway.remove()


if __name__ == "__main__":
    main()
