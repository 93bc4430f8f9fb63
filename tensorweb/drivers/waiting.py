"""Suspend Python until a JavaScript promise settles; no other module suspends it.

Suspending needs stack switching (JSPI) and an entry into Python that allows it;
`can_wait` returns whether both are available.

An interrupt that lands while Python is suspended would be raised inside the event loop
and the promise would never settle (pyodide issues 2141, 6082). A page with a Stop
button therefore provides one object, and every wait goes through it:

    globalThis.tensorwebInterrupt = {
        off()          // detach the interrupt buffer: py.setInterruptBuffer(undefined)
        on()           // set the buffer to 0 and attach it again; return whether it
                       // held 2, that is, whether Stop was pressed meanwhile
        race(promise)  // return a promise that settles like `promise`, or at once when
                       // Stop is pressed
    }

On Stop the page writes 2 into the buffer and settles the current race. `wait` then
raises KeyboardInterrupt. Without the object a wait cannot be interrupted.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from tensorweb.errors import BlockingError
from tensorweb.waits import Wait

JsPromise = Any
"""A promise of the page; Pyodide's own types exist inside Pyodide only."""


def can_wait() -> bool:
    """Return whether `wait` works at this point of the program."""
    from pyodide.ffi import can_run_sync

    return bool(can_run_sync())


READING = "`await x.tolist_async()`, `await x.item_async()`, `await x.numpy_async()`"
OPENING = "`await tw.open_device_async()`, once before the first tensor"
COMPILING = "`await tw.warm_up_async()`"
"""The awaitable twins of calls, for people."""


def blocking_error(call: str, twin: str = READING) -> BlockingError:
    """Return the error for a `call` that would have to wait where Python cannot."""
    return BlockingError(
        f"{call}: Python cannot wait for the GPU at this point. This code was entered "
        "without stack switching: from a JavaScript callback (timer, event listener), "
        "by runPython, or in a browser without it (Safari before 27, Firefox before "
        f"153). Await the twin of the call instead: {twin}."
    )


def wait(promise: JsPromise, call: str = "read", twin: str = READING) -> Any:
    """Return the promise's value, suspending Python until it is there.

    Raises `BlockingError` naming `call` and its twin where Python cannot suspend and
    `KeyboardInterrupt` when the user pressed Stop meanwhile; what the promise rejects
    with is raised as it is.
    """
    import js
    from pyodide.ffi import can_run_sync, run_sync

    if not can_run_sync():
        raise blocking_error(call, twin)
    value: Any = None
    error: Exception | None = None

    async def settle() -> None:
        # An error that goes through a task of Pyodide to JavaScript is printed as one
        # that nobody handles, and loses its message: so none does.
        nonlocal value, error
        try:
            value = await promise
        except Exception as found:
            error = found

    guard = getattr(js, "tensorwebInterrupt", None)
    if guard is None:
        run_sync(settle())
    else:
        try:
            guard.off()
            run_sync(guard.race(settle()))
        except BaseException:
            if guard.on():
                raise KeyboardInterrupt from None
            raise
        if guard.on():
            raise KeyboardInterrupt
    if error is not None:
        raise error
    return value


def wait_for(promise: JsPromise, call: str = "read", twin: str = READING) -> Wait:
    """Return the step of a body that waits for a promise, blocking by `wait`."""
    return Wait(partial(wait, promise, call, twin), promise)
