"""The browsers of the tests, and profiles that they use one after another.

A profile that has opened the page before starts Python from its memory snapshot, in a
quarter of the time; whatever else the browser kept in it is forgotten between tests.
Chromium computes on SwiftShader, Firefox on lavapipe: no GPU is needed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Playwright,
    Route,
)

from tools import environment, machine

LIMIT_MS = 300_000
"""For what a page must do in any case: only a browser that hangs takes so long."""

WITHOUT = (
    # What Playwright leaves out: of two lists Chromium takes the last one.
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "BlockOriginHeaderModificationOnRedirect",
    "DestroyProfileOnBrowserClose",
    "DialMediaRouteProvider",
    "GlobalMediaControls",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "Translate",
    # Two hidden pages below the address bar of every window, each a process that takes
    # as long to start as the page of the test.
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
)
"""Features of Chromium that no test needs."""

CHROMIUM_FLAGS = [
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    # Optimise WebAssembly later than usual: most pages of the tests live for seconds.
    "--js-flags=--wasm-tiering-budget=130000000",
]

ONE_PROCESS = "--process-per-site"
"""Pages of one site in one profile share compiled WebAssembly: see `Profiles`."""

FIREFOX_PREFERENCES: dict[str, str | float | bool] = {
    "dom.webgpu.enabled": True,
    "gfx.webgpu.ignore-blocklist": True,
}

FORGET_MS = 30_000
"""What forgetting may take; an idle machine needs a fiftieth of it."""

FORGET = """async () => {
  const digest = localStorage.getItem("tensorweb:snapshot");
  localStorage.clear();
  if (digest !== null) localStorage.setItem("tensorweb:snapshot", digest);
  sessionStorage.clear();
  const deleted = (name) => new Promise((done) => {
    const asked = indexedDB.deleteDatabase(name);
    asked.onsuccess = asked.onerror = asked.onblocked = done;
  });
  await Promise.all((await indexedDB.databases()).map(({ name }) => deleted(name)));
  const files = await navigator.storage.getDirectory();
  for await (const name of files.keys()) {
    await files.removeEntry(name, { recursive: true });
  }
  return true;
}"""
"""Leaves nothing but the digest by which the page knows its snapshot."""


PAUSE_MS = 50
"""Between two looks."""

NO_SERVICE_WORKER = "delete Navigator.prototype.serviceWorker;"


def new_context(browser: Browser) -> BrowserContext:
    """Open a profile without service workers: what they fetch cannot be held back."""
    context = browser.new_context()
    context.add_init_script(NO_SERVICE_WORKER)
    return context


@contextmanager
def page_of(context: BrowserContext) -> Iterator[Page]:
    """Lend a page of a profile, which ends with it."""
    yield context.new_page()
    context.close()


def hold_back(page: Page, pattern: str) -> list[Route]:
    """Keep matching requests waiting until the test releases them."""
    waiting: list[Route] = []
    page.route(pattern, lambda route: waiting.append(route))
    return waiting


def release(page: Page, pattern: str, waiting: list[Route]) -> None:
    """Let requests go that `hold_back` kept, and hold none back any more."""
    while waiting:
        waiting.pop(0).continue_()
    page.unroute(pattern)


def launch_chromium(playwright: Playwright, flags: list[str]) -> Browser:
    """Start Chromium with flags; skip the test where there is none."""
    program = machine.chromium()
    if program is None:
        pytest.skip("no Chromium; install it or name one in TENSORWEB_CHROMIUM")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags = [*flags, "--no-sandbox"]
    flags = [*flags, ONE_PROCESS, f"--disable-features={','.join(WITHOUT)}"]
    return playwright.chromium.launch(
        executable_path=program, args=flags, chromium_sandbox=False
    )


def firefox_program() -> str:
    """Return the path of Firefox; skip the test where there is none."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("no Firefox; install firefox-esr to run this test")
    return program


def launch_firefox(playwright: Playwright) -> Browser:
    """Start Firefox as a machine of one core; skip the test where there is none.

    A worker that Playwright watches hangs now and then when it makes another, which
    `unwatched_firefox.py` explains; on one core Python's worker makes no helpers.
    """
    return playwright.firefox.launch(
        channel="moz-firefox",
        executable_path=firefox_program(),
        firefox_user_prefs={**FIREFOX_PREFERENCES, "dom.maxHardwareConcurrency": 1},
    )


TAKE = """async () => {
  const [key] = await (await caches.open("tensorweb-snapshot")).keys();
  if (!key) return null;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await (await caches.match(key)).blob());
  link.download = key.url.split("/").at(-1);
  link.click();
  return localStorage["tensorweb:snapshot"];
}"""
"""Download the snapshot that the page has kept, and return its digest."""

CHOOSE = """() => {
  const input = document.createElement("input");
  input.type = "file";
  document.body.append(input);
}"""

GIVE = """async ([name, digest]) => {
  const [file] = document.querySelector("input").files;
  const cache = await caches.open("tensorweb-snapshot");
  await cache.put(new URL(name, location.href).href, new Response(file));
  localStorage["tensorweb:snapshot"] = digest;
}"""


HAS = """async (digest) => localStorage["tensorweb:snapshot"] === digest
  && await caches.has("tensorweb-snapshot")"""


class Snapshot:
    """Python's memory as the page keeps it, for profiles that have opened it before.

    Making one takes four times as long as starting from it; all processes of a run
    share the first one.
    """

    def __init__(self, folder: Path, browser: Browser, url: str) -> None:
        self._folder = folder
        self._browser = browser
        self._url = url

    def give(self, page: Page, url: str) -> Page:
        """Put the snapshot into the profile of a page, for the site at an address.

        The page is then at a file of that site.
        """
        page.goto(f"{url}build.json")
        page.evaluate(CHOOSE)
        name, digest = self._taken()
        page.locator("input").set_input_files(self._folder / name)
        page.evaluate(GIVE, [name, digest])
        return page

    def is_in(self, page: Page) -> bool:
        """Whether the profile of a page still has the snapshot."""
        _, digest = self._taken()
        return bool(page.evaluate(HAS, digest))

    def _taken(self) -> tuple[str, str]:
        """Return the name and the digest of the snapshot, which is made if need be."""
        about = self._folder / "snapshot.json"
        # A second one would replace the file that a page of the first process reads.
        with environment.only_one("snapshot.lock"):
            if not about.is_file():
                self._make(about)
        name, digest = json.loads(about.read_text("utf-8"))
        return name, digest

    def _make(self, about: Path) -> None:
        with page_of(new_context(self._browser)) as page:
            page.goto(self._url)
            page.wait_for_selector("body[data-state=ready]", timeout=LIMIT_MS)
            with page.expect_download(timeout=LIMIT_MS) as download:
                while (digest := page.evaluate(TAKE)) is None:
                    page.wait_for_timeout(PAUSE_MS)
            name = download.value.suggested_filename
            written = self._folder / f"snapshot.{os.getpid()}"
            download.value.save_as(written)
        written.replace(self._folder / name)
        written.write_text(json.dumps([name, digest]), "utf-8")
        written.replace(about)


COMPILE = """async () => {
  const packed = await fetch("pyodide/pyodide.asm.wasm.packed");
  const body = packed.body.pipeThrough(new DecompressionStream("gzip"));
  const headers = { "content-type": "application/wasm" };
  const plain = new Response(body, { headers });
  globalThis.compiled = await WebAssembly.compileStreaming(plain);
}"""
"""Retains the WebAssembly module of Python, and so its functions once compiled."""


class Profiles:
    """Profiles of one browser, for pages of one site; each has one user at a time.

    Each has a page at a file of the site that stays open. Its process serves the pages
    that are lent as well, whose Python starts from what V8 has compiled before.
    """

    def __init__(self, browser: Browser, url: str, snapshot: Snapshot) -> None:
        self._browser = browser
        self._url = url
        self._snapshot = snapshot
        self._free: list[Page] = []

    @contextmanager
    def page(self, **emulated: Any) -> Iterator[Page]:
        """Lend a page of a profile that remembers nothing.

        Args:
            emulated: `viewport` and what `Page.emulate_media` takes.
        """
        page = self._free.pop() if self._free else self._new_page()
        if viewport := emulated.pop("viewport", None):
            page.set_viewport_size(viewport)
        page.emulate_media(**emulated)
        yield page
        try:
            self._free.append(self._cleaned(page.context))
        except Error:
            page.context.close()

    def _new_page(self) -> Page:
        context = new_context(self._browser)
        first = self._snapshot.give(context.new_page(), self._url)
        first.evaluate(COMPILE)
        return context.new_page()

    def _cleaned(self, context: BrowserContext) -> Page:
        """Make the profile forget and return a new page, for the next user.

        A browser may wait for its databases for ever.
        """
        first, *others = context.pages
        for page in others:
            page.close()
        context.unroute_all()
        context.clear_permissions()
        first.wait_for_function(FORGET, timeout=FORGET_MS)
        # A start that failed, or a program, may have replaced the snapshot.
        if not self._snapshot.is_in(first):
            self._snapshot.give(first, self._url)
            first.evaluate(COMPILE)
        return context.new_page()
