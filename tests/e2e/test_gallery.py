"""Figures of four libraries, drawn in microVMs: read as they were drawn, and drawn again whole.

Each figure's chart is held against numbers computed from the data that was plotted; its Vega-Lite
is valid by that language's own schema; it and our SVG are drawn in Chromium without an error, and
nothing on them is cut off or covers another thing. CELLBLOCK_GALLERY=FOLDER keeps the pictures.
"""

import json
import os
from pathlib import Path

import fastjsonschema
import pytest
from gallery import (  # noqa: F401  (importing registers their figures)
    altair_figures,
    bokeh_figures,
    mpl_bars,
    mpl_fields,
    mpl_lines,
    pandas_plots,
    plotly_figures,
    seaborn_figures,
)
from gallery import data as gallery_data
from gallery.canvas import Canvas
from gallery.core import FIGURES, PREAMBLES, Chart
from support.browser import LIBRARIES, chromium

SCHEMA = LIBRARIES / "vega-lite" / "build" / "vega-lite-schema.json"

# How long a figure may be read is another test's question: here the host may be busy.
PATIENCE = "import os; os.environ['CELLBLOCK_CHARTS_SECONDS'] = '120'"


@pytest.fixture(scope="module")
def sandbox_for(gateway):
    """A sandbox for each library, with the gallery's data in it."""
    made = {}

    def sandbox(library: str) -> str:
        if library not in made:
            made[library] = gateway.create_sandbox(timeout=3600, metadata={"gallery": library})
            source = Path(gallery_data.__file__).read_bytes()
            path = f"/sandboxes/{made[library]}/files/gallery_data.py"
            assert gateway.request("PUT", path, data=source).status_code == 201
            preamble = f"{PATIENCE}\n{PREAMBLES[library]}\nfrom gallery_data import *"
            # Importing seaborn and scipy takes a minute under emulation, several on a busy host.
            run = gateway.execute(preamble, sandbox=made[library], timeout=1800)
            assert run.error is None, run.error
        return made[library]

    yield sandbox
    for sandbox_id in made.values():
        gateway.request("DELETE", f"/sandboxes/{sandbox_id}")


@pytest.fixture(scope="module")
def validate(chat_page):
    schema = json.loads(SCHEMA.read_text())
    anything = {name: r".*" for name in ("uri", "uri-reference", "color-hex")}
    return fastjsonschema.compile(schema, formats=anything)


@pytest.fixture(scope="module")
def canvas(chat_page):
    wanted = os.environ.get("CELLBLOCK_GALLERY")
    pictures = Path(wanted) if wanted else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        yield Canvas(browser, pictures)


def test_the_gallery_is_large_enough():
    libraries = {figure.library for figure in FIGURES.values()}
    assert libraries == {"matplotlib", "seaborn", "pandas", "plotly", "altair", "bokeh"}
    assert len(FIGURES) >= 60
    assert all(figure.check for figure in FIGURES.values())


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_read_as_it_was_drawn_and_drawn_again_whole(
    gateway, sandbox_for, validate, canvas, name
):
    figure = FIGURES[name]
    run = gateway.execute(figure.code, sandbox=sandbox_for(figure.library))
    assert run.error is None, run.error
    charts = [artifact for artifact in run.artifacts if artifact["kind"] == "chart"]
    assert len(charts) == 1, [artifact["kind"] for artifact in run.artifacts]

    def view(form: str):
        answer = gateway.request("GET", f"{charts[0]['url']}/chart", params={"format": form})
        assert answer.status_code == 200, answer.text
        return answer

    figure.check(Chart(view("model").json()))
    spec = view("vega-lite").json()
    validate(spec)
    assert canvas.vega_lite(spec, name) == []
    assert canvas.svg(view("svg").text, name) == []
