"""Memory limits of a device: the largest buffer, and a budget for all buffers.

Used by drivers and the buffer pool; nothing here touches a GPU. A budget starts from
the limits that the adapter reports, and the pool adjusts it as allocations succeed or
fail. Browsers seldom report out of memory: sixty buffers of 256 MiB ended Chromium's
GPU process without an error (SwiftShader, November 2026).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tensorweb.drivers import messages, policy
from tensorweb.errors import DeviceError, DeviceMemoryError

VARIABLE = "TENSORWEB_MEMORY_BUDGET"
"""Names the variable that sets the budget, in bytes."""

CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""File in which Linux reports the memory limit of a container."""

LIMITS = ("maxBufferSize", "maxStorageBufferBindingSize")
"""What WebGPU calls the limits of one buffer that kernels bind."""


_lost_with: dict[str, int] = {}
"""Bytes that were allocated when a device was lost, by its name."""


def said_budget() -> int | None:
    """Return the budget that the variable sets, None without it.

    Raises:
        DeviceError: the variable holds no number of bytes.
    """
    said = os.environ.get(VARIABLE)
    if said is None:
        return None
    if not said.strip().isdecimal():
        raise DeviceError(
            f"{VARIABLE}={said!r} is no number of bytes; write {4 << 30} for 4 GiB, or "
            "leave it out."
        )
    return int(said)


def memory_budget(
    limits: Mapping[str, int],
    *,
    is_software: bool,
    shared: int | None,
    device: str = "",
) -> int:
    """Return the initial budget: how many bytes of buffers a device may hold.

    Args:
        limits: the device's, by WebGPU's names.
        is_software: whether it computes on the CPU.
        shared: bytes of the host's memory, if the device has none of its own; 0 where
            nobody knows them.
        device: its name; after a loss its next budget is smaller.

    Raises:
        DeviceError: the variable holds no number of bytes.

    >>> limits = {"maxBufferSize": 2 << 30}
    >>> memory_budget(limits, is_software=False, shared=None) >> 30
    8
    >>> memory_budget(limits, is_software=True, shared=6 << 30) >> 30
    3
    """
    said = said_budget()
    if said is not None:
        return said
    budget = min(policy.BUDGET_BUFFERS * limits[LIMITS[0]], policy.LARGEST_FIRST_BUDGET)
    if is_software or shared is not None:
        unknown = policy.ASSUMED_HOST_MEMORY["software" if is_software else "GPU"]
        host = (shared or unknown) // 2
        budget = host if is_software else min(budget, host)
    if device in _lost_with:
        budget = min(budget, _lost_with[device] // 2)
    return max(budget, policy.SMALLEST_BUDGET)


def remember_loss(device: str, allocated: int, budget: int) -> None:
    """Record how much was allocated when a device was lost.

    Browsers end the process of a GPU that has no memory left. Where more than half of
    the budget was in use, that may be why, and the next device gets half as much.
    """
    if allocated > budget // 2:
        _lost_with[device] = allocated


def host_memory() -> int:
    """Return the bytes of memory that this process may use, 0 if unknown.

    >>> host_memory() > 0
    True
    """
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return 0
    try:
        limit = CONTAINER_LIMIT.read_text("ascii").strip()
    except OSError:
        return found
    return min(found, int(limit)) if limit.isdecimal() else found


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
