#!/usr/bin/env python3
"""What the ZeroMQ door adds to a round trip and to outputs, with one kernel behind every way to it.

    python3 tests/bench/zmq_door.py [--runs 50]

Prints medians and ratios; asserts nothing, because speed depends on the machine. Needs what
tests/bench/sandboxes.py needs.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jupyter_client import BlockingKernelClient

sys.path.insert(0, str(Path(__file__).resolve().parent))
from sandboxes import Native, inside_guest, row, timed  # noqa: E402
from support.gateway import BINARY, Gateway  # noqa: E402
from support.kernels import (  # noqa: E402
    KernelSocket,
    execute_request,
    is_reply_to,
    is_status,
)

TIMEOUT_S = 120
OUTPUTS = {
    "1 KB": ("for _ in range(500): display({'text/plain': 'x' * 1000}, raw=True)", 0.5),
    "1 MB": ("for _ in range(10): display({'text/plain': 'x' * 1_000_000}, raw=True)", 10),
}


def start_relay(gateway: Gateway, kernel: str, path: Path) -> subprocess.Popen:
    """`cellblock connect`, which has written its connection file and serves."""
    relay = subprocess.Popen(
        [
            *[str(BINARY), "connect", kernel, "-o", str(path)],
            *["--gateway", gateway.url, "--state-dir", str(gateway.state)],
        ],
        stdout=subprocess.PIPE,
    )
    assert relay.stdout.readline(), "the relay ended"
    return relay


class Door:
    """A kernel of the gateway over ZeroMQ: what `cellblock connect` makes of it."""

    def __init__(self, gateway: Gateway, kernel: str, folder: str):
        path = Path(folder, "kernel.json")
        self.relay = start_relay(gateway, kernel, path)
        self.client = BlockingKernelClient(connection_file=str(path))
        self.client.load_connection_file()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=TIMEOUT_S)

    def run(self, code: str) -> None:
        reply = self.client.execute_interactive(code, output_hook=lambda _: None, timeout=TIMEOUT_S)
        assert reply["content"]["status"] == "ok", reply["content"]

    def close(self) -> None:
        self.client.stop_channels()
        self.relay.terminate()
        self.relay.wait()


class Socket:
    """The same kernel over a WebSocket. A jupyter_server in front of a gateway offers no v1, and
    jupyter_server may send the reply before the last outputs: a cell ends when both were there."""

    def __init__(self, server, kernel: str, *, v1: bool = True):
        self.socket = KernelSocket(server, kernel, v1=v1)

    def run(self, code: str) -> None:
        cell = self.socket.send(execute_request(code))
        replied = idle = False
        while not (replied and idle):
            message = self.socket.receive()
            replied = replied or is_reply_to(message, cell)
            ours = message["parent_header"].get("msg_id") == cell
            idle = idle or (ours and is_status(message, "idle"))

    def close(self) -> None:
        self.socket.close()


def bench_round_trip(ways: dict, guest: list[float], runs: int) -> None:
    print("\nRound trip of `1`                                      ratio: native / this")
    native = None
    medians = {}
    for name, way in ways.items():
        way.run("1")
        medians[name] = row(name, [timed(lambda: way.run("1")) for _ in range(runs)], "s", native)
        native = native or medians[name]
    alone = row("the same kernel asked inside the guest", guest, "s", native)
    for name in list(ways)[1:]:
        print(f"{'added by: ' + name:44} {(medians[name] - alone) * 1000:10.3f} ms")


def bench_outputs(ways: dict, runs: int) -> None:
    for name, (code, megabytes) in OUTPUTS.items():
        print(f"\nOutputs of {name} each, MB a second                       ratio: this / native")
        native = None
        for way_name, way in ways.items():
            way.run(code)
            speeds = [megabytes / timed(lambda: way.run(code)) for _ in range(runs)]
            middle = statistics.median(speeds)
            ratio = f"{middle / native:8.2f}x" if native else ""
            native = native or middle
            print(f"{way_name:44} {middle:10.2f} MB/s {ratio}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    runs = parser.parse_args().runs
    gateway = Gateway("--pool-size", "0")
    try:
        print(f"accelerator: {gateway.request('GET', '/version').json().get('accelerator')}")
        sandbox = gateway.create_sandbox(timeout=3600)
        headers = {"E2b-Sandbox-Id": sandbox}
        [context] = gateway.request("GET", "/contexts", headers=headers).json()
        guest = inside_guest(gateway, sandbox, runs)
        with tempfile.TemporaryDirectory() as folder, Native() as native:
            door = Door(gateway, context["id"], folder)
            socket = Socket(gateway, context["id"])
            ways = {"native ipykernel": native, "WebSocket": socket, "ZeroMQ door": door}
            bench_round_trip(ways, guest, runs)
            bench_outputs(ways, max(3, runs // 10))
            door.close()
            socket.close()
    finally:
        gateway.remove()


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print(f"\n{time.monotonic() - started:.0f} s")
