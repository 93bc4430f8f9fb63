"""The documents of the site: axe, colours, narrow windows, search, the policy."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browsers import Profiles
from playwright.sync_api import Browser, Page, expect
from test_page_access import in_every_scheme, violations

from conftest import SITE, Serve
from tools import programs

KINDS = {
    "the first page": "index.html",
    "a page of the guide": "guide/gradients.html",
    "an index": "reference/index.html",
    "a page of names": "reference/fft.html",
    "a wide table": "reference/numpy_names.html",
    "a page for contributors": "contributing/recipes.html",
    "a source": "_modules/tensorweb/plots.html",
    "all names": "genindex.html",
    "results of a search": "search.html?q=cumulative_sum",
}
NARROW_KINDS = ("a page of the guide", "results of a search")
"""Pages whose narrow form is checked by all rules: its header and drawers are alike."""
OF_SIZES = {"type": "rule", "values": ["scrollable-region-focusable", "target-size"]}
KEYS_REACH_WHAT_SCROLLS = """[...document.querySelectorAll("article pre")].every(
  (block) => block.tabIndex === 0 || block.scrollWidth <= block.clientWidth)"""
SIZES = {
    "wide": {"width": 1280, "height": 850},
    "narrow": {"width": 390, "height": 800},
}


@contextmanager
def silent(page: Page) -> Iterator[Page]:
    """A page that must report nothing on its console."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    assert said == []


@pytest.fixture
def reader(profiles: Profiles) -> Iterator[Page]:
    """A page of somebody who has run Python before, which then starts quickly."""
    with profiles.page() as page, silent(page):
        yield page


@pytest.fixture
def offline_reader(chromium: Browser) -> Iterator[Page]:
    """A page in a profile of its own, with a service worker."""
    with chromium.new_context() as context, silent(context.new_page()) as page:
        yield page


@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_for_everybody(reader: Page, site_url: str, kind: str) -> None:
    view: Any = SIZES["wide"]
    reader.set_viewport_size(view)
    reader.goto(f"{site_url}docs/{KINDS[kind]}")
    expect(reader.locator("h1").first).to_be_visible()
    if "search" in KINDS[kind]:
        expect(reader.locator("ul.search li").first).to_be_visible()
    assert in_every_scheme(reader) == []
    assert reader.evaluate("document.documentElement.scrollWidth") <= view["width"]
    view = SIZES["narrow"]
    reader.set_viewport_size(view)
    expect(reader.locator(".mobile-header")).to_be_visible()
    assert reader.evaluate("document.documentElement.scrollWidth") <= view["width"]
    # The page learns of new sizes with its next frame, which a busy machine draws late.
    reader.wait_for_function(KEYS_REACH_WHAT_SCROLLS)
    if kind in NARROW_KINDS:
        assert in_every_scheme(reader) == []
    else:
        assert violations(reader, OF_SIZES) == []


def test_search_finds_a_name(reader: Page, site_url: str) -> None:
    reader.goto(f"{site_url}docs/guide/gradients.html")
    reader.get_by_role("textbox", name="Search").fill("cumulative_sum")
    reader.keyboard.press("Enter")
    link = reader.get_by_role("link", name="tensorweb.cumulative_sum", exact=True)
    link.click()
    expect(reader).to_have_url(
        f"{site_url}docs/reference/reductions.html#tensorweb.cumulative_sum"
    )


def test_colours_are_those_of_the_playground(reader: Page, site_url: str) -> None:
    reader.emulate_media(color_scheme="light")
    reader.goto(f"{site_url}docs/index.html")
    assert ground(reader) == "rgb(255, 255, 255)"
    reader.locator(".theme-toggle").locator("visible=true").click()
    assert stored(reader) == "light"
    reader.locator(".theme-toggle").locator("visible=true").click()
    assert stored(reader) == "dark"
    assert ground(reader) == "rgb(22, 25, 34)"
    reader.reload()
    assert ground(reader) == "rgb(22, 25, 34)"
    other = reader.context.new_page()
    other.goto(site_url)
    assert other.evaluate("document.documentElement.dataset.theme") == "dark"
    other.evaluate("localStorage.setItem('tensorweb:theme', 'light')")
    reader.wait_for_function("document.body.dataset.theme === 'light'")
    other.close()


def ground(page: Page) -> str:
    found: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return found


def stored(page: Page) -> str:
    found: str = page.evaluate("localStorage.getItem('tensorweb:theme')")
    return found


def test_lines_that_install_name_this_site(
    reader: Page, serve: Serve, tmp_path: Path
) -> None:
    (tmp_path / "site").symlink_to(SITE.resolve())
    url = f"{serve(tmp_path)}site/"
    for page in ("install", "notebooks", "element"):
        reader.goto(f"{url}docs/guide/{page}.html")
        expect(reader.locator("article pre").first).to_be_visible()
        assert "example.org" not in reader.locator("article").inner_text()
        wheels = re.findall(r"http[^ ]*\.whl", reader.locator("article").inner_text())
        assert wheels or page == "element"
        for wheel in {*wheels}:
            assert wheel.startswith(f"{url}wheels/")
            assert reader.request.get(wheel).ok


def test_scripts_written_into_a_page_are_refused(reader: Page, site_url: str) -> None:
    reader.goto(f"{site_url}docs/index.html")
    assert reader.locator("meta[http-equiv=Content-Security-Policy]").count() == 1
    assert reader.locator("script:not([src])").count() == 0


def test_documents_work_under_any_path_and_without_headers(
    reader: Page, serve: Serve, site_url: str, tmp_path: Path
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/site").symlink_to(SITE.resolve())
    url = serve(tmp_path, isolated=False)
    reader.goto(f"{url}deep/site/docs/search.html?q=cumulative_sum")
    expect(reader.locator("ul.search li").first).to_be_visible()
    assert ground(reader) == "rgb(255, 255, 255)"


def wait_for_the_service_worker(reader: Page, address: str) -> None:
    reader.goto(address)
    reader.evaluate("navigator.serviceWorker.ready.then(() => true)")
    reader.goto(address)
    reader.wait_for_function("navigator.serviceWorker.controller !== null")
    reader.wait_for_load_state("networkidle")


def test_a_page_once_read_is_there_offline(offline_reader: Page, site_url: str) -> None:
    address = f"{site_url}docs/reference/elementwise.html"
    wait_for_the_service_worker(offline_reader, address)
    offline_reader.context.set_offline(True)
    offline_reader.goto(address)
    expect(offline_reader.locator("h1")).to_contain_text("Elementwise functions")
    assert ground(offline_reader) == "rgb(255, 255, 255)"


def test_a_page_of_another_build_is_shown(
    offline_reader: Page, serve: Serve, site_url: str, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    shutil.copytree(SITE, site)
    url = serve(site)
    wait_for_the_service_worker(offline_reader, f"{url}docs/index.html")
    changed = site / "docs/guide/gradients.html"
    text = changed.read_text("utf-8").replace("Derivatives<", "Newer derivatives<")
    changed.write_text(text, "utf-8")
    offline_reader.goto(f"{url}docs/guide/gradients.html")
    expect(offline_reader.locator("h1")).to_contain_text("Newer derivatives")


WARM_SECONDS = 1.0


def run(page: Page, label: str) -> float:
    """Press Run of a block, wait for its end and return how long that took."""
    page.get_by_role("button", name=f"Run {label}", exact=True).click()
    element = page.locator(f"tensor-web[label='{label}']")
    started = time.monotonic()
    expect(element).to_have_attribute("data-state", "done")
    return time.monotonic() - started


def test_run_shows_the_result_in_place_and_shares_one_python(
    reader: Page, site_url: str
) -> None:
    reader.goto(f"{site_url}docs/reference/reductions.html")
    run(reader, "example of tensorweb.all")
    names = ("cumulative_sum", "cumulative_prod")
    warm = [run(reader, f"example of tensorweb.{name}") for name in names]
    element = reader.locator("tensor-web[label='example of tensorweb.cumulative_prod']")
    expect(element).to_contain_text("24")
    assert min(warm) < WARM_SECONDS, warm
    assert reader.locator("iframe").count() == 1
    assert in_every_scheme(reader) == []


def test_run_is_reached_by_keys(reader: Page, site_url: str) -> None:
    reader.goto(f"{site_url}docs/index.html")
    button = reader.get_by_role("button", name="Run program 1", exact=True)
    button.focus()
    reader.keyboard.press("Enter")
    element = reader.locator("tensor-web")
    expect(element).to_have_attribute("data-state", "done")
    expect(element).to_contain_text("[ 4.5 16.5 28.5]")
    expect(reader.locator(".highlight-text")).to_have_count(0)


def test_recorded_output_says_so_below_a_failure(reader: Page, site_url: str) -> None:
    reader.goto(f"{site_url}docs/index.html")
    link = reader.locator(".program a").first
    link.evaluate("(a, program) => { a.hash = program; }", programs.link("1 / 0"))
    reader.get_by_role("button", name="Run program 1", exact=True).click()
    expect(reader.locator("tensor-web")).to_have_attribute("data-state", "failed")
    note = reader.locator(".highlight-text").first
    expect(note).to_have_attribute("data-note", "Recorded output")


def test_open_leads_to_the_program_in_the_playground(
    reader: Page, site_url: str
) -> None:
    reader.goto(f"{site_url}docs/reference/elementwise.html")
    name = "Open in playground: example of tensorweb.sin"
    reader.get_by_role("link", name=name, exact=True).click()
    reader.wait_for_url(f"{site_url}index.html#code=*")
    reader.wait_for_function("tensorwebPage.editor.source().includes('tw.sin(')")
    expect(reader.locator("#notice")).to_contain_text("from the documentation")
    # It waits for its reader all the same; a link that was passed on is a stranger's.
    assert reader.evaluate("tensorwebPage.view.run") is None
    reader.evaluate("localStorage.removeItem('tensorweb:documented')")
    reader.reload()
    expect(reader.locator("#notice")).to_contain_text("came with a link")


PARTS = "(all) => all.map((each) => [each.textContent, getComputedStyle(each).color])"
BACKGROUND = "(each) => getComputedStyle(each).backgroundColor"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_code_keeps_its_colours_when_it_runs(
    reader: Page, site_url: str, scheme: Any
) -> None:
    reader.emulate_media(color_scheme=scheme)
    reader.goto(f"{site_url}docs/index.html")
    before = reader.locator(".program .highlight .kn").evaluate_all(PARTS)
    ground_before = reader.locator(".program .highlight").evaluate(BACKGROUND)
    run(reader, "program 1")
    element = reader.locator("tensor-web")
    words = element.locator(".tok-keyword").evaluate_all(PARTS)
    assert words[: len(before)] == before
    assert before[0][0] == "import"
    assert element.locator(".box").evaluate(BACKGROUND) == ground_before
    expect(element.locator(".label")).to_be_hidden()
    expect(element.get_by_role("link", name="Open in playground")).to_be_visible()


@pytest.mark.parametrize("size", SIZES)
def test_links_show_signatures_and_their_source(
    reader: Page, site_url: str, size: str
) -> None:
    view: Any = SIZES[size]
    reader.set_viewport_size(view)
    reader.goto(f"{site_url}docs/reference/optim.html#tensorweb.optim.AdamW")
    entry = reader.locator("[id='tensorweb.optim.AdamW']")
    expect(entry).to_contain_text("weight_decay")
    expect(entry).to_be_in_viewport(ratio=1)
    box, link = entry.bounding_box(), entry.locator(".viewcode-link").bounding_box()
    bar = reader.locator(".mobile-header").bounding_box()
    assert box
    assert link
    assert box["y"] >= (bar["y"] + bar["height"] if bar else 0)
    assert link["y"] + link["height"] <= box["y"] + box["height"]
