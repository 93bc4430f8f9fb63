"""Fixtures of the browser tests: local servers, browsers, pages.

`TENSORWEB_CHROMIUM` names a browser; without it the first Chromium on the path is used.
`TENSORWEB_SITE` names the built site, else it is `dist/`.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from browsers import (
    CHROMIUM_FLAGS,
    LIMIT_MS,
    Profiles,
    Snapshot,
    launch_chromium,
    launch_firefox,
    new_context,
    page_of,
)
from page_driver import PageDriver
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from tensorweb.site_server import SiteServer

ROOT = Path(__file__).resolve().parent.parent
SITE = Path(os.environ.get("TENSORWEB_SITE") or ROOT / "dist")

Serve = Callable[..., str]


def pytest_configure() -> None:
    expect.set_options(timeout=LIMIT_MS)


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
def never_waits(
    serve: Serve, site_url: str, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The address of the site as a browser without stack switching finds it."""
    folder = tmp_path_factory.mktemp("never-waits")
    for path in SITE.iterdir():
        if not path.name.startswith("worker-") or path.suffix != ".js":
            (folder / path.name).symlink_to(path.resolve())
            continue
        lacking = "delete WebAssembly.Suspending; delete WebAssembly.promising;\n"
        (folder / path.name).write_text(lacking + path.read_text("utf-8"), "utf-8")
    return serve(folder)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    browser = launch_chromium(playwright, CHROMIUM_FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def without_webgpu(playwright: Playwright) -> Iterator[Browser]:
    """A Chromium that has no adapter: the CPU computes."""
    browser = launch_chromium(playwright, [])
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def firefox(playwright: Playwright) -> Iterator[Browser]:
    browser = launch_firefox(playwright)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that all processes of a run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def memory(
    chromium: Browser,
    serve: Serve,
    run_folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A snapshot of Pyodide alone, for pages without the site's: a file."""
    from bare_page import record, serve_bare  # these import this file

    file = run_folder / "python.snapshot"
    if not file.is_file():
        own = tmp_path_factory.mktemp("record")
        record(chromium, serve_bare(serve, own), own / file.name)
        (own / file.name).replace(file)
    return file


@pytest.fixture(scope="session")
def snapshot(chromium: Browser, site_url: str, run_folder: Path) -> Snapshot:
    """Python's memory, for profiles that have opened the page before."""
    return Snapshot(run_folder, chromium, site_url)


@pytest.fixture(scope="session")
def profiles(chromium: Browser, site_url: str, snapshot: Snapshot) -> Profiles:
    """Chromium's profiles for pages of the site."""
    return Profiles(chromium, site_url, snapshot)


@pytest.fixture(scope="session")
def profiles_on_cpu(
    without_webgpu: Browser, site_url: str, snapshot: Snapshot
) -> Profiles:
    """The same, in the Chromium that has no adapter."""
    return Profiles(without_webgpu, site_url, snapshot)


@pytest.fixture(scope="session")
def profiles_never_waiting(
    chromium: Browser, never_waits: str, snapshot: Snapshot
) -> Profiles:
    """The same, for pages that find no stack switching."""
    return Profiles(chromium, never_waits, snapshot)


@pytest.fixture(scope="session")
def on_firefox(
    firefox: Browser, site_url: str, snapshot: Snapshot
) -> Iterator[PageDriver]:
    """One page of the site in Firefox, for tests that leave it usable."""
    with page_of(new_context(firefox)) as page:
        snapshot.give(page, site_url)
        yield PageDriver(page, patient=True).open(site_url)


@pytest.fixture
def page(profiles: Profiles) -> Iterator[Page]:
    """A page of Chromium that remembers nothing but Python's snapshot."""
    with profiles.page() as lent:
        yield lent


@pytest.fixture
def fresh_page(chromium: Browser) -> Iterator[Page]:
    """A page of Chromium in a profile of its own: the first visit of a reader."""
    context = new_context(chromium)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def common(profiles: Profiles, site_url: str) -> Iterator[PageDriver]:
    """One open page for the tests of many files; ask for `shared` or `tidy`."""
    with profiles.page() as lent:
        yield PageDriver(lent).open(site_url)


@pytest.fixture(scope="module")
def shared(common: PageDriver, site_url: str) -> Iterator[PageDriver]:
    """An open page for the tests of a file, which leave it usable for each other."""
    if common.idle() != "ready":  # after a test that failed, perhaps
        common.open(site_url)
    common.tidy()
    yield common
    common.clean()


@pytest.fixture
def tidy(shared: PageDriver) -> PageDriver:
    """The same, as if it had just been opened: for tests that need nothing else."""
    shared.tidy()
    return shared


@pytest.fixture
def on_cpu(tidy: PageDriver) -> PageDriver:
    """The same, with device `cpu`: for what does not depend on the device."""
    tidy.choose_device("cpu")
    return tidy


@pytest.fixture(scope="module")
def patient(profiles: Profiles, site_url: str) -> Iterator[PageDriver]:
    """The same, where Stop waits long for a program to end by itself."""
    with profiles.page() as lent:
        driver = PageDriver(lent, patient=True).open(site_url)
        yield driver
        driver.clean()


@pytest.fixture(scope="module")
def mistreated(profiles: Profiles, site_url: str) -> Iterator[PageDriver]:
    """The same, where the console may tell what the page had to bear."""
    with profiles.page() as lent:
        yield PageDriver(lent).open(site_url)
