"""What programs change in the interpreter that later programs share, and the page too.

Kept from before the first program. What the page itself needs comes back after every
run; what one cell may hand on to the next one stays until a whole program begins.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
import types
import warnings
from collections.abc import Iterable, Mapping

import tensorweb as tw
from tensorweb.devices import is_browser
from tensorweb.tensor import number_text, printing

from . import sources

OURS: tuple[types.ModuleType | type, ...] = (tw, *tw.Tensor.__mro__[:-1])
"""Whose names a program may have given to something else."""

PRINTING = (printing, number_text)
"""Where `numpy.set_printoptions` keeps what it is told."""

DRAWING = "tensorweb.numpy.random"
"""The module that hides a key, where a program has imported it."""

MISSING = object()


class Interpreter:
    """The interpreter as it was when this was made."""

    def __init__(self) -> None:
        self._names = [(holder, dict(vars(holder))) for holder in OURS]
        self._printing = [(holder, dict(vars(holder))) for holder in PRINTING]
        self._depth = sys.getrecursionlimit()
        self._trace, self._profile = sys.gettrace(), sys.getprofile()
        self._folder = os.getcwd()
        self._path = [*sys.path]
        self._finders = [*sys.meta_path]
        self._filters = [*warnings.filters]
        self._interrupt = signal.getsignal(signal.SIGINT)

    def restore(self) -> None:
        """Put back what the page needs, and what makes every later program fail."""
        if sys.gettrace() is not self._trace:
            sys.settrace(self._trace)
        if sys.getprofile() is not self._profile:
            sys.setprofile(self._profile)
        if sys.getrecursionlimit() != self._depth:
            sys.setrecursionlimit(self._depth)
        gc.enable()
        rename(self._names)
        for name in vars(tw.Tensor).keys() - self._names[1][1].keys():
            # A method of a base that was given to something else in the class itself.
            if hasattr(super(tw.Tensor, tw.Tensor), name):
                delattr(tw.Tensor, name)

    def begin(self) -> None:
        """Let a whole program begin as the first one did; end tasks of those before."""
        end_tasks()
        rename(self._printing)
        drawing = sys.modules.get(DRAWING)
        if drawing is not None:
            # Its key was a program's choice, or went with a device that was lost.
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
            # Resetting tells Python that its filters changed; a list says it to nobody.
            warnings.resetwarnings()
            warnings.filters[:] = self._filters  # type: ignore[index]  # a list, in fact
        if signal.getsignal(signal.SIGINT) is not self._interrupt:
            signal.signal(signal.SIGINT, self._interrupt)


def rename(holders: Iterable[tuple[object, Mapping[str, object]]]) -> None:
    """Give the names of modules and classes to what they were given to before."""
    for holder, kept in holders:
        now = vars(holder)
        for name, value in kept.items():
            if now.get(name, MISSING) is not value:
                setattr(holder, name, value)


def end_tasks() -> None:
    """Cancel what programs left running, which would speak into the next one's text."""
    if not is_browser():
        return
    for task in asyncio.all_tasks(asyncio.get_event_loop()):
        code = getattr(task.get_coro(), "cr_code", None)
        if code is not None and sources.is_program(code.co_filename):
            task.cancel()
