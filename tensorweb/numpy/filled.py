"""Make arrays that have one value everywhere, or values that nothing is said of."""

from __future__ import annotations

import builtins

from tensorweb import functions as tw
from tensorweb.functions.creation import Lengths
from tensorweb.numpy.arguments import as_operand_like, check_order, check_unused
from tensorweb.numpy.creation import asarray
from tensorweb.shapes import as_shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

__all__ = [
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


def zeros(
    shape: Lengths,
    dtype: DTypeLike = None,
    order: str = "C",
    *,
    device: str | None = None,
    like: ArrayLike = None,
) -> Tensor:
    """Return an array of zeros, float32 unless said otherwise; it takes no storage.

    >>> np.zeros((2, 2), int)
    tensor([[0, 0],
            [0, 0]])
    """
    check_order("zeros", order)
    check_unused("zeros", like=like)
    return tw.zeros(shape, dtype, device=device)


def ones(
    shape: Lengths,
    dtype: DTypeLike = None,
    order: str = "C",
    *,
    device: str | None = None,
    like: ArrayLike = None,
) -> Tensor:
    """Return an array of ones, float32 unless said otherwise; it takes no storage.

    >>> np.ones(3, dtype=bool)
    tensor([ True,  True,  True])
    """
    check_order("ones", order)
    check_unused("ones", like=like)
    return tw.ones(shape, dtype, device=device)


def empty(
    shape: Lengths,
    dtype: DTypeLike = None,
    order: str = "C",
    *,
    device: str | None = None,
    like: ArrayLike = None,
) -> Tensor:
    """Return an array of values that nothing is said of; they are zeros here.

    >>> np.empty((2, 3)).shape
    (2, 3)
    """
    check_order("empty", order)
    check_unused("empty", like=like)
    return tw.empty(shape, dtype, device=device)


def full(
    shape: Lengths,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "C",
    *,
    device: str | None = None,
    like: ArrayLike = None,
) -> Tensor:
    """Return an array of one value, which broadcasts to the shape.

    >>> np.full((2, 2), [1, 2])
    tensor([[1, 2],
            [1, 2]])
    """
    check_order("full", order)
    check_unused("full", like=like)
    value = tw.asarray(fill_value, dtype, device=device)
    if value.ndim:
        return value.broadcast_to(as_shape(shape))
    return tw.full(shape, fill_value, dtype, device=device)


def zeros_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: builtins.bool = True,
    shape: Lengths | None = None,
    *,
    device: str | None = None,
) -> Tensor:
    """Return zeros with the dtype and shape of an array, unless they are given.

    >>> np.zeros_like([1, 2])
    tensor([0, 0])
    """
    return full_like(a, 0, dtype, order, subok, shape, device=device)


def ones_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: builtins.bool = True,
    shape: Lengths | None = None,
    *,
    device: str | None = None,
) -> Tensor:
    """Return ones with the dtype and shape of an array, unless they are given.

    >>> np.ones_like([1, 2], float)
    tensor([1., 1.])
    """
    return full_like(a, 1, dtype, order, subok, shape, device=device)


def empty_like(
    prototype: ArrayLike,
    /,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: builtins.bool = True,
    shape: Lengths | None = None,
    *,
    device: str | None = None,
) -> Tensor:
    """Return zeros with the dtype and shape of an array, unless they are given.

    >>> np.empty_like([[1, 2]]).shape
    (1, 2)
    """
    return full_like(prototype, 0, dtype, order, subok, shape, device=device)


def full_like(
    a: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: builtins.bool = True,
    shape: Lengths | None = None,
    *,
    device: str | None = None,
) -> Tensor:
    """Return one value everywhere, with the dtype and shape of an array.

    As in NumPy the dtype is that of `a`, so that floats lose their fractions in an
    array of integers.

    >>> np.full_like([1, 2], 2.5), np.full_like([1, 2], 2.5, float)
    (tensor([2, 2]), tensor([2.5, 2.5]))
    """
    check_order("full_like", order)
    like = asarray(a)
    lengths = like.shape if shape is None else as_shape(shape)
    wanted = like.dtype if dtype is None else dtype
    target = like.device if device is None else device
    value = as_operand_like(fill_value, like).astype(wanted)
    return tw.asarray(value.broadcast_to(lengths), device=target)
