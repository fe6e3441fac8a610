"""POST /execute {detach_after}: cells that go on as jobs, in real microVMs."""

import os
import signal
import time

import requests
from support.gateway import Gateway
from support.jobs import (
    COUNTING,
    NOT_OUTPUT,
    WAITING,
    check_counting,
    detach,
    end,
    job,
    text_of,
    wait_for,
)
from test_cli import cellblock


def stdout(gateway, sandbox: str, code: str, **options) -> str:
    run = gateway.execute(code, sandbox=sandbox, **options)
    assert run.error is None, run.lines
    return run.stdout.strip()


def adopt(gateway, sandbox: str, job_id: str) -> requests.Response:
    return gateway.request("POST", f"/sandboxes/{sandbox}/adopt", json={"job": job_id})


def forget(gateway, job_id: str) -> None:
    assert gateway.request("DELETE", f"/jobs/{job_id}").status_code == 204


def test_a_long_cell_goes_on_as_a_job_and_its_sandbox_answers_at_once(gateway, sandbox):
    stdout(gateway, sandbox, "before = 'kept'")
    lines, told = detach(gateway, COUNTING, sandbox=sandbox)
    assert not [line for line in lines if line["type"] == "error"]
    # The caller's sandbox is free, and what the cell had done by then is there.
    assert stdout(gateway, sandbox, "print(before, step > 0)") == "kept True"
    running = job(gateway, told["job_id"])
    assert running["state"] == "running" and running["ended_at"] is None
    assert running["sandbox_id"] == told["sandbox_id"] != sandbox
    assert running["origin_sandbox_id"] == sandbox
    assert running["detached_from"] == told["position"]
    # What the caller got is how the job's output begins.
    seen = [line for line in lines if line["type"] not in NOT_OUTPUT]
    assert running["outputs"][: len(seen)] == seen
    end(gateway, told["sandbox_id"])
    ended = wait_for(gateway, told["job_id"])
    assert ended["state"] == "succeeded" and ended["error"] is None
    assert ended["outputs"][-1] == {"type": "end_of_execution"}
    check_counting(text_of(ended["outputs"]))
    assert ended["started_at"] < ended["created_at"] < ended["ended_at"] < ended["sandbox_until"]
    forget(gateway, told["job_id"])
    assert gateway.request("GET", f"/jobs/{told['job_id']}").status_code == 404
    assert gateway.request("GET", f"/sandboxes/{told['sandbox_id']}").status_code == 404


def test_a_cell_that_ends_in_time_is_no_job(gateway, sandbox):
    run = gateway.execute("print(6 * 7)", sandbox=sandbox, detach_after=30)
    assert run.stdout == "42\n" and not run.of("detached") and run.error is None


def test_a_flood_is_let_go_of_without_a_gap(gateway, sandbox):
    code = "for i in range(20000): print('step', i)\nprint('ended after', i + 1)"
    lines, told = detach(gateway, code, sandbox=sandbox, after=0.3)
    ended = wait_for(gateway, told["job_id"])
    check_counting(text_of(ended["outputs"]))
    mine = text_of(lines)
    assert text_of(ended["outputs"]).startswith(mine)
    forget(gateway, told["job_id"])


def test_a_jobs_error_and_artifacts_are_told(gateway, sandbox):
    code = (
        f"import pandas as pd\ndisplay(pd.DataFrame({{'early': [1]}}))\n{WAITING}"
        "display(pd.DataFrame({'late': range(100_000)}))\nraise ValueError('no')"
    )
    _, told = detach(gateway, code, sandbox=sandbox, after=1)
    end(gateway, told["sandbox_id"])
    ended = wait_for(gateway, told["job_id"])
    assert ended["state"] == "failed"
    assert ended["error"]["name"] == "ValueError" and ended["error"]["value"] == "no"
    assert "ValueError" in ended["error"]["traceback"]
    tables = [artifact for artifact in ended["artifacts"] if artifact["kind"] == "table"]
    assert len(tables) == 2, ended["artifacts"]
    rows = gateway.request("GET", tables[1]["url"] + "/rows?offset=99999").json()
    assert rows["rows"] == [[99999]]
    assert {artifact["execution_id"] for artifact in tables} == {ended["execution_id"]}
    # A table of a job may be larger than what a line carries: it was fetched from its sandbox.
    assert stdout(gateway, sandbox, "print('still here')") == "still here"
    forget(gateway, told["job_id"])


def test_a_job_that_is_deleted_while_it_runs_is_cancelled(gateway, sandbox):
    _, told = detach(gateway, COUNTING, sandbox=sandbox)
    forget(gateway, told["job_id"])
    ended = wait_for(gateway, told["job_id"])
    assert ended["state"] == "cancelled" and ended["error"]["name"] == "Interrupted"
    assert gateway.request("GET", f"/sandboxes/{told['sandbox_id']}").status_code == 404
    refused = adopt(gateway, sandbox, told["job_id"])
    assert refused.status_code == 404, refused.text
    forget(gateway, told["job_id"])


def test_a_cells_deadline_holds_for_its_job(gateway, sandbox):
    _, told = detach(gateway, COUNTING, sandbox=sandbox, timeout=4)
    ended = wait_for(gateway, told["job_id"])
    assert ended["state"] == "failed" and ended["error"]["name"] == "ExecutionTimeout"
    forget(gateway, told["job_id"])


def test_a_jobs_state_can_be_adopted_in_place(gateway, sandbox):
    headers = {"E2b-Sandbox-Id": sandbox}
    second = gateway.request("POST", "/contexts", json={}, headers=headers).json()["id"]
    before = gateway.request("GET", "/contexts", headers=headers).json()
    stdout(gateway, sandbox, "who = 'second'", context_id=second)
    stdout(gateway, sandbox, "data = [1]; open('notes', 'w').write('early')")
    _, told = detach(
        gateway, COUNTING + "data.append(step); open('notes', 'w').write('late')", sandbox=sandbox
    )
    running = adopt(gateway, sandbox, told["job_id"])
    assert running.status_code == 409 and "still running" in running.json()["message"]
    stdout(gateway, sandbox, "data = 'lost by the adoption'")
    end(gateway, told["sandbox_id"])
    wait_for(gateway, told["job_id"])
    adopted = adopt(gateway, sandbox, told["job_id"])
    assert adopted.status_code == 200 and adopted.json()["sandboxID"] == sandbox
    look = "print(len(data), data[1] == step > 0, open('notes').read())"
    assert stdout(gateway, sandbox, look) == "2 True late"
    assert stdout(gateway, sandbox, "print(who)", context_id=second) == "second"
    assert gateway.request("GET", "/contexts", headers=headers).json() == before
    assert job(gateway, told["job_id"])["adopted_by"] == sandbox
    assert gateway.request("GET", f"/sandboxes/{told['sandbox_id']}").status_code == 404
    again = adopt(gateway, sandbox, told["job_id"])
    assert again.status_code == 409 and "already" in again.json()["message"]
    forget(gateway, told["job_id"])
    assert stdout(gateway, sandbox, "print(len(data))") == "2"


def test_a_cell_that_ignores_interrupts_costs_its_own_sandbox_the_kernel_and_says_so(
    gateway, sandbox
):
    code = (
        "import signal, time, pathlib\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "print('on', flush=True)\n"
        "while not pathlib.Path('enough').exists(): time.sleep(0.05)\nprint('off')"
    )
    lines, told = detach(gateway, code, sandbox=sandbox)
    errors = [line for line in lines if line["type"] == "error"]
    assert [error["name"] for error in errors] == ["ContextRestarting"]
    assert stdout(gateway, sandbox, "print('pathlib' in globals())") == "False"
    end(gateway, told["sandbox_id"])
    ended = wait_for(gateway, told["job_id"])
    assert text_of(ended["outputs"]) == "on\noff\n" and ended["state"] == "succeeded"
    forget(gateway, told["job_id"])


def test_an_llm_is_told_that_its_cell_goes_on(gateway, sandbox):
    response = gateway.request(
        "POST",
        "/execute",
        json={"code": "print('early')\n" + COUNTING, "detach_after": 0.5, "view": "llm"},
        headers={"E2b-Sandbox-Id": sandbox},
    )
    assert response.status_code == 200
    (found,) = [entry for entry in gateway.request("GET", "/jobs?state=running").json()]
    assert f"still running, as job `{found['id']}`" in response.text
    assert "early" in response.text
    forget(gateway, found["id"])
    wait_for(gateway, found["id"])
    forget(gateway, found["id"])


def test_the_program_lets_go_of_a_cell_and_adopts_what_it_came_to(gateway, sandbox):
    code = WAITING + "print('done')\nbest = 7"
    begun = cellblock(gateway, "exec", "--sandbox", sandbox, "--detach-after", "0.5", code)
    assert begun.returncode == 0, begun.stderr
    (found,) = gateway.request("GET", "/jobs?state=running").json()
    assert found["id"] in begun.stdout + begun.stderr
    early = cellblock(gateway, "jobs", "adopt", found["id"])
    assert early.returncode == 1 and "still running" in early.stderr
    end(gateway, found["sandbox_id"])
    wait_for(gateway, found["id"])
    shown = cellblock(gateway, "jobs", "get", found["id"])
    assert (shown.returncode, shown.stdout) == (0, "done\n"), shown.stderr
    adopted = cellblock(gateway, "jobs", "adopt", found["id"])
    assert adopted.stdout.strip() == sandbox, adopted.stderr
    assert stdout(gateway, sandbox, "print(best)") == "7"
    assert found["id"] in cellblock(gateway, "jobs", "ls").stdout
    assert cellblock(gateway, "jobs", "rm", found["id"]).returncode == 0
    assert found["id"] not in cellblock(gateway, "jobs", "ls").stdout


def test_what_is_asked_wrongly_is_refused(gateway, sandbox):
    headers = {"E2b-Sandbox-Id": sandbox}
    webhook = {"url": "https://hooks.example.org", "secret": "0123456789abcdef"}
    for body, status in (
        ({"detach_after": 0}, 422),
        ({"detach_after": -1}, 422),
        ({"detach_after": "soon"}, 422),
        ({"detach_after": 1e9}, 422),
        ({"webhook": webhook}, 422),
        ({"detach_after": 5, "webhook": {"url": "ftp://x", "secret": "0123456789abcdef"}}, 422),
        ({"detach_after": 5, "webhook": {**webhook, "url": "http://127.0.0.1/"}}, 403),
        ({"detach_after": 5, "webhook": {**webhook, "url": "http://169.254.169.254/"}}, 403),
        ({"detach_after": 5, "email": "nobody"}, 422),
        ({"detach_after": 5, "email": "someone@example.org"}, 501),
    ):
        refused = gateway.request("POST", "/execute", json={"code": "1", **body}, headers=headers)
        assert refused.status_code == status, (body, refused.status_code, refused.text)
    for method, path in (
        ("GET", "/jobs/nosuch"),
        ("DELETE", "/jobs/nosuch"),
        ("GET", "/jobs/nosuch/stream"),
    ):
        assert gateway.request(method, path).status_code == 404
    assert adopt(gateway, sandbox, "nosuch").status_code == 404
    assert adopt(gateway, "nosuch", "nosuch").status_code == 404
    assert gateway.request("POST", f"/sandboxes/{sandbox}/adopt", json={}).status_code == 400


def test_jobs_are_bounded_and_kept_over_a_restart():
    first = Gateway("--pool-size", "0", "--jobs-max", "1")
    try:
        sandbox = first.create_sandbox(timeout=600)
        lines, told = detach(first, COUNTING, sandbox=sandbox)
        # No room for another: it says so, and goes on as it was.
        code = "import time\nprint('on', flush=True)\ntime.sleep(2)\nprint('off')"
        run = first.execute(code, sandbox=sandbox, detach_after=0.5)
        assert run.stdout == "on\noff\n" and run.error is None
        (failed,) = run.of("detach_failed")
        assert "jobs_max" in failed["reason"]
        metrics = first.request("GET", "/metrics").text
        assert "cellblock_jobs_running 1" in metrics
        assert "cellblock_detach_failures_total 1" in metrics
        first.stop()
        after = Gateway("--pool-size", "0", state=first.state)
        try:
            found = job(after, told["job_id"])
            assert found["state"] == "failed" and found["error"]["name"] == "SandboxGone"
            assert found["outputs"][-1] == {"type": "end_of_execution"}
            assert text_of(found["outputs"]).startswith(text_of(lines))
            assert adopt(after, "nosuch", told["job_id"]).status_code == 404
            forget(after, told["job_id"])
            assert after.request("GET", "/jobs").json() == []
        finally:
            after.remove()
    finally:
        first.remove()


def test_a_job_whose_machine_ends_while_no_gateway_is_there_leaves_what_it_had_shown():
    first = Gateway("--pool-size", "0")
    try:
        sandbox = first.create_sandbox(timeout=600)
        _, told = detach(first, COUNTING, sandbox=sandbox)
        seen = wait_for(
            first, told["job_id"], lambda found: found["output_bytes"] > 2 * told["position"]
        )
        machine = first.request("GET", f"/sandboxes/{told['sandbox_id']}").json()["machine"]
        first.process.kill()
        first.process.wait()
        os.kill(machine["pid"], signal.SIGKILL)
        after = Gateway("--pool-size", "0", state=first.state)
        try:
            found = job(after, told["job_id"])
            assert found["state"] == "failed" and found["error"]["name"] == "SandboxGone"
            assert text_of(found["outputs"]).startswith(text_of(seen["outputs"]))
            assert found["outputs"][-1] == {"type": "end_of_execution"}
        finally:
            after.remove()
    finally:
        first.remove()


def test_a_jobs_sandbox_is_deleted_when_its_time_is_over():
    gateway = Gateway("--pool-size", "0", "--job-keep-s", "1")
    try:
        sandbox = gateway.create_sandbox(timeout=600)
        _, told = detach(gateway, WAITING, sandbox=sandbox)
        end(gateway, told["sandbox_id"])
        wait_for(gateway, told["job_id"])
        deadline = time.monotonic() + 60
        path = f"/sandboxes/{told['sandbox_id']}"
        while gateway.request("GET", path).status_code != 404:
            assert time.monotonic() < deadline
        refused = adopt(gateway, sandbox, told["job_id"])
        assert refused.status_code == 404 and "not kept any more" in refused.json()["message"]
    finally:
        gateway.remove()
