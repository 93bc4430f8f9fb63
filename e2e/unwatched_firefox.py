"""Firefox whose workers nobody watches, driven over Marionette as a page of Playwright.

Playwright speaks WebDriver BiDi to Firefox, and that lists workers. While anybody does
(the developer tools as well), a worker that makes another waits inside `new Worker`
until the main thread has registered it. The new thread waits for its first work on the
same condition variable, and the main thread notifies one of the two: where that is the
wrong one, `new Worker` never returns (seen in Firefox 153 ESR, after 5 to 80 workers of
workers). Marionette lists no workers, so `new Worker` does not wait, as with readers.
"""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

from browsers import FIREFOX_PREFERENCES, LIMIT_MS, firefox_program
from playwright.sync_api import Error, Page, TimeoutError

PORT_FILE = "MarionetteActivePort"
PAUSE = 0.02
"""Seconds between two looks."""

EVALUATE = """
const [given, done] = arguments;
const evaluated = async () => {{
  with (window) {{
    const found = ({code});
    return typeof found === "function" ? found(given) : found;
  }}
}};
evaluated().then(
  (value) => done({{ value }}),
  (error) => done({{ error: String(error?.message ?? error) }}),
);
"""
"""Marionette runs code in a realm of its own; names must be the window's."""


class Replaced(Error):
    """A script ended without an answer, because its document was replaced."""


class UnwatchedPage:
    """The only page of a Firefox, with the methods of Playwright's that tests need."""

    def __init__(self, port: int) -> None:
        """Begin a session."""
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.settimeout(LIMIT_MS / 1000)
        self._stream = self._socket.makefile("rb")
        self._number = 0
        self._first: list[str] = []
        self._receive()  # who Marionette is
        self._ask("WebDriver:NewSession", {})
        self._ask("WebDriver:SetTimeouts", {"script": LIMIT_MS, "pageLoad": LIMIT_MS})

    def close(self) -> None:
        """Hang up."""
        self._stream.close()
        self._socket.close()

    def add_init_script(self, code: str) -> None:
        """Keep code that only changes what the site stores, for the next `goto`."""
        self._first.append(code)

    def goto(self, url: str) -> None:
        """Open an address, after preparing the profile at a file of the same site."""
        if self._first:
            self._ask("WebDriver:Navigate", {"url": f"{url}build.json"})
            for code in self._first:
                self._ask("WebDriver:ExecuteScript", {"script": code, "args": []})
            self._first.clear()
        self._ask("WebDriver:Navigate", {"url": url})

    def evaluate(self, code: str, given: object = None) -> Any:
        """Return what an expression gives, or what the function that it is returns."""
        script = {"script": EVALUATE.format(code=code), "args": [given]}
        found = self._ask("WebDriver:ExecuteAsyncScript", script)["value"]
        if found is None:
            raise Replaced("the document was replaced while a script ran")
        if "error" in found:
            raise Error(found["error"])
        return found.get("value")

    def wait_for_function(
        self, expression: str, timeout: float = LIMIT_MS, **_: object
    ) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + timeout / 1000
        while not self._is_true(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} did not come true in {timeout} ms")
            time.sleep(PAUSE)

    def _is_true(self, expression: str) -> bool:
        """Whether an expression is true; a document that reloads has not answered."""
        try:
            return bool(self.evaluate(expression))
        except Replaced:
            return False

    def wait_for_selector(self, selector: str, **_: object) -> None:
        """Wait until there is such an element."""
        self.wait_for_function(f"document.querySelector({selector!r}) !== null")

    def wait_for_timeout(self, timeout: float) -> None:
        """Pause."""
        time.sleep(timeout / 1000)

    def click(self, selector: str) -> None:
        """Click an element."""
        self.evaluate(f"document.querySelector({selector!r}).click()")

    def inner_text(self, selector: str) -> str:
        """Return the text of an element."""
        return str(self.evaluate(f"document.querySelector({selector!r}).innerText"))

    def set_default_timeout(self, timeout: float) -> None:
        """Leave it at `LIMIT_MS`."""

    def on(self, event: str, action: Callable[..., object]) -> None:
        """Tell nothing: Marionette reports no messages of the console."""

    def _ask(self, command: str, details: Mapping[str, object]) -> Any:
        self._number += 1
        text = json.dumps([0, self._number, command, details]).encode()
        self._socket.sendall(f"{len(text)}:".encode() + text)
        _, _, error, answer = self._receive()
        if error:
            raise Error(f"{command}: {error['error']}: {error['message']}")
        return answer

    def _receive(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            length += self._stream.read(1)
        return json.loads(self._stream.read(int(length[:-1])))


@contextmanager
def unwatched_firefox(profile: Path) -> Iterator[Page]:
    """Start Firefox with a new profile in a folder of this name; lend its only page."""
    profile.mkdir()
    chosen = {**FIREFOX_PREFERENCES, "marionette.port": 0}
    lines = (f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in chosen.items())
    (profile / "user.js").write_text("\n".join(lines), "utf-8")
    program = [firefox_program(), "--headless", "--marionette", "--no-remote"]
    command = [*program, "--profile", str(profile)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet) as running:
        try:
            with closing(UnwatchedPage(port_of(running, profile))) as page:
                yield cast("Page", page)
        finally:
            running.kill()  # its profile is not used again


def port_of(running: subprocess.Popen[bytes], profile: Path) -> int:
    """Wait until Firefox has written where it listens."""
    end = time.monotonic() + LIMIT_MS / 1000
    while running.poll() is None and time.monotonic() < end:
        path = profile / PORT_FILE
        if path.is_file() and (text := path.read_text("utf-8")):
            return int(text)
        time.sleep(PAUSE)
    raise TimeoutError(f"Firefox does not listen; its exit code is {running.poll()}")
