"""Pause and resume: a paused sandbox costs disk only, and loses nothing."""

import threading
import time

from support.gateway import Gateway


def post(gateway, path: str, expected: int, **body):
    response = gateway.request("POST", path, json=body)
    assert response.status_code == expected, (response.status_code, response.text)
    return response


def stdout(gateway, sandbox: str, code: str, **options) -> str:
    run = gateway.execute(code, sandbox=sandbox, **options)
    assert run.error is None, run.lines
    return run.stdout.strip()


def state(gateway, sandbox: str) -> str:
    return gateway.request("GET", f"/sandboxes/{sandbox}").json()["state"]


def wait_for_state(gateway, sandbox: str, wanted: str) -> None:
    deadline = time.monotonic() + 60
    while state(gateway, sandbox) != wanted:
        assert time.monotonic() < deadline, state(gateway, sandbox)


def test_many_cycles_of_pause_and_resume_lose_nothing(gateway, sandbox):
    headers = {"E2b-Sandbox-Id": sandbox}
    second = gateway.request("POST", "/contexts", json={}, headers=headers).json()["id"]
    before = [c["id"] for c in gateway.request("GET", "/contexts", headers=headers).json()]
    stdout(gateway, sandbox, "history = []")
    stdout(gateway, sandbox, "history = ['other kernel']", context_id=second)
    for cycle in range(4):
        stdout(gateway, sandbox, f"history.append({cycle}); open('f{cycle}', 'w').write('x')")
        post(gateway, f"/sandboxes/{sandbox}/pause", 204)
        assert state(gateway, sandbox) == "paused"
        detail = gateway.request("GET", f"/sandboxes/{sandbox}").json()
        assert "machine" not in detail
        post(gateway, f"/sandboxes/{sandbox}/pause", 409)
        post(gateway, f"/sandboxes/{sandbox}/resume", 201, timeout=300)
        post(gateway, f"/sandboxes/{sandbox}/resume", 409)
        assert stdout(gateway, sandbox, "print(history)") == str(list(range(cycle + 1)))
    assert stdout(gateway, sandbox, "import glob; print(len(glob.glob('f*')))") == "4"
    assert stdout(gateway, sandbox, "print(history)", context_id=second) == "['other kernel']"
    after = [c["id"] for c in gateway.request("GET", "/contexts", headers=headers).json()]
    assert after == before


def test_the_next_request_of_any_kind_resumes_by_itself(gateway, sandbox):
    stdout(gateway, sandbox, "x = 1; open('a', 'w').write('kept')")
    post(gateway, f"/sandboxes/{sandbox}/pause", 204)
    assert stdout(gateway, sandbox, "print(x)") == "1"
    post(gateway, f"/sandboxes/{sandbox}/pause", 204)
    assert gateway.request("GET", f"/sandboxes/{sandbox}/files/a").content == b"kept"
    post(gateway, f"/sandboxes/{sandbox}/pause", 204)
    listed = gateway.request("GET", "/contexts", headers={"E2b-Sandbox-Id": sandbox})
    assert len(listed.json()) == 1
    post(gateway, f"/sandboxes/{sandbox}/pause", 204)
    post(gateway, f"/sandboxes/{sandbox}/connect", 201, timeout=300)
    post(gateway, f"/sandboxes/{sandbox}/connect", 200, timeout=300)


def test_requests_in_the_middle_of_a_pause_are_served(gateway, sandbox):
    stdout(gateway, sandbox, "import os\nx = os.urandom(100_000_000)")  # its pause takes a while
    pausing = threading.Thread(target=post, args=(gateway, f"/sandboxes/{sandbox}/pause", 204))
    answers: list[str] = []

    def ask():
        answers.append(stdout(gateway, sandbox, "print(len(x))"))

    pausing.start()
    asking = [threading.Thread(target=ask) for _ in range(6)]
    for one in asking:
        one.start()
        one.join(0.1)
    for one in (pausing, *asking):
        one.join(120)
    assert answers == ["100000000"] * len(asking)


def test_the_clock_is_right_after_a_pause(gateway, sandbox):
    stdout(gateway, sandbox, "import time")
    post(gateway, f"/sandboxes/{sandbox}/pause", 204)
    post(gateway, f"/sandboxes/{sandbox}/resume", 201)
    clocks = []
    for _ in range(5):
        before = time.time()
        stamp = float(stdout(gateway, sandbox, "print(repr(time.time()))"))
        clocks.append(max(before - stamp, stamp - time.time(), 0.0))
    assert min(clocks) <= 0.050, clocks


def test_a_running_cell_and_its_client_wait_for_the_resume(gateway, sandbox):
    code = (
        "import pathlib\nprint('on', flush=True)\n"
        "while not pathlib.Path('enough').exists(): pass\nprint('off')"
    )
    lines, running = [], threading.Event()

    def run() -> None:
        for line in gateway.stream(code, sandbox=sandbox, timeout=120):
            lines.append(line)
            if line["type"] == "stdout":
                running.set()

    worker = threading.Thread(target=run)
    worker.start()
    assert running.wait(60)
    post(gateway, f"/sandboxes/{sandbox}/pause", 204)
    assert worker.is_alive()
    post(gateway, f"/sandboxes/{sandbox}/resume", 201)
    gateway.request("PUT", f"/sandboxes/{sandbox}/files/enough", data=b"x")
    worker.join(60)
    assert not worker.is_alive()
    # ipykernel sends a print in one piece or in two, as its flushing thread wakes.
    assert "".join(line["text"] for line in lines if line["type"] == "stdout") == "on\noff\n"
    assert not [line for line in lines if line["type"] == "error"]


def test_a_timeout_pauses_instead_of_killing_when_asked_to(gateway):
    sandbox = gateway.create_sandbox(timeout=300, autoPause=True)
    detail = gateway.request("GET", f"/sandboxes/{sandbox}").json()
    assert detail["lifecycle"] == {"autoResume": True, "onTimeout": "pause"}
    stdout(gateway, sandbox, "x = 'kept'")
    post(gateway, f"/sandboxes/{sandbox}/timeout", 204, timeout=0)
    wait_for_state(gateway, sandbox, "paused")
    paused = gateway.request("GET", "/v2/sandboxes", params={"state": "paused"}).json()
    assert sandbox in [entry["sandboxID"] for entry in paused]
    running = gateway.request("GET", "/v2/sandboxes", params={"state": "running"}).json()
    assert sandbox not in [entry["sandboxID"] for entry in running]
    assert stdout(gateway, sandbox, "print(x)") == "kept"
    gateway.delete_sandbox(sandbox)


def test_a_paused_sandbox_can_be_deleted_and_leaves_nothing(gateway):
    sandbox = gateway.create_sandbox(timeout=300)
    post(gateway, f"/sandboxes/{sandbox}/pause", 204)
    assert (gateway.state / "paused" / sandbox).is_dir()
    gateway.delete_sandbox(sandbox)
    deadline = time.monotonic() + 30
    while (gateway.state / "paused" / sandbox).exists():
        assert time.monotonic() < deadline
    assert gateway.request("GET", f"/sandboxes/{sandbox}").status_code == 404
    post(gateway, f"/sandboxes/{sandbox}/resume", 404)


def test_a_paused_sandbox_outlives_its_gateway():
    first = Gateway("--pool-size", "0")
    try:
        sandbox = first.create_sandbox(timeout=300, metadata={"who": "me"})
        headers = {"E2b-Sandbox-Id": sandbox}
        second = first.request("POST", "/contexts", json={}, headers=headers).json()["id"]
        before = [c["id"] for c in first.request("GET", "/contexts", headers=headers).json()]
        stdout(first, sandbox, "x = 'kept'")
        stdout(first, sandbox, "x = 'second'", context_id=second)
        post(first, f"/sandboxes/{sandbox}/pause", 204)
        first.stop()
        after = Gateway("--pool-size", "0", state=first.state)
        try:
            detail = after.request("GET", f"/sandboxes/{sandbox}").json()
            assert (detail["state"], detail["metadata"]) == ("paused", {"who": "me"})
            assert stdout(after, sandbox, "print(x)") == "kept"
            assert stdout(after, sandbox, "print(x)", context_id=second) == "second"
            found = after.request("GET", "/contexts", headers=headers).json()
            assert [c["id"] for c in found] == before
        finally:
            after.remove()
    finally:
        first.remove()


def test_a_state_that_was_damaged_on_disk_is_refused_and_says_so(gateway):
    sandbox = gateway.create_sandbox(timeout=300)
    post(gateway, f"/sandboxes/{sandbox}/pause", 204)
    path = gateway.state / "paused" / sandbox / "state"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    refused = post(gateway, f"/sandboxes/{sandbox}/resume", 500)
    assert "damaged" in refused.json()["message"]
    assert state(gateway, sandbox) == "paused"
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    post(gateway, f"/sandboxes/{sandbox}/resume", 201)
    assert stdout(gateway, sandbox, "print(2)") == "2"
    gateway.delete_sandbox(sandbox)
