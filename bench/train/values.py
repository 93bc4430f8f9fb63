"""The numbers of `js/train/values.mjs` in NumPy, for PyTorch and native tensorweb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.train.models import Shape, Size, Start, data, parameters

if TYPE_CHECKING:
    import numpy as np

FIRST_SEED = 3
"""Of the first parameter; 1 and 2 are the inputs' and the labels'."""


def _bits(seed: int, count: int) -> Any:
    import numpy as np

    word = np.uint32
    x = np.arange(count, dtype=word) + word(seed * 0x9E3779B1 & 0xFFFFFFFF)
    x = (x ^ (x >> word(16))) * word(0x85EBCA6B)
    x = (x ^ (x >> word(13))) * word(0xC2B2AE35)
    return (x ^ (x >> word(16))) >> word(8)


def numbers(seed: int, shape: Shape, limit: float) -> np.ndarray:
    """Return float32 numbers evenly from -limit to limit."""
    import numpy as np

    unit = _bits(seed, int(np.prod(shape))) * 2.0**-24
    found: np.ndarray = ((2 * unit - 1) * limit).astype(np.float32).reshape(shape)
    return found


def kinds(seed: int, shape: Shape, count: int) -> np.ndarray:
    """Return int32 numbers from 0 to count - 1."""
    import numpy as np

    found = _bits(seed, int(np.prod(shape))) % np.uint32(count)
    whole: np.ndarray = found.astype(np.int32).reshape(shape)
    return whole


def begin(start: Start, seed: int) -> np.ndarray:
    """Return what a parameter begins with."""
    import numpy as np

    if start.limit:
        return numbers(seed, start.shape, start.limit)
    return np.full(start.shape, start.constant, np.float32)


def values_of(network: str, size: Size) -> tuple[dict[str, Any], Any, Any]:
    """Return a network's parameters by name, its inputs and its labels."""
    rows = parameters(network, size).items()
    found = {
        name: begin(start, seed) for seed, (name, start) in enumerate(rows, FIRST_SEED)
    }
    inputs, letters, labels, classes = data(network, size)
    x = kinds(1, inputs, letters) if letters else numbers(1, inputs, 1)
    return found, x, kinds(2, labels, classes)
