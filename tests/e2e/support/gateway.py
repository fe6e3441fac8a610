"""A real `cellblock serve` for tests: its own state folder and port, stopped at the end."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("CELLBLOCK_BINARY", ROOT / "build" / "cellblock"))
START_TIMEOUT_S = 900  # a template that must be built first; with a warm cache it takes seconds


def lines_of(response: requests.Response) -> Iterator[dict]:
    """Each JSON line as it arrives. requests' own iter_lines(1) reads byte by byte: a line of 1 MB
    took minutes, and the gateway does not wait so long for a client that reads nothing."""
    begun: list[bytes] = []
    for piece in response.iter_content(chunk_size=None):
        *ends, rest = piece.split(b"\n")
        for end in ends:
            line = b"".join([*begun, end])
            begun = []
            if line:
                yield json.loads(line)
        begun.append(rest)
    assert not b"".join(begun), "the stream ended within a line"


@dataclass
class Execution:
    """What one /execute answered, line by line and summed up."""

    lines: list[dict] = field(default_factory=list)

    def of(self, kind: str) -> list[dict]:
        return [line for line in self.lines if line["type"] == kind]

    @property
    def stdout(self) -> str:
        return "".join(line["text"] for line in self.of("stdout"))

    @property
    def stderr(self) -> str:
        return "".join(line["text"] for line in self.of("stderr"))

    @property
    def results(self) -> list[dict]:
        return self.of("result")

    @property
    def text(self) -> str | None:
        main = [line for line in self.results if line["is_main_result"]]
        return main[-1].get("text") if main else None

    @property
    def artifacts(self) -> list[dict]:
        return self.of("artifact")

    @property
    def error(self) -> dict | None:
        errors = self.of("error")
        return errors[0] if errors else None


class Gateway:
    """`state`: of an earlier gateway, which is then its owner's to remove."""

    command = (str(BINARY), "serve")

    def __init__(
        self, *arguments: str, env: dict[str, str] | None = None, state: Path | None = None
    ):
        self.folder = Path(tempfile.mkdtemp(prefix="cellblock-e2e-"))
        self.state = state or self.folder / "state"
        self.log_path = self.folder / "gateway.log"
        read_end, write_end = os.pipe()
        command = [
            *self.command,
            *(() if "--listen" in arguments else ("--listen", "127.0.0.1:0")),
            "--state-dir",
            str(self.state),
            "--ready-fd",
            str(write_end),
            *arguments,
        ]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                pass_fds=[write_end],
                env={**os.environ, **(env or {})},
            )
        os.close(write_end)
        try:
            self.url = self._wait_ready(read_end)
        except BaseException:
            self.stop()
            raise
        given = (env or {}).get("KG_AUTH_TOKEN")
        self.token = given or (self.state / "token").read_text().strip()
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {self.token}"

    def _wait_ready(self, read_end: int) -> str:
        os.set_blocking(read_end, False)
        text = b""
        deadline = time.monotonic() + START_TIMEOUT_S
        with os.fdopen(read_end, "rb", buffering=0) as pipe:
            while b"http" not in text or not text.endswith(b"\n"):
                left = deadline - time.monotonic()
                readable, _, _ = select.select([pipe], [], [], max(left, 0))
                chunk = pipe.read(4096) if readable else b""
                if not chunk:
                    raise AssertionError(f"the gateway did not get ready:\n{self.log()}")
                text += chunk
        return re.search(r"https?://[^\s/]+", text.decode()).group()

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")[-20_000:]

    def consoles(self) -> str:
        """The VM consoles of the run folders that still exist."""
        parts = []
        for path in sorted(self.state.glob("run/*/console*")):
            parts.append(f"--- {path}\n{path.read_text(errors='replace')[-4000:]}")
        return "\n".join(parts)

    def request(self, method: str, path: str, **options) -> requests.Response:
        options.setdefault("timeout", 120)
        return self.session.request(method, self.url + path, **options)

    def stream(self, code: str, *, sandbox: str | None = None, **body) -> Iterator[dict]:
        """The lines of POST /execute, each as it arrives."""
        headers = {"E2b-Sandbox-Id": sandbox} if sandbox else {}
        with self.request(
            "POST",
            "/execute",
            json={"code": code, **body},
            headers=headers,
            stream=True,
            timeout=180,
        ) as response:
            assert response.status_code == 200, (response.status_code, response.text)
            yield from lines_of(response)

    def execute(self, code: str, **options) -> Execution:
        return Execution(list(self.stream(code, **options)))

    def create_sandbox(self, **body) -> str:
        body.setdefault("templateID", "default")
        response = self.request("POST", "/sandboxes", json=body)
        assert response.status_code == 201, (response.status_code, response.text)
        return response.json()["sandboxID"]

    def delete_sandbox(self, sandbox: str) -> None:
        response = self.request("DELETE", f"/sandboxes/{sandbox}")
        assert response.status_code == 204, (response.status_code, response.text)

    def stop(self) -> int:
        """Asks it to end as a supervisor would; its VMs must be gone afterwards."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                self.end_machines()
        return self.process.returncode

    def end_machines(self) -> None:
        """Those of a gateway that had to be killed: they outlive it."""
        for path in self.state.glob("run/*/manifest.json"):
            with suppress(OSError, ValueError):
                os.kill(json.loads(path.read_text())["pid"], signal.SIGKILL)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
