"""Panels and their tabs, with one more: that of docs/contributing/recipes.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from browsers import Profiles, Snapshot
from contributing import RECIPES, blocks, copy_page, follow
from page_driver import PageDriver, expect
from playwright.sync_api import Browser, Page
from test_page_access import NARROW, violations

from conftest import SITE, Serve
from tools import bundle, driver_scripts, environment, packing, policy, process

TIME = re.compile(r"\d (s|ms|µs)$")

UNCHANGED = (
    *("pyodide", "wheels", "build.json", "examples.json"),
    *(driver_scripts.FILE, packing.OURS, packing.LATER),
)
"""What the page's sources do not make."""


@pytest.fixture(scope="module")
def extended(
    site_url: str, serve: Serve, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The address of the built site with a page that has the document's panel."""
    project = tmp_path_factory.mktemp("project")
    copy_page(project)
    follow("A panel", project)
    site = tmp_path_factory.mktemp("site")
    bundle.bundle(site, project / "web")
    for name in UNCHANGED:
        (site / name).symlink_to((SITE / name).resolve())
    policy.apply(site)
    return serve(site)


@pytest.fixture(scope="module")
def visits(chromium: Browser, extended: str, snapshot: Snapshot) -> Profiles:
    return Profiles(chromium, extended, snapshot)


@pytest.fixture(scope="module")
def wide(visits: Profiles, extended: str) -> Iterator[PageDriver]:
    with visits.page() as page:
        driver = PageDriver(page).open(extended)
        yield driver
        driver.clean()


@pytest.fixture
def narrow(visits: Profiles, extended: str) -> Iterator[PageDriver]:
    with visits.page(viewport=NARROW) as page:
        driver = PageDriver(page).open(extended)
        yield driver
        driver.clean()


def tab(page: Page, name: str) -> None:
    """Expect the tab to have the focus, and to be the selected one of those seen."""
    found = page.get_by_role("tab", name=name)
    expect(found).to_be_focused()
    expect(found).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tab", selected=True)).to_have_count(1)


def test_added_panel_opens_by_keyboard(wide: PageDriver) -> None:
    page = wide.page
    clock = page.get_by_role("tabpanel", name="Clock")
    expect(clock).to_be_hidden()
    page.get_by_role("tab", name="Tensors").focus()
    page.keyboard.press("ArrowLeft")
    tab(page, "Clock")
    time = page.locator(".clock-time")
    expect(time).to_have_text(TIME)
    before = time.inner_text()
    expect(page.locator("#tensors")).to_be_hidden()
    page.keyboard.press("Tab")
    expect(clock).to_be_focused()
    assert violations(page) == []
    assert wide.run("1 + 1") == "ready"
    expect(time).to_have_text(TIME)
    expect(time).not_to_have_text(before)
    page.get_by_role("tab", name="Clock").focus()
    page.keyboard.press("ArrowRight")
    tab(page, "Tensors")
    expect(clock).to_be_hidden()


def test_added_panel_has_a_tab_on_a_narrow_page(narrow: PageDriver) -> None:
    page = narrow.page
    page.get_by_role("tab", name="Code").focus()
    page.keyboard.press("ArrowLeft")
    tab(page, "Clock")
    expect(page.get_by_role("tabpanel")).to_have_count(1)
    expect(page.locator(".clock-time")).to_be_visible()
    assert violations(page) == []
    assert narrow.run("1 + 1") == "ready"
    expect(page.locator("#output")).to_be_visible()
    page.get_by_role("tab", name="Clock").click()
    expect(page.locator(".clock-time")).to_have_text(TIME)


def test_the_document_has_its_test(wide: PageDriver) -> None:
    steps = [block for block in blocks(RECIPES[0]) if block.heading == "A panel"]
    [code] = [step.code for step in steps if step.where.startswith("e2e/")]
    names: dict[str, Any] = {}
    exec(compile(code, "test_page_clock.py", "exec"), names)
    wide.tidy()
    names["test_clock_shows_the_time_of_a_run"](wide)


def test_styles_of_an_added_panel_are_on_the_page(wide: PageDriver) -> None:
    wide.page.get_by_role("tab", name="Clock").click()
    size = "getComputedStyle(document.querySelector('.clock-time')).fontSize"
    assert wide.page.evaluate(size) == "20px"


LISTEN = """() => {
  globalThis.asked = [];
  const others = ["lint", "nonfinite", "provide", "collect"];
  const ask = tensorwebPage.session.request.bind(tensorwebPage.session);
  tensorwebPage.session.request = (name, details) => {
    if (!others.includes(name)) asked.push(name);
    return ask(name, details);
  };
}"""
"""Notes what panels ask; the editor, which looks at what is typed and marks lines of a
run, and the program's files, which the worker is given and returns, are none."""

PROGRAM = "import tensorweb as tw\nx = tw.ones((3, 5))\nx + 1"


def test_hidden_panels_ask_nothing(wide: PageDriver) -> None:
    page = wide.page
    page.get_by_role("tab", name="Kernels").click()
    page.evaluate(LISTEN)
    assert wide.run(PROGRAM) == "ready"
    assert page.evaluate("asked") == ["run", "describe"]
    page.get_by_role("tab", name="Tensors").click()
    wide.pictured()
    assert set(page.evaluate("asked")[2:]) == {"heatmap"}


def test_a_panel_that_cannot_be_loaded_says_so(page: Page, site_url: str) -> None:
    driver = PageDriver(page).open(site_url)
    page.route("**/chunk-*", lambda route: route.abort())
    page.get_by_role("tab", name="Film").locator("visible=true").click()
    expect(page.locator("#film [role=alert]")).to_contain_text("could not be loaded")
    driver.run("print(1)")
    assert "1" in driver.output
    driver.console.clear()


def test_what_the_page_fetches_before_python_is_small() -> None:
    page = (SITE / "index.html").read_text("utf-8")
    names = re.findall(r'(?:href|src)="([\w-]+\.(?:js|css))"', page)
    files = ["index.html", *names, next(SITE.glob("worker-*.js")).name]
    script = """
      const { brotliCompressSync } = require("zlib"), { readFileSync } = require("fs");
      const size = (file) => brotliCompressSync(readFileSync(file)).length;
      console.log(process.argv.slice(1).reduce((sum, file) => sum + size(file), 0));
    """
    command = [environment.node(), "-e", script, *files]
    shell = int(process.output(command, folder=SITE))
    print(f"shell: {shell:,} bytes")
    assert 200_000 < shell < 260_000
