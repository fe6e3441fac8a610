"""Clones of one memory image must not agree on anything random, and each must know the time."""

import json
import time

CODE = """
import json, os, random, secrets, ssl, time, uuid
import numpy
print(json.dumps({
    'random': random.random(), 'numpy': float(numpy.random.rand()), 'uuid4': str(uuid.uuid4()),
    'uuid1': str(uuid.uuid1()), 'urandom': os.urandom(16).hex(), 'ssl': ssl.RAND_bytes(16).hex(),
    'secrets': secrets.token_hex(16), 'hostname': os.uname().nodename, 'time': time.time(),
}))
"""
CLONES = 20
CLOCK_ERROR_S = 0.050


def test_twenty_clones_differ_in_randomness_and_agree_on_the_time(gateway):
    answers = []
    for _ in range(CLONES):
        sandbox = gateway.create_sandbox(timeout=300)
        # Once to load what the first cell of a clone loads, so that the clock is read promptly.
        first = json.loads(gateway.execute(CODE, sandbox=sandbox).stdout)
        clocks = []
        for _ in range(5):
            before = time.time()
            stamp = float(gateway.execute("print(repr(time.time()))", sandbox=sandbox).stdout)
            after = time.time()
            # The guest read its clock between the two: the error is what lies outside.
            clocks.append(max(before - stamp, stamp - after, 0.0))
        first["clock_error"] = min(clocks)
        answers.append(first)
        gateway.delete_sandbox(sandbox)
    for name in ("random", "numpy", "uuid4", "uuid1", "urandom", "ssl", "secrets", "hostname"):
        values = [answer[name] for answer in answers]
        assert len(set(values)) == CLONES, (name, values)
    for answer in answers:
        assert answer["clock_error"] <= CLOCK_ERROR_S, answer
