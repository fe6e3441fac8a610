#!/usr/bin/env python3
"""A best-first search over code edits, with a live sandbox as the state of the search.

Each node of the tree is a snapshot: files, variables and all. The search takes the best one, tries
every edit that applies, scores what comes out with pytest, keeps the promising states as new
snapshots, and goes back by restoring. A language model would propose the edits; here they are a
list, good and bad ones.

    CELLBLOCK_URL=... CELLBLOCK_TOKEN=... python3 examples/tree-search/search.py
"""

import heapq
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cellblock_client import Sandbox, call  # noqa: E402

PROGRAM = """
def mean(values):
    return sum(values) / (len(values) + 1)

def median(values):
    values = values
    return values[len(values) // 2]

def is_palindrome(text):
    return text == text
"""

TESTS = """
from program import is_palindrome, mean, median

def test_mean(): assert mean([1, 2, 3]) == 2
def test_mean_of_nothing(): assert mean([]) == 0
def test_median(): assert median([3, 1, 2]) == 2
def test_median_of_an_even_number(): assert median([4, 1, 3, 2]) == 2.5
def test_palindrome(): assert is_palindrome('level')
def test_no_palindrome(): assert not is_palindrome('levels')
"""

EDITS = [
    ("(len(values) + 1)", "len(values)"),
    ("(len(values) + 1)", "max(len(values), 1)"),
    ("    values = values\n", "    values = sorted(values)\n"),
    ("    values = values\n", "    values = list(reversed(values))\n"),
    (
        "return values[len(values) // 2]",
        "half = len(values) // 2\n    return (values[half] + values[~half]) / 2",
    ),
    ("text == text", "text == text[::-1]"),
    ("text == text", "len(text) > 1"),
]

# In the kernel itself, where pytest is loaded once for the whole tree: the snapshots have it. What
# was edited is imported anew.
SCORE = """
import contextlib, io, sys
import pytest

class _Count:
    passed = 0

    def pytest_runtest_logreport(self, report):
        self.passed += report.when == 'call' and report.passed

sys.dont_write_bytecode = True
for _name in ('program', 'tests'):
    sys.modules.pop(_name, None)
_count = _Count()
with contextlib.redirect_stdout(io.StringIO()):
    pytest.main(['-q', '-p', 'no:cacheprovider', '/home/user/tests.py'], plugins=[_count])
print(_count.passed)
"""


def score(sandbox: Sandbox) -> int:
    outcome = sandbox.run(SCORE, timeout=120)
    return 0 if outcome.error else int(outcome.stdout)


def main() -> None:
    wanted = TESTS.count("def test_")
    sandbox = Sandbox.create(timeout=3600)
    sandbox.write("program.py", PROGRAM)
    sandbox.write("tests.py", TESTS)
    order = itertools.count()
    best = score(sandbox)
    print(f"start: {best} of {wanted} tests pass")
    root = sandbox.snapshot()
    # The most tests first; then the fewest edits.
    frontier = [(-best, 0, next(order), root, PROGRAM, ())]
    snapshots, trials = [root], 0
    while frontier and best < wanted:
        minus_passed, depth, _, node, program, edits = heapq.heappop(frontier)
        for number, (before, after) in enumerate(EDITS):
            if before not in program:
                continue
            sandbox.restore(node)
            edited = program.replace(before, after)
            sandbox.write("program.py", edited)
            passed = score(sandbox)
            trials += 1
            if passed <= -minus_passed:
                continue
            path = (*edits, number)
            child = sandbox.snapshot(name="-".join(map(str, path)))
            snapshots.append(child)
            heapq.heappush(frontier, (-passed, depth + 1, next(order), child, edited, path))
            print(f"{'  ' * (depth + 1)}edit {number}: {passed} of {wanted}")
            if passed > best:
                best = passed
            if best == wanted:
                break
    print(f"{trials} trials, {len(snapshots)} snapshots; the best state passes {best} of {wanted}:")
    print(sandbox.run("print(open('/home/user/program.py').read())").stdout)
    for snapshot in snapshots:
        call("DELETE", f"/snapshots/{snapshot}")
    sandbox.delete()


if __name__ == "__main__":
    main()
