#!/usr/bin/env python3
"""An agent that answers a question about a CSV: a model writes Python, a sandbox runs it, and the
model reads what came back, until it can answer.

The model is a script that needs no key, or whatever speaks chat completions:

    CELLBLOCK_URL=... CELLBLOCK_TOKEN=... python3 examples/agent/agent.py
    ... python3 examples/agent/agent.py --csv sales.csv --question "Which month sold best?" \\
        --endpoint https://llm.example.org/v1 --model NAME      (its key: LLM_API_KEY)
"""

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from cellblock_client import Sandbox  # noqa: E402
from models import ChatCompletions, Model, Script  # noqa: E402

STEPS_MAX = 12

TOOL = {
    "type": "function",
    "function": {
        "name": "run_python",
        "description": "Runs a cell in a Python kernel that keeps its variables. Returns what it "
        "printed and showed: results, tables with statistics, charts in words, errors.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string"}},
            "required": ["code"],
        },
    },
}


def run_tool(sandbox: Sandbox, call: dict) -> str:
    """The result of one tool call; what is wrong with the call is for the model to read, too."""
    try:
        code = json.loads(call["function"]["arguments"])["code"]
    except (ValueError, KeyError, TypeError):
        return 'The arguments must be {"code": "..."}.'
    print(f"\n> {code.strip()}".replace("\n", "\n> "))
    result = sandbox.run_for_llm(code)
    print(result)
    return result


def answer(model: Model, sandbox: Sandbox, file_name: str, question: str) -> str:
    task = f"The file {file_name} is in the working directory of the Python kernel."
    messages = [
        {"role": "system", "content": f"{task} Use run_python to look before you answer."},
        {"role": "user", "content": question},
    ]
    for _ in range(STEPS_MAX):
        reply = model.reply(messages, [TOOL])
        messages.append(reply)
        if not reply.get("tool_calls"):
            return reply.get("content") or ""
        for call in reply["tool_calls"]:
            result = run_tool(sandbox, call)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    raise SystemExit(f"no answer after {STEPS_MAX} steps")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", type=Path, default=HERE.parent / "data" / "penguins.csv")
    parser.add_argument("--question", default="Which species is the heaviest, and by how much?")
    parser.add_argument("--endpoint", help="base URL of a chat-completions API")
    parser.add_argument("--model", default="", help="the model's name there")
    arguments = parser.parse_args()
    script = Script()
    model = ChatCompletions(arguments.endpoint, arguments.model) if arguments.endpoint else script

    sandbox = Sandbox.create()
    try:
        sandbox.write(arguments.csv.name, arguments.csv.read_text())
        print(f"\nAnswer: {answer(model, sandbox, arguments.csv.name, arguments.question)}")
    finally:
        sandbox.delete()


if __name__ == "__main__":
    main()
