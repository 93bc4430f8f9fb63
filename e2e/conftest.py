"""Fixtures of the browser tests: local servers, Chromium and Firefox by Playwright.

`TENSORWEB_CHROMIUM` names a browser; without it the first Chromium on the path is used.
`TENSORWEB_SITE` names the built site, else it is `dist/`. What needs NumPy in the page
is skipped at once on a site without it. Chromium computes on SwiftShader, Firefox on
lavapipe: no GPU is needed.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from tools import machine
from tools.server import SiteServer

ROOT = Path(__file__).resolve().parent.parent
SITE = Path(os.environ.get("TENSORWEB_SITE") or ROOT / "dist")

LIMIT_MS = 300_000
"""For what a page must do in any case: only a browser that hangs takes so long."""

CHROMIUM_FLAGS = [
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
]

FIREFOX_PREFERENCES: dict[str, str | float | bool] = {
    "dom.webgpu.enabled": True,
    "gfx.webgpu.ignore-blocklist": True,
}

Serve = Callable[..., str]


def pytest_configure() -> None:
    expect.set_options(timeout=LIMIT_MS)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("needs_numpy") and not site_has("numpy"):
        pytest.skip("the site has no NumPy; build it with --wheels DIR")


def site_has(package: str) -> bool:
    """Tell whether the site has a package for Pyodide; true where there is no site."""
    try:
        text = (SITE / "build.json").read_text("utf-8")
    except FileNotFoundError:
        return True
    return package in json.loads(text)["packages"]


@pytest.fixture(scope="session")
def serve() -> Iterator[Serve]:
    """Return a function that serves a folder until the tests end, and its address."""
    with ExitStack() as running:

        def start(folder: Path, *, isolated: bool = True) -> str:
            server = running.enter_context(SiteServer(folder, isolated=isolated))
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            running.callback(server.shutdown)
            return server.url

        yield start


@pytest.fixture(scope="session")
def site_url(serve: Serve) -> str:
    """The address of the built site, isolated from other origins."""
    if not (SITE / "build.json").is_file():
        pytest.skip(f"{SITE} is not built; run `python3 build.py site`")
    return serve(SITE)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


def launch_chromium(playwright: Playwright, flags: list[str]) -> Browser:
    """Start Chromium with flags; skip the test where there is none."""
    program = machine.chromium()
    if program is None:
        pytest.skip("no Chromium; install it or name one in TENSORWEB_CHROMIUM")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags = [*flags, "--no-sandbox"]
    return playwright.chromium.launch(
        executable_path=program, args=flags, chromium_sandbox=False
    )


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    browser = launch_chromium(playwright, CHROMIUM_FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def firefox(playwright: Playwright) -> Iterator[Browser]:
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("no Firefox; install firefox-esr to run this test")
    browser = playwright.firefox.launch(
        channel="moz-firefox",
        executable_path=program,
        firefox_user_prefs=FIREFOX_PREFERENCES,
    )
    yield browser
    browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A fresh page of Chromium in its own profile."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()
