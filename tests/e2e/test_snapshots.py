"""Snapshots: made, listed as a tree, started from, restored in place, deleted."""

import subprocess
import threading

from support.gateway import Gateway


def stdout(gateway, sandbox: str, code: str, **options) -> str:
    run = gateway.execute(code, sandbox=sandbox, **options)
    assert run.error is None, run.lines
    return run.stdout.strip()


def snapshot(gateway, sandbox: str, **body) -> str:
    response = gateway.request("POST", f"/sandboxes/{sandbox}/snapshots", json=body)
    assert response.status_code == 201, (response.status_code, response.text)
    assert response.json()["names"] == ([body["name"]] if "name" in body else [])
    return response.json()["snapshotID"]


def restore(gateway, sandbox: str, target: str) -> None:
    response = gateway.request("POST", f"/sandboxes/{sandbox}/restore", json={"snapshot": target})
    assert response.status_code == 200, (response.status_code, response.text)


def test_new_sandboxes_start_from_a_snapshot_any_number_of_times(gateway, sandbox):
    stdout(gateway, sandbox, "import pandas\nx = {'a': [1, 2]}\nopen('f', 'w').write('file')")
    made = snapshot(gateway, sandbox, name="warmed-up")
    stdout(gateway, sandbox, "x = 'changed later'")
    draws = set()
    for template in (made, "warmed-up"):
        child = gateway.create_sandbox(templateID=template, envVars={"COLOUR": "red"})
        look = "import os; print(x, open('f').read(), os.environ['COLOUR'])"
        assert stdout(gateway, child, look) == "{'a': [1, 2]} file red"
        draws.add(stdout(gateway, child, "import random; print(random.random())"))
        gateway.delete_sandbox(child)
    assert len(draws) == 2
    assert stdout(gateway, sandbox, "print(x)") == "changed later"
    assert gateway.request("DELETE", f"/templates/{made}").status_code == 204


def test_restoring_in_place_keeps_the_ids_and_ends_running_cells(gateway, sandbox):
    headers = {"E2b-Sandbox-Id": sandbox}
    second = gateway.request("POST", "/contexts", json={}, headers=headers).json()["id"]
    before = [c["id"] for c in gateway.request("GET", "/contexts", headers=headers).json()]
    stdout(gateway, sandbox, "x = 1")
    stdout(gateway, sandbox, "y = 10", context_id=second)
    made = snapshot(gateway, sandbox)
    stdout(gateway, sandbox, "x = 2; open('later', 'w').write('x')")
    lines, running = [], threading.Event()

    def run() -> None:
        for line in gateway.stream(
            "print('on', flush=True)\nwhile True: pass", sandbox=sandbox, context_id=second
        ):
            lines.append(line)
            if line["type"] == "stdout":
                running.set()

    worker = threading.Thread(target=run)
    worker.start()
    assert running.wait(60)
    restore(gateway, sandbox, made)
    worker.join(60)
    assert [line["name"] for line in lines if line["type"] == "error"] == ["ContextRestarting"]
    assert stdout(gateway, sandbox, "import os; print(x, os.path.exists('later'))") == "1 False"
    assert stdout(gateway, sandbox, "print(y)", context_id=second) == "10"
    after = [c["id"] for c in gateway.request("GET", "/contexts", headers=headers).json()]
    assert after == before
    gateway.request("DELETE", f"/snapshots/{made}")


def test_snapshots_form_a_tree_that_api_and_program_show(gateway, sandbox):
    root = snapshot(gateway, sandbox, name="root")
    left = snapshot(gateway, sandbox, name="left")
    restore(gateway, sandbox, root)
    right = snapshot(gateway, sandbox, name="right")
    child = gateway.create_sandbox(templateID=left)
    leaf = snapshot(gateway, child)
    parents = {
        entry["snapshotID"]: entry["parentID"]
        for entry in gateway.request("GET", "/snapshots").json()
    }
    assert parents[root] is None
    assert (parents[left], parents[right], parents[leaf]) == (root, root, left)
    of_child = gateway.request("GET", "/snapshots", params={"sandboxID": child}).json()
    assert [entry["snapshotID"] for entry in of_child] == [leaf]
    pages, token = [], ""
    while True:
        page = gateway.request("GET", "/snapshots", params={"limit": 1, "nextToken": token})
        pages += [entry["snapshotID"] for entry in page.json()]
        token = page.headers.get("X-Next-Token", "")
        if not token:
            break
    assert pages[:4] == [leaf, right, left, root]
    shown = cellblock(gateway, "snapshots", "ls")
    assert shown.returncode == 0, shown.stderr
    lines = [line.split("  ")[0] or line for line in shown.stdout.splitlines()]
    text = shown.stdout
    assert f"\n{root}" in text and f"\n  {left}" in text and f"\n    {leaf}" in text, lines
    for each in (root, left, right, leaf):
        assert cellblock(gateway, "snapshots", "rm", each).returncode == 0
    assert gateway.request("GET", f"/snapshots/{root}").status_code == 404
    gateway.delete_sandbox(child)


def cellblock(gateway, *arguments: str) -> subprocess.CompletedProcess:
    from test_cli import cellblock as run

    return run(gateway, *arguments)


def test_the_program_forks_pauses_resumes_and_snapshots(gateway, sandbox):
    stdout(gateway, sandbox, "x = 5")
    forked = cellblock(gateway, "fork", sandbox, "--count", "2")
    assert forked.returncode == 0, forked.stderr
    children = forked.stdout.split()
    assert len(children) == 2
    for child in children:
        assert stdout(gateway, child, "print(x)") == "5"
        gateway.delete_sandbox(child)
    assert cellblock(gateway, "pause", sandbox).returncode == 0
    again = cellblock(gateway, "pause", sandbox)
    assert again.returncode == 1 and "paused already" in again.stderr
    assert cellblock(gateway, "resume", sandbox, "--timeout", "300").returncode == 0
    made = cellblock(gateway, "snapshots", "create", sandbox, "--name", "five").stdout.strip()
    stdout(gateway, sandbox, "x = 6")
    copy = cellblock(gateway, "snapshots", "start", "five", "--on-timeout", "pause").stdout.strip()
    assert stdout(gateway, copy, "print(x)") == "5"
    lifecycle = gateway.request("GET", f"/sandboxes/{copy}").json()["lifecycle"]
    assert lifecycle["onTimeout"] == "pause"
    gateway.delete_sandbox(copy)
    assert cellblock(gateway, "snapshots", "restore", sandbox, "five").returncode == 0
    assert stdout(gateway, sandbox, "print(x)") == "5"
    assert cellblock(gateway, "snapshots", "rm", made).returncode == 0


def test_a_snapshot_that_was_damaged_on_disk_is_refused(gateway, sandbox):
    made = snapshot(gateway, sandbox)
    path = gateway.state / "snapshots" / made / "state"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    refused = gateway.request("POST", "/sandboxes", json={"templateID": made})
    assert refused.status_code == 500
    assert "damaged" in refused.json()["message"]
    stdout(gateway, sandbox, "x = 'still here'")
    refused = gateway.request("POST", f"/sandboxes/{sandbox}/restore", json={"snapshot": made})
    assert refused.status_code == 500
    assert stdout(gateway, sandbox, "print(x)") == "still here"
    gateway.request("DELETE", f"/snapshots/{made}")


def test_snapshots_outlive_their_gateway_and_their_sandbox():
    first = Gateway("--pool-size", "0")
    try:
        sandbox = first.create_sandbox(timeout=300)
        stdout(first, sandbox, "x = 'kept'")
        made = snapshot(first, sandbox, name="kept")
        first.stop()
        after = Gateway("--pool-size", "0", state=first.state)
        try:
            assert after.request("GET", f"/snapshots/{made}").json()["names"] == ["kept"]
            child = after.create_sandbox(templateID="kept")
            assert stdout(after, child, "print(x)") == "kept"
        finally:
            after.remove()
    finally:
        first.remove()


def test_a_snapshot_without_a_name_is_found_by_its_id_only(gateway, sandbox):
    stdout(gateway, sandbox, "secret = 1")
    snapshot(gateway, sandbox)
    fresh = gateway.create_sandbox(templateID="")
    assert stdout(gateway, fresh, "print('secret' in globals())") == "False"
    gateway.delete_sandbox(fresh)
    refused = gateway.request("POST", f"/sandboxes/{sandbox}/restore", json={"snapshot": ""})
    assert refused.status_code == 404, refused.text


def test_a_snapshot_cannot_be_called_like_a_template_or_another_snapshot(gateway, sandbox):
    made = snapshot(gateway, sandbox)
    for name in ("base", "science", "default", "code-interpreter-v1", made, "two\nlines"):
        path = f"/sandboxes/{sandbox}/snapshots"
        refused = gateway.request("POST", path, json={"name": name})
        assert refused.status_code == 400, (name, refused.text)
    gateway.request("DELETE", f"/snapshots/{made}")


def test_what_is_in_a_snapshot_gets_the_memory_that_it_had(gateway):
    large = gateway.create_sandbox(templateID="default", memoryMB=2048, timeout=600)
    small = gateway.create_sandbox(templateID="default", memoryMB=256, timeout=600)
    stdout(gateway, large, "x = bytearray(600_000_000)")
    made = snapshot(gateway, large)
    gateway.delete_sandbox(large)
    copy = gateway.create_sandbox(templateID=made, timeout=600)
    restore(gateway, small, made)
    for sandbox in (copy, small):
        assert stdout(gateway, sandbox, "print(len(x))") == "600000000"
        assert gateway.request("GET", f"/sandboxes/{sandbox}").json()["memoryMB"] == 2048
        gateway.delete_sandbox(sandbox)
    gateway.request("DELETE", f"/snapshots/{made}")
