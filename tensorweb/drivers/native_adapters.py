"""Chooses an adapter of wgpu-py and opens it; keeps small texts between runs.

A program that has a device of wgpu-py already can share it instead.

The folder is `tensorweb` in `$XDG_CACHE_HOME` (else `~/.cache`), on macOS in
`~/Library/Caches`, on Windows in `%LOCALAPPDATA%`. `TENSORWEB_CACHE` names another
folder; empty or `off` keeps nothing.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from tensorweb.drivers import policy
from tensorweb.errors import DeviceError

VARIABLE = "TENSORWEB_CACHE"


def folder() -> Path | None:
    """Return the cache folder, or None if caching is off."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return None if named.lower() in ("", "off") else Path(named)
    try:
        return _users_cache() / "tensorweb"
    except RuntimeError:  # nobody's home
        return None


def _users_cache() -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "")
    if Path(given).is_absolute():  # the specification ignores relative paths
        return Path(given)
    local = os.environ.get("LOCALAPPDATA")
    if sys.platform == "win32" and local:
        return Path(local)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path.home() / ".cache"


def path_of(key: str) -> Path | None:
    """Return the file of a key."""
    found = folder()
    if found is None:
        return None
    words = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")[:80]
    return found / f"{words}-{sha256(key.encode()).hexdigest()[:8]}.json"


def kept(key: str) -> str | None:
    """Return the text stored under a key, or None."""
    path = path_of(key)
    if path is None:
        return None
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return None


def keep(key: str, text: str | None) -> bool:
    """Store a text under a key, or remove it if None; return whether that worked."""
    path = path_of(key)
    if path is None:
        return False
    try:
        if text is None:
            path.unlink(missing_ok=True)
            return True
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(text, "utf-8")
        draft.replace(path)
    except OSError:
        return False
    return True


Wgpu = Any
"""An object of wgpu-py, which ships no type information."""

FEATURES = {
    "shader-f16": "shader-f16",
    "timestamp-query": "timestamp-query",
    "subgroups": "subgroups",
    "subgroup": "subgroups",
}
"""Features enabled when present: wgpu-native's name to WebGPU's own."""


def wgpu_module() -> Wgpu:
    """Return the package wgpu; raise `DeviceError` where it cannot be loaded."""
    try:
        wgpu = importlib.import_module("wgpu")
        importlib.import_module("wgpu.backends.wgpu_native")
        return wgpu
    except ImportError as error:
        raise DeviceError(
            "webgpu: the package wgpu is not installed; install it with "
            '`pip install "tensorweb[gpu]"`, or compute on device="cpu".'
        ) from error
    except Exception as error:
        raise DeviceError(
            f"webgpu: the package wgpu cannot be loaded here ({error}); "
            'compute on device="cpu".'
        ) from error


def request_device(number: int = 0) -> tuple[Wgpu, Wgpu, Wgpu]:
    """Return the wgpu module, an adapter and its device with maximal limits.

    Raises `DeviceError` when wgpu-py is not installed or there is no such adapter.
    """
    wgpu = wgpu_module()
    if number == 0 and _shared_devices:
        device = _shared_devices.pop()  # once: after a loss it would be lost again
        return wgpu, device.adapter, device
    adapter = _choose_adapter(wgpu, os.environ.get(policy.ADAPTER_VARIABLE, ""), number)
    features = [name for name in FEATURES if name in adapter.features]
    try:
        # Without required_limits wgpu-py asks for the adapter's own maxima.
        device = adapter.request_device_sync(required_features=features)
    except Exception as error:
        raise DeviceError(
            f"webgpu: the adapter {adapter.summary} gives no device ({error})."
        ) from error
    return wgpu, adapter, device


_shared_devices: list[Wgpu] = []
"""The device of another library that `webgpu` opens next, at most one."""


def share_device(device: Wgpu) -> None:
    """Let the next `open_native` use a device of another library."""
    _shared_devices[:] = [device]


RANKS = {"DiscreteGPU": 0, "IntegratedGPU": 1, "CPU": 3}
"""Types of adapters, the fastest first; a virtual or unknown one has 2."""


def adapters(wgpu: Wgpu, name: str = "") -> list[Wgpu]:
    """Return the machine's adapters in the order of their numbers, fastest types first.

    A GPU that several APIs offer is listed once, by the API of the first adapter.

    Args:
        wgpu: the package.
        name: part of the first adapter's name, if the user has chosen one.

    Raises:
        DeviceError: no adapter has this name.
    """
    found = list(wgpu.gpu.enumerate_adapters_sync())
    found.sort(key=lambda adapter: RANKS.get(adapter.info["adapter_type"], 2))
    first = [each for each in found if name.lower() in each.summary.lower()][:1]
    if name and not first:
        names = "; ".join(adapter.summary for adapter in found) or "none"
        raise DeviceError(
            f"webgpu: no adapter's name contains {policy.ADAPTER_VARIABLE}={name!r}; "
            f"adapters here: {names}."
        )
    others = [
        adapter
        for adapter in found
        if adapter not in first
        and adapter.info["backend_type"] == first[0].info["backend_type"]
    ]
    return [*first, *others]


def _choose_adapter(wgpu: Wgpu, name: str, number: int) -> Wgpu:
    try:
        found = adapters(wgpu, name)
    except DeviceError:
        raise
    except Exception as error:
        raise _no_adapter() from error
    if not found:
        raise _no_adapter()
    if number >= len(found):
        names = "; ".join(
            f"webgpu:{each} is {adapter.summary}" for each, adapter in enumerate(found)
        )
        raise DeviceError(
            f"webgpu:{number}: this machine has {len(found)} adapters; {names}."
        )
    return found[number]


def _no_adapter() -> DeviceError:
    return DeviceError(
        "webgpu: no GPU adapter on this machine; install a Vulkan driver (on Debian "
        "`apt install mesa-vulkan-drivers` also computes without a GPU), or compute "
        'on device="cpu".'
    )
