"""A small client of a running gateway, with nothing but the standard library. Copy it.

CELLBLOCK_URL=http://127.0.0.1:8888 CELLBLOCK_TOKEN=... python3 ...
"""

import json
import os
import urllib.request
from dataclasses import dataclass
from urllib.parse import quote

URL = os.environ.get("CELLBLOCK_URL", "http://127.0.0.1:8888")


def call(method: str, path: str, body: object = None, **headers: str) -> bytes:
    """One request; JSON bodies, or bytes as they are. An error status raises HTTPError."""
    is_json = not isinstance(body, bytes) and body is not None
    request = urllib.request.Request(
        URL + path,
        data=json.dumps(body).encode() if is_json else body,
        method=method,
        headers={
            "Authorization": "Bearer " + os.environ["CELLBLOCK_TOKEN"],
            "Content-Type": "application/json" if is_json else "application/octet-stream",
            **headers,
        },
    )
    with urllib.request.urlopen(request, timeout=600) as response:
        return response.read()


@dataclass
class Outcome:
    """What one cell did."""

    stdout: str
    error: dict | None  # {"name", "value", "traceback"}


@dataclass(frozen=True)
class Sandbox:
    id: str

    @staticmethod
    def create(template: str = "default", timeout: int = 600) -> "Sandbox":
        answer = call("POST", "/sandboxes", {"templateID": template, "timeout": timeout})
        return Sandbox(json.loads(answer)["sandboxID"])

    def run(self, code: str, timeout: float = 60) -> Outcome:
        body = {"code": code, "timeout": timeout}
        answer = call("POST", "/execute", body, **{"E2b-Sandbox-Id": self.id})
        lines = [json.loads(line) for line in answer.splitlines()]
        text = "".join(line["text"] for line in lines if line["type"] == "stdout")
        errors = [line for line in lines if line["type"] == "error"]
        return Outcome(text, errors[0] if errors else None)

    def run_for_llm(self, code: str, max_bytes: int = 8000) -> str:
        """What the cell did, as one Markdown document that fits a model's context."""
        body = {"code": code, "view": "llm", "view_budget": max_bytes}
        return call("POST", "/execute", body, **{"E2b-Sandbox-Id": self.id}).decode()

    def write(self, path: str, content: str) -> None:
        call("PUT", f"/sandboxes/{self.id}/files/{quote(path)}", content.encode())

    def fork(self, count: int) -> list["Sandbox"]:
        children = json.loads(call("POST", f"/sandboxes/{self.id}/fork", {"count": count}))
        return [Sandbox(child["sandbox"]["sandboxID"]) for child in children if "sandbox" in child]

    def snapshot(self, name: str | None = None) -> str:
        body = {"name": name} if name else {}
        answer = json.loads(call("POST", f"/sandboxes/{self.id}/snapshots", body))
        return answer["snapshotID"]

    def restore(self, snapshot: str) -> None:
        call("POST", f"/sandboxes/{self.id}/restore", {"snapshot": snapshot})

    def delete(self) -> None:
        call("DELETE", f"/sandboxes/{self.id}")
