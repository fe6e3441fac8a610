"""One cell: environment, directory, errors, interrupts, figures, pictures, stdin."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest


def cellblock(**fields: Any) -> dict[str, Any]:
    return {"cellblock": fields}


def test_environment_of_one_execution(kernel: Any) -> None:
    kernel.run("import os; os.environ['KEPT'] = 'before'; os.environ.pop('ADDED', None)")
    names = "[os.environ.get(n) for n in ('KEPT', 'ADDED')]"
    env = {"KEPT": "during", "ADDED": "it's \"quoted\"\n€"}
    assert kernel.run(names, cellblock(env=env)).result == repr(["during", "it's \"quoted\"\n€"])
    assert kernel.run(names).result == "['before', None]"
    out = kernel.run("os.system('echo $KEPT')", cellblock(env=env))
    assert out.stdout == "during\n"


@pytest.mark.parametrize(
    "body",
    ["os.environ['KEPT'] = os.environ['ADDED'] = 'changed'", "del os.environ['KEPT'],"
     " os.environ['ADDED']", "1/0", "raise SystemExit", "os.environ.clear()",
     "import asyncio; await asyncio.sleep(0)", "def broken(:"],
)
def test_environment_comes_back_whatever_the_cell_does(kernel: Any, body: str) -> None:
    kernel.run("import os; saved = dict(os.environ); os.environ['KEPT'] = 'before';"
               " os.environ.pop('ADDED', None)")
    kernel.run(body, cellblock(env={"KEPT": "during", "ADDED": "during"}))
    assert kernel.run("[os.environ.get(n) for n in ('KEPT', 'ADDED')]").result == (
        "['before', None]")
    kernel.run("os.environ.update(saved)")


def test_environment_after_an_interrupt(kernel: Any) -> None:
    msg_id = kernel.send("print('on')\nwhile True: pass", cellblock(env={"ADDED": "x"}))
    kernel.next_stream("on")
    kernel.interrupt()
    assert kernel.collect(msg_id).error["ename"] == "KeyboardInterrupt"
    assert kernel.run("import os; os.environ.get('ADDED')").result == ""


def test_other_variables_that_a_cell_sets_stay(kernel: Any) -> None:
    kernel.run("import os; os.environ['MINE'] = '1'", cellblock(env={"ADDED": "x"}))
    assert kernel.run("os.environ['MINE']").result == "'1'"


def test_time_zone_by_environment(kernel: Any) -> None:
    zone = "import time; time.strftime('%H', time.localtime(0))"
    assert kernel.run(zone, cellblock(env={"TZ": "Etc/GMT-5"})).result == "'05'"
    assert kernel.run(zone).result == "'00'"


@pytest.mark.parametrize("env", [{"A": 1}, ["A"], {"A=B": "x"}, {"": "x"}, {"A": "x\0"}])
def test_bad_environment_is_refused(kernel: Any, env: Any) -> None:
    out = kernel.run("print('ran')", cellblock(env=env))
    assert out.error["ename"] == "InvalidRequest"
    assert out.reply["status"] == "error"
    assert out.stdout == ""


def test_metadata_of_any_shape_is_survived(kernel: Any) -> None:
    for metadata in ({"cellblock": None}, {"cellblock": [1]}, {"other": {}}, {}):
        assert kernel.run("1 + 1", metadata).result == "2"


def test_working_directory_of_one_execution(zygote: Any, kernel: Any) -> None:
    here = kernel.run("import os; os.getcwd()").result
    assert kernel.run("os.getcwd()", cellblock(cwd="/")).result == "'/'"
    assert kernel.run("os.getcwd()").result == here
    out = kernel.run("print('ran')", cellblock(cwd="/no/such"))
    assert out.error["evalue"] == (
        "the working directory '/no/such' cannot be used: No such file or directory")
    assert out.stdout == ""
    assert kernel.run("os.getcwd()").result == here


def test_execution_id_is_known_inside(kernel: Any) -> None:
    code = "get_ipython().kernel.cellblock_execution_id"
    assert kernel.run(code, cellblock(execution_id="e1")).result == "'e1'"
    assert kernel.run(code).result == ""


def test_code_is_verbatim_and_lines_are_the_users(kernel: Any) -> None:
    code = "# one\n\ndef f():\n    return 1/0\n\nf()"
    out = kernel.run(code, cellblock(env={"A": "1"}, cwd="/"))
    assert out.of("execute_input")[0]["code"] == code
    text = "\n".join(out.error["traceback"])
    assert "line 6" in text and "----> 4     return 1/0" in text
    assert "cellblock" not in text and "\x1b" not in text
    cell = kernel.run("%%time\n1", cellblock(env={"A": "1"}))
    assert cell.reply["status"] == "ok"


@pytest.mark.parametrize("call", ["input('name? ')", "__import__('getpass').getpass()",
                                  "breakpoint()"])
def test_input_says_what_to_do(kernel: Any, call: str) -> None:
    out = kernel.run(f"def ask():\n    return {call}\nask()")
    assert out.error["ename"] == "StdinNotImplementedError"
    assert "cannot ask a question here" in out.error["evalue"]
    text = "\n".join(out.error["traceback"])
    assert "cellblock_kernel" not in text and "line 2" in text
    assert kernel.run("import sys; sys.stdin.read()").result == "''"


@pytest.mark.parametrize("call", ["exit()", "quit()"])
def test_exit_leaves_the_kernel_to_the_cells_behind_it(kernel: Any, call: str) -> None:
    out = kernel.run(f"kept = 5\n{call}")
    assert out.reply["status"] == "ok"
    assert "exit() does not end this kernel" in out.stream("stderr")
    assert kernel.run("class A(Exception): pass\nraise A").error["ename"] == "A"
    assert kernel.run("kept").result == "5"


def test_input_with_a_client_that_answers(kernel: Any) -> None:
    msg_id = kernel.send("input('name? ')", allow_stdin=True)
    question = kernel.client.get_stdin_msg(timeout=30)
    assert question["content"]["prompt"] == "name? "
    kernel.client.input("Ada")
    assert kernel.collect(msg_id).result == "'Ada'"


@pytest.mark.parametrize(
    "body",
    ["import time; time.sleep(600)", "while True: pass", "import subprocess;"
     " subprocess.run(['sleep', '600'])", "import threading; threading.Event().wait(600)",
     "import numpy\nwhile True: numpy.ones(100) @ numpy.ones(100)",
     "await __import__('asyncio').sleep(0)\nwhile True: pass"],
)
def test_interrupt_by_signal(kernel: Any, body: str) -> None:
    msg_id = kernel.send("print('on')\n" + body)
    kernel.next_stream("on")
    kernel.interrupt()
    out = kernel.collect(msg_id, seconds=20)
    assert out.error["ename"] == "KeyboardInterrupt"
    assert kernel.run("1 + 1").result == "2"


def test_an_interrupt_that_comes_just_before_a_system_call_ends_the_call(kernel: Any) -> None:
    # Python has noted the signal (in another thread here), and the main thread's call is not ended
    # by it: just what happens when it comes after the last look at signals and before the call.
    msg_id = kernel.send(
        "import signal, threading, time\n"
        "def strike():\n"
        "    time.sleep(0.3)\n"
        "    signal.pthread_kill(threading.get_ident(), signal.SIGINT)\n"
        "threading.Thread(target=strike).start()\n"
        "time.sleep(600)"
    )
    assert kernel.collect(msg_id, seconds=20).error["ename"] == "KeyboardInterrupt"
    assert kernel.run("1 + 1").result == "2"


def test_interrupt_of_an_awaiting_cell(kernel: Any) -> None:
    msg_id = kernel.send("import asyncio; print('on'); await asyncio.sleep(600)")
    kernel.next_stream("on")
    kernel.interrupt()
    assert kernel.collect(msg_id, seconds=20).error["ename"] == "CancelledError"
    assert kernel.run("1 + 1").result == "2"


def test_interrupt_by_control_message_and_while_idle(kernel: Any) -> None:
    kernel.interrupt()
    assert kernel.run("1 + 1").result == "2"
    msg_id = kernel.send("print('on')\nwhile True: pass")
    kernel.next_stream("on")
    message = kernel.client.session.msg("interrupt_request", {})
    kernel.client.control_channel.send(message)
    assert kernel.collect(msg_id, seconds=20).error["ename"] == "KeyboardInterrupt"
    assert kernel.client.get_control_msg(timeout=20)["msg_type"] == "interrupt_reply"


def images(out: Any) -> list[dict[str, Any]]:
    return [c["data"] for c in out.of("display_data") if "image/png" in c["data"]]


def test_figures(zygote: Any, kernel: Any) -> None:
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])"
    assert len(images(kernel.run(plot))) == 1
    assert len(images(kernel.run(plot + "\nplt.show()\nprint('after')"))) == 1
    assert len(images(kernel.run("for _ in range(2): plt.figure(); plt.plot([1])"))) == 2
    out = kernel.run(plot + "\n1/0")
    assert len(images(out)) == 1 and out.error["ename"] == "ZeroDivisionError"
    assert images(kernel.run("1")) == []
    out = kernel.run(plot + "\nplt.savefig('saved.png')\nplt.close()")
    assert images(out) == []
    assert (zygote.home / "saved.png").stat().st_size > 1000
    assert len(images(kernel.run("fig, ax = plt.subplots()\nfig"))) == 1


def test_backend_of_the_users_choice(zygote: Any) -> None:
    kernel = zygote.start(env={"MPLBACKEND": "agg"})
    try:
        out = kernel.run("import matplotlib.pyplot as plt; plt.plot([1]); plt.get_backend()")
        assert out.result.lower() == "'agg'" and images(out) == []
    finally:
        kernel.stop()


def test_pictures(kernel: Any) -> None:
    out = kernel.run("from PIL import Image\npicture = Image.new('RGB', (4, 4))\npicture")
    assert "image/png" in out.of("execute_result")[0]["data"]
    assert len(images(kernel.run("picture.show(); print('shown')"))) == 1


def test_history_stays_in_memory(zygote: Any, kernel: Any) -> None:
    kernel.run("remembered = 1")
    msg_id = kernel.client.history(hist_access_type="tail", n=3)
    while (reply := kernel.client.get_shell_msg(timeout=30))["parent_header"]["msg_id"] != msg_id:
        pass
    assert reply["content"]["status"] == "ok"
    assert not list(zygote.home.rglob("history.sqlite"))
    assert "remembered" in kernel.run("'\\n'.join(In)").result


def test_homes_files_are_the_users(zygote: Any, kernel: Any, kernel_user: int) -> None:
    owners = {path.lstat().st_uid for path in zygote.home.rglob("*")}
    assert owners <= {kernel_user}, [p for p in zygote.home.rglob("*") if p.lstat().st_uid != 1000]


def test_warmup_in_a_kernel(fresh_kernel: Any) -> None:
    out = fresh_kernel.run("from cellblock_kernel import warmup; warmup.run()")
    assert out.reply["status"] == "ok", out.reply
    assert len(images(out)) == 1
    assert any("text/html" in c["data"] for c in out.of("display_data"))
    assert int(fresh_kernel.run("import gc; gc.get_freeze_count()").result) > 1000


def test_blas_has_its_threads_back(kernel: Any) -> None:
    code = ("import numpy, os\n_ = numpy.ones((600, 600)) @ numpy.ones((600, 600))\n"
            "len(os.listdir('/proc/self/task')) - len(__import__('threading').enumerate())")
    extra = int(kernel.run(code).result)
    if len(os.sched_getaffinity(0)) > 1:
        assert extra >= 1
    assert kernel.run("import json; 1").reply["status"] == "ok"


def test_packages_register_and_a_fault_does_not_stop_the_kernel(
    run_root: Any, python: Any, helpers: Any
) -> None:
    folder = run_root / "extras"
    folder.mkdir()
    packages = folder / "packages"
    for name, body in (
        ("cellblock_artifacts", "ip.user_ns['registered'] = type(ip).__name__"),
        ("cellblock_charts", "raise RuntimeError('charts are broken')"),
    ):
        (packages / name).mkdir(parents=True)
        (packages / name / "__init__.py").write_text(f"def register(ip):\n    {body}\n")
    zygote = helpers.Zygote(folder, python, extra_path=str(packages))
    try:
        kernel = zygote.start()
        assert kernel.run("registered").result == "'CellblockShell'"
        assert "charts are broken" in kernel.log()
        assert json.loads(kernel.run("1").result) == 1
    finally:
        zygote.stop()
