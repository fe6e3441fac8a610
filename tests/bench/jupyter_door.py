#!/usr/bin/env python3
"""What our WebSocket costs, beside jupyter_server's and beside no door at all.

    python3 tests/bench/jupyter_door.py [--runs 30]

A door's price is what it adds to the kernel behind it: ours to the guest's kernel, asked inside its
guest; jupyter_server's to an ipykernel of this machine, asked over its own sockets. How fast a door
itself is shows where no kernel limits it: a client that comes back gets what was kept for it.
Prints medians and ratios; asserts nothing, because speed depends on the machine. Needs what
tests/bench/sandboxes.py needs.
"""

import argparse
import statistics
import sys
import tempfile
import time
import uuid
from contextlib import ExitStack, closing
from pathlib import Path

import websocket

sys.path.insert(0, str(Path(__file__).resolve().parent))
from sandboxes import Native, inside_guest, row, timed  # noqa: E402
from support.gateway import Gateway  # noqa: E402
from support.jupyter_server import JupyterServer  # noqa: E402
from support.kernels import (  # noqa: E402
    V1,
    KernelSocket,
    channels_url,
    create_kernel,
    execute_request,
    is_reply_to,
)
from zmq_door import Door, Socket, bench_outputs  # noqa: E402

# Both within what our journal keeps (8 MiB, with headers).
KEPT = {
    "1 KB": ("for _ in range(2500): display({'text/plain': 'x' * 1000}, raw=True)", 2.5),
    "1 MB": ("for _ in range(6): display({'text/plain': 'x' * 1_000_000}, raw=True)", 6),
}
SOCKETS, SOCKET_KERNELS = 1000, 8


def bench_round_trip(ways: dict, guest: list[float], runs: int) -> None:
    print("\n1. Round trip of `1`")
    medians = {}
    for name, way in ways.items():
        way.run("1")
        medians[name] = row(name, [timed(lambda: way.run("1")) for _ in range(runs)], "s")
    inside = row("guest's kernel, asked inside the guest", guest, "s")
    theirs = medians["local kernel, jupyter_server"] - medians["local kernel, direct"]
    print(f"{'added by jupyter_server':44} {theirs * 1000:10.3f} ms")
    for name in ("guest's kernel, our WebSocket", "guest's kernel, our ZeroMQ door"):
        added = medians[name] - inside
        print(f"{'added by ' + name:44} {added * 1000:10.3f} ms {theirs / added:8.2f}x")


def take_what_was_kept(server, kernel: str, code: str) -> float:
    """Seconds in which a client that comes back gets a cell's outputs, up to the reply."""
    session = uuid.uuid4().hex
    with KernelSocket(server, kernel, session, v1=True) as socket:
        cell = socket.send(execute_request("import time; time.sleep(0.5)\n" + code))
        socket.receive()  # the cell is the kernel's; the rest comes while the client is away
    url = f"/api/kernels/{kernel}"
    while server.request("GET", url).json()["execution_state"] != "idle":
        time.sleep(0.1)
    started = time.perf_counter()
    with KernelSocket(server, kernel, session, v1=True) as socket:
        while True:
            message = socket.receive()
            if is_reply_to(message, cell):
                return time.perf_counter() - started


def bench_doors(doors: dict, runs: int) -> None:
    for name, (code, megabytes) in KEPT.items():
        print(f"\n2. Kept outputs of {name} each, MB a second             ratio: this / first")
        first = None
        for door_name, (server, kernel) in doors.items():
            speeds = [megabytes / take_what_was_kept(server, kernel, code) for _ in range(runs)]
            middle = statistics.median(speeds)
            ratio = f"{middle / first:8.2f}x" if first else ""
            first = first or middle
            print(f"{door_name:44} {middle:10.2f} MB/s {ratio}", flush=True)


def resident_mib(gateway: Gateway) -> float:
    status = Path(f"/proc/{gateway.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def bench_sockets(gateway: Gateway) -> None:
    print(f"\n3. {SOCKETS} open WebSockets on {SOCKET_KERNELS} kernels")
    kernels = [create_kernel(gateway) for _ in range(SOCKET_KERNELS)]
    before = resident_mib(gateway)
    with ExitStack() as open_sockets:
        for i in range(SOCKETS):
            url = channels_url(gateway, kernels[i % SOCKET_KERNELS], f"client-{i}")
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
    parser.add_argument("--runs", type=int, default=30)
    runs = parser.parse_args().runs
    with ExitStack() as stack:
        gateway = Gateway("--pool-size", "0")
        stack.callback(gateway.remove)
        print(f"accelerator: {gateway.request('GET', '/version').json().get('accelerator')}")
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(3)]
        server = JupyterServer(None, folders[0])
        stack.callback(server.stop)
        front = JupyterServer(gateway, folders[1])
        stack.callback(front.stop)
        local = create_kernel(server)
        sandbox = gateway.create_sandbox(timeout=3600)
        headers = {"E2b-Sandbox-Id": sandbox}
        guest = gateway.request("GET", "/contexts", headers=headers).json()[0]["id"]
        through_front = create_kernel(front)
        ways = {
            "local kernel, direct": stack.enter_context(Native()),
            "local kernel, jupyter_server": Socket(server, local),
            "guest's kernel, our WebSocket": Socket(gateway, guest),
            "guest's kernel, our ZeroMQ door": Door(gateway, guest, str(folders[2])),
            "guest's kernel, jupyter_server, our WebSocket": Socket(front, through_front, v1=False),
        }
        bench_round_trip(ways, inside_guest(gateway, sandbox, runs), runs)
        few = max(3, runs // 10)
        bench_outputs(ways, few)
        for way in list(ways.values())[1:]:
            way.close()
        bench_doors({"jupyter_server": (server, local), "ours": (gateway, guest)}, few)
        front.request("DELETE", f"/api/kernels/{through_front}")
        bench_sockets(gateway)


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print(f"\n{time.monotonic() - started:.0f} s")
