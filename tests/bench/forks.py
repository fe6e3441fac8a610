#!/usr/bin/env python3
"""What forks, pauses and snapshots cost, as functions of the memory that a sandbox has written.

    python3 tests/bench/forks.py [--sizes 20,200,1000,2000] [--children 16]

Prints figures and ratios; asserts nothing, because speed depends on the machine. The ratios are
against an unisolated ipykernel on the same host that is started and runs the same cells again, and
against QEMU's own `migrate` to a file and back of a machine with as much memory in use. Needs what
tests/bench/sandboxes.py needs.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from qemu_migrate import newest_template, out_and_back
from sandboxes import Native, proportional_kib

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from support.gateway import Gateway  # noqa: E402

# Piece by piece: made at once, it would write twice as much memory.
FILL = """
import numpy as np, pandas as pd
rng = np.random.default_rng(1)
block = np.empty({mib} << 20, np.uint8)
for start in range(0, len(block), 1 << 20):
    block[start:start + (1 << 20)] = np.frombuffer(rng.bytes(1 << 20), np.uint8)
"""
LOOK = "print(len(block))"
CACHE = Path(os.environ.get("CELLBLOCK_CACHE_DIR", "/var/cache/cellblock"))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def last_event(gateway: Gateway, name: str) -> dict:
    """The newest line of that event in the gateway's log."""
    found = {}
    for line in gateway.log_path.read_text(errors="replace").splitlines():
        if f'"{name}"' in line and line.startswith("{"):
            found = json.loads(line)
    return found


def native_again(mib: int) -> float:
    def work():
        with Native() as kernel:
            kernel.run(FILL.format(mib=mib))
            kernel.run(LOOK)
            work.ended = time.perf_counter()

    started = time.perf_counter()
    work()
    return work.ended - started


def ok(gateway: Gateway, sandbox: str, code: str) -> None:
    run = gateway.execute(code, sandbox=sandbox)
    assert run.error is None, run.lines


def fork(gateway: Gateway, sandbox: str, count: int) -> list[str]:
    answer = gateway.request("POST", f"/sandboxes/{sandbox}/fork", json={"count": count})
    assert answer.status_code == 201, answer.text
    return [child["sandbox"]["sandboxID"] for child in answer.json() if "sandbox" in child]


def post(gateway: Gateway, path: str) -> None:
    answer = gateway.request("POST", path, json={}, timeout=600)
    assert answer.status_code < 300, answer.text


def bench_size(gateway: Gateway, mib: int) -> None:
    sandbox = gateway.create_sandbox(timeout=1200, memoryMB=3072)
    ok(gateway, sandbox, FILL.format(mib=mib))
    native = native_again(mib)
    started = time.perf_counter()
    (child,) = fork(gateway, sandbox, 1)
    forked = time.perf_counter() - started
    ok(gateway, child, LOOK)
    answered = time.perf_counter() - started
    captured = last_event(gateway, "machine_captured")
    gateway.delete_sandbox(child)
    paused = timed(lambda: post(gateway, f"/sandboxes/{sandbox}/pause"))
    disk = (gateway.state / "paused" / sandbox / "state").stat().st_size
    resumed = timed(lambda: post(gateway, f"/sandboxes/{sandbox}/resume"))
    ok(gateway, sandbox, LOOK)
    gateway.delete_sandbox(sandbox)
    folder = Path(tempfile.mkdtemp(prefix="cellblock-bench-"))
    out, back, size = out_and_back(newest_template(CACHE), mib, folder)
    print(
        f"{mib:6} {captured['bytes'] / 2**20:9.0f} {captured['us'] / 1000:10.1f} {forked:9.2f} "
        f"{answered:9.2f} {native / answered:8.2f}x {paused:8.2f} {resumed:8.2f} "
        f"{native / resumed:8.2f}x {disk / 2**20:9.0f} {out:9.2f} {back:7.2f} "
        f"{(out + back) / (paused + resumed):7.2f}x {size / 2**20:8.0f}",
        flush=True,
    )


def bench_children(gateway: Gateway, count: int) -> None:
    sandbox = gateway.create_sandbox(timeout=1200)
    ok(gateway, sandbox, "import pandas as pd\nframe = pd.DataFrame({'a': range(1000)})")
    children: list[str] = []
    seconds = timed(lambda: children.extend(fork(gateway, sandbox, count)))
    print(f"\n{len(children)} children: {seconds:.2f} s, {len(children) / seconds:.2f} a second")
    private = []
    for child in children:
        ok(gateway, child, "frame.a.sum()")
        detail = gateway.request("GET", f"/sandboxes/{child}").json()
        private.append(proportional_kib(detail["machine"]["pid"])[1] / 1024)
    print(f"private memory of a child that has answered: {sorted(private)[count // 2]:.0f} MiB")
    for child in (*children, sandbox):
        gateway.delete_sandbox(child)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="20,200,1000,2000")
    parser.add_argument("--children", type=int, default=16)
    arguments = parser.parse_args()
    gateway = Gateway("--pool-size", "0", "--log-level", "debug")
    try:
        print("                        parent      ------ child ------            pause and resume")
        print(
            " array   written     stands still  called  answered vs native   pause    resume "
            "vs native  on disk | migrate   back  vs ours   its file"
        )
        print(
            "   MiB       MiB         ms         s         s                   s        s"
            "                MiB |       s       s               MiB"
        )
        for mib in map(int, arguments.sizes.split(",")):
            bench_size(gateway, mib)
        bench_children(gateway, arguments.children)
    finally:
        gateway.remove()


if __name__ == "__main__":
    main()
