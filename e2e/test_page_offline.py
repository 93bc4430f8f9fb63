"""The service worker: isolation on any host, later visits without one, new builds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from browsers import Snapshot, page_of
from other_site import plain_host
from page_driver import PageDriver, expect, settled
from playwright.sync_api import Browser, BrowserContext, Page, Request
from program_steps import hold_python

from conftest import SITE
from tensorweb.site_server import HEADERS_FILE
from tools import service

KEPT = """caches.open('tensorweb-site /').then(async (cache) =>
  (await cache.keys()).some(({ url }) => url.includes('/kept/all-of-')))"""
"""Whether every file of a build is kept."""

KEYS = """caches.keys().then(async (names) => (await Promise.all(names
  .filter((name) => name !== 'tensorweb-snapshot')
  .map(async (name) => (await (await caches.open(name)).keys()))))
  .flat().map(({ url }) => url.split('/').at(-1)))"""
"""The names of all that is kept, without the snapshot."""

HEALED = """(number) => caches.open('tensorweb-site /').then(async (cache) => {
  const found = (await cache.keys()).filter(({ url }) => !url.includes('all-of'));
  const size = async (key) => (await (await cache.match(key))?.blob())?.size ?? 4;
  const sizes = await Promise.all(found.map(size));
  return sizes.length === number && !sizes.includes(4);
})"""
"""Whether all files are kept and none is as short as the word that damages it."""

FETCH = "async (path) => (await fetch(path)).text()"
BUILD = "document.documentElement.dataset.build"

COMPUTE = """
import tensorweb as tw, json
print((tw.arange(4) * 2).tolist())
"""


@dataclass
class Host:
    """A site on a host that sends no headers, and that goes down and comes back."""

    folder: Path
    url: str = ""
    _running: ExitStack = field(default_factory=ExitStack)

    def up(self) -> None:
        port = int(self.url.rstrip("/").rpartition(":")[2] or 0) if self.url else 0
        self.url = self._running.enter_context(plain_host(self.folder, port))

    def down(self) -> None:
        self._running.close()

    @contextmanager
    def away(self) -> Iterator[None]:
        """The same without a host."""
        self.down()
        try:
            yield
        finally:
            self.up()

    def build_anew(self, word: str, *, live: bool = False) -> None:
        """Let another build be there: a script has another name, a file other words."""
        page = (self.folder / "index.html").read_text("utf-8")
        old = next(self.folder.glob("main-*.js"))
        old.rename(old.with_name(f"main-{word}.js"))
        page = page.replace(old.name, f"main-{word}.js")
        (self.folder / "index.html").write_text(page, "utf-8")
        (self.folder / "examples/word.txt").write_text(word, "utf-8")
        service.write(self.folder, live=live)


@contextmanager
def hosted(folder: Path) -> Iterator[Host]:
    """Serve a copy of the site without the packages that nothing here loads."""
    ignored = shutil.ignore_patterns("*.map", "numpy*", "matplotlib*", HEADERS_FILE)
    shutil.copytree(SITE, folder, ignore=ignored)
    (folder / "examples/word.txt").write_text("first", "utf-8")
    service.write(folder)
    host = Host(folder)
    host.up()
    yield host
    host.down()


@dataclass
class Visit:
    """A profile that has been on a host once, to the end of the first visit."""

    host: Host
    context: BrowserContext
    page: Page
    loads: list[str]
    console: list[str]

    def again(self) -> PageDriver:
        """Come again, in a new tab and with the old one closed."""
        self.page.close()
        self.page = self.context.new_page()
        return PageDriver(self.page).open(self.host.url)


@pytest.fixture(scope="module")
def visit(
    chromium: Browser, snapshot: Snapshot, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visit]:
    context = chromium.new_context()
    with hosted(tmp_path_factory.mktemp("host") / "site") as host:
        page = snapshot.give(context.new_page(), host.url)
        loads = loads_of(page)
        driver = PageDriver(page).open(host.url)
        settled(page, KEPT)
        yield Visit(host, context, page, loads, driver.console)
        context.close()


def loads_of(page: Page) -> list[str]:
    """Return a list that gets a line for each document that the page asks for."""
    loads: list[str] = []

    def note(request: Request) -> None:
        if request.is_navigation_request():
            loads.append(request.url)

    page.on("request", note)
    return loads


def test_host_without_headers_is_isolated_after_one_reload(visit: Visit) -> None:
    assert visit.page.evaluate("crossOriginIsolated")
    assert len(visit.loads) == 2
    assert visit.console == []


def test_later_visit_needs_no_host(visit: Visit) -> None:
    with visit.host.away():
        driver = visit.again()
        assert visit.page.evaluate("crossOriginIsolated")
        assert driver.run(COMPUTE) == "ready"
        assert driver.output.startswith("[0, 2, 4, 6]")
        visit.page.evaluate("location.hash = 'ex=03-reductions'")
        driver.wait("tensorwebPage.view.document.id === '03-reductions'")
        driver.clean()


def test_damaged_file_is_not_used(visit: Visit) -> None:
    page = visit.page
    names = page.evaluate(KEYS)
    page.evaluate(
        """async (names) => {
          const cache = await caches.open('tensorweb-site /');
          const put = (name) => cache.put(`kept/${name}`, new Response('evil'));
          await Promise.all(names.map(put));
        }""",
        names,
    )
    with visit.host.away():
        refused = page.evaluate("fetch('examples.json').then(() => false, () => true)")
        assert refused
    assert page.evaluate(FETCH, "examples.json") != "evil"
    page.evaluate("navigator.serviceWorker.controller.postMessage('keep')")
    settled(page, HEALED, len(names) - 1)


def test_only_files_of_the_site_are_kept(visit: Visit) -> None:
    other = visit.host.folder / "notes.txt"
    for word in ("one", "two"):
        other.write_text(word, "utf-8")
        found = visit.page.evaluate(
            "fetch('notes.txt', {cache: 'no-store'}).then(r => r.text())"
        )
        assert found == word
    digests = service.table(visit.host.folder)["files"].values()
    names = {digest for digest, *_ in digests}
    kept = visit.page.evaluate(KEYS)
    assert {name for name in kept if not name.startswith("all-of-")} <= names


def test_new_build_is_taken_whole_when_the_reader_asks(visit: Visit) -> None:
    driver = visit.again()
    page, host = visit.page, visit.host
    old = page.evaluate(BUILD)
    script = page.evaluate("document.querySelector('script[src]').src")
    host.build_anew("second")
    page.evaluate("navigator.serviceWorker.getRegistration().then(r => r.update())")
    offer = page.get_by_role("button", name="New version ready")
    expect(offer).to_be_visible()
    assert page.evaluate(FETCH, "examples/word.txt") == "first"
    assert page.evaluate(FETCH, script) != ""
    loads = loads_of(page)
    offer.click()
    driver.wait(f"document.readyState === 'complete' && {BUILD} !== '{old}'")
    assert page.evaluate(FETCH, "examples/word.txt") == "second"
    assert page.evaluate("document.querySelector('script[src]').src") != script
    assert len(loads) == 1
    settled(page, f"{KEYS}.then((names) => !names.includes('all-of-{old}'))")
    digests = [digest for digest, *_ in service.table(host.folder)["files"].values()]
    names = page.evaluate(KEYS)
    assert {name for name in names if not name.startswith("all-of-")} <= set(digests)
    with host.away():
        assert page.evaluate(FETCH, "examples/word.txt") == "second"


@pytest.fixture
def page_of_readers(chromium: Browser) -> Iterator[Page]:
    """A page with service workers and without Python."""
    with page_of(chromium.new_context()) as page:
        hold_python(page)
        yield page


def test_site_in_development_is_never_stale(
    page_of_readers: Page, tmp_path: Path
) -> None:
    page = page_of_readers
    with hosted(tmp_path / "site") as host:
        service.write(host.folder, live=True)
        page.goto(host.url)
        page.wait_for_function("globalThis.tensorwebPage && crossOriginIsolated")
        page.evaluate("navigator.serviceWorker.controller.postMessage('keep')")
        settled(page, KEPT)
        page.goto("about:blank")
        host.build_anew("second", live=True)
        page.goto(host.url)
        assert page.evaluate(BUILD) == service.table(host.folder)["id"]
        assert page.evaluate(FETCH, "examples/word.txt") == "second"
        page.wait_for_function("globalThis.tensorwebPage && crossOriginIsolated")


def test_stopped_service_worker_knows_which_build_it_handed_out(
    page_of_readers: Page, tmp_path: Path
) -> None:
    page = page_of_readers
    with hosted(tmp_path / "site") as host:
        service.write(host.folder, live=True)
        old = (host.folder / service.SCRIPT).read_bytes()
        page.goto(host.url)
        page.wait_for_function("globalThis.tensorwebPage && crossOriginIsolated")
        page.evaluate("navigator.serviceWorker.controller.postMessage('keep')")
        settled(page, KEPT)
        page.goto("about:blank")
        host.build_anew("second", live=True)
        (host.folder / service.SCRIPT).write_bytes(old)
        page.goto(host.url)
        page.wait_for_function("globalThis.tensorwebPage && crossOriginIsolated")
        session = page.context.new_cdp_session(page)
        session.send("ServiceWorker.enable")
        session.send("ServiceWorker.stopAllWorkers")
        session.detach()
        assert page.evaluate(FETCH, "examples/word.txt") == "second"


REFUSALS = {
    "refused": "ServiceWorkerContainer.prototype.register = () => Promise.reject();",
    "no storage": "delete globalThis.caches;",
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_browser_without_service_workers_loads_the_page_once(
    page_of_readers: Page, kind: str
) -> None:
    page = page_of_readers
    page.add_init_script(REFUSALS[kind])
    loads = loads_of(page)
    with plain_host(SITE) as url:
        driver = PageDriver(page).open(url, wait=False)
        if kind == "no storage":
            page.wait_for_function("globalThis.tensorwebPage && crossOriginIsolated")
        else:
            page.wait_for_function("globalThis.tensorwebPage")
            assert page.evaluate("crossOriginIsolated") is False
            assert len(loads) == 1
        driver.clean()


def test_isolated_host_needs_no_reload(page_of_readers: Page, site_url: str) -> None:
    page = page_of_readers
    loads = loads_of(page)
    driver = PageDriver(page).open(site_url, wait=False)
    page.wait_for_function("globalThis.tensorwebPage && crossOriginIsolated")
    assert len(loads) == 1
    driver.clean()


def test_firefox_comes_again_without_a_host(firefox: Browser, tmp_path: Path) -> None:
    context = firefox.new_context()
    with hosted(tmp_path / "site") as host:
        page = context.new_page()
        hold_python(page)
        loads = loads_of(page)
        PageDriver(page).open(host.url, wait=False)
        page.wait_for_function("globalThis.tensorwebPage && crossOriginIsolated")
        assert len(loads) == 2
        page.evaluate("navigator.serviceWorker.controller.postMessage('keep')")
        settled(page, KEPT)
        with host.away():
            page.goto("about:blank")
            page.goto(host.url)
            page.wait_for_function("globalThis.tensorwebPage && crossOriginIsolated")
            for path in ("build.json", "pyodide/pyodide.asm.wasm.packed"):
                assert page.evaluate(FETCH, path) != ""
        context.close()
