"""JupyterLab in a browser: a person's notebook on a kernel in a microVM."""

import nbformat
import pytest
from playwright.sync_api import expect
from support.browser import chromium
from support.gateway import BINARY
from support.jupyter_server import JupyterServer

TIMEOUT_MS = 120_000
CELLS = [
    "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.title('from a microVM')\nplt.show()",
    "import ipywidgets, os\n"
    "slider = ipywidgets.IntSlider(value=10, max=20, description='n')\n"
    "seen = ipywidgets.Label('not moved')\n"
    "def moved(change):\n"
    "    seen.value = f'the kernel has {change.new}'\n"
    "slider.observe(moved, 'value')\n"
    "display(slider, seen)",
    "import time\nprint('asleep')\ntime.sleep(600)",
    "print('slider' in globals(), os.getuid())",
    "print('slider' in globals())",
]


def keep(page, name: str) -> None:
    """A picture for people: build/screenshots."""
    page.screenshot(path=BINARY.parent / "screenshots" / f"{name}.png")


@pytest.fixture
def page():
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 1400})
        page.set_default_timeout(TIMEOUT_MS)
        expect.set_options(timeout=TIMEOUT_MS)
        yield page
        keep(page, "jupyterlab-at-the-end")


@pytest.fixture
def lab(gateway, tmp_path):
    document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    document.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3 (microVM)",
        "language": "python",
    }
    nbformat.write(document, tmp_path / "n.ipynb")
    server = JupyterServer(gateway, tmp_path, application="jupyterlab")
    yield server
    server.stop()


def test_a_notebook_with_a_figure_and_a_slider_is_run_interrupted_and_restarted(page, lab):
    page.goto(f"{lab.url}/lab/tree/n.ipynb?token={lab.token}")
    cells = page.locator(".jp-CodeCell")
    expect(cells).to_have_count(len(CELLS))
    expect(page.locator(".jp-Toolbar-kernelName")).to_have_text("Python 3 (microVM)")
    status = page.locator(".jp-NotebookPanel-toolbar .jp-Notebook-ExecutionIndicator")
    expect(status).to_have_attribute("data-status", "idle")

    def run(index: int):
        cells.nth(index).locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        return cells.nth(index).locator(".jp-OutputArea").first

    figure = run(0).locator("img")
    expect(figure).to_be_visible()
    assert figure.evaluate("image => image.naturalWidth") > 100

    shown = run(1)
    slider = shown.locator(".noUi-handle")
    expect(slider).to_be_visible()
    expect(shown).to_contain_text("not moved")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(shown).to_contain_text("the kernel has 13")
    keep(page, "jupyterlab")

    sleeping = run(2)
    expect(sleeping).to_contain_text("asleep")
    page.keyboard.press("i")
    page.keyboard.press("i")
    expect(sleeping).to_contain_text("KeyboardInterrupt")
    # Until then the kernel skips what comes, as after every error.
    expect(status).to_have_attribute("data-status", "idle")
    expect(run(3)).to_contain_text("True 1000")

    page.keyboard.press("0")
    page.keyboard.press("0")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(page.locator(".jp-Dialog")).to_have_count(0)
    expect(status).to_have_attribute("data-status", "idle")
    expect(run(4)).to_contain_text("False")
    keep(page, "jupyterlab-restarted")
