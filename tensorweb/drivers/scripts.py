"""Loads JavaScript files of this package into the page, for the browsers' drivers.

A page whose policy forbids eval has loaded them itself, from `tensorweb-drivers.js`,
which `tools/driver_scripts.py` makes; elsewhere their text is evaluated here. `js` and
`pyodide` are imported when a device is opened: a memory snapshot of Python cannot hold
a JavaScript object.
"""

from __future__ import annotations

import pkgutil
import zlib
from typing import Any

from tensorweb.errors import DeviceError

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
