"""Gradient clipping by the global norm."""

from __future__ import annotations

from typing import Any

from tensorweb import dtypes, tree
from tensorweb.errors import DataError, TransformError
from tensorweb.functions import minimum, sqrt
from tensorweb.optim.checks import is_finite
from tensorweb.optim.state import LARGE, FlatLayout
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import FLOWING

# Added to the norm, as in PyTorch, so that gradients of 0 stay 0.
TINY = 1e-6


def clip_by_global_norm(grads: Any, limit: float) -> Any:
    """Return gradients scaled by one factor to a global norm of at most `limit`.

    The norm `n` is the root of the sum of the squares of all elements of all gradients;
    the factor is `min(1, limit / (n + 1e-6))`.

    Args:
        grads: a tree of tensors; leaves that are no floating-point tensors are
            unchanged.
        limit: a finite number above 0.

    Raises:
        DataError: the limit is not above 0 or not finite.
        TransformError: there is no gradient in the tree.

    >>> grads = {"w": tw.asarray([3.0, 4.0]), "b": tw.asarray([12.0])}
    >>> clipped = tw.optim.clip_by_global_norm(grads, 6.5)
    >>> [round(number, 3) for number in clipped["w"].tolist()]
    [1.5, 2.0]
    """
    return clipped_and_norm(grads, limit)[0]


def clipped_and_norm(grads: Any, limit: float) -> tuple[Any, Tensor]:
    """Return clipped gradients, and their norm before clipping as a 0-d tensor."""
    if not is_finite(limit) or limit <= 0:
        raise DataError(
            f"clip_by_global_norm: limit={limit!r} is no finite number above 0."
        )
    leaves, structure = tree.flatten(grads)
    groups = _groups(leaves)
    total: Tensor | None = None
    wholes = []
    for layout, chosen in groups:
        whole = layout.join([leaves[n] for n in chosen])
        wide = whole.astype(dtypes.float32) if whole.dtype is dtypes.float16 else whole
        part = (wide * wide.conj()).real.sum()
        total = part if total is None else total + part
        wholes.append(whole)
    if total is None:
        raise TransformError(
            "clip_by_global_norm: there is no gradient; call loss.backward() before, "
            "or give what tw.grad returns."
        )
    norm = sqrt(total)
    factor = minimum(limit / (norm + TINY), 1.0)
    for whole, (layout, chosen) in zip(wholes, groups, strict=True):
        scaled = (whole * factor).astype(whole.dtype)
        for index, part in zip(chosen, layout.parts(scaled), strict=True):
            leaves[index] = part
    return tree.unflatten(structure, leaves), norm


def _groups(leaves: list[Any]) -> list[tuple[FlatLayout, list[int]]]:
    """Return which floating-point tensors to concatenate: small ones of a dtype."""
    together: dict[object, list[int]] = {}
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor) and leaf.dtype.kind in FLOWING:
            key = index if leaf.size >= LARGE else (leaf.dtype, leaf.device)
            together.setdefault(key, []).append(index)
    return [
        (
            FlatLayout([str(n) for n in chosen], [leaves[n].shape for n in chosen]),
            chosen,
        )
        for chosen in together.values()
    ]
