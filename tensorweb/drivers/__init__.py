"""Opens the GPU driver that fits the host: the browser's WebGPU or wgpu-py."""

from __future__ import annotations

import sys

from tensorweb.drivers.protocol import Driver, ModuleDriver, ShaderDriver
from tensorweb.waits import Steps

__all__ = ["Driver", "ModuleDriver", "ShaderDriver", "open_driver"]


def open_driver() -> Steps[ShaderDriver]:
    """Open the host's GPU device.

    Raises `DeviceError` when there is no adapter; `run_blocking` raises `BlockingError`
    in a browser where Python cannot wait.
    """
    if sys.platform == "emscripten":
        from tensorweb.drivers.browser import open_browser

        return (yield from open_browser())
    from tensorweb.drivers.native import open_native

    yield from ()
    return open_native()
