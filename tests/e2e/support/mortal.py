"""Gateways that die and come back over one state folder, and clients that outlive them."""

import json
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import requests

from support.gateway import Gateway


def is_alive(pid: int, start_time_ticks: int) -> bool:
    """The very process, not another one under its number."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    fields = text.rpartition(")")[2].split()
    return fields[0] not in "ZX" and int(fields[19]) == start_time_ticks


def start_time(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def processes_that_mention(text: str) -> list[str]:
    """Their command lines: machines, their jails, relays."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has just ended
        if text in line:
            found.append(line.strip())
    return found


class Mortal:
    """One gateway after the other with the same state; knows every machine that any of them had."""

    def __init__(self, *arguments: str):
        self.folder = Path(tempfile.mkdtemp(prefix="cellblock-mortal-"))
        self.state = self.folder / "state"
        self.arguments = ("--pool-size", "0", *arguments)
        self.machines: dict[str, tuple[int, int]] = {}
        self.logs: list[str] = []
        self.gateway: Gateway | None = None
        self.start()

    def start(self) -> Gateway:
        """The first one's port is that of all: ZeroMQ relays know the gateway by its address."""
        listen = ("--listen", self.gateway.url.removeprefix("http://")) if self.gateway else ()
        self.gateway = Gateway(*self.arguments, *listen, state=self.state)
        return self.gateway

    def note_machines(self) -> None:
        for path in self.state.glob("run/*/manifest.json"):
            try:
                manifest = json.loads(path.read_text())
            except (OSError, ValueError):
                continue
            self.machines[path.parent.name] = (manifest["pid"], manifest["start_time_ticks"])

    def kill(self) -> None:
        """SIGKILL: no handler of the gateway runs."""
        self.note_machines()
        self.gateway.process.kill()
        self.gateway.process.wait()
        self.note_machines()
        self.logs.append(self.gateway.log())

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.note_machines()
        self.gateway.process.send_signal(number)
        self.gateway.process.wait(timeout=120)
        self.logs.append(self.gateway.log())

    def restart(self) -> Gateway:
        self.kill()
        return self.start()

    def events(self, name: str) -> list[dict]:
        """Lines of the log of the gateway that runs."""
        found = []
        for line in self.gateway.log().splitlines():
            if f'"event":"{name}"' in line:
                found.append(json.loads(line))
        return found

    def alive(self) -> list[str]:
        return [name for name, process in self.machines.items() if is_alive(*process)]

    def remove(self) -> None:
        self.note_machines()
        self.gateway.remove()
        deadline = time.monotonic() + 10
        while self.alive() and time.monotonic() < deadline:
            time.sleep(0.05)
        left = self.alive()
        for name in left:
            os.kill(self.machines[name][0], signal.SIGKILL)
        folders = sorted(path.name for path in self.state.glob("run/*"))
        strays = processes_that_mention(str(self.state))
        shutil.rmtree(self.folder, ignore_errors=True)
        assert not left, f"machines outlived the last gateway: {left}"
        assert not folders, f"run folders stay: {folders}"
        assert not strays, f"processes of it are left: {strays}"

    def follow(self, execution: str, count: int) -> Iterator[dict]:
        """The lines of an execution from number `count` on, over any number of gateways."""
        while True:
            try:
                with self.gateway.request(
                    "GET",
                    f"/executions/{execution}/stream?from={count}",
                    stream=True,
                    timeout=120,
                ) as response:
                    if response.status_code != 200:
                        raise AssertionError((response.status_code, response.text))
                    for text in response.iter_lines(chunk_size=1):
                        line = json.loads(text)
                        if line["type"] == "keepalive":
                            continue
                        count += 1
                        yield line
                        if line["type"] == "end_of_execution":
                            return
            except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
                time.sleep(0.05)  # the next gateway is on its way


class Caller:
    """A POST /execute that is being read; the connection stays open until leave()."""

    def __init__(self, gateway: Gateway, code: str, sandbox: str, **body):
        self.response = gateway.request(
            "POST",
            "/execute",
            json={"code": code, **body},
            headers={"E2b-Sandbox-Id": sandbox},
            stream=True,
        )
        assert self.response.status_code == 200, self.response.text
        self.id = self.response.headers["X-Execution-Id"]
        self.lines: list[dict] = []
        self._texts = self.response.iter_lines(chunk_size=1)

    def read(self, wanted: int = 1_000_000) -> list[dict]:
        """Until so many lines are there, or the end."""
        while len(self.lines) < wanted:
            text = next(self._texts, None)
            if text is None:
                break
            line = json.loads(text)
            if line["type"] != "keepalive":
                self.lines.append(line)
        return self.lines

    def leave(self) -> None:
        self.response.close()


def numbers_in(lines: list[dict]) -> list[int]:
    text = "".join(line["text"] for line in lines if line["type"] == "stdout")
    return [int(word) for word in re.findall(r"\d+", text)]
