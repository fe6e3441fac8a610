"""Fixtures for tests in real microVMs. A failing test shows the gateway's log and the consoles."""

import pytest

from support.browser import build_chat
from support.gateway import BINARY, Gateway

# Begun first, so that no worker is left with one of them when the others have nothing more to do
# (seconds on two cores without KVM: 350, 190, 220, 120, 110, 110, 90, 85).
LONGEST = [
    "test_gallery.py",
    "test_soak.py",
    "test_hostile.py",
    "test_files.py",
    "test_examples.py",
    "test_gateway_dies.py",
    "test_many_children.py",
    "test_gateway_dies_under_load.py",
]


def pytest_collection_modifyitems(items):
    first = {name: at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.path.name, len(LONGEST)))


@pytest.fixture(scope="session")
def chat_page():
    """Beside the program, where the gateway looks for the page."""
    folder = BINARY.parent / "chat"
    build_chat(folder)
    return folder


@pytest.fixture(scope="session")
def gateway():
    running = Gateway()
    yield running
    running.remove()


@pytest.fixture
def sandbox(gateway):
    """A sandbox of the test's own, deleted afterwards (it may have died by then)."""
    sandbox_id = gateway.create_sandbox(timeout=600)
    yield sandbox_id
    gateway.request("DELETE", f"/sandboxes/{sandbox_id}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    gateway = item.funcargs.get("gateway") if hasattr(item, "funcargs") else None
    if report.failed and isinstance(gateway, Gateway):
        report.sections.append(("gateway log", gateway.log()))
        report.sections.append(("VM consoles", gateway.consoles()))
