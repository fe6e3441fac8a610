"""Models for the agent: one behind a chat-completions API, and a script that needs neither key nor
network and still reads what its code has found out."""

import json
import os
import re
import urllib.request
from typing import Protocol


class Model(Protocol):
    def reply(self, messages: list[dict], tools: list[dict]) -> dict:
        """The next assistant message: `content`, or `tool_calls`."""
        ...


class ChatCompletions:
    """POST {endpoint}/chat/completions, as most model servers offer it."""

    def __init__(self, endpoint: str, model: str):
        self.url = endpoint.rstrip("/") + "/chat/completions"
        self.model = model

    def reply(self, messages: list[dict], tools: list[dict]) -> dict:
        body = {"model": self.model, "messages": messages, "tools": tools}
        request = urllib.request.Request(
            self.url,
            data=json.dumps(body).encode(),
            headers={
                "Content-Type": "application/json",
                "Authorization": f"Bearer {os.environ.get('LLM_API_KEY', '')}",
            },
        )
        with urllib.request.urlopen(request, timeout=300) as response:
            return json.load(response)["choices"][0]["message"]


LOOK = """
import pandas as pd
penguins = pd.read_csv("penguins.csv")
penguins
"""
# A mistake, as models make them: the column is called body_mass_g.
GUESS = 'penguins.groupby("species").weight.mean()'
MEASURE = """
masses = penguins.groupby("species").body_mass_g.mean().sort_values(ascending=False).round(1)
masses.reset_index()
"""


class Script:
    """Looks at the table, runs into an error, mends it, and answers from what it then reads."""

    steps = [LOOK, GUESS, MEASURE]

    def reply(self, messages: list[dict], tools: list[dict]) -> dict:
        results = [message["content"] for message in messages if message["role"] == "tool"]
        if len(results) < len(self.steps):
            arguments = json.dumps({"code": self.steps[len(results)]})
            function = {"name": tools[0]["function"]["name"], "arguments": arguments}
            call = {"id": f"call_{len(results)}", "type": "function", "function": function}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        return {"role": "assistant", "content": self.conclude(results[-1])}

    @staticmethod
    def conclude(table: str) -> str:
        """From the Markdown rows "| 0 | Gentoo | 5076.0 |", the heaviest first."""
        rows = re.findall(r"\| *([A-Z]\w+) *\| *([\d.]+) *\|", table)
        if len(rows) < 2:
            return "The table did not tell."
        (first, most), (second, next_most) = rows[0], rows[1]
        more = float(most) - float(next_most)
        return (
            f"{first} penguins are the heaviest: {most} g on average, "
            f"{more:.1f} g more than {second}, which come next."
        )
