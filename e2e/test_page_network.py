"""What programs reach: their own site alone, unless the reader opens the network."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsers import Profiles, Snapshot, page_of
from other_site import OtherSite, plain_host, running
from page_driver import PageDriver, expect
from playwright.sync_api import Browser

from conftest import SITE

PRELUDE = """
const heard = (target, name) => new Promise((done, fail) => {
    target.onerror = () => fail(new Error("refused"));
    target[name] = ({data}) => data === 0 ? target.onerror() : done();
});
const start = (words) => new Worker(URL.createObjectURL(new Blob([words])));
"""

WAYS_OUT = {
    "fetch": "await (await fetch(U)).text()",
    "fetch without CORS": "await fetch(U, {mode: 'no-cors'})",
    "waiting request": """
        const request = new XMLHttpRequest();
        request.open('GET', U, false);
        request.send()""",
    "web socket": "await heard(new WebSocket(U.replace('http', 'ws')), 'onopen')",
    "event source": "await heard(new EventSource(U), 'onopen')",
    "import": "await import(U)",
    "font": "await new FontFace('x', `url(${U})`).load()",
    "nested worker": """
        const post = (x) => `() => postMessage(${x})`;
        const words = `fetch('${U}').then(${post(1)}, ${post(0)})`;
        await heard(start(words), 'onmessage')""",
    "nested worker of another site": "await heard(new Worker(U), 'onmessage')",
    "the page's own worker": """
        const inner = new Worker(FILE, {type: 'module'});
        const {port1, port2} = new MessageChannel();
        const answered = new Promise((done, fail) => {
            port1.onmessage = ({data}) => { if (data.id === 2) done() };
            inner.onerror = () => fail(new Error('refused'));
        });
        inner.postMessage(null, [port2]);
        const details = {interrupt: null, digest: null};
        port1.postMessage({id: 1, name: 'start', details});
        const source = `from pyodide.http import pyfetch; await pyfetch('${U}')`;
        const run = {source, device: 'cpu'};
        port1.postMessage({id: 2, name: 'run', details: run});
        await answered""",
}
"""What a program may try, as JavaScript; `U` is an address of the other site."""

PROGRAM = """
from pyodide.code import run_js
await run_js({code!r})
"""


@pytest.fixture(scope="module")
def other() -> Iterator[OtherSite]:
    server = OtherSite()
    with running(server):
        yield server


@pytest.fixture(scope="module", params=["our server", "a host without headers"])
def shared(
    request: pytest.FixtureRequest,
    chromium: Browser,
    profiles: Profiles,
    site_url: str,
    snapshot: Snapshot,
) -> Iterator[PageDriver]:
    """A page from both kinds of host."""
    if request.param == "our server":
        with profiles.page() as lent:
            yield PageDriver(lent).open(site_url)
        return
    with plain_host(SITE.parent) as plain, page_of(chromium.new_context()) as page:
        address = f"{plain}{SITE.name}/"
        snapshot.give(page, address)
        yield PageDriver(page).open(address)


def attempt(driver: PageDriver, other: OtherSite, way: str) -> str:
    """Run a program that goes one way out and return the state."""
    file = driver.page.evaluate(
        "document.querySelector('script[src]').src.replace('main', 'worker')"
    )
    address = f"{other.url}{way.replace(' ', '-')}"
    names = f"const U = '{address}', FILE = '{file}';"
    code = f"(async () => {{{names}{PRELUDE}{WAYS_OUT[way]}}})()"
    return driver.run(PROGRAM.format(code=code))


@pytest.mark.parametrize("way", WAYS_OUT)
def test_program_reaches_no_other_site(
    shared: PageDriver, other: OtherSite, way: str
) -> None:
    other.heard.clear()
    assert attempt(shared, other, way) == "error"
    assert other.heard == []
    assert "restarted" not in shared.output


def test_program_reaches_its_own_site(shared: PageDriver) -> None:
    source = "from pyodide.http import pyfetch, open_url\n"
    source += "print((await pyfetch('build.json')).status)\n"
    source += "print('sizes' in open_url('build.json').read())\n"
    source += "from js import URL, location, fetch\n"
    source += "print((await fetch(URL.new('build.json', location.href))).status)"
    assert shared.run(source) == "ready", shared.output
    assert shared.output.startswith("200\nTrue\n200\n")


def test_reader_opens_the_network_for_one_program(
    shared: PageDriver, other: OtherSite
) -> None:
    page = shared.page
    switch = page.get_by_role("switch", name="Allow network")
    expect(page.locator("#network")).to_contain_text("this site only")
    switch.check()
    expect(page.locator("#network")).to_contain_text("may reach any site")
    shared.idle()
    other.heard.clear()
    assert attempt(shared, other, "fetch") == "ready"
    assert other.heard == ["/fetch"]
    assert page.evaluate("crossOriginIsolated") == shared.run_js("crossOriginIsolated")
    page.evaluate("location.hash = '#ex=03-reductions'")
    expect(switch).not_to_be_checked()
    expect(page.locator("#network")).to_contain_text("this site only")
    shared.idle()
    other.heard.clear()
    assert attempt(shared, other, "fetch") == "error"
    assert other.heard == []


def test_firefox_keeps_programs_in(on_firefox: PageDriver, other: OtherSite) -> None:
    _kept_in_until_allowed(on_firefox, other)


def test_firefox_keeps_programs_in_on_a_plain_host(
    firefox: Browser, other: OtherSite, snapshot: Snapshot
) -> None:
    with plain_host(SITE.parent) as plain, page_of(firefox.new_context()) as page:
        address = f"{plain}{SITE.name}/"
        snapshot.give(page, address)
        _kept_in_until_allowed(PageDriver(page).open(address), other)


def _kept_in_until_allowed(driver: PageDriver, other: OtherSite) -> None:
    other.heard.clear()
    for way in ("fetch", "import", "nested worker", "web socket"):
        assert attempt(driver, other, way) == "error", way
    assert other.heard == []
    driver.page.get_by_role("switch", name="Allow network").check()
    driver.idle()
    assert attempt(driver, other, "fetch") == "ready", driver.output
    assert other.heard == ["/fetch"]
