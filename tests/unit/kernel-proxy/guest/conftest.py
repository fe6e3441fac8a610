"""A real zygote and real kernels, on this machine, spoken to over ipc with an empty key."""

from __future__ import annotations

import base64
import ctypes
import dataclasses
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking import BlockingKernelClient

GUEST = Path(__file__).resolve().parents[4] / "kernel-proxy" / "guest"
PATIENCE = 60.0
"""Seconds that anything may take on a loaded machine before a test calls it hung."""

sys.path.insert(0, str(GUEST))


def wait_for(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Poll until condition() is true; fail with a message otherwise."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for: {what}")
        time.sleep(0.01)


def _usable_as(uid: int, command: list[str], search: str) -> bool:
    """Whether a process of that user can load the interpreter, ipykernel and our package."""
    code = (f"import os; os.setgid({uid}); os.setuid({uid}); os.execv({command[-1]!r},"
            f" [{command[-1]!r}, '-c', 'import ipykernel, numpy, cellblock_kernel'])")
    run = subprocess.run(
        [*command, "-c", code],
        env={"PYTHONPATH": search, "PATH": os.environ["PATH"]},
        cwd="/",
        capture_output=True,
        check=False,
    )
    return run.returncode == 0


@dataclasses.dataclass
class Python:
    """How to run this interpreter so that kernels of another user can use it too."""

    command: list[str]
    guest: str
    user: int


def _find_python(root: Path) -> Python:
    """As root, kernels run as user 1000. Where that user cannot reach the interpreter (a venv
    below /root), it is shown to them at another place, in a mount namespace of the process."""
    plain = Python([sys.executable], str(GUEST), os.getuid())
    if os.getuid() != 0:
        return plain
    if _usable_as(1000, plain.command, plain.guest):
        return dataclasses.replace(plain, user=1000)
    shown, guest = root / "venv", root / "guest"
    shown.mkdir()
    guest.mkdir()
    mounts = f"mount --bind {sys.prefix} {shown} && mount --bind {GUEST} {guest}"
    bound = Python(
        ["unshare", "--mount", "sh", "-c", f'{mounts} && exec "$0" "$@"',
         str(shown / "bin" / "python3")],
        str(guest),
        1000,
    )
    return bound if _usable_as(1000, bound.command, bound.guest) else plain


class Output:
    """What one execution sent."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.reply: dict[str, Any] = {}

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [m["content"] for m in self.messages if m["msg_type"] == kind]

    def stream(self, name: str) -> str:
        return "".join(c["text"] for c in self.of("stream") if c["name"] == name)

    @property
    def stdout(self) -> str:
        return self.stream("stdout")

    @property
    def result(self) -> str:
        results = self.of("execute_result")
        return results[0]["data"]["text/plain"] if results else ""

    @property
    def error(self) -> dict[str, Any]:
        errors = self.of("error")
        return errors[0] if errors else {}


class Kernel:
    """One kernel and its client."""

    def __init__(self, folder: Path, pid: int, client: BlockingKernelClient) -> None:
        self.folder = folder
        self.pid = pid
        self.client = client
        self.started_at = time.perf_counter()

    def send(self, code: str, metadata: dict[str, Any] | None = None, **content: Any) -> str:
        body = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
            **content,
        }
        message = self.client.session.msg("execute_request", body, metadata=metadata)
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def collect(self, msg_id: str, seconds: float = PATIENCE) -> Output:
        """Everything up to idle, and the reply."""
        output = Output()
        end = time.monotonic() + seconds
        while True:
            message = self.client.get_iopub_msg(timeout=max(0.1, end - time.monotonic()))
            if message["parent_header"].get("msg_id") != msg_id:
                continue
            output.messages.append(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        while True:
            message = self.client.get_shell_msg(timeout=max(0.1, end - time.monotonic()))
            if message["parent_header"].get("msg_id") == msg_id:
                output.reply = message["content"]
                return output

    def run(self, code: str, metadata: dict[str, Any] | None = None, **content: Any) -> Output:
        return self.collect(self.send(code, metadata, **content))

    def next_stream(self, text: str, seconds: float = PATIENCE) -> None:
        """Read iopub until a stream message contains text."""
        end = time.monotonic() + seconds
        while True:
            message = self.client.get_iopub_msg(timeout=max(0.1, end - time.monotonic()))
            if message["msg_type"] == "stream" and text in message["content"]["text"]:
                return

    def interrupt(self) -> None:
        os.killpg(self.pid, signal.SIGINT)

    def rss_kib(self) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        raise AssertionError("the kernel is gone")

    def alive(self) -> bool:
        try:
            state = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return False
        return state not in "ZX"

    def reseed(self, entropy: bytes, seconds: float = PATIENCE) -> dict[str, Any]:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(seconds)
            connection.connect(str(self.folder / "identity.sock"))
            request = {"reseed": base64.b64encode(entropy).decode()}
            connection.sendall(json.dumps(request).encode() + b"\n")
            return json.loads(connection.makefile().readline())

    def log(self) -> str:
        return (self.folder / "kernel.log").read_text()

    def stop(self) -> None:
        self.client.stop_channels()
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Zygote:
    """A running fork server."""

    def __init__(
        self, folder: Path, python: Python, extra_path: str = "", prefix: tuple[str, ...] = ()
    ) -> None:
        self.folder = folder
        self.prefix = prefix
        uid = self.uid = python.user
        self.home = folder / "home"
        self.home.mkdir()
        os.chown(self.home, uid, uid)
        self.path = folder / "zygote.sock"
        self.kernels: list[Kernel] = []
        self._log = (folder / "zygote.log").open("wb")
        search = f"{extra_path}:{python.guest}" if extra_path else python.guest
        self.process = subprocess.Popen(
            [*prefix, *python.command, "-m", "cellblock_kernel.zygote", "--socket",
             str(self.path), "--home", str(self.home), "--uid", str(uid), "--gid", str(uid)],
            env={"PYTHONPATH": search, "PATH": os.environ["PATH"], "ZYGOTE_OWN": "1"},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        wait_for(self._ready, "the zygote's socket")

    def _ready(self) -> bool:
        assert self.process.poll() is None, (self.folder / "zygote.log").read_text()
        return self.path.exists()

    def ask(self, request: Any) -> dict[str, Any]:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(str(self.path))
            data = request if isinstance(request, bytes) else json.dumps(request).encode()
            connection.sendall(data + b"\n")
            return json.loads(connection.makefile().readline())

    def connection_file(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        path = folder / "connection.json"
        info = {"transport": "ipc", "ip": str(folder / "kernel"), "key": "",
                "signature_scheme": "hmac-sha256", "shell_port": 1, "iopub_port": 2,
                "stdin_port": 3, "control_port": 4, "hb_port": 5}
        path.write_text(json.dumps(info))
        return path

    def request(self, **fields: Any) -> dict[str, Any]:
        """Ask for a kernel without connecting to it."""
        name = f"k{len(list(self.folder.iterdir()))}"
        path = self.connection_file(name)
        return self.ask({"kernel_id": name, "connection_file": str(path), "cwd": str(self.home),
                         "uid": self.uid, "gid": self.uid, **fields})

    def start(self, **fields: Any) -> Kernel:
        name = f"k{len(list(self.folder.iterdir()))}"
        path = self.connection_file(name)
        started = time.perf_counter()
        answer = self.ask({"kernel_id": name, "connection_file": str(path), "uid": self.uid,
                           "gid": self.uid, "cwd": str(self.home),
                           **{k: v for k, v in fields.items() if v is not None}})
        assert "pid" in answer, answer
        pid = self.pid_outside(answer["pid"])
        try:
            kernel = connect(path, pid)
        except BaseException:
            os.killpg(pid, signal.SIGKILL)
            raise
        kernel.started_at = started
        self.kernels.append(kernel)
        return kernel

    def pid_outside(self, pid: int) -> int:
        """A kernel's pid as this process sees it, if the zygote has a pid namespace of its own."""
        if "--pid" not in self.prefix:
            return pid
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines()
                              if ":\t" in line)
            except OSError:
                continue  # ended meanwhile
            seen_as = fields.get("NSpid", "").split()
            parent = fields.get("PPid", "")
            if len(seen_as) > 1 and seen_as[-1] == str(pid) and parent in self.namespace_roots():
                return int(seen_as[0])
        raise AssertionError(f"no process is {pid} in the zygote's namespace")

    def namespace_roots(self) -> list[str]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return children.read_text().split()

    def stop(self) -> None:
        for kernel in self.kernels:
            kernel.stop()
        self.process.kill()
        self.process.wait()
        self._log.close()
        reap()


def connect(path: Path, pid: int) -> Kernel:
    """A client of the kernel, once that answers."""
    client = BlockingKernelClient(connection_file=str(path))
    client.load_connection_file()
    client.start_channels(hb=False, stdin=True)
    kernel = Kernel(path.parent, pid, client)
    msg_id = client.kernel_info()

    def answered() -> bool:
        assert kernel.alive(), kernel.log()
        try:
            return client.get_shell_msg(timeout=0.05)["parent_header"].get("msg_id") == msg_id
        except queue.Empty:
            return False

    def subscribed() -> bool:
        """What was sent before the subscription arrived is lost, hence in small attempts."""
        try:
            return bool(kernel.collect(kernel.send("None", silent=True), seconds=0.5).reply)
        except queue.Empty:
            return False

    try:
        wait_for(answered, "kernel_info_reply")
        wait_for(subscribed, "iopub")
    except BaseException:
        client.stop_channels()  # an open socket would hold this process at its exit
        raise
    return kernel


def reap() -> None:
    """Collect orphaned kernels: this process is their reaper, as PID 1 is in a guest."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


@pytest.fixture(scope="session", autouse=True)
def _reaper() -> None:
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


@pytest.fixture(scope="session")
def run_root() -> Iterator[Path]:
    """A short path (Unix sockets) that every user may enter."""
    root = Path(tempfile.mkdtemp(prefix="cb"))
    root.chmod(0o755)
    yield root
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def python(run_root: Path) -> Python:
    return _find_python(run_root)


@pytest.fixture(scope="session")
def kernel_user(python: Python) -> int:
    """1000 if these tests run as root, else ourselves."""
    return python.user


@pytest.fixture(scope="session")
def zygote(run_root: Path, python: Python) -> Iterator[Zygote]:
    folder = run_root / "z"
    folder.mkdir()
    server = Zygote(folder, python)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def kernel(zygote: Zygote) -> Iterator[Kernel]:
    """One kernel that the tests of a module share."""
    one = zygote.start()
    yield one
    one.stop()


@pytest.fixture
def fresh_kernel(zygote: Zygote) -> Iterator[Kernel]:
    """A kernel that the test may ruin."""
    one = zygote.start()
    yield one
    one.stop()


@pytest.fixture(scope="session")
def helpers() -> Any:
    """The functions of this file, for tests (which cannot import a conftest)."""
    return sys.modules[__name__]
