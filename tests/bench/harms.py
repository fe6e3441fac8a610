#!/usr/bin/env python3
"""How long a caller waits for the end of a cell that does harm.

    python3 tests/bench/harms.py [--runs 3]

Prints the slowest of the runs beside the 10 s that a caller is promised; asserts only that each
ends with its own typed error, because speed depends on the machine. Needs what
tests/bench/sandboxes.py needs.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from support.gateway import Gateway
from support.harms import HARMS, suffer

PROMISED_S = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    gateway = Gateway()
    try:
        print(f"{'harm':28} {'ended as':18} {'slowest':>9} {'of 10 s':>8}")
        for name, harm in HARMS.items():
            slowest, ended = 0.0, ""
            for _ in range(options.runs):
                sandbox = gateway.create_sandbox(timeout=300, **harm.sandbox)
                started = time.perf_counter()
                ended = suffer(gateway, sandbox, harm).error["name"]
                slowest = max(slowest, time.perf_counter() - started)
                gateway.request("DELETE", f"/sandboxes/{sandbox}")
            print(f"{name:28} {ended:18} {slowest:7.2f} s {slowest / PROMISED_S:7.2f}x", flush=True)
    finally:
        gateway.remove()


if __name__ == "__main__":
    main()
