"""Short checks that several test files share."""

from __future__ import annotations

from typing import Any

import numpy as np

import tensorweb as tw


def floats(data: object) -> tw.Tensor:
    """Return data as a float32 tensor on the default device."""
    return tw.asarray(data, dtype=tw.float32)


def counted(*shape: int) -> tw.Tensor:
    """Return 0, 1, 2, … as a float32 tensor of a shape."""
    size = int(np.prod(shape))
    return tw.reshape(tw.arange(size, dtype=tw.float32), shape)


def assert_equal(x: tw.Tensor, expected: object) -> None:
    """Check shape and values exactly; NaN equals NaN."""
    wanted = np.asarray(expected)
    assert x.shape == wanted.shape
    np.testing.assert_array_equal(x.numpy(), wanted)


def assert_close(x: tw.Tensor, expected: object, rtol: float) -> None:
    """Check the shape, and the values within a relative tolerance."""
    wanted = np.asarray(expected)
    assert x.shape == wanted.shape
    np.testing.assert_allclose(x.numpy(), wanted, rtol=rtol, atol=0)


def ramp(*shape: int, dtype: Any = np.float32) -> Any:
    """Return NumPy's 0, 1, 2, … in a shape."""
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)
