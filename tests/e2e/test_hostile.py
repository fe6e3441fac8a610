"""Cells that do harm: each ends for its caller with one typed error in time, the gateway and the
other sandboxes go on."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from support.gateway import Execution
from support.harms import HARMS, Harm, suffer


@pytest.fixture
def bystander(gateway):
    sandbox_id = gateway.create_sandbox(timeout=600)
    gateway.execute("mark = 'untouched'", sandbox=sandbox_id)
    yield sandbox_id
    gateway.delete_sandbox(sandbox_id)


def assert_still_serves(gateway, bystander):
    assert gateway.request("GET", "/health").status_code == 200
    assert gateway.execute("print(mark)", sandbox=bystander).stdout == "untouched\n"


def test_a_segfault_ends_the_kernel_and_not_the_sandbox(gateway, sandbox, bystander):
    gateway.execute("open('kept.txt', 'w').write('kept')", sandbox=sandbox)
    suffer(gateway, sandbox, HARMS["segfault"])
    assert gateway.execute("print(open('kept.txt').read())", sandbox=sandbox).stdout == "kept\n"
    assert_still_serves(gateway, bystander)


def test_kill_everything_ends_the_kernel_and_not_the_sandbox(gateway, sandbox, bystander):
    suffer(gateway, sandbox, HARMS["kill everything"])
    assert gateway.execute("1 + 1", sandbox=sandbox).text == "2"
    assert_still_serves(gateway, bystander)


def test_kill_everything_as_root_ends_at_most_the_sandbox(gateway, sandbox, bystander):
    suffer(gateway, sandbox, HARMS["kill everything as root"])
    assert_still_serves(gateway, bystander)


def test_a_memory_hog_is_told_its_peak_and_its_limit(gateway, bystander):
    harm = HARMS["memory hog"]
    sandbox_id = gateway.create_sandbox(timeout=300, **harm.sandbox)
    run = suffer(gateway, sandbox_id, harm)
    assert "limit 512 MiB" in run.error["value"], run.error
    assert "peak" in run.error["value"]
    assert gateway.execute("1 + 1", sandbox=sandbox_id).text == "2"
    assert_still_serves(gateway, bystander)
    gateway.delete_sandbox(sandbox_id)


@pytest.mark.parametrize("bomb", ["fork bomb", "shell's fork bomb"])
def test_a_fork_bomb_is_held_by_its_sandbox(gateway, sandbox, bystander, bomb):
    suffer(gateway, sandbox, HARMS[bomb])
    assert gateway.execute("1 + 1", sandbox=sandbox).text == "2"
    assert_still_serves(gateway, bystander)


def test_many_processes_and_threads_of_honest_work_are_let_be(gateway, sandbox):
    code = (
        "import multiprocessing, threading\n"
        "with multiprocessing.Pool(24) as pool: print(sum(pool.map(abs, range(100))))\n"
        "held = threading.Event()\n"
        "threads = [threading.Thread(target=held.wait) for _ in range(150)]\n"
        "for thread in threads: thread.start()\n"
        "held.set()\nfor thread in threads: thread.join()\nprint(len(threads))"
    )
    run = gateway.execute(code, sandbox=sandbox, timeout=120)
    assert run.stdout == "4950\n150\n", run.lines[-3:]


def test_removing_every_file_destroys_that_sandbox_only(gateway, sandbox, bystander):
    gateway.execute(
        "import subprocess\n"
        "subprocess.run(['sudo', 'rm', '-rf', '/', '--no-preserve-root'], capture_output=True)",
        sandbox=sandbox,
        timeout=60,
    )
    assert_still_serves(gateway, bystander)
    fresh = gateway.create_sandbox(timeout=60)
    assert (
        gateway.execute(
            "import os; print(os.path.exists('/usr/bin/python3'))", sandbox=fresh
        ).stdout
        == "True\n"
    )
    gateway.delete_sandbox(fresh)


def test_a_full_disk_is_an_ordinary_error_of_the_cell(gateway, sandbox, bystander):
    run = gateway.execute(
        "with open('/home/user/big', 'wb') as f:\n"
        "    while True:\n        f.write(b'x' * (8 << 20))",
        sandbox=sandbox,
        timeout=120,
    )
    assert run.error["name"] == "OSError", run.error
    assert "No space left" in run.error["value"]
    assert (
        gateway.execute("import os; os.remove('/home/user/big'); 1 + 1", sandbox=sandbox).text
        == "2"
    )
    assert_still_serves(gateway, bystander)


def qemu_processes(gateway) -> dict[int, str]:
    """The QEMUs whose command line names this gateway's run folder, or whose parents do."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "qemu-system" in command:
            found[int(entry.name)] = command
    return found


def test_a_killed_qemu_is_told_as_a_gone_sandbox(gateway, bystander):
    sandbox_id = gateway.create_sandbox(timeout=300)
    detail = gateway.request("GET", f"/sandboxes/{sandbox_id}").json()
    pid = detail["machine"]["pid"]
    assert "qemu" in Path(f"/proc/{pid}/comm").read_text()
    lines = gateway.stream(
        "print('up', flush=True)\nimport time; time.sleep(600)", sandbox=sandbox_id
    )
    run = []
    for line in lines:
        run.append(line)
        if line["type"] == "stdout":
            os.kill(pid, signal.SIGKILL)
    assert "stdout" in [line["type"] for line in run]
    errors = [line for line in run if line["type"] == "error"]
    assert [error["name"] for error in errors] == ["SandboxGone"]
    assert gateway.request("GET", f"/sandboxes/{sandbox_id}").status_code in (404, 410, 502)
    assert_still_serves(gateway, bystander)


def test_an_endless_cell_ends_by_its_timeout(gateway, sandbox):
    endless = Harm("while True: pass", frozenset({"ExecutionTimeout"}))
    run = suffer(gateway, sandbox, endless, timeout=1)
    assert "1 s" in run.error["value"]
    assert gateway.execute("1 + 1", sandbox=sandbox).text == "2"


def test_a_cell_that_swallows_its_interrupt_has_run_out_of_time_all_the_same(gateway, sandbox):
    code = "try:\n    while True: pass\nexcept KeyboardInterrupt: pass\nprint('on'); kept = 1"
    run = suffer(gateway, sandbox, Harm(code, frozenset({"ExecutionTimeout"})), timeout=1)
    assert run.stdout == "on\n"
    assert gateway.execute("kept", sandbox=sandbox).text == "1"


def test_a_cell_that_ignores_interrupts_still_ends(gateway, sandbox):
    code = "while True:\n    try:\n        while True: pass\n    except KeyboardInterrupt: pass"
    suffer(gateway, sandbox, Harm(code, frozenset({"ExecutionTimeout"})), timeout=1)
    assert gateway.execute("1 + 1", sandbox=sandbox).text == "2"


def resident_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def test_a_flood_of_output_is_capped_kept_and_does_not_grow_the_gateway(
    gateway, sandbox, bystander
):
    before = resident_kib(gateway.process.pid)
    run = gateway.execute("while True: print('x' * 1000)", sandbox=sandbox, timeout=8)
    truncated = run.of("truncated")
    assert len(truncated) == 1
    assert truncated[0]["inline_bytes"] <= 1 << 20
    assert len(run.stdout) == truncated[0]["inline_bytes"]
    assert truncated[0]["total_bytes"] > truncated[0]["inline_bytes"]
    kept = gateway.request("GET", f"/artifacts/{truncated[0]['artifact_id']}")
    assert len(kept.content) == truncated[0]["kept_bytes"]
    assert set(kept.content[:2000]) == {ord("x"), ord("\n")}
    assert resident_kib(gateway.process.pid) - before < 64 * 1024
    assert run.error["name"] == "ExecutionTimeout"
    assert_still_serves(gateway, bystander)


def test_one_huge_string_is_capped_and_counted(gateway, sandbox):
    before = resident_kib(gateway.process.pid)
    run = gateway.execute("print('y' * 100_000_000)", sandbox=sandbox, timeout=120)
    assert run.error is None, run.error
    truncated = run.of("truncated")[0]
    assert truncated["total_bytes"] == 100_000_001
    assert truncated["kept_bytes"] == 100_000_001
    assert resident_kib(gateway.process.pid) - before < 64 * 1024


def execute_at_once(gateway, code: str, sandbox: str) -> Execution:
    """The answer read as a whole: line by line, a client library takes minutes for such lines."""
    headers = {"E2b-Sandbox-Id": sandbox}
    answer = gateway.request("POST", "/execute", json={"code": code}, headers=headers)
    return Execution([json.loads(line) for line in answer.content.splitlines()])


def test_a_huge_result_is_cut_kept_and_counted(gateway, sandbox):
    run = execute_at_once(gateway, "'z' * 3_000_000", sandbox)
    [cut] = run.of("truncated")
    assert cut["field"] == "text"
    assert len(run.text) == cut["inline_bytes"] == 1 << 20
    assert cut["total_bytes"] == cut["kept_bytes"] == 3_000_000
    kept = gateway.request("GET", f"/artifacts/{cut['artifact_id']}")
    assert kept.content == b"z" * 3_000_000
    assert kept.headers["Content-Type"].startswith("text/plain")


def test_many_huge_displays_do_not_all_go_inline(gateway, sandbox):
    code = (
        "from IPython.display import HTML, display\n"
        "for i in range(6): display(HTML(str(i) * 5_000_000))"
    )
    run = execute_at_once(gateway, code, sandbox)
    assert run.error is None, run.error
    inline = [result for result in run.results if "html" in result]
    cuts = run.of("truncated")
    assert len(inline) == 3 and len(cuts) == 3
    assert {cut["field"] for cut in cuts} == {"html"}
    kept = gateway.request("GET", f"/artifacts/{cuts[-1]['artifact_id']}")
    assert len(kept.content) == 5_000_000


def test_a_client_that_goes_away_interrupts_its_cell(gateway, sandbox):
    lines = gateway.stream(
        "import time\nprint('on', flush=True)\n"
        "try:\n    time.sleep(300)\nexcept KeyboardInterrupt:\n    ended = time.time()",
        sandbox=sandbox,
    )
    for line in lines:
        if line["type"] == "stdout":
            break
    left = time.time()
    lines.close()
    run = gateway.execute("print(ended)", sandbox=sandbox)
    assert run.error is None, run.error
    assert float(run.stdout) - left < 1.5
