"""Programs that mean harm: later visits, other programs and the page stay safe."""

from __future__ import annotations

from typing import Any

import pytest
from page_driver import PageDriver, expect, settled
from playwright.sync_api import Page

SNAPSHOT = "caches.open('tensorweb-snapshot').then((cache) => cache.keys())"

EVIL = """
from tensorweb.playground import session
from tensorweb.playground.preload import SAMPLE
before = session.Session._run
async def _run(self, source, *rest):
    if source != SAMPLE:
        self._emit("output", {"stream": "stdout", "text": "OWNED "})
    return await before(self, source, *rest)
session.Session._run = _run
"""

POISON = """
from pyodide.code import run_js
await run_js('''async (evil) => {
  const site = new URL('.', self.location.href).href;
  const {loadPyodide} = await import(site + 'pyodide/pyodide.mjs');
  const home = site + 'pyodide/';
  const options = {indexURL: home, packageBaseUrl: home, _makeSnapshot: true};
  const python = await loadPyodide(options);
  const build = await (await fetch('build.json')).json();
  const name = `wheels/tensorweb-${build.version}-py3-none-any.whl`;
  const wheel = await (await fetch(name)).arrayBuffer();
  python.unpackArchive(new Uint8Array(wheel), 'wheel');
  python.runPython(evil);
  python.runPython('from tensorweb.playground.preload import preload; preload()');
  const cache = await caches.open('tensorweb-snapshot');
  const [key] = await cache.keys();
  await cache.put(key.url, new Response(python.makeMemorySnapshot()));
}''')(EVIL)
print('planted')
"""


def test_planted_and_unknown_snapshots_are_thrown_away(
    page: Page, site_url: str
) -> None:
    driver = PageDriver(page).open(site_url)
    settled(page, f"{SNAPSHOT}.then((keys) => keys.length > 0)")
    assert driver.run(f"EVIL = {EVIL!r}\n{POISON}") == "ready", driver.output
    driver.open(site_url)
    assert page.evaluate("tensorwebPage.view.started.snapshot") is False
    assert driver.run("print('mine')") == "ready"
    assert driver.output.startswith("mine")
    # The start after that has a snapshot again, of its own.
    settled(page, f"{SNAPSHOT}.then((keys) => keys.length > 0)")
    driver.open(site_url)
    assert page.evaluate("tensorwebPage.view.started.snapshot") is True
    assert driver.run("print('mine')") == "ready"
    assert driver.output.startswith("mine")
    # A page that has forgotten the digest starts anew and learns another.
    page.evaluate("localStorage.removeItem('tensorweb:snapshot')")
    driver.open(site_url)
    assert page.evaluate("tensorwebPage.view.started.snapshot") is False
    assert page.evaluate("localStorage['tensorweb:snapshot'].length") == 64


WATCH = """
import builtins
from pyodide.code import run_js
builtins.left = 'left behind'
run_js("self.spied = []; self.addEventListener('message', (e) => spied.push(e.data))")
print('watching')
"""
LOOK = """
import builtins
from pyodide.code import run_js
secret = 42
print(getattr(builtins, 'left', 'nothing'), run_js("typeof self.spied"))
"""


def link_to(driver: PageDriver, site_url: str, source: str) -> str:
    packed = """async (source) => {
        const stream = new Blob([source]).stream();
        const packed = stream.pipeThrough(new CompressionStream('deflate-raw'));
        const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
        return btoa(String.fromCharCode(...bytes))
            .replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
    }"""
    return f"{site_url}#code={driver.page.evaluate(packed, source)}"


def start_shown(driver: PageDriver) -> str:
    """Run the program that is open and return its first line."""
    page = driver.page
    page.wait_for_function("!tensorwebPage.view.held")
    page.evaluate("globalThis.before = tensorwebPage.view.run")
    page.click("#run")
    page.wait_for_function("tensorwebPage.view.run !== before")
    assert driver.idle() == "ready", driver.output
    driver.drawn()
    return driver.output.split("\n")[0]


def go_to(driver: PageDriver, address: str) -> None:
    driver.page.evaluate("(address) => { location.href = address }", address)
    kind = "link" if "#code=" in address else "example"
    driver.page.wait_for_function(f"tensorwebPage.view.document.kind === '{kind}'")


def test_linked_program_shares_python_with_no_other(page: Page, site_url: str) -> None:
    driver = PageDriver(page).open(f"{site_url}#ex=01-tour")
    assert driver.run("import builtins\nbuiltins.left = 'mine'") == "ready"
    go_to(driver, link_to(driver, site_url, LOOK))
    assert start_shown(driver) == "nothing undefined"
    go_to(driver, link_to(driver, site_url, WATCH))
    page.wait_for_function("tensorwebPage.editor.source().includes('watching')")
    assert start_shown(driver) == "watching"
    go_to(driver, f"{site_url}#ex=02-broadcasting")
    driver.idle()
    assert driver.run(LOOK) == "ready"
    assert driver.output.startswith("nothing undefined")


def test_own_programs_keep_their_worker(mistreated: PageDriver, site_url: str) -> None:
    assert mistreated.run("import builtins\nbuiltins.left = 'mine'") == "ready"
    mistreated.page.evaluate("location.hash = '#ex=03-reductions'")
    mistreated.page.wait_for_function(
        "tensorwebPage.view.document.id === '03-reductions' && !tensorwebPage.view.held"
    )
    assert mistreated.page.evaluate("document.body.dataset.state") == "ready"
    assert mistreated.run(LOOK) == "ready"
    assert mistreated.output.startswith("mine")


def restart(driver: PageDriver) -> None:
    """Give the page a Python that no program has changed."""
    driver.page.evaluate("tensorwebPage.session.restart()")
    driver.idle()


FORGED = [
    "'x'",
    "null",
    "{id: 'x'}",
    "{id: 5, response: '{}'}",
    "{note: 'step', text: 7}",
    "{note: 'output', stream: 'stdout', text: 'forged'}",
    "{fatal: 'forged'}",
]


@pytest.mark.parametrize("message", FORGED)
def test_forged_message_changes_nothing(mistreated: PageDriver, message: str) -> None:
    code = f"self.postMessage({message})"
    source = f"from pyodide.code import run_js\nrun_js({code!r})\nprint('through')"
    assert mistreated.run(source) == "ready"
    assert mistreated.output.startswith("through")
    assert "forged" not in mistreated.output
    mistreated.clean()


ANSWERS = """
import sys, time
from pyodide.code import run_js
run_js('''for (let id = 0; id < 500; id++) self.postMessage({{
    id, response: JSON.stringify({{
      seconds: 1, stopped: false, error: null,
      lines: [], kernels: [], kernelsLeftOut: 0, faults: []
    }})
}})''')
{rest}
"""


def test_program_cannot_say_that_it_has_ended(mistreated: PageDriver) -> None:
    mistreated.begin(ANSWERS.format(rest="print('going on')\nwhile True: pass"))
    expect(mistreated.page.locator("#output")).to_contain_text("going on")
    assert mistreated.page.evaluate("document.body.dataset.state") == "running"
    mistreated.page.click("#stop")
    assert mistreated.idle() == "ready"
    expect(mistreated.page.locator("#output")).to_contain_text("Stopped after")


SPY = """
from pyodide.code import run_js
run_js('''
  self.seen = [];
  const look = (prototype, name) => {
    const own = Object.getOwnPropertyDescriptor(prototype, name);
    const get = function () { seen.push(this); return own.get.call(this) };
    Object.defineProperty(prototype, name, {get, configurable: true});
  };
  look(MessageEvent.prototype, 'data');
  look(MessageEvent.prototype, 'ports');
  const {postMessage} = MessagePort.prototype;
  MessagePort.prototype.postMessage = function (...given) {
    seen.push({data: given[0]});
    return Reflect.apply(postMessage, this, given);
  };
''')
"""
SEEN = """
from pyodide.code import run_js
ours = "({data}) => data?.name || data?.response || data?.said"
print(run_js(f"seen.length > 0 && seen.filter({ours}).length"))
"""


def test_program_gets_no_hold_of_the_line(mistreated: PageDriver) -> None:
    assert mistreated.run(SPY) == "ready", mistreated.output
    assert mistreated.run(SEEN) == "ready", mistreated.output
    assert mistreated.output.startswith("0\n")
    restart(mistreated)


CHANGE = """
from tensorweb.playground import bridge
def handlers(session, before=bridge.handlers):
    plain = before(session)
    async def changed(**details):
        found = await plain[{question!r}](**details)
        return {answer}
    return {{**plain, {question!r}: changed}}
bridge.handlers = handlers
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("describe", "[found[0] | {'name': 5}]"),
        ("describe", "'text'"),
        ("run", "None"),
        ("run", "found | {'error': {}}"),
    ],
)
def test_answers_of_a_changed_python_are_checked(
    mistreated: PageDriver, question: str, answer: str
) -> None:
    """Each answer is a right one with one thing spoilt, here or in the whole."""
    mistreated.run(CHANGE.format(question=question, answer=answer))
    assert mistreated.run("import tensorweb as tw\nx = tw.ones(2)") == "error"
    trouble = mistreated.page.locator(".trouble").last
    expect(trouble).to_contain_text(f"“{question}” is damaged")
    mistreated.clean()
    restart(mistreated)


def test_heat_map_of_another_size_is_refused(mistreated: PageDriver) -> None:
    """One of the sizes that tests/page/messages.test.ts refuses."""
    source = """
import tensorweb as tw
from tensorweb.playground import pictures
plain = pictures.heatmap
async def heatmap(*details):
    found = await plain(*details)
    return found | {'rows': 30000, 'columns': 30000}
pictures.heatmap = heatmap
x = tw.ones((8, 8))
"""
    assert mistreated.run(source) == "ready"
    mistreated.wait("document.querySelector('#tensors').dataset.view !== 'loading'")
    expect(mistreated.page.locator(".viewer-problem")).to_contain_text("damaged")
    mistreated.clean()
    restart(mistreated)


FLOODS: dict[str, Any] = {
    "messages": "run_js(\"for(;;) postMessage({note: 'step', text: 'x'})\")",
    "stored postMessage": (
        'run_js("const post = Object.getPrototypeOf(self).postMessage'
        " ?? self.postMessage; for(;;) post.call(self, 'x')\")"
    ),
    "output": "while True: session._emit('output', {'stream': 'stdout', 'text': 'x'})",
    "long output": (
        "while True: session._emit("
        "'output', {'stream': 'stdout', 'text': 'x' * 100000})"
    ),
    "displays": (
        "while True: session._emit('display', {'display': 0, 'name': None,"
        " 'text': 'x', 'tensor': False, 'facts': '', 'chart': None})"
    ),
    "tails": (
        "while True: session._emit("
        "'tail', {'stream': 'stdout', 'text': 'x' * 20000, 'omitted': 5})"
    ),
}


@pytest.mark.parametrize("kind", FLOODS)
def test_flood_ends_the_worker(mistreated: PageDriver, kind: str) -> None:
    source = "from pyodide.code import run_js\n"
    source += "from tensorweb.playground import bridge\nsession = bridge._session\n"
    mistreated.write(source + FLOODS[kind])
    mistreated.page.click("#run")
    trouble = mistreated.page.locator(".trouble").last
    expect(trouble).to_contain_text("more messages than a page can take")
    expect(trouble).to_contain_text("Python was restarted; your code is as it was")
    mistreated.idle()
    assert FLOODS[kind] in mistreated.page.evaluate("tensorwebPage.editor.source()")
    assert mistreated.run("print('next')") == "ready"
    assert mistreated.output.startswith("next")


PRINTS = {
    "lines": "for i in range(200_000): print(i)",
    "both streams": """
import sys
for i in range(100_000):
    print(i)
    print(i, file=sys.stderr)
""",
    "no line ends": "for i in range(200_000): print(i, end=' ', flush=True)",
    "displays": "import tensorweb as tw\nfor i in range(3000): tw.show(i)",
}


@pytest.mark.parametrize("kind", PRINTS)
def test_fast_printing_is_no_flood(mistreated: PageDriver, kind: str) -> None:
    assert mistreated.run(f"{PRINTS[kind]}\nprint('the end')") == "ready", (
        mistreated.output
    )
    expect(mistreated.page.locator("#output")).to_contain_text("the end")
    assert "restarted" not in mistreated.output
