"""Programs in frames of other sites: the compact page, and the page as a link alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from browsers import LIMIT_MS, Profiles
from other_site import plain_host
from playwright.sync_api import Browser, Frame, Locator, Page, expect
from program_steps import hold_python, link_code
from test_page_access import violations

from conftest import Serve

PROGRAM = """import tensorweb as tw
waves = tw.reshape(tw.linspace(-1.0, 1.0, 400), (20, 20))
tw.show(waves)
print("ran")
"""
FILES = """#!tensorweb files
[["main.py", "import helpers\\nprint(helpers.answer, open('data.txt').read())"],
 ["helpers.py", "answer = 42"], ["data.txt", "seven"]]"""
KEPT = '{"text": "mine", "title": "Secret", "original": null, "changed": 1}'
OWN = "tensorweb:document:own-1"
STORED = "JSON.stringify({...localStorage, 'tensorweb:snapshot': 0})"
AROUND = """<!doctype html><html lang="en"><title>Around</title><main>
<h1>Around</h1><script>
  globalThis.heard = [];
  addEventListener("message", (event) => heard.push(event.data));
</script><iframe title="Program" width="800" height="480" src="{}"></iframe></main>"""
VALUE = "document.querySelector('tensor-web').value"


@dataclass
class Around:
    """A page of another site with ours in a frame."""

    page: Page
    folder: Path
    site: str
    address: str

    @property
    def frame(self) -> Frame:
        return self.page.frames[1]

    @property
    def element(self) -> Locator:
        return self.frame.locator("tensor-web")

    def show(self, to: str, program: str = PROGRAM) -> Frame:
        """Let the reader, who has a program on our page, visit the other site."""
        page = self.page
        page.goto(f"{self.site}build.json")
        page.evaluate("([key, kept]) => { localStorage[key] = kept }", [OWN, KEPT])
        to = to.replace("CODE", link_code(page, program))
        name = f"{len(list(self.folder.iterdir()))}.html"
        text = AROUND.format(f"{self.site}{to}")
        (self.folder / name).write_text(text, "utf-8")
        page.goto(f"{self.address}{name}")
        self.frame.wait_for_load_state("load")
        return self.frame

    def embed(self, to: str, program: str = PROGRAM) -> Locator:
        """Show the compact page; return its element."""
        self.show(to, program)
        self.element.get_by_role("button", name="Run").wait_for()
        return self.element

    def run(self) -> None:
        self.element.get_by_role("button", name="Run").click()
        expect(self.element.get_by_role("status")).to_have_text("Done")


@pytest.fixture(scope="module")
def around(
    profiles_on_cpu: Profiles, site_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Around]:
    folder = tmp_path_factory.mktemp("around")
    with plain_host(folder) as address, profiles_on_cpu.page() as page:
        page.set_default_timeout(LIMIT_MS)
        yield Around(page, folder, site_url, address)


def test_nothing_runs_before_its_reader_asks(around: Around) -> None:
    element = around.embed("embed/?theme=dark#code=CODE")
    frame = around.frame
    assert frame.evaluate("document.querySelector('tensor-web').state") == "idle"
    assert len(around.page.frames) == 2
    assert around.page.workers == []
    expect(element.get_by_role("group").first).to_contain_text("Shared program")
    expect(frame.locator(".note")).to_contain_text("press Run if you trust it")
    expect(element.locator(".box")).to_have_attribute("data-theme", "dark")
    assert violations(frame) == []
    around.run()
    expect(element.locator("pre.text")).to_have_text("ran")
    expect(element.get_by_role("img", name="Picture of waves")).to_be_visible()
    assert violations(frame) == []


def test_the_readers_own_programs_are_out_of_reach(around: Around) -> None:
    element = around.embed("embed/#code=CODE")
    frame = around.frame
    before = frame.evaluate(STORED)
    assert "Secret" in before
    back = around.page.evaluate("history.length")
    element.locator(".area").focus()
    element.locator(".cm-content").wait_for()
    around.page.keyboard.press("Control+Home")
    around.page.keyboard.type("# typed\n")
    around.run()
    assert frame.evaluate(STORED) == before
    assert frame.evaluate("Object.keys(sessionStorage)") == []
    assert around.page.evaluate("history.length") == back
    assert around.page.evaluate("heard") == []
    with around.page.context.expect_page() as whole:
        element.get_by_role("link", name="Open in playground").click()
    opened_page = whole.value
    opened_page.wait_for_function("globalThis.tensorwebPage?.view.document.id")
    assert "# typed" in opened_page.evaluate("tensorwebPage.editor.source()")
    assert opened_page.evaluate("tensorwebPage.view.run") is None
    opened_page.close()


def test_the_embedding_page_changes_no_program_under_a_click(around: Around) -> None:
    element = around.embed("embed/#ex=01-tour")
    assert "tensorweb" in around.frame.evaluate(VALUE)
    around.frame.evaluate("location.hash = '#ex=02-broadcasting'")
    around.frame.wait_for_function("document.querySelector('tensor-web')?.inert")
    around.frame.wait_for_function("!document.querySelector('tensor-web').inert")
    assert around.frame.evaluate("document.querySelector('tensor-web').state") == "idle"
    href = element.get_by_role("link", name="Open in playground").get_attribute("href")
    assert href == f"{around.site}#ex=02-broadcasting"


def test_a_program_of_several_files_runs(around: Around) -> None:
    element = around.embed("embed/#code=CODE", FILES)
    around.run()
    expect(element.locator("pre.text")).to_have_text("42 seven")


@pytest.mark.parametrize(
    ("to", "said"), [("#code=x", "damaged"), ("#ex=none-such", "no example")]
)
def test_what_an_address_has_not_is_said(around: Around, to: str, said: str) -> None:
    around.embed(f"embed/{to}")
    expect(around.frame.locator(".note")).to_contain_text(said)
    assert "tensorweb" in around.frame.evaluate(VALUE)


def test_the_compact_page_fits_a_phone(around: Around) -> None:
    around.embed("embed/#code=CODE")
    around.page.evaluate("document.querySelector('iframe').width = 320")
    frame = around.frame
    frame.wait_for_function("innerWidth === 320")
    assert frame.evaluate("document.documentElement.scrollWidth") <= 320
    height = "document.documentElement.scrollHeight <= innerHeight"
    assert frame.evaluate(height)
    around.run()
    assert frame.evaluate(height)


def test_addresses_of_before_lead_there(around: Around) -> None:
    around.embed("?embed=1&theme=light#code=CODE")
    assert around.frame.url.startswith(f"{around.site}embed/?theme=light#code=")
    assert around.frame.evaluate(VALUE) == PROGRAM


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
    (tmp_path / "index.html").write_text(AROUND.format(f"{site_url}embed/#ex=01-tour"))
    context = chromium.new_context()
    page = context.new_page()
    hold_python(page)
    page.goto(serve(tmp_path))
    page.frames[1].locator("tensor-web .run").wait_for()
    assert page.evaluate("crossOriginIsolated") is True
    context.close()
