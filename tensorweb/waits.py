"""One body for a blocking call and its awaiting twin.

The body is a generator: it yields a `Wait` where it must wait, and the runner sends the
value of its promise, or throws its error. `run_blocking` runs a body where Python can
block, `run_async` where it has to await.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")


class Wait(NamedTuple):
    """A promise and two ways to wait for it.

    Attributes:
        block: waits for the promise and returns its value.
        promise: what a coroutine awaits instead.
    """

    block: Callable[[], Any]
    promise: Awaitable[Any]


Steps: TypeAlias = Generator[Wait, Any, T]
"""A body that returns a T."""


def run_blocking(steps: Steps[T]) -> T:
    """Return the result of a body, blocking at each wait.

    >>> def seven():
    ...     return 1 + (yield Wait(lambda: 6, None))
    >>> run_blocking(seven())
    7
    """
    try:
        wait = next(steps)
        while True:
            try:
                value = wait.block()
            except BaseException as error:
                wait = steps.throw(error)
            else:
                wait = steps.send(value)
    except StopIteration as finished:
        result: T = finished.value
        return result


async def run_async(steps: Steps[T]) -> T:
    """Return the result of a body, awaiting each promise."""
    try:
        wait = next(steps)
        while True:
            try:
                value = await wait.promise
            except BaseException as error:
                wait = steps.throw(error)
            else:
                wait = steps.send(value)
    except StopIteration as finished:
        result: T = finished.value
        return result
