"""Random programs of execute, fork, snapshot, restore, pause and resume over several sandboxes,
checked against a model of Python dictionaries: every sandbox has exactly the variables and files
that its history says, at every step.

CELLBLOCK_PROPERTY_SEED repeats a failed run; CELLBLOCK_PROPERTY_STEPS makes it longer.
"""

import copy
import json
import os
import random

STEPS = int(os.environ.get("CELLBLOCK_PROPERTY_STEPS", "150"))
SEED = int(os.environ.get("CELLBLOCK_PROPERTY_SEED", "0")) or random.SystemRandom().getrandbits(32)
SANDBOXES_MAX = 4
SNAPSHOTS_MAX = 4
NAMES = [f"v{i}" for i in range(5)]

LOOK = """
import json, pathlib
print(json.dumps([{k: globals()[k] for k in %r if k in globals()},
                  {f.name: f.read_text() for f in pathlib.Path('/home/user').glob('p*.txt')}]))
""" % (NAMES,)


class Model:
    """What one sandbox must hold."""

    def __init__(self):
        self.variables = {}
        self.files = {}

    def seen(self) -> list:
        return [self.variables, self.files]


class Walk:
    def __init__(self, gateway, generator: random.Random):
        self.gateway = gateway
        self.random = generator
        self.sandboxes: dict[str, Model] = {}
        self.paused: set[str] = set()
        self.snapshots: dict[str, Model] = {}
        self.log: list[str] = []

    # --- helpers ---
    def request(self, method: str, path: str, expected: int, **options):
        response = self.gateway.request(method, path, **options)
        assert response.status_code == expected, (path, response.status_code, response.text)
        return response

    def pick(self, running: bool = False) -> str | None:
        choice = sorted(set(self.sandboxes) - (self.paused if running else set()))
        return self.random.choice(choice) if choice else None

    def run(self, sandbox: str, code: str) -> str:
        execution = self.gateway.execute(code, sandbox=sandbox)
        assert execution.error is None, execution.lines
        self.paused.discard(sandbox)  # a request resumes it
        return execution.stdout

    def check(self, sandbox: str) -> None:
        assert json.loads(self.run(sandbox, LOOK)) == self.sandboxes[sandbox].seen()

    # --- steps; each says what it did, or None when it does not apply ---
    def set_variable(self):
        sandbox, name, value = self.pick(), self.random.choice(NAMES), self.random.randrange(10**6)
        if sandbox is None:
            return None
        self.run(sandbox, f"{name} = [{value}]")
        self.sandboxes[sandbox].variables[name] = [value]
        return f"{sandbox}: {name} = [{value}]"

    def change_variable(self):
        sandbox = self.pick()
        known = self.sandboxes[sandbox].variables if sandbox else {}
        if not known:
            return None
        name, value = self.random.choice(sorted(known)), self.random.randrange(10**6)
        if self.random.random() < 0.3:
            self.run(sandbox, f"del {name}")
            del known[name]
            return f"{sandbox}: del {name}"
        self.run(sandbox, f"{name}.append({value})")
        known[name].append(value)
        return f"{sandbox}: {name}.append({value})"

    def write_file(self):
        sandbox, name = self.pick(), f"p{self.random.randrange(4)}.txt"
        if sandbox is None:
            return None
        content = str(self.random.getrandbits(64))
        self.request("PUT", f"/sandboxes/{sandbox}/files/{name}", 201, data=content.encode())
        self.paused.discard(sandbox)
        self.sandboxes[sandbox].files[name] = content
        return f"{sandbox}: {name}"

    def create(self):
        if len(self.sandboxes) >= SANDBOXES_MAX:
            return None
        sandbox = self.gateway.create_sandbox(timeout=3600)
        self.sandboxes[sandbox] = Model()
        return f"create {sandbox}"

    def create_from_snapshot(self):
        if len(self.sandboxes) >= SANDBOXES_MAX or not self.snapshots:
            return None
        snapshot = self.random.choice(sorted(self.snapshots))
        sandbox = self.gateway.create_sandbox(templateID=snapshot, timeout=3600)
        self.sandboxes[sandbox] = copy.deepcopy(self.snapshots[snapshot])
        return f"create {sandbox} from {snapshot}"

    def fork(self):
        parent = self.pick(running=True)
        room = SANDBOXES_MAX - len(self.sandboxes)
        if parent is None or room < 1:
            return None
        count = self.random.randint(1, min(room, 2))
        path = f"/sandboxes/{parent}/fork"
        body = {"count": count, "timeout": 3600}
        children = self.request("POST", path, 201, json=body).json()
        ids = [child["sandbox"]["sandboxID"] for child in children]
        for child in ids:
            self.sandboxes[child] = copy.deepcopy(self.sandboxes[parent])
        return f"fork {parent} -> {ids}"

    def snapshot(self):
        sandbox = self.pick(running=True)
        if sandbox is None:
            return None
        if len(self.snapshots) >= SNAPSHOTS_MAX:
            oldest = next(iter(self.snapshots))
            self.request("DELETE", f"/snapshots/{oldest}", 204)
            del self.snapshots[oldest]
        made = self.request("POST", f"/sandboxes/{sandbox}/snapshots", 201, json={}).json()
        self.snapshots[made["snapshotID"]] = copy.deepcopy(self.sandboxes[sandbox])
        return f"snapshot {sandbox} -> {made['snapshotID']}"

    def restore(self):
        sandbox = self.pick()
        if sandbox is None or not self.snapshots:
            return None
        snapshot = self.random.choice(sorted(self.snapshots))
        body = {"snapshot": snapshot}
        self.request("POST", f"/sandboxes/{sandbox}/restore", 200, json=body)
        self.sandboxes[sandbox] = copy.deepcopy(self.snapshots[snapshot])
        self.paused.discard(sandbox)
        return f"restore {sandbox} to {snapshot}"

    def pause(self):
        sandbox = self.pick(running=True)
        if sandbox is None:
            return None
        self.request("POST", f"/sandboxes/{sandbox}/pause", 204)
        self.paused.add(sandbox)
        return f"pause {sandbox}"

    def resume(self):
        if not self.paused:
            return None
        sandbox = self.random.choice(sorted(self.paused))
        self.request("POST", f"/sandboxes/{sandbox}/resume", 201, json={"timeout": 3600})
        self.paused.discard(sandbox)
        return f"resume {sandbox}"

    def delete(self):
        if len(self.sandboxes) < 2:
            return None
        sandbox = self.pick()
        self.gateway.delete_sandbox(sandbox)
        del self.sandboxes[sandbox]
        self.paused.discard(sandbox)
        return f"delete {sandbox}"

    def look(self):
        sandbox = self.pick()
        if sandbox is None:
            return None
        self.check(sandbox)
        return f"look at {sandbox}"


def test_any_program_of_copies_and_pauses_agrees_with_the_model(gateway):
    walk = Walk(gateway, random.Random(SEED))
    weights = {
        walk.set_variable: 4,
        walk.change_variable: 4,
        walk.write_file: 2,
        walk.create: 1,
        walk.create_from_snapshot: 1,
        walk.fork: 3,
        walk.snapshot: 2,
        walk.restore: 2,
        walk.pause: 3,
        walk.resume: 2,
        walk.delete: 2,
        walk.look: 3,
    }
    try:
        walk.create()
        steps = 0
        while steps < STEPS:
            (step,) = walk.random.choices(list(weights), weights.values())
            done = step()
            if done:
                steps += 1
                walk.log.append(done)
        for sandbox in list(walk.sandboxes):
            walk.check(sandbox)
    except BaseException:
        print(f"seed {SEED}, after:", *walk.log, sep="\n  ")
        raise
    finally:
        for sandbox in walk.sandboxes:
            gateway.request("DELETE", f"/sandboxes/{sandbox}")
        for snapshot in walk.snapshots:
            gateway.request("DELETE", f"/snapshots/{snapshot}")
