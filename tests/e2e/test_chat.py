"""The chat page, in headless Chromium, against real microVMs.

CELLBLOCK_GALLERY=FOLDER keeps screenshots, for people to look at.
"""

import base64
import hashlib
import os
import re
from pathlib import Path

import pytest
import requests
from playwright.sync_api import expect
from support.browser import chromium
from support.chat import Chat

TABLE = """
import pandas as pd
pd.DataFrame({"city": ["Oslo", "Rome", "Bonn"] * 5, "orders": range(15)})
"""
CHART = """
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot([1, 2, 3], [4, 1, 9], label="north")
ax.plot([1, 2, 3], [2, 3, 5], label="south")
ax.set(title="Sales by year", xlabel="Year", ylabel="EUR")
ax.legend()
plt.show()
"""
HOSTILE = """
from IPython.display import HTML
HTML('''<h3>Report</h3><p style="color: teal">all is well</p>
<script>document.body.textContent = "scripted"; parent.postMessage("x", "*")</script>
<img src="https://example.org/a.png" onerror="document.body.textContent = 'scripted'">
<form action="https://example.org"><button>send</button></form>
<iframe src="https://example.org"></iframe>''')
"""


@pytest.fixture(scope="module")
def pictures():
    wanted = os.environ.get("CELLBLOCK_GALLERY")
    if wanted:
        Path(wanted).mkdir(parents=True, exist_ok=True)
    return Path(wanted) if wanted else None


@pytest.fixture(scope="module")
def browser(chat_page):
    with chromium() as running:
        yield running


@pytest.fixture
def chat(browser, gateway):
    page = Chat(browser, gateway.url, gateway.token)
    yield page
    sandbox = page.page.evaluate("() => sessionStorage.getItem('cellblock-sandbox')")
    if sandbox:
        gateway.request("DELETE", f"/sandboxes/{sandbox}")
    page.page.close()
    # Whatever a test did: no script failed, and nothing but the gateway was asked.
    assert page.errors == []
    assert all(address.startswith((gateway.url, "data:", "blob:")) for address in page.addresses)
    assert not any(gateway.token in address for address in page.addresses)


def test_the_page_needs_no_token_and_its_policy_lets_it_run_nothing_but_its_own(gateway, chat_page):
    anonymous = requests.Session()
    page = anonymous.get(f"{gateway.url}/examples/chat/")
    assert page.status_code == 200 and "text/html" in page.headers["Content-Type"]
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy
    assert "unsafe" not in policy
    frame = anonymous.get(f"{gateway.url}/examples/chat/frame.html")
    policy = frame.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none';")
    assert "allow-same-origin" not in policy
    # The one script that may run is named by its hash, in the document itself.
    own = re.search(
        r'http-equiv="Content-Security-Policy" content="script-src \'([^\']+)', frame.text
    )
    script = re.search(r"<script>(.*?)</script>", frame.text, re.S).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert own.group(1) == f"sha256-{digest}"
    moved = anonymous.get(f"{gateway.url}/examples/chat", allow_redirects=False)
    assert (moved.status_code, moved.headers["Location"]) == (302, "/examples/chat/")
    tag = page.headers["ETag"]
    again = anonymous.get(f"{gateway.url}/examples/chat/", headers={"If-None-Match": tag})
    assert again.status_code == 304


def test_only_files_of_the_page_are_served(gateway, chat_page):
    (chat_page / "secret.txt").write_text("no")
    (chat_page / "link.js").symlink_to("/etc/passwd")
    for name in ["secret.txt", "missing.js", "link.js", ".env", "a/b.js", "..%2Ftoken", "%2e%2e"]:
        answer = gateway.session.get(f"{gateway.url}/examples/chat/{name}")
        assert answer.status_code in (400, 404), name


def test_the_token_is_asked_for_and_a_wrong_one_is_refused(browser, gateway):
    chat = Chat(browser, gateway.url, "")
    dialog = chat.page.locator("#token-dialog")
    expect(dialog).to_be_visible()
    chat.page.get_by_role("textbox", name="Token").fill("wrong")
    chat.page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("token")
    chat.give_token(gateway.token)
    assert chat.page.evaluate("() => sessionStorage.getItem('cellblock-token')") == gateway.token
    assert chat.page.evaluate("() => localStorage.length") == 0
    chat.page.close()


def test_output_is_shown_line_by_line_while_the_cell_runs(chat, gateway):
    cell = chat.start(
        "import pathlib, time\nprint('first')\n"
        "while not pathlib.Path('go').exists(): time.sleep(0.05)\nprint('second')"
    )
    expect(cell.locator(".stdout")).to_have_text(re.compile("first"))
    assert cell.get_attribute("aria-busy") == "true"
    expect(chat.page.locator("#sandbox")).to_contain_text("sandbox")
    sandbox = chat.page.evaluate("() => sessionStorage.getItem('cellblock-sandbox')")
    assert gateway.request("PUT", f"/sandboxes/{sandbox}/files/go", data=b"x").status_code == 201
    expect(cell).not_to_have_attribute("aria-busy", "true")
    expect(cell.locator(".stdout")).to_have_text("first\nsecond\n")
    expect(chat.page.get_by_role("status")).to_have_text(re.compile("^The cell is done"))


def test_a_progress_bar_is_one_line_and_colours_are_colours(chat):
    cell = chat.run(
        "for i in range(5): print(f'\\r{i * 25} %', end='')\nprint('\\n\\x1b[31mred\\x1b[0m plain')"
    )
    expect(cell.locator(".stdout")).to_have_text("100 %\nred plain\n")
    expect(cell.locator(".ansi-1")).to_have_text("red")


def test_a_table_has_pages_an_order_and_a_filter(chat, pictures):
    cell = chat.run(TABLE)
    rows = cell.locator("tbody tr")
    expect(rows).to_have_count(10)
    expect(cell.locator(".display-title")).to_contain_text("15 rows × 2 columns")
    expect(cell.locator(".range")).to_have_text("1–10 of 15")
    cell.get_by_role("button", name="Next page").click()
    expect(cell.locator(".range")).to_have_text("11–15 of 15")
    expect(cell.get_by_role("button", name="Next page")).to_be_disabled()
    heading = cell.get_by_role("columnheader", name=re.compile("^orders"))
    heading.get_by_role("button").click()
    heading.get_by_role("button").press("Enter")
    expect(heading).to_have_attribute("aria-sort", "descending")
    expect(rows.first).to_contain_text("14")
    cell.get_by_label("Column to filter by").select_option("city")
    cell.get_by_label("Comparison").select_option("eq")
    value = cell.get_by_label("Value to filter by")
    value.fill("Rome")
    value.press("Enter")
    expect(cell.locator(".range")).to_contain_text("1–5 of 5")
    expect(rows).to_have_count(5)
    expect(rows.first).to_contain_text("13")
    chat.picture(pictures, "table")
    assert chat.violations == []


def test_a_chart_is_drawn_without_eval_and_has_its_picture_data_and_words(chat, pictures):
    cell = chat.run(CHART)
    drawing = cell.locator(".chart-canvas svg")
    expect(drawing).to_be_visible()
    expect(cell.locator("figure.chart")).to_have_attribute("data-drawn", "true")
    for text in ["Sales by year", "north", "south", "Year", "EUR"]:
        expect(drawing.get_by_text(text, exact=True)).to_be_visible()
    chat.picture(pictures, "chart")
    drawing.locator(".mark-line path").first.hover(force=True)
    cell.get_by_role("tab", name="Chart").press("ArrowRight")
    expect(cell.get_by_role("tab", name="Picture")).to_be_focused()
    picture = cell.get_by_role("img")
    expect(picture).to_be_visible()
    assert picture.get_attribute("alt").startswith('Line chart "Sales by year"')
    cell.get_by_role("tab", name="Data").click()
    expect(cell.locator("tbody tr")).to_have_count(6)
    cell.get_by_role("tab", name="In words").click()
    expect(cell.locator("p.words")).to_contain_text("Sales by year")
    # The policy forbids eval: that nothing was refused means that nothing tried.
    assert chat.violations == []


def test_markup_of_a_guest_is_shown_and_can_do_nothing(chat, pictures):
    cell = chat.run(HOSTILE)
    frame = cell.locator("iframe")
    assert frame.get_attribute("sandbox") == "allow-scripts"
    inside = frame.content_frame
    expect(inside.get_by_text("all is well")).to_be_visible()
    expect(inside.get_by_role("heading", name="Report")).to_be_visible()
    expect(inside.locator("body :is(script, iframe, form)")).to_have_count(0)
    assert frame.bounding_box()["height"] > 60
    markdown = chat.run(
        "from IPython.display import Markdown, SVG, display\n"
        "display(Markdown('# Head\\n\\n*soft*\\n\\n<script>document.title = 1</script>'))\n"
        'SVG(\'<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" onload="x()">'
        '<rect width="60" height="40"/></svg>\')'
    )
    expect(markdown.locator("iframe")).to_have_count(2)
    expect(markdown.locator("iframe").first.content_frame.locator("em")).to_have_text("soft")
    expect(markdown.locator("iframe").last.content_frame.locator("rect")).to_be_visible()
    chat.picture(pictures, "markup")
    assert chat.page.title() == "Cellblock"


def test_an_error_is_shown_with_its_traceback(chat, pictures):
    cell = chat.run("def halve(n):\n    return n / 0\n\nhalve(4)")
    error = cell.get_by_role("group", name="Error: ZeroDivisionError")
    expect(error).to_contain_text("division by zero")
    expect(error.locator(".traceback")).to_contain_text("halve(4)")
    expect(chat.page.get_by_role("status")).to_have_text("The cell failed: ZeroDivisionError")
    chat.picture(pictures, "error")


def test_escape_stops_the_cell_and_the_kernel_goes_on(chat):
    chat.run("kept = 42")
    cell = chat.start("print('begun')\nwhile True: pass")
    expect(cell.locator(".stdout")).to_have_text("begun\n")
    expect(chat.page.get_by_role("button", name="Stop")).to_be_visible()
    chat.page.keyboard.press("Escape")
    expect(cell.get_by_role("group", name="Error: Stopped")).to_be_visible()
    expect(chat.page.get_by_role("button", name="Run")).to_be_visible()
    expect(chat.run("kept").locator(".value")).to_have_text("42")


def test_a_display_has_one_final_state(chat):
    cell = chat.run(
        "from IPython.display import clear_output, display\n"
        "handle = display('one', display_id=True)\nhandle.update('two')\nprint('kept')"
    )
    expect(cell.locator(".value")).to_have_text(["two"])
    cell = chat.run(
        "from IPython.display import clear_output\n"
        "print('old')\nclear_output(wait=True)\nprint('new')"
    )
    expect(cell.locator(".stdout")).to_have_text(["new\n"])


def test_files_go_in_and_come_out(chat, tmp_path):
    upload = tmp_path / "in.csv"
    upload.write_text("a,b\n1,2\n3,4\n")
    chat.page.locator("#file").set_input_files(upload)
    expect(chat.page.get_by_role("status")).to_have_text("in.csv is in the sandbox")
    cell = chat.run("import pandas as pd\npd.read_csv('in.csv').sum().to_csv('out.csv')")
    with chat.page.expect_download() as download:
        cell.get_by_role("button", name=re.compile("^out.csv")).click()
    assert Path(download.value.path()).read_text() == ",0\na,4\nb,6\n"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_until_the_reader_chooses(browser, gateway, scheme):
    chat = Chat(browser, gateway.url, gateway.token, scheme)
    theme = "() => document.documentElement.dataset.theme"
    assert chat.page.evaluate(theme) == scheme
    toggle = chat.page.get_by_role("button", name="Dark colours")
    expect(toggle).to_have_attribute("aria-pressed", str(scheme == "dark").lower())
    toggle.click()
    other = "light" if scheme == "dark" else "dark"
    assert chat.page.evaluate(theme) == other
    chat.page.emulate_media(color_scheme=scheme)
    assert chat.page.evaluate(theme) == other
    chat.page.close()
