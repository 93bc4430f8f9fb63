"""Devices in a page whose policy allows WebAssembly and no eval.

A page is bare Pyodide with the wheel, and loads `tensorweb-drivers.js` of the site; the
other is the site's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_page import BarePage, open_bare, serve_bare
from browsers import Snapshot, new_context, page_of
from page_driver import PageDriver, expect
from playwright.sync_api import Browser

from conftest import SITE, Serve
from tensorweb.site_server import HEADER, HEADERS_FILE

POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:"
)
SIDES = ("onMain", "inWorker")
DEVICES = ("cpu", "webgpu")
DRIVERS = "tensorweb-drivers.js"

COMPUTE = """
import tensorweb as tw
with tw.device({device!r}):
    x = tw.arange(5) * 2
str([x.device, x.tolist()])
"""

EVAL = """
from pyodide.code import run_js
from pyodide.ffi import JsException
try:
    found = run_js("1 + 1")
except JsException as error:
    found = error.name
str(found)
"""

HELPERS = """
import asyncio, time
from tensorweb.drivers.wasm_browser import open_wasm_browser
driver = open_wasm_browser(3)
end = time.monotonic() + 60
while driver.helpers_up() < 2 and time.monotonic() < end:
    await asyncio.sleep(0.01)
helpers = driver.helpers_up()
driver.close()
helpers
"""


@pytest.fixture(scope="module")
def address(
    serve: Serve, memory: Path, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The address of the bare page under the policy."""
    folder = tmp_path_factory.mktemp("strict")
    (folder / HEADERS_FILE).write_text(f"/*\n  {HEADER}: {POLICY}\n", "utf-8")
    return serve_bare(serve, folder, memory)


@pytest.fixture(scope="module", params=SIDES)
def python(
    request: pytest.FixtureRequest, chromium: Browser, address: str
) -> Iterator[BarePage]:
    """Python with the wheel, on the main thread and in a worker."""
    bare = open_bare(chromium, address, request.param)
    bare("resume")
    bare.install()
    assert bare("await", EVAL) == "EvalError"
    yield bare
    bare.page.context.close()


@pytest.mark.parametrize("device", DEVICES)
def test_without_the_scripts_the_error_names_the_file(
    python: BarePage, device: str
) -> None:
    text = python.error("await", COMPUTE.format(device=device))
    assert f"DeviceError: {device}: this page's Content-Security-Policy" in text
    assert "nothing is loaded" in text
    assert f'import "./{DRIVERS}"' in text


@pytest.mark.parametrize("device", DEVICES)
def test_scripts_of_another_version_are_not_taken(
    python: BarePage, device: str
) -> None:
    python("await", "import js; js.tensorwebScripts = js.Object.new()")
    text = python.error("await", COMPUTE.format(device=device))
    python("await", "del js.tensorwebScripts")
    assert f"{DRIVERS} of another version is loaded" in text


@pytest.mark.parametrize("device", DEVICES)
def test_devices_open_with_the_scripts(python: BarePage, device: str) -> None:
    python("drivers", DRIVERS)
    found = python("await", COMPUTE.format(device=device))
    assert found == f"['{device}', [0, 2, 4, 6, 8]]"


@pytest.mark.parametrize("python", ["inWorker"], indirect=True)
def test_helper_threads_start_with_the_scripts(python: BarePage) -> None:
    python("drivers", DRIVERS)
    assert python("await", HELPERS) == "2"


def test_the_site_computes_without_eval(
    chromium: Browser, serve: Serve, tmp_path: Path, snapshot: Snapshot
) -> None:
    for path in SITE.iterdir():
        if path.name not in ("index.html", HEADERS_FILE):
            (tmp_path / path.name).symlink_to(path, path.is_dir())
            continue
        text = path.read_text("utf-8")
        assert " 'unsafe-eval'" in text
        (tmp_path / path.name).write_text(text.replace(" 'unsafe-eval'", ""), "utf-8")
    address = serve(tmp_path)
    with page_of(new_context(chromium)) as page:
        snapshot.give(page, address)
        driver = PageDriver(page).open(address, wait=False)
        # Playwright's own waits for expressions need eval.
        page.wait_for_selector("body[data-state=ready]", state="attached")
        driver.write("\n".join([EVAL, "print(found)", *map(shown_on, DEVICES)]))
        page.click("#run")
        expected = ("EvalError", *(f"{device}: [0, 2, 4, 6, 8]" for device in DEVICES))
        for text in expected:
            expect(page.locator("#output")).to_contain_text(text)


def shown_on(device: str) -> str:
    """Return a program that prints what it computes on a device."""
    return COMPUTE.format(device=device) + "print(f'{x.device}: {x.tolist()}')"
