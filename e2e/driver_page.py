"""A page with Pyodide and the drivers alone, and how tests talk to its Python."""

from __future__ import annotations

import json
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from asking import ask
from browsers import LIMIT_MS
from playwright.sync_api import Browser, Error, Page

from conftest import ROOT, SITE, Serve

PAGE = ROOT / "e2e" / "driver"
START = ROOT / "e2e" / "bare" / "python.js"
PYODIDE_FILES = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
)
NO_PACKAGES = {
    "info": {
        "abi_version": "2026_0",
        "arch": "wasm32",
        "platform": "emscripten_5_0_3",
        "python": "3.14.2",
        "version": "314.0.7",
    },
    "packages": {},
}


@dataclass
class Python:
    """Python in one browser page; `where` is the page's function that runs it."""

    page: Page
    where: str = "runInWorker"

    def __call__(self, code: str, kind: str = "await") -> str:
        """Run code and return its last expression as text."""
        return ask(self.page, self.where, kind, code)

    def values(self, code: str) -> Any:
        """Run code whose last expression is JSON and return what it says."""
        return json.loads(self(code))

    def error(self, code: str, kind: str = "await") -> str:
        """Run code that must fail and return the message."""
        with pytest.raises(Error) as caught:
            self(code, kind)
        return caught.value.message


def serve_drivers(
    serve: Serve, folder: Path, memory: Path, *, isolated: bool = True
) -> str:
    """Serve a page with Python from a snapshot, and the drivers; return the address."""
    for name in ("index.html", "harness.js", "worker.js"):
        shutil.copyfile(PAGE / name, folder / name)
    shutil.copyfile(START, folder / START.name)
    (folder / "python.snapshot").symlink_to(memory)
    (folder / "pyodide").mkdir()
    for name in PYODIDE_FILES:
        shutil.copyfile(SITE / "pyodide" / name, folder / "pyodide" / name)
    lock = folder / "pyodide" / "pyodide-lock.json"
    lock.write_text(json.dumps(NO_PACKAGES), "utf-8")
    _pack_drivers(folder / "drivers.zip")
    return serve(folder, isolated=isolated)


def _pack_drivers(target: Path) -> None:
    package = ROOT / "tensorweb"
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("tensorweb/__init__.py", "")
        for name in ("errors.py", "waits.py"):
            archive.write(package / name, f"tensorweb/{name}")
        for path in sorted((package / "drivers").glob("*.[pj][ys]")):
            archive.write(path, f"tensorweb/drivers/{path.name}")
        for path in [*PAGE.glob("*.py"), ROOT / "tests" / "wasm_modules.py"]:
            archive.write(path, path.name)


def open_python(browser: Browser, url: str, where: str) -> Python:
    """Open the page in a profile of its own."""
    return open_page(browser.new_context().new_page(), url, where)


def open_page(page: Page, url: str, where: str) -> Python:
    """Open the page in one of a browser."""
    page.set_default_timeout(LIMIT_MS)
    page.goto(url)
    page.wait_for_selector("body[data-state=ready]", state="attached")
    return Python(page, where)
