"""The gateway may die: its sandboxes live on, the next one goes on with them, no line is lost."""

import json
import os
import signal
import subprocess
import time

import pytest
from support.jobs import NOT_OUTPUT, detach, job, wait_for
from support.mortal import Caller, Mortal, is_alive, numbers_in, start_time

COUNTING = """
import time
for number in range({count}):
    print(number, flush=True)
    time.sleep({pause})
counted = number + 1
"""


@pytest.fixture
def mortal():
    """Gateways over one state folder; at the end no machine and no run folder may be left."""
    gateways = Mortal()
    yield gateways
    gateways.remove()


def pid_of(mortal: Mortal, sandbox: str) -> int:
    return mortal.gateway.request("GET", f"/sandboxes/{sandbox}").json()["machine"]["pid"]


def test_sandboxes_live_on_with_all_that_they_were(mortal):
    first = mortal.gateway.create_sandbox(
        timeout=900, metadata={"who": "me"}, envVars={"COLOUR": "blue"}
    )
    second = mortal.gateway.create_sandbox(timeout=600)
    mortal.gateway.execute("x = [1, 2, 3]; open('kept.txt', 'w').write('here')", sandbox=first)
    mortal.gateway.execute("x = 'another'", sandbox=second)
    context = mortal.gateway.request(
        "POST", "/contexts", json={"cwd": "/tmp"}, headers={"E2b-Sandbox-Id": first}
    ).json()["id"]
    mortal.gateway.execute("y = 7", sandbox=first, context_id=context)
    before = mortal.gateway.request("GET", f"/sandboxes/{first}").json()
    contexts = mortal.gateway.request("GET", "/contexts", headers={"E2b-Sandbox-Id": first}).json()

    gateway = mortal.restart()

    after = gateway.request("GET", f"/sandboxes/{first}").json()
    for field in ("sandboxID", "metadata", "startedAt", "endAt", "machine"):
        assert after[field] == before[field], field
    listed = gateway.request("GET", "/contexts", headers={"E2b-Sandbox-Id": first}).json()
    assert listed == contexts
    names = {item["sandboxID"] for item in gateway.request("GET", "/sandboxes").json()}
    assert names == {first, second}
    seen = gateway.execute(
        "import os; print(x, open('kept.txt').read(), os.environ['COLOUR'])", sandbox=first
    )
    assert seen.stdout == "[1, 2, 3] here blue\n"
    assert gateway.execute("x", sandbox=second).text == "another"
    assert (
        gateway.execute("import os; (y, os.getcwd())", sandbox=first, context_id=context).text
        == "(7, '/tmp')"
    )


def test_an_adopted_sandbox_can_be_forked_paused_and_kept(mortal):
    sandbox = mortal.gateway.create_sandbox(timeout=900)
    mortal.gateway.execute("x = 41", sandbox=sandbox)
    gateway = mortal.restart()
    gateway.execute("x += 1", sandbox=sandbox)
    answer = gateway.request("POST", f"/sandboxes/{sandbox}/fork", json={"count": 1})
    assert answer.status_code < 300, answer.text
    child = json.dumps(answer.json())
    listed = [item["sandboxID"] for item in gateway.request("GET", "/sandboxes").json()]
    children = [name for name in listed if name != sandbox]
    assert len(children) == 1 and children[0] in child
    assert gateway.execute("x", sandbox=children[0]).text == "42"
    assert gateway.request("POST", f"/sandboxes/{sandbox}/pause").status_code < 300
    gateway = mortal.restart()
    assert gateway.execute("x", sandbox=sandbox).text == "42"
    assert gateway.execute("x + 1", sandbox=children[0]).text == "43"


def test_requests_that_name_no_sandbox_find_theirs_again(mortal):
    mortal.gateway.execute("kept = 'yes'")
    assert mortal.restart().execute("kept").text == "yes"


def test_a_running_cell_goes_on_and_each_line_comes_once(mortal):
    sandbox = mortal.gateway.create_sandbox(timeout=900)
    code = COUNTING.format(count=400, pause=0.02)
    caller = Caller(mortal.gateway, code, sandbox)
    execution, lines = caller.id, caller.read(30)
    for _ in range(3):
        mortal.restart()
        reader = mortal.follow(execution, len(lines))
        for _ in range(20):
            lines.append(next(reader))
        reader.close()
    lines.extend(mortal.follow(execution, len(lines)))
    assert numbers_in(lines) == list(range(400))
    assert lines[-1]["type"] == "end_of_execution"
    assert [line for line in lines if line["type"] == "error"] == []
    assert mortal.gateway.execute("counted", sandbox=sandbox).text == "400"
    # From the beginning, from the middle, from the end: always the same lines.
    whole = list(mortal.follow(execution, 0))
    assert whole == lines
    assert list(mortal.follow(execution, 100)) == lines[100:]


def test_what_is_said_and_done_while_no_gateway_is_there_is_told_later(mortal):
    sandbox = mortal.gateway.create_sandbox(timeout=900)
    code = "import time\nprint('begun', flush=True)\ntime.sleep(1.5)\n" + (
        "from IPython.display import display, Markdown\n"
        "for n in range(3000): print(n)\n"
        "display(Markdown('**shown**'))\n"
        "6 * 7"
    )
    caller = Caller(mortal.gateway, code, sandbox)
    execution, lines = caller.id, caller.read(2)
    mortal.kill()
    time.sleep(4)  # the cell ends in these seconds
    mortal.start()
    lines.extend(mortal.follow(execution, len(lines)))
    assert numbers_in(lines) == list(range(3000))
    results = [line for line in lines if line["type"] == "result"]
    assert [line.get("markdown") or line.get("text") for line in results] == ["**shown**", "42"]
    assert lines[-1]["type"] == "end_of_execution"


def test_queued_cells_run_after_the_one_that_runs(mortal):
    sandbox = mortal.gateway.create_sandbox(timeout=900)
    first = Caller(mortal.gateway, COUNTING.format(count=60, pause=0.05), sandbox)
    lines = first.read(3)
    second = Caller(mortal.gateway, "print(counted)", sandbox)
    assert mortal.gateway.request("GET", f"/executions/{second.id}").json()["state"] == "queued"
    mortal.restart()
    lines.extend(mortal.follow(first.id, len(lines)))
    assert numbers_in(lines) == list(range(60))
    assert numbers_in(list(mortal.follow(second.id, 0))) == [60]


def test_a_kernel_that_dies_meanwhile_is_replaced_and_its_cell_ends_so(mortal):
    sandbox = mortal.gateway.create_sandbox(timeout=900)
    code = "import os, time\nprint('on', flush=True)\ntime.sleep(1)\nos.kill(os.getpid(), 9)"
    caller = Caller(mortal.gateway, code, sandbox)
    execution, lines = caller.id, caller.read(2)
    mortal.kill()
    time.sleep(3)  # it dies in these seconds
    mortal.start()
    lines.extend(mortal.follow(execution, len(lines)))
    errors = [line["name"] for line in lines if line["type"] == "error"]
    assert errors == ["KernelDied"]
    assert mortal.gateway.execute("1 + 1", sandbox=sandbox).text == "2"


def test_a_client_that_lost_its_connection_comes_back_for_the_rest(mortal):
    sandbox = mortal.gateway.create_sandbox(timeout=900)
    code = COUNTING.format(count=80, pause=0.05)
    caller = Caller(mortal.gateway, code, sandbox, on_disconnect="go_on")
    lines = caller.read(5)
    caller.leave()
    lines.extend(mortal.follow(caller.id, len(lines)))
    assert numbers_in(lines) == list(range(80))
    # Without a word about it the cell is interrupted, and its stream says so.
    caller = Caller(mortal.gateway, code, sandbox)
    lines = caller.read(5)
    caller.leave()
    lines.extend(mortal.follow(caller.id, len(lines)))
    seen = numbers_in(lines)
    assert seen == list(range(len(seen))) and len(seen) < 80
    assert [line["name"] for line in lines if line["type"] == "error"] == ["Interrupted"]


def test_an_execution_of_the_callers_own_name_is_found_by_it_and_never_begun_twice(mortal):
    sandbox = mortal.gateway.create_sandbox(timeout=900)
    code = "import os, time; print('once', flush=True)\n"
    code += "while not os.path.exists('go'): time.sleep(0.05)"
    body = {"code": code, "execution_id": "my-run_1", "on_disconnect": "go_on"}
    headers = {"E2b-Sandbox-Id": sandbox}

    def start(**options):
        return mortal.gateway.request("POST", "/execute", json=body, headers=headers, **options)

    with start(stream=True) as head:
        assert head.headers["X-Execution-Id"] == "my-run_1"  # ... which may be lost on its way
        again = start()
        assert again.status_code == 409 and "GET /executions/my-run_1/stream" in again.text
    mortal.kill()
    mortal.start()
    assert start().status_code == 409
    mortal.gateway.request("PUT", f"/sandboxes/{sandbox}/files/go", data=b"").raise_for_status()
    lines = mortal.follow("my-run_1", 0)
    assert "".join(line["text"] for line in lines if line["type"] == "stdout") == "once\n"
    assert start().status_code == 409, "one that has ended was begun again"
    for wrong in ("", "../x", "a" * 65, "a b"):
        answer = mortal.gateway.request(
            "POST", "/execute", json={"code": "1", "execution_id": wrong}, headers=headers
        )
        assert answer.status_code == 422 and "execution_id" in answer.text, wrong


def test_unknown_and_foreign_executions_are_404(mortal):
    for path in ("/executions/nonsense", "/executions/nonsense/stream", "/executions/_/stream"):
        assert mortal.gateway.request("GET", path).status_code == 404, path
    escape = "/executions/..%2Fx/stream"  # no such path is ever looked at
    assert mortal.gateway.request("GET", escape).status_code == 400
    execution = mortal.gateway.request("POST", "/execute", json={"code": "1"})
    name = execution.headers["X-Execution-Id"]
    answer = mortal.gateway.request("GET", f"/executions/{name}/stream?from=-1")
    assert answer.status_code == 400


def test_what_cannot_be_adopted_is_freed_and_the_log_says_why(mortal):
    good = mortal.gateway.create_sandbox(timeout=900)
    names = ["manifest", "note", "replaced"]
    victims = {name: mortal.gateway.create_sandbox(timeout=900) for name in names}
    pids = {name: pid_of(mortal, sandbox) for name, sandbox in victims.items()}
    mortal.kill()
    folders = {
        json.loads(path.read_text())["pid"]: path.parent
        for path in mortal.state.glob("run/*/manifest.json")
    }
    processes = {name: (pid, start_time(pid)) for name, pid in pids.items()}
    (folders[pids["manifest"]] / "manifest.json").write_text('{"version": 1, "id"')
    (folders[pids["note"]] / "note").write_text("[]")
    # Its QEMU has ended, and its manifest names another program that really runs.
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        path = folders[pids["replaced"]] / "manifest.json"
        manifest = json.loads(path.read_text())
        os.kill(manifest["pid"], signal.SIGKILL)
        manifest["pid"] = stranger.pid
        manifest["start_time_ticks"] = start_time(stranger.pid)
        path.write_text(json.dumps(manifest))
        gateway = mortal.start()
        assert stranger.poll() is None
        for name in names:
            assert not is_alive(*processes[name]), name
            assert not folders[pids[name]].exists(), name
            assert gateway.request("GET", f"/sandboxes/{victims[name]}").status_code == 404
        freed = {event["id"]: event["why"] for event in mortal.events("left_machine_freed")}
        assert set(freed) == {folders[pids[name]].name for name in names}
        assert all(freed.values())
        assert gateway.execute("1 + 1", sandbox=good).text == "2"
    finally:
        stranger.kill()
        stranger.wait()


def test_an_upgrade_keeps_sandboxes_and_a_plain_stop_ends_them(mortal):
    sandbox = mortal.gateway.create_sandbox(timeout=900)
    mortal.gateway.execute("x = 5", sandbox=sandbox)
    caller = Caller(mortal.gateway, COUNTING.format(count=100, pause=0.05), sandbox)
    execution, lines = caller.id, caller.read(5)
    mortal.stop(signal.SIGUSR2)
    assert mortal.alive()
    mortal.start()
    lines.extend(mortal.follow(execution, len(lines)))
    assert numbers_in(lines) == list(range(100))
    assert mortal.gateway.execute("x", sandbox=sandbox).text == "5"
    mortal.stop(signal.SIGTERM)
    assert not mortal.alive()
    assert mortal.start().request("GET", f"/sandboxes/{sandbox}").status_code == 404


def test_a_job_goes_on_and_its_output_has_no_gap(mortal):
    sandbox = mortal.gateway.create_sandbox(timeout=900)
    lines, told = detach(mortal.gateway, COUNTING.format(count=200, pause=0.05), sandbox=sandbox)
    gateway = mortal.restart()
    assert job(gateway, told["job_id"])["state"] == "running"
    # What the caller had got is the beginning of it, under the same position.
    gateway = mortal.restart()
    ended = wait_for(gateway, told["job_id"])
    assert ended["state"] == "succeeded" and ended["detached_from"] == told["position"]
    assert numbers_in(ended["outputs"]) == list(range(200))
    seen = [line for line in lines if line["type"] not in NOT_OUTPUT]
    assert ended["outputs"][: len(seen)] == seen
    adopted = gateway.request("POST", f"/sandboxes/{sandbox}/adopt", json={"job": told["job_id"]})
    assert adopted.status_code == 200, adopted.text
    assert gateway.execute("counted", sandbox=sandbox).text == "200"
