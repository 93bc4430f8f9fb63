"""The cpu device: opens the NumPy backend, or the kernel backend on WebAssembly."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

from tensorweb.devices import fastest, is_browser
from tensorweb.errors import DeviceError
from tensorweb.waits import Steps

if TYPE_CHECKING:
    from tensorweb.backends.numpy_backend import CpuBackend
    from tensorweb.backends.wasm import WasmBackend

VARIABLE = "TENSORWEB_CPU"
"""Name of the environment variable that chooses the engine; tests set it."""

ENGINES = ("numpy", "wasm")


def open_backend(name: str) -> Steps[CpuBackend | WasmBackend]:
    """Return the backend of the chosen engine, NumPy or WebAssembly, without waiting.

    Raises:
        DeviceError: the engine is not available; the message says how to install it.
    """
    yield from ()
    return open_wasm() if chosen_engine() == "wasm" else open_numpy()


def chosen_engine() -> str:
    """Return the name of the engine: WebAssembly in a browser, NumPy elsewhere.

    The environment variable `TENSORWEB_CPU` overrides this choice.

    Raises:
        DeviceError: there is no such engine.

    >>> chosen_engine() in ENGINES
    True
    """
    engine = os.environ.get(VARIABLE, "wasm" if is_browser() else "numpy")
    if engine not in ENGINES:
        raise DeviceError(
            f"{VARIABLE}={engine!r} names nothing that computes on device 'cpu'; it is "
            f"one of {', '.join(ENGINES)}, or leave it out."
        )
    return engine


def open_wasm() -> WasmBackend:
    """Return the backend that computes with WebAssembly.

    Raises:
        DeviceError: there is no engine for it; says how to get one.
    """
    name = "wasm_browser" if is_browser() else "wasm_native"
    driver = importlib.import_module(f"tensorweb.drivers.{name}")
    module = importlib.import_module("tensorweb.backends.wasm")
    backend: WasmBackend = module.WasmBackend(getattr(driver, f"open_{name}")())
    return backend


def open_numpy() -> CpuBackend:
    """Return the backend that computes with NumPy.

    Raises:
        DeviceError: NumPy is not installed; says how to get it.
    """
    try:
        importlib.import_module("numpy")
    except ImportError as error:
        raise DeviceError(
            f"device 'cpu' computes with NumPy, which is not here ({error}); run `pip "
            f"install numpy`. Device {fastest()!r} needs no NumPy."
        ) from error
    module = importlib.import_module("tensorweb.backends.numpy_backend")
    backend: CpuBackend = module.CpuBackend()
    return backend
