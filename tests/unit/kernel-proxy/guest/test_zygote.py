"""The fork server: what a child is, how errors come back, and that no kernel can hurt it."""

from __future__ import annotations

import json
import os
import pwd
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest


def test_ready_and_single_threaded(zygote: Any) -> None:
    state = zygote.ask({"ping": True})
    assert state["ok"] is True
    assert state["threads"] == 1
    assert "thread" not in (zygote.folder / "zygote.log").read_text()


def test_child_is_an_ordinary_user_process(zygote: Any, kernel: Any, kernel_user: int) -> None:
    code = (
        "import os, json\n"
        "json.dumps([os.getpid(), os.getsid(0), os.getpgid(0), os.getuid(), os.getgid(),"
        " os.getresuid(), os.getcwd(), len(os.listdir('/proc/self/fd')) > 0, os.getppid()])"
    )
    value = json.loads(eval(kernel.run(code).result))
    assert value[:3] == [kernel.pid] * 3
    assert value[3:6] == [kernel_user, kernel_user, [kernel_user] * 3]
    assert value[6] == str(zygote.home)
    assert value[8] != zygote.process.pid


def test_child_holds_none_of_the_zygotes_sockets(zygote: Any, kernel: Any) -> None:
    code = (
        "import os\n"
        "[os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd')"
        " if os.path.exists(f'/proc/self/fd/{n}')]"
    )
    links = eval(kernel.run(code).result)
    inodes = {link for link in links if link.startswith("socket:")}
    own = {
        os.readlink(f"/proc/{zygote.process.pid}/fd/{n}")
        for n in os.listdir(f"/proc/{zygote.process.pid}/fd")
    }
    assert not inodes & own


def test_environment_is_the_requests(zygote: Any) -> None:
    kernel = zygote.start(env={"GREETING": "hello", "PATH": "/usr/bin:/bin"})
    try:
        value = eval(kernel.run("import os; dict(os.environ)").result)
        assert value["GREETING"] == "hello"
        assert value["PATH"] == "/usr/bin:/bin"
        assert value["LANG"] == "C.UTF-8"
        for name in ("PYTHONPATH", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "JPY_PARENT_PID"):
            assert name not in value
        out = kernel.run("import os; os.system('echo $GREETING')").stdout
        assert out == "hello\n"
        assert kernel.run("import sys; sys.argv").result == "['']"
    finally:
        kernel.stop()


@pytest.mark.parametrize(
    ("request_line", "expected"),
    [
        (b"not json", "Expecting value"),
        (b"[]", "JSON object"),
        (b"{}", "kernel_id"),
        (b'{"kernel_id":"x"}', "connection_file"),
        (b'{"kernel_id":"x","connection_file":"relative"}', "absolute"),
        (b'{"kernel_id":"x","connection_file":"/a","env":{"A":1}}', "env['A']"),
        (b'{"kernel_id":"x","connection_file":"/a","env":{"A=B":"1"}}', "A=B"),
        (b'{"kernel_id":"x","connection_file":"/a","uid":"root"}', "uid"),
        (b'{"kernel_id":"x","connection_file":"/does/not/exist.json"}', "No such file"),
        (b"[" * 100_000, ""),
    ],
)
def test_bad_requests_are_answered(zygote: Any, request_line: bytes, expected: str) -> None:
    answer = zygote.ask(request_line)
    assert expected in answer["error"]
    assert zygote.ask({"ping": True})["ok"]


def test_a_kernel_whose_directory_is_gone_starts_at_home(zygote: Any) -> None:
    kernel = zygote.start(cwd="/no/such/place")
    home = pwd.getpwuid(zygote.uid).pw_dir
    started_in = kernel.run("import os; os.getcwd()").result
    assert started_in in (repr(home), repr("/tmp"))  # some users have no home


def test_bad_cgroup_is_named(zygote: Any) -> None:
    answer = zygote.request(cgroup_procs="/no/such/cgroup.procs")
    assert "joining the kernel's cgroup failed" in answer["error"]


def test_cgroup_is_joined_before_the_user_is_changed(zygote: Any, tmp_path: Path) -> None:
    procs = tmp_path / "cgroup.procs"
    procs.write_text("")
    answer = zygote.request(cgroup_procs=str(procs))
    assert answer.get("pid"), answer
    assert procs.read_text() == "0"
    os.killpg(answer["pid"], signal.SIGKILL)


def test_one_connection_many_requests_and_garbage_connections(zygote: Any) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(zygote.path))
        connection.sendall(b'{"ping": true}\n{"ping"')
        lines = connection.makefile()
        assert json.loads(lines.readline())["ok"]
        with socket.socket(socket.AF_UNIX) as other:  # leaves in the middle of a line
            other.connect(str(zygote.path))
            other.sendall(b"{")
        connection.sendall(b": true}\n")
        assert json.loads(lines.readline())["ok"]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(zygote.path))
        try:
            connection.sendall(b"x" * (2 << 20))
        except OSError:
            pass
    assert zygote.ask({"ping": True})["ok"]


@pytest.mark.parametrize(
    "code",
    [
        "import os; os._exit(3)",
        "import ctypes; ctypes.string_at(0)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import os; os.abort()",
    ],
)
def test_a_dying_kernel_leaves_the_zygote(zygote: Any, code: str, helpers: Any) -> None:
    kernel = zygote.start()
    kernel.send(code)
    helpers.wait_for(lambda: not kernel.alive(), "the kernel's death")
    assert zygote.ask({"ping": True})["ok"]
    if "ctypes" in code:
        assert "Segmentation fault" in kernel.log()
    kernel.stop()


def test_kill_everything_takes_only_the_users_processes(
    run_root: Path, python: Any, helpers: Any
) -> None:
    """In a pid namespace, so that `kill -9 -1` reaches no other process of this machine."""
    if os.getuid() != 0:
        return  # a zygote that is not root's shares its user with the kernels
    folder = run_root / "everything"
    folder.mkdir()
    zygote = helpers.Zygote(folder, python, prefix=("unshare", "--pid", "--fork"))
    server = zygote.process.pid
    try:
        (server,) = _children(zygote.process.pid)
        kernel = zygote.start()
        (body,) = _children(server)
        kernel.send("import os; os.system('kill -9 -1')")
        helpers.wait_for(lambda: _state(body) == "Z", "the kernel's death")
        assert zygote.ask({"ping": True})["ok"]
        assert zygote.start().run("6 * 7").result == "42"
    finally:
        for kernel in zygote.kernels:
            kernel.client.stop_channels()
        zygote.kernels.clear()  # they end with their namespace's first process
        os.kill(server, signal.SIGKILL)
        zygote.stop()


def _children(pid: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def test_launch_without_a_zygote(zygote: Any, python: Any, helpers: Any) -> None:
    path = zygote.connection_file("plain")
    process = subprocess.Popen(
        [*python.command, "-m", "cellblock_kernel.launch", "-f", str(path)],
        env={"PYTHONPATH": python.guest, "PATH": os.environ["PATH"], "HOME": str(zygote.home)},
        cwd=zygote.home,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        kernel = helpers.connect(path, process.pid)
        assert kernel.run("6 * 7").result == "42"
        figure = kernel.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])")
        assert any("image/png" in c["data"] for c in figure.of("display_data"))
        picture = kernel.run("from PIL import Image; Image.new('RGB', (3, 3)).show()")
        assert "image/png" in picture.of("display_data")[0]["data"]
        kernel.client.stop_channels()
    finally:
        process.kill()
        process.wait()


def test_shutdown_request_ends_the_process(fresh_kernel: Any, helpers: Any) -> None:
    fresh_kernel.client.shutdown()
    assert fresh_kernel.client.get_control_msg(timeout=30)["msg_type"] == "shutdown_reply"
    helpers.wait_for(lambda: helpers.reap() or not fresh_kernel.alive(), "the end")


def test_twenty_kernels_differ(zygote: Any) -> None:
    code = (
        "import random, numpy, uuid, os, ssl, secrets, tempfile, multiprocessing\n"
        "[random.random(), float(numpy.random.rand()), float(numpy.random.standard_normal()),\n"
        " float(numpy.random.default_rng().random()), str(uuid.uuid4()), uuid.uuid1().node,\n"
        " os.urandom(16).hex(), ssl.RAND_bytes(16).hex(), secrets.token_hex(8),\n"
        " tempfile.mktemp(), multiprocessing.current_process().authkey.hex(),\n"
        " get_ipython().kernel.session.session]"
    )
    kernels = [zygote.start() for _ in range(20)]
    try:
        ids = [kernel.send(code) for kernel in kernels]
        rows = [eval(k.collect(i).result) for k, i in zip(kernels, ids, strict=True)]
        for column in zip(*rows, strict=True):
            assert len(set(column)) == 20, column
    finally:
        for kernel in kernels:
            kernel.stop()
