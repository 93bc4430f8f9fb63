"""Derivatives of functions as people write them, as lists: the same on every host.

Runs natively and inside Pyodide, without NumPy. Each case is a function of what
`CASES` gives it, and how its derivative is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorweb as tw


def mlp(p: dict[str, Any], x: Any) -> Any:
    """Return the loss of two layers on rows of `x`."""
    hidden = tw.tanh(x @ p["w"] + p["b"])
    return ((hidden @ p["v"] - 0.5) ** 2).mean()


def cross_entropy(scores: Any) -> Any:
    """Return the mean surprise of the first classes."""
    labels = tw.arange(scores.shape[0]) % scores.shape[1]
    shifted = scores - scores.max(axis=1, keepdims=True)
    total = tw.log(tw.exp(shifted).sum(axis=1))
    rows = tw.arange(scores.shape[0])
    return (total - shifted[rows, labels]).mean()


def attention(x: Any) -> Any:
    """Return what rows read from each other."""
    scores = x @ x.T / 2.0
    weights = tw.exp(scores - scores.max(axis=1, keepdims=True))
    return ((weights / weights.sum(axis=1, keepdims=True)) @ x).sum()


def guarded(x: Any) -> Any:
    """Return roots where there are some."""
    return tw.where(x > 0, tw.sqrt(x), 0.0).sum()


def smoothed(x: Any) -> Any:
    """Return squares of a moving mean."""
    return ((x[2:] + x[1:-1] + x[:-2]) ** 2).sum() + tw.cumulative_sum(x)[-1]


def written(x: Any) -> Any:
    """Return a sum of what stands after an assignment."""
    y = x * 2
    y[1:3] = x[:2] ** 2
    return (y * tw.sort(x)).sum()


def waves(count: int, *shape: int) -> Any:
    """Return numbers between -1 and 1."""
    return tw.sin(tw.arange(count, dtype=tw.float32) * 1.7 + 0.3).reshape(shape)


CASES: dict[str, Callable[[], Any]] = {
    "mlp": lambda: tw.tree.leaves(
        tw.grad(mlp)(
            {"w": waves(12, 3, 4), "b": waves(4, 4), "v": waves(4, 4)}, waves(15, 5, 3)
        )
    ),
    "cross entropy": lambda: [tw.grad(cross_entropy)(waves(20, 5, 4))],
    "attention": lambda: [tw.grad(attention)(waves(12, 4, 3))],
    "guarded": lambda: [tw.grad(guarded)(waves(6, 6))],
    "smoothed": lambda: [tw.grad(smoothed)(waves(9, 9))],
    "written": lambda: [tw.grad(written)(waves(5, 5))],
    "third": lambda: [tw.grad(tw.grad(tw.grad(tw.tanh)))(0.7)],
    "hessian": lambda: [tw.hessian(lambda x: (x**3).sum() * x[0])(waves(4, 4))],
    "per example": lambda: [
        tw.vmap(tw.grad(lambda x: tw.exp(x).prod()))(waves(12, 4, 3))
    ],
    "jvp": lambda: list(tw.jvp(attention, (waves(6, 2, 3),), (waves(6, 2, 3) + 1,))),
    "recorded": lambda: [tw.jit(tw.grad(cross_entropy))(waves(6, 3, 2))],
}


SHORT = ("mlp", "guarded", "third")
"""Cases with few kernels."""


def answers(names: Iterable[str] = CASES) -> dict[str, list[float]]:
    """Return the numbers of cases, one after the other."""
    found = {}
    for name in names:
        case = CASES[name]
        flat = [tw.reshape(leaf, (-1,)) for leaf in case()]
        found[name] = [float(number) for part in flat for number in part.tolist()]
    return found
