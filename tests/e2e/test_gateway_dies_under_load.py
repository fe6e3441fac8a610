"""The gateway is killed again and again while clients of all kinds work: nothing is lost."""

import random
import time

import pytest
from support.mortal import Mortal
from support.mortal_clients import ExecuteClient, WebSocketClient, ZmqClient
from support.zmq_kernels import jupyter_folders, running_kernel

KILLS = 20


@pytest.fixture
def mortal():
    """At the end no machine, no run folder and no process may be left."""
    gateways = Mortal()
    yield gateways
    gateways.remove()


def test_twenty_kills_under_load_lose_no_variable_no_line_and_no_artifact(mortal, tmp_path):
    with jupyter_folders(mortal.gateway, tmp_path), running_kernel() as (_, client):
        clients = [
            ExecuteClient(mortal),
            ExecuteClient(mortal),
            WebSocketClient(mortal),
            ZmqClient(mortal, client),
        ]
        for worker in clients:
            worker.start()
        moments = random.Random(5)
        for _ in range(KILLS):
            time.sleep(moments.uniform(0.0, 1.5))  # any moment is as good as another
            mortal.restart()
        for worker in clients:
            worker.over.set()
        for worker in clients:
            worker.join(timeout=300)
            assert not worker.is_alive(), type(worker).__name__
        assert [worker.failure for worker in clients if worker.failure] == []
        for worker in clients:
            assert worker.cells > 0, type(worker).__name__
            ran = worker.cells_that_ran()
            # Of a call whose answer never began nobody knows whether its cell was queued.
            assert worker.cells <= ran <= worker.cells + getattr(worker, "unnamed", 0)
        assert len(mortal.alive()) == len(clients)
