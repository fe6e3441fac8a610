"""Other people's clients: `websockets`, jupyter_server in front of us, nbclient through it."""

import asyncio
import json

import nbformat
import pytest
import websockets
from jupyter_server.gateway.gateway_client import GatewayClient
from nbclient import NotebookClient

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
    with KernelSocket(server, kernel, "lab", v1=True) as socket:
        assert text_of(socket.run("print('through two doors')")) == "through two doors\n"
    assert server.request("POST", f"/api/kernels/{kernel}/interrupt").status_code == 204
    assert server.request("POST", f"/api/kernels/{kernel}/restart").status_code == 200
    with KernelSocket(server, kernel, "lab", v1=True) as socket:
        assert text_of(socket.run("print('again')")) == "again\n"
    assert server.request("DELETE", f"/api/sessions/{made.json()['id']}").status_code == 204
    assert gateway.request("GET", f"/api/kernels/{kernel}").status_code == 404


NOTEBOOK = {"path": "n.ipynb", "name": "n", "type": "notebook", "kernel": {"name": "python3"}}


def test_a_question_through_jupyter_server_is_answered(gateway, server):
    kernel = server.request("POST", "/api/kernels", json={"name": "python3"}).json()["id"]
    with KernelSocket(server, kernel, "lab", v1=True) as socket:
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


def test_nbclient_runs_a_notebook_through_the_gateway_client(gateway):
    client = GatewayClient.instance()
    client.url = gateway.url
    client.auth_token = gateway.token
    client.ws_url = gateway.url.replace("http", "ws", 1)
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("import pandas as pd\nx = 20"),
            nbformat.v4.new_code_cell("print('sum')\npd.DataFrame({'a': [x, 22]}).a.sum()"),
        ]
    )
    runner = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        kernel_manager_class="jupyter_server.gateway.managers.GatewayKernelManager",
    )
    before = {k["id"] for k in gateway.request("GET", "/api/kernels").json()}
    runner.execute()
    outputs = notebook.cells[1].outputs
    assert outputs[0].text == "sum\n"
    assert outputs[1].data["text/plain"].endswith("42)")
    after = {k["id"] for k in gateway.request("GET", "/api/kernels").json()}
    assert after <= before
