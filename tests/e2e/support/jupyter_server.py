"""A jupyter_server, or a JupyterLab, with the gateway's kernels (`--gateway-url`) or its own."""

import os
import re
import subprocess
import sys
import time

import requests

from support.ports import is_listened_on

START_TIMEOUT_S = 180


class JupyterServer:
    """`application`: the module that is started; its files are `folder`'s. No gateway: its kernels
    are this machine's. `options`: more of its command line."""

    def __init__(self, gateway, folder, application: str = "jupyter_server", options: tuple = ()):
        self.token = "front"
        self.folder = folder
        command = [
            sys.executable,
            "-m",
            application,
            "--ServerApp.ip=127.0.0.1",
            "--ServerApp.port=0",
            f"--ServerApp.root_dir={folder}",
            f"--IdentityProvider.token={self.token}",
            "--ServerApp.allow_root=True",
            "--ServerApp.open_browser=False",
            *options,
        ]
        if gateway:
            command += [
                f"--GatewayClient.url={gateway.url}",
                f"--GatewayClient.auth_token={gateway.token}",
            ]
        environment = {
            **os.environ,
            "HOME": str(folder),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        }
        self.log = open(folder / "server.log", "wb")
        self.process = subprocess.Popen(
            command, stdout=self.log, stderr=self.log, env=environment, cwd=folder
        )
        self.url = self._wait_ready()

    def log_text(self) -> str:
        return (self.folder / "server.log").read_text(errors="replace")

    def _wait_ready(self) -> str:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.log_text())
            # Its address is logged before it listens there.
            if found and found.group(1) != "0" and is_listened_on(int(found.group(1))):
                return f"http://127.0.0.1:{found.group(1)}"
            try:
                self.process.wait(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                continue
        raise AssertionError(self.log_text())

    def request(self, method, path, **options):
        options.setdefault("timeout", 120)
        headers = {"Authorization": f"token {self.token}"}
        return requests.request(method, self.url + path, headers=headers, **options)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.log.close()
