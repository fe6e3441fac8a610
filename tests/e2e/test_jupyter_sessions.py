"""Clients that come and go: replay by position, questions to the asker."""

import pytest

from support.kernels import (
    KernelSocket,
    create_kernel,
    delete_kernel,
    execute_request,
    is_reply_to,
    is_status,
    new_kernel,
    request,
    text_of,
    types,
)


@pytest.fixture(scope="module")
def kernel(gateway):
    kernel = create_kernel(gateway)
    yield kernel
    delete_kernel(gateway, kernel)


def test_what_comes_while_nobody_is_there_is_given_to_each_session_that_returns(gateway, kernel):
    for session in ("first", "second"):
        KernelSocket(gateway, kernel, session).close()
    with KernelSocket(gateway, kernel) as stranger:
        stranger.run("print('while they were away')")
    for session in ("first", "second"):
        with KernelSocket(gateway, kernel, session) as back:
            heard = back.until(lambda m: is_status(m, "idle"))
            assert text_of(heard) == "while they were away\n"


def test_a_new_session_gets_no_old_output(gateway, kernel):
    with KernelSocket(gateway, kernel, "old") as old:
        old.run("print('old')")
    with KernelSocket(gateway, kernel, "new") as new:
        assert text_of(new.run("print('new')")) == "new\n"


def test_a_session_that_was_away_too_long_is_told_what_is_missing_and_gets_the_end(gateway, kernel):
    with KernelSocket(gateway, kernel, "away") as socket:
        cell = socket.send(
            execute_request("for i in range(40): print(str(i) + ' ' + 'x' * 500_000)")
        )
        socket.until(lambda m: m["header"]["msg_type"] == "execute_input")
    with KernelSocket(gateway, kernel) as other:
        other.run("1")  # the cell before it is over
    with KernelSocket(gateway, kernel, "away") as back:
        heard = back.until(lambda m: is_reply_to(m, cell))
    notices = [
        m
        for m in heard
        if m["header"]["msg_type"] == "stream" and "are missing here" in m["content"]["text"]
    ]
    assert notices and notices[0]["parent_header"]["msg_id"] == cell
    assert notices[0]["content"]["name"] == "stderr"
    assert "39 xxx" in text_of(heard)
    assert is_status(heard[-2], "idle")


def test_a_question_goes_to_the_asker_alone_and_its_answer_to_the_kernel(gateway, kernel):
    with (
        KernelSocket(gateway, kernel, "asker") as asker,
        KernelSocket(gateway, kernel, "other", v1=True) as other,
    ):
        cell = asker.send(execute_request("print('got', input('name? '))", allow_stdin=True))
        question = asker.until(lambda m: m["channel"] == "stdin")[-1]
        assert question["content"]["prompt"] == "name? "
        reply = request("input_reply", {"value": "Ada"}, "stdin")
        asker.send({**reply, "parent_header": question["header"]})
        heard = asker.until(lambda m: is_reply_to(m, cell))
        assert text_of(heard) == "got Ada\n"
        seen = other.until(lambda m: is_status(m, "idle"))
        assert "input_request" not in types(seen)


def test_a_question_whose_asker_is_gone_ends_in_an_interrupt(gateway, kernel):
    with KernelSocket(gateway, kernel, "gone") as asker:
        asker.send(execute_request("input('anyone? ')", allow_stdin=True, stop_on_error=False))
        asker.until(lambda m: m["channel"] == "stdin")
    with KernelSocket(gateway, kernel) as other:
        # It waits for its turn: the other's cell must end first.
        assert text_of(other.run("print('free again')")) == "free again\n"


def test_a_client_that_asks_to_shut_down_ends_the_kernel_for_good(gateway):
    with new_kernel(gateway) as kernel, KernelSocket(gateway, kernel) as socket:
        socket.run("1")
        asked = socket.send(request("shutdown_request", {"restart": False}, "control"))
        heard = socket.until(lambda m: is_status(m, "dead"))
        replies = [m for m in heard if is_reply_to(m, asked)]
        assert [m["header"]["msg_type"] for m in replies] == ["shutdown_reply"]
        assert gateway.request("GET", f"/api/kernels/{kernel}").status_code == 404


def test_a_client_that_asks_for_a_restart_gets_a_new_process(gateway):
    with new_kernel(gateway) as kernel, KernelSocket(gateway, kernel) as socket:
        socket.run("x = 1")
        asked = socket.send(request("shutdown_request", {"restart": True}, "control"))
        socket.until(lambda m: is_reply_to(m, asked))
        heard = socket.run("'x' in globals()")
        results = [m for m in heard if m["header"]["msg_type"] == "execute_result"]
        assert results[0]["content"]["data"]["text/plain"] == "False"
