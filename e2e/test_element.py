"""`<tensor-web>` in strict pages of another site, and in pages of the site itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from browsers import LIMIT_MS, Profiles, Snapshot, hold_back, new_context, release
from contributing import blocks
from other_site import plain_host
from page_driver import settled
from playwright.sync_api import Browser, Locator, Page, Route, expect
from test_page_access import OF_COLOURS, violations

from conftest import ROOT

POLICY = "Content-Security-Policy"
VIEWPORT: Any = {"width": 1280, "height": 720}
STRICT = "default-src 'none'; script-src {site}; frame-src {site}"
"""All that a page needs; whatever else the element loaded would be reported."""

HTML = """<!doctype html><html lang="en"><head><title>Another site</title>
<meta name="viewport" content="width=device-width">{head}</head><body><main>
<h1>Another site</h1>{body}</main>
<script type="module" src="{site}tensor-web.js"></script></body></html>"""

ARRAY = """
  import tensorweb as tw
  waves = tw.reshape(tw.linspace(-1.0, 1.0, 400), (20, 20))
  print("sum", round(waves.sum().item(), 3))
  waves
"""

RESULT = """element => new Promise((done) => element.addEventListener(
  "tensorweb-result", ({ detail }) => done(detail), { once: true }))"""


@dataclass
class Elements:
    """A page with elements, and what it asked for and complained of."""

    page: Page
    site: str
    open: Callable[..., None]
    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)

    def element(self, index: int = 0) -> Locator:
        return self.page.locator("tensor-web").nth(index)

    def run(self, index: int = 0) -> Any:
        """Click Run and return the event's detail."""
        element = self.element(index)
        handle = element.element_handle()
        result = self.page.evaluate_handle(
            f"element => ({{ later: ({RESULT})(element) }})", handle
        )
        element.get_by_role("button", name="Run").click()
        return result.evaluate("({ later }) => later")

    def asked(self, part: str) -> list[str]:
        return [url for url in self.requests if part in url]


@dataclass
class Foreign:
    """Another site's host, and the browser that visits it."""

    folder: Path
    address: str
    site: str

    def elements(self, page: Page) -> Elements:
        def show(body: str, head: str = "") -> None:
            text = HTML.format(site=self.site, body=body, head=head)
            # Of two pages of one name and one second browsers keep the first.
            name = f"{len(list(self.folder.iterdir()))}.html"
            (self.folder / name).write_text(text, "utf-8")
            page.goto(f"{self.address}{name}")
            # The policy forbids the eval by which Playwright waits for functions.
            settled(page, "customElements.get('tensor-web') !== undefined")

        found = Elements(page, self.site, show)
        page.set_default_timeout(LIMIT_MS)
        page.on("request", lambda request: found.requests.append(request.url))
        page.on("console", lambda message: found.console.append(message.text))
        page.on("pageerror", lambda error: found.console.append(str(error)))
        return found


@pytest.fixture(scope="module")
def foreign(
    site_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Foreign]:
    folder = tmp_path_factory.mktemp("foreign")
    policy = STRICT.format(site=site_url.rstrip("/"))
    with plain_host(folder, headers={POLICY: policy}) as address:
        yield Foreign(folder, address, site_url)


@pytest.fixture
def fresh(foreign: Foreign, profiles_on_cpu: Profiles) -> Iterator[Elements]:
    """A page of the other site, in a browser that has started Python before."""
    with profiles_on_cpu.page() as page:
        found = foreign.elements(page)
        yield found
        assert found.console == []


PUT = """body => {
  document.querySelector("main").innerHTML = `<h1>Another site</h1>${body}`;
}"""


@pytest.fixture(scope="module")
def shared(foreign: Foreign, profiles_on_cpu: Profiles) -> Iterator[Elements]:
    """One page of the other site, whose Python serves the elements of many tests."""
    with profiles_on_cpu.page() as page:
        found = foreign.elements(page)
        found.open("")
        found.open = partial(page.evaluate, PUT)
        yield found


@pytest.fixture
def elements(shared: Elements) -> Iterator[Elements]:
    """The shared page; `open` replaces the elements of the test before."""
    shared.page.set_viewport_size(VIEWPORT)
    shared.page.emulate_media(color_scheme="no-preference")
    shared.requests.clear()
    yield shared
    assert shared.console == []


@pytest.fixture(scope="session")
def on_foreign_firefox(
    firefox: Browser, site_url: str, snapshot: Snapshot
) -> Iterator[Page]:
    context = new_context(firefox)
    page = context.new_page()
    snapshot.give(page, site_url)
    yield page
    context.close()


def test_nothing_but_the_script_is_loaded_before_it_is_needed(
    fresh: Elements,
) -> None:
    fresh.open(f"<tensor-web>{ARRAY}</tensor-web>" * 3)
    expect(fresh.element().locator(".tok-keyword").first).to_have_text("import")
    fresh.page.wait_for_load_state("networkidle")
    asked = fresh.asked(fresh.site)
    assert asked
    assert all("/tensor-web" in url for url in asked), asked
    assert len(fresh.page.frames) == 1
    fresh.page.locator("tensor-web .area").first.focus()
    fresh.page.locator("tensor-web .cm-content").wait_for()
    assert fresh.asked("runtime") == fresh.asked("pyodide") == []


def check_two_elements(elements: Elements) -> None:
    second = "<tensor-web>print('more'); 'waves' in globals()</tensor-web>"
    elements.open(f'<tensor-web label="Waves">{ARRAY}</tensor-web>{second}')
    assert elements.asked("pyodide") == []
    first = elements.run(0)
    assert first["text"].startswith("sum ")
    assert first["error"] is None
    assert first["stopped"] is False
    assert first["seconds"] > 0
    [tensor] = first["tensors"]
    assert tensor["name"] == "waves"
    assert tensor["shape"] == [20, 20]
    assert tensor["dtype"] == "float32"
    assert tensor["min"] == -tensor["max"] == -1
    element = elements.element(0)
    expect(element.locator("pre.text")).to_contain_text("sum ")
    picture = element.get_by_role("img", name="Picture of waves, float32 (20, 20)")
    expect(picture).to_be_visible()
    again = elements.run(1)
    assert again["text"] == "more\n"
    assert again["tensors"] == []
    expect(elements.element(1).locator(".display")).to_contain_text("False")
    assert len(elements.page.frames) == 2
    assert len(elements.page.workers) <= 1  # Firefox names no workers of frames


def test_elements_share_one_worker_under_a_strict_policy(fresh: Elements) -> None:
    check_two_elements(fresh)
    assert len(fresh.page.workers) == 1
    assert fresh.page.evaluate("crossOriginIsolated") is False


SEEN = """element => {
  globalThis.seen = [];
  const state = element.shadowRoot.querySelector(".state");
  new MutationObserver(() => seen.push(state.textContent)).observe(
    state, { childList: true, subtree: true, characterData: true });
}"""


def test_a_later_visit_starts_from_the_snapshot(fresh: Elements) -> None:
    fresh.open("<tensor-web>print(1)</tensor-web>")
    fresh.element().evaluate(SEEN)
    assert fresh.run()["text"] == "1\n"
    seen = fresh.page.evaluate("seen")
    assert any("Restoring Python" in text for text in seen), seen


def test_firefox_shows_elements_under_a_strict_policy(
    foreign: Foreign, on_foreign_firefox: Page
) -> None:
    elements = foreign.elements(on_foreign_firefox)
    check_two_elements(elements)
    assert elements.console == []


def documented(where: str, site: str) -> str:
    [block] = [b for b in blocks(ROOT / "docs/guide/element.md") if b.where == where]
    assert "https://example.org/play/" in block.code
    return block.code.replace("https://example.org/play/", site)


def test_the_documented_page_runs(own_page: Callable[..., Page], site_url: str) -> None:
    page = own_page(documented("element", site_url))
    page.get_by_role("button", name="Run").click()
    expect(page.locator("tensor-web .display")).to_contain_text("[12, 15, 18, 21]")


def test_the_documented_block_becomes_an_element(
    own_page: Callable[..., Page], site_url: str
) -> None:
    block = "<pre class='python'>print(6 * 7)\n</pre>"
    page = own_page(block + documented("element-block", site_url))
    page.get_by_role("button", name="Run").click()
    expect(page.locator("tensor-web .results pre.text")).to_have_text("42")
    assert page.locator("pre.python").count() == 0


def test_texts_of_programs_are_no_html(elements: Elements) -> None:
    evil = '<img src=x onerror="document.title = 1">'
    program = f"print({evil!r})\nx = {evil!r}\nraise ValueError(x)"
    elements.open("<tensor-web></tensor-web>")
    elements.page.evaluate(
        "([element, text]) => { element.value = text }",
        [elements.element().element_handle(), program],
    )
    result = elements.run()
    assert result["text"] == f"{evil}\n"
    assert result["error"]["type"] == "ValueError"
    assert result["error"]["message"] == evil
    assert result["error"]["line"] == 3
    assert "Traceback" in result["error"]["traceback"]
    element = elements.element()
    expect(element.get_by_role("alert")).to_contain_text(evil)
    expect(element.locator(".results pre.text").first).to_contain_text(evil)
    assert element.locator("img").count() == 0
    element.get_by_role("button", name="line 3").click()
    expect(element.locator(".cm-content")).to_be_focused()


def test_a_page_of_another_site_runs_nothing_by_itself(fresh: Elements) -> None:
    fresh.open("<tensor-web autorun>print(1)</tensor-web>")
    expect(fresh.element().get_by_role("status")).to_contain_text("Press Run")
    assert fresh.page.evaluate("document.querySelector('tensor-web').state") == ("idle")
    assert fresh.asked("runtime") == []
    refused = fresh.page.evaluate(
        """site => new Promise((done) => {
          const frame = document.createElement("iframe");
          frame.src = site + "runtime/";
          frame.addEventListener("load", () => {
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = ({ data }) => data.event && done(data.event);
            frame.contentWindow.postMessage({ tensorweb: 1 }, "*", [port2]);
            port1.postMessage({
              run: 1, source: "print(1)", device: null, isAutomatic: true });
          });
          document.body.append(frame);
        })""",
        fresh.site,
    )
    assert refused["kind"] == "trouble"
    assert "press Run" in refused["message"]


def fulfil(content: str, route: Route) -> None:
    route.fulfill(body=content)


@pytest.fixture
def own_page(profiles_on_cpu: Profiles, site_url: str) -> Iterator[Callable[..., Page]]:
    """Return a function that shows elements on a page of the site itself."""
    with profiles_on_cpu.page() as page:
        page.set_default_timeout(LIMIT_MS)

        def show(body: str, head: str = "", **files: str) -> Page:
            text = HTML.format(site=site_url, body=body, head=head)
            page.route(
                f"{site_url}own.html",
                lambda route: route.fulfill(body=text, content_type="text/html"),
            )
            for name, content in files.items():
                page.route(f"{site_url}{name}.py", partial(fulfil, content))
            page.goto(f"{site_url}own.html")
            return page

        yield show


def test_own_pages_run_by_themselves_and_load_files(
    own_page: Callable[..., Page],
) -> None:
    page = own_page(
        '<tensor-web autorun src="file.py"></tensor-web>', file="print(6 * 7)"
    )
    output = page.locator("tensor-web pre.text")
    expect(output).to_have_text("42")
    state = page.evaluate("document.querySelector('tensor-web').dataset.state")
    assert state in ("running", "done")
    own = "document.querySelector('tensor-web').getAttribute('src')"
    assert page.evaluate(own) == "file.py"


def test_a_missing_file_is_said(own_page: Callable[..., Page]) -> None:
    page = own_page('<tensor-web src="none-such.py">1</tensor-web>')
    status = page.locator("tensor-web").get_by_role("status")
    expect(status).to_contain_text("none-such.py could not be loaded")


def test_events_come_in_order_and_leave_the_element(elements: Elements) -> None:
    elements.open("<div id='around'><tensor-web>print(1)</tensor-web></div>")
    elements.page.evaluate(
        """() => {
          globalThis.heard = [];
          const around = document.querySelector("#around");
          around.addEventListener("tensorweb-state",
            ({ detail, target }) => heard.push([target.localName, detail.state]));
          around.addEventListener("tensorweb-result",
            ({ detail }) => heard.push(["result", detail.text]));
        }"""
    )
    elements.run()
    heard = elements.page.evaluate("heard")
    states = [state for kind, state in heard if kind == "tensor-web"]
    assert states[0] == "queued"
    assert states[-2:] == ["running", "done"]
    assert set(states[1:-2]) <= {"loading"}
    assert heard[-1] == ["result", "1\n"]


def test_programs_wait_for_each_other_and_stop(elements: Elements) -> None:
    endless = "<tensor-web>print('begun')\nwhile True: pass</tensor-web>"
    elements.open(f"{endless}<tensor-web>print('second')</tensor-web>" + endless)
    first, second, third = (elements.element(index) for index in range(3))
    first.get_by_role("button", name="Run").click()
    expect(first.locator("pre.text")).to_have_text("begun")
    second.get_by_role("button", name="Run").click()
    third.get_by_role("button", name="Run").click()
    expect(second.get_by_role("status")).to_have_text("Waiting")
    third.get_by_role("button", name="Stop").click()
    expect(third.get_by_role("status")).to_have_text("Stopped")
    first.get_by_role("button", name="Stop").click()
    expect(first.get_by_role("status")).to_have_text("Stopped")
    expect(second.locator("pre.text")).to_have_text("second")
    expect(second.get_by_role("status")).to_have_text("Done")


def test_typed_text_survives_the_loading_of_the_editor(fresh: Elements) -> None:
    fresh.open("<tensor-web>one = 1</tensor-web>")
    page = fresh.page
    held = hold_back(page, "**/tensor-web-*.js")
    area = fresh.element().locator(".area")
    area.focus()
    page.keyboard.press("End")
    page.keyboard.type("\ntwo = 2")
    expect(fresh.element().locator(".tok-number")).to_have_text(["1", "2"])
    page.keyboard.press("ArrowUp")
    release(page, "**/tensor-web-*.js", held)
    fresh.element().locator(".cm-content").wait_for()
    expect(fresh.element().locator(".cm-content")).to_be_focused()
    page.keyboard.type("0")
    value = "document.querySelector('tensor-web').value"
    assert page.evaluate(value) == "one = 10\ntwo = 2"
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    assert page.evaluate(value) == "one = 1"


def test_the_keyboard_is_enough(fresh: Elements) -> None:
    fresh.open("<tensor-web>print(1)</tensor-web><a href='#after'>After</a>")
    page = fresh.page
    element = fresh.element()
    page.keyboard.press("Tab")
    expect(element.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type("; print(2)")
    page.keyboard.press("Control+Enter")
    expect(element.locator("pre.text")).to_have_text("1\n2")
    for name in ("Run", "Open in playground"):
        page.keyboard.press("Tab")
        focused = element.get_by_text(name, exact=True)
        expect(focused).to_be_focused()
    page.keyboard.press("Tab")
    expect(element.get_by_role("group", name="Output")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="After")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("# ")
    expect(element.locator(".footer")).to_contain_text("edited since")


def test_axe_finds_nothing_on_any_size_and_ground(elements: Elements) -> None:
    failing = "<tensor-web label='Wrong'>def f(): return 1 / 0\nf()</tensor-web>"
    still = "<tensor-web readonly>print(1)</tensor-web>"
    elements.open(f"<tensor-web label='Right'>{ARRAY}</tensor-web>{failing}{still}")
    page = elements.page
    assert violations(page) == []
    elements.run(0)
    elements.run(1)
    elements.element(0).locator(".area").focus()
    elements.element(0).locator(".cm-content").wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # both are
        assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page, OF_COLOURS) == []


GROUND = """index => getComputedStyle(document.querySelectorAll("tensor-web")[index]
  .shadowRoot.querySelector(".box")).backgroundColor"""
WHITE, DARK = "rgb(255, 255, 255)", "rgb(22, 25, 34)"


def test_themes_follow_the_attribute_the_page_and_the_reader(
    fresh: Elements,
) -> None:
    page = fresh.page
    themes = ("", 'theme="light"', 'theme="dark"', 'theme="auto"')
    body = "".join(f"<tensor-web {theme}>1</tensor-web>" for theme in themes)
    page.emulate_media(color_scheme="dark")
    fresh.open(body)
    grounds = [page.evaluate(GROUND, index) for index in range(4)]
    assert grounds == [DARK, WHITE, DARK, DARK]
    page.evaluate("document.querySelector('tensor-web').setAttribute('theme', 'light')")
    assert page.evaluate(GROUND, 0) == WHITE
    # A page that has decided is obeyed, whatever the reader prefers.
    fresh.open(body, head='<meta name="color-scheme" content="light">')
    page.evaluate("document.documentElement.style.colorScheme = 'light'")
    page.evaluate("document.querySelector('tensor-web').setAttribute('theme', 'auto')")
    assert page.evaluate(GROUND, 0) == WHITE
    page.evaluate("document.documentElement.style.colorScheme = 'dark'")
    assert page.evaluate(GROUND, 0) == DARK


PICTURE = """document.querySelector("tensor-web").shadowRoot
  .querySelector("canvas").toDataURL()"""


def test_pictures_change_their_colours_with_the_theme(elements: Elements) -> None:
    page = elements.page
    elements.open(f'<tensor-web theme="light">{ARRAY}</tensor-web>')
    elements.run()
    expect(elements.element().locator("canvas")).to_be_visible()
    light = page.evaluate(PICTURE)
    page.evaluate("document.querySelector('tensor-web').setAttribute('theme', 'dark')")
    settled(page, f"light => light !== {PICTURE}", light)


def test_readonly_code_runs_and_has_no_editor(elements: Elements) -> None:
    elements.open("<tensor-web readonly>print(1)</tensor-web>")
    element = elements.element()
    assert element.locator("textarea").count() == 0
    element.locator("pre.shown").focus()
    elements.page.keyboard.press("Control+Enter")
    expect(element.locator(".results pre.text")).to_have_text("1")
    assert element.locator(".cm-editor").count() == 0
    elements.page.evaluate(
        "document.querySelector('tensor-web').removeAttribute('readonly')"
    )
    expect(element.get_by_role("textbox", name="Python code")).to_be_visible()


def test_a_given_height_is_kept(elements: Elements) -> None:
    long = "\n".join(f"print({number})" for number in range(80))
    elements.open(f"<tensor-web height='300'>{long}</tensor-web>")
    elements.run()
    box = elements.element().locator(".box")
    assert box.evaluate("node => node.offsetHeight") == 300
    parts = [elements.element().locator(name) for name in (".code", ".results")]
    code, results = (part.bounding_box() for part in parts)
    assert code
    assert results
    assert code["x"] + code["width"] <= results["x"]
    elements.page.set_viewport_size({"width": 390, "height": 800})
    code, results = (part.bounding_box() for part in parts)
    assert code
    assert results
    assert code["y"] + code["height"] <= results["y"]


def test_html_and_pictures_of_programs_are_shown(elements: Elements) -> None:
    program = """
class Page:
    def _repr_html_(self):
        return "<table><tr><td>cell</td></tr></table><script>parent.x = 1</script>"
class Dot:
    def _repr_png_(self):
        import struct, zlib
        def part(kind, data):
            body = kind + data
            return struct.pack(">I", len(data)) + body + struct.pack(
                ">I", zlib.crc32(body))
        head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
        rows = zlib.compress(b"\\0\\xff\\0\\0")
        return b"\\x89PNG\\r\\n\\x1a\\n" + part(b"IHDR", head) + part(
            b"IDAT", rows) + part(b"IEND", b"")
import tensorweb as tw
tw.show(Page())
tw.show(Dot())
"""
    elements.open("<tensor-web></tensor-web>")
    elements.page.evaluate(
        "text => { document.querySelector('tensor-web').value = text }", program
    )
    assert elements.run()["error"] is None
    frame = elements.element().locator(".rich-frame").content_frame
    expect(frame.locator("td")).to_have_text("cell")
    assert frame.locator("script").count() == 0
    photo = elements.element().locator("canvas.photo")
    expect(photo).to_be_visible()
    settled(
        elements.page,
        """() => document.querySelector("tensor-web").shadowRoot
          .querySelector("canvas.photo").getContext("2d")
          .getImageData(0, 0, 1, 1).data[0] === 255""",
    )
    # The policy of the page forbids the styles of the program's HTML.
    elements.console[:] = [text for text in elements.console if "style" not in text]


def test_a_program_reads_a_line(elements: Elements) -> None:
    elements.open("<tensor-web>print('Hello', input('Name? '))</tensor-web>")
    element = elements.element()
    element.get_by_role("button", name="Run").click()
    element.get_by_label("Name?").fill("Ada")
    elements.page.keyboard.press("Enter")
    expect(element.locator(".results pre.text")).to_contain_text("Hello Ada")


def test_open_leads_to_the_edited_program(elements: Elements) -> None:
    elements.open("<tensor-web>print(1)</tensor-web>")
    element = elements.element()
    element.locator(".area").focus()
    element.locator(".cm-content").wait_for()
    elements.page.keyboard.press("Control+Home")
    elements.page.keyboard.type("# typed\n")
    with elements.page.context.expect_page() as opened:
        element.get_by_role("link", name="Open in playground").click()
    page = opened.value
    page.wait_for_function("globalThis.tensorwebPage?.view.document.id")
    assert page.evaluate("tensorwebPage.editor.source()") == "# typed\nprint(1)"
    page.close()


def test_a_policy_without_the_frame_is_named(
    profiles_on_cpu: Profiles, site_url: str, tmp_path: Path
) -> None:
    policy = f"default-src 'none'; script-src {site_url.rstrip('/')}"
    with (
        plain_host(tmp_path, headers={POLICY: policy}) as address,
        profiles_on_cpu.page() as page,
    ):
        elements = Foreign(tmp_path, address, site_url).elements(page)
        elements.open("<tensor-web>print(1)</tensor-web>")
        error = elements.run()["error"]
        assert error["type"] == "Unavailable"
        assert "frame-src" in error["message"]
        expect(elements.element().get_by_role("alert")).to_contain_text("frame-src")
