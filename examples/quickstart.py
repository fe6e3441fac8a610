#!/usr/bin/env python3
"""Quickstart: upload a CSV, analyse it cell by cell in a microVM, show the table, keep the chart.

Only Python's standard library, so that it reads as what an agent has to do.
Needs a running gateway:
    CELLBLOCK_URL=http://127.0.0.1:8888 CELLBLOCK_TOKEN=... python3 examples/quickstart.py
"""

import base64
import json
import os
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

URL = os.environ.get("CELLBLOCK_URL", "http://127.0.0.1:8888")
TOKEN = os.environ.get("CELLBLOCK_TOKEN") or sys.exit(
    "quickstart.py: set CELLBLOCK_TOKEN to the gateway's token (the file `token` in its state "
    "folder), and CELLBLOCK_URL if the gateway is not at " + URL
)
HERE = Path(__file__).resolve().parent
OUTPUT = Path(os.environ.get("CELLBLOCK_OUTPUT", "quickstart-output"))


def call(method: str, path: str, body: bytes | None = None, **headers: str):
    request = urllib.request.Request(
        URL + path,
        data=body,
        method=method,
        headers={"Authorization": f"Bearer {TOKEN}", **headers},
    )
    return urllib.request.urlopen(request, timeout=300)


def call_json(method: str, path: str, body: dict) -> dict:
    data = json.dumps(body).encode()
    with call(method, path, data, **{"Content-Type": "application/json"}) as response:
        text = response.read()
    return json.loads(text) if text else {}


def execute(code: str, sandbox: str) -> Iterator[dict]:
    """One cell; yields each line of the answer as it arrives."""
    data = json.dumps({"code": code}).encode()
    headers = {"Content-Type": "application/json", "E2b-Sandbox-Id": sandbox}
    with call("POST", "/execute", data, **headers) as response:
        for line in response:
            yield json.loads(line)


def markdown(columns: dict[str, list]) -> str:
    names = list(columns)
    rows = zip(*columns.values(), strict=True)
    lines = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def show(line: dict) -> None:
    """What a program that uses the gateway does with each kind of line."""
    if line["type"] in ("stdout", "stderr"):
        print(line["text"], end="")
    elif line["type"] == "error":
        print(f"{line['name']}: {line['value']}\n{line['traceback']}", file=sys.stderr)
        raise SystemExit(1)
    elif line["type"] == "result" and "png" in line:
        OUTPUT.mkdir(exist_ok=True)
        (OUTPUT / "chart.png").write_bytes(base64.b64decode(line["png"]))
        (OUTPUT / "chart.json").write_text(json.dumps(line["chart"], indent=1))
        print(f"chart: {OUTPUT / 'chart.png'}; its data: {OUTPUT / 'chart.json'}")
    elif line["type"] == "result" and "data" in line:
        print(markdown(line["data"]))
    elif line["type"] == "result":
        print(line.get("text", ""))


CELLS = [
    "import pandas as pd\npenguins = pd.read_csv('penguins.csv')\nprint(len(penguins), 'penguins')",
    "means = (penguins.groupby('species')[['bill_length_mm', 'body_mass_g']].mean().round(1)"
    ".reset_index())\nmeans",
    "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\n"
    "ax.bar(means['species'], means['body_mass_g'])\n"
    "ax.set_title('Penguins of the Palmer Archipelago')\n"
    "ax.set_ylabel('Mean body mass (g)')\nplt.show()",
]


def main() -> None:
    sandbox = call_json("POST", "/sandboxes", {"templateID": "default", "timeout": 300})[
        "sandboxID"
    ]
    print(f"sandbox {sandbox} is running")
    csv = (HERE / "data" / "penguins.csv").read_bytes()
    call("PUT", f"/sandboxes/{sandbox}/files/penguins.csv", csv).close()
    print(f"uploaded penguins.csv ({len(csv)} bytes)")
    for number, code in enumerate(CELLS, 1):
        print(f"\n--- cell {number}")
        for line in execute(code, sandbox):
            show(line)
    call("DELETE", f"/sandboxes/{sandbox}").close()


if __name__ == "__main__":
    main()
