"""Jupyter sessions (documents and their kernels), as jupyter_server has them."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from support.kernels import KernelSocket, create_kernel, delete_kernel, new_kernel, text_of


def make_session(gateway, **body):
    body.setdefault("type", "notebook")
    response = gateway.request("POST", "/api/sessions", json=body)
    assert response.status_code == 201, (response.status_code, response.text)
    return response.json()


@pytest.fixture
def session(gateway, request):
    made = make_session(gateway, path=f"work/{request.node.name}.ipynb", name="n")
    yield made
    gateway.request("DELETE", f"/api/sessions/{made['id']}")


def test_a_session_has_a_kernel_that_knows_its_document(gateway, session):
    assert session["notebook"] == {"path": session["path"], "name": "n"}
    listed = gateway.request("GET", "/api/sessions").json()
    assert session["id"] in [s["id"] for s in listed]
    with KernelSocket(gateway, session["kernel"]["id"]) as socket:
        heard = socket.run("import os; print(os.environ['JPY_SESSION_NAME'])")
    assert text_of(heard) == session["path"] + "\n"


def test_the_same_document_has_one_session_even_when_asked_at_once(gateway):
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: make_session(gateway, path="same.ipynb"), range(4)))
    assert len({s["id"] for s in made}) == 1
    assert len({s["kernel"]["id"] for s in made}) == 1
    assert gateway.request("DELETE", f"/api/sessions/{made[0]['id']}").status_code == 204


def test_a_deleted_session_takes_its_kernel_with_it(gateway):
    made = make_session(gateway, path="gone.py", type="console", kernel={"name": "python3"})
    assert "notebook" not in made
    path = f"/api/sessions/{made['id']}"
    assert gateway.request("DELETE", path).status_code == 204
    assert gateway.request("GET", path).status_code == 404
    assert gateway.request("GET", f"/api/kernels/{made['kernel']['id']}").status_code == 404


def test_a_session_whose_kernel_was_deleted_is_listed_no_more_and_410(gateway):
    made = make_session(gateway, path="orphan.ipynb")
    delete_kernel(gateway, made["kernel"]["id"])
    assert gateway.request("DELETE", f"/api/sessions/{made['id']}").status_code == 410
    made = make_session(gateway, path="orphan.ipynb")
    delete_kernel(gateway, made["kernel"]["id"])
    assert made["id"] not in [s["id"] for s in gateway.request("GET", "/api/sessions").json()]


def test_a_session_is_renamed_and_gets_another_kernel(gateway, session):
    path = f"/api/sessions/{session['id']}"
    renamed = gateway.request("PATCH", path, json={"path": "new.ipynb", "name": "m"}).json()
    assert (renamed["path"], renamed["name"]) == ("new.ipynb", "m")
    assert renamed["kernel"]["id"] == session["kernel"]["id"]
    kernel = create_kernel(gateway)
    moved = gateway.request("PATCH", path, json={"kernel": {"id": kernel}}).json()
    assert moved["kernel"]["id"] == kernel
    assert gateway.request("GET", f"/api/kernels/{session['kernel']['id']}").status_code == 404
    missing = gateway.request("PATCH", path, json={"kernel": {"id": "nope"}})
    assert missing.status_code == 400 and missing.json()["message"] == "No such kernel: nope"


def test_a_session_may_use_a_kernel_that_runs_already(gateway):
    with new_kernel(gateway) as kernel:
        made = make_session(gateway, path="shared.ipynb", kernel={"id": kernel})
        assert made["kernel"]["id"] == kernel


def test_the_old_form_with_a_notebook_is_understood(gateway):
    body = {"id": "any", "notebook": {"path": "old.ipynb"}, "kernel": {"name": "python3"}}
    response = gateway.request("POST", "/api/sessions", json=body)
    assert response.status_code == 201, response.text
    made = response.json()
    assert made["type"] == "notebook" and made["path"] == "old.ipynb"
    assert response.headers["Location"] == f"/api/sessions/{made['id']}"
    gateway.request("DELETE", f"/api/sessions/{made['id']}")


def test_what_a_session_needs_is_told(gateway):
    for body, status, words in (
        (None, 400, "No JSON data"),
        ({"type": "notebook"}, 400, "path"),
        ({"path": "x"}, 400, "type"),
        ({"path": "x", "type": "notebook", "kernel": {"name": "cobol"}}, 501, "cobol"),
        ({"path": "x", "type": "notebook", "kernel": 5}, 400, "kernel"),
    ):
        refused = gateway.request("POST", "/api/sessions", json=body)
        assert refused.status_code == status, (body, refused.text)
        assert words in refused.json()["message"]
