"""POST /sandboxes/{id}/fork: copies of a running sandbox, in real microVMs."""

import json
import threading
import time

import requests

RANDOM = """
import json, os, random, secrets, ssl, time, uuid
import numpy
print(json.dumps({
    'random': random.random(), 'numpy': float(numpy.random.rand()), 'uuid4': str(uuid.uuid4()),
    'urandom': os.urandom(16).hex(), 'ssl': ssl.RAND_bytes(16).hex(),
    'secrets': secrets.token_hex(16), 'hostname': os.uname().nodename,
    'machine': open('/etc/machine-id').read().strip(), 'time': time.time(),
}))
"""
CLOCK_ERROR_S = 0.050


def fork(gateway, sandbox: str, **body) -> list[str]:
    response = gateway.request("POST", f"/sandboxes/{sandbox}/fork", json=body)
    assert response.status_code == 201, (response.status_code, response.text)
    children = response.json()
    assert all("sandbox" in child for child in children), children
    return [child["sandbox"]["sandboxID"] for child in children]


def stdout(gateway, sandbox: str, code: str, **options) -> str:
    run = gateway.execute(code, sandbox=sandbox, **options)
    assert run.error is None, run.lines
    return run.stdout.strip()


def contexts(gateway, sandbox: str) -> list[dict]:
    return gateway.request("GET", "/contexts", headers={"E2b-Sandbox-Id": sandbox}).json()


def delete(gateway, *sandboxes: str) -> None:
    for sandbox in sandboxes:
        gateway.delete_sandbox(sandbox)


def test_children_have_variables_and_files_and_the_parent_is_untouched(gateway, sandbox):
    stdout(
        gateway,
        sandbox,
        "import pandas as pd\nsecret = 42\nframe = pd.DataFrame({'a': range(1000)})\n"
        "open('notes.txt', 'w').write('before')",
    )
    left, right = fork(gateway, sandbox, count=2)
    look = "print(secret, int(frame.a.sum()), open('notes.txt').read())"
    for each in (left, right, sandbox):
        assert stdout(gateway, each, look) == "42 499500 before"
    change = "secret += {}; open('notes.txt', 'w').write('{}')"
    for amount, each in enumerate((left, right, sandbox), 1):
        stdout(gateway, each, change.format(amount, each))
    for amount, each in enumerate((left, right, sandbox), 1):
        assert stdout(gateway, each, look) == f"{42 + amount} 499500 {each}"
    # A child may have children.
    (grandchild,) = fork(gateway, left)
    assert stdout(gateway, grandchild, look) == f"43 499500 {left}"
    delete(gateway, left, right, grandchild)


def test_children_differ_in_randomness_and_identity_and_know_the_time(gateway, sandbox):
    stdout(gateway, sandbox, RANDOM)
    children = fork(gateway, sandbox, count=4)
    answers = []
    for each in (*children, sandbox):
        answers.append(json.loads(stdout(gateway, each, RANDOM)))
        clocks = []
        for _ in range(5):
            before = time.time()
            stamp = float(stdout(gateway, each, "print(repr(time.time()))"))
            after = time.time()
            clocks.append(max(before - stamp, stamp - after, 0.0))
        assert min(clocks) <= CLOCK_ERROR_S, clocks
    for name in answers[0]:
        values = [answer[name] for answer in answers]
        assert len(set(values)) == len(answers), (name, values)
    delete(gateway, *children)


def test_a_parents_context_ids_name_the_same_kernels_in_its_children(gateway, sandbox):
    headers = {"E2b-Sandbox-Id": sandbox}
    made = gateway.request("POST", "/contexts", json={"cwd": "/tmp"}, headers=headers)
    assert made.status_code == 200, made.text
    second = made.json()["id"]
    stdout(gateway, sandbox, "who = 'first'")
    stdout(gateway, sandbox, "who = 'second'", context_id=second)
    first = next(c["id"] for c in contexts(gateway, sandbox) if c["id"] != second)
    (child,) = fork(gateway, sandbox)
    assert len(contexts(gateway, child)) == 2
    assert stdout(gateway, child, "print(who)", context_id=first) == "first"
    assert stdout(gateway, child, "import os; print(who, os.getcwd())", context_id=second) == (
        "second /tmp"
    )
    assert stdout(gateway, child, "print(who)") == "first"
    # Kernels of a child die, restart and are made like any other.
    stdout(gateway, child, "x = 1", context_id=second)
    died = gateway.execute("import os; os.kill(os.getpid(), 9)", sandbox=child, context_id=second)
    assert died.error["name"] == "KernelDied"
    assert stdout(gateway, child, "print('x' in globals())", context_id=second) == "False"
    third = gateway.request("POST", "/contexts", json={}, headers={"E2b-Sandbox-Id": child}).json()
    assert stdout(gateway, child, "print(1)", context_id=third["id"]) == "1"
    assert stdout(gateway, sandbox, "print(who)", context_id=second) == "second"
    delete(gateway, child)


LOOP = """
import numpy as np, pathlib
total, steps = np.zeros(100), 0
print('running', flush=True)
while not pathlib.Path('enough').exists():
    total += np.random.rand(100) @ np.eye(100)
    steps += 1
    if steps % 50 == 0: print(steps, flush=True)
print('ended', flush=True)
"""


def test_a_fork_in_the_middle_of_a_numpy_loop_lets_both_sides_go_on(gateway, sandbox):
    lines, running = [], threading.Event()

    def run() -> None:
        for line in gateway.stream(LOOP, sandbox=sandbox):
            lines.append(line)
            if line["type"] == "stdout" and "running" in line["text"]:
                running.set()

    worker = threading.Thread(target=run)
    worker.start()
    assert running.wait(60)
    (child,) = fork(gateway, sandbox)
    stop = f"/sandboxes/{{}}/files/enough"
    put = gateway.request("PUT", stop.format(child), data=b"x")
    assert put.status_code == 201, put.text
    # Its cell ends; what is asked next waits for it.
    in_child = stdout(gateway, child, "print(steps > 0, float(total.sum()) > 0)")
    assert in_child == "True True"
    assert worker.is_alive()
    gateway.request("PUT", stop.format(sandbox), data=b"x")
    worker.join(60)
    text = "".join(line["text"] for line in lines if line["type"] == "stdout")
    assert text.rstrip().endswith("ended")
    counts = [int(word) for word in text.split() if word.isdigit()]
    assert counts == list(range(50, 50 * len(counts) + 1, 50))  # nothing lost, nothing doubled
    assert [line["type"] for line in lines].count("end_of_execution") == 1
    delete(gateway, child)


def test_the_parent_of_a_fork_goes_on_streaming_a_flood_without_a_gap(gateway, sandbox):
    code = "for i in range(20000): print(i)"
    collected = []
    printing = threading.Event()

    def run() -> None:
        for line in gateway.stream(code, sandbox=sandbox):
            if line["type"] == "stdout":
                collected.append(line["text"])
                printing.set()

    worker = threading.Thread(target=run)
    worker.start()
    assert printing.wait(60)
    children = []
    while worker.is_alive() and len(children) < 3:
        children += fork(gateway, sandbox)
    worker.join(120)
    assert "".join(collected) == "".join(f"{i}\n" for i in range(20000))
    for child in children:
        assert stdout(gateway, child, "print(i)") == "19999"
    delete(gateway, *children)


def test_forking_what_does_not_exist_or_too_often_is_refused(gateway, sandbox):
    assert gateway.request("POST", "/sandboxes/nosuch/fork", json={}).status_code == 404
    for count in (0, 101, "two"):
        refused = gateway.request("POST", f"/sandboxes/{sandbox}/fork", json={"count": count})
        assert refused.status_code == 400, refused.text


def test_a_gigabyte_of_live_arrays_is_forked(gateway):
    sandbox = gateway.create_sandbox(timeout=600, memoryMB=2048)
    stdout(gateway, sandbox, "import numpy as np\nbig = np.arange(1 << 27, dtype=np.int64)")
    (child,) = fork(gateway, sandbox)
    check = "print(int(big[0]), int(big[-1]), int(big[1 << 26]), big.nbytes)"
    expected = f"0 {(1 << 27) - 1} {1 << 26} {1 << 30}"
    assert stdout(gateway, child, check) == expected
    stdout(gateway, child, "big[0] = 7")
    assert stdout(gateway, sandbox, check) == expected
    delete(gateway, child, sandbox)


def test_a_client_that_holds_the_parent_is_not_told_of_the_child(gateway, sandbox):
    (child,) = fork(gateway, sandbox)
    listed = gateway.request("GET", "/v2/sandboxes").json()
    assert {child, sandbox} <= {entry["sandboxID"] for entry in listed}
    delete(gateway, child)
    assert stdout(gateway, sandbox, "print('here')") == "here"
    late = requests.post(
        gateway.url + "/execute",
        json={"code": "1"},
        headers={"E2b-Sandbox-Id": child, "Authorization": f"Bearer {gateway.token}"},
        timeout=60,
    )
    assert late.status_code == 502
