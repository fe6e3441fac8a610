"""Malformed requests, each with its status and a message; the gateway serves on."""

import socket
import time

import pytest
import requests


@pytest.fixture(autouse=True)
def still_serves(gateway):
    yield
    assert gateway.request("GET", "/health").status_code == 200


def post(gateway, body: bytes, path: str = "/execute", **headers) -> requests.Response:
    return gateway.request(
        "POST", path, data=body, headers={"Content-Type": "application/json", **headers}
    )


@pytest.mark.parametrize(
    "body, words",
    [
        (b"not json", "not JSON"),
        (b'{"code": {"a": 1}}', "'code' must be a string"),
        (b"{}", "'code' is missing"),
        (b"[1, 2]", "must be a JSON object"),
        (b'{"code": "1", "timeout": -1}', "'timeout'"),
        (b'{"code": "1", "timeout": "soon"}', "'timeout' must be a number"),
        (b'{"code": "1", "env_vars": {"A": 1}}', "'env_vars'"),
        (b'{"code": "1", "env_vars": {"A=B": "1"}}', "'env_vars'"),
        (b'{"code": "1", "view": "novel"}', "'view'"),
        (b'{"code": "\xff\xfe"}', "not JSON"),
        (b'{"code": "1", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested deeper"),
    ],
)
def test_a_malformed_execution_is_422_with_the_reason(gateway, body, words):
    response = post(gateway, body)
    assert response.status_code == 422, response.text
    (reason,) = response.json()["detail"]
    assert words in reason["msg"] and reason["loc"] == ["body"]


def test_a_context_and_a_language_together_are_400_as_plain_text(gateway):
    response = post(gateway, b'{"code": "1", "context_id": "x", "language": "python"}')
    assert response.status_code == 400
    assert response.text == "Only one of context_id or language can be provided"


def test_a_malformed_context_is_422_with_the_reason(gateway, sandbox):
    response = post(gateway, b'{"cwd": 5}', "/contexts", **{"E2b-Sandbox-Id": sandbox})
    assert response.status_code == 422
    assert "'cwd' must be a string" in response.json()["detail"][0]["msg"]


def test_a_body_of_a_hundred_megabytes_is_413(gateway):
    response = post(gateway, b'{"code": "' + b"x" * 100_000_000 + b'"}')
    assert response.status_code == 413
    assert response.text


def test_an_unknown_context_and_an_unknown_sandbox_are_404(gateway, sandbox):
    response = post(
        gateway, b'{"code": "1", "context_id": "nosuch"}', **{"E2b-Sandbox-Id": sandbox}
    )
    assert response.status_code == 404
    assert response.text == "Context nosuch not found"
    response = post(gateway, b'{"code": "1"}', **{"E2b-Sandbox-Id": "nosuch"})
    assert response.status_code == 404


def raw(gateway, data: bytes, *, half_close: bool = False) -> bytes:
    host, port = gateway.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(data)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    return answer


def head(gateway, *lines: str) -> bytes:
    host = gateway.url.removeprefix("http://")
    return "\r\n".join(
        ["POST /execute HTTP/1.1", f"Host: {host}", f"X-API-Key: {gateway.token}", *lines, "", ""]
    ).encode()


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 3", "Content-Length: 4"),
        ("Content-Length: 3", "Transfer-Encoding: chunked"),
        ("Content-Length: +3",),
        ("Content-Length: 3, 3",),
        ("Transfer-Encoding: gzip, chunked",),
        ("Host: other.example",),
        (" Folded: yes",),
    ],
)
def test_a_head_that_two_readers_could_read_differently_is_refused(gateway, lines):
    answer = raw(gateway, head(gateway, *lines) + b"abc")
    assert answer.startswith(b"HTTP/1.1 400") or answer.startswith(b"HTTP/1.1 501"), answer[:200]


def test_slow_headers_are_cut_off(gateway):
    host, port = gateway.url.removeprefix("http://").split(":")
    started = time.monotonic()
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(b"POST /execute HTTP/1.1\r\nHost: ")
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    assert time.monotonic() - started < 30
    assert answer == b"" or answer.startswith(b"HTTP/1.1 408"), answer[:200]


def test_a_half_closed_client_still_gets_its_short_answer(gateway):
    host = gateway.url.removeprefix("http://")
    request = f"GET /health HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    assert raw(gateway, request, half_close=True).startswith(b"HTTP/1.1 200")


def test_a_head_that_is_too_long_is_431(gateway):
    answer = raw(gateway, head(gateway, "X-Long: " + "x" * 100_000))
    assert answer.startswith(b"HTTP/1.1 431"), answer[:200]


def test_unknown_paths_and_methods_are_told_apart(gateway):
    assert gateway.request("GET", "/nosuch").status_code == 404
    wrong = gateway.request("GET", "/execute")
    assert wrong.status_code == 405
    assert "POST" in wrong.headers["Allow"]
