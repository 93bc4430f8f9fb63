"""A page with nothing but Pyodide and the wheel, and how tests talk to its Python."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from asking import ask
from browsers import LIMIT_MS
from playwright.sync_api import Browser, Error, Page

from conftest import ROOT, SITE, Serve

FILES = ROOT / "e2e" / "bare"


@dataclass
class BarePage:
    """Python on one side of a page: `onMain` or `inWorker`."""

    page: Page
    side: str

    def __call__(self, kind: str, text: str = "") -> str:
        """Do one of the things that `bare/bare.js` can do."""
        return ask(self.page, self.side, kind, text)

    def error(self, kind: str, text: str) -> str:
        """Return the message of something that must fail."""
        with pytest.raises(Error) as caught:
            self(kind, text)
        return caught.value.message

    def install(self) -> None:
        """Install the wheel's file with micropip, from its address."""
        self("await", INSTALL.format(wheel=wheel_path()))


INSTALL = """
import js, pyodide_js
await pyodide_js.loadPackage("micropip")
import micropip
await micropip.install(str(js.URL.new("site/{wheel}", js.location.href).href))
"""


def wheel_path() -> str:
    """Return the path of the wheel in the site."""
    [wheel] = (SITE / "wheels").glob("tensorweb-*.whl")
    return f"wheels/{wheel.name}"


def serve_bare(serve: Serve, folder: Path, memory: Path | None = None) -> str:
    """Serve the bare page next to the built site; return its address.

    Args:
        serve: serves a folder.
        folder: an empty one, which gets the files.
        memory: a snapshot, for pages that `resume` Python.
    """
    if not (SITE / "build.json").is_file():
        pytest.skip(f"{SITE} is not built; run `python3 build.py site`")
    for path in FILES.iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "site").symlink_to(SITE, target_is_directory=True)
    if memory is not None:
        (folder / "python.snapshot").symlink_to(memory)
    return serve(folder)


def record(browser: Browser, address: str, file: Path) -> None:
    """Write a snapshot of Python's memory after its start into a file."""
    python = open_bare(browser, address, "onMain")
    python("record")
    python("snapshot")
    with python.page.expect_download() as download:
        python.page.evaluate(DOWNLOAD, python("handOut"))
    download.value.save_as(file)
    python.page.context.close()


DOWNLOAD = """href => {
  const link = document.createElement("a");
  Object.assign(link, { href, download: "python.snapshot" }).click();
}"""


def open_bare(browser: Browser, address: str, side: str) -> BarePage:
    """Open the page in a profile of its own."""
    page = browser.new_context().new_page()
    page.set_default_timeout(LIMIT_MS)
    page.goto(address)
    page.wait_for_selector("body[data-state=ready]", state="attached")
    return BarePage(page, side)
