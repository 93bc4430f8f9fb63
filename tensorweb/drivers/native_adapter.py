"""Finds a GPU adapter through wgpu-py and reads its limits.

Called by `tensorweb.drivers.native`; `wgpu` is imported when a device is asked for. Set
`TENSORWEB_ADAPTER` to a part of an adapter's name (`llvmpipe`, `NVIDIA`) to choose one.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from tensorweb.errors import DeviceError

Wgpu = Any
"""An object of wgpu-py, which ships no type information."""

ADAPTER_VARIABLE = "TENSORWEB_ADAPTER"

FEATURES = {
    "shader-f16": "shader-f16",
    "timestamp-query": "timestamp-query",
    "subgroups": "subgroups",
    "subgroup": "subgroups",
}
"""Features enabled when present: wgpu-native's name to WebGPU's own."""


def request_device() -> tuple[Wgpu, Wgpu, Wgpu]:
    """Return the wgpu module, an adapter and its device with maximal limits.

    Raises `DeviceError` when wgpu-py is not installed or there is no adapter.
    """
    try:
        wgpu = importlib.import_module("wgpu")
        importlib.import_module("wgpu.backends.wgpu_native")
    except ImportError as error:
        raise DeviceError(
            "webgpu: the package wgpu is not installed; install it with "
            '`pip install "tensorweb[native]"`, or compute on device="cpu".'
        ) from error
    except Exception as error:
        raise DeviceError(
            f"webgpu: the package wgpu cannot be loaded here ({error}); "
            'compute on device="cpu".'
        ) from error
    adapter = _choose_adapter(wgpu, os.environ.get(ADAPTER_VARIABLE, ""))
    wanted = [name for name in FEATURES if name in adapter.features]
    try:
        # Without required_limits wgpu-py asks for the adapter's own maxima.
        device = adapter.request_device_sync(required_features=wanted)
    except Exception as error:
        raise DeviceError(
            f"webgpu: the adapter {adapter.summary} gives no device ({error})."
        ) from error
    return wgpu, adapter, device


def _choose_adapter(wgpu: Wgpu, wanted: str) -> Wgpu:
    if wanted:
        adapters = list(wgpu.gpu.enumerate_adapters_sync())
        for adapter in adapters:
            if wanted.lower() in adapter.summary.lower():
                return adapter
        names = "; ".join(adapter.summary for adapter in adapters) or "none"
        raise DeviceError(
            f"webgpu: no adapter's name contains {ADAPTER_VARIABLE}={wanted!r}; "
            f"adapters here: {names}."
        )
    try:
        adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    except Exception as error:
        raise _no_adapter() from error
    if adapter is None:
        raise _no_adapter()
    return adapter


def _no_adapter() -> DeviceError:
    return DeviceError(
        "webgpu: no GPU adapter on this machine; install a Vulkan driver (on Debian "
        "`apt install mesa-vulkan-drivers` also computes without a GPU), or compute "
        'on device="cpu".'
    )


def webgpu_limits(limits: Mapping[str, int]) -> dict[str, int]:
    """Return limits by WebGPU's own names: `max-buffer-size` → `maxBufferSize`."""
    named = {}
    for name, value in limits.items():
        first, *rest = name.split("-")
        capitals = [part.upper() if part[0].isdigit() else part for part in rest]
        camel = first + "".join(part[0].upper() + part[1:] for part in capitals)
        named[camel] = int(value)
    return named
