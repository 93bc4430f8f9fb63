"""What a running program finds around it: streams, `show`, `input` and `sleep` of ours.

The interpreter's own are kept from the beginning and put back after every run.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import sys
import time
from collections.abc import Iterator
from typing import SupportsIndex

from tensorweb.show import Hook, set_show_hook

from .program import Wait
from .streams import Output, Stream, fast_stream


class Host:
    """Replaces a few names of the interpreter while a program runs."""

    def __init__(self, wait: Wait | None) -> None:
        self._wait = wait
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
        builtins.input = refuse_input
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

    def _sleep_until_stopped(self, seconds: float | SupportsIndex, /) -> None:
        """Stand in for `time.sleep`: Stop ends it."""
        assert self._wait is not None, "internal: only where Python can block"
        self._wait(asyncio.sleep(float(seconds)))


def refuse_input(prompt: object = "", /) -> str:
    """Stand in for `input`: nobody can type here while a program runs."""
    raise RuntimeError(
        "input() cannot wait for typing here; assign the value in the program instead."
    )


def flush_streams() -> None:
    """Pass on what streams have gathered, whatever the program made of them."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
