"""Files in and out of a sandbox, streamed; the store serves artifacts as the web expects."""

import hashlib
import os
import socket

MEBIBYTE = 1 << 20


def resident_kib(pid: int) -> int:
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def test_a_file_comes_back_as_it_went_in(gateway, sandbox):
    content = os.urandom(3 * MEBIBYTE + 7)
    put = gateway.request("PUT", f"/sandboxes/{sandbox}/files/data/in.bin", data=content)
    assert put.status_code == 201, put.text
    assert put.json() == {"path": "/home/user/data/in.bin", "size": len(content)}
    seen = gateway.execute(
        "import hashlib; print(hashlib.sha256(open('data/in.bin','rb').read()).hexdigest())",
        sandbox=sandbox,
    )
    assert seen.stdout.strip() == hashlib.sha256(content).hexdigest()
    assert gateway.request("GET", f"/sandboxes/{sandbox}/files/data/in.bin").content == content


def test_the_cell_owns_what_was_uploaded(gateway, sandbox):
    gateway.request("PUT", f"/sandboxes/{sandbox}/files/mine.txt", data=b"x")
    run = gateway.execute(
        "import os; os.remove('mine.txt'); print(os.path.exists('mine.txt'))", sandbox=sandbox
    )
    assert run.stdout == "False\n", run.lines


def test_absolute_paths_and_folders_work(gateway, sandbox):
    assert (
        gateway.request("PUT", f"/sandboxes/{sandbox}/files//tmp/a/b.txt", data=b"b").status_code
        == 201
    )
    listing = gateway.request("GET", f"/sandboxes/{sandbox}/files//tmp/a")
    assert "b.txt" in listing.text


def test_a_gibibyte_goes_in_and_out_and_does_not_grow_the_gateway(gateway, sandbox):
    before = resident_kib(gateway.process.pid)
    sent, received = hashlib.sha256(), hashlib.sha256()

    def chunks():
        for number in range(1024):
            chunk = number.to_bytes(4, "little") * (MEBIBYTE // 4)
            sent.update(chunk)
            yield chunk

    path = f"/sandboxes/{sandbox}/files/large"
    put = gateway.request("PUT", path, data=chunks(), timeout=600)
    assert put.status_code == 201, put.text
    assert put.json()["size"] == 1024 * MEBIBYTE
    with gateway.request("GET", path, stream=True, timeout=600) as response:
        for chunk in response.iter_content(MEBIBYTE):
            received.update(chunk)
    assert received.digest() == sent.digest()
    assert resident_kib(gateway.process.pid) - before < 32 * 1024


def test_a_missing_file_is_404_and_a_climbing_path_400(gateway, sandbox):
    missing = gateway.request("GET", f"/sandboxes/{sandbox}/files/nothing")
    assert missing.status_code == 404
    for path in ("..%2f..%2fetc%2fpasswd", "a/..%2f..%2fb", "%2e%2e/x"):
        response = raw_get(gateway, f"/sandboxes/{sandbox}/files/{path}")
        assert response.startswith("HTTP/1.1 400"), (path, response[:200])


def raw_get(gateway, target: str) -> str:
    """Without a client library that tidies the path up first."""
    host, port = gateway.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        head = (
            f"GET {target} HTTP/1.1\r\nHost: {host}:{port}\r\n"
            f"Authorization: Bearer {gateway.token}\r\nConnection: close\r\n\r\n"
        )
        connection.sendall(head.encode())
        data = b""
        while chunk := connection.recv(65536):
            data += chunk
    return data.decode(errors="replace")


def picture(gateway, sandbox) -> dict:
    run = gateway.execute(
        "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()", sandbox=sandbox
    )
    return next(artifact for artifact in run.artifacts if artifact["kind"] == "image")


def test_an_artifact_is_served_with_ranges_and_validators(gateway, sandbox):
    artifact = picture(gateway, sandbox)
    whole = gateway.request("GET", artifact["url"])
    assert whole.status_code == 200
    assert whole.headers["Content-Type"] == "image/png"
    assert whole.headers["X-Content-Type-Options"] == "nosniff"
    assert hashlib.sha256(whole.content).hexdigest() == artifact["sha256"]
    part = gateway.request("GET", artifact["url"], headers={"Range": "bytes=1-3"})
    assert part.status_code == 206
    assert part.content == b"PNG"
    assert part.headers["Content-Range"] == f"bytes 1-3/{len(whole.content)}"
    same = gateway.request("GET", artifact["url"], headers={"If-None-Match": whole.headers["ETag"]})
    assert same.status_code == 304
    beyond = gateway.request("GET", artifact["url"], headers={"Range": "bytes=99999999-"})
    assert beyond.status_code == 416


def test_html_from_a_cell_cannot_act_in_the_gateways_origin(gateway, sandbox):
    run = gateway.execute(
        "from IPython.display import HTML, display\n"
        "display(HTML('<script>alert(1)</script>' + 'x' * 5000))",
        sandbox=sandbox,
    )
    html = [artifact for artifact in run.artifacts if artifact["kind"] == "html"]
    assert html, run.lines
    response = gateway.request("GET", html[0]["url"])
    assert "sandbox" in response.headers["Content-Security-Policy"]


def test_artifacts_outlive_their_sandbox(gateway):
    sandbox = gateway.create_sandbox(timeout=300)
    artifact = picture(gateway, sandbox)
    gateway.delete_sandbox(sandbox)
    assert gateway.request("GET", artifact["url"]).status_code == 200
