"""Contexts: made, listed, restarted, interrupted, deleted; executions queue in order."""

import threading
import time

import requests


def headers(sandbox):
    return {"E2b-Sandbox-Id": sandbox}


def make_context(gateway, sandbox, **body):
    response = gateway.request("POST", "/contexts", json=body, headers=headers(sandbox))
    assert response.status_code == 200, response.text
    return response.json()


def test_a_context_has_variables_and_a_directory_of_its_own(gateway, sandbox):
    gateway.execute("x = 1", sandbox=sandbox)
    context = make_context(gateway, sandbox, cwd="/tmp")
    assert context["language"] == "python" and context["cwd"] == "/tmp"
    run = gateway.execute(
        "import os; print(os.getcwd(), 'x' in globals())", sandbox=sandbox, context_id=context["id"]
    )
    assert run.stdout == "/tmp False\n"


def test_contexts_are_listed_in_the_order_in_which_they_were_made(gateway, sandbox):
    first = make_context(gateway, sandbox)
    second = make_context(gateway, sandbox)
    listed = [c["id"] for c in gateway.request("GET", "/contexts", headers=headers(sandbox)).json()]
    assert listed[-2:] == [first["id"], second["id"]]
    assert len(listed) == 3


def test_a_restart_forgets_variables_and_keeps_directory_environment_and_files(gateway):
    sandbox = gateway.create_sandbox(timeout=300, envVars={"TEAM": "blue"})
    context = make_context(gateway, sandbox, cwd="/tmp")
    gateway.execute("x = 1; open('f', 'w').write('f')", sandbox=sandbox, context_id=context["id"])
    restarted = gateway.request(
        "POST", f"/contexts/{context['id']}/restart", headers=headers(sandbox)
    )
    assert restarted.status_code == 200 and restarted.json() is None
    run = gateway.execute(
        "import os; print('x' in globals(), os.getcwd(), os.environ['TEAM'], open('f').read())",
        sandbox=sandbox,
        context_id=context["id"],
    )
    assert run.stdout == "False /tmp blue f\n", run.lines
    gateway.delete_sandbox(sandbox)


def test_the_environment_of_a_sandbox_is_in_its_first_kernel_too(gateway):
    sandbox = gateway.create_sandbox(timeout=300, envVars={"TEAM": 'it\'s "blue"'})
    assert (
        gateway.execute("import os; print(os.environ['TEAM'])", sandbox=sandbox).stdout
        == 'it\'s "blue"\n'
    )
    assert (
        gateway.execute("import os; os.system('echo $TEAM')", sandbox=sandbox).stdout
        == 'it\'s "blue"\n'
    )
    gateway.delete_sandbox(sandbox)


def test_an_interrupt_ends_the_running_cell_with_keyboard_interrupt(gateway, sandbox):
    context = gateway.request("GET", "/contexts", headers=headers(sandbox)).json()[0]
    run = []
    for line in gateway.stream(
        "print('on', flush=True)\nimport time; time.sleep(300)", sandbox=sandbox
    ):
        run.append(line)
        if line["type"] == "stdout":
            response = gateway.request(
                "POST", f"/contexts/{context['id']}/interrupt", headers=headers(sandbox)
            )
            assert response.status_code == 200
    errors = [line for line in run if line["type"] == "error"]
    assert [error["name"] for error in errors] == ["KeyboardInterrupt"]
    assert gateway.execute("1 + 1", sandbox=sandbox).text == "2"


def test_executions_on_one_context_run_in_the_order_in_which_they_came(gateway, sandbox):
    first = gateway.stream(
        "order = []\nprint('on', flush=True)\nimport time; time.sleep(3)\norder.append(1)",
        sandbox=sandbox,
    )
    for line in first:
        if line["type"] == "stdout":
            break
    results = {}

    def run(number):
        results[number] = gateway.execute(f"order.append({number}); print(order)", sandbox=sandbox)

    threads = []
    for number in (2, 3):
        thread = threading.Thread(target=run, args=(number,))
        thread.start()
        threads.append(thread)
        wait_until_queued(gateway, sandbox, number)
    for _ in first:
        pass
    for thread in threads:
        thread.join(timeout=60)
    assert results[2].stdout == "[1, 2]\n"
    assert results[3].stdout == "[1, 2, 3]\n"


def wait_until_queued(gateway, sandbox, count):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        detail = gateway.request("GET", f"/sandboxes/{sandbox}").json()
        if detail["executions"] >= count:
            return
    raise AssertionError(f"{count} executions never queued: {detail}")


def test_a_queued_execution_gets_keepalives_and_can_be_taken_back(gateway, sandbox):
    first = gateway.stream("print('on', flush=True)\nimport time; time.sleep(9)", sandbox=sandbox)
    for line in first:
        if line["type"] == "stdout":
            break
    queued = gateway.stream("ran = True", sandbox=sandbox)
    assert next(queued)["type"] == "keepalive"
    queued.close()
    for _ in first:
        pass
    assert gateway.execute("print('ran' in globals())", sandbox=sandbox).stdout == "False\n"


def test_a_deleted_context_is_gone_and_the_default_comes_back(gateway, sandbox):
    context = gateway.request("GET", "/contexts", headers=headers(sandbox)).json()[0]
    gateway.execute("x = 1", sandbox=sandbox)
    assert (
        gateway.request(
            "DELETE", f"/contexts/{context['id']}", headers=headers(sandbox)
        ).status_code
        == 200
    )
    missing = gateway.request(
        "POST",
        "/execute",
        json={"code": "1", "context_id": context["id"]},
        headers=headers(sandbox),
    )
    assert missing.status_code == 404
    assert missing.text == f"Context {context['id']} not found"
    assert gateway.execute("print('x' in globals())", sandbox=sandbox).stdout == "False\n"


def test_an_unknown_language_is_told_what_there_is(gateway, sandbox):
    response = gateway.request(
        "POST", "/contexts", json={"language": "cobol"}, headers=headers(sandbox)
    )
    assert response.status_code >= 400
    assert "python" in response.text


def test_a_directory_that_cannot_be_entered_is_the_callers_error(gateway, sandbox):
    for cwd, reason in (
        ("/nope", "No such file"),
        ("/etc/hostname", "Not a directory"),
        ("/root", "Permission denied"),
    ):
        response = gateway.request("POST", "/contexts", json={"cwd": cwd}, headers=headers(sandbox))
        assert response.status_code == 400, response.text
        assert cwd in response.text and reason in response.text


def test_a_context_whose_directory_was_removed_restarts_at_home(gateway, sandbox):
    gateway.execute("import os; os.mkdir('/tmp/short-lived')", sandbox=sandbox)
    context = make_context(gateway, sandbox, cwd="/tmp/short-lived")
    gateway.execute("import os; os.rmdir('/tmp/short-lived')", sandbox=sandbox)
    url = f"/contexts/{context['id']}/restart"
    assert gateway.request("POST", url, headers=headers(sandbox)).status_code == 200
    run = gateway.execute(
        "import os; print(os.getcwd() == os.path.expanduser('~'))",
        sandbox=sandbox,
        context_id=context["id"],
    )
    assert run.stdout == "True\n", run.lines


def test_a_request_without_a_sandbox_uses_the_callers_default_one(gateway):
    gateway.execute("default_mark = 5")
    assert gateway.execute("default_mark").text == "5"
    assert isinstance(gateway.session, requests.Session)
