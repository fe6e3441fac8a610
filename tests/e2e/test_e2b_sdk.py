"""E2B's own Python SDK against the gateway: the real package, redirected by its environment."""

import pytest
from e2b_code_interpreter import Sandbox


@pytest.fixture
def remote(gateway, monkeypatch):
    """A sandbox made by the SDK; it ends with the test."""
    monkeypatch.setenv("E2B_API_KEY", gateway.token)
    monkeypatch.setenv("E2B_API_URL", gateway.url)
    monkeypatch.setenv("E2B_SANDBOX_URL", gateway.url)
    sandbox = Sandbox.create(timeout=120, metadata={"by": "sdk"}, envs={"GREETING": "hi"})
    yield sandbox
    sandbox.kill()


def test_the_sdk_streams_output_and_reads_results(remote):
    seen = []
    run = remote.run_code(
        "import os, pandas as pd\nprint(os.environ['GREETING'])\n"
        "pd.DataFrame({'z': [1], 'a': [2]})",
        on_stdout=lambda message: seen.append(message.line),
    )
    assert "".join(seen).strip() == "hi"
    assert run.logs.stdout == ["hi\n"]
    assert run.error is None
    assert run.results[0].data == {"z": [1], "a": [2]}
    assert run.results[0].is_main_result
    assert "<table" in run.results[0].html


def test_the_sdk_reads_charts_pictures_and_errors(remote):
    run = remote.run_code(
        "import matplotlib.pyplot as plt\nplt.bar(['a', 'b'], [1, 2])\nplt.title('T')\nplt.show()"
    )
    chart = run.results[0].chart.to_dict()
    assert chart["type"] == "bar" and chart["title"] == "T"
    assert [(bar["label"], bar["value"]) for bar in chart["elements"]] == [("a", 1), ("b", 2)]
    assert run.results[0].png
    failed = remote.run_code("1/0")
    assert (failed.error.name, failed.error.value) == ("ZeroDivisionError", "division by zero")


def test_the_sdk_makes_lists_restarts_and_removes_contexts(remote):
    context = remote.create_code_context(cwd="/tmp")
    assert context.language == "python" and context.cwd == "/tmp"
    assert remote.run_code("x = 2; x + 2", context=context).text == "4"
    assert remote.run_code("x").error.name == "NameError"
    assert context.id in [other.id for other in remote.list_code_contexts()]
    remote.restart_code_context(context)
    assert remote.run_code("x", context=context).error.name == "NameError"
    remote.remove_code_context(context)
    assert context.id not in [other.id for other in remote.list_code_contexts()]


def test_the_sdk_manages_the_sandbox(remote):
    info = remote.get_info()
    assert info.sandbox_id == remote.sandbox_id
    assert info.metadata == {"by": "sdk"}
    before = info.end_at
    remote.set_timeout(600)
    assert remote.get_info().end_at > before
    assert remote.is_running()
    assert remote.sandbox_id in [listed.sandbox_id for listed in Sandbox.list().next_items()]
    assert Sandbox.connect(remote.sandbox_id).run_code("1 + 1").text == "2"
    assert remote.kill() is True
    assert remote.kill() is False


def test_the_sdk_pauses_and_a_connection_resumes(remote):
    context = remote.create_code_context()
    remote.run_code("x = 'kept'", context=context)
    assert remote.pause() is True
    assert remote.pause() is False
    again = Sandbox.connect(remote.sandbox_id)
    assert again.run_code("x", context=context).text == "kept"


def test_the_sdk_forks_and_the_copies_go_their_own_ways(remote):
    context = remote.create_code_context()
    remote.run_code("x = 1", context=context)
    left, right = remote.fork(count=2, timeout=120)
    assert left.run_code("x += 1; x", context=context).text == "2"
    assert right.run_code("x += 10; x", context=context).text == "11"
    assert remote.run_code("x", context=context).text == "1"
    assert left.kill() and right.kill()


def test_the_sdk_makes_uses_lists_and_deletes_snapshots(remote):
    remote.run_code("x = 'in the snapshot'")
    made = remote.create_snapshot(name="by-the-sdk")
    listed = remote.list_snapshots().next_items()
    assert [snapshot.snapshot_id for snapshot in listed] == [made.snapshot_id]
    copy = Sandbox.create(made.snapshot_id, timeout=120)
    assert copy.run_code("x").text == "in the snapshot"
    assert copy.kill()
    assert Sandbox.delete_snapshot(made.snapshot_id) is True
    assert Sandbox.delete_snapshot(made.snapshot_id) is False
