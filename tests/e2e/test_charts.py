"""Charts of a real cell, in every form that they are served in, and on a terminal."""

import json
import xml.etree.ElementTree as tree

import pytest

BARS = """
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.bar(["Oslo", "Rome", "Bonn"], [3.5, 2.0, 7.0], label="2025")
ax.set_title("Sales")
ax.set_ylabel("Income (EUR)")
plt.show()
"""

# What plotly's renderer publishes: the library itself is not in the guest.
PLOTLY = """
from IPython.display import display
display({"application/vnd.plotly.v1+json": {
    "data": [{"type": "bar", "x": ["a", "b"], "y": [1, 5], "name": "n"}],
    "layout": {"title": {"text": "From plotly"}}}}, raw=True)
"""

LONG_LINE = """
import numpy as np
import matplotlib.pyplot as plt
x = np.arange(300_000)
plt.plot(x, x % 1000 / 8, label="saw")
plt.show()
"""


def chart_of(run) -> dict:
    return next(artifact for artifact in run.artifacts if artifact["kind"] == "chart")


@pytest.fixture(scope="module")
def bars(gateway):
    sandbox = gateway.create_sandbox(timeout=600)
    run = gateway.execute(BARS, sandbox=sandbox)
    yield run
    gateway.request("DELETE", f"/sandboxes/{sandbox}")


def get(gateway, artifact, **query):
    return gateway.request("GET", f"{artifact['url']}/chart", params=query)


def test_a_chart_is_served_for_each_library(gateway, bars):
    chart = chart_of(bars)
    model = get(gateway, chart, format="model").json()
    assert model["panels"][0]["layers"][0]["data"]["value"] == [3.5, 2.0, 7.0]
    vega = get(gateway, chart, format="vega-lite").json()
    assert vega["$schema"].endswith("/vega-lite/v5.json")
    echarts = get(gateway, chart, format="echarts").json()
    values = [item["value"] for item in echarts["series"][0]["data"]]
    assert values == [[0, 3.5], [1, 2.0], [2, 7.0]]
    plotly = get(gateway, chart, format="plotly").json()
    assert plotly["data"][0]["y"] == [3.5, 2.0, 7.0]
    assert plotly["layout"]["title"]["text"] == "Sales"


def test_a_chart_is_served_as_a_picture_that_cannot_run_anything(gateway, bars):
    answer = get(gateway, chart_of(bars), format="svg", theme="dark", width=500)
    assert answer.headers["Content-Type"] == "image/svg+xml"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    root = tree.fromstring(answer.content)
    assert root.attrib["width"] == "500"
    words = [item.text for item in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Sales", "Oslo", "Rome", "Bonn", "Income (EUR)"} <= set(words)


def test_a_chart_is_served_as_words_rows_and_a_plot_of_characters(gateway, bars):
    chart = chart_of(bars)
    described = get(gateway, chart, format="description").text
    assert described.startswith('Bar chart "Sales"') and '"Bonn"' in described and "7" in described
    assert described.strip() == chart["preview"]["description"]
    rows = get(gateway, chart, format="markdown").text
    assert "| Oslo " in rows and "| 3.5 |" in rows
    assert get(gateway, chart, format="csv").text.startswith("panel,layer,kind,pos,value")
    plot = get(gateway, chart, format="text", columns=60).text.splitlines()
    assert plot[0] == "Sales" and plot[1].startswith("Oslo ") and plot[3].endswith(" 7")
    assert "\x1b[" in get(gateway, chart, format="text", color=1).text


def test_wrong_questions_are_answered_with_what_there_is(gateway, bars):
    chart = chart_of(bars)
    unknown = get(gateway, chart, format="gif")
    assert unknown.status_code == 400 and "vega-lite" in unknown.text
    assert get(gateway, chart, format="svg", theme="pink").status_code == 400
    picture = next(item for item in bars.artifacts if item["kind"] == "image")
    assert picture["preview"]["alt"].startswith('Bar chart "Sales"')
    assert get(gateway, picture, format="svg").status_code == 400
    assert gateway.request("GET", "/artifacts/00000000000000000000/chart").status_code == 404


def test_a_figure_that_plotly_published_is_a_chart_too(gateway, sandbox):
    run = gateway.execute(PLOTLY, sandbox=sandbox)
    result = run.results[0]
    assert result["chart"]["type"] == "bar"
    assert [(bar["label"], bar["value"]) for bar in result["chart"]["elements"]] == [
        ("a", 1),
        ("b", 5),
    ]
    assert "application/vnd.plotly.v1+json" in result["extra"]
    model = get(gateway, chart_of(run), format="model").json()
    assert model["source"]["lib"] == "plotly" and model["title"] == "From plotly"
    assert json.dumps(model)


def test_the_points_that_a_chart_leaves_out_are_rows_of_an_artifact(gateway, sandbox):
    run = gateway.execute(LONG_LINE, sandbox=sandbox)
    assert run.error is None, run.error
    model = get(gateway, chart_of(run), format="model").json()
    layer = model["panels"][0]["layers"][0]
    assert layer["n"] == 300_000 and layer["sampled"]["n"] <= 10_000
    assert "full_data" not in model
    (data,) = [artifact for artifact in run.artifacts if artifact["kind"] == "table"]
    assert data["name"].startswith("chart-") and data["name"].endswith("-data.arrow")
    assert data["preview"]["of"] == "chart" and data["preview"]["layers"] == ["saw"]
    assert data["preview"]["rows"] == 300_000
    for row in (0, 123_456, 299_999):
        page = gateway.request(
            "GET", f"{data['url']}/rows", params={"offset": row, "limit": 1}
        ).json()
        assert page["rows"] == [["saw", row, row % 1000 / 8]]
    left = gateway.execute(
        "import os; print(os.listdir('/run/cellblock/artifacts'))", sandbox=sandbox
    )
    assert left.stdout.strip() == "[]"
