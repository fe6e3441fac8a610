"""A planned stop: who still waits for a cell is told, and nothing is left behind."""

import signal

import pytest
from support.gateway import Gateway


@pytest.fixture
def own_gateway():
    """One that the test may stop."""
    running = Gateway("--pool-size", "0", env={"CELLBLOCK_SHUTDOWN_GRACE_S": "1"})
    yield running
    running.remove()


def test_a_cell_that_outlasts_the_grace_ends_with_a_typed_error(own_gateway):
    sandbox = own_gateway.create_sandbox(timeout=120)
    lines = own_gateway.stream(
        "print('on', flush=True)\nimport time; time.sleep(300)", sandbox=sandbox
    )
    seen = []
    for line in lines:
        seen.append(line)
        if line["type"] == "stdout":
            own_gateway.process.send_signal(signal.SIGTERM)
    errors = [line for line in seen if line["type"] == "error"]
    assert [error["name"] for error in errors] == ["SandboxGone"]
    assert "the gateway was stopped" in errors[0]["value"]
    assert seen[-1]["type"] == "end_of_execution"
    assert own_gateway.process.wait(timeout=60) == 0
    assert list(own_gateway.state.glob("run/*")) == []
