"""POST /sandboxes and the rest of the control plane, as E2B's SDKs speak it (v1 and v2)."""

import datetime


def test_create_get_list_and_delete_have_the_documented_shapes(gateway):
    created = gateway.request(
        "POST",
        "/sandboxes",
        json={"templateID": "default", "timeout": 120, "metadata": {"who": "test"}},
    )
    assert created.status_code == 201
    body = created.json()
    for field in ("templateID", "sandboxID", "clientID", "envdVersion"):
        assert isinstance(body[field], str), field
    assert body["domain"] is None or isinstance(body["domain"], str)
    sandbox = body["sandboxID"]
    assert sandbox.isalnum() and sandbox == sandbox.lower()

    detail = gateway.request("GET", f"/sandboxes/{sandbox}").json()
    for field in (
        "startedAt",
        "endAt",
        "cpuCount",
        "memoryMB",
        "diskSizeMB",
        "state",
        "envdVersion",
    ):
        assert field in detail, field
    assert detail["state"] == "running"
    assert detail["metadata"] == {"who": "test"}

    for path in ("/sandboxes", "/v2/sandboxes"):
        listed = gateway.request("GET", path, params={"metadata": "who=test"})
        assert [entry["sandboxID"] for entry in listed.json()] == [sandbox]
    assert gateway.request("GET", "/v2/sandboxes", params={"metadata": "who=other"}).json() == []

    assert gateway.request("DELETE", f"/sandboxes/{sandbox}").status_code == 204
    assert gateway.request("DELETE", f"/sandboxes/{sandbox}").status_code == 404


def test_a_template_that_is_not_there_is_404(gateway):
    for name in ("nope", "../../etc", "science2"):
        refused = gateway.request("POST", "/sandboxes", json={"templateID": name})
        assert refused.status_code == 404, refused.text
        assert name in refused.json()["message"]


def test_version_two_of_create_works_too(gateway):
    created = gateway.request("POST", "/v2/sandboxes", json={"templateID": "default"})
    assert created.status_code == 201
    gateway.delete_sandbox(created.json()["sandboxID"])


def end_of(gateway, sandbox) -> datetime.datetime:
    text = gateway.request("GET", f"/sandboxes/{sandbox}").json()["endAt"]
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def test_a_timeout_is_set_from_now_and_connect_only_extends(gateway, sandbox):
    assert (
        gateway.request("POST", f"/sandboxes/{sandbox}/timeout", json={"timeout": 100}).status_code
        == 204
    )
    soon = end_of(gateway, sandbox)
    left = (soon - datetime.datetime.now(datetime.timezone.utc)).total_seconds()
    assert 90 < left <= 100
    connected = gateway.request("POST", f"/sandboxes/{sandbox}/connect", json={"timeout": 10})
    assert connected.status_code == 200
    assert end_of(gateway, sandbox) == soon
    assert (
        gateway.request("POST", f"/sandboxes/{sandbox}/connect", json={"timeout": 900}).status_code
        == 200
    )
    assert end_of(gateway, sandbox) > soon
    assert (
        gateway.request("POST", "/sandboxes/nosuch/timeout", json={"timeout": 1}).status_code == 404
    )


def test_a_sandbox_ends_at_its_timeout_and_a_late_caller_is_told_why(gateway):
    sandbox = gateway.create_sandbox(timeout=300)
    lines = []
    for line in gateway.stream(
        "print('on', flush=True)\nimport time; time.sleep(600)", sandbox=sandbox
    ):
        lines.append(line)
        if line["type"] == "stdout":
            gateway.request("POST", f"/sandboxes/{sandbox}/timeout", json={"timeout": 1})
    errors = [line for line in lines if line["type"] == "error"]
    assert [error["name"] for error in errors] == ["SandboxGone"]
    assert "timeout" in errors[0]["value"]
    late = gateway.request(
        "POST", "/execute", json={"code": "1"}, headers={"E2b-Sandbox-Id": sandbox}
    )
    assert late.status_code == 502
    assert "timeout" in late.text


def test_the_memory_limit_is_what_was_asked_for(gateway):
    sandbox = gateway.create_sandbox(timeout=120, memoryMB=768)
    assert gateway.request("GET", f"/sandboxes/{sandbox}").json()["memoryMB"] == 768
    gateway.delete_sandbox(sandbox)
    too_much = gateway.request(
        "POST", "/sandboxes", json={"templateID": "default", "memoryMB": 10**9}
    )
    assert too_much.status_code == 400
    assert "memory" in too_much.json()["message"].lower()


def test_health_needs_no_token_and_everything_else_does(gateway):
    import requests

    assert requests.get(gateway.url + "/health", timeout=10).status_code == 200
    for method, path in (
        ("GET", "/sandboxes"),
        ("POST", "/execute"),
        ("GET", "/metrics"),
        ("GET", "/contexts"),
    ):
        refused = requests.request(method, gateway.url + path, json={}, timeout=10)
        assert refused.status_code == 401, (path, refused.status_code)


def test_every_form_of_the_token_is_accepted(gateway):
    import requests

    token = gateway.token
    for headers, query in (
        ({"Authorization": f"Bearer {token}"}, ""),
        ({"Authorization": f"token {token}"}, ""),
        ({"X-API-Key": token}, ""),
        ({"X-Access-Token": token}, ""),
        ({}, f"?token={token}"),
    ):
        answer = requests.get(gateway.url + "/sandboxes" + query, headers=headers, timeout=10)
        assert answer.status_code == 200, (headers, answer.text)
    wrong = requests.get(
        gateway.url + "/sandboxes", headers={"X-API-Key": token[:-1] + "0x"}, timeout=10
    )
    assert wrong.status_code == 401


def test_a_web_page_cannot_reach_the_gateway_by_dns_rebinding(gateway):
    rebound = gateway.request("GET", "/sandboxes", headers={"Host": "evil.example:8888"})
    assert rebound.status_code == 403
    foreign = gateway.request("GET", "/sandboxes", headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 403


def test_metrics_are_prometheus_text(gateway):
    text = gateway.request("GET", "/metrics").text
    assert "# TYPE cellblock_sandboxes_running gauge" in text
    assert "cellblock_sandboxes_created_total" in text
