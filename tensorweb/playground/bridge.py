"""The entry point for JavaScript: requests and responses as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from typing import TypeVar

from tensorweb.drivers.waiting import blocking_error, can_wait, wait

from . import files
from .host import ReadLine
from .session import Session, handlers

T = TypeVar("T")

FIGURES = "module://tensorweb.playground.figures"
"""The name of our matplotlib backend."""

_session: Session | None = None


def connect(
    send: Callable[..., object],
    load: Callable[[str], Awaitable[object]] | None = None,
    packages: str = "[]",
    compiled: str = "{}",
    blocking: bool = True,
    next_line: Callable[[], Awaitable[str]] | None = None,
    read_line: ReadLine | None = None,
) -> None:
    """Start a session whose programs send their output to `send(kind, json, *bytes)`.

    `load` fetches a package that the site carries; `packages` lists their import names
    in JSON, `compiled` the packages that a builder could add. With `blocking` false
    every request must use `respond_async`.

    `next_line` awaits the next line that the reader types; `read_line` blocks until it
    is typed, None where that is not possible.
    """
    global _session
    random.seed()
    os.environ.setdefault("MPLBACKEND", FIGURES)

    def emit(kind: str, fields: Mapping[str, object]) -> None:
        packed: list[object] = []  # bytes; the JSON has null for them
        send(kind, json.dumps(fields, default=packed.append), *packed)

    def line() -> Awaitable[str]:
        if next_line is None or not can_wait():
            raise blocking_error("input")
        return next_line()

    _session = Session(emit, _wait if blocking else None, blocking, line, read_line)
    files.carry(json.loads(packages), json.loads(compiled))
    if load is not None and blocking:
        sys.meta_path.append(PackageFinder(load, files.site))


def _wait(awaitable: Awaitable[object]) -> object:
    """Block until an awaitable is done; Stop raises KeyboardInterrupt here."""
    outcome: list[object] = []
    failure: list[BaseException] = []

    async def settle() -> None:
        # Passing a failure through JavaScript would lose parts of its traceback.
        try:
            outcome.append(await awaitable)
        except BaseException as error:
            failure.append(error)

    task = asyncio.ensure_future(settle())
    try:
        wait(task, "await")
    except BaseException:
        task.cancel()
        raise
    if failure:
        raise failure[0]
    return outcome[0]


class PackageFinder(MetaPathFinder):
    """Loads a package of the site when a program first imports it."""

    def __init__(
        self, load: Callable[[str], Awaitable[object]], names: frozenset[str]
    ) -> None:
        self._load = load
        self._names = names

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Fetch the package and find its spec; None if the site has no such package."""
        if fullname not in self._names:
            return None
        self._names -= {fullname}
        _wait(self._load(fullname))
        return PathFinder.find_spec(fullname)


Response = str | tuple[str, object]
"""A record in JSON, and the bytes for which the JSON has null."""


def respond(name: str, details: str) -> Response:
    """Return the response to a request, where Python can block."""
    return drive(respond_async(name, details))


async def respond_async(name: str, details: str) -> Response:
    """Return the response to one request; `details` and the result are JSON objects.

    Bytes of a result are returned as a second value.
    """
    if _session is None:
        raise RuntimeError("internal: connect() comes before the first request")
    handler = handlers(_session).get(name)
    if handler is None:
        raise LookupError(f"internal: unknown request {name!r}")
    result = handler(**json.loads(details))
    assert isinstance(result, Coroutine), "internal: every handler is a coroutine"
    packed: list[object] = []
    found = json.dumps(await result, allow_nan=False, default=packed.append)
    return (found, packed[0]) if packed else found


def drive(work: Coroutine[object, None, T]) -> T:
    """Run a coroutine that never suspends and return its result."""
    try:
        work.send(None)
    except StopIteration as finished:
        result: T = finished.value
        return result
    work.close()
    raise RuntimeError("internal: a blocking response tried to wait")
