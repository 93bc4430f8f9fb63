"""Ways out that a program may try, on every kind of host: none reaches another site.

docs/security.md lists them. All attempts of one host run in one program, in turn; a
server of another site counts what arrives there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from browsers import new_context
from other_site import OtherSite, plain_host, running
from page_driver import PageDriver
from playwright.sync_api import Browser, Page

from conftest import SITE

HARNESS = """
const U = OTHER + 'escape', blob = (words) =>
    URL.createObjectURL(new Blob([words], {type: 'text/javascript'}));
const opened = (made, name) => new Promise((done, fail) => {
    made[name] = done;
    made.onerror = () => fail(new Error('refused'));
}).finally(() => made.close?.());  // Firefox hangs where refused sources try again
// A nested worker runs `code`, and says whether it came to its end.
const nested = (code, options = {}) => new Promise((done, fail) => {
    const reply = `then(() => postMessage(1), () => postMessage(0))`;
    const worker = new Worker(blob(`(async () => {${code}})().${reply}`), options);
    worker.onerror = () => fail(new Error('refused'));
    worker.onmessage = ({data}) => data ? done() : fail(new Error('refused'));
});
const inner = (code) => blob(`(async () => {${code}})()
    .then(() => postMessage(1), (error) => setTimeout(() => { throw error }))`);
const started = (address, options = {type: 'module'}) => new Promise((done, fail) => {
    const worker = new Worker(address, options), {port1, port2} = new MessageChannel();
    worker.onerror = () => fail(new Error('refused'));
    worker.onmessage = port1.onmessage = done;
    const details = {interrupt: null, digest: null};
    port1.postMessage({id: 1, question: 'start', details});
    worker.postMessage(null, [port2]);
});
const register = (file) =>
    `const {serviceWorker} = navigator;
     await serviceWorker.register('${file}', {scope: '${SITE}', type: 'module'})`;
// Having the means counts as reaching it: profiles of the tests register none.
const unregister = `
    if (!navigator.serviceWorker) throw new Error('refused');
    await (await navigator.serviceWorker.getRegistrations())[0]?.unregister()`;
const run = (words) => Object.getPrototypeOf(async () => {}).constructor(words)();
const each = (names, action) => Promise.any(names.map(async (name) => {
    await action(SITE + name);
    return name;
}));
const WAYS = {WAYS};
const within = (way) => Promise.race([
    way().then((value) => `done ${value ?? ''}`, () => 'refused'),
    new Promise((done) => setTimeout(done, 3000, 'silent')),
]);
const found = {};
for (const name of Object.keys(WAYS)) found[name] = await within(WAYS[name]);
return JSON.stringify(found);
"""

ALLOWED = {
    "its own site": "await (await fetch(SITE + 'build.json')).json()",
    "a worker of its own": "await nested('1')",
    "a module worker of its own": "await nested('1', {type: 'module'})",
}
"""What a program may do: a harness that reports nothing as done would not see it."""

WAYS_OUT = {
    "fetch": "await fetch(U)",
    "fetch without CORS": "await fetch(U, {mode: 'no-cors'})",
    "fetch that outlives the page": """
        await fetch(U, {method: 'POST', keepalive: true, mode: 'no-cors'})""",
    "waiting request": """
        const request = new XMLHttpRequest();
        request.open('GET', U, false);
        request.send()""",
    "web socket": "await opened(new WebSocket(U.replace('http', 'ws')), 'onopen')",
    "event source": "await opened(new EventSource(U), 'onopen')",
    "web transport": "await new WebTransport(U.replace('http:', 'https:')).ready",
    "peer connection": """
        const peer = new RTCPeerConnection({iceServers: [{urls: 'stun:localhost'}]});
        peer.createDataChannel('x');
        await peer.setLocalDescription()""",
    "beacon": "if (!navigator.sendBeacon(U, 'x')) throw new Error('refused')",
    "import": "await import(U)",
    "import of data": "await import(`data:text/javascript,await fetch('${U}')`)",
    "import of a blob": "await import(blob(`await fetch('${U}')`))",
    "font": "await new FontFace('x', `url(${U})`).load()",
    "compiling while it comes": "await WebAssembly.compileStreaming(fetch(U))",
    "cache that fetches": "await (await caches.open('escape')).add(U)",
    "worker of another site": "await started(U)",
    "worker of data": "await started('data:text/javascript,postMessage(1)', {})",
    "worker from a page of data": """
        await started(URL.createObjectURL(new Blob(['x'], {type: 'text/html'})), {})""",
    "nested worker": "await nested(`await fetch('${U}')`)",
    "nested worker in a nested one": """
        await nested(`const w = new Worker('${inner(`await fetch('${U}')`)}');
            await new Promise((done, fail) => {
                w.onmessage = done, w.onerror = fail
            })`)
    """,
    "script of another site": "await nested(`importScripts('${U}')`)",
    "static import of another site": """
        const words = `import '${U}'; postMessage(1)`;
        await opened(new Worker(blob(words), {type: 'module'}), 'onmessage')""",
    "nested web socket": """
        await nested(`const s = new WebSocket('${U.replace('http', 'ws')}');
            await new Promise((done, fail) => {
                s.onopen = done; s.onerror = fail
            })`)""",
    "any script of the site as a worker": "return await each(SCRIPTS, started)",
    "the same from a nested worker": """
        return await each(SCRIPTS, (file) => nested(`
            const worker = new Worker('${file}', {type: 'module'});
            const {port1, port2} = new MessageChannel();
            const details = {interrupt: null, digest: null};
            port1.postMessage({id: 1, question: 'start', details});
            worker.postMessage(null, [port2]);
            await new Promise((done, fail) => {
                port1.onmessage = worker.onmessage = done;
                worker.onerror = fail;
            })`))""",
    "any script as the service worker": """
        return await each(SCRIPTS, (file) => run(register(file)))""",
    "the same from another realm": """
        return await each(SCRIPTS, (file) => nested(register(file)))""",
    "the same from a module's realm": """
        return await each(SCRIPTS, (file) => nested(register(file), {type: 'module'}))
    """,
    "the end of the service worker": "await run(unregister)",
    "its end from another realm": "await nested(unregister)",
    "its end from a module's realm": "await nested(unregister, {type: 'module'})",
    "its end from two realms below": """
        await nested(`const w = new Worker('${inner(unregister)}');
            await new Promise((done, fail) => {
                w.onmessage = done, w.onerror = fail
            })`)
    """,
    "its end before anything else": """
        const words = `import '${blob(`self.found = navigator.serviceWorker`)}';
            postMessage(typeof self.found)`;
        const {data} = await opened(
            new Worker(blob(words), {type: 'module'}), 'onmessage');
        if (data === 'undefined') throw new Error('refused')""",
    "the untouched constructor": """
        const Plain = Worker.prototype.constructor;
        const words = `postMessage(typeof navigator.serviceWorker)`;
        const {data} = await opened(new Plain(blob(words)), 'onmessage');
        if (data === 'undefined') throw new Error('refused')""",
    "the page's own message again": """
        const {begin} = await import(WORKER);
        const {port1, port2} = new MessageChannel();
        begin({ports: [port1]})""",
}
"""What a program may try, as JavaScript; `U` is an address of the other site."""

BY_PYTHON = {
    "pyfetch": "from pyodide.http import pyfetch; await pyfetch(U)",
    "open_url": "from pyodide.http import open_url; open_url(U)",
    "urllib": "from urllib.request import urlopen; urlopen(U)",
    "socket": """
        import socket; made = socket.create_connection(('localhost', PORT), 2)
        made.sendall(b'x'); made.recv(1)""".replace("\n        ", "; ").strip("; "),
    "micropip": "import micropip; await micropip.install(U + '/x-1-py3-none-any.whl')",
}
"""The same in Python."""

PYTHON = """
import json
from pyodide.code import run_js
U, PORT = {other!r} + "python", {port}
found = json.loads(await run_js({code!r}))
for name, way in {ways!r}.items():
    lines = "\\n".join(f"    {{line}}" for line in way.split("; "))
    scope = dict(U=U, PORT=PORT)
    exec(f"async def attempt():\\n{{lines}}", scope)
    try:
        await scope["attempt"]()
        found[name] = "done"
    except Exception as error:
        found[name] = "refused"
print(json.dumps(found))
"""


class Place(NamedTuple):
    """A page on some host in some browser, the other site, and what is tried."""

    driver: PageDriver
    other: OtherSite
    ways: tuple[str, ...]


IN_FIREFOX = (
    "fetch",
    "import",
    "cache that fetches",
    "worker of another site",
    "nested worker",
    "any script as the service worker",
    "the same from a module's realm",
    "the end of the service worker",
    "its end from another realm",
    "its end from two realms below",
    "its end before anything else",
    "the untouched constructor",
)
"""A worker of Firefox hangs now and then after many refused requests and workers,
so it tries few. `test_firefox_keeps_programs_in` has more requests."""
AT_ONCE = 9
"""Ways that one program tries."""
HOSTS = ("headers", "a first visit without headers", "a second visit without headers")
BROWSERS = ("chromium", "firefox")
PLACES = [
    *(("chromium", host) for host in HOSTS),
    ("firefox", HOSTS[1]),  # workers on the other hosts hang now and then
]


@pytest.fixture(scope="module", params=PLACES, ids=" on ".join)
def place(request: pytest.FixtureRequest, site_url: str) -> Iterator[Place]:
    name, host = request.param
    browser: Browser = request.getfixturevalue(name)
    has_service = host == HOSTS[2]
    context = browser.new_context() if has_service else new_context(browser)
    other = OtherSite()
    with plain_host(SITE.parent) as plain, running(other):
        address = site_url if host == HOSTS[0] else f"{plain}{SITE.name}/"
        driver = PageDriver(context.new_page()).open(address)
        if has_service:
            driver.open(address)
            assert driver.page.evaluate("navigator.serviceWorker.controller !== null")
        yield Place(driver, other, IN_FIREFOX if name == "firefox" else (*WAYS_OUT,))
        context.close()


def attempt_all(place: Place) -> dict[str, str]:
    """Try the ways of a place, each program in a Python of its own; return the ends."""
    found = attempt(place, ALLOWED)
    for ways in batched(place.ways, AT_ONCE):
        found |= attempt(place, {name: WAYS_OUT[name] for name in ways})
        place.driver.page.evaluate("tensorwebPage.session.restart()")
        place.driver.idle()
    return found


def batched(names: tuple[str, ...], size: int) -> Iterator[tuple[str, ...]]:
    """Yield the names in groups of `size`; Python 3.11 has no itertools.batched."""
    for start in range(0, len(names), size):
        yield names[start : start + size]


def attempt(place: Place, tried: dict[str, str]) -> dict[str, str]:
    driver, other, _ = place
    site = driver.page.evaluate("new URL('.', location.href).href")
    scripts = scripts_of_the_site()
    worker = next(name for name in scripts if name.startswith("worker-"))
    ways = (f"{json.dumps(k)}: async () => {{{v}}}" for k, v in tried.items())
    names = {"OTHER": other.url, "SITE": site, "SCRIPTS": scripts}
    names["WORKER"] = site + worker
    code = "".join(f"const {k} = {json.dumps(v)};\n" for k, v in names.items())
    code += HARNESS.replace("const WAYS = {WAYS}", f"const WAYS = {{{','.join(ways)}}}")
    code = f"(async () => {{{code}}})()"
    source = PYTHON.format(
        other=other.url, port=other.server_port, code=code, ways=BY_PYTHON
    )
    assert driver.run(source) == "ready", driver.output
    answer = next(line for line in driver.output.split("\n") if line.startswith("{"))
    found: dict[str, str] = json.loads(answer)
    return found


def test_no_way_leads_out(place: Place) -> None:
    found = attempt_all(place)
    assert [name for name in ALLOWED if not found.pop(name).startswith("done")] == []
    assert {name: end for name, end in found.items() if end.startswith("done")} == {}
    assert place.other.heard == []
    assert place.other.connections == 0
    assert found.keys() == {*place.ways, *BY_PYTHON}


STARTED = """async (file) => {
  const worker = new Worker(file, {type: "module"});
  const {port1, port2} = new MessageChannel();
  const said = new Promise((done) => {
    port1.onmessage = worker.onmessage = () => done("answered");
    worker.onerror = () => done("refused");
  });
  const details = {interrupt: null, digest: null};
  port1.postMessage({id: 1, question: "start", details});
  worker.postMessage(null, [port2]);
  return said;
}"""


@pytest.mark.parametrize("browser", BROWSERS)
def test_the_workers_file_answers_nobody_but_the_page(
    request: pytest.FixtureRequest, browser: str
) -> None:
    """Where no policy stands in the way, as in a document of another project."""
    context = new_context(request.getfixturevalue(browser))
    page: Page = context.new_page()
    with plain_host(SITE) as plain:
        page.goto(f"{plain}build.json")
        for path in scripts_of_the_site():
            if path not in QUIET:
                assert page.evaluate(STARTED, f"{plain}{path}") == "refused", path
    context.close()


QUIET = ("tensorweb-drivers.js", "pyodide/pyodide.mjs", "pyodide/pyodide.asm.mjs")
"""What may stand in workers, and listens to nobody."""


def scripts_of_the_site() -> list[str]:
    found = (path.relative_to(SITE).as_posix() for path in SITE.rglob("*.*js"))
    return [path for path in found if path.endswith((".js", ".mjs"))]
