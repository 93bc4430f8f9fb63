"""Brings JavaScript files of this package into the page, as browsers' drivers need it.

`pyodide` is imported when a device is opened: a memory snapshot of Python cannot hold
a JavaScript object.
"""

from __future__ import annotations

import pkgutil
from typing import Any

JsObject = Any
"""A JavaScript object; Pyodide's own types exist inside Pyodide only."""


def script_text(name: str) -> str:
    """Return the text of a file of this folder."""
    text = pkgutil.get_data(__package__, name)
    assert text is not None, f"internal: {name} is not in the package"
    return text.decode()


def join_scripts(connector: str, *parts: str) -> JsObject:
    """Evaluate files and return what the first one's function makes of the others."""
    from pyodide.code import run_js

    connect = run_js(script_text(connector))
    return connect(*(run_js(script_text(part)) for part in parts))
