"""NumPy where it is installed; what needs it says so where it is not."""

from __future__ import annotations

import sys
from typing import Any

from tensorweb.devices import is_browser
from tensorweb.errors import MissingPackageError


def numpy_at_hand() -> Any:
    """Return NumPy's module; None where having it would load it into a page."""
    if is_browser():
        return sys.modules.get("numpy")
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def require_numpy(who: str, instead: str) -> Any:
    """Return the module.

    Args:
        who: asks for it, as the message begins.
        instead: what can be done without it.

    Raises:
        MissingPackageError: it is not installed; says how to get it.
    """
    try:
        import numpy
    except ImportError as error:
        how = (
            'run `import micropip; await micropip.install("numpy")` once, then again'
            if is_browser()
            else "run `pip install numpy`"
        )
        raise MissingPackageError(
            f"{who}: this needs NumPy, which is not installed; {how}, or {instead}."
        ) from error
    return numpy
