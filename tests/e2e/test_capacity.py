"""Starts beyond what there is room for: a wait in line, then a clear refusal that says when to
come back."""

import threading
from pathlib import Path

import pytest
from support.gateway import Gateway
from support.kernels import wait_until


@pytest.fixture
def gateway_of():
    """Makes gateways with a configuration; all are gone at the end."""
    made = []

    def make(**settings):
        environment = {f"CELLBLOCK_{name.upper()}": str(value) for name, value in settings.items()}
        made.append(Gateway("--pool-size", "0", env=environment))
        return made[-1]

    yield make
    for gateway in made:
        gateway.remove()


def metric(gateway, name: str) -> float:
    lines = gateway.request("GET", "/metrics").text.splitlines()
    [value] = [line.split()[-1] for line in lines if line.startswith(name + " ")]
    return float(value)


def test_a_start_beyond_the_machines_waits_until_one_is_free(gateway_of):
    gateway = gateway_of(sandboxes_max=1, start_wait_s=120)
    first = gateway.create_sandbox(timeout=600)
    second = {}

    def create():
        second["answer"] = gateway.request("POST", "/sandboxes", json={"timeout": 600})

    waiter = threading.Thread(target=create)
    waiter.start()
    wait_until(lambda: metric(gateway, "cellblock_pool_waiting") == 1, "the second to wait")
    assert "answer" not in second
    gateway.request("DELETE", f"/sandboxes/{first}")
    waiter.join(120)
    assert second["answer"].status_code == 201, second["answer"].text
    assert metric(gateway, "cellblock_pool_waiting") == 0


def test_a_start_that_waited_in_vain_is_refused_with_a_reason_and_a_time(gateway_of):
    gateway = gateway_of(sandboxes_max=1, start_wait_s=0)
    gateway.create_sandbox(timeout=600)
    for method, path in (("POST", "/sandboxes"), ("POST", "/api/kernels")):
        answer = gateway.request(method, path, json={})
        assert answer.status_code == 503, answer.text
        assert "all 1 machines are in use" in answer.json()["message"]
        assert "sandboxes_max" in answer.text
        assert answer.headers["Retry-After"] == "5"


def test_memory_is_promised_only_as_far_as_the_setting_allows(gateway_of):
    gateway = gateway_of(memory_overcommit_percent=10, start_wait_s=0, sandbox_memory_mib=256)
    room = metric(gateway, "cellblock_memory_promised_max_bytes")
    assert 0 < room < metric(gateway, "cellblock_host_memory_available_bytes")
    gateway.create_sandbox(timeout=600)
    promised = metric(gateway, "cellblock_memory_promised_bytes")
    assert promised >= 256 * 2**20
    answer = None
    while promised < room:
        answer = gateway.request("POST", "/sandboxes", json={"memoryMB": 1024, "timeout": 600})
        if answer.status_code != 201:
            break
        promised = metric(gateway, "cellblock_memory_promised_bytes")
    assert answer.status_code == 503, answer.text
    assert "promised to sandboxes" in answer.json()["message"]
    assert "memory_overcommit_percent" in answer.text
    assert answer.headers["Retry-After"] == "5"


def host_memory_mib() -> tuple[int, int]:
    """In all, and available."""
    fields = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    total, available = (int(fields[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
    return total // 1024, available // 1024


def test_memory_that_gets_short_is_told_before_starts_are_refused(gateway_of):
    _, available = host_memory_mib()
    gateway = gateway_of(host_memory_reserve_mib=available * 7 // 10, start_wait_s=0)
    wait_until(lambda: "host_memory_short" in gateway.log(), "the warning")
    assert metric(gateway, "cellblock_host_memory_short") == 1
    sandbox = gateway.create_sandbox(timeout=600)
    assert gateway.execute("print(6 * 7)", sandbox=sandbox).stdout == "42\n"
    assert gateway.log().count("host_memory_short") == 1


def test_what_the_host_keeps_for_itself_is_not_given_away(gateway_of):
    total, available = host_memory_mib()
    reserve = available + (total - available) * 6 // 10
    gateway = gateway_of(host_memory_reserve_mib=reserve, start_wait_s=0)
    refused = gateway.request("POST", "/sandboxes", json={})
    assert refused.status_code == 503, refused.text
    assert f"{reserve} MiB stay its own" in refused.json()["message"]
    assert refused.headers["Retry-After"] == "5"
