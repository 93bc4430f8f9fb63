"""Short checks that several test files share."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import tensorweb as tw
from tensorweb.hostdata import flatten, nested_shape


def floats(data: object) -> tw.Tensor:
    """Return data as a float32 tensor on the default device."""
    return tw.asarray(data, dtype=tw.float32)


def counted(*shape: int) -> tw.Tensor:
    """Return 0, 1, 2, … as a float32 tensor of a shape."""
    return tw.reshape(tw.arange(math.prod(shape), dtype=tw.float32), shape)


def table(function: Callable[..., Any], *shape: int) -> Any:
    """Return nested lists of a shape; each item is a function of its index.

    >>> table(lambda i, j: 10 * i + j, 2, 3)
    [[0, 1, 2], [10, 11, 12]]
    """
    if not shape:
        return function()
    first, *rest = shape
    return [table(partial(function, i), *rest) for i in range(first)]


def assert_equal(x: tw.Tensor, expected: object) -> None:
    """Check shape and values exactly; NaN equals NaN.

    What is expected is a number, nested lists or an array of NumPy.
    """
    got, reference = _both(x, expected)
    for i, (a, b) in enumerate(zip(got, reference, strict=True)):
        assert a == b or (a != a and b != b), f"element {i} of {x.shape}: {a}, not {b}"


def assert_close(x: tw.Tensor, expected: object, rtol: float) -> None:
    """Check the shape, and the values within a relative tolerance."""
    got, reference = _both(x, expected)
    for i, (a, b) in enumerate(zip(got, reference, strict=True)):
        is_close = a == b or abs(a - b) <= rtol * abs(b) or (a != a and b != b)
        assert is_close, f"element {i} of {x.shape}: {a}, not {b}"


def _both(x: tw.Tensor, expected: Any) -> tuple[list[Any], list[Any]]:
    """Return the elements of a tensor and the expected ones, which have its shape."""
    if hasattr(expected, "tolist"):  # also where an axis is empty
        assert x.shape == expected.shape
        return x.ravel().tolist(), expected.ravel().tolist()
    shape = nested_shape(expected)
    assert x.shape == shape
    return x.ravel().tolist(), flatten(expected, shape)[0]


def ramp(*shape: int, dtype: Any = "float32") -> Any:
    """Return NumPy's 0, 1, 2, … in a shape."""
    import numpy as np

    return np.arange(math.prod(shape), dtype=dtype).reshape(shape)
