"""Jobs as a client sees them: detached cells, their streams, and who is told of their end."""

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import websocket

TIMEOUT_S = 120
# Lines of a caller's answer that are none of the job's output.
NOT_OUTPUT = ("keepalive", "detached", "end_of_execution")

# Prints its steps until somebody writes the file; what it prints tells gaps and doubles.
COUNTING = """
import pathlib, time
step = 0
while not pathlib.Path('enough').exists():
    print('step', step, flush=True)
    step += 1
    time.sleep(0.02)
print('ended after', step)
"""

# How a cell begins that ends, whatever it does then, when somebody writes the file.
WAITING = """
import pathlib, time
while not pathlib.Path('enough').exists(): time.sleep(0.05)
"""


def detach(gateway, code: str, *, sandbox: str, after: float = 0.5, **body) -> tuple[list, dict]:
    """The lines that the caller got, and the one that names the job."""
    lines = list(gateway.stream(code, sandbox=sandbox, detach_after=after, **body))
    told = [line for line in lines if line["type"] == "detached"]
    assert len(told) == 1, lines
    assert lines[-1] == {"type": "end_of_execution"}
    return lines, told[0]


def job(gateway, job_id: str) -> dict:
    response = gateway.request("GET", f"/jobs/{job_id}")
    assert response.status_code == 200, (response.status_code, response.text)
    return response.json()


def ended(found: dict) -> bool:
    return found["state"] != "running"


def wait_for(gateway, job_id: str, wanted=ended) -> dict:
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        found = job(gateway, job_id)
        if wanted(found):
            return found
        assert time.monotonic() < deadline, {**found, "outputs": len(found["outputs"])}
        time.sleep(0.1)  # asked without a pause, this would be the load that the job waits for


def end(gateway, sandbox: str) -> None:
    """Lets COUNTING end in that sandbox."""
    put = gateway.request("PUT", f"/sandboxes/{sandbox}/files/enough", data=b"x")
    assert put.status_code == 201, put.text


def text_of(lines: list[dict]) -> str:
    return "".join(line["text"] for line in lines if line["type"] == "stdout")


def check_counting(text: str) -> None:
    """Every step once, in order, and the end."""
    *steps, last = text.splitlines()
    assert steps == [f"step {i}" for i in range(len(steps))], text
    assert last == f"ended after {len(steps)}"


@dataclass
class Event:
    id: str | None = None
    event: str = "message"
    data: str = ""


def events(response):
    """Server-Sent Events, as the HTML standard reads them."""
    current = Event()
    for line in response.iter_lines(chunk_size=1, decode_unicode=True):
        if not line:
            if current.data:
                yield current
            current = Event()
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            current.id = value
        elif name == "event":
            current.event = value
        elif name == "data":
            current.data += value


def follow(gateway, job_id: str, last_event_id: str | None = None, **options):
    headers = {"Last-Event-ID": last_event_id} if last_event_id is not None else {}
    response = gateway.request(
        "GET", f"/jobs/{job_id}/stream", headers=headers, stream=True, **options
    )
    assert response.status_code == 200, (response.status_code, response.text)
    assert response.headers["Content-Type"] == "text/event-stream"
    return response


def open_socket(gateway, job_id: str, position: int = 0):
    url = gateway.url.replace("http", "ws", 1)
    return websocket.create_connection(
        f"{url}/jobs/{job_id}/stream?from={position}&token={gateway.token}", timeout=TIMEOUT_S
    )


def messages(socket):
    """Until the gateway closes; the last thing is the close code."""
    while True:
        opcode, data = socket.recv_data()
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            yield int.from_bytes(data[:2], "big")
            return
        yield json.loads(data)


@dataclass
class Receiver:
    """An HTTP server that takes webhooks; `answers` are its next statuses, then 200."""

    answers: list[int] = field(default_factory=list)
    heard: list[dict] = field(default_factory=list)

    def __enter__(self):
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.heard.append({"headers": dict(self.headers), "body": body})
                status = receiver.answers.pop(0) if receiver.answers else 200
                self.send_response(status)
                if status in (301, 302, 307, 308):
                    self.send_header("Location", receiver.url + "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
