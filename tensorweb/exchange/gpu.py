"""Computes on the GPU device of another library, so that both share buffers."""

from __future__ import annotations

from typing import Any

from tensorweb.devices import fastest, is_browser, opened
from tensorweb.errors import DataError, DeviceError


def use_device(device: Any) -> None:
    """Use a device of wgpu-py, for example pygfx's, as device `webgpu`.

    Called before the first tensor on `webgpu`; from then on both libraries can use each
    other's buffers without a copy, see `Tensor.gpu_buffer`. The device should have the
    adapter's limits: `adapter.request_device_sync(required_limits=adapter.limits)`.

    If the device is lost, `webgpu` opens one of its own until this is called again.

    Args:
        device: a `wgpu.GPUDevice`; it stays the property of the other library.

    Raises:
        DeviceError: `webgpu` is open already, or this is a browser.
        DataError: it is no device of wgpu-py.

    >>> use_device("a GPU")
    Traceback (most recent call last):
    ...
    tensorweb.errors.DataError: use_device: 'a GPU' is no wgpu.GPUDevice.
    """
    if not (hasattr(device, "queue") and hasattr(device, "adapter")):
        raise DataError(f"use_device: {device!r} is no wgpu.GPUDevice.")
    name = fastest()
    if is_browser():
        raise DeviceError("use_device: a browser's page has its own device.")
    if opened(name) is not None:
        raise DeviceError(
            f"use_device: device {name!r} is open already; call it before the first "
            "tensor of the program."
        )
    from tensorweb.drivers.native_adapters import share_device

    share_device(device)
