"""Three hundred executions over twenty sandboxes, in random order, leave nothing behind."""

import os
import random
from pathlib import Path

import pytest

from support.gateway import Gateway

EXECUTIONS = 300
SANDBOXES = 20
ALIVE_AT_MOST = 5
SEED = 20260101


@pytest.fixture(scope="module")
def gateway():
    """A gateway of its own without a warm pool: what is counted is then the test's alone."""
    running = Gateway("--pool-size", "0")
    yield running
    running.remove()


def qemus_below(pid: int) -> list[int]:
    """QEMU processes among the descendants of `pid`."""
    parents: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        name, rest = stat[stat.index("(") + 1 : stat.rindex(")")], stat[stat.rindex(")") + 2 :]
        parents.setdefault(int(rest.split()[1]), []).append(int(entry.name))
        names[int(entry.name)] = name
    found, todo = [], [pid]
    while todo:
        for child in parents.get(todo.pop(), []):
            todo.append(child)
            if names[child].startswith("qemu"):
                found.append(child)
    return found


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def resident_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def run_folders(gateway) -> list[str]:
    return sorted(path.name for path in gateway.state.glob("run/*") if path.is_dir())


def cycle(gateway, choose: random.Random, alive: dict[str, int]) -> None:
    """One execution somewhere, with the sandboxes before and after it that chance asks for."""
    if not alive or (len(alive) < ALIVE_AT_MOST and choose.random() < 0.1):
        alive[gateway.create_sandbox(timeout=1200)] = 0
    sandbox = choose.choice(sorted(alive))
    alive[sandbox] += 1
    run = gateway.execute(
        "try:\n    n += 1\nexcept NameError:\n    n = 1\nprint(n)", sandbox=sandbox
    )
    assert run.stdout == f"{alive[sandbox]}\n", run.lines


def test_a_soak_leaves_no_process_descriptor_folder_or_memory_behind(gateway):
    choose = random.Random(SEED)
    pid = gateway.process.pid
    first = gateway.create_sandbox(timeout=60)
    gateway.execute("1", sandbox=first)
    gateway.delete_sandbox(first)
    before = (qemus_below(pid), open_files(pid), run_folders(gateway))
    assert before[0] == [] and before[2] == []
    memory_before = resident_kib(pid)

    alive: dict[str, int] = {}
    made = 0
    for step in range(EXECUTIONS):
        had = len(alive)
        cycle(gateway, choose, alive)
        made += max(len(alive) - had, 0)
        # As many deletions as keep the number of sandboxes on its way to SANDBOXES.
        if alive and made * EXECUTIONS >= (step + 1) * SANDBOXES and choose.random() < 0.3:
            gone = choose.choice(sorted(alive))
            gateway.delete_sandbox(gone)
            del alive[gone]
    while made < SANDBOXES:
        alive[gateway.create_sandbox(timeout=60)] = 0
        made += 1
    for sandbox in sorted(alive):
        gateway.delete_sandbox(sandbox)

    assert gateway.request("GET", "/sandboxes").json() == []
    # A keep-alive connection of ours may have been reopened: two more are the clients' own noise.
    assert open_files(pid) <= before[1] + 2
    assert qemus_below(pid) == []
    assert run_folders(gateway) == []
    assert resident_kib(pid) - memory_before < 48 * 1024


def test_the_gateway_takes_its_machines_along_when_it_stops():
    gateway = Gateway("--pool-size", "1")
    try:
        sandbox = gateway.create_sandbox(timeout=600)
        gateway.execute("1", sandbox=sandbox)
        machines = [p for p in gateway.state.glob("run/*")]
        assert machines
        pid = gateway.request("GET", f"/sandboxes/{sandbox}").json()["machine"]["pid"]
        assert gateway.stop() == 0
        assert not Path(f"/proc/{pid}").exists()
        assert run_folders(gateway) == []
    finally:
        gateway.remove()
