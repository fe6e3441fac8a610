"""view=llm: final states only, pictures as parts of chat messages, single artifacts in words."""

import base64

import pytest

FIGURE = """
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.bar(["Oslo", "Rome"], [3, 5])
ax.set_title("Sales")
plt.show()
print("drawn")
"""


def llm(gateway, sandbox, code, **body):
    return gateway.request(
        "POST",
        "/execute",
        json={"code": code, "view": "llm", **body},
        headers={"E2b-Sandbox-Id": sandbox},
    )


@pytest.fixture(scope="module")
def shared(gateway):
    sandbox = gateway.create_sandbox(timeout=600)
    yield sandbox
    gateway.delete_sandbox(sandbox)


def test_an_updated_display_is_told_once_in_its_last_state(gateway, shared):
    code = (
        "from IPython.display import display\n"
        "one = display('first of one', display_id=True)\n"
        "display('between')\n"
        "for i in range(3): one.update(f'state {i}')"
    )
    text = llm(gateway, shared, code).text
    assert "state 2" in text and "between" in text
    assert text.index("state 2") < text.index("between")
    assert "first of one" not in text and "state 1" not in text


def test_what_was_cleared_is_not_told(gateway, shared):
    code = (
        "from IPython.display import clear_output, display\n"
        "print('gone'); display('gone too')\nclear_output(wait=True)\nprint('here')"
    )
    text = llm(gateway, shared, code).text
    assert "here" in text and "gone" not in text
    text = llm(gateway, shared, "print('a1'); clear_output(); print('b2')").text
    assert "b2" in text and "a1" not in text
    # Nothing came after it: nothing was cleared.
    text = llm(gateway, shared, "print('stays'); clear_output(wait=True)").text
    assert "stays" in text


def test_the_stream_names_the_display_that_an_update_means(gateway, shared):
    run = gateway.execute("h = display('one', display_id=True)\nh.update('two')", sandbox=shared)
    (named,) = run.of("display_id")
    (update,) = run.of("display_update")
    assert named["display_id"] == update["display_id"] and update["text"] == "two"
    assert "display_id" not in run.results[0]


def test_progress_bars_come_to_their_last_lines(gateway, shared):
    code = (
        "from tqdm import tqdm\n"
        "for i in tqdm(range(4), desc='outer', mininterval=0):\n"
        "    for j in tqdm(range(50), desc='inner', leave=False, mininterval=0): pass\n"
    )
    text = llm(gateway, shared, code).text
    bars = [line for line in text.splitlines() if "outer" in line or "inner" in line]
    assert len([line for line in bars if line.startswith("outer")]) == 1, text
    assert len(bars) <= 2 and "outer: 100%" in text, text


def test_pictures_come_as_parts_of_either_api(gateway, shared):
    answer = llm(gateway, shared, FIGURE, images="openai").json()
    text, picture = answer["content"]
    assert text["type"] == "text" and "drawn" in text["text"] and "Sales" in text["text"]
    assert picture["type"] == "image_url"
    prefix, _, data = picture["image_url"]["url"].partition(",")
    assert prefix == "data:image/png;base64"
    assert base64.b64decode(data, validate=True).startswith(b"\x89PNG\r\n")
    answer = llm(gateway, shared, FIGURE, images="anthropic").json()
    source = answer["content"][1]["source"]
    assert answer["content"][1]["type"] == "image"
    assert (source["type"], source["media_type"]) == ("base64", "image/png")
    assert base64.b64decode(source["data"], validate=True).startswith(b"\x89PNG\r\n")
    assert "\n" not in source["data"]


def test_a_cell_without_pictures_is_a_message_of_text(gateway, shared):
    answer = llm(gateway, shared, "6 * 7", images="openai").json()
    assert [part["type"] for part in answer["content"]] == ["text"]
    assert "42" in answer["content"][0]["text"]


@pytest.mark.parametrize(
    "body", [{"images": "gif"}, {"images": "openai", "view": "stream"}, {"max_chars": 1}]
)
def test_what_makes_no_sense_is_refused(gateway, shared, body):
    answer = llm(gateway, shared, "1", **body)
    assert answer.status_code == 422, answer.text
    assert "images" in answer.text or "max_chars" in answer.text


def test_a_document_is_not_longer_than_was_asked_for(gateway, shared):
    answer = llm(gateway, shared, "print('word ' * 5000)", max_chars=1000)
    assert 500 < len(answer.text) <= 1000
    assert "bytes left out" in answer.text


def test_one_artifact_in_words(gateway, shared):
    code = "import pandas as pd\ndisplay(pd.DataFrame({'a': range(300)}))" + FIGURE
    run = gateway.execute(code, sandbox=shared)
    by_kind = {artifact["kind"]: artifact for artifact in run.artifacts}

    def view(kind: str, **query):
        query = {"view": "llm", **query}
        return gateway.request("GET", by_kind[kind]["url"], params=query)

    table = view("table")
    assert table.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert "of 300 rows" in table.text and "| 299 |" in table.text
    chart = view("chart").text
    assert by_kind["chart"]["preview"]["description"].split(".")[0] in chart
    picture = view("image").text
    assert "pixels" in picture and by_kind["image"]["url"] in picture
    parts = view("image", images="anthropic").json()["content"]
    content = gateway.request("GET", by_kind["image"]["url"]).content
    assert base64.b64decode(parts[1]["source"]["data"]) == content
    assert view("image", images="x").status_code == 400
    assert len(view("table", max_chars=600).text) <= 600
    refused = view("table", max_chars=100)
    assert refused.status_code == 400 and "'max_chars' must be between" in refused.text
