"""Other people's clients: `websockets`, and jupyter_server in front of us.

For kernels of a gateway jupyter_server offers the legacy protocol only, and the client in its
Python package (GatewayKernelManager) sends no token with its WebSocket: notebooks without a server
run through the kernelspec (test_zmq_kernel.py).
"""

import asyncio
import json

import pytest
import websockets

from support.jupyter_server import JupyterServer
from support.kernels import (
    KernelSocket,
    channels_url,
    execute_request,
    is_reply_to,
    new_kernel,
    text_of,
)


def test_the_websockets_package_as_autogen_uses_it(gateway):
    async def talk(kernel):
        url = channels_url(gateway, kernel, token=False)
        headers = {"Authorization": f"token {gateway.token}"}
        async with websockets.connect(url, additional_headers=headers) as socket:
            message = execute_request("print('hello from afar')")
            await socket.send(json.dumps(message))
            text = ""
            while True:
                heard = json.loads(await socket.recv())
                if heard["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                    continue
                if heard["msg_type"] == "stream":
                    text += heard["content"]["text"]
                if heard["msg_type"] == "status" and heard["content"]["execution_state"] == "idle":
                    return text

    with new_kernel(gateway) as kernel:
        assert asyncio.run(talk(kernel)) == "hello from afar\n"


@pytest.fixture(scope="module")
def server(gateway, tmp_path_factory):
    running = JupyterServer(gateway, tmp_path_factory.mktemp("jupyter"))
    yield running
    running.stop()


def test_jupyter_server_in_front_lists_starts_restarts_and_ends_our_kernels(gateway, server):
    specs = server.request("GET", "/api/kernelspecs").json()
    assert specs["kernelspecs"]["python3"]["spec"]["display_name"] == "Python 3 (microVM)"
    made = server.request("POST", "/api/sessions", json=NOTEBOOK)
    assert made.status_code == 201, made.text
    kernel = made.json()["kernel"]["id"]
    assert gateway.request("GET", f"/api/kernels/{kernel}").status_code == 200
    with KernelSocket(server, kernel, "lab") as socket:
        assert text_of(socket.run("print('through two doors')")) == "through two doors\n"
    assert server.request("POST", f"/api/kernels/{kernel}/interrupt").status_code == 204
    assert server.request("POST", f"/api/kernels/{kernel}/restart").status_code == 200
    with KernelSocket(server, kernel, "lab") as socket:
        assert text_of(socket.run("print('again')")) == "again\n"
    assert server.request("DELETE", f"/api/sessions/{made.json()['id']}").status_code == 204
    assert gateway.request("GET", f"/api/kernels/{kernel}").status_code == 404


NOTEBOOK = {"path": "n.ipynb", "name": "n", "type": "notebook", "kernel": {"name": "python3"}}


def test_a_question_through_jupyter_server_is_answered(gateway, server):
    kernel = server.request("POST", "/api/kernels", json={"name": "python3"}).json()["id"]
    with KernelSocket(server, kernel, "lab") as socket:
        cell = socket.send(execute_request("print(input('? '))", allow_stdin=True))
        question = socket.until(lambda m: m["channel"] == "stdin")[-1]
        answer = {
            **execute_request(""),
            "channel": "stdin",
            "content": {"value": "yes"},
            "parent_header": question["header"],
        }
        answer["header"]["msg_type"] = "input_reply"
        socket.send(answer)
        assert text_of(socket.until(lambda m: is_reply_to(m, cell))) == "yes\n"
    server.request("DELETE", f"/api/kernels/{kernel}")
