"""Programs that know ZeroMQ kernels only: papermill, nbconvert, and the console in a terminal."""

import json
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager

import nbformat
import papermill
import pytest
from support.gateway import BINARY
from support.kernels import KernelSocket, new_kernel, text_of
from test_zmq_kernel import NAME, TIMEOUT_S, folder, kernels  # noqa: F401 (folder: a fixture)


def notebook(path, *cells: str, parameters: str = "") -> str:
    document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    if parameters:
        cell = nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]})
        document.cells.insert(0, cell)
    document.metadata["kernelspec"] = {"name": NAME, "display_name": NAME, "language": "python"}
    nbformat.write(document, path)
    return str(path)


@pytest.mark.usefixtures("folder")
def test_papermill_runs_a_notebook_with_parameters(gateway, tmp_path):
    source = notebook(tmp_path / "in.ipynb", "print(n * 7)", parameters="n = 1")
    before = kernels(gateway)
    done = papermill.execute_notebook(
        source, str(tmp_path / "out.ipynb"), {"n": 6}, kernel_name=NAME, progress_bar=False
    )
    assert done.cells[-1].outputs[0].text == "42\n"
    assert done.metadata.papermill.exception is None
    assert kernels(gateway) == before


@pytest.mark.usefixtures("folder")
def test_papermill_tells_the_cell_that_raised(tmp_path):
    source = notebook(tmp_path / "in.ipynb", "1 / 0", "print('never')")
    with pytest.raises(papermill.PapermillExecutionError, match="ZeroDivisionError"):
        papermill.execute_notebook(
            source, str(tmp_path / "out.ipynb"), kernel_name=NAME, progress_bar=False
        )


@pytest.mark.usefixtures("folder")
def test_nbconvert_executes_a_notebook(tmp_path):
    source = notebook(tmp_path / "in.ipynb", "import os\nprint(os.getuid(), 6 * 7)")
    command = ["nbconvert", "--to", "notebook", "--execute", source, "--output", "out.ipynb"]
    subprocess.run([sys.executable, "-m", *command], check=True, timeout=TIMEOUT_S)
    done = json.loads((tmp_path / "out.ipynb").read_text())
    assert done["cells"][0]["outputs"][0]["text"] == ["1000 42\n"]


class Terminal:
    """A program in tmux, as a person has it before them."""

    def __init__(self, command: list[str]):
        self.name = f"cellblock-{uuid.uuid4().hex[:8]}"
        # Without the user's own settings; wide enough that nothing wraps.
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "50", *command)

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self.name, *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def type(self, line: str) -> None:
        self._tmux("send-keys", "-l", line)
        self._tmux("send-keys", "Enter")

    def wait_for(self, text: str) -> str:
        deadline = time.monotonic() + TIMEOUT_S
        while text not in (screen := self.screen()):
            assert time.monotonic() < deadline, f"{text!r} did not appear:\n{screen}"
            time.sleep(0.1)
        return screen

    def close(self) -> None:
        subprocess.run(["tmux", "-L", self.name, "kill-server"], check=False)


@contextmanager
def console(gateway, kernel, path):
    relay = subprocess.Popen(
        [
            *[str(BINARY), "connect", kernel, "-o", str(path)],
            *["--gateway", gateway.url, "--state-dir", str(gateway.state)],
        ],
        stdout=subprocess.PIPE,
    )
    assert relay.stdout.readline()
    command = [sys.executable, "-m", "jupyter_console", "--existing", str(path)]
    terminal = Terminal([*command, "--simple-prompt", "--ZMQTerminalInteractiveShell.banner="])
    try:
        yield terminal
    finally:
        terminal.close()
        relay.terminate()
        relay.wait(timeout=TIMEOUT_S)


def test_a_person_in_jupyter_console_works_with_a_kernel_that_runs(gateway, tmp_path):
    with new_kernel(gateway) as kernel:
        with KernelSocket(gateway, kernel) as notebook:
            notebook.run("x = 6")
        with console(gateway, kernel, tmp_path / "kernel.json") as terminal:
            terminal.wait_for("In [")
            terminal.type("print('from here', x * 7)")
            terminal.wait_for("from here 42")
            terminal.type("name = input('who? ')")
            terminal.wait_for("who? ")
            terminal.type("Ada")
            terminal.type("print('hello', name)")
            terminal.wait_for("hello Ada")
            terminal.type("import time; print('as' + 'leep'); time.sleep(600)")
            terminal.wait_for("asleep")
            # The console itself cannot interrupt a kernel that it did not start.
            gateway.request("POST", f"/api/kernels/{kernel}/interrupt")
            terminal.wait_for("KeyboardInterrupt")
            terminal.type("y = x + 1")
            terminal.type("print('y is', y)")
            terminal.wait_for("y is 7")
        with KernelSocket(gateway, kernel) as notebook:
            assert text_of(notebook.run("print(name, y)")) == "Ada 7\n"
