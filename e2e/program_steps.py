"""What tests of programs do on a page, and what they look at."""

from __future__ import annotations

from pathlib import Path

from page_driver import PageDriver
from playwright.sync_api import Locator, Page

EXAMPLES = Path(__file__).parent.parent / "web/examples"
TOUR = (EXAMPLES / "01-tour.py").read_text("utf-8")
REDUCTIONS = next(EXAMPLES.glob("03-*.py"))
SOURCE = "tensorwebPage.editor.source()"
ID = "tensorwebPage.view.document.id"


NO_WORKER = """
globalThis.Worker = class extends EventTarget {
  postMessage() {}
  terminate() {}
};
"""


def hold_python(page: Page) -> None:
    """Let Python never start on a page: one without costs a tenth of the processor."""
    page.add_init_script(NO_WORKER)


def opened(page: Page, url: str, *, python: bool = False) -> PageDriver:
    """Open the page and wait for its program, without Python unless it is needed."""
    if not python:
        hold_python(page)
    driver = PageDriver(page).open(url, wait=False)
    page.wait_for_function(f"tensorwebPage?.view.document.id && {SOURCE} !== ''")
    return driver


def type_at_start(page: Page, text: str) -> None:
    page.click("#editor .cm-content")
    page.keyboard.press("Control+Home")
    page.keyboard.type(text)


def programs(page: Page) -> Locator:
    """Open the list of the reader's own programs."""
    page.get_by_role("button", name="your programs").click()
    return page.locator("dialog.programs")


def open_own(page: Page, id: str) -> None:
    programs(page).locator(f"[data-id='{id}']").click()
    page.wait_for_function(f"{ID} === '{id}'")


def go(page: Page, fragment: str) -> None:
    page.evaluate("fragment => { location.hash = fragment }", fragment)


def notice(page: Page, name: str) -> None:
    page.locator("#notice").get_by_role("button", name=name).click()


def link_code(page: Page, source: str) -> str:
    """Pack a program for a link as the page does."""
    code: str = page.evaluate(
        "async source => { const packed = new Blob([source]).stream()"
        ".pipeThrough(new CompressionStream('deflate-raw'));"
        "const bytes = new Uint8Array(await new Response(packed).arrayBuffer());"
        "return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-')"
        ".replaceAll('/', '_').replace(/=+$/, '') }",
        source,
    )
    return code
