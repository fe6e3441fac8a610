"""Kernels in microVMs behind an installed kernelspec: clients speak ZeroMQ and know nothing."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient
from support.gateway import BINARY, Gateway
from support.kernels import TIMEOUT_S, new_kernel, wait_until
from support.ports import is_listened_on
from support.zmq_kernels import NAME, jupyter_folders, running_kernel


@pytest.fixture(scope="module")
def folder(gateway, tmp_path_factory):
    with jupyter_folders(gateway, tmp_path_factory.mktemp("jupyter")) as folder:
        yield folder


@pytest.fixture
def kernel(folder):
    with running_kernel() as kernel:
        yield kernel


def run(client, code: str, **options) -> tuple[dict, list[dict]]:
    """A cell's reply and what it showed."""
    shown = []
    reply = client.execute_interactive(code, timeout=TIMEOUT_S, output_hook=shown.append, **options)
    return reply["content"], shown


def text_of(shown: list[dict]) -> str:
    return "".join(m["content"]["text"] for m in shown if m["msg_type"] == "stream")


def kernels(gateway) -> list[str]:
    return [kernel["id"] for kernel in gateway.request("GET", "/api/kernels").json()]


def start_cell(client, code: str) -> str:
    """Returns once the cell has printed something."""
    asked = client.execute(code)
    wait_until(
        lambda: client.get_iopub_msg(timeout=TIMEOUT_S)["msg_type"] == "stream", "the cell's output"
    )
    return asked


def reply_to(client, asked: str) -> dict:
    while True:
        message = client.get_shell_msg(timeout=TIMEOUT_S)
        if message["parent_header"].get("msg_id") == asked:
            return message["content"]


def test_the_kernelspec_is_installed_with_its_logos_and_removed_again(gateway, tmp_path):
    with jupyter_folders(gateway, tmp_path):
        spec = KernelSpecManager().get_kernel_spec(NAME)
        assert spec.display_name == "Python 3 (microVM)" and spec.language == "python"
        assert spec.interrupt_mode == "message"
        assert gateway.token not in json.dumps(spec.to_dict())
        files = {path.name for path in Path(spec.resource_dir).iterdir()}
        assert {"logo-64x64.png", "logo-32x32.png", "logo-svg.svg"} <= files
        other = tmp_path / "share/jupyter/kernels/other"
        other.mkdir()
        (other / "kernel.json").write_text('{"argv": [], "display_name": "o", "language": "o"}')
        subprocess.run([str(BINARY), "kernelspec", "remove", "--prefix", str(tmp_path)], check=True)
        assert NAME not in KernelSpecManager().find_kernel_specs()
        assert other.is_dir()


def test_a_cell_runs_in_the_microvm_and_its_outputs_come_back(kernel):
    _, client = kernel
    reply, shown = run(client, "import os\nprint('hello')\nos.uname().nodename")
    assert reply["status"] == "ok"
    assert text_of(shown) == "hello\n"
    result = [m for m in shown if m["msg_type"] == "execute_result"]
    assert result[0]["content"]["data"]["text/plain"].strip("'") != os.uname().nodename


def test_errors_user_expressions_completion_and_history_pass_through(kernel):
    _, client = kernel
    reply, _ = run(client, "1 / 0", stop_on_error=False)
    assert reply["ename"] == "ZeroDivisionError"
    reply, _ = run(client, "x = 20", user_expressions={"y": "x + 1"})
    assert reply["user_expressions"]["y"]["data"]["text/plain"] == "21"
    assert "print" in reply_to(client, client.complete("prin"))["matches"]
    assert reply_to(client, client.history(hist_access_type="tail", n=1))["status"] == "ok"
    assert reply_to(client, client.is_complete("for x in y:"))["status"] == "incomplete"


def test_a_question_is_answered_by_the_client_that_ran_the_cell(kernel):
    _, client = kernel
    asked = []

    def answer(message):
        asked.append(message["content"]["prompt"])
        client.input("Ada")

    reply, shown = run(client, "print('hi', input('name? '))", allow_stdin=True, stdin_hook=answer)
    assert asked == ["name? "]
    assert reply["status"] == "ok" and text_of(shown).endswith("hi Ada\n")


def test_buffers_of_comms_go_both_ways(kernel):
    _, client = kernel
    run(
        client,
        "def opened(comm, message):\n"
        "    comm.on_msg(lambda m: comm.send({}, buffers=[bytes(m['buffers'][0])[::-1]]))\n"
        "get_ipython().kernel.comm_manager.register_target('echo', opened)",
    )
    session = client.session
    for kind, content, buffers in (
        ("comm_open", {"comm_id": "c", "target_name": "echo", "data": {}}, []),
        ("comm_msg", {"comm_id": "c", "data": {}}, [b"\x00\xff\xfe"]),
    ):
        session.send(client.shell_channel.socket, kind, content, buffers=buffers)
    while (message := client.get_iopub_msg(timeout=TIMEOUT_S))["msg_type"] != "comm_msg":
        pass
    assert bytes(message["buffers"][0]) == b"\xfe\xff\x00"


@pytest.mark.parametrize("way", ["message", "signal"])
def test_an_interrupt_ends_the_cell_and_not_the_kernel(kernel, way):
    manager, client = kernel
    run(client, "x = 1")
    asked = start_cell(client, "import time\nprint('sleeping')\ntime.sleep(600)")
    if way == "message":
        manager.interrupt_kernel()
    else:
        manager.provisioner.process.send_signal(signal.SIGINT)
    assert reply_to(client, asked)["ename"] == "KeyboardInterrupt"
    assert run(client, "x", stop_on_error=False)[0]["status"] == "ok"


def test_a_restart_keeps_the_microvm_and_its_files_and_renews_the_process(gateway, kernel):
    manager, client = kernel
    run(client, "x = 1\nopen('kept.txt', 'w').write('kept')")
    before = kernels(gateway)
    manager.restart_kernel()
    client.wait_for_ready(timeout=TIMEOUT_S)
    reply, shown = run(client, "print(open('kept.txt').read())\nx")
    assert text_of(shown) == "kept\n"
    assert reply["ename"] == "NameError"
    assert kernels(gateway) == before


@pytest.mark.parametrize("how", ["shutdown", "SIGTERM", "SIGKILL"])
def test_however_the_process_ends_no_sandbox_is_left(gateway, folder, how):
    before = set(kernels(gateway))
    manager, client = start_new_kernel(kernel_name=NAME, startup_timeout=TIMEOUT_S)
    assert len(set(kernels(gateway)) - before) == 1
    client.stop_channels()
    if how == "shutdown":
        manager.shutdown_kernel()
        assert not manager.is_alive()
    else:
        manager.provisioner.process.send_signal(getattr(signal, how))
    wait_until(lambda: set(kernels(gateway)) == before, "the end of the kernel")
    manager.shutdown_kernel(now=True)
    file = Path(manager.connection_file)
    wait_until(lambda: not list(file.parent.glob(f"{file.name}.*")), "the end of its lease")


def test_the_death_of_the_client_ends_the_kernel(gateway, folder):
    before = set(kernels(gateway))
    script = (
        "from jupyter_client.manager import start_new_kernel\n"
        f"kernel = start_new_kernel(kernel_name={NAME!r}, startup_timeout={TIMEOUT_S})\n"
        "print('ready', flush=True)\n"
        "input()\n"
    )
    client = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert client.stdout.readline() == "ready\n"
        assert len(set(kernels(gateway)) - before) == 1
    finally:
        client.kill()
        client.communicate()
    wait_until(lambda: set(kernels(gateway)) == before, "the end of the kernel")


def test_a_gateway_that_stays_away_ends_the_kernel_with_a_reason(tmp_path, monkeypatch):
    monkeypatch.setenv("CELLBLOCK_GATEWAY_PATIENCE_S", "1")
    gateway = Gateway()
    try:
        with jupyter_folders(gateway, tmp_path), open(tmp_path / "errors", "w+") as errors:
            manager, client = start_new_kernel(
                kernel_name=NAME, startup_timeout=TIMEOUT_S, stderr=errors
            )
            gateway.process.kill()
            wait_until(lambda: not manager.is_alive(), "the end of the relay")
            client.stop_channels()
            manager.cleanup_resources()
            errors.seek(0)
            assert "the connection to the gateway broke" in errors.read()
    finally:
        # The next one of its folder ends the machines that it left.
        Gateway("--pool-size", "0", state=gateway.state).remove()
        gateway.remove()


def test_nbclient_executes_a_notebook(folder):
    notebook = nbformat.v4.new_notebook()
    for code in ("x = 6", "import pandas as pd\npd.DataFrame({'a': [x]})", "print(x * 7)"):
        notebook.cells.append(nbformat.v4.new_code_cell(code))
    NotebookClient(notebook, timeout=TIMEOUT_S, kernel_name=NAME).execute()
    table, printed = notebook.cells[1].outputs[0], notebook.cells[2].outputs[0]
    assert "<table" in table["data"]["text/html"]
    assert printed["text"] == "42\n"


def test_a_running_kernel_gets_a_connection_file_for_clients_that_attach(gateway, tmp_path):
    path = tmp_path / "existing.json"
    with new_kernel(gateway) as kernel:
        arguments = ["--gateway", gateway.url, "--state-dir", str(gateway.state)]
        relay = subprocess.Popen(
            [str(BINARY), "connect", kernel, "-o", str(path), *arguments],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert str(path) in relay.stdout.readline()
            assert path.stat().st_mode & 0o777 == 0o600
            client = BlockingKernelClient(connection_file=str(path))
            client.load_connection_file()
            client.start_channels()
            client.wait_for_ready(timeout=TIMEOUT_S)
            assert text_of(run(client, "print('attached')")[1]) == "attached\n"
            client.stop_channels()
        finally:
            relay.send_signal(signal.SIGINT)
            relay.wait(timeout=TIMEOUT_S)
        assert relay.returncode == 0 and not path.exists()
        assert kernel in kernels(gateway)


def test_the_gateway_hands_out_a_connection_file_and_takes_it_back_with_the_kernel(
    gateway, tmp_path
):
    path = tmp_path / "existing.json"
    with new_kernel(gateway) as kernel:
        url = f"/api/kernels/{kernel}/connection"
        answer = gateway.request("GET", url)
        assert answer.status_code == 200, answer.text
        assert gateway.request("GET", url).json() == answer.json(), "one relay serves all clients"
        path.write_text(answer.text)
        client = BlockingKernelClient(connection_file=str(path))
        client.load_connection_file()
        client.start_channels()
        client.wait_for_ready(timeout=TIMEOUT_S)
        assert text_of(run(client, "print('attached')")[1]) == "attached\n"
        client.stop_channels()
    assert gateway.request("GET", url).status_code == 404
    port = answer.json()["shell_port"]
    wait_until(lambda: not is_listened_on(port), "the end of a deleted kernel's relay")
