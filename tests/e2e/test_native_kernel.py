"""The image's native xeus kernel (xeus-python): listed, run, interrupted, restarted."""

import pytest
from support.kernels import (
    KernelSocket,
    create_kernel,
    delete_kernel,
    execute_request,
    is_reply_to,
    is_status,
    request,
    text_of,
)


@pytest.fixture
def xpython(gateway):
    kernel = create_kernel(gateway, name="xpython")
    yield kernel
    delete_kernel(gateway, kernel)


def reply_of(socket, msg_type: str, content: dict) -> dict:
    msg_id = socket.send(request(msg_type, content))
    return socket.until(lambda message: is_reply_to(message, msg_id))[-1]["content"]


def sandbox_of(gateway, kernel: str) -> str:
    for sandbox in gateway.request("GET", "/sandboxes").json():
        contexts = gateway.request(
            "GET", "/contexts", headers={"E2b-Sandbox-Id": sandbox["sandboxID"]}
        ).json()
        if kernel in [context["id"] for context in contexts]:
            return sandbox["sandboxID"]
    raise AssertionError(f"no sandbox has the kernel {kernel}")


def test_the_images_kernels_are_listed_with_their_pictures(gateway):
    specs = gateway.request("GET", "/api/kernelspecs").json()
    assert specs["default"] == "python3"
    assert {"python3", "xpython"} <= set(specs["kernelspecs"])
    spec = gateway.request("GET", "/api/kernelspecs/xpython").json()
    assert spec == specs["kernelspecs"]["xpython"]
    assert spec["spec"]["language"] == "python"
    assert "XPython" in spec["spec"]["display_name"]
    for resource in spec["resources"].values():
        picture = gateway.request("GET", resource)
        assert picture.status_code == 200
        assert picture.headers["Content-Type"] in ("image/png", "image/svg+xml")


def test_a_native_kernel_runs_cells_in_its_own_sandbox_alone(gateway, xpython):
    model = gateway.request("GET", f"/api/kernels/{xpython}").json()
    assert model["name"] == "xpython"
    with KernelSocket(gateway, xpython) as socket:
        info = reply_of(socket, "kernel_info_request", {})
        assert info["implementation"] == "xeus-python"
        assert text_of(socket.run("import os; print(os.uname().nodename, 6 * 7)")).endswith(" 42\n")
        found = reply_of(socket, "complete_request", {"code": "os.unam", "cursor_pos": 7})
        assert any("uname" in match for match in found["matches"])
    kernels = [kernel["id"] for kernel in gateway.request("GET", "/api/kernels").json()]
    assert kernels.count(xpython) == 1
    contexts = gateway.request(
        "GET", "/contexts", headers={"E2b-Sandbox-Id": sandbox_of(gateway, xpython)}
    ).json()
    assert [context["id"] for context in contexts] == [xpython]


def test_an_interrupt_ends_the_cell_even_when_it_ends_the_kernel(gateway, xpython):
    """SIGINT kills xeus-python: that is told as `restarting`, and a new process answers."""
    with KernelSocket(gateway, xpython, "tab") as socket:
        socket.run("kept = 1; open('kept.txt', 'w').write('kept')")
        socket.send(execute_request("while True: pass"))
        socket.until(lambda m: is_status(m, "busy"))
        answer = gateway.request("POST", f"/api/kernels/{xpython}/interrupt")
        assert answer.status_code == 204
        socket.until(
            lambda m: is_status(m, "restarting") or m["header"]["msg_type"] == "execute_reply"
        )
        assert text_of(socket.run("print(open('kept.txt').read())")) == "kept\n"


def test_a_restart_gives_a_new_process_and_keeps_the_files(gateway, xpython):
    with KernelSocket(gateway, xpython) as socket:
        socket.run("value = 1; open('kept.txt', 'w').write('kept')")
        assert gateway.request("POST", f"/api/kernels/{xpython}/restart").status_code == 200
    with KernelSocket(gateway, xpython) as socket:
        code = "print('value' in globals(), open('kept.txt').read())"
        assert text_of(socket.run(code)) == "False kept\n"


def test_a_sandbox_whose_kernel_cannot_be_told_that_it_is_a_copy_is_not_copied(gateway, xpython):
    sandbox = sandbox_of(gateway, xpython)
    for operation in ("fork", "snapshots", "pause"):
        answer = gateway.request("POST", f"/sandboxes/{sandbox}/{operation}", json={})
        assert answer.status_code == 501, (operation, answer.text)
        assert "xpython" in answer.text
    with KernelSocket(gateway, xpython) as socket:
        assert text_of(socket.run("print('on')")) == "on\n"
