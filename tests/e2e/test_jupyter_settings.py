"""Gateways with other settings: kernel_gateway's manners, culling, a maximum of kernels."""

import time

import requests

from support.gateway import Gateway
from support.kernels import KernelSocket, create_kernel


def wait_until_gone(gateway, kernel):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if gateway.request("GET", f"/api/kernels/{kernel}").status_code == 404:
            return
    raise AssertionError(gateway.request("GET", f"/api/kernels/{kernel}").text)


def test_kernel_gateways_manners():
    gateway = Gateway("--compat", "kernel-gateway", "--kernels-max", "1", "--pool-size", "0")
    try:
        for path in ("/api", "/api/kernels", "/api/kernelspecs"):
            refused = requests.get(gateway.url + path, timeout=30)
            assert refused.status_code == 401, path
            assert refused.json()["reason"] == "Unauthorized"
        for path in ("/api/kernels", "/api/sessions"):
            refused = gateway.request("GET", path)
            assert refused.status_code == 403
            assert refused.json() == {"reason": "Forbidden", "message": "Forbidden"}
        create_kernel(gateway)
        full = gateway.request("POST", "/api/kernels")
        assert full.status_code == 403 and "Resource Limit" in full.json()["message"]
    finally:
        gateway.remove()


def test_kernels_that_nobody_uses_end_and_others_stay():
    gateway = Gateway("--kernel-idle-timeout-s", "3", "--pool-size", "0")
    try:
        unused, connected, own = create_kernel(gateway), create_kernel(gateway), None
        own = gateway.create_sandbox(timeout=300)
        with KernelSocket(gateway, connected) as socket:
            wait_until_gone(gateway, unused)
            assert gateway.request("GET", f"/api/kernels/{connected}").status_code == 200
            assert gateway.request("GET", f"/sandboxes/{own}").status_code == 200
            cell = "import time\nfor i in range(8): time.sleep(1)"
            reply = socket.run(cell)[-1]
            assert reply["content"]["status"] == "ok"
        wait_until_gone(gateway, connected)
    finally:
        gateway.remove()


def test_a_folder_of_the_host_is_served_and_no_name_leads_out_of_it(tmp_path):
    folder = tmp_path / "served"
    (folder / "sub").mkdir(parents=True)
    (folder / "hello.txt").write_text("grüezi\n")
    (folder / "bytes.bin").write_bytes(b"\xff\xfe")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "out").symlink_to(tmp_path)
    gateway = Gateway("--contents-dir", str(folder), "--pool-size", "0")
    try:
        check_reading(gateway)
        check_writing(gateway, folder)
        check_checkpoints(gateway, folder)
        for path in ("../secret.txt", "%2e%2e/secret.txt", "link.txt", "out/secret.txt", ".git"):
            refused = gateway.request("GET", f"/api/contents/{path}")
            assert refused.status_code in (400, 404) and "secret" != refused.text, path
        for path in ("link.txt", "out/new.txt"):
            body = {"type": "file", "format": "text", "content": "overwritten"}
            refused = gateway.request("PUT", f"/api/contents/{path}", json=body)
            assert refused.status_code in (400, 404), path
        moved = gateway.request("PATCH", "/api/contents/hello.txt", json={"path": "out/hello.txt"})
        assert moved.status_code == 404
        assert (tmp_path / "secret.txt").read_text() == "secret"
        assert sorted(p.name for p in tmp_path.iterdir()) == ["secret.txt", "served"]
    finally:
        gateway.remove()


def check_reading(gateway):
    root = gateway.request("GET", "/api/contents").json()
    assert root["type"] == "directory" and root["format"] == "json"
    assert [e["name"] for e in root["content"]] == ["bytes.bin", "hello.txt", "sub"]
    assert {e["type"] for e in root["content"]} == {"file", "directory"}
    hello = gateway.request("GET", "/api/contents/hello.txt").json()
    assert (hello["content"], hello["format"], hello["mimetype"]) == (
        "grüezi\n",
        "text",
        "text/plain",
    )
    binary = gateway.request("GET", "/api/contents/bytes.bin").json()
    assert (binary["content"], binary["format"]) == ("//4=", "base64")
    bare = gateway.request("GET", "/api/contents/hello.txt?content=0").json()
    assert bare["content"] is None and bare["size"] == 8
    assert gateway.request("GET", "/api/contents/nope").status_code == 404
    assert gateway.request("GET", "/api/contents/hello.txt?type=directory").status_code == 400
    assert gateway.request("GET", "/api/contents/bytes.bin?format=text").status_code == 400


def check_writing(gateway, folder):
    notebook = {"cells": [], "metadata": {"n": 1.0}, "nbformat": 4, "nbformat_minor": 5}
    body = {"type": "notebook", "format": "json", "content": notebook}
    made = gateway.request("PUT", "/api/contents/sub/a%20b.ipynb", json=body)
    assert made.status_code == 201 and made.headers["Location"] == "/api/contents/sub/a%20b.ipynb"
    assert gateway.request("PUT", "/api/contents/sub/a%20b.ipynb", json=body).status_code == 200
    read = gateway.request("GET", "/api/contents/sub/a%20b.ipynb").json()
    assert read["type"] == "notebook" and read["content"] == notebook
    body = {"type": "file", "format": "base64", "content": "//4="}
    assert gateway.request("PUT", "/api/contents/sub/b", json=body).status_code == 201
    assert (folder / "sub" / "b").read_bytes() == b"\xff\xfe"
    names = [
        gateway.request("POST", "/api/contents/sub", json=body).json()["name"]
        for body in (
            {"type": "notebook"},
            {"type": "notebook"},
            {"ext": ".py"},
            {"copy_from": "sub/b"},
        )
    ]
    assert names == ["Untitled.ipynb", "Untitled1.ipynb", "untitled.py", "b-Copy"]
    moved = gateway.request("PATCH", "/api/contents/sub/b", json={"path": "sub/c"})
    assert moved.status_code == 200 and moved.json()["path"] == "sub/c"
    taken = gateway.request("PATCH", "/api/contents/sub/c", json={"path": "sub/untitled.py"})
    assert taken.status_code == 409
    assert gateway.request("DELETE", "/api/contents/sub").status_code == 400
    assert gateway.request("DELETE", "/api/contents/sub/c").status_code == 204
    assert gateway.request("DELETE", "/api/contents/sub/c").status_code == 404


def check_checkpoints(gateway, folder):
    path = "/api/contents/hello.txt/checkpoints"
    assert gateway.request("GET", path).json() == []
    made = gateway.request("POST", path)
    assert made.status_code == 201 and made.json()["id"] == "checkpoint"
    (folder / "hello.txt").write_text("changed")
    assert gateway.request("POST", f"{path}/checkpoint").status_code == 204
    assert (folder / "hello.txt").read_text() == "grüezi\n"
    assert len(gateway.request("GET", path).json()) == 1
    assert gateway.request("DELETE", f"{path}/checkpoint").status_code == 204
    assert gateway.request("GET", path).json() == []
    assert gateway.request("POST", f"{path}/nope").status_code == 404
