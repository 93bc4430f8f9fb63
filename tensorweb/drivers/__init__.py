"""Opens the GPU driver that fits the host: the browser's WebGPU or wgpu-py."""

from __future__ import annotations

import sys

from tensorweb.drivers.protocol import Driver, ModuleDriver, ShaderDriver
from tensorweb.errors import DeviceError
from tensorweb.waits import Steps

__all__ = ["Driver", "ModuleDriver", "ShaderDriver", "open_driver"]


def open_driver(number: int = 0) -> Steps[ShaderDriver]:
    """Open the host's GPU device, the fastest one or another one by its number.

    Raises `DeviceError` when there is no such adapter; `run_blocking` raises
    `BlockingError` in a browser where Python cannot wait.
    """
    if sys.platform == "emscripten":
        from tensorweb.drivers.browser import open_browser

        if number:
            raise DeviceError(
                f"webgpu:{number}: a browser offers one adapter, device 'webgpu'."
            )
        return (yield from open_browser())
    from tensorweb.drivers.native import open_native

    yield from ()
    return open_native(number)
