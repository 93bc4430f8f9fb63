"""Load JavaScript of this package, and suspend Python until a promise settles.

No other module suspends Python. Suspending needs stack switching (JSPI) and an entry
into Python that allows it; `can_wait` returns whether both are available.

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

import pkgutil
import zlib
from functools import partial
from typing import Any

from tensorweb.errors import BlockingError, DeviceError
from tensorweb.waits import Wait

JsObject = Any
"""A JavaScript object; Pyodide's own types exist inside Pyodide only."""

FILE = "tensorweb-drivers.js"
"""What such a page loads before it opens a device: it sets `tensorwebScripts`, an
object from each script's name to its value, with `checksums` by the same names."""


def script_text(name: str) -> str:
    """Return the text of a file of this folder."""
    return _script_bytes(name).decode()


def join_scripts(device: str, connector: str, *parts: str) -> JsObject:
    """Call the function of a connecting script with the values of other scripts.

    Args:
        device: the device that the scripts open, for the message.
        connector: the file of the connecting script.
        parts: the files of the other scripts.

    Raises:
        DeviceError: the page's policy forbids eval, and the page has not loaded these
            scripts or has those of another version.
    """
    connect = _script_value(device, connector)
    return connect(*(_script_value(device, part) for part in parts))


def _script_value(device: str, name: str) -> JsObject:
    """Return the page's own value of a script, else evaluate its text."""
    import js
    from pyodide.code import run_js
    from pyodide.ffi import JsException

    scripts = getattr(js, "tensorwebScripts", None)
    checksums = getattr(scripts, "checksums", None)
    text = _script_bytes(name)
    if getattr(checksums, name, None) == zlib.crc32(text):
        return getattr(scripts, name)
    try:
        return run_js(text.decode())
    except JsException as error:
        if error.name != "EvalError":
            raise
    raise DeviceError(_forbidden_message(device, is_other=scripts is not None))


def _forbidden_message(device: str, *, is_other: bool) -> str:
    found = f"{FILE} of another version is loaded" if is_other else "nothing is loaded"
    return (
        f"{device}: this page's Content-Security-Policy has no 'unsafe-eval', and "
        f"{found} for it; where Python runs, load the {FILE} that was built with this "
        "wheel (it is in dist/) before the first tensor: <script "
        f'src="{FILE}"></script> in a window, import "./{FILE}" in a module worker.'
    )


def _script_bytes(name: str) -> bytes:
    data = pkgutil.get_data(__package__, name)
    assert data is not None, f"internal: {name} is not in the package"
    return data


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
