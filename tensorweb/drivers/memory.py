"""How much memory of a device may be taken: limits of one buffer, a budget for all.

Drivers and the pool of buffers ask here; nothing here touches a GPU.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from tensorweb.drivers import messages
from tensorweb.errors import DeviceError, DeviceMemoryError

VARIABLE = "TENSORWEB_MEMORY_BUDGET"
"""Names the variable that sets the budget, in bytes."""

BUDGETS = {"GPU": 8 << 30, "software": 4 << 30}
"""Bytes of live buffers by kind of adapter. Browsers report no end of memory: sixty
buffers of 256 MiB ended Chromium's GPU process without an error (SwiftShader, November
2026)."""

WASM_CAPACITY = (4 << 30) - (64 << 20)
"""Bytes that a WebAssembly memory may have: its addresses have 32 bits."""

LIMITS = ("maxBufferSize", "maxStorageBufferBindingSize")
"""What WebGPU calls the limits of one buffer that kernels bind."""


def memory_budget(is_software: bool) -> int:
    """Return how many bytes of buffers may live on a device at once.

    Raises:
        DeviceError: the variable holds no number of bytes.

    >>> memory_budget(is_software=True)
    4294967296
    """
    said = os.environ.get(VARIABLE)
    if said is None:
        return BUDGETS["software" if is_software else "GPU"]
    if not said.strip().isdecimal():
        raise DeviceError(
            f"{VARIABLE}={said!r} is no number of bytes; write {4 << 30} for 4 GiB, or "
            "leave it out."
        )
    return int(said)


def largest_buffer(limits: Mapping[str, int]) -> int:
    """Return the bytes of the largest buffer that a kernel can bind.

    >>> largest_buffer({"maxBufferSize": 1024, "maxStorageBufferBindingSize": 512})
    512
    """
    return min(limits[name] for name in LIMITS)


def require_bindable(size: int, limits: Mapping[str, int], device: str = "") -> None:
    """Raise `DeviceMemoryError` for a buffer that no kernel of a device can bind."""
    largest = largest_buffer(limits)
    if size > largest:
        raise DeviceMemoryError(
            messages.limit_message("a buffer", size, largest, device)
        )
