"""Functions of the C library on float64, as modules import them on the desktop.

They raise nothing: `exp(1000)` is infinite and `log(-1)` NaN, as C says. In the browser
the same functions come from Pyodide's own C library.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache

Function = Callable[..., float]


@cache
def _library() -> ctypes.CDLL:
    """Return the library that has them: on most systems Python's own process."""
    return ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)


@cache
def library_function(name: str, arguments: int) -> Function | None:
    """Return a C library function with this many float64 arguments, or None.

    >>> exp = library_function("exp", 1)
    >>> exp(1000.0), exp(0.0)
    (inf, 1.0)
    """
    function = getattr(_library(), name, None)
    if function is None:
        return None
    function.argtypes = [ctypes.c_double] * arguments
    function.restype = ctypes.c_double
    found: Function = function
    return found
