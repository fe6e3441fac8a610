#!/usr/bin/env python3
"""What our doors cost, beside jupyter_server's and beside no door at all.

    python3 tests/bench/jupyter_door.py [--runs 300] [--realtime] [--kernels 8]

The same kernel program, a plain process of this host, stands behind every door: behind
jupyter_server, behind ours (bench-native-gateway), behind none. A door's price is what it adds to
the kernel asked at its own sockets. All ways take turns, so that whatever else the machine does
meets all alike, and each has a kernel of its own, which answers nobody else.

Prints medians and ratios; asserts nothing about them, because speed depends on the machine. Needs
cellblock, cellblock-agent and bench-native-gateway (CELLBLOCK_BINARY: the first of them) and the
tools of tests/requirements.txt; for the open sockets also an image and a template. CELLBLOCK_*
variables reach that gateway: 100 kernels need CELLBLOCK_SANDBOXES_MAX=100.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import uuid
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import websocket
from jupyter_client.manager import start_new_kernel

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from native_kernels import (  # noqa: E402
    KERNELSPEC,
    NativeGateway,
    kernel_over_ipc,
    offer_kernelspec,
)
from raw_clients import WebSocketClient, ZmqClient  # noqa: E402
from support.gateway import Gateway  # noqa: E402
from support.jupyter_server import JupyterServer  # noqa: E402
from support.kernels import V1, KernelSocket, channels_url, create_kernel  # noqa: E402
from zmq_door import start_relay  # noqa: E402

# jupyter_server drops outputs past a rate unless it is told not to.
ALL_OUTPUTS = ("--ZMQChannelsWebsocketConnection.limit_rate=False",)

IPYKERNEL = "ipykernel, at its sockets"
OVER_TCP = "the kernel, at its sockets (TCP, signed)"
OVER_IPC = "the kernel, at its sockets (IPC, no key)"
THEIRS = "jupyter_server"
THEIRS_ACKNOWLEDGED = "jupyter_server, client with TCP_QUICKACK"
OUR_WEBSOCKET = "our WebSocket"
OUR_ZEROMQ = "our ZeroMQ door"
# What each door stands before: the nearest to what it really asks.
BASES = {
    THEIRS: OVER_TCP,
    THEIRS_ACKNOWLEDGED: OVER_TCP,
    OUR_WEBSOCKET: OVER_IPC,
    OUR_ZEROMQ: OVER_IPC,
}

REST_S = 0.01  # what the last way's processes still do is not the next one's burden
# Messages, bytes in each. ipykernel drops what is more than 1000 messages ahead.
SIZES = {"1 KB": (500, 1000), "1 MB": (10, 1_000_000)}
# An ordinary cell: what IPython takes for each output is part of it.
DISPLAYS = "for _ in range({count}): display({{'text/plain': 'x' * {size}}}, raw=True)"
# The kernel's thread sends what was made ready before: nothing but the way takes time.
READY = """
def _ready(count, size):
    kernel = get_ipython().kernel
    session, parent, topic = kernel.session, kernel.get_parent(), b"kernel.bench.display_data"
    content = {{"data": {{"text/plain": "x" * size}}, "metadata": {{}}, "transient": {{}}}}
    made = [session.serialize(session.msg("display_data", content, parent=parent), topic)
            for _ in range(count)]
    thread = kernel.iopub_thread
    return lambda: thread.schedule(lambda: [thread._really_send(frames) for frames in made])
_flood = _ready({count}, {size})
"""
# Within what our journal keeps (8 MiB, with headers).
KEPT = {"1 KB": (2500, 1000), "1 MB": (6, 1_000_000)}
SOCKETS = 1000


def threads_below(pid: int) -> list[int]:
    """Of a process and all that it has started, and these."""
    threads = [int(thread) for thread in os.listdir(f"/proc/{pid}/task")]
    for thread in list(threads):
        for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
            threads += threads_below(int(child))
    return threads


def level(realtime: bool) -> None:
    """All ways get one priority: an agent gives its kernels the ordinary one, whatever its own."""
    for thread in threads_below(os.getpid()):
        if realtime:
            os.sched_setscheduler(thread, os.SCHED_RR, os.sched_param(1))
        else:
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, 0))


def connection_of(manager) -> dict:
    info = manager.get_connection_info()
    return {**info, "key": info["key"].decode()}


@contextmanager
def kernel_over_tcp(name: str):
    manager, client = start_new_kernel(kernel_name=name)
    client.stop_channels()
    try:
        yield connection_of(manager)
    finally:
        manager.shutdown_kernel(now=True)


@contextmanager
def door_to(gateway: Gateway, kernel: str, path: Path):
    relay = start_relay(gateway, kernel, path)
    try:
        yield json.loads(path.read_text())
    finally:
        relay.terminate()
        relay.wait()


class Ways:
    """A client on every way, and the two servers; ended with its stack."""

    def __init__(self, stack: ExitStack):
        def folder() -> Path:
            return Path(stack.enter_context(tempfile.TemporaryDirectory()))

        offer_kernelspec(folder())
        self.gateway = NativeGateway()
        stack.callback(self.gateway.remove)
        self.server = JupyterServer(None, folder(), options=ALL_OUTPUTS)
        stack.callback(self.server.stop)
        connections = {
            IPYKERNEL: kernel_over_tcp("python3"),
            OVER_TCP: kernel_over_tcp(KERNELSPEC),
            OVER_IPC: kernel_over_ipc(folder()),
            OUR_ZEROMQ: door_to(
                self.gateway, create_kernel(self.gateway), folder() / "kernel.json"
            ),
        }
        self.clients = {
            name: ZmqClient(stack.enter_context(context)) for name, context in connections.items()
        }
        self.clients[THEIRS] = WebSocketClient(self.server, self.create_at_server())
        self.clients[THEIRS_ACKNOWLEDGED] = WebSocketClient(
            self.server, self.create_at_server(), quick_ack=True
        )
        self.clients[OUR_WEBSOCKET] = WebSocketClient(self.gateway, create_kernel(self.gateway))
        for client in self.clients.values():
            stack.callback(client.close)

    def create_at_server(self) -> str:
        return create_kernel(self.server, name=KERNELSPEC)

    def in_turns(self, runs: int, ask) -> dict[str, list[float]]:
        """`ask(client)` on every way, `runs` times; what it returns."""
        taken: dict[str, list[float]] = {name: [] for name in self.clients}
        for _ in range(runs):
            for name, client in self.clients.items():
                time.sleep(REST_S)
                taken[name].append(ask(client))
        return taken


def bench_round_trip(ways: Ways, rounds: int, in_a_row: int) -> None:
    """In a row the sockets do not rest, as in "Run all": a server that leaves Nagle's algorithm on
    then waits for acknowledgements that clients delay by 40 ms."""

    def ask(client) -> float:
        return statistics.mean(client.ask("1") for _ in range(in_a_row))

    print(f"\n1. Round trip of `1`, {in_a_row} in a row, µs: median of {rounds} (quartiles)")
    ways.in_turns(max(3, rounds // 10), ask)
    taken = ways.in_turns(rounds, ask)
    for name, values in taken.items():
        low, middle, high = (1e6 * quartile for quartile in statistics.quantiles(values, n=4))
        print(f"{name:44} {middle:10.0f} ({low:.0f} to {high:.0f})")
    medians = {name: statistics.median(values) for name, values in taken.items()}
    added = {door: medians[door] - medians[base] for door, base in BASES.items()}
    for door, seconds in added.items():
        ratio = f"{added[THEIRS] / seconds:8.1f}x less" if door != THEIRS else ""
        print(f"{'added by ' + door:50} {seconds * 1e6:10.0f} {ratio}", flush=True)


def bench_outputs(ways: Ways, runs: int) -> None:
    def displayed(client) -> float:
        return client.ask(DISPLAYS.format(count=count, size=size), outputs=count)

    def flooded(client) -> float:
        client.ask(READY.format(count=count, size=size))
        return client.ask("_flood()", outputs=count)

    for what, ask in {"an ordinary cell": displayed, "messages made ready": flooded}.items():
        for name, (count, size) in SIZES.items():
            print(f"\n2. Outputs of {name} each, {what}, MB a second    this / jupyter_server")
            taken = ways.in_turns(runs, ask)
            speed = {way: count * size / 1e6 / statistics.median(s) for way, s in taken.items()}
            for way, megabytes in speed.items():
                ratio = megabytes / speed[THEIRS]
                print(f"{way:44} {megabytes:10.1f} {ratio:8.1f}x", flush=True)


def take_what_was_kept(server, kernel: str, count: int, size: int) -> float:
    """Seconds in which a client that comes back gets a cell's outputs, up to the reply."""
    session = uuid.uuid4().hex
    cell = "import time; time.sleep(0.5)\n" + DISPLAYS.format(count=count, size=size)
    client = WebSocketClient(server, kernel, session)
    asked = client.post(cell)
    client.receive()  # the cell is the kernel's; the rest comes while the client is away
    client.close()
    url = f"/api/kernels/{kernel}"
    while server.request("GET", url).json()["execution_state"] != "idle":
        time.sleep(0.1)
    started = time.perf_counter()
    client = WebSocketClient(server, kernel, session)
    client.await_end(asked, count)
    taken = time.perf_counter() - started
    client.close()
    return taken


def bench_kept(ways: Ways, runs: int) -> None:
    doors = {
        THEIRS: (ways.server, ways.create_at_server()),
        OUR_WEBSOCKET: (ways.gateway, create_kernel(ways.gateway)),
    }
    for name, (count, size) in KEPT.items():
        print(f"\n3. Kept outputs of {name} each, MB a second            this / jupyter_server")
        first = None
        for door, (server, kernel) in doors.items():
            taken = [take_what_was_kept(server, kernel, count, size) for _ in range(runs)]
            speed = count * size / 1e6 / statistics.median(taken)
            first = first or speed
            print(f"{door:44} {speed:10.1f} {speed / first:8.1f}x", flush=True)


def resident_mib(gateway: Gateway) -> float:
    status = Path(f"/proc/{gateway.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def bench_sockets(gateway: Gateway, count: int) -> None:
    """With kernels in microVMs: what the gateway itself holds is the same."""
    print(f"\n4. {SOCKETS} open WebSockets on {count} kernels")
    kernels = [create_kernel(gateway) for _ in range(count)]
    before = resident_mib(gateway)
    with ExitStack() as open_sockets:
        for i in range(SOCKETS):
            url = channels_url(gateway, kernels[i % count], f"client-{i}")
            socket = websocket.create_connection(url, subprotocols=[V1], timeout=60)
            open_sockets.enter_context(closing(socket))
        with_sockets = resident_mib(gateway)
        for kernel in kernels:
            with KernelSocket(gateway, kernel, v1=True) as socket:
                socket.run("print('to all')")
        used = resident_mib(gateway)
    print(f"{'the gateway, without them':44} {before:10.1f} MiB")
    print(f"{'with them':44} {with_sockets:10.1f} MiB")
    print(f"{'after a cell in each kernel':44} {used:10.1f} MiB")
    print(f"{'a WebSocket':44} {(used - before) * 1024 / SOCKETS:10.1f} KiB")
    for kernel in kernels:
        gateway.request("DELETE", f"/api/kernels/{kernel}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument(
        "--realtime", action="store_true", help="before all else that this machine does; as root"
    )
    parser.add_argument("--kernels", type=int, default=8, help="for the open sockets; 0: none")
    options = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    few = max(3, options.runs // 30)
    with ExitStack() as stack:
        ways = Ways(stack)
        level(options.realtime)
        bench_round_trip(ways, options.runs, 1)
        bench_round_trip(ways, few, 30)
        bench_outputs(ways, few)
        bench_kept(ways, few)
    if options.kernels > 0:
        with ExitStack() as stack:
            gateway = Gateway("--pool-size", "0")
            stack.callback(gateway.remove)
            bench_sockets(gateway, options.kernels)


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print(f"\n{time.monotonic() - started:.0f} s, load {os.getloadavg()[0]:.1f}")
