"""Opens the GPU driver that fits the host: the browser's WebGPU or wgpu-py."""

from __future__ import annotations

import sys

from tensorweb.drivers.protocol import Driver, ModuleDriver, ShaderDriver

__all__ = ["Driver", "ModuleDriver", "ShaderDriver", "open_driver", "open_driver_async"]


def open_driver() -> ShaderDriver:
    """Open the host's GPU device, waiting for it.

    Raises `DeviceError` when there is no adapter and `BlockingError` in a browser where
    Python cannot wait; `open_driver_async` works there.
    """
    if sys.platform == "emscripten":
        from tensorweb.drivers.browser import open_browser

        return open_browser()
    from tensorweb.drivers.native import open_native

    return open_native()


async def open_driver_async() -> ShaderDriver:
    """Open the host's GPU device by awaiting; raises `DeviceError` without adapter."""
    if sys.platform == "emscripten":
        from tensorweb.drivers.browser import open_browser_async

        return await open_browser_async()
    from tensorweb.drivers.native import open_native

    return open_native()
