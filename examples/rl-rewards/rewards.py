#!/usr/bin/env python3
"""Rewards for a policy that writes programs: each candidate runs in a fork of one warmed sandbox.

The sandbox loads the data and the checker once. Every candidate then starts from that very state,
alone, in a microVM of its own: it may crash, loop, or delete the data, and no other one notices.

    CELLBLOCK_URL=... CELLBLOCK_TOKEN=... python3 examples/rl-rewards/rewards.py [--candidates 16]
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cellblock_client import Sandbox  # noqa: E402

WARM_UP = """
import numpy as np, pandas as pd
rng = np.random.default_rng(7)
orders = pd.DataFrame({'city': rng.choice(['Bonn', 'Kyoto', 'Quito'], 50_000),
                       'price': rng.gamma(2.0, 20.0, 50_000).round(2)})
_expected = orders.groupby('city').price.mean().idxmax()

def _reward(answer):
    "1 for the right city, a little for any city at all."
    return 1.0 if answer == _expected else 0.1 if answer in set(orders.city) else 0.0
"""

# What a policy might write for: which city has the highest mean price?
PROGRAMS = [
    "answer = orders.groupby('city').price.mean().idxmax()",
    "answer = orders.groupby('city').price.sum().idxmax()",
    "means = {c: orders[orders.city == c].price.mean() for c in orders.city.unique()}\n"
    "answer = max(means, key=means.get)",
    "answer = orders.sort_values('price').city.iloc[-1]",
    "answer = 'Atlantis'",
    "answer = orders.groupby('town').price.mean().idxmax()",
    "del orders\nanswer = None",
    "while True: pass",
]


def score(sandbox: Sandbox, program: str) -> float:
    try:
        ran = sandbox.run(program, timeout=10)
        if ran.error:
            return 0.0
        judged = sandbox.run("print(_reward(answer))", timeout=10)
        return 0.0 if judged.error else float(judged.stdout)
    finally:
        sandbox.delete()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=int, default=16)
    count = parser.parse_args().candidates
    programs = [PROGRAMS[i % len(PROGRAMS)] for i in range(count)]

    parent = Sandbox.create(timeout=1200)
    warmed = parent.run(WARM_UP, timeout=120)
    assert warmed.error is None, warmed.error
    started = time.monotonic()
    children = parent.fork(count)
    forked = time.monotonic()
    with ThreadPoolExecutor(max_workers=8) as pool:
        rewards = list(pool.map(score, children, programs))
    ended = time.monotonic()
    parent.delete()

    for program, reward in zip(programs[: len(PROGRAMS)], rewards, strict=False):
        print(f"{reward:4.1f}  {program.splitlines()[0]}")
    print(f"\n{len(children)} forks in {forked - started:.2f} s")
    print(
        f"{len(rewards)} candidates scored in {ended - started:.2f} s: "
        f"{len(rewards) / (ended - started):.2f} a second"
    )


if __name__ == "__main__":
    main()
