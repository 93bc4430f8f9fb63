"""What a running program finds around it: streams, `show`, `input` and `sleep` of ours.

The interpreter's own are kept from the beginning and put back after every run.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import SupportsIndex

from tensorweb.errors import BlockingError
from tensorweb.show import Hook, set_show_hook

from .program import Wait
from .records import Prompt
from .streams import Emit, Output, Stream, clip_line, fast_stream

NextLine = Callable[[], Awaitable[str]]
"""Waits for a line; raises BlockingError where nothing can wait."""

LONGEST_PROMPT = 2000
NO_TYPING = (
    "input() cannot wait for typing here; assign the value in the program instead."
)


class Host:
    """Replaces a few names of the interpreter while a program runs."""

    def __init__(
        self, wait: Wait | None, emit: Emit, next_line: NextLine | None
    ) -> None:
        self._wait = wait
        self._emit = emit
        self._next_line = next_line
        self._streams = (sys.stdout, sys.stderr)
        self._input = builtins.input
        self._sleep = time.sleep
        self._hook: Hook | None = None

    @contextlib.contextmanager
    def around(self, output: Output, show: Hook) -> Iterator[None]:
        """Send a program's text to `output` and what it shows to `show`."""
        # Kept by name: Python 3.11's print only borrows the stream that it writes to.
        streams = (Stream(output, "stdout"), Stream(output, "stderr"))
        output.on_overflow = lambda: self._hurry(output)
        self._hook = set_show_hook(show)
        builtins.input = lambda prompt="", /: self._ask(output, prompt)
        if self._wait is not None:
            time.sleep = self._sleep_until_stopped
        sys.stdout, sys.stderr = streams
        try:
            yield
        finally:
            output.on_overflow = lambda: None
            self.restore()

    def restore(self) -> None:
        """Put everything back as it was before the first run."""
        flush_streams()
        sys.stdout, sys.stderr = self._streams
        builtins.input = self._input
        time.sleep = self._sleep
        set_show_hook(self._hook)

    def _hurry(self, output: Output) -> None:
        """Change to streams that gather their text in C."""
        sys.stdout = fast_stream(output, "stdout")
        sys.stderr = fast_stream(output, "stderr")

    def _ask(self, output: Output, prompt: object) -> str:
        """Stand in for `input`: a field of the page takes the line."""
        text = str(prompt)
        flush_streams()
        output.flush()
        if self._wait is None or self._next_line is None:
            raise RuntimeError(NO_TYPING)
        try:
            line = self._next_line()
        except BlockingError:
            raise RuntimeError(NO_TYPING) from None
        asked: Prompt = {"text": clip_line(text, LONGEST_PROMPT)}
        self._emit("prompt", asked)
        typed = str(self._wait(line))
        output.write(f"{text}{typed}\n", "stdout")
        return typed

    def _sleep_until_stopped(self, seconds: float | SupportsIndex, /) -> None:
        """Stand in for `time.sleep`: Stop ends it."""
        assert self._wait is not None, "internal: only where Python can block"
        self._wait(asyncio.sleep(float(seconds)))


def flush_streams() -> None:
    """Pass on what streams have gathered, whatever the program made of them."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
