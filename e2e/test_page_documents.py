"""Programs on the page: examples, links, what the browser keeps, reset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import new_context
from page_driver import PageDriver, expect
from playwright.sync_api import Browser, Page

EXAMPLES = sorted((Path(__file__).parent.parent / "web/examples").glob("*.py"))

SAID = {
    "17-slope": ["tw.grad(cube)(3.0) is 27.0"],
    "18-backward-by-hand": [
        "24.7041   dg/dg =    1.0000",
        "dg/db =  645.5773",
        "dg/da =  138.8338",
        "tensors: dg/da = 138.83, dg/db = 645.58",
    ],
}
"""What examples find out, whatever computes."""


@pytest.fixture(scope="module")
def on_cpu(without_webgpu: Browser, site_url: str) -> Iterator[PageDriver]:
    """A page of a browser without WebGPU."""
    context = new_context(without_webgpu)
    driver = PageDriver(context.new_page()).open(site_url)
    yield driver
    driver.clean()
    context.close()


def open_example(driver: PageDriver, path: Path) -> None:
    driver.page.get_by_role("button", name="Examples", exact=True).click()
    driver.page.locator(f"[data-id='{path.stem}']").click()
    driver.wait(f"tensorwebPage.view.document.id === '{path.stem}'")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_on_the_gpu(shared: PageDriver, path: Path) -> None:
    open_example(shared, path)
    assert shared.page.evaluate("tensorwebPage.editor.source()") == path.read_text()
    assert shared.run() == "ready", shared.output
    assert shared.page.locator("#output .text, #output .display").count() > 0
    assert [line for line in SAID.get(path.stem, []) if line not in shared.output] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_on_the_cpu_alone(on_cpu: PageDriver, path: Path) -> None:
    open_example(on_cpu, path)
    assert on_cpu.run() == "ready", on_cpu.output
    assert [line for line in SAID.get(path.stem, []) if line not in on_cpu.output] == []
    expect(on_cpu.page.locator("#device")).to_contain_text("WebAssembly")
    assert not [url for url in on_cpu.requests if url.endswith(".whl")]


def test_both_devices_are_timed_in_one_program(shared: PageDriver) -> None:
    [path] = [path for path in EXAMPLES if path.stem.endswith("gpu-against-cpu")]
    open_example(shared, path)
    assert shared.run() == "ready", shared.output
    head, *rows = shared.output.split("\n\n")[0].splitlines()
    assert head.split() == ["webgpu", "cpu"]
    assert len(rows) == 4
    assert all(row.count(" ms") == 2 for row in rows), rows


def test_there_are_enough_examples() -> None:
    assert len(EXAMPLES) >= 13


def test_missing_examples_are_told_and_tried_again(
    fresh_page: Page, site_url: str
) -> None:
    menu = "**/examples.json"
    fresh_page.route(menu, lambda route: route.fulfill(status=404))
    driver = PageDriver(fresh_page).open(site_url)
    page = driver.page
    said = "The examples could not be loaded"
    expect(page.locator("#notice")).to_contain_text(said)
    assert driver.run("print('my own')") == "ready"
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Examples", exact=True).click()
    dialog = page.locator("dialog.examples")
    expect(dialog.get_by_text(said)).to_be_visible()
    page.unroute(menu)
    dialog.get_by_role("button", name="Try again").click()
    expect(dialog.locator(f"[data-id='{EXAMPLES[0].stem}']")).to_be_visible()
    expect(dialog.get_by_text(said)).to_be_hidden()
    expect(page.locator("#notice")).to_be_hidden()
    assert page.evaluate("tensorwebPage.editor.source()") == "print('my own')"


def test_link_opens_a_program_and_never_runs_it(page: Page, site_url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sender = PageDriver(page).open(site_url)
    source = "print('é' * 3)  # <script>alert(1)</script>\n" + "x = 1\n" * 300
    sender.write(source)
    sender.page.get_by_role("button", name="Share").click()
    expect(sender.page.locator(".share-link")).to_have_value(re.compile("#code="))
    sender.page.get_by_role("button", name="Copy link").click()
    expect(sender.page.locator(".share-said")).to_contain_text("link is copied")
    address = sender.page.evaluate("navigator.clipboard.readText()")
    assert address.startswith(f"{site_url}#code=")
    assert len(address) < 300

    reader = PageDriver(page.context.new_page()).open(address)
    assert reader.page.evaluate("tensorwebPage.editor.source()") == source
    expect(reader.page.locator("#notice")).to_contain_text("came with a link")
    assert reader.page.evaluate("tensorwebPage.view.run") is None
    assert "ééé" not in reader.output
    assert reader.run() == "ready"
    assert "ééé" in reader.output
    sender.clean()
    reader.clean()


@pytest.mark.parametrize("code", ["%%%", "AAAA", "", "é"])
def test_damaged_link_leaves_the_page_usable(
    page: Page, site_url: str, code: str
) -> None:
    driver = PageDriver(page).open(f"{site_url}#code={code}")
    assert driver.run("print('fine')") == "ready"
    driver.clean()


def test_unknown_example_falls_back(page: Page, site_url: str) -> None:
    driver = PageDriver(page).open(f"{site_url}#ex=99-nothing")
    expect(page.locator("#notice")).to_contain_text("no example named")
    assert page.evaluate("tensorwebPage.view.document.id") == EXAMPLES[0].stem
    driver.clean()


def test_address_opens_an_example(page: Page, site_url: str) -> None:
    driver = PageDriver(page).open(f"{site_url}#ex={EXAMPLES[4].stem}")
    assert page.evaluate("tensorwebPage.editor.source()") == EXAMPLES[4].read_text()
    assert page.evaluate("tensorwebPage.view.run") is None
    driver.clean()
