"""Products of arrays, and convolution, with NumPy's arguments."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.dtypes import as_dtype
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.arguments import (
    Out,
    as_pair,
    as_tensors,
    check_order,
    into,
    subscripts_of,
)
from tensorweb.shapes import is_integer, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.numpy_calls import check_casting

__all__ = [
    "convolve",
    "correlate",
    "cross",
    "dot",
    "einsum",
    "inner",
    "kron",
    "matmul",
    "matvec",
    "outer",
    "tensordot",
    "vdot",
    "vecdot",
    "vecmat",
]


OperandAxes = Sequence[SupportsIndex | Sequence[SupportsIndex]] | None
"""The axes of two operands, and of the result, that a product is made of."""


def dot(a: ArrayLike, b: ArrayLike, out: Out = None) -> Tensor:
    """Return the last axis of `a` multiplied with the last but one of `b`.

    Vectors give their inner product, matrices their matrix product, a number and an
    array the array times the number.

    Raises:
        ShapeError: the contracted axes differ in length.

    >>> np.dot([1, 2, 3], [4, 5, 6]), np.dot(3, [1, 2])
    (tensor(32), tensor([3, 6]))
    """
    x, y = as_pair(a, b)
    if not x.ndim or not y.ndim:
        return into(tw.multiply(x, y), out)
    return into(tw.dot(x, y), out)


def vdot(a: ArrayLike, b: ArrayLike, /) -> Tensor:
    """Return the inner product of all elements, those of `a` conjugated.

    Raises:
        ShapeError: the numbers of elements differ.

    >>> np.vdot([[1, 2], [3, 4]], [[1, 1], [2, 2]])
    tensor(17)
    """
    return tw.vecdot(*(x.ravel() for x in as_tensors((a, b))))


def inner(a: ArrayLike, b: ArrayLike, /) -> Tensor:
    """Return sums of products along the last axes, the other axes following each other.

    Raises:
        ShapeError: the last axes differ in length.

    >>> np.inner([[1, 2], [3, 4]], [10, 1])
    tensor([12, 34])
    """
    x, y = as_pair(a, b)
    if not x.ndim or not y.ndim:
        return tw.multiply(x, y)
    return tw.tensordot(x, y, axes=([-1], [-1]))


def outer(a: ArrayLike, b: ArrayLike, out: Out = None) -> Tensor:
    """Return all products of the elements of two arrays, both flattened.

    >>> np.outer([1, 2], [10, 20, 30])
    tensor([[10, 20, 30],
            [20, 40, 60]])
    """
    x, y = as_pair(a, b)
    return into(tw.outer(x.ravel(), y.ravel()), out)


def matmul(
    x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, axes: OperandAxes = None
) -> Tensor:
    """Return the matrix product, batched: `(..., m, k) @ (..., k, n)` is `(..., m, n)`.

    `axes` says where the axes of each matrix and of the product lie instead.

    Raises:
        ShapeError: inner sizes differ, or an operand is 0-d.
        DataError: `axes` are not as many as matrices have.

    >>> np.matmul([[0, 1], [2, 3]], [6, 7])
    tensor([ 7, 33])
    """
    if axes is None:
        return into(tw.matmul(x1, x2), out)
    a, b = as_pair(x1, x2)
    counts = (min(a.ndim, 2), min(b.ndim, 2), (a.ndim > 1) + (b.ndim > 1))
    return into(_with_axes("matmul", tw.matmul, (a, b), axes, counts), out)


def _with_axes(
    name: str,
    function: Callable[[Tensor, Tensor], Tensor],
    operands: tuple[Tensor, Tensor],
    axes: Sequence[SupportsIndex | Sequence[SupportsIndex]],
    counts: tuple[int, int, int],
) -> Tensor:
    """Return a product of last axes for axes that lie elsewhere, its own as well.

    Raises:
        DataError: their numbers are not `counts`, of the operands and of the result.
    """
    given = [(each,) if is_integer(each) else tuple(each) for each in axes]
    if len(given) == 2 and not counts[2]:
        given.append(())
    if tuple(map(len, given)) != counts:
        raise DataError(
            f"{name}: axes={axes!r}; give lists of {counts[0]} and {counts[1]} axes of "
            f"the operands, and of {counts[2]} of the result."
        )
    moved = [
        x.moveaxis(each, tuple(range(-len(each), 0)))
        for x, each in zip(operands, given, strict=False)
    ]
    found = function(moved[0], moved[1])
    return found.moveaxis(tuple(range(-counts[2], 0)), given[2])


def matvec(
    x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, axes: OperandAxes = None
) -> Tensor:
    """Return matrices times vectors, batched: `(..., m, n)`, `(..., n)` is `(..., m)`.

    >>> np.matvec([[0, 1], [2, 3]], [6, 7])
    tensor([ 7, 33])
    """
    a, b = as_tensors((x1, x2))
    if axes is not None:
        return into(_with_axes("matvec", matvec, (a, b), axes, (2, 1, 1)), out)
    return into(tw.matmul(a, b[..., None])[..., 0], out)


def vecmat(
    x1: ArrayLike, x2: ArrayLike, /, out: Out = None, *, axes: OperandAxes = None
) -> Tensor:
    """Return vectors times matrices, batched: `(..., n)`, `(..., n, m)` is `(..., m)`.

    Of complex vectors the conjugates are taken.

    >>> np.vecmat([6, 7], [[0, 1], [2, 3]])
    tensor([14, 27])
    """
    a, b = as_tensors((x1, x2))
    if axes is not None:
        return into(_with_axes("vecmat", vecmat, (a, b), axes, (1, 2, 1)), out)
    return into(tw.matmul(tw.conj(a)[..., None, :], b)[..., 0, :], out)


def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Out = None,
    *,
    axis: SupportsIndex | None = None,
    axes: OperandAxes = None,
    keepdims: bool = False,
) -> Tensor:
    """Return the sum of products along one axis, the others broadcast.

    It is the last one of each, `axis` of both or `axes` of the two; with `keepdims` it
    stays with length 1.

    Raises:
        ShapeError: the axes differ in length.
        DataError: both `axis` and `axes` are given, or `axes` are not two.

    >>> np.vecdot([[1, 2], [3, 4]], [10, 1])
    tensor([12, 34])
    """
    if axis is not None and axes is not None:
        raise DataError(f"vecdot: axis={axis!r} and axes={axes!r}; give one of them.")
    a, b = as_tensors((x1, x2))
    along = operator.index(-1 if axis is None else axis)
    given = [along, along, *[along] * keepdims] if axes is None else axes
    if keepdims:
        counts = (1, 1, 1)
        found = _with_axes(
            "vecdot",
            lambda x, y: tw.vecdot(x, y)[..., None],
            (a, b),
            given,
            counts,
        )
    else:
        found = _with_axes("vecdot", tw.vecdot, (a, b), given, (1, 1, 0))
    return into(found, out)


def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> Tensor:
    """Return the sum of products over axes, the other axes following each other.

    `axes` is a number (the last ones of `a`, the first ones of `b`) or two lists.

    Raises:
        ShapeError: a pair of axes differs in length.

    >>> np.tensordot([[1, 2], [3, 4]], [[5, 6], [7, 8]], ([1], [1]))
    tensor([[17, 23],
            [39, 53]])
    """
    return tw.tensordot(*as_pair(a, b), axes=axes)


def einsum(
    *operands: Any,
    out: Out = None,
    optimize: object = False,
    dtype: DTypeLike = None,
    order: str = "K",
    casting: str = "safe",
) -> Tensor:
    """Return a sum of products whose axes are named by letters.

    Operands and lists of axes in turn, `einsum(a, [0, 1], b, [1, 2], [0, 2])`, are
    taken as well. Pairs are multiplied from left to right, whatever `optimize` says.

    Raises:
        DTypeError: operands do not become `dtype` by the rule `casting`.
        ShapeError: the subscripts are wrong or do not fit the operands' shapes.

    >>> np.einsum("ij,jk", [[1, 2], [3, 4]], [[5, 6], [7, 8]])
    tensor([[19, 22],
            [43, 50]])
    """
    check_order("einsum", order)
    subscripts, arrays = subscripts_of(operands)
    given = as_tensors(arrays)
    if dtype is not None:
        for each in given:
            check_casting("einsum", each.dtype, as_dtype(dtype), casting)
        given = [each.astype(dtype) for each in given]
    return into(tw.einsum(subscripts, *given), out)


def kron(a: ArrayLike, b: ArrayLike) -> Tensor:
    """Return the Kronecker product: a block `a[i] * b` for each element of `a`.

    >>> np.kron([1, 10], [1, 2])
    tensor([ 1,  2, 10, 20])
    """
    x, y = as_pair(a, b)
    rank = max(x.ndim, y.ndim)
    x = x.reshape((*(1,) * (rank - x.ndim), *x.shape))
    y = y.reshape((*(1,) * (rank - y.ndim), *y.shape))
    wide = x.expand_dims(tuple(range(1, 2 * rank, 2))) if rank else x
    narrow = y.expand_dims(tuple(range(0, 2 * rank, 2))) if rank else y
    shape = tuple(m * n for m, n in zip(x.shape, y.shape, strict=True))
    return tw.multiply(wide, narrow).reshape(shape)


def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: SupportsIndex = -1,
    axisb: SupportsIndex = -1,
    axisc: SupportsIndex = -1,
    axis: SupportsIndex | None = None,
) -> Tensor:
    """Return the cross product of vectors of 3 (or 2) numbers, the others broadcast.

    Two vectors of 2 numbers give the third number alone.

    Raises:
        ShapeError: an axis has neither 2 nor 3 elements.

    >>> np.cross([1, 2, 3], [4, 5, 6])
    tensor([-3,  6, -3])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = as_pair(a, b)
    x, y = x.moveaxis(axisa, -1), y.moveaxis(axisb, -1)
    for vectors in (x, y):
        if vectors.shape[-1] not in (2, 3):
            raise ShapeError(
                f"cross: vectors of {vectors.shape[-1]} numbers; give 2 or 3."
            )
    a0, a1, b0, b1 = x[..., 0], x[..., 1], y[..., 0], y[..., 1]
    third = a0 * b1 - a1 * b0
    if x.shape[-1] == y.shape[-1] == 2:
        return third
    a2 = x[..., 2] if x.shape[-1] == 3 else x[..., 0] * 0
    b2 = y[..., 2] if y.shape[-1] == 3 else y[..., 0] * 0
    parts = (a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, third)
    found = tw.stack(tw.broadcast_arrays(*parts), axis=-1)
    return found.moveaxis(-1, normalize_axis(axisc, found.ndim))


def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> Tensor:
    """Return the convolution of two vectors: `result[n]` sums `a[m] v[n - m]`.

    `full` gives every overlap, `same` as many elements as the longer one, `valid` where
    both overlap wholly.

    Raises:
        ShapeError: an operand is no vector, or empty.
        DataError: there is no such mode.

    >>> np.convolve([1, 2, 3], [0, 1, 0.5])
    tensor([0. , 1. , 2.5, 4. , 1.5])
    """
    x, y = _vectors("convolve", a, v)
    if y.size > x.size:
        x, y = y, x
    return _slid("convolve", x, y.flip(0), mode)


def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> Tensor:
    """Return the correlation of two vectors: `result[k]` sums `a[n + k] v[n]`.

    Of complex numbers `v` the conjugates are taken.

    Raises:
        ShapeError: an operand is no vector, or empty.
        DataError: there is no such mode.

    >>> np.correlate([1, 2, 3], [0, 1, 0.5], "full")
    tensor([0.5, 2. , 3.5, 3. , 0. ])
    """
    x, y = _vectors("correlate", a, v)
    y = tw.conj(y)
    if y.size > x.size:
        return _slid("correlate", y, x, mode).flip(0)
    return _slid("correlate", x, y, mode)


def _vectors(name: str, a: ArrayLike, v: ArrayLike) -> tuple[Tensor, Tensor]:
    x, y = as_pair(a, v)
    x, y = (side.reshape((1,)) if not side.ndim else side for side in (x, y))
    if x.ndim != 1 or y.ndim != 1 or not x.size or not y.size:
        raise ShapeError(
            f"{name}: shapes {x.shape} and {y.shape}; give vectors with elements."
        )
    return x, y


def _slid(name: str, x: Tensor, window: Tensor, mode: str) -> Tensor:
    """Return the inner products of a window with the longer vector it slides over."""
    length = window.size
    shorter = length - 1
    widths = {
        "full": (shorter, shorter),
        "same": (shorter - shorter // 2, shorter // 2),
        "valid": (0, 0),
    }
    mode = {0: "valid", 1: "same", 2: "full"}.get(mode, mode)  # type: ignore[call-overload]  # NumPy's numbers for them
    if mode not in widths:
        raise DataError(f"{name}: mode={mode!r}; it is full, same or valid.")
    padded = x.pad([widths[mode]])
    return tw.matmul(padded.sliding_windows(length), window)
