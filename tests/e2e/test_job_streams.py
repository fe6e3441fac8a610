"""GET /jobs/{id}/stream: Server-Sent Events and WebSocket, from any position, once and in order."""

import json

import websocket
from support.jobs import (
    COUNTING,
    WAITING,
    check_counting,
    detach,
    end,
    events,
    follow,
    job,
    messages,
    open_socket,
    text_of,
    wait_for,
)


def forget(gateway, job_id: str) -> None:
    assert gateway.request("DELETE", f"/jobs/{job_id}").status_code == 204


def test_events_are_resumed_by_their_last_id_and_nothing_is_lost_or_doubled(gateway, sandbox):
    _, told = detach(gateway, COUNTING, sandbox=sandbox)
    lines, last = [], "0"
    # A client that loses its connection again and again.
    for _ in range(4):
        with follow(gateway, told["job_id"], last) as response:
            for event in events(response):
                lines.append(json.loads(event.data))
                last = event.id
                if len(lines) % 10 == 0:
                    break
    end(gateway, told["sandbox_id"])
    final = None
    with follow(gateway, told["job_id"], last) as response:
        for event in events(response):
            if event.event == "job":
                final = json.loads(event.data)
            else:
                lines.append(json.loads(event.data))
            last = event.id
    assert final["state"] == "succeeded" and final["id"] == told["job_id"]
    check_counting(text_of(lines))
    assert lines == job(gateway, told["job_id"])["outputs"]
    # A browser comes back after the end, and is told to stay away.
    path = f"/jobs/{told['job_id']}/stream"
    again = gateway.request("GET", path, headers={"Last-Event-ID": last})
    assert again.status_code == 204
    whole = gateway.request("GET", path)
    assert whole.text.count("\ndata: ") == len(lines) + 1
    forget(gateway, told["job_id"])


def test_where_the_callers_answer_ended_the_stream_goes_on(gateway, sandbox):
    lines, told = detach(gateway, COUNTING, sandbox=sandbox)
    with follow(gateway, told["job_id"], str(told["position"])) as response:
        end(gateway, told["sandbox_id"])
        rest = [json.loads(e.data) for e in events(response) if e.event == "message"]
    check_counting(text_of(lines) + text_of(rest))
    forget(gateway, told["job_id"])


def test_a_websocket_tells_the_same_from_any_position(gateway, sandbox):
    _, told = detach(gateway, COUNTING, sandbox=sandbox)
    lines, position = [], 0
    for _ in range(3):
        socket = open_socket(gateway, told["job_id"], position)
        for message in messages(socket):
            lines.append(message["line"])
            position = message["position"]
            if len(lines) % 10 == 0:
                break
        socket.close()
    end(gateway, told["sandbox_id"])
    *rest, last, code = messages(open_socket(gateway, told["job_id"], position))
    lines += [message["line"] for message in rest]
    assert last["job"]["state"] == "succeeded" and code == 1000
    check_counting(text_of(lines))
    assert lines == job(gateway, told["job_id"])["outputs"]
    # After the end too.
    *again, last, code = messages(open_socket(gateway, told["job_id"]))
    assert [message["line"] for message in again] == lines and code == 1000
    forget(gateway, told["job_id"])


def test_several_clients_follow_one_job(gateway, sandbox):
    _, told = detach(gateway, COUNTING, sandbox=sandbox)
    sockets = [open_socket(gateway, told["job_id"]) for _ in range(3)]
    with follow(gateway, told["job_id"]) as response:
        end(gateway, told["sandbox_id"])
        by_events = [json.loads(e.data) for e in events(response) if e.event == "message"]
    for socket in sockets:
        *heard, _, _ = messages(socket)
        assert [message["line"] for message in heard] == by_events
    check_counting(text_of(by_events))
    forget(gateway, told["job_id"])


def test_a_stream_from_nowhere_is_refused(gateway, sandbox):
    _, told = detach(gateway, "print('a')\n" + WAITING, sandbox=sandbox)
    path = f"/jobs/{told['job_id']}/stream"
    for position in ("1", "999999999", "-1", "x", "99999999999999999999999"):
        for options in ({"headers": {"Last-Event-ID": position}}, {"params": {"from": position}}):
            refused = gateway.request("GET", path, **options)
            assert refused.status_code == 400, (position, refused.status_code)
            assert refused.json()["error_code"] == "invalid_argument"
    try:
        open_socket(gateway, told["job_id"], 1)
        raise AssertionError("a WebSocket from nowhere was accepted")
    except websocket.WebSocketBadStatusException as refused:
        assert refused.status_code == 400
    end(gateway, told["sandbox_id"])
    wait_for(gateway, told["job_id"])
    forget(gateway, told["job_id"])
