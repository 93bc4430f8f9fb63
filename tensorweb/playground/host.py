"""The environment of a running program: streams, `show`, `input`, interpreter state.

All is saved before the first program. What the page needs is restored after every run;
what one cell may pass to the next is restored before a new program.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import gc
import io
import os
import signal
import sys
import time
import types
import warnings
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import SupportsIndex

import tensorweb as tw
from tensorweb.devices import is_browser
from tensorweb.errors import BlockingError
from tensorweb.show import Hook, set_show_hook
from tensorweb.tensor import printing

from . import policy, sources
from .program import Wait
from .records import Prompt
from .streams import Emit, Output, Stream, clip_line, fast_stream

NextLine = Callable[[], Awaitable[str]]
"""Awaits a line; raises BlockingError where Python cannot wait."""

ReadLine = Callable[[], str | None]
"""Blocks the thread until a line is typed; returns None after Stop."""

NO_TYPING = (
    "input() cannot wait for typing here; assign the value in the program instead."
)
NO_WAITING = (
    "input() cannot wait for typing in this browser. Use one that can suspend Python "
    "(Chrome or Edge 137, Firefox 153, Safari 27, or newer), open the site from a host "
    "that isolates it, or assign the value in the program."
)

NO_END = (
    "sys.stdin.read() waits for the end of what is typed, and a page knows none; "
    "take lines by input() or sys.stdin.readline()."
)


class Host:
    """Replaces some functions of the interpreter while a program runs."""

    def __init__(
        self,
        wait: Wait | None,
        emit: Emit,
        next_line: NextLine | None,
        read_line: ReadLine | None = None,
    ) -> None:
        self._wait = wait
        self._emit = emit
        self._next_line = next_line
        self._read_line = read_line
        self._streams = (sys.stdout, sys.stderr)
        self._input = builtins.input
        self._sleep = time.sleep
        self._stdin = sys.stdin
        self._interpreter = Interpreter()
        self._hook: Hook | None = None
        self._collections = count(1)

    def begin(self) -> None:
        """Reset the interpreter's state before a program that is not a cell."""
        self._interpreter.begin()

    def collect(self, keep: bool) -> None:
        """Free what earlier programs left in cycles; with `keep` their names remain.

        Plans of the library are 500,000 objects after thirty programs, which a look at
        all takes 0.6 s for: most runs look at what is new since the last one.
        """
        if not keep and next(self._collections) % policy.COLLECTIONS == 0:
            gc.unfreeze()
        gc.collect()
        if not keep:
            gc.freeze()

    @contextlib.contextmanager
    def around(self, output: Output, show: Hook) -> Iterator[None]:
        """Redirect a program's text to `output` and its displays to `show`."""
        # Retained here: Python 3.11's print only borrows the stream that it writes to.
        streams = (Stream(output, "stdout"), Stream(output, "stderr"))
        output.on_overflow = lambda: self._hurry(output)
        self._hook = set_show_hook(show)
        builtins.input = lambda prompt="", /: self._ask(output, prompt)
        if self._wait is not None:
            time.sleep = self._sleep_until_stopped
        sys.stdout, sys.stderr = streams
        sys.stdin = TypedLines(lambda: self._ask(output, ""))
        try:
            yield
        finally:
            output.on_overflow = lambda: None
            self.restore()

    def restore(self) -> None:
        """Restore the state from before the first run."""
        flush_streams()
        self._interpreter.restore()
        sys.stdout, sys.stderr = self._streams
        sys.stdin = self._stdin
        builtins.input = self._input
        time.sleep = self._sleep
        set_show_hook(self._hook)

    def _hurry(self, output: Output) -> None:
        """Switch to streams that buffer their text in C."""
        sys.stdout = fast_stream(output, "stdout")
        sys.stderr = fast_stream(output, "stderr")

    def _ask(self, output: Output, prompt: object) -> str:
        """Implement `input`: the reader types the line in a field of the page."""
        text = str(prompt)
        flush_streams()
        output.flush()
        asked: Prompt = {"text": clip_line(text, policy.LONGEST_PROMPT)}
        typed = self._typed(asked)
        output.write(f"{text}{typed}\n", "stdout")
        return typed

    def _typed(self, asked: Prompt) -> str:
        """Request a line and wait for it, in whichever way this browser can."""
        if self._read_line is not None:
            self._emit("prompt", asked)
            read = self._read_line()
            if read is None:
                raise KeyboardInterrupt
            return str(read)
        if self._wait is None or self._next_line is None:
            raise RuntimeError(NO_WAITING)
        try:
            line = self._next_line()
        except BlockingError:
            raise RuntimeError(NO_TYPING) from None
        self._emit("prompt", asked)
        return str(self._wait(line))

    def _sleep_until_stopped(self, seconds: float | SupportsIndex, /) -> None:
        """Implement `time.sleep` so that Stop ends it."""
        assert self._wait is not None, "internal: only where Python can block"
        self._wait(asyncio.sleep(float(seconds)))


class TypedLines(io.TextIOBase):
    """Implements `sys.stdin`: each line is requested as `input` does."""

    def __init__(self, ask: Callable[[], str]) -> None:
        """Read lines from a function."""
        self._ask = ask

    def readable(self) -> bool:
        """Return True: lines can be read."""
        return True

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]  # text
        """Return the next typed line, with its newline."""
        return f"{self._ask()}\n"

    def read(self, size: int | None = -1, /) -> str:
        """Raise: typed input has no end."""
        raise io.UnsupportedOperation(NO_END)

    def readlines(self, hint: int | None = -1, /) -> list[str]:  # type: ignore[override]  # text
        """Raise: typed input has no end."""
        raise io.UnsupportedOperation(NO_END)


def flush_streams() -> None:
    """Flush both streams; ignore failures of streams that the program replaced."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


OURS: tuple[types.ModuleType | type, ...] = (tw, *tw.Tensor.__mro__[:-1])
"""Modules and classes whose attributes a program may have reassigned."""

for name in tw._NAMES_LATER:
    getattr(tw, name)  # Only what is there can be restored.

DRAWING = "tensorweb.numpy.random"
"""The module with a global random key, if a program has imported it."""

MISSING = object()


class Interpreter:
    """The interpreter's state at construction."""

    def __init__(self) -> None:
        self._names = [(holder, dict(vars(holder))) for holder in OURS]
        self._printing = [(printing, dict(vars(printing)))]  # `numpy.set_printoptions`
        self._depth = sys.getrecursionlimit()
        self._trace, self._profile = sys.gettrace(), sys.getprofile()
        self._folder = os.getcwd()
        self._path = [*sys.path]
        self._finders = [*sys.meta_path]
        self._filters = [*warnings.filters]
        self._interrupt = signal.getsignal(signal.SIGINT)

    def restore(self) -> None:
        """Restore the state that the page and every later program need."""
        if sys.gettrace() is not self._trace:
            sys.settrace(self._trace)
        if sys.getprofile() is not self._profile:
            sys.setprofile(self._profile)
        if sys.getrecursionlimit() != self._depth:
            sys.setrecursionlimit(self._depth)
        gc.enable()
        rename(self._names)
        for name in vars(tw.Tensor).keys() - self._names[1][1].keys():
            # An override of an inherited method, which the program assigned.
            if hasattr(super(tw.Tensor, tw.Tensor), name):
                delattr(tw.Tensor, name)

    def begin(self) -> None:
        """Restore the state for a new program; cancel tasks of earlier ones."""
        end_tasks()
        tw.debug_nans(False)
        rename(self._printing)
        drawing = sys.modules.get(DRAWING)
        if drawing is not None:
            # Its key was set by a program, or was lost with its device.
            drawing._state.seed()
        with contextlib.suppress(FileNotFoundError):
            os.chdir(self._folder)
        # A package that a program installed stays, so do the folders it came from.
        sys.path[:] = [*self._path, *(p for p in sys.path if p not in self._path)]
        sys.meta_path[:] = [
            *self._finders,
            *(finder for finder in sys.meta_path if finder not in self._finders),
        ]
        if [*warnings.filters] != self._filters:
            # Only resetting invalidates Python's cache of filters.
            warnings.resetwarnings()
            warnings.filters[:] = self._filters  # type: ignore[index]  # a list, in fact
        if signal.getsignal(signal.SIGINT) is not self._interrupt:
            signal.signal(signal.SIGINT, self._interrupt)


def rename(holders: Iterable[tuple[object, Mapping[str, object]]]) -> None:
    """Restore the attributes of modules and classes."""
    for holder, kept in holders:
        now = vars(holder)
        for name, value in kept.items():
            if now.get(name, MISSING) is not value:
                setattr(holder, name, value)


def end_tasks() -> None:
    """Cancel tasks of earlier programs, which would write into the next output."""
    if not is_browser():
        return
    for task in asyncio.all_tasks(asyncio.get_event_loop()):
        code = getattr(task.get_coro(), "cr_code", None)
        if code is not None and sources.is_program(code.co_filename):
            task.cancel()
