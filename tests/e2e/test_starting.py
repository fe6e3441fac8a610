"""While a template is built, clients are told what the gateway does, and are served afterwards.

The template is held back by its lock, as another process that builds it would.
"""

import contextlib
import fcntl
import json
import shutil
import threading

import pytest
import requests
import websocket

from support.gateway import Gateway
from support.paths import cache_folder
from support.ports import free_port

REASON = "building the template: waiting for another process that builds this template"


class HeldTemplates:
    """A cache folder with the images, and with no template until release()."""

    def __init__(self, folder):
        self.folder = folder
        self.kept = cache_folder() / "templates"
        (folder / "templates").mkdir(parents=True)
        for entry in cache_folder().iterdir():
            if entry.name not in ("templates", "run"):
                (folder / entry.name).symlink_to(entry)
        self.keys = [path.parent.name for path in self.kept.glob("*/manifest.json")]
        self.locks = [open(folder / "templates" / f"{key}.lock", "w") for key in self.keys]
        for lock in self.locks:
            fcntl.flock(lock, fcntl.LOCK_EX)

    def release(self):
        for key in self.keys:
            with contextlib.suppress(FileExistsError):
                (self.folder / "templates" / key).symlink_to(self.kept / key)
        for lock in self.locks:
            lock.close()


@pytest.fixture
def held(gateway, tmp_path):  # a gateway has started, so there is a template
    templates = HeldTemplates(tmp_path / "cache")
    yield templates
    templates.release()
    shutil.rmtree(templates.folder)


class Starting:
    """A gateway that is not ready yet: Gateway() returns only when it is."""

    def __init__(self, folder, cache, wait_s):
        self.state = folder / "state"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.gateway = None
        self.ended = threading.Event()
        options = ["--listen", f"127.0.0.1:{self.port}", "--cache-dir", str(cache)]
        options += ["--start-wait-s", str(wait_s)]
        self.thread = threading.Thread(target=self._start, args=options)
        self.thread.start()

    def _start(self, *options):
        try:
            self.gateway = Gateway(*options, state=self.state)
        except AssertionError:  # it ended: the tests see no gateway
            pass
        finally:
            self.ended.set()

    def request(self, method, path, **options):
        token = (self.state / "token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        options = {"headers": headers, "timeout": 120, **options}
        return requests.request(method, self.url + path, **options)

    def until_it_waits(self):
        while not self.ended.wait(0.05):
            with contextlib.suppress(requests.ConnectionError):
                answer = requests.get(self.url + "/health", timeout=60)
                if REASON in answer.text:
                    return answer
        raise AssertionError("it ended before it told what it waits for")


@pytest.fixture
def starting(held, tmp_path, request):
    """`request.param`: how long requests may wait for it."""
    running = Starting(tmp_path, held.folder, wait_s=request.param)
    yield running
    held.release()
    running.thread.join()
    if running.gateway:
        running.gateway.remove()


@pytest.mark.parametrize("starting", [1], indirect=True)
def test_clients_are_told_that_the_template_is_being_built(starting, held):
    health = starting.until_it_waits()
    assert health.status_code == 503 and "starting for" in health.text
    assert int(health.headers["Retry-After"]) >= 1
    refused = {
        "execute": starting.request("POST", "/execute", json={"code": "1"}),
        "sandboxes": starting.request("POST", "/sandboxes", json={"templateID": "x"}),
        "kernels": starting.request("GET", "/api/kernelspecs"),
    }
    for door, answer in refused.items():
        assert answer.status_code == 503 and REASON in answer.text, (door, answer.text)
        assert "Retry-After" in answer.headers, door
    # Who may not ask learns nothing but that; who asks how it is, is answered.
    assert starting.request("GET", "/api/kernelspecs", headers={}).status_code == 403
    assert starting.request("GET", "/version").json()["name"] == "cellblock"
    assert "cellblock_pool_waiting" in starting.request("GET", "/metrics").text
    token = (starting.state / "token").read_text().strip()
    address = f"{starting.url.replace('http', 'ws')}/api/kernels/k/channels?token={token}"
    with pytest.raises(websocket.WebSocketBadStatusException) as refusal:
        websocket.create_connection(address, timeout=60)
    assert refusal.value.status_code == 503

    held.release()
    assert starting.ended.wait(120) and starting.gateway
    assert starting.request("GET", "/health").json() == "OK"
    assert starting.gateway.execute("40 + 2").text == "42"
    steps = [
        json.loads(line)["step"]
        for line in starting.gateway.log().splitlines()
        if '"template_progress"' in line
    ]
    assert steps == [REASON.removeprefix("building the template: ")]


@pytest.mark.parametrize("starting", [100], indirect=True)
def test_a_request_that_comes_a_little_early_waits_and_is_served(starting, held):
    starting.until_it_waits()
    threading.Timer(1, held.release).start()
    answer = starting.request("POST", "/execute", json={"code": "print(6 * 7)"})
    assert answer.status_code == 200 and '"text":"42\\n"' in answer.text
