#!/usr/bin/env python3
"""What an end of the gateway costs: how long until the next one serves the same sandboxes.

    python3 tests/bench/adoption.py [--sandboxes 20]

Prints figures; asserts nothing about time, because speed depends on the machine. Compared with
starting as many sandboxes anew and running their first cell again. Needs what
tests/bench/sandboxes.py needs.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from support.mortal import Mortal

FILL = "import numpy as np\nrows = np.arange(1_000_000)"


def new_sandbox(mortal: Mortal) -> str:
    """A busy host may refuse some."""
    body = {"templateID": "default", "timeout": 3600}
    while True:
        answer = mortal.gateway.request("POST", "/sandboxes", json=body)
        if answer.status_code == 201:
            return answer.json()["sandboxID"]
        assert answer.status_code in (429, 503, 504), answer.text
        time.sleep(float(answer.headers.get("Retry-After", "2")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sandboxes", type=int, default=20)
    count = parser.parse_args().sandboxes
    mortal = Mortal("--sandboxes-max", str(count + 4))
    try:
        started = time.perf_counter()
        sandboxes = [new_sandbox(mortal) for _ in range(count)]
        for sandbox in sandboxes:
            assert mortal.gateway.execute(FILL, sandbox=sandbox).error is None
        made = time.perf_counter() - started
        mortal.kill()
        started = time.perf_counter()
        mortal.start()
        ready = time.perf_counter() - started
        (adopted,) = mortal.events("sandboxes_adopted")
        for sandbox in sandboxes:
            assert mortal.gateway.execute("int(rows.sum())", sandbox=sandbox).text == "499999500000"
        answered = time.perf_counter() - started
        print(f"{count} sandboxes made, and one cell run in each: {made:.1f} s")
        print(f"killed; the next gateway has adopted {adopted['sandboxes']} of {count}")
        print(f"  adoption itself: {adopted['seconds'] * 1000:.0f} ms")
        print(f"  start of the program to ready: {ready:.1f} s")
        print(f"  ... to an answer of each sandbox: {answered:.1f} s")
        print(f"  against making them anew: {made / answered:.1f} times as fast")
    finally:
        mortal.remove()


if __name__ == "__main__":
    main()
