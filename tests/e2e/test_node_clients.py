"""JupyterLab's own client on Node, in both protocols, and behind a jupyter_server of its own."""

import pytest

from support.jupyter_server import JupyterServer
from support.node import run_node

CHECKS = [
    "specs",
    "info",
    "outputs",
    "displays",
    "completion",
    "stdin",
    "comms",
    "interrupt",
    "reconnection",
    "restart",
    "autorestart",
    "sessions",
]
# jupyter_server 2 decodes a gateway's binary messages as UTF-8 and loses its connection over them.
BROKEN_BY_JUPYTER_SERVER = {"comms"}


def checks_that_pass(server, protocol, checks):
    lines = run_node("services.js", server.url, server.token, protocol, *checks)
    return [line.removeprefix("ok ") for line in lines if line.startswith("ok ")]


@pytest.mark.parametrize("protocol", ["v1", "legacy"])
def test_jupyterlabs_client_does_all_it_can(gateway, protocol):
    assert checks_that_pass(gateway, protocol, CHECKS) == [*CHECKS, protocol]


def test_jupyterlabs_client_does_so_behind_a_jupyter_server(gateway, tmp_path):
    server = JupyterServer(gateway, tmp_path)
    checks = [check for check in CHECKS if check not in BROKEN_BY_JUPYTER_SERVER]
    try:
        # It agrees to no protocol with a gateway's clients; this one then does without.
        assert checks_that_pass(server, "v1", checks) == [*checks, "legacy"]
    finally:
        server.stop()
