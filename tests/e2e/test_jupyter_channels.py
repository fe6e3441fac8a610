"""WebSockets of Jupyter clients: both protocols, order, many clients, what is broken."""

import json

import pytest
import websocket

from support.kernels import (
    KernelSocket,
    channels_url,
    create_kernel,
    delete_kernel,
    encode_legacy,
    execute_request,
    is_reply_to,
    is_status,
    new_kernel,
    request,
    text_of,
    types,
)

COMM = """
from comm import create_comm
def answer(message):
    comm.send({'n': len(message['buffers'])}, buffers=[bytes(b)[::-1] for b in message['buffers']])
def opened(c, message):
    global comm
    comm = c
    comm.on_msg(answer)
get_ipython().kernel.comm_manager.register_target('echo', opened)
"""


@pytest.fixture(scope="module")
def kernel(gateway):
    kernel = create_kernel(gateway)
    yield kernel
    delete_kernel(gateway, kernel)


@pytest.fixture(params=[False, True], ids=["legacy", "v1"])
def socket(gateway, kernel, request):
    with KernelSocket(gateway, kernel, v1=request.param) as socket:
        yield socket


def test_a_cell_gives_outputs_then_idle_then_the_reply(socket):
    heard = socket.run("print('hello'); 6 * 7")
    assert types(heard) == [
        "status",
        "execute_input",
        "stream",
        "execute_result",
        "status",
        "execute_reply",
    ]
    assert text_of(heard) == "hello\n"
    assert heard[3]["content"]["data"]["text/plain"] == "42"
    assert is_status(heard[4], "idle") and heard[5]["content"]["status"] == "ok"


def test_kernel_info_completion_and_inspection_pass_through(socket):
    for msg_type, content, field in (
        ("kernel_info_request", {}, "language_info"),
        ("complete_request", {"code": "impor", "cursor_pos": 5}, "matches"),
        ("inspect_request", {"code": "len", "cursor_pos": 3, "detail_level": 0}, "found"),
        ("is_complete_request", {"code": "for"}, "status"),
        (
            "history_request",
            {"hist_access_type": "tail", "n": 1, "raw": True, "output": False},
            "history",
        ),
        ("comm_info_request", {}, "comms"),
    ):
        msg_id = socket.send(request(msg_type, content))
        reply = socket.until(lambda m: is_reply_to(m, msg_id))[-1]
        assert reply["content"]["status"] in ("ok", "invalid", "incomplete"), reply
        assert field in reply["content"], reply


def test_binary_buffers_go_both_ways(socket):
    socket.run(COMM)
    opened = request("comm_open", {"comm_id": "c1", "target_name": "echo", "data": {}})
    socket.send(opened)
    buffers = [bytes(range(256)), b"", b"\xff\xfe\x00"]
    msg_id = socket.send(request("comm_msg", {"comm_id": "c1", "data": {}}), buffers)
    answer = socket.until(
        lambda m: (
            m["header"]["msg_type"] == "comm_msg" and m["parent_header"].get("msg_id") == msg_id
        )
    )[-1]
    assert answer["content"]["data"] == {"n": 3}
    assert answer["buffers"] == [b[::-1] for b in buffers]


def test_binary_buffers_in_a_text_frame_are_taken_as_gateway_clients_send_them(gateway, kernel):
    with KernelSocket(gateway, kernel) as socket:
        socket.run(COMM)
        socket.send(request("comm_open", {"comm_id": "c2", "target_name": "echo", "data": {}}))
        message = request("comm_msg", {"comm_id": "c2", "data": {}})
        data = encode_legacy(message, [b"\xff\xfe\xfd"])
        frame = websocket.ABNF.create_frame(data, websocket.ABNF.OPCODE_TEXT)
        socket.socket.send_frame(frame)
        answer = socket.until(lambda m: m["header"]["msg_type"] == "comm_msg")[-1]
        assert answer["buffers"] == [b"\xfd\xfe\xff"]


def test_outputs_go_to_all_clients_and_a_reply_to_the_asker(gateway, kernel):
    with (
        KernelSocket(gateway, kernel, "one") as one,
        KernelSocket(gateway, kernel, "two", v1=True) as two,
    ):
        asked = one.send(execute_request("print('for all')"))
        one.until(lambda m: is_reply_to(m, asked))
        heard = two.until(
            lambda m: is_status(m, "idle") and m["parent_header"].get("msg_id") == asked
        )
        assert text_of(heard) == "for all\n"
        other = two.run("1")
        assert [m for m in other if is_reply_to(m, asked)] == []


def test_clients_that_give_little_are_understood(gateway, kernel):
    """As smolagents does: no session, no channel, a new connection for each cell."""
    for _ in range(3):
        socket = websocket.create_connection(channels_url(gateway, kernel), timeout=60)
        message = request("execute_request", {"code": "print('min')"}, channel=None)
        del message["header"]["version"]
        socket.send(json.dumps(message))
        outputs = []
        while True:
            heard = json.loads(socket.recv())
            if heard["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            outputs.append(heard["msg_type"])
            if heard["msg_type"] == "status" and heard["content"]["execution_state"] == "idle":
                break
        assert "stream" in outputs
        socket.close()


def test_queued_cells_after_an_error_are_aborted_as_the_kernel_does_it(gateway, kernel):
    with KernelSocket(gateway, kernel) as socket:
        first = socket.send(execute_request("import time; time.sleep(1); 1 / 0"))
        second = socket.send(execute_request("print('never')"))
        reply = socket.until(lambda m: is_reply_to(m, first))[-1]
        assert reply["content"]["status"] == "error"
        heard = socket.until(lambda m: is_reply_to(m, second))
        assert heard[-1]["content"]["status"] == "aborted"
        assert text_of(heard) == ""


def test_an_interrupt_by_rest_and_by_message_ends_a_cell(gateway, kernel):
    with KernelSocket(gateway, kernel, v1=True) as socket:
        for by_message in (False, True):
            cell = socket.send(
                execute_request("print('on', flush=True)\nimport time; time.sleep(300)")
            )
            socket.until(lambda m: m["header"]["msg_type"] == "stream")
            if by_message:
                socket.send(request("interrupt_request", {}, "control"))
            else:
                path = f"/api/kernels/{kernel}/interrupt"
                assert gateway.request("POST", path).status_code == 204
            reply = socket.until(lambda m: m["channel"] == "shell" and is_reply_to(m, cell))[-1]
            assert reply["content"]["ename"] == "KeyboardInterrupt"


def test_an_unknown_kernel_is_404_and_a_stranger_403(gateway, kernel):
    unknown = "00000000-0000-0000-0000-000000000000"
    for url, status in (
        (channels_url(gateway, unknown), 404),
        (channels_url(gateway, kernel, token=False), 403),
    ):
        with pytest.raises(websocket.WebSocketBadStatusException) as refused:
            websocket.create_connection(url, timeout=30)
        assert refused.value.status_code == status
    plain = gateway.request("GET", f"/api/kernels/{kernel}/channels")
    assert plain.status_code == 400


def test_empty_messages_and_unknown_channels_are_passed_over(gateway, kernel):
    with KernelSocket(gateway, kernel) as socket:
        socket.socket.send("")
        socket.send(request("execute_request", {"code": "1"}, channel="smoke"))
        socket.send(request("execute_request", {"code": "1"}, channel="iopub"))
        assert text_of(socket.run("print('still here')")) == "still here\n"


def test_the_death_of_a_kernel_is_told_and_the_connection_lives_on(gateway):
    with new_kernel(gateway) as kernel, KernelSocket(gateway, kernel, "tab") as socket:
        socket.send(execute_request("import os; os.kill(os.getpid(), 9)"))
        socket.until(lambda m: is_status(m, "restarting"))
        assert text_of(socket.run("print('again')")) == "again\n"


def test_a_deleted_kernel_says_dead_and_closes(gateway):
    with new_kernel(gateway) as kernel, KernelSocket(gateway, kernel) as socket:
        socket.run("1")
        assert gateway.request("DELETE", f"/api/kernels/{kernel}").status_code == 204
        heard = []
        with pytest.raises(ConnectionError) as ended:
            while True:
                heard.append(socket.receive())
        assert is_status(heard[-1], "dead")
        assert ended.value.args[0] == 1000
