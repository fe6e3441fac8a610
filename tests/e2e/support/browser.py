"""Headless Chromium, and the chat page's bundle with the libraries that it is made of."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from support.gateway import ROOT

CHAT = ROOT / "examples" / "chat"
LIBRARIES = CHAT / "node_modules"
CHROMIUM = os.environ.get("CELLBLOCK_CHROMIUM", "/usr/bin/chromium")
# No sandbox of its own: tests run as root, on pages of ours. No calls home.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def build_chat(into: Path) -> None:
    """Tests in several processes want it at the same time: one builds, the others wait."""
    command = ["flock", into.parent / "chat.lock", CHAT / "build", into]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
