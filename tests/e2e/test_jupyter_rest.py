"""The Jupyter door's REST API, as jupyter_server has it, over kernels in microVMs."""

from datetime import datetime

import pytest
import requests

from support.kernels import KernelSocket, create_kernel, new_kernel


@pytest.fixture(scope="module")
def kernel(gateway):
    with new_kernel(gateway) as kernel:
        yield kernel


def test_a_kernel_is_made_with_an_empty_body_and_told_where_it_is(gateway):
    response = gateway.request("POST", "/api/kernels")
    assert response.status_code == 201, response.text
    model = response.json()
    assert response.headers["Location"] == f"/api/kernels/{model['id']}"
    assert model["name"] == "python3" and model["execution_state"] == "idle"
    assert model["connections"] == 0
    datetime.strptime(model["last_activity"], "%Y-%m-%dT%H:%M:%S.%fZ")
    assert gateway.request("DELETE", f"/api/kernels/{model['id']}").status_code == 204
    assert gateway.request("GET", f"/api/kernels/{model['id']}").status_code == 404


def test_a_jupyter_kernel_has_a_sandbox_that_goes_with_it(gateway):
    before = {s["sandboxID"] for s in gateway.request("GET", "/sandboxes").json()}
    kernel = create_kernel(gateway, name="python")
    during = {s["sandboxID"] for s in gateway.request("GET", "/sandboxes").json()}
    assert len(during - before) == 1
    assert gateway.request("DELETE", f"/api/kernels/{kernel}").status_code == 204
    assert {s["sandboxID"] for s in gateway.request("GET", "/sandboxes").json()} == before


def test_the_context_of_a_sandbox_is_a_kernel_too(gateway, sandbox):
    context = gateway.request("GET", "/contexts", headers={"E2b-Sandbox-Id": sandbox}).json()[0]
    gateway.execute("shared = 42", sandbox=sandbox)
    listed = {k["id"] for k in gateway.request("GET", "/api/kernels").json()}
    assert context["id"] in listed
    with KernelSocket(gateway, context["id"]) as socket:
        heard = socket.run("shared")
    results = [m for m in heard if m["msg_type"] == "execute_result"]
    assert results[0]["content"]["data"]["text/plain"] == "42"
    assert gateway.execute("shared + 1", sandbox=sandbox).text == "43"


def test_environment_variables_that_begin_with_kernel_reach_the_kernel_and_no_others(gateway):
    with new_kernel(gateway, env={"KERNEL_TEAM": "blue", "PATH": "/nowhere"}) as kernel:
        with KernelSocket(gateway, kernel) as socket:
            heard = socket.run(
                "import os; print(os.environ['KERNEL_TEAM'], os.environ['PATH'] == '/nowhere')"
            )
    assert [m["content"]["text"] for m in heard if m["msg_type"] == "stream"] == ["blue False\n"]


def test_an_unknown_kernel_and_an_unknown_name_are_told_in_jupyters_words(gateway):
    missing = gateway.request("GET", "/api/kernels/00000000-0000-0000-0000-000000000000")
    assert missing.status_code == 404
    assert missing.json()["message"] == (
        "Kernel does not exist: 00000000-0000-0000-0000-000000000000"
    )
    refused = gateway.request("POST", "/api/kernels", json={"name": "cobol"})
    assert refused.status_code == 500
    assert "NoSuchKernel" in refused.json()["message"]


def test_interrupt_and_restart_answer_as_jupyter_server(gateway, kernel):
    path = f"/api/kernels/{kernel}"
    with KernelSocket(gateway, kernel) as socket:
        socket.run("x = 1")
    assert gateway.request("POST", f"{path}/interrupt", json={}).status_code == 204
    restarted = gateway.request("POST", f"{path}/restart")
    assert restarted.status_code == 200 and restarted.json()["id"] == kernel
    with KernelSocket(gateway, kernel) as socket:
        heard = socket.run("'x' in globals()")
    assert [m["content"]["data"]["text/plain"] for m in heard if "data" in m["content"]] == [
        "False"
    ]


def test_kernelspecs_have_what_jupyterlab_validates(gateway):
    specs = gateway.request("GET", "/api/kernelspecs?1700000000000").json()
    assert specs["default"] in specs["kernelspecs"]
    for name, spec in specs["kernelspecs"].items():
        assert spec["name"] == name
        assert isinstance(spec["spec"]["argv"], list)
        assert isinstance(spec["spec"]["language"], str)
        assert isinstance(spec["spec"]["display_name"], str)
        assert gateway.request("GET", f"/api/kernelspecs/{name}").json() == spec
        for file in spec["resources"].values():
            logo = gateway.request("GET", file)
            assert logo.status_code == 200 and logo.headers["Content-Type"].startswith("image/")
            assert len(logo.content) > 100
    assert gateway.request("GET", "/api/kernelspecs/nope").status_code == 404
    assert gateway.request("GET", "/kernelspecs/python3/nope.png").status_code == 404


def test_the_server_tells_its_version_without_a_token_and_its_status_with_one(gateway, kernel):
    assert "version" in requests.get(gateway.url + "/api", timeout=30).json()
    status = gateway.request("GET", "/api/status").json()
    assert status["kernels"] >= 1 and status["connections"] >= 0
    datetime.strptime(status["started"], "%Y-%m-%dT%H:%M:%S.%fZ")
    me = gateway.request("GET", "/api/me", params={"permissions": '{"kernels": ["read"]}'}).json()
    assert me["identity"]["username"] and me["permissions"] == {"kernels": ["read"]}


def test_without_the_token_nothing_is_told(gateway, kernel):
    for path in ("/api/kernels", f"/api/kernels/{kernel}", "/api/kernelspecs", "/api/me"):
        response = requests.get(gateway.url + path, timeout=30)
        assert response.status_code == 403, path
        assert response.json()["message"]
    by_query = requests.get(f"{gateway.url}/api/kernels?token={gateway.token}", timeout=30)
    assert by_query.status_code == 200
    by_scheme = requests.get(
        f"{gateway.url}/api/kernels",
        headers={"Authorization": f"token {gateway.token}"},
        timeout=30,
    )
    assert by_scheme.status_code == 200
