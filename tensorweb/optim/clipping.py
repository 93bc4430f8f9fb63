"""Gradient clipping by the global norm, and element by element."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import reduce
from typing import Any

from tensorweb import tree
from tensorweb.errors import DataError, TransformError
from tensorweb.functions import clip, minimum, sqrt
from tensorweb.graph.autograd import grad_disabled
from tensorweb.optim.options import is_finite, positive
from tensorweb.optim.state import flat_layouts
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.transforms.inputs import is_float

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
    return _clipped_and_norm("clip_by_global_norm: limit", grads, limit)[0]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0
) -> Tensor:
    """Scale the gradients of parameters in place, as `torch.nn.utils` does.

    Args:
        parameters: tensors whose `grad` is scaled; those without one are ignored.
        max_norm: the largest norm, a finite number above 0.
        norm_type: 2, as everywhere; other norms are errors.

    Returns:
        The norm before, a 0-d tensor.

    Raises:
        DataError: the limit is not above 0 or not finite, or the norm is another one.
        TransformError: there is no gradient.

    >>> w = tw.zeros(2).requires_grad_()
    >>> (w * tw.asarray([30.0, 40.0])).sum().backward()
    >>> tw.optim.clip_grad_norm_([w], max_norm=1.0)
    tensor(50.)
    >>> [round(number, 3) for number in w.grad.tolist()]
    [0.6, 0.8]
    """
    if norm_type != 2:
        raise DataError(
            f"clip_grad_norm_: norm_type is {norm_type}; leave it out for 2, or limit "
            "each number by clip_grad_value_ of tw.nn.utils."
        )
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    with grad_disabled():
        grads, norm = _clipped_and_norm(
            "clip_grad_norm_: max_norm", [tensor.grad for tensor in tensors], max_norm
        )
    for tensor, grad in zip(tensors, grads, strict=True):
        tensor.grad = grad
    return norm


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Clip the elements of gradients in place, as `torch.nn.utils` does.

    Args:
        parameters: tensors whose `grad` is clipped; those without one are ignored.
        clip_value: the largest magnitude, a number from 0 on.

    Raises:
        DataError: the limit is negative or not finite.

    >>> w = tw.zeros(2).requires_grad_()
    >>> (w * tw.asarray([30.0, -0.5])).sum().backward()
    >>> tw.optim.clip_grad_value_([w], clip_value=1.0)
    >>> w.grad
    tensor([ 1. , -0.5])
    """
    limit = positive("clip_grad_value_", "clip_value", clip_value)
    tensors = [parameters] if isinstance(parameters, Tensor) else parameters
    with grad_disabled():
        for tensor in tensors:
            if tensor.grad is not None:
                tensor.grad = clip(tensor.grad, -limit, limit)


def _clipped_and_norm(what: str, grads: Any, limit: float) -> tuple[Any, Tensor]:
    """Return clipped gradients, and their norm before clipping as a 0-d tensor."""
    if not is_finite(limit) or limit <= 0:
        raise DataError(f"{what}={limit!r} is no finite number above 0.")
    leaves, structure = tree.flatten(grads)
    flowing = [n for n, leaf in enumerate(leaves) if is_float(leaf)]
    if not flowing:
        raise TransformError(
            f"{what.partition(':')[0]}: there is no gradient; call loss.backward() "
            "before, or give what tw.grad returns."
        )
    layouts = flat_layouts([str(n) for n in flowing], [leaves[n] for n in flowing])
    flat = [
        layout.join([leaves[flowing[n]] for n in indices])
        for layout, indices in layouts
    ]
    norm = sqrt(reduce(operator.add, map(_sum_of_squares, flat)))
    factor = minimum(limit / (norm + TINY), 1.0)
    for joined, (layout, indices) in zip(flat, layouts, strict=True):
        scaled = (joined * factor).astype(joined.dtype)
        for index, part in zip(indices, layout.parts(scaled), strict=True):
            leaves[flowing[index]] = part
    return tree.unflatten(structure, leaves), norm


def _sum_of_squares(x: Tensor) -> Tensor:
    wide = x.astype(x.dtype.wide)
    return (wide * wide.conj()).real.sum()


declare_public(__name__)
