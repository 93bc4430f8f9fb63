"""The page inside pages of other sites: compact with `?embed=1`, else a link alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from browsers import LIMIT_MS, Profiles
from other_site import plain_host
from page_driver import FRAMES
from playwright.sync_api import Browser, Frame, Page, expect
from program_steps import hold_python, link_code
from test_page_access import SMALL, violations

from conftest import Serve

PROGRAM = """import tensorweb as tw
waves = tw.reshape(tw.linspace(-1.0, 1.0, 400), (20, 20))
tw.show(waves)
print("ran")
"""
ENDLESS = "print('begun')\nwhile True: pass"
KEPT = '{"text": "mine", "title": "Secret", "original": null, "changed": 1}'
OWN = "tensorweb:document:own-1"
AROUND = """<!doctype html><html lang="en"><title>Around</title><main>
<h1>Around</h1><script>
  globalThis.heard = [];
  addEventListener("message", (event) => heard.push(event.data));
</script><iframe title="Program" width="800" height="480" src="{}"></iframe></main>"""


@dataclass
class Around:
    """A page of another site with ours in a frame."""

    page: Page
    folder: Path
    site: str
    address: str

    @property
    def frame(self) -> Frame:
        return self.page.frames[-1]

    def show(self, to: str) -> Frame:
        """Let the reader, who has a program on our page, visit the other site."""
        page = self.page
        page.goto(f"{self.site}build.json")
        page.evaluate("([key, kept]) => { localStorage[key] = kept }", [OWN, KEPT])
        to = to.replace("CODE", link_code(page, PROGRAM))
        text = AROUND.format(f"{self.site}{to}")
        (self.folder / "index.html").write_text(text, "utf-8")
        page.goto(self.address)
        self.frame.wait_for_load_state("load")
        return self.frame

    def idle(self) -> str:
        self.frame.wait_for_function(
            "['ready', 'error'].includes(document.body.dataset.state)"
        )
        return str(self.frame.evaluate("document.body.dataset.state"))


@pytest.fixture(scope="module")
def around(
    profiles: Profiles, site_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Around]:
    folder = tmp_path_factory.mktemp("around")
    with plain_host(folder) as address, profiles.page() as page:
        page.set_default_timeout(LIMIT_MS)
        yield Around(page, folder, site_url, address)


@pytest.fixture(scope="module")
def embedded(around: Around) -> Around:
    """A linked program in a frame, whose reader has done nothing yet."""
    around.show("?embed=1&theme=dark#code=CODE")
    assert around.idle() == "ready"
    return around


def test_nothing_runs_before_its_reader_asks(embedded: Around) -> None:
    frame = embedded.frame
    assert frame.evaluate("tensorwebPage.view.run") is None
    expect(frame.locator("#document")).to_contain_text("Shared program")
    expect(frame.locator("#notice")).to_contain_text("press Run if you trust it")
    expect(frame.locator("html")).to_have_attribute("data-theme", "dark")
    assert violations(frame) == []
    frame.click("#run")
    frame.wait_for_function("tensorwebPage.view.run !== null")
    assert embedded.idle() == "ready"
    expect(frame.locator(".output-content")).to_contain_text("ran")
    expect(frame.locator("#tensors .heatmap")).to_be_visible()
    expect(frame.get_by_role("status").filter(has_text="Done in")).to_be_visible()


def test_the_readers_own_programs_are_out_of_reach(embedded: Around) -> None:
    frame = embedded.frame
    before = frame.evaluate(
        "JSON.stringify({...localStorage, 'tensorweb:snapshot': 0})"
    )
    assert "Secret" in before
    assert frame.evaluate("tensorwebPage.workspace.documents.list()") == []
    back = embedded.page.evaluate("history.length")
    frame.click("#editor .cm-content")
    embedded.page.keyboard.type("# typed\n")
    frame.wait_for_function("tensorwebPage.workspace.documents.list().length === 1")
    for name in ("Share", "Examples", "your programs", "Reset", "Help"):
        assert frame.get_by_role("button", name=name).count() == 0, name
    for part in ("#network input", "#device select"):
        assert frame.locator(part).count() == 0, part
    assert embedded.page.evaluate("history.length") == back
    after = frame.evaluate("JSON.stringify({...localStorage, 'tensorweb:snapshot': 0})")
    assert after == before
    assert frame.evaluate("Object.keys(sessionStorage)") == []
    assert embedded.page.evaluate("heard") == []
    with embedded.page.context.expect_page() as whole:
        frame.get_by_role("link", name="Open in tensorweb").click()
    opened_page = whole.value
    opened_page.wait_for_function("globalThis.tensorwebPage?.view.document.id")
    assert "# typed" in opened_page.evaluate("tensorwebPage.editor.source()")
    assert opened_page.evaluate("tensorwebPage.view.run") is None
    assert opened_page.evaluate("tensorwebPage.isEmbedded") is False
    opened_page.close()
    frame.evaluate("location.hash = '#own=1'")
    expect(frame.locator("#notice")).to_contain_text("no such program of yours")


def test_the_compact_page_fits_a_phone(embedded: Around) -> None:
    embedded.page.evaluate("document.querySelector('iframe').width = 320")
    frame = embedded.frame
    frame.wait_for_function("tensorwebPage.view.isNarrow")
    assert frame.evaluate("document.documentElement.scrollWidth") <= 320
    assert frame.evaluate(SMALL) == []
    embedded.page.evaluate("document.querySelector('iframe').width = 800")
    frame.wait_for_function("!tensorwebPage.view.isNarrow")


def test_stop_ends_a_program_in_a_frame(embedded: Around) -> None:
    frame = embedded.frame
    assert frame.evaluate("crossOriginIsolated") is False
    frame.wait_for_function("!tensorwebPage.view.held")
    frame.evaluate("source => tensorwebPage.editor.open(source)", ENDLESS)
    frame.click("#run")
    expect(frame.locator(".output-content")).to_contain_text("begun")
    frame.click("#stop")
    expect(frame.locator(".trouble")).to_contain_text("Python was restarted")
    embedded.idle()


def test_a_first_visit_in_a_frame_runs_nothing_either(around: Around) -> None:
    frame = around.show("?embed=1")
    assert around.idle() == "ready"
    frame.wait_for_function("tensorwebPage.view.origins.run?.recorded")
    frame.evaluate(FRAMES, 10)
    assert frame.evaluate("tensorwebPage.view.origins.run.recorded")


def test_a_frame_that_is_not_asked_for_has_a_link_only(around: Around) -> None:
    for to in ("#code=CODE", "?embed=2#ex=01-tour", "?example=01-tour"):
        frame = around.show(to)
        link = frame.get_by_role("link", name="in a tab of its own")
        expect(link).to_have_attribute("target", "_blank")
        assert frame.locator("button, .cm-editor, select").count() == 0
        assert frame.evaluate("globalThis.tensorwebPage") is None


def test_isolated_pages_can_embed_it_too(
    chromium: Browser, site_url: str, serve: Serve, tmp_path: Path
) -> None:
    (tmp_path / "index.html").write_text(
        AROUND.format(f"{site_url}?embed=1#ex=01-tour")
    )
    context = chromium.new_context()
    page = context.new_page()
    hold_python(page)
    page.goto(serve(tmp_path))
    page.frames[-1].wait_for_function("globalThis.tensorwebPage?.isEmbedded")
    assert page.evaluate("crossOriginIsolated") is True
    context.close()
