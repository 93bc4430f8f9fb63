"""Decodes pictures by the browser, which knows every format that it shows."""

from __future__ import annotations

from tensorweb.drivers.scripts import JsObject, join_scripts
from tensorweb.drivers.waiting import can_wait, wait_for
from tensorweb.errors import DataError
from tensorweb.waits import Steps

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


def decode(name: str, data: bytes, kind: str) -> Steps[Pixels]:
    """Return the pixels of a file.

    Raises:
        BlockingError: Python cannot wait for the browser here.
        DataError: the browser cannot decode it.
    """
    from pyodide.ffi import JsException

    try:
        found = yield wait_for(_begin(data, kind), f"load of {name!r}", TWIN)
    except JsException as error:
        raise DataError(
            f"load: {name!r} begins like a {kind} file, and the browser cannot decode "
            f"it ({error}); it may be cut or damaged."
        ) from None
    return int(found.width), int(found.height), found.data.to_bytes()


def _begin(data: bytes, kind: str) -> JsObject:
    from pyodide.ffi import create_proxy

    proxy = create_proxy(data)
    try:
        # The file is copied before the call returns.
        return join_scripts("load", SCRIPT)(proxy, f"image/{kind}")
    finally:
        proxy.destroy()
