"""Interpreter state that programs share with the page and with later programs.

It is saved before the first program. State that the page needs is restored after every
run; state that one cell may pass to the next is restored before a new program.
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
"""Modules and classes whose attributes a program may have reassigned."""

PRINTING = (printing, number_text)
"""The modules that hold the state of `numpy.set_printoptions`."""

DRAWING = "tensorweb.numpy.random"
"""The module with a global random key, if a program has imported it."""

MISSING = object()


class Interpreter:
    """The interpreter's state at construction."""

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
