"""What networks compute of rows, as code for both NumPy and us: one kernel each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Formula = Callable[[Any, Any, Any], Any]
"""A function of rows, a label for each row, and the library."""


def softmax(x: Any, xp: Any) -> Any:
    power = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return power / xp.sum(power, axis=-1, keepdims=True)


def logsumexp(x: Any, xp: Any) -> Any:
    largest = xp.max(x, axis=-1, keepdims=True)
    total = xp.sum(xp.exp(x - largest), axis=-1, keepdims=True)
    return (xp.log(total) + largest)[..., 0]


def causal(x: Any, _: Any, xp: Any) -> Any:
    rows, columns = xp.arange(x.shape[-2]), xp.arange(x.shape[-1])
    return softmax(xp.where(rows[:, None] >= columns, x, -xp.inf), xp)


def before_and_behind(x: Any, _: Any, xp: Any) -> Any:
    """A mask counted backwards, and by steps of three."""
    columns = xp.flip(xp.arange(x.shape[-1] * 3)[::3])
    return softmax(xp.where(columns > x.shape[-1], x, -1e9), xp)


def one_hot(x: Any, labels: Any, xp: Any) -> Any:
    """The gradient of cross-entropy."""
    return softmax(x, xp) - (xp.arange(x.shape[-1]) == labels[..., None])


def picked(x: Any, labels: Any, xp: Any) -> Any:
    chosen = xp.take_along_axis(x, labels[..., None], axis=-1)
    return logsumexp(x, xp) - chosen[..., 0]


def rows_of_a_table(x: Any, labels: Any, xp: Any) -> Any:
    table = xp.reshape(x, (-1, x.shape[-1]))
    return softmax(table[labels] + x, xp)


def columns_of_a_table(x: Any, _: Any, xp: Any) -> Any:
    order = (xp.arange(x.shape[-1]) * 3) % x.shape[-1]
    return softmax(xp.take(x, order, axis=-1), xp)


def bordered(x: Any, _: Any, xp: Any) -> Any:
    widths = [(0, 0)] * (len(x.shape) - 1) + [(2, 1)]
    return softmax(xp.pad(x, widths), xp)


def joined(x: Any, _: Any, xp: Any) -> Any:
    return softmax(xp.concat([x, x * 2], axis=-1), xp)


def centred_norm(x: Any, _: Any, xp: Any) -> Any:
    rest = x - xp.mean(x, axis=-1, keepdims=True)
    return xp.sqrt(xp.sum(rest * rest, axis=-1))


def sum_and_largest(x: Any, _: Any, xp: Any) -> Any:
    return xp.sum(x, axis=-1, keepdims=True) * xp.max(x, axis=-1, keepdims=True)


def is_above_mean(x: Any, _: Any, xp: Any) -> Any:
    return xp.max(x, axis=-1) > 2 * xp.mean(xp.abs(x), axis=-1)


def counts(x: Any, _: Any, xp: Any) -> Any:
    whole = xp.round(x * 9).astype(xp.int32)
    return xp.max(whole, axis=-1) - xp.min(whole, axis=-1)


def over_two_axes(x: Any, _: Any, xp: Any) -> Any:
    """As the norm of groups of channels; of two axes only where there are more."""
    axes = (-2, -1) if len(x.shape) > 2 else -1
    rest = x - xp.mean(x, axis=axes, keepdims=True)
    return rest / xp.sqrt(xp.mean(rest * rest, axis=axes, keepdims=True) + 1e-5)


BY_ELEMENT: dict[str, Formula] = {
    each.__name__: each
    for each in (
        causal,
        before_and_behind,
        one_hot,
        rows_of_a_table,
        columns_of_a_table,
        bordered,
        joined,
        over_two_axes,
    )
}
"""Formulas with a result for each element."""

BY_ROW: dict[str, Formula] = {
    "logsumexp": lambda x, _, xp: logsumexp(x, xp),
    "variance": lambda x, _, xp: xp.var(x, axis=-1),
    "deviation": lambda x, _, xp: xp.std(x, axis=-1, keepdims=True),
    "mean and variance": lambda x, _, xp: xp.mean(x, axis=-1) + xp.var(x, axis=-1),
    **{
        each.__name__: each
        for each in (picked, centred_norm, sum_and_largest, is_above_mean, counts)
    },
}
"""Formulas with a result for each row."""

FORMULAS = BY_ELEMENT | BY_ROW

SHAPES = ((33, 64), (3, 9, 37), (17, 1030), (1, 5), (70, 2))
"""Whole vectors and odd rows, several rows to a workgroup, one, fewer than fill it."""


def inputs(shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Return numbers and a label for each row."""
    random = np.random.default_rng(sum(shape))
    numbers = random.uniform(-2, 2, shape).astype(np.float32)
    return numbers, random.integers(0, shape[-1], shape[:-1]).astype(np.int32)


def assert_near(got: Array, want: Any, limit: float = 3e-6) -> None:
    """Compare with NumPy's result in more digits; whole numbers must be equal."""
    want = np.asarray(want)
    assert got.shape == want.shape
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, want)
    elif want.size:
        scale = np.abs(want[np.isfinite(want)]).max(initial=1e-30)
        np.testing.assert_allclose(got, want, rtol=limit, atol=limit * scale)
