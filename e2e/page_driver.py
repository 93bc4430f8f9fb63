"""Drives the built page as a person would; waits on its state, never on time.

A wait ends when what it waits for is there, or when it can no longer come: the page is
idle and shows a failure. The limits are only for a page that has died.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any

from browsers import LIMIT_MS
from playwright.sync_api import Error, Locator, Page, TimeoutError
from playwright.sync_api import expect as expect_once

SLICE_MS = 500
"""Interval at which a wait checks whether it cannot succeed."""

IDLE = "['ready', 'error'].includes(document.body?.dataset.state)"

IN_VAIN = """() => {
  const state = document.body?.dataset.state; // null while a reload begins
  if (state !== "ready" && state !== "error") return null;
  if (document.querySelector("#tensors")?.dataset.view === "loading") return null;
  const shown = [".trouble", ".failure-title", ".viewer-problem", "#notice"]
    .map((part) => document.querySelector(part)?.textContent).filter(Boolean);
  const device = document.querySelector("#device .device-name")?.textContent;
  if (state !== "error") return null;
  return [`state: ${state}`, `device: ${device}`, ...shown].join("; ");
}"""
"""What went wrong on a page that does nothing any more, or null."""

FRAMES = """frames => new Promise((done) => {
  const draw = (left) => left ? requestAnimationFrame(() => draw(left - 1)) : done();
  draw(frames);
})"""

PATIENT = """
globalThis.patience = 20;
const plain = globalThis.setTimeout;
globalThis.setTimeout = (action, wait, ...rest) =>
  plain(action, wait >= 1000 ? wait * globalThis.patience : wait, ...rest);
"""
"""Lets the page wait for a program much longer before it restarts Python."""

TIDY = """async () => {
  const page = tensorwebPage;
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  document.activeElement?.blur();
  for (const { id } of page.view.programs) await page.library.delete(id);
  page.workspace.openExample("01-tour");
  page.setTheme("system");
  page.show("tensors");
  page.change({ viewSettings: null, tensor: "", sent: null });
  const modes = [...document.querySelectorAll("#tensors .viewer-views button")];
  // These two modes stay when another tensor is chosen, and hide its facts.
  const pressed = modes.find((one) => one.getAttribute("aria-pressed") === "true");
  if (["Table", "Layout"].includes(pressed?.textContent)) modes[2].click();
  page.dismiss();
}"""
"""Closes and forgets what a reader may have opened, typed and chosen."""

VISITED = "try { localStorage['tensorweb:visited'] = '1'; } catch {}"

CHOSEN = "try {{ localStorage['tensorweb:device'] ??= '{}'; }} catch {{}}"
"""Chooses a device as an earlier visit would have."""

PATIENCE_FRAMES = 60
"""Frames that an idle page gets to draw what it knows."""


PAUSE_MS = 50
"""Between two looks at what is promised."""

LOOK_MS = 20
"""Between two looks of the page itself."""


def settled(page: Page, promised: str, arg: object = None) -> None:
    """Wait until what an expression promises is true; Playwright would not."""
    end = monotonic() + LIMIT_MS / 1000
    while not page.evaluate(promised, arg):
        assert monotonic() < end, promised
        page.wait_for_timeout(PAUSE_MS)


class PageDriver:
    """One open page and everything that went wrong in its console.

    Where Stop has to end a program without a restart, the page should be `patient`: on
    a busy machine the program may need longer than a reader would wait. Nothing runs by
    itself, as on later visits, unless this is to be the `first_visit`. WebGPU is chosen
    where it is there: no page would choose a software adapter by itself, as with None.
    """

    def __init__(
        self,
        page: Page,
        *,
        patient: bool = False,
        first_visit: bool = False,
        device: str | None = "webgpu",
    ) -> None:
        self.page = page
        if device is not None:
            page.add_init_script(CHOSEN.format(device))
        if not first_visit:
            page.add_init_script(VISITED)
        if patient:
            page.add_init_script(PATIENT)
        self.console: list[str] = []
        self.requests: list[str] = []
        page.set_default_timeout(LIMIT_MS)
        page.on("console", self._log)
        page.on("pageerror", lambda error: self.console.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, url: str, *, wait: bool = True) -> PageDriver:
        """Open an address; wait until Python is ready there by default."""
        self.page.goto(url)
        if wait:
            state = self.idle()
            assert state == "ready", self.wrong()
        return self

    def idle(self, limit: int = LIMIT_MS) -> str:
        """Wait until nothing runs or loads and return the state."""
        self.wait(IDLE, limit)
        return str(self.page.evaluate("document.body.dataset.state"))

    def wait(self, expression: str, limit: int = LIMIT_MS) -> None:
        """Wait until an expression of the page is true, and the next frame."""
        # A look in every frame lets the browser draw sixty of them a second.
        look = partial(self.page.wait_for_function, expression, polling=LOOK_MS)
        until(look, self.page, f"{expression}: {self.console}", limit)
        with suppress(Error):  # The page may leave for another one.
            self.drawn(1)

    def drawn(self, frames: int = 2) -> None:
        """Wait until the page has drawn what it knows: output waits for a frame."""
        self.page.evaluate(FRAMES, frames)

    def tidy(self) -> None:
        """Show the page as at first, but for the results of the last run."""
        self.page.set_viewport_size({"width": 1280, "height": 720})
        self.page.emulate_media(color_scheme="light")
        self.page.mouse.move(0, 0)
        self.page.evaluate(TIDY)
        if self.page.input_value("#device select") != "webgpu":
            self.choose_device("webgpu")
        self.wait("tensorwebPage.files.isOpen && !tensorwebPage.view.held")
        assert self.idle() == "ready", self.wrong()
        self.console.clear()
        self.requests.clear()

    def show(self, panel: str) -> None:
        """Bring a panel to the front."""
        self.page.get_by_role("tab", name=panel).locator("visible=true").click()

    def write(self, source: str) -> None:
        self.page.evaluate("source => tensorwebPage.editor.open(source)", source)

    def run(self, source: str | None = None) -> str:
        """Run a program, else the one that is there, to its end; return the state."""
        if source is not None:
            self.write(source)
        self._click_run()
        state = self.idle()
        self.drawn()
        return state

    def _click_run(self) -> None:
        # Until a program's files are open, a click starts nothing yet.
        self.wait("tensorwebPage.files.isOpen")
        self.page.click("#run")

    def run_js(self, code: str) -> Any:
        """Return what a piece of JavaScript gives inside the worker."""
        js = f"JSON.stringify({code})"
        assert (
            self.run(f"from pyodide.code import run_js\nprint(run_js({js!r}))")
            == "ready"
        )
        return json.loads(self.output.split("\n")[0])

    def begin(self, source: str) -> None:
        """Start a program that does not end by itself."""
        self.write(source)
        self._click_run()
        self.wait(f"document.body.dataset.state === 'running' || {IDLE}")
        state = self.page.evaluate("document.body.dataset.state")
        assert state == "running", f"the program ended: {self.output}"

    def choose_device(self, name: str) -> None:
        """Choose a device of the page's list; it must be on offer."""
        option = self.page.locator(f"#device option[value={name}]")
        assert option.is_enabled(), f"the page does not offer {name}: {self.wrong()}"
        self.page.select_option("#device select", name)

    @property
    def output(self) -> str:
        return self.page.inner_text(".output-content")

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
        """Wait until the chosen tensor is drawn."""
        self.wait(
            "['ready', 'error', 'empty']"
            ".includes(document.querySelector('#tensors').dataset.view)"
        )
        view = self.page.get_attribute("#tensors", "data-view")
        assert view == "ready", f"the tensors are {view}: {self.wrong()}"
        self.drawn()

    def wrong(self) -> str:
        """Return what the page and its console say that went wrong."""
        return f"{what_went_wrong(self.page)}; console: {self.console}"

    def clean(self) -> None:
        """Check that the console had no error or warning so far."""
        assert self.console == [], "\n".join(self.console)

    def _log(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.console.append(f"{message.type}: {message.text}")


class expect:  # stands in for Playwright's function of that name
    """Playwright's expectations of a page; each ends when it cannot succeed."""

    def __init__(self, actual: Locator | Page) -> None:
        self.actual = actual
        self.page = actual if isinstance(actual, Page) else actual.page

    def __getattr__(self, name: str) -> Callable[..., None]:
        check = getattr(expect_once(self.actual), name)

        def wait(*values: Any, timeout: int = LIMIT_MS, **options: Any) -> None:
            look = partial(check, *values, **options)
            until(look, self.page, f"{self.actual} {name} {values}", timeout)

        return wait


def what_went_wrong(page: Page) -> str | None:
    """Return what an idle page says; None also while it goes to another address."""
    try:
        found = page.evaluate(IN_VAIN)
    except Error:
        return None
    return None if found is None else str(found)


def until(look: Callable[..., object], page: Page, what: str, limit: int) -> None:
    """Look with a time-out, again and again, until it succeeds or cannot succeed.

    Raises:
        AssertionError: with what was waited for and what the page says.
    """
    end = monotonic() + limit / 1000
    last = False
    while True:
        try:
            look(timeout=SLICE_MS)
            return
        except (AssertionError, TimeoutError) as error:
            wrong = what_went_wrong(page)
            if last or monotonic() > end:
                raise AssertionError(f"{what}\n{wrong}\n{error}") from None
        # A page may know what it has not drawn yet: only then can it not succeed.
        last = wrong is not None
        if last:
            page.evaluate(FRAMES, PATIENCE_FRAMES)
