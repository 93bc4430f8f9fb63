"""Whatever kills Python ends in a restart: a plain sentence, code kept, Run works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browsers import new_context, page_of
from page_driver import PageDriver, expect
from playwright.sync_api import Browser, Page

NESTED = "x = []\nfor i in range(3_000_000): x = [x]\n"

DEADLY = {
    "repr": "x = []\nfor i in range(100_000): x = [x]\nrepr(x)",
    "json": "import json\njson.loads('[' * 200_000)",
    "pickle": f"{NESTED}import pickle\npickle.dumps(x)",
    "del": f"{NESTED}del x",
    "compile": "eval('-' * 100_000 + '1')",
    "deep attribute": (
        "class A:\n    def __getattr__(self, name): return getattr(self, name + 'x')\n"
        "import sys\nsys.setrecursionlimit(10**8)\nA().x"
    ),
    "causes": (
        "error = None\n"
        "for i in range(20_000):\n"
        "    new = ValueError(str(i))\n"
        "    new.__cause__ = error\n"
        "    error = new\n"
        "raise error"
    ),
    "exit": "import os\nos._exit(3)",
    "abort": "import os\nos.abort()",
    "address": "import ctypes\nctypes.string_at(2**31 - 8, 2**28)",
    "internals": (
        "from pyodide_js import _module\nfrom pyodide.code import run_js\n"
        "run_js('(module) => module._abort()')(_module)"
    ),
    "close": "import js\njs.close()\nwhile True: pass",
    "callback": (
        "import js\nfrom pyodide.ffi import create_once_callable\n"
        "def deep():\n    x = []\n    for i in range(100_000): x = [x]\n    repr(x)\n"
        "js.setTimeout(create_once_callable(deep), 0)\n"
        "import asyncio\nawait asyncio.sleep(600)"
    ),
}
"""Programs that leave an interpreter which cannot go on, or an ordinary error."""

SURVIVED = ("causes", "internals", "compile", "deep attribute", "address")
"""Those where Python may as well raise something."""


@pytest.mark.parametrize("kind", DEADLY)
def test_dead_python_is_replaced(mistreated: PageDriver, kind: str) -> None:
    page = mistreated.page
    mistreated.write(DEADLY[kind])
    page.click("#run")
    mistreated.idle()
    mistreated.drawn()
    if kind not in SURVIVED:
        expect(page.locator(".trouble")).to_have_count(1)
    for sentence in page.locator(".trouble").all_inner_texts():
        assert "Python was restarted; your code is as it was." in sentence
        assert "object" not in sentence
    assert page.evaluate("tensorwebPage.editor.source()") == DEADLY[kind]
    assert mistreated.run("print('next')") == "ready"
    assert mistreated.output.startswith("next")


ALIVE = {
    "memory": "x = bytearray(2**31 - 1)\ny = bytearray(2**31 - 1)\nz = [x, y] * 3",
    "javascript recursion": (
        "from pyodide.code import run_js\nrun_js('(function f() { f() })()')"
    ),
    "exit": "import sys\nsys.exit(3)",
}


@pytest.mark.parametrize("kind", ALIVE)
def test_ordinary_failure_keeps_python(mistreated: PageDriver, kind: str) -> None:
    mistreated.run(ALIVE[kind])
    assert "restarted" not in mistreated.output
    assert mistreated.run("print('next')") == "ready"


CALLBACKS = {
    "error": "def fail(): raise ValueError('late')",
    "exit": "def fail(): raise SystemExit('late')",
    "interrupt": "def fail(): raise KeyboardInterrupt('late')",
    "script": (
        "from pyodide.code import run_js\n"
        "fail = run_js('() => { throw new Error(\"late\") }')"
    ),
}


@pytest.mark.parametrize("kind", CALLBACKS)
def test_failing_callback_is_told_and_python_goes_on(
    mistreated: PageDriver, kind: str
) -> None:
    source = f"{CALLBACKS[kind]}\nimport js\n"
    source += "from pyodide.ffi import create_once_callable as once\nimport asyncio\n"
    source += "js.setTimeout(fail if hasattr(fail, 'js_id') else once(fail), 0)\n"
    source += "await asyncio.sleep(0.1)\nprint('went on')"
    assert mistreated.run(source) == "ready", mistreated.output
    expect(mistreated.page.locator("#output")).to_contain_text("late")
    expect(mistreated.page.locator("#output")).to_contain_text("went on")
    assert "restarted" not in mistreated.output


MISSING = {
    "python_stdlib.zip": "**/python_stdlib.zip.packed",
    "pyodide.asm.wasm": "**/pyodide.asm.wasm.packed",
    "pyodide.mjs": "**/pyodide.mjs",
    "pyodide-lock.json": "**/pyodide-lock.json",
    "build.json": "**/build.json",
    "tensorweb.packed": "**/tensorweb.packed*",
    "worker": "**/worker-*.js",
}
"""A part of each file's name that the page must say, and its address."""


def refuse(page: Page, pattern: str, how: str) -> None:
    """Let a file be missing, or the server out of reach."""

    def answer(route: Any) -> None:
        if how == "missing":
            route.fulfill(status=404, body="nothing here")
        else:
            route.abort()

    page.context.route(pattern, answer)


@pytest.fixture(scope="module")
def never_started(chromium: Browser) -> Iterator[PageDriver]:
    """A page of a profile in which Python has not started yet."""
    with page_of(new_context(chromium)) as page:
        yield PageDriver(page)


@pytest.mark.parametrize("name", MISSING)
def test_what_cannot_be_loaded_is_named(
    never_started: PageDriver, site_url: str, name: str
) -> None:
    page = never_started.page
    page.context.unroute_all()
    refuse(page, MISSING[name], "missing")
    never_started.open(site_url, wait=False)
    trouble = page.locator(".trouble:not([data-seen])")
    for how in ("out of reach", None):
        expect(trouble).to_contain_text("Python could not start")
        expect(trouble).to_contain_text(name)
        assert "[object" not in trouble.inner_text()
        if how:
            trouble.evaluate("node => { node.dataset.seen = '' }")
            refuse(page, MISSING[name], how)
            page.get_by_role("button", name="Retry").click()


def test_retry_starts_python_again(page: Page, site_url: str) -> None:
    refuse(page, MISSING["python_stdlib.zip"], "missing")
    driver = PageDriver(page).open(site_url, wait=False)
    page.wait_for_selector(".trouble")
    page.context.unroute(MISSING["python_stdlib.zip"])
    page.get_by_role("button", name="Retry").click()
    assert driver.idle() == "ready"
    assert driver.run("print('started')") == "ready"
    assert driver.output.startswith("started")
