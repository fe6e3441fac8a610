"""A page of Chromium on which charts are drawn and measured."""

import json
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Page
from support.browser import LIBRARIES

LAYOUT = Path(__file__).with_name("layout.js")
SCRIPTS = ["vega/build/vega.min.js", "vega-lite/build/vega-lite.min.js"]
SCRIPTS += ["vega-embed/build/vega-embed.min.js"]

DRAW = """async ([spec]) => {
    const place = document.getElementById("chart");
    // The version that the specification names: what is valid in 5 is in 6.
    delete spec.$schema;
    await vegaEmbed(place, spec, {mode: "vega-lite", renderer: "svg", actions: false});
    await document.fonts.ready;
    return layoutProblems(place.querySelector("svg"));
}"""
SHOW = """([svg]) => {
    const place = document.getElementById("chart");
    place.innerHTML = svg;
    return layoutProblems(place.querySelector("svg"));
}"""


class Canvas:
    """`pictures`: a folder that gets a PNG of each, for people to look at; or none."""

    def __init__(self, browser: Browser, pictures: Path | None = None):
        self.browser = browser
        self.pictures = pictures
        self.page = browser.new_page(viewport={"width": 1400, "height": 1600})
        self.said: list[str] = []
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.set_content("<!doctype html><div id='chart' style='display: inline-block'></div>")
        for script in SCRIPTS:
            self.page.add_script_tag(path=LIBRARIES / script)
        self.page.add_script_tag(path=LAYOUT)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("warning", "error"):
            self.said.append(f"{message.type}: {message.text}")

    def _run(self, page: Page, script: str, argument: object, name: str) -> list[str]:
        self.said.clear()
        page.evaluate("document.getElementById('chart').replaceChildren()")
        problems = page.evaluate(script, [argument])
        if self.pictures:
            page.locator("#chart").screenshot(path=self.pictures / f"{name}.png")
        return problems + self.said

    def vega_lite(self, spec: dict, name: str) -> list[str]:
        """What is wrong with the chart as vega-embed draws it."""
        return self._run(self.page, DRAW, json.loads(json.dumps(spec)), f"{name}.vega-lite")

    def svg(self, svg: str, name: str) -> list[str]:
        return self._run(self.page, SHOW, svg, f"{name}.svg")
