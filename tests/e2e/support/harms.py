"""Cells that do harm, and the one typed error that each of them ends with. How long that takes is
printed by tests/bench/harms.py: 10 s is what a caller is promised."""

from dataclasses import dataclass, field

from support.gateway import Execution


@dataclass(frozen=True)
class Harm:
    code: str
    ends: frozenset[str]  # the names of errors that may end it
    sandbox: dict = field(default_factory=dict)  # what POST /sandboxes is given


HARMS = {
    "segfault": Harm("import ctypes; ctypes.string_at(0)", frozenset({"KernelDied"})),
    "kill everything": Harm("import os; os.system('kill -9 -1')", frozenset({"KernelDied"})),
    "kill everything as root": Harm(
        "import os; os.system('sudo sh -c \"kill -9 -1\"')",
        frozenset({"KernelDied", "SandboxGone"}),
    ),
    "memory hog": Harm(
        "x = bytearray(2 << 30)\nx[::4096] = x[::4096]",
        frozenset({"OutOfMemory"}),
        {"memoryMB": 512},
    ),
    "fork bomb": Harm("import os\nwhile True:\n    os.fork()", frozenset({"TooManyProcesses"})),
    "shell's fork bomb": Harm(
        "import subprocess\nsubprocess.run(['bash', '-c', 'b(){ b|b& };b; sleep 600'])",
        frozenset({"TooManyProcesses"}),
    ),
}


def suffer(gateway, sandbox: str, harm: Harm, **options) -> Execution:
    """Runs it; asserts that it ends with exactly one error, of its names."""
    run = gateway.execute(harm.code, sandbox=sandbox, **options)
    errors = run.of("error")
    assert len(errors) == 1, run.lines[-5:]
    assert errors[0]["name"] in harm.ends, errors[0]
    assert errors[0]["value"], "an error says why"
    assert run.lines[-1]["type"] == "end_of_execution"
    return run
