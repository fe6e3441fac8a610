"""Artifacts after their cell: files that it wrote, links without the token, pins, and their end."""

import os
import subprocess

import requests
from support.gateway import BINARY

REPORT = """
import matplotlib.pyplot as plt
import pandas as pd
frame = pd.DataFrame({"city": ["Oslo", "Rome"], "income": [3.5, 2.0]})
frame.to_csv("sales.csv", index=False)
frame.to_excel("sales.xlsx", index=False)
plt.plot([1, 2])
plt.savefig("plot.png")
plt.close()
open("notes.txt", "a").write("more\\n")
"""


def files_of(run) -> dict[str, dict]:
    return {a["name"]: a for a in run.artifacts if a["kind"] == "file"}


def one_artifact(gateway, sandbox) -> dict:
    run = gateway.execute("open('one.txt', 'w').write('one')", sandbox=sandbox)
    return files_of(run)["one.txt"]


def test_files_that_a_cell_wrote_are_artifacts_and_stay_in_the_sandbox(gateway, sandbox):
    gateway.request("PUT", f"/sandboxes/{sandbox}/files/notes.txt", data=b"some\n")
    run = gateway.execute(REPORT, sandbox=sandbox)
    files = files_of(run)
    assert sorted(files) == ["notes.txt", "plot.png", "sales.csv", "sales.xlsx"]
    assert files["sales.csv"]["mime"] == "text/csv"
    assert files["plot.png"]["mime"] == "image/png"
    csv = gateway.request("GET", files["sales.csv"]["url"])
    assert csv.content == b"city,income\nOslo,3.5\nRome,2.0\n"
    assert gateway.request("GET", files["sales.xlsx"]["url"]).content[:2] == b"PK"
    notes = files["notes.txt"]["preview"]
    assert notes == {"path": "/home/user/notes.txt", "change": "changed", "size_before": 5}
    kept = gateway.request("GET", f"/sandboxes/{sandbox}/files/sales.csv")
    assert kept.content == csv.content
    assert [line["type"] for line in run.lines if line["type"] == "result"] == ["result"]
    again = gateway.execute("1 + 1", sandbox=sandbox)
    assert files_of(again) == {}


def test_files_of_a_cell_that_fails_are_told_too_and_stand_in_the_document(gateway, sandbox):
    code = "open('half.csv', 'w').write('a\\n'); 1 / 0"
    document = gateway.request(
        "POST",
        "/execute",
        json={"code": code, "view": "llm"},
        headers={"E2b-Sandbox-Id": sandbox},
    ).text
    assert "ZeroDivisionError" in document
    assert "half.csv" in document and "/artifacts/" in document


def test_a_link_works_without_the_token_until_it_is_changed(gateway, sandbox):
    artifact = one_artifact(gateway, sandbox)
    made = gateway.request("POST", f"{artifact['url']}/link", json={"expires_s": 60})
    assert made.status_code == 201, made.text
    url = gateway.url + made.json()["url"]
    answer = requests.get(url, timeout=30)
    assert answer.text == "one"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert requests.get(url.replace("expires=", "expires=9"), timeout=30).status_code == 401
    assert requests.delete(url, timeout=30).status_code == 401
    other = gateway.url + "/sandboxes?" + url.split("?")[1]
    assert requests.get(other, timeout=30).status_code == 401
    assert gateway.request("GET", artifact["url"]).headers["Cross-Origin-Resource-Policy"] == (
        "same-origin"
    )


def test_pinned_artifacts_outlive_a_collection_and_others_really_go(gateway, sandbox):
    gone = one_artifact(gateway, sandbox)
    kept = gateway.execute("open('two.txt', 'w').write('two')", sandbox=sandbox)
    kept = files_of(kept)["two.txt"]
    pinned = gateway.request("PATCH", kept["url"], json={"pinned": True})
    assert pinned.status_code == 200 and pinned.json()["pinned"] is True
    removed = gateway.request("POST", "/artifacts/gc", json={"max_age_s": 0}).json()["removed"]
    assert removed >= 1
    assert gateway.request("GET", gone["url"]).status_code == 404
    assert gateway.request("GET", kept["url"]).text == "two"
    blobs = gateway.state / "artifacts"
    sha256 = gone["sha256"]
    assert not (blobs / sha256[:2] / sha256[2:]).exists()


def run_command(gateway, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BINARY), "artifacts", *arguments, "--state-dir", str(gateway.state)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"CELLBLOCK_URL": gateway.url, "PATH": "/usr/bin:/bin"},
    )


def cellblock(gateway, *arguments: str) -> str:
    done = run_command(gateway, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_lists_fetches_pins_links_and_removes(gateway, sandbox, tmp_path):
    artifact = one_artifact(gateway, sandbox)
    listed = cellblock(gateway, "ls", "--sandbox", sandbox)
    assert artifact["id"] in listed and "one.txt" in listed
    saved = tmp_path / "saved.txt"
    cellblock(gateway, "get", artifact["id"], "-o", str(saved))
    assert saved.read_text() == "one"
    cellblock(gateway, "pin", artifact["id"])
    assert gateway.request("GET", f"{artifact['url']}/info").json()["pinned"] is True
    link = cellblock(gateway, "link", artifact["id"], "--expires", "60").strip()
    assert requests.get(link, timeout=30).text == "one"
    cellblock(gateway, "unpin", artifact["id"])
    cellblock(gateway, "rm", artifact["id"])
    assert gateway.request("GET", artifact["url"]).status_code == 404
    assert "artifacts removed" in cellblock(gateway, "gc")


def test_a_file_stays_as_it_was_when_there_is_nothing_to_fetch(gateway, tmp_path):
    precious = tmp_path / "precious.csv"
    precious.write_text("a,b\n1,2\n")
    null = os.stat("/dev/null").st_rdev
    for output in (str(precious), "/dev/null", str(tmp_path / "new")):
        failed = run_command(gateway, "get", "nosuchartifact", "-o", output)
        assert failed.returncode != 0 and "nosuchartifact" in failed.stderr
    assert precious.read_text() == "a,b\n1,2\n"
    assert os.stat("/dev/null").st_rdev == null
    assert [path.name for path in tmp_path.iterdir()] == ["precious.csv"]
