"""`--compat kernel-gateway`: its variables, its command line, its ways."""

import os
import re
import signal
import subprocess

import nbformat
import pytest
import requests
from support.gateway import BINARY, Gateway
from support.kernels import KernelSocket, create_kernel, text_of

MANNERS = ("--compat", "kernel-gateway", "--pool-size", "0")


@pytest.fixture
def start(tmp_path):
    """Starts gateways with KG_* variables; they are gone after the test."""
    running = []

    def start(**variables):
        running.append(Gateway(*MANNERS, env=variables))
        return running[-1]

    yield start
    for gateway in running:
        gateway.remove()


def seed(path, *cells, kernel="python3"):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    notebook.metadata["kernelspec"] = {"name": kernel, "display_name": kernel}
    nbformat.write(notebook, path)
    return str(path)


def shown(gateway, code, **body):
    with KernelSocket(gateway, create_kernel(gateway, **body)) as socket:
        return text_of(socket.run(code))


def test_its_variables_are_taken(start, tmp_path):
    gateway = start(
        KG_AUTH_TOKEN="theirs",
        KG_MAX_KERNELS="2",
        KG_LIST_KERNELS="True",
        KG_ENV_WHITELIST="LANG_WANTED,",
        KG_ENV_PROCESS_WHITELIST="FROM_THE_GATEWAY",
        FROM_THE_GATEWAY="here",
        KG_FORCE_KERNEL_NAME="python3",
        KG_SEED_URI=seed(tmp_path / "seed.ipynb", "seeded = 20", "seeded += 1\nprint(seeded)"),
    )
    url = f"{gateway.url}/api/kernels"
    assert requests.get(url, timeout=30).status_code == 401
    theirs = {"Authorization": "token theirs"}
    assert requests.get(url, headers=theirs, timeout=30).json() == []

    env = {"KERNEL_USERNAME": "ada", "LANG_WANTED": "de", "PATH": "/nowhere", "KERNEL_GATEWAY": "9"}
    names = ["KERNEL_USERNAME", "LANG_WANTED", "FROM_THE_GATEWAY", "KERNEL_GATEWAY"]
    code = f"import os\nprint(seeded, [os.environ.get(n) for n in {names}], os.environ['PATH'])"
    text = shown(gateway, code, name="a name that nobody has", env=env)
    assert text.startswith("21 ['ada', 'de', 'here', '1'] /")
    assert "/nowhere" not in text
    everything = shown(gateway, "import os\nprint(sorted(os.environ))")
    assert "KERNEL_GATEWAY" in everything and "KG_AUTH_TOKEN" not in everything

    full = gateway.request("POST", "/api/kernels")
    assert full.status_code == 403 and "Resource Limit" in full.json()["message"]


def test_kernelspecs_have_their_resources_and_an_unknown_kernel_is_an_error(start):
    gateway = start()
    specs = gateway.request("GET", "/api/kernelspecs").json()
    for url in specs["kernelspecs"][specs["default"]]["resources"].values():
        answer = gateway.request("GET", url)
        assert answer.status_code == 200 and answer.headers["Content-Type"].startswith("image/")
    assert gateway.request("GET", "/api/kernelspecs/nope").status_code == 404
    assert gateway.request("GET", "/kernelspecs/python3/../secret").status_code == 404
    nothing = gateway.request("GET", "/tree")
    assert nothing.status_code == 404 and nothing.json()["reason"] == "Not Found"
    unknown = gateway.request("POST", "/api/kernels", json={"name": "nope"})
    assert unknown.status_code == 500 and "NoSuchKernel" in unknown.json()["message"]


def test_a_token_needs_no_xsrf_cookie_and_cookies_are_not_looked_at(start):
    gateway = start(KG_LIST_KERNELS="1")
    kernel = create_kernel(gateway)
    url = f"/api/kernels/{kernel}"
    stale = {"Cookie": "_xsrf=stale; username-localhost=stale"}
    assert gateway.request("POST", f"{url}/interrupt", headers=stale).status_code == 204
    only_cookie = requests.get(gateway.url + url, headers=stale, timeout=30)
    assert only_cookie.status_code == 401
    assert gateway.request("DELETE", url, headers=stale).status_code == 204


@pytest.mark.parametrize(
    "arguments, variables, reason",
    [
        ((), {"KG_AUTH_TOKEN": ""}, "an empty token does not open this gateway"),
        (("--insecure-no-token", "yes", "--listen", "0.0.0.0:0"), {}, "other machines reach"),
        (("--insecure-no-token", "yes"), {"KG_ALLOW_ORIGIN": "*"}, "any web page"),
    ],
)
def test_it_is_not_open_by_accident_and_says_why_a_token_is_needed(arguments, variables, reason):
    gateway = Gateway(*MANNERS, *arguments, env=variables)
    try:
        url = f"{gateway.url}/api/kernelspecs"
        for headers in ({}, {"Authorization": "token "}, {"Authorization": "token wrong"}):
            assert requests.get(url, headers=headers, timeout=30).status_code == 401
        assert requests.get(f"{url}?token=", timeout=30).status_code == 401
        assert gateway.request("GET", "/api/kernelspecs").status_code == 200
        assert reason in gateway.log() and gateway.token in gateway.log()
    finally:
        gateway.remove()


def test_a_seed_that_fails_leaves_no_kernel_and_says_why(start, tmp_path):
    path = seed(tmp_path / "seed.ipynb", "x = 1", "raise RuntimeError('of the seed')")
    gateway = start(KG_SEED_URI=path, KG_LIST_KERNELS="1")
    failed = gateway.request("POST", "/api/kernels")
    assert failed.status_code == 500
    assert "RuntimeError: of the seed" in failed.json()["message"]
    assert gateway.request("GET", "/api/kernels").json() == []
    assert gateway.request("GET", "/sandboxes").json() == []


@pytest.mark.parametrize(
    "variables, why",
    [
        ({"KG_SEED_URI": "/there/is/none.ipynb"}, "none.ipynb"),
        ({"KG_SEED_URI": "https://example.org/n.ipynb"}, "only notebooks on this machine"),
        ({"KG_API": "kernel_gateway.notebook_http"}, "serves no notebook"),
        ({"KG_API": "kernel_gateway.mine"}, "there are the APIs"),
        ({"KG_CLIENT_CA": "/ca.pem"}, "client certificates"),
        ({"KG_MAX_KERNELS": "many"}, "KG_MAX_KERNELS"),
    ],
)
def test_what_it_cannot_do_it_says_before_it_starts(tmp_path, variables, why):
    done = subprocess.run(
        [str(BINARY), "serve", *MANNERS, "--state-dir", str(tmp_path / "state")],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0 and why in done.stderr


def test_the_command_line_says_where_it_is_available_and_ends_on_ctrl_c(tmp_path):
    program = tmp_path / "jupyter-kernelgateway"
    program.symlink_to(BINARY)
    version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60)
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", version.stdout)
    state = {"CELLBLOCK_STATE_DIR": str(tmp_path / "state"), "CELLBLOCK_POOL_SIZE": "0"}
    with subprocess.Popen(
        [program, "--ip=127.0.0.1", "--port=0", "--KernelGatewayApp.auth_token=t", "--what.ever=1"],
        env={**os.environ, **state},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        lines = []
        while not lines or "is available at" not in lines[-1]:
            lines.append(process.stderr.readline())
            assert lines[-1], lines
        assert any("--what.ever means nothing here" in line for line in lines)
        url = lines[-1].split()[-1]
        assert requests.get(f"{url}/api/kernelspecs?token=t", timeout=60).status_code == 200
        assert requests.get(f"{url}/api/kernelspecs?token=u", timeout=60).status_code == 401
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0
