"""A notebook's cells as an HTTP API: kernel_gateway's notebook-http mode, in microVMs."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
import requests
from support.gateway import BINARY, Gateway

CELLS = [
    "import json, os, time\nready = 'set up'\nserved = 0",
    "# GET /hello/:name\nrequest = json.loads(REQUEST)\nprint('first, ', end='')",
    "# GET /hello/:name\nprint(request['path']['name'], request['args'], ready)",
    "# POST /echo\nprint(REQUEST)",
    "# PUT /things/:id\nthing = json.loads(REQUEST)['body']\nthing['n'] * 2",
    "# ResponseInfo PUT /things/:id\nprint(json.dumps({'status': 201, 'headers': "
    "{'Content-Type': 'application/json', 'X-Thing': thing['n']}}))",
    "# DELETE /things/:id\npass",
    "# ResponseInfo DELETE /things/:id\nprint('{\"status\": 204}')",
    "# GET /fail\nprint('lost')\n1 / 0",
    "# GET /forged\npass",
    "# ResponseInfo GET /forged\nprint(json.dumps({'headers': {'X': 'a\\r\\nSet-Cookie: b'}}))",
    "# GET /who\nserved += 1\ntime.sleep(1)\nprint(open('/proc/sys/kernel/random/boot_id').read())",
    "# GET /die\nos._exit(1)",
    "# GET /sleep\ntime.sleep(600)",
    "# GET /served\nprint(served, ready)",
]


def write_notebook(path, cells) -> str:
    document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nbformat.write(document, path)
    return str(path)


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    """Two kernels; a cell may take ten seconds."""
    folder = tmp_path_factory.mktemp("api")
    gateway = Gateway(
        *("--compat", "kernel-gateway", "--execution-timeout-s", "10"),
        env={
            "KG_API": "kernel_gateway.notebook_http",
            "KG_SEED_URI": write_notebook(folder / "things.ipynb", CELLS),
            "KG_PRESPAWN_COUNT": "2",
        },
    )
    yield gateway
    gateway.remove()


def test_cells_answer_with_what_they_print_or_with_their_last_value(api):
    hello = api.request("GET", "/hello/Ada%20L?a=1&b=x&a=2")
    assert hello.status_code == 200
    assert hello.headers["Content-Type"].startswith("text/plain")
    assert hello.text == "first, Ada L {'a': ['1', '2'], 'b': ['x']} set up\n"
    made = api.request("PUT", "/things/7", json={"n": 21})
    assert (made.status_code, made.json()) == (201, {"text/plain": "42"})
    assert made.headers["Content-Type"] == "application/json"
    assert made.headers["X-Thing"] == "21"
    gone = api.request("DELETE", "/things/7")
    assert (gone.status_code, gone.text) == (204, "")


def test_a_cell_knows_the_request_but_not_the_token(api):
    headers = {"x-mine": "yes", "X-API-Key": api.token}
    as_json = api.request("POST", f"/echo?token={api.token}", json={"a": "ü'\"\\"}, headers=headers)
    request = as_json.json()
    assert request["body"] == {"a": "ü'\"\\"}
    assert request["headers"]["X-Mine"] == "yes"
    assert request["headers"]["Content-Type"] == "application/json"
    assert request["path"] == {} and request["args"] == {}
    assert api.token not in as_json.text
    form = api.request("POST", "/echo", data={"a": ["1", "2"], "b": "x y"}).json()
    assert form["body"] == {"a": ["1", "2"], "b": ["x y"]}
    parts = api.request("POST", "/echo", data={"a": "1"}, files={"f": b"\xff"}).json()
    assert parts["body"] == {"a": ["1"]}
    assert api.request("POST", "/echo", data="plain").json()["body"] == "plain"
    assert api.request("POST", "/echo", data=b"\xff").status_code == 400


def test_what_is_no_path_of_the_notebook_is_not_served(api):
    assert requests.get(f"{api.url}/served", timeout=60).status_code == 401
    for path in ("/", "/api/kernels", "/api/kernelspecs", "/sandboxes", "/hello", "/_api/source"):
        missing = api.request("GET", path)
        assert missing.status_code == 404 and missing.json()["reason"] == "Not Found"
    assert api.request("POST", "/hello/Ada").status_code == 405
    assert api.request("POST", "/execute", json={"code": "1"}).status_code == 404


def test_the_api_describes_itself(api):
    spec = api.request("GET", "/_api/spec/swagger.json").json()
    assert spec["swagger"] == "2.0"
    assert spec["info"] == {"version": "0.0.0", "title": "things"}
    success = {"responses": {"200": {"description": "Success"}}}
    assert spec["paths"]["/things/:id"] == {"put": success, "delete": success}
    assert len(spec["paths"]) == 9


def test_a_cell_that_raises_is_500_and_its_kernel_goes_on(api):
    before = api.log().count("notebook_kernel_replaced")
    failed = api.request("GET", "/fail")
    assert failed.status_code == 500
    assert failed.text == "Error ZeroDivisionError: division by zero \n"
    forged = api.request("GET", "/forged")
    assert forged.status_code == 500 and "Set-Cookie" not in forged.headers
    assert api.log().count("notebook_kernel_replaced") == before


def test_requests_share_the_kernels_one_each_at_a_time(api):
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda _: api.request("GET", "/who"), range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4
    assert len({answer.text for answer in answers}) == 2


def test_a_kernel_that_died_or_was_cut_off_is_replaced_by_one_that_is_set_up(api):
    for path in ("/die", "/sleep"):
        before = api.log_path.read_text().count("notebook_kernel_replaced")
        ended = api.request("GET", path)
        assert ended.status_code >= 500, ended.text
        assert api.log_path.read_text().count("notebook_kernel_replaced") == before + 1
    with pytest.raises(requests.Timeout):
        api.request("GET", "/sleep", timeout=1)
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda _: api.request("GET", "/who"), range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4
    assert api.request("GET", "/served").text.endswith("set up\n")


@pytest.mark.parametrize(
    "cells, why",
    [
        (["x = 1"], "no cell of the notebook answers requests"),
        (["# GET /a/:x", "# GET /a/:y"], "are the same to a request"),
        (["raise KeyError('of the set-up')", "# GET /a"], "KeyError: 'of the set-up'"),
    ],
)
def test_a_notebook_that_cannot_be_served_ends_the_start(tmp_path, cells, why):
    path = write_notebook(tmp_path / "n.ipynb", cells)
    done = subprocess.run(
        [
            *[BINARY, "kernelgateway", "--port=0", f"--seed-uri={path}"],
            *["--api", "kernel_gateway.notebook_http"],
        ],
        env={**os.environ, "CELLBLOCK_STATE_DIR": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode != 0 and why in done.stderr
