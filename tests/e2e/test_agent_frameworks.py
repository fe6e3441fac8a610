"""Agent frameworks that start a Jupyter kernel gateway and talk to it: theirs is ours.

smolagents and AutoGen (AG2) are the real packages. OpenHands needs Python 3.12: its plugin's
requests are written out here.
"""

import asyncio
import json
import os
import re
import shlex
import subprocess
import uuid

import docker
import requests
import smolagents
import tornado.websocket
from smolagents.monitoring import AgentLogger, LogLevel
from smolagents.remote_executors import DockerExecutor
from support.gateway import Gateway
from support.kernel_gateway import as_kernelgateway
from support.ports import free_port


class Containers:
    """A docker client whose images are Dockerfiles and whose containers run their CMD here.

    A container's port is the host's: the port that docker would map is given on the command line.
    """

    def __init__(self, folder):
        self.images = self.containers = self
        self.folder = folder

    def build(self, fileobj, tag):
        self.command = json.loads(re.search(r"CMD (\[.*\])", fileobj.read().decode()).group(1))
        return tag, []

    def run(self, image, *, ports, environment, detach):
        _, port = ports["8888/tcp"]
        return Container([*self.command, f"--KernelGatewayApp.port={port}"], environment)


class Container:
    status = "running"
    short_id = "here"

    def __init__(self, command, environment):
        self.process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)

    def remove(self):
        pass


def test_smolagents_docker_executor_runs_code_and_gets_its_final_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(docker, "from_env", lambda: Containers(tmp_path))
    logger = AgentLogger(level=LogLevel.OFF)
    with as_kernelgateway(tmp_path):
        executor = DockerExecutor([], logger, port=free_port())
        try:
            ran = executor("x = 6\nprint('working')\nx * 7")
            assert (ran.output, ran.logs, ran.is_final_answer) == ("42", "working\n", False)
            executor.send_variables({"words": ["a", "b"]})
            # What its final answer needs is in the image: pip would take half a minute to see that.
            executor.installed_packages += ["PIL", "numpy"]
            executor.send_tools({"final_answer": smolagents.FinalAnswerTool()})
            answer = executor("final_answer({'n': x, 'words': words, 'long': 'y' * 300_000})")
            assert answer.is_final_answer
            assert answer.output == {"n": 6, "words": ["a", "b"], "long": "y" * 300_000}
        finally:
            executor.cleanup()


def test_autogens_local_jupyter_server_and_its_executor(tmp_path):
    picture = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    with as_kernelgateway(tmp_path):
        # While it is imported it looks whether there is a `jupyter kernelgateway`.
        from autogen.coding import CodeBlock
        from autogen.coding.jupyter import JupyterCodeExecutor, LocalJupyterServer

        def run(executor, *cells):
            return executor.execute_code_blocks(
                [CodeBlock(code=cell, language="python") for cell in cells]
            )

        server = LocalJupyterServer(log_file=str(tmp_path / "kernelgateway.log"), port=free_port())
        try:
            with JupyterCodeExecutor(server, timeout=120, output_dir=tmp_path) as executor:
                first = run(executor, "x = 20\nprint('on')", "x + 22")
                assert (first.exit_code, first.output.split()) == (0, ["on", "42"])
                shown = run(executor, picture)
                assert shown.exit_code == 0
                assert [name.endswith(".png") for name in shown.output_files] == [True]
                failed = run(executor, "1 / 0")
                assert failed.exit_code == 1 and "ZeroDivisionError" in failed.output
                executor.restart()
                assert "NameError" in run(executor, "x").output
            assert server.get_client().list_kernels() == []
        finally:
            server.stop()
        assert (tmp_path / "kernelgateway.log").stat().st_size > 0


class OpenHandsKernel:
    """The requests of OpenHands' Jupyter plugin (its execute_server)."""

    def __init__(self, url):
        self.url = url

    async def execute(self, code, timeout_s=120):
        made = requests.post(f"{self.url}/api/kernels", json={"name": "python"}, timeout=60)
        self.kernel = made.json()["id"]
        address = f"{self.url.replace('http', 'ws', 1)}/api/kernels/{self.kernel}/channels"
        socket = await tornado.websocket.websocket_connect(address)
        outputs = await self._run(socket, "%colors nocolor")
        outputs = await asyncio.wait_for(self._run(socket, code), timeout_s)
        socket.close()
        return outputs

    async def _run(self, socket, code):
        msg_id = uuid.uuid4().hex
        header = {"username": "", "version": "5.0", "session": "", "msg_id": msg_id}
        content = {
            "code": code,
            "silent": False,
            "store_history": False,
            "user_expressions": {},
            "allow_stdin": False,
        }
        message = {
            "header": {**header, "msg_type": "execute_request"},
            "parent_header": {},
            "channel": "shell",
            "content": content,
            "metadata": {},
            "buffers": {},
        }
        await socket.write_message(json.dumps(message))
        outputs = []
        while True:
            heard = json.loads(await socket.read_message())
            if heard["parent_header"].get("msg_id") != msg_id:
                continue
            if heard["msg_type"] == "error":
                outputs.append("\n".join(heard["content"]["traceback"]))
                return outputs
            if heard["msg_type"] == "stream":
                outputs.append(heard["content"]["text"])
            elif heard["msg_type"] in ("execute_result", "display_data"):
                outputs.append(heard["content"]["data"]["text/plain"])
            elif heard["msg_type"] == "execute_reply":
                return outputs

    def interrupt(self):
        url = f"{self.url}/api/kernels/{self.kernel}/interrupt"
        return requests.post(url, json={"kernel_id": self.kernel}, timeout=60)


def test_openhands_requests_need_no_token_where_none_is_wanted():
    command = shlex.split("--compat kernel-gateway --pool-size 0 --insecure-no-token yes")
    gateway = Gateway(*command)
    try:
        kernel = OpenHandsKernel(gateway.url)
        outputs = asyncio.run(kernel.execute("print('to be seen before the reply')\n6 * 7"))
        assert outputs == ["to be seen before the reply\n", "42"]
        assert kernel.interrupt().status_code == 204
        foreign = {"Origin": "https://elsewhere.example"}
        refused = requests.get(f"{gateway.url}/api/kernelspecs", headers=foreign, timeout=60)
        assert refused.status_code == 403
    finally:
        gateway.remove()
