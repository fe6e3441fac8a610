"""The gateway may die: Jupyter clients that come back under their name get what they missed."""

import time

import pytest
import websocket
from support.kernels import (
    KernelSocket,
    create_kernel,
    execute_request,
    is_reply_to,
    is_status,
)
from support.mortal import Mortal

COUNTING = (
    "import time\nfor n in range({count}):\n    print(n, flush=True)\n    time.sleep({pause})"
)


@pytest.fixture
def mortal():
    gateways = Mortal()
    yield gateways
    gateways.remove()


def listen(socket: KernelSocket, heard: list[dict], wanted) -> bool:
    """Until `wanted` accepts one, or the connection is lost (False)."""
    try:
        while True:
            heard.append(socket.receive())
            if wanted(heard[-1]):
                return True
    except (ConnectionError, OSError, websocket.WebSocketException):
        return False


def numbers_of(heard: list[dict]) -> list[int]:
    """Of the stream messages, each once: a client knows them by their id."""
    by_id = {}
    for message in heard:
        if message["header"]["msg_type"] == "stream":
            by_id.setdefault(message["header"]["msg_id"], message["content"]["text"])
    return [int(word) for word in "".join(by_id.values()).split()]


def test_a_kernel_and_its_variables_are_found_again(mortal):
    kernel = create_kernel(mortal.gateway)
    with KernelSocket(mortal.gateway, kernel, "tab") as socket:
        socket.run("x = 5")
    mortal.restart()
    listed = mortal.gateway.request("GET", "/api/kernels").json()
    assert [item["id"] for item in listed] == [kernel]
    with KernelSocket(mortal.gateway, kernel, "tab") as socket:
        replies = [m for m in socket.run("assert x == 5") if m["channel"] == "shell"]
    assert [reply["content"]["status"] for reply in replies] == ["ok"]


def test_the_documents_of_kernels_are_found_again(mortal):
    def post(path: str) -> dict:
        body = {"path": path, "type": "notebook", "name": path, "kernel": {"name": "python3"}}
        answer = mortal.gateway.request("POST", "/api/sessions", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    kept, deleted = post("kept.ipynb"), post("deleted.ipynb")
    path = f"/api/sessions/{kept['id']}"
    mortal.gateway.request("PATCH", path, json={"path": "moved.ipynb"})
    mortal.gateway.request("DELETE", f"/api/sessions/{deleted['id']}")
    mortal.restart()
    listed = mortal.gateway.request("GET", "/api/sessions").json()
    assert [(item["id"], item["path"]) for item in listed] == [(kept["id"], "moved.ipynb")]
    assert listed[0]["kernel"]["id"] == kept["kernel"]["id"]
    # Whoever opens the document again gets its kernel, not a new one.
    assert post("moved.ipynb")["kernel"]["id"] == kept["kernel"]["id"]
    assert mortal.gateway.request("DELETE", path).status_code == 204
    mortal.restart()
    assert mortal.gateway.request("GET", "/api/sessions").json() == []


def test_a_client_that_returns_gets_the_rest_of_its_cell(mortal):
    kernel = create_kernel(mortal.gateway)
    socket = KernelSocket(mortal.gateway, kernel, "tab")
    asked = socket.send(execute_request(COUNTING.format(count=200, pause=0.03)))
    heard: list[dict] = []
    for stop_at in (20, 60, 100):
        assert listen(socket, heard, lambda _, at=stop_at: len(numbers_of(heard)) >= at)
        mortal.restart()
        socket = KernelSocket(mortal.gateway, kernel, "tab")
    assert listen(socket, heard, lambda m: is_reply_to(m, asked))
    assert numbers_of(heard) == list(range(200))
    replies = [m for m in heard if is_reply_to(m, asked)]
    assert [reply["content"]["status"] for reply in replies] == ["ok"]
    mine = [m for m in heard if m["parent_header"].get("msg_id") == asked]
    assert any(is_status(m, "idle") for m in mine)
    with socket:
        assert socket.run("n")[-1]["content"]["status"] == "ok"


def test_what_came_while_nobody_was_there_waits_for_its_client(mortal):
    kernel = create_kernel(mortal.gateway)
    socket = KernelSocket(mortal.gateway, kernel, "tab")
    asked = socket.send(
        execute_request("import time; time.sleep(1.5)\nfor n in range(500): print(n)")
    )
    heard: list[dict] = []
    assert listen(socket, heard, lambda m: m["header"]["msg_type"] == "execute_input")
    mortal.kill()
    time.sleep(4)  # the cell ends in these seconds
    mortal.start()
    with KernelSocket(mortal.gateway, kernel, "tab") as back:
        assert listen(back, heard, lambda m: is_reply_to(m, asked))
    assert numbers_of(heard) == list(range(500))
