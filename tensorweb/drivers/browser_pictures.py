"""Decodes pictures by the browser, which knows every format that it shows."""

from __future__ import annotations

from typing import Any

from tensorweb.drivers.scripts import JsObject, join_scripts
from tensorweb.drivers.waiting import can_wait, wait
from tensorweb.errors import DataError

SCRIPT = "browser_pictures.js"
TWIN = "`await tw.load_async(file)`"

Pixels = tuple[int, int, bytes]
"""Width, height, and red, green, blue and alpha of each pixel."""


def has_decoder() -> bool:
    """Return whether Python runs in a browser that can decode pictures."""
    try:
        import js
    except ImportError:
        return False
    return hasattr(js, "createImageBitmap") and hasattr(js, "OffscreenCanvas")


def can_decode_now() -> bool:
    """Return whether `decode` works at this point of the program."""
    return has_decoder() and can_wait()


def decode(name: str, data: bytes, kind: str) -> Pixels:
    """Return the pixels of a file.

    Raises:
        BlockingError: Python cannot wait for the browser here.
        DataError: the browser cannot decode it.
    """
    from pyodide.ffi import JsException

    try:
        return _pixels(wait(_begin(data, kind), f"load of {name!r}", TWIN))
    except JsException as error:
        raise _undecodable(name, kind, error) from None


async def decode_async(name: str, data: bytes, kind: str) -> Pixels:
    """Await the pixels of a file.

    Raises:
        DataError: the browser cannot decode it.
    """
    from pyodide.ffi import JsException

    try:
        return _pixels(await _begin(data, kind))
    except JsException as error:
        raise _undecodable(name, kind, error) from None


def _begin(data: bytes, kind: str) -> JsObject:
    from pyodide.ffi import create_proxy

    proxy = create_proxy(data)
    try:
        # The file is copied before the call returns.
        return join_scripts("load", SCRIPT)(proxy, f"image/{kind}")
    finally:
        proxy.destroy()


def _pixels(found: Any) -> Pixels:
    return int(found.width), int(found.height), found.data.to_bytes()


def _undecodable(name: str, kind: str, error: Exception) -> DataError:
    return DataError(
        f"load: {name!r} begins like a {kind} file, and the browser cannot decode it "
        f"({error}); it may be cut or damaged."
    )
