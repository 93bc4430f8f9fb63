"""The cpu device: opens the NumPy backend, and says what to do without NumPy."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tensorweb.devices import fastest, is_browser
from tensorweb.errors import DeviceError

if TYPE_CHECKING:
    from tensorweb.backends.numpy_backend import CpuBackend


def open_backend() -> CpuBackend:
    """Return the backend that computes with NumPy.

    Raises:
        DeviceError: NumPy is not installed or not loaded; says how to get it.
    """
    try:
        importlib.import_module("numpy")
    except ImportError as error:
        advice = (
            'run `import micropip; await micropip.install("numpy")` once, then again'
            if is_browser()
            else "run `pip install numpy`"
        )
        raise DeviceError(
            f"device 'cpu' computes with NumPy, which is not here ({error}); {advice}. "
            f"Device {fastest()!r} needs no NumPy."
        ) from error
    module = importlib.import_module("tensorweb.backends.numpy_backend")
    backend: CpuBackend = module.CpuBackend()
    return backend


async def open_backend_async() -> CpuBackend:
    """Do the same by awaiting; nothing here waits."""
    return open_backend()
