"""Functions of tensors whose gradients JAX, PyTorch and we find: one table for all.

Each row is a function of `xp`, a namespace with the names of the Array API, and of `x`,
and gives a tensor; its sum is differentiated. At ties and edges only where both agree.
`tests/references/record_gradients.py` records what the others find.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Case(NamedTuple):
    """A function and where it is differentiated.

    Attributes:
        function: of `xp` and `x`.
        at: the numbers of x, whose shape is (2, 3).
    """

    function: Callable[[Any, Any], Any]
    at: str = "plain"


SHAPE = (2, 3)


NUMBERS: dict[str, list[float]] = {
    "plain": [0.5, -1.25, 2.0, -0.75, 1.5, 0.25],
    "positive": [0.5, 1.25, 2.0, 0.75, 1.5, 0.25],
    "inner": [0.5, -0.25, 0.75, -0.625, 0.125, -0.875],
    "two zeros": [0.5, 0.0, 2.0, 0.0, 0.0, 0.25],
    "ties": [1.0, 0.5, 1.0, 0.5, 1.0, 1.0],
    "one zero": [0.5, 0.0, 2.0, -0.75, 1.5, 0.25],
}

CASES: dict[str, Case] = {
    "polynomial": Case(lambda xp, x: 3 * x**4 - 2 * x**2 + x / 5),
    "exponentials": Case(lambda xp, x: xp.exp(-x) * xp.exp2(x) + xp.expm1(x * x)),
    "logarithms": Case(
        lambda xp, x: xp.log(x) * xp.log2(x) + xp.log1p(x) + xp.log10(x), "positive"
    ),
    "roots": Case(lambda xp, x: xp.sqrt(x) / (1 + xp.sqrt(x + 1)), "positive"),
    "circle": Case(lambda xp, x: xp.sin(x) * xp.cos(2 * x) + xp.tan(x / 3)),
    "inverse circle": Case(
        lambda xp, x: xp.asin(x) * xp.acos(x) + xp.atan(3 * x), "inner"
    ),
    "hyperbola": Case(lambda xp, x: xp.sinh(x) * xp.tanh(x) - xp.cosh(x / 2)),
    "inverse hyperbola": Case(
        lambda xp, x: xp.asinh(x) + xp.atanh(x / 3) * xp.acosh(x + 3)
    ),
    "angles": Case(lambda xp, x: xp.atan2(x, 1 + x * x) * xp.hypot(x, xp.exp(x))),
    "powers": Case(lambda xp, x: (x * x + 1) ** (x / 2) + xp.pow(x * x + 1, -x)),
    "quotients": Case(lambda xp, x: (x + 1) / (x * x + 2) - 1 / (3 + x)),
    "remainder": Case(lambda xp, x: xp.remainder(x * 3, 1.75) * x),
    "sigmoid": Case(lambda xp, x: x / (1 + xp.exp(-x)) + 1 / (1 + xp.exp(2 * x))),
    "softplus": Case(lambda xp, x: xp.logaddexp(x, 0 * x) * xp.logaddexp(x, 2 * x)),
    "where": Case(lambda xp, x: xp.where(x > 0, x * x, xp.sin(x))),
    "maximum of equals": Case(lambda xp, x: xp.maximum(x, 0 * x + 0.5) * x, "ties"),
    "minimum of equals": Case(lambda xp, x: xp.minimum(x, 0 * x + 1.0) * x, "ties"),
    "largest, shared": Case(
        lambda xp, x: xp.max(x, axis=1) * xp.sum(x, axis=1), "ties"
    ),
    "smallest": Case(lambda xp, x: xp.min(x, axis=0) ** 2),
    "sums": Case(lambda xp, x: xp.sum(x, axis=0) ** 3 + xp.sum(x * x)),
    "means": Case(lambda xp, x: (x - xp.mean(x, axis=1, keepdims=True)) ** 4),
    "variance": Case(lambda xp, x: xp.exp(xp.var(x, axis=1)) * xp.std(x)),
    "products": Case(lambda xp, x: xp.prod(x, axis=1) * xp.prod(x)),
    "products with a zero": Case(
        lambda xp, x: xp.prod(x, axis=1) + xp.prod(x) * 3, "one zero"
    ),
    "running sums": Case(lambda xp, x: xp.cumulative_sum(x, axis=1) ** 2),
    "running products": Case(lambda xp, x: xp.cumulative_prod(x, axis=1) ** 2),
    "running product with a zero": Case(
        lambda xp, x: xp.cumulative_prod(x, axis=1), "one zero"
    ),
    "running products with zeros": Case(
        lambda xp, x: (
            xp.cumulative_prod(x, axis=1) ** 2 + xp.cumulative_prod(x, axis=0)
        ),
        "two zeros",
    ),
    "softmax": Case(
        lambda xp, x: (
            xp.exp(x - xp.max(x, axis=1, keepdims=True))
            / xp.sum(
                xp.exp(x - xp.max(x, axis=1, keepdims=True)), axis=1, keepdims=True
            )
            * xp.tanh(x)
        )
    ),
    "norm": Case(lambda xp, x: x / xp.sqrt(xp.sum(x * x, axis=1, keepdims=True))),
    "matrix products": Case(lambda xp, x: (x @ x.T) @ xp.exp(x)),
    "a matrix and a vector": Case(
        lambda xp, x: xp.tanh(x @ x[0]) * xp.sum(x[1] * x[0])
    ),
    "batches of products": Case(
        lambda xp, x: (
            xp.reshape(x, (3, 1, 2))
            @ (xp.reshape(x, (3, 2, 1)) * xp.reshape(x, (1, 6))[:, None, :])
        )
    ),
    "outer": Case(lambda xp, x: xp.sin(x[0][:, None] * x[1][None, :])),
    "slices": Case(lambda xp, x: x[:, 1:] * x[:, :-1] + x[:, :2] ** 3),
    "flipped and rolled": Case(
        lambda xp, x: xp.flip(x, axis=1) * x + xp.roll(x, 1, axis=1) ** 2
    ),
    "joined": Case(lambda xp, x: xp.concat([x * x, xp.sin(x)], axis=0)[1:3] * x),
    "stacked": Case(
        lambda xp, x: xp.prod(xp.stack([x, x * 2, xp.cos(x)], axis=0), axis=0)
    ),
    "moved axes": Case(
        lambda xp, x: xp.permute_dims(x, (1, 0)) * xp.reshape(x * x, (3, 2))
    ),
    "broadcast": Case(lambda xp, x: xp.broadcast_to(x[0] * x[1], (4, 3)) * xp.sum(x)),
    "taken twice": Case(
        lambda xp, x: xp.take(x, xp.asarray([2, 0, 2, 1]), axis=1) ** 2
    ),
    "sorted": Case(lambda xp, x: xp.sort(x, axis=1) * xp.exp(x)),
    "triangle": Case(lambda xp, x: xp.tril(x @ x.T) ** 2),
    "clipped": Case(lambda xp, x: xp.clip(x, -1.0, 1.0) * x),
    "constants of steps": Case(
        lambda xp, x: xp.floor(x) * x + xp.sign(x) * x + xp.round(x) * x
    ),
}
"""What JAX and PyTorch disagree on, docs/guide/derivative_rules.md tells."""

WEIGHTS = [1.0, -2.0, 0.5, 3.0, -1.0, 0.25]
"""Second derivatives are those of the gradient's sum with these weights."""
