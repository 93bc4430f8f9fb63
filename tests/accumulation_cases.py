"""What tests of accumulation share: numbers, positions, NumPy's answer, kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.events import record_kernels

Array = np.ndarray[Any, Any]

RULES: dict[str, Callable[..., None]] = {
    "add": np.add.at,
    "subtract": np.subtract.at,
    "multiply": np.multiply.at,
    "min": np.minimum.at,
    "max": np.maximum.at,
}


def small(shape: tuple[int, ...], dtype: str, name: str = "add") -> Array:
    """Return numbers whose sums and products stay exact in every dtype."""
    random = np.random.default_rng(sum(shape))
    if dtype == "bool":
        return np.asarray(random.random(shape) < 0.5)
    if name == "multiply":
        signs = [1] if dtype.startswith("uint") else [1, -1]
        return np.asarray(random.choice(signs, shape), dtype)
    return np.asarray(random.integers(0, 4, shape), dtype)


def positions(count: int, length: int) -> Array:
    """Return indices below a length, some negative, many of them several times."""
    random = np.random.default_rng(count + length)
    return np.asarray(random.integers(-length, length, count), np.int32)


def changed(host: Array, key: Any, name: str, values: Array) -> Array:
    """Return what NumPy's unbuffered operation makes of a copy."""
    result = host.copy()
    RULES[name](result, key, values)
    return result


def kinds(x: tw.Tensor) -> list[str]:
    """Return the templates of what computing a tensor ran."""
    with record_kernels() as records:
        tw.realize(x)
    return [record.kind for record in records]


def backend() -> WebGpuBackend:
    """Return the open GPU."""
    found = devices.backend("webgpu")
    assert isinstance(found, WebGpuBackend)
    return found


def ready(host: Array) -> tw.Tensor:
    """Return a tensor on the device."""
    return tw.realize(tw.asarray(host))


def ready_positions(count: int, length: int) -> tw.Tensor:
    """Return indices on the device, none of them negative, their range known."""
    x = ready(np.abs(positions(count, length - 1)))
    tw.zeros(length)[x]
    return x
