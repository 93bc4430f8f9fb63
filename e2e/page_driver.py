"""Drives the built page as a person would; waits on its state, never on time."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Page, expect

IDLE = "['ready', 'error'].includes(document.body.dataset.state)"
START_MS = 90_000
RUN_MS = 60_000


class PageDriver:
    """One open page and everything that went wrong in its console."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.console: list[str] = []
        self.requests: list[str] = []
        page.set_default_timeout(RUN_MS)
        page.on("console", self._log)
        page.on("pageerror", lambda error: self.console.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, url: str, *, wait: bool = True) -> PageDriver:
        self.page.goto(url)
        if wait:
            self.idle(START_MS)
        return self

    def idle(self, timeout: int = RUN_MS) -> str:
        """Wait until nothing runs or loads and return the state."""
        self.page.wait_for_function(IDLE, timeout=timeout)
        return str(self.page.evaluate("document.body.dataset.state"))

    def write(self, source: str) -> None:
        self.page.evaluate("source => tensorwebPage.editor.open(source)", source)

    def run(self, source: str) -> str:
        """Run a program to its end and return the state."""
        self.write(source)
        self.page.click("#run")
        state = self.idle()
        # Output is drawn once per frame.
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => done()))")
        return state

    def begin(self, source: str) -> None:
        """Start a program that does not end by itself."""
        self.write(source)
        self.page.click("#run")
        self.page.wait_for_function("document.body.dataset.state === 'running'")

    @property
    def output(self) -> str:
        return self.page.inner_text("#output")

    def tensors(self) -> dict[str, Any]:
        """Return what the page knows of each tensor of the run, by name."""
        found = self.page.evaluate("tensorwebPage.view.tensors")
        return {entry["name"]: entry for entry in found}

    def look_into(self, name: str) -> None:
        """Choose a tensor of the list and wait until its picture is drawn."""
        self.page.click(
            f"#tensors .tensor:has(.tensor-name:text-is({json.dumps(name)}))"
        )
        self.pictured()

    def pictured(self) -> None:
        expect(self.page.locator("#tensors")).to_have_attribute("data-view", "ready")

    def clean(self) -> None:
        """Check that the console had no error or warning so far."""
        assert self.console == [], "\n".join(self.console)

    def _log(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.console.append(f"{message.type}: {message.text}")
