"""Clients that outlive gateways: each runs cells in a kernel of its own, one after the other, checks
all that comes back, and holds that each cell ran once, whoever served it."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator

import requests
import websocket

from support.kernels import KernelSocket, create_kernel, execute_request, is_reply_to
from support.mortal import Caller, Mortal, numbers_in

NUMBERS = 150
COUNT = f"""
import time
ran = globals().get('ran', 0) + 1
for number in range({NUMBERS}):
    print(number, flush=True)
    time.sleep(0.01)
"""
ROWS = 3000
# Half of the numbers, a table, the other half, a file.
SHOW = f"""
import pandas as pd, time
from IPython.display import display
ran = globals().get('ran', 0) + 1
for number in range({NUMBERS}):
    if number == {NUMBERS // 2}:
        display(pd.DataFrame({{{{'cell': [{{cell}}] * {ROWS}, 'row': range({ROWS})}}}}))
    print(number, flush=True)
    time.sleep(0.01)
with open('made-{{cell}}.txt', 'w') as file:
    file.write('{{cell}} ' * 50_000)
"""
LOST = (
    ConnectionError,
    OSError,
    requests.ConnectionError,
    requests.exceptions.ChunkedEncodingError,
    websocket.WebSocketException,
)


class Client(ABC, threading.Thread):
    def __init__(self, mortal: Mortal):
        super().__init__(daemon=True)
        self.mortal = mortal
        self.over = threading.Event()
        self.cells = 0
        self.failure = ""

    def run(self) -> None:
        try:
            while not self.over.is_set():
                self.one_cell()
                self.cells += 1
        except Exception as error:
            self.failure = f"{type(self).__name__}, cell {self.cells}: {error!r}"

    @abstractmethod
    def one_cell(self) -> None: ...

    @abstractmethod
    def cells_that_ran(self) -> int:
        """As the kernel's own variable counts them."""

    def through_gateways(self, call):
        """What `call` returns, once a gateway is there for it."""
        while True:
            try:
                return call(self.mortal.gateway)
            except LOST:
                time.sleep(0.05)  # the next gateway is on its way


class ExecuteClient(Client):
    """POST /execute, and GET /executions/{id}/stream for the rest."""

    def __init__(self, mortal: Mortal):
        super().__init__(mortal)
        self.sandbox = mortal.gateway.create_sandbox(timeout=3600)
        self.begun = 0
        self.unnamed = 0  # cells whose answer's head was lost: they may have run

    def one_cell(self) -> None:
        self.begun += 1
        caller = None
        try:
            caller = Caller(self.mortal.gateway, SHOW.format(cell=self.begun), self.sandbox)
            caller.read()
        except LOST:
            if caller is None:
                self.unnamed += 1
                self.cells -= 1
                return
        lines = list(caller.lines)
        if not lines or lines[-1]["type"] != "end_of_execution":
            lines.extend(self.mortal.follow(caller.id, len(lines)))
        assert numbers_in(lines) == list(range(NUMBERS)), numbers_in(lines)
        assert [line for line in lines if line["type"] in ("error", "dropped")] == []
        self.check_artifacts([line for line in lines if line["type"] == "artifact"])

    def check_artifacts(self, told: list[dict]) -> None:
        by_kind = {line["kind"]: line for line in told}
        assert sorted(line["kind"] for line in told) == ["file", "table"], told
        file = self.through_gateways(lambda gateway: gateway.request("GET", by_kind["file"]["url"]))
        assert file.text == f"{self.begun} " * 50_000
        rows = self.through_gateways(
            lambda gateway: gateway.request(
                "GET", f"/artifacts/{by_kind['table']['id']}/rows?offset={ROWS - 1}&limit=5"
            )
        )
        assert rows.status_code == 200, rows.text
        assert rows.json()["rows"] == [[self.begun, ROWS - 1]], rows.text

    def cells_that_ran(self) -> int:
        return int(self.mortal.gateway.execute("ran", sandbox=self.sandbox).text)


class WebSocketClient(Client):
    """A Jupyter client that comes back under its name, and asks again what nothing came back of."""

    def __init__(self, mortal: Mortal):
        super().__init__(mortal)
        self.kernel = create_kernel(mortal.gateway)
        self.socket: KernelSocket | None = None

    def connected(self) -> KernelSocket:
        if self.socket is None:
            self.socket = self.through_gateways(
                lambda gateway: KernelSocket(gateway, self.kernel, "tab")
            )
        return self.socket

    def messages(self, asked: dict) -> Iterator[dict]:
        """All that is said of it, each message once."""
        known = set()
        name = asked["header"]["msg_id"]
        sent = False
        while True:
            try:
                socket = self.connected()
                if not sent:
                    socket.send(asked)
                    sent = True
                message = socket.receive()
            except LOST:
                self.socket = None
                sent = bool(known)
                continue
            mine = message["parent_header"].get("msg_id") == name
            if mine and message["header"]["msg_id"] not in known:
                known.add(message["header"]["msg_id"])
                yield message

    def ask(self, code: str) -> str:
        """What the cell printed."""
        asked = execute_request(code)
        printed = []
        for message in self.messages(asked):
            if message["header"]["msg_type"] == "stream":
                printed.append(message["content"]["text"])
            if is_reply_to(message, asked["header"]["msg_id"]):
                assert message["content"]["status"] == "ok", message
                return "".join(printed)
        raise AssertionError("the stream of messages ended")

    def one_cell(self) -> None:
        printed = [int(word) for word in self.ask(COUNT).split()]
        assert printed == list(range(NUMBERS)), printed

    def cells_that_ran(self) -> int:
        return int(self.ask("print(ran)"))


class ZmqClient(Client):
    """A client of jupyter_client, which knows of no gateway."""

    def __init__(self, mortal: Mortal, client):
        super().__init__(mortal)
        self.client = client

    def ask(self, code: str) -> str:
        printed = []

        def hook(message: dict) -> None:
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])

        reply = self.client.execute_interactive(code, timeout=240, output_hook=hook)
        assert reply["content"]["status"] == "ok", reply["content"]
        return "".join(printed)

    def one_cell(self) -> None:
        printed = [int(word) for word in self.ask(COUNT).split()]
        assert printed == list(range(NUMBERS)), printed

    def cells_that_ran(self) -> int:
        return int(self.ask("print(ran)"))
