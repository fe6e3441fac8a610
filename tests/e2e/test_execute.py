"""POST /execute in a real microVM: text, results, tables, pictures, charts, errors."""

import base64
import os
import struct

import pytest


def test_the_cell_runs_in_another_kernel_than_the_hosts(gateway):
    run = gateway.execute("import os; print(os.uname().release)")
    assert run.stdout.strip() != os.uname().release
    assert run.stdout.strip(), run.lines


def test_the_lines_come_in_the_documented_order_and_form(gateway, sandbox):
    run = gateway.execute("print('hi')\n1 + 1", sandbox=sandbox)
    assert [line["type"] for line in run.lines if line["type"] != "keepalive"] == [
        "number_of_executions",
        "stdout",
        "result",
        "end_of_execution",
    ]
    assert run.of("number_of_executions")[0]["execution_count"] >= 1
    assert run.of("stdout")[0]["text"] == "hi\n"
    assert run.of("stdout")[0]["timestamp"].endswith("Z")
    result = run.results[0]
    assert result == {"type": "result", "text": "2", "extra": {}, "is_main_result": True}


def test_variables_stay_from_one_execution_to_the_next(gateway, sandbox):
    gateway.execute("x = 20", sandbox=sandbox)
    assert gateway.execute("x + 1", sandbox=sandbox).text == "21"


def test_a_line_reaches_the_client_while_the_cell_still_runs(gateway, sandbox):
    code = "print('first', flush=True)\nimport time; time.sleep(8)\nprint('second')"
    seen = []
    for line in gateway.stream(code, sandbox=sandbox):
        seen.append(line["type"])
        if line["type"] == "stdout" and "first" in line["text"]:
            # The cell sleeps: nothing after it can have been sent yet.
            assert "end_of_execution" not in seen
            busy = gateway.request("GET", "/sandboxes").json()
            assert busy
    assert "keepalive" in seen


def test_every_line_is_ascii(gateway, sandbox):
    response = gateway.request(
        "POST",
        "/execute",
        json={"code": "print('\u2028 \u00e9 \U0001f600')"},
        headers={"E2b-Sandbox-Id": sandbox},
    )
    assert response.content.isascii()
    assert "\\u2028" in response.text


def test_an_exception_comes_with_its_name_and_a_clean_traceback(gateway, sandbox):
    run = gateway.execute("def f():\n    return 1 / 0\n\nf()", sandbox=sandbox)
    assert run.error["name"] == "ZeroDivisionError"
    assert run.error["value"] == "division by zero"
    assert "line 2" in run.error["traceback"]
    assert "cellblock" not in run.error["traceback"]
    assert "\x1b" not in run.error["traceback"]
    assert run.lines[-1]["type"] == "end_of_execution"


def test_a_dataframe_comes_as_text_html_data_and_a_table_artifact(gateway, sandbox):
    run = gateway.execute(
        "import pandas as pd\npd.DataFrame({'a': [1, 2, None], 'b': ['x', 'y', 'z']})",
        sandbox=sandbox,
    )
    result = run.results[0]
    assert result["data"] == {"a": [1.0, 2.0, None], "b": ["x", "y", "z"]}
    ordered = gateway.execute("import pandas as pd\npd.DataFrame({'z': [1], 'y': [2], 'a': [3]})")
    assert list(ordered.results[0]["data"]) == ["z", "y", "a"]
    assert "<table" in result["html"]
    assert "a" in result["text"]
    table = [artifact for artifact in run.artifacts if artifact["kind"] == "table"]
    assert len(table) == 1
    content = gateway.request("GET", table[0]["url"])
    assert content.status_code == 200
    assert len(content.content) == table[0]["size"]


def test_a_figure_comes_as_png_and_as_chart_data(gateway, sandbox):
    run = gateway.execute(
        "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\n"
        "ax.bar(['Oslo', 'Rome'], [3.5, 2.0])\nax.set_title('Sales')\n"
        "ax.set_ylabel('Income (EUR)')\nplt.show()",
        sandbox=sandbox,
    )
    assert run.error is None, run.error
    result = run.results[0]
    assert result["is_main_result"] is False
    png = base64.b64decode(result["png"])
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert width > 200 and height > 200
    chart = result["chart"]
    assert chart["type"] == "bar"
    assert chart["title"] == "Sales"
    assert chart["y_unit"] == "EUR"
    assert [(e["label"], e["value"]) for e in chart["elements"]] == [("Oslo", 3.5), ("Rome", 2.0)]
    kinds = {artifact["kind"] for artifact in run.artifacts}
    assert {"image", "chart"} <= kinds


@pytest.mark.parametrize(
    "code, field, expected",
    [
        (
            "from IPython.display import HTML, display; display(HTML('<b>hi</b>'))",
            "html",
            "<b>hi</b>",
        ),
        (
            "from IPython.display import Markdown, display; display(Markdown('# hi'))",
            "markdown",
            "# hi",
        ),
        ("from IPython.display import Latex, display; display(Latex('$x$'))", "latex", "$x$"),
        (
            "from IPython.display import SVG, display\n"
            "display(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>'))",
            "svg",
            None,
        ),
        (
            "from IPython.display import JSON, display; display(JSON({'a': [1, None]}))",
            "json",
            {"a": [1, None]},
        ),
        ("'quoted'", "text", "quoted"),
    ],
)
def test_each_display_type_has_its_field(gateway, sandbox, code, field, expected):
    run = gateway.execute(code, sandbox=sandbox)
    assert run.error is None, run.error
    assert field in run.results[0]
    if expected is not None:
        assert run.results[0][field] == expected


def test_awkward_values_come_out_as_valid_json(gateway, sandbox):
    run = gateway.execute(
        "import pandas as pd, datetime, decimal\n"
        "pd.DataFrame({'f': [float('nan'), float('inf')], 'd': [datetime.date(2024, 1, 2)] * 2,\n"
        "  't': pd.to_datetime(['2024-01-01', None]), 'm': [decimal.Decimal('1.10')] * 2,\n"
        "  'c': pd.Categorical(['a', 'b']), 'n': [{'k': [1]}, None]})",
        sandbox=sandbox,
    )
    data = run.results[0]["data"]
    assert data["f"] == [None, None]
    assert data["d"] == ["2024-01-02", "2024-01-02"]
    assert data["t"][0].startswith("2024-01-01") and data["t"][1] is None
    assert data["m"] == ["1.10", "1.10"]
    assert data["c"] == ["a", "b"]
    assert data["n"] == [{"k": [1]}, None]


def test_input_is_a_clear_error_and_not_a_hang(gateway, sandbox):
    run = gateway.execute("input('name? ')", sandbox=sandbox)
    assert run.error is not None
    assert "input" in run.error["value"].lower()


def test_the_environment_of_an_execution_is_gone_after_it(gateway, sandbox):
    read = "import os; print(os.environ.get('ONCE'))"
    assert (
        gateway.execute(read, sandbox=sandbox, env_vars={"ONCE": 'it\'s "1"'}).stdout
        == 'it\'s "1"\n'
    )
    assert gateway.execute(read, sandbox=sandbox).stdout == "None\n"


def test_the_llm_view_is_one_markdown_document(gateway, sandbox):
    response = gateway.request(
        "POST",
        "/execute",
        headers={"E2b-Sandbox-Id": sandbox},
        json={
            "code": "import pandas as pd\nprint('hello')\npd.DataFrame({'a': [1, 2]})",
            "view": "llm",
        },
    )
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/markdown")
    assert "hello" in response.text
    assert "| a" in response.text or "|a" in response.text.replace(" ", "")


def test_numpy_sorts_right_on_this_accelerator(gateway, sandbox):
    # QEMU 7.2's TCG gets some AVX2 gathers wrong; the guest's CPU must not offer them then.
    code = """
import numpy as np
values = np.random.default_rng(7).permutation(5000).astype(np.int64)
assert (values[np.argsort(values)] == np.arange(5000)).all()
assert (np.sort(values.astype(float)) == np.arange(5000)).all()
"""
    assert gateway.execute(code, sandbox=sandbox).error is None
