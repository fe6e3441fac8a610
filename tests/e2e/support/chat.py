"""The chat page in a browser, as a person uses it."""

from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, Request, expect

PATIENCE_MS = 180_000  # an emulated guest on a busy machine
expect.set_options(timeout=PATIENCE_MS)

# Scripts of the page may not use strings as code; violations of its policy are noted from inside.
NOTE_VIOLATIONS = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => {
    window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`);
});
"""


class Chat:
    """`token`: typed into the page's field, as its reader would."""

    def __init__(self, browser: Browser, url: str, token: str, scheme: str = "light"):
        size = {"width": 1180, "height": 860}
        self.page: Page = browser.new_page(viewport=size, color_scheme=scheme)
        self.page.set_default_timeout(PATIENCE_MS)
        self.errors: list[str] = []
        self.addresses: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("requestfinished", lambda request: self.addresses.append(request.url))
        self.page.on("requestfailed", self._on_failed)
        self.page.add_init_script(NOTE_VIOLATIONS)
        self.page.goto(f"{url}/examples/chat/")
        if token:
            self.give_token(token)

    def _on_failed(self, request: Request) -> None:
        # What the page's policy has stopped never left the browser.
        if "csp" not in (request.failure or "").lower():
            self.addresses.append(request.url)

    def give_token(self, token: str) -> None:
        self.page.get_by_role("textbox", name="Token").fill(token)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#token-dialog")).not_to_be_visible()

    def start(self, code: str) -> Locator:
        """Runs a cell by the keyboard; its article, while it may still run."""
        field = self.page.get_by_label("Python code")
        field.fill(code)
        field.press("Shift+Enter")
        return self.page.locator("article.cell").last

    def run(self, code: str) -> Locator:
        cell = self.start(code)
        expect(cell).not_to_have_attribute("aria-busy", "true")
        return cell

    @property
    def violations(self) -> list[str]:
        return self.page.evaluate("() => window.violations")

    def picture(self, folder: Path | None, name: str) -> None:
        if folder:
            self.page.screenshot(path=folder / f"chat-{name}.png")
