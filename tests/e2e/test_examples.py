"""The examples, run as their readers would run them."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pandas as pd
import pytest
from support.gateway import ROOT

AGENT = ROOT / "examples" / "agent" / "agent.py"
TREE_SEARCH = ROOT / "examples" / "tree-search" / "search.py"
REWARDS = ROOT / "examples" / "rl-rewards" / "rewards.py"
PENGUINS = ROOT / "examples" / "data" / "penguins.csv"


def run_example(gateway, script, *arguments: str, **environment: str) -> str:
    variables = {"CELLBLOCK_URL": gateway.url, "CELLBLOCK_TOKEN": gateway.token, **environment}
    done = subprocess.run(
        [sys.executable, script, *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_agent(gateway, *arguments: str, **environment: str) -> str:
    return run_example(gateway, AGENT, *arguments, **environment)


def test_the_scripted_agent_finds_the_answer_and_mends_its_mistake(gateway):
    output = run_agent(gateway)
    masses = pd.read_csv(PENGUINS).groupby("species").body_mass_g.mean()
    masses = masses.sort_values(ascending=False).round(1)
    answer = output.splitlines()[-1]
    assert answer.startswith(f"Answer: {masses.index[0]} penguins are the heaviest")
    assert f"{masses.iloc[0]} g on average" in answer
    assert f"{masses.iloc[0] - masses.iloc[1]:.1f} g more than {masses.index[1]}" in answer
    assert "AttributeError" in output and "344 rows" in output


class Completions(BaseHTTPRequestHandler):
    """A model server that asks for one cell, then answers with what it was told."""

    seen: list[dict] = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append({"path": self.path, "key": self.headers["Authorization"], **body})
        told = [m["content"] for m in body["messages"] if m["role"] == "tool"]
        if told:
            message = {"role": "assistant", "content": f"It says: {told[-1].split()[-2]}"}
        else:
            arguments = json.dumps({"code": 'print(open("numbers.csv").read().count("7"))'})
            function = {"name": "run_python", "arguments": arguments}
            call = {"id": "c1", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        answer = json.dumps({"choices": [{"message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def completions():
    server = HTTPServer(("127.0.0.1", 0), Completions)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_agent_works_with_any_chat_completions_endpoint(gateway, completions, tmp_path):
    table = tmp_path / "numbers.csv"
    table.write_text("n\n7\n71\n3\n")
    output = run_agent(
        gateway,
        *["--endpoint", completions, "--model", "some-model", "--csv", str(table)],
        *["--question", "How many sevens?"],
        LLM_API_KEY="key-1",
    )
    assert output.splitlines()[-1] == "Answer: It says: 2"
    first, second = Completions.seen
    assert first["path"] == "/v1/chat/completions" and first["key"] == "Bearer key-1"
    assert first["model"] == "some-model"
    assert first["messages"][-1] == {"role": "user", "content": "How many sevens?"}
    assert first["tools"][0]["function"]["name"] == "run_python"
    assert second["messages"][-1]["role"] == "tool"
    assert second["messages"][-1]["tool_call_id"] == "c1"


def test_the_tree_search_finds_the_edits_that_pass_all_tests(gateway):
    output = run_example(gateway, TREE_SEARCH)
    assert "start: 2 of 6 tests pass" in output, output
    assert "the best state passes 6 of 6" in output, output
    # The program that passes has the right edits, and went through states that did not.
    for right in ("max(len(values), 1)", "sorted(values)", "text[::-1]"):
        assert right in output.split("the best state")[1], output
    assert gateway.request("GET", "/snapshots").json() == []


def test_rewards_are_given_in_forks_that_do_not_touch_each_other(gateway):
    before = gateway.request("GET", "/v2/sandboxes").json()
    output = run_example(gateway, REWARDS, "--candidates", "8")
    rewards = [float(line.split()[0]) for line in output.splitlines()[:8]]
    # The right city twice, some city perhaps, none; a crash, a deletion and a loop get nothing.
    assert rewards[0] == rewards[2] == 1.0, output
    assert rewards[1] >= 0.1 and rewards[3] >= 0.1
    assert rewards[4:] == [0.0, 0.0, 0.0, 0.0], output
    assert "8 candidates scored in" in output and "a second" in output
    assert gateway.request("GET", "/v2/sandboxes").json() == before


def readme_python(heading: str) -> list[str]:
    readme = (ROOT / "README.md").read_text()
    section = readme.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [block.split("\n```")[0] for block in section.split("```python\n")[1:]]


def test_the_readmes_snippets_about_copies_and_jobs_do_what_they_say(gateway, tmp_path):
    script = tmp_path / "snippets.py"
    copies = readme_python("Fork, snapshot, pause")
    script.write_text("\n".join([*copies, *readme_python("Long cells: detach")]))
    output = run_example(gateway, script)
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    printed = [line["text"].strip() for line in lines if line["type"] == "stdout"]
    # In the forks, after the restore and the pause, beside the job; and what the job came to.
    assert printed[:4] == ["42", "42", "41", "free"], output
    assert printed[-1] == "9" and "\nevent: job\n" in output and "\nsucceeded\n" in output, output
    assert output.count(" after ") == 1 and gateway.request("GET", "/snapshots").json() == []
    assert gateway.request("GET", "/jobs").json() == []
