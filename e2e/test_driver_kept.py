"""What the browser's driver keeps between visits, in Chromium's IndexedDB."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver_page import Python, open_python, serve_drivers
from playwright.sync_api import Browser

from conftest import Serve


@pytest.fixture(scope="module", params=["runInWorker", "runOnMain"])
def opened(
    request: pytest.FixtureRequest,
    chromium: Browser,
    serve: Serve,
    memory: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Python]:
    """Python with the drivers, on one side of a page."""
    url = serve_drivers(serve, tmp_path_factory.mktemp("driver-page"), memory)
    started = open_python(chromium, url, request.param)
    yield started
    started.page.context.close()


FORGET = """() => new Promise((done, failed) => {
    const asked = indexedDB.deleteDatabase("tensorweb");
    asked.onsuccess = done;
    asked.onerror = failed;
})"""


@pytest.fixture
def python(opened: Python) -> Python:
    """The same, in a browser that has kept nothing yet."""
    opened.page.evaluate(FORGET)
    return opened


def test_text_is_there_when_the_device_opens_again(python: Python) -> None:
    code = """
    first = open_driver()
    before = first.kept("a key")
    lasts = first.keep("a key", "a text")
    second = open_driver()
    found = second.kept("a key")
    second.keep("a key", None)
    json.dumps([before, lasts, found, open_driver().kept("a key")])
    """
    assert python.values(code) == [None, True, "a text", None]


def test_adapter_tells_its_names(python: Python) -> None:
    names = python.values("json.dumps(open_driver().names)")
    assert sorted(names) == ["architecture", "description", "vendor"]
    assert "swiftshader" in " ".join(names.values()).lower()


SPOILED = {
    "another store": (1, "createObjectStore('other')"),
    "a number, no text": (1, "createObjectStore('kept').put(5, 'a key')"),
    "a long text": (1, "createObjectStore('kept').put('x'.repeat(5e6), 'a key')"),
    "a newer version": (2, "createObjectStore('kept')"),
}

SPOIL = """async () => {{
    const open = indexedDB.open("tensorweb", {version});
    open.onupgradeneeded = () => open.result.{statement};
    await new Promise((done) => {{ open.onsuccess = done }});
    open.result.close();
}}"""


@pytest.mark.parametrize("kind", SPOILED)
def test_spoiled_database_is_made_anew(python: Python, kind: str) -> None:
    version, statement = SPOILED[kind]
    python.page.evaluate(SPOIL.format(version=version, statement=statement))
    code = """
    first = open_driver()
    before = first.kept("a key")
    lasts = first.keep("a key", "a text")
    json.dumps([before, lasts, open_driver().kept("a key")])
    """
    assert python.values(code) == [None, True, "a text"]
