"""The wheel in the pages that people have, built by their own tools, on both devices.

JupyterLite, marimo, PyScript and Pyodide alone run the block of
`docs/guide/notebooks.md`, in Chromium and without any other host.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from browsers import launch_chromium
from elsewhere_pages import DRIVES, PAGES
from playwright.sync_api import Browser, Page, Playwright, expect

from conftest import SITE, Serve
from tools import elsewhere

PICTURE = "img[alt^='Picture: 3 by 4 cells']"


@pytest.fixture(autouse=True, scope="module")
def installed() -> None:
    """Skip where the pages of others or our site are not there."""
    if reason := elsewhere.missing():
        pytest.skip(f"the pages of others are not there: {reason}")
    if not (SITE / "build.json").is_file():
        pytest.skip(f"{SITE} is not built; run `python3 build.py site`")


def show(name: str, browser: Browser, serve: Serve, folder: Path) -> Page:
    """Return the page once it shows the picture.

    It must have computed on the cpu as well, and have asked this machine only.
    """
    drives = name in DRIVES
    address = serve(folder, isolated=not drives)
    path = PAGES[name](folder, address)
    (folder / "site").symlink_to(SITE, target_is_directory=True)
    context = browser.new_context(service_workers="block" if drives else "allow")
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("crash", lambda _: said.append("the page crashed"))
    page.goto(f"{address}{path}")
    try:
        expect(page.locator(PICTURE)).to_be_visible()
    except Exception as error:
        error.add_note("\n".join(["The page said:", *said]))
        raise
    outside = [url for url in asked if not url.startswith((address, "data:", "blob:"))]
    assert outside == []
    assert "on cpu: 12" in "\n".join([*said, page.inner_text("body")])
    return page


@pytest.mark.parametrize("name", PAGES)
def test_page_shows_a_tensor_of_the_gpu(
    name: str, chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    page = show(name, chromium, serve, tmp_path)
    facts = "int32 (3, 4) on webgpu · -5 … 6 · mean 0.5"
    expect(page.get_by_text(facts)).to_be_visible()
    expect(page.get_by_text("[-5, -4, -3, -2]")).to_be_visible()
    page.context.close()


def test_page_without_gpu_shows_a_tensor_of_the_cpu(
    playwright: Playwright, serve: Serve, tmp_path: Path
) -> None:
    browser = launch_chromium(playwright, [])
    page = show("pyscript", browser, serve, tmp_path)
    facts = "int32 (3, 4) on cpu · -5 … 6 · mean 0.5"
    expect(page.get_by_text(facts)).to_be_visible()
    browser.close()
