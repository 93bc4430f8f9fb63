"""Ways out that a program may try, on every kind of host: none reaches another site.

docs/guide/security.md lists them. All attempts of one host run in one program, one
after another; a server of another site counts what arrives there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from browsers import NO_SERVICE_WORKER, Snapshot, new_context, page_of
from other_site import OtherSite, plain_host, running
from page_driver import PageDriver
from playwright.sync_api import Browser, Page
from unwatched_firefox import unwatched_firefox

from conftest import SITE

HARNESS = """
const U = OTHER + 'escape', blob = (words) =>
    URL.createObjectURL(new Blob([words], {type: 'text/javascript'}));
const opened = (made, name) => new Promise((done, fail) => {
    made[name] = done;
    made.onerror = () => fail(new Error('refused'));
});
// A nested worker runs `code`, and says whether it came to its end.
const nested = (code, options = {}) => new Promise((done, fail) => {
    const reply = `then(() => postMessage(1), () => postMessage(0))`;
    const worker = new Worker(blob(`(async () => {${code}})().${reply}`), options);
    worker.onerror = () => fail(new Error('refused'));
    worker.onmessage = ({data}) => data ? done() : fail(new Error('refused'));
});
// The same in a worker of a nested worker, which makes the address itself.
const below = (code) => nested(`
    const reply = 'then(() => postMessage(1), () => postMessage(0))';
    const words = '(async () => {' + ${JSON.stringify(code)} + '})().' + reply;
    const made = new Blob([words], {type: 'text/javascript'});
    const worker = new Worker(URL.createObjectURL(made));
    await new Promise((done, fail) => {
        worker.onmessage = ({data}) => data ? done() : fail();
        worker.onerror = fail;
    })`);
const started = (address, options = {type: 'module'}) => new Promise((done, fail) => {
    const worker = new Worker(address, options), {port1, port2} = new MessageChannel();
    worker.onerror = () => fail(new Error('refused'));
    worker.onmessage = port1.onmessage = done;
    const details = {interrupt: null, digest: null};
    port1.postMessage({id: 1, name: 'start', details});
    worker.postMessage(null, [port2]);
});
const register = (file) =>
    `const {serviceWorker} = navigator;
     await serviceWorker.register('${file}', {scope: '${SITE}', type: 'module'})`;
// Having the means counts as reaching it: profiles of the tests register none.
const unregister = `
    if (!navigator.serviceWorker) throw new Error('refused');
    await (await navigator.serviceWorker.getRegistrations())[0]?.unregister()`;
const files = `
    const {storage, storageBuckets: buckets} = navigator;
    await Promise.any([storage, buckets?.open('escape')].map(
        async (disk) => (await disk).getDirectory()))`;
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
    "a worker of that": "await below('1')",
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
    "nested worker in a nested one": "await below(`await fetch('${U}')`)",
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
            port1.postMessage({id: 1, name: 'start', details});
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
    "its end from two realms below": "await below(unregister)",
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
    "the reader's files": "await run(files)",
    "the files from another realm": "await nested(files)",
    "the files from a module's realm": "await nested(files, {type: 'module'})",
    "the files from two realms below": "await below(files)",
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


class Visit(NamedTuple):
    """A page on some host in some browser, and the other site."""

    driver: PageDriver
    other: OtherSite
    has_service: bool


HOSTS = ("headers", "a first visit without headers", "a second visit without headers")
BROWSERS = ("chromium", "firefox")
VISITS = [(browser, host) for browser in BROWSERS for host in HOSTS]


@pytest.fixture(scope="module", params=VISITS, ids=" on ".join)
def visit(
    request: pytest.FixtureRequest,
    site_url: str,
    snapshot: Snapshot,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Visit]:
    name, host = request.param
    has_service = host == HOSTS[2]
    other, folder = OtherSite(), tmp_path_factory.mktemp("visit")
    if name == "chromium":
        browser: Browser = request.getfixturevalue(name)
        opened = page_of(browser.new_context() if has_service else new_context(browser))
        served = SITE
    else:
        opened = unwatched_firefox(folder / "profile")
        served = SITE if has_service else without_service(folder / "site")
    with plain_host(served.parent) as plain, running(other), opened as page:
        address = site_url if host == HOSTS[0] else f"{plain}{served.name}/"
        if name == "chromium":
            snapshot.give(page, address)
        driver = PageDriver(page).open(address)
        if has_service:
            driver.open(address)
            assert page.evaluate(IS_SERVED)
        yield Visit(driver, other, has_service)


IS_SERVED = """async () => {
  const { scriptURL } = navigator.serviceWorker.controller;
  const { active } = await navigator.serviceWorker.getRegistration();
  return scriptURL.endsWith("/service-worker.js") && active.scriptURL === scriptURL;
}"""


def without_service(folder: Path) -> Path:
    """Make the site anew, whose page finds no service workers; its workers do."""
    folder.mkdir()
    for path in SITE.iterdir():
        (folder / path.name).symlink_to(path.resolve())
    (folder / "index.html").unlink()
    (folder / "lacking.js").write_text(NO_SERVICE_WORKER, "utf-8")
    page = (SITE / "index.html").read_text("utf-8")
    page = page.replace("<script", '<script src="lacking.js"></script><script', 1)
    (folder / "index.html").write_text(page, "utf-8")
    return folder


def attempt(visit: Visit, tried: dict[str, str]) -> dict[str, str]:
    """Try JavaScript and `BY_PYTHON` in one program; return how each of them ended."""
    driver, other, _ = visit
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


def test_no_way_leads_out(visit: Visit) -> None:
    found = attempt(visit, ALLOWED | WAYS_OUT)
    assert [name for name in ALLOWED if not found.pop(name).startswith("done")] == []
    assert {name: end for name, end in found.items() if end.startswith("done")} == {}
    assert visit.other.heard == []
    assert visit.other.connections == 0
    assert found.keys() == {*WAYS_OUT, *BY_PYTHON}
    assert not visit.has_service or visit.driver.page.evaluate(IS_SERVED)


STARTED = """async (file) => {
  const worker = new Worker(file, {type: "module"});
  const {port1, port2} = new MessageChannel();
  const said = new Promise((done) => {
    port1.onmessage = worker.onmessage = () => done("answered");
    worker.onerror = () => done("refused");
  });
  const details = {interrupt: null, digest: null};
  port1.postMessage({id: 1, name: "start", details});
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
