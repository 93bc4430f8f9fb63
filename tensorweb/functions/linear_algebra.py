"""Products of tensors: sums of products that never store the single products."""

from __future__ import annotations

from typing import SupportsIndex

from tensorweb.errors import ShapeError
from tensorweb.functions.creation import asarray
from tensorweb.nodes.einsum import einsum as build_einsum
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.algebra import ContractedAxes
from tensorweb.tensor.convert import ArrayLike, as_operands, device_of


def matmul(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the matrix product, batched: `(..., m, k) @ (..., k, n)` is `(..., m, n)`.

    A 1-D operand is a row on the left, a column on the right, and its axis goes.

    Raises:
        ShapeError: inner sizes differ, batches do not broadcast or an operand is 0-d.

    >>> tw.matmul([[0, 1], [2, 3]], [[6, 7], [8, 9]])
    tensor([[ 8,  9],
            [36, 41]])
    """
    return _first(x1, x2).matmul(x2)


def dot(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return NumPy's dot: the last axis of `x1` with the last but one of `x2`.

    The other axes follow each other and are not matched: `(9, 5, 7, 4)` and
    `(9, 5, 4, 3)` give `(9, 5, 7, 9, 5, 3)`.

    Raises:
        ShapeError: the contracted axes differ in length.

    >>> tw.dot([1, 2, 3], [4, 5, 6])
    tensor(32)
    """
    return _first(x1, x2).dot(x2)


def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: ContractedAxes = 2) -> Tensor:
    """Return the sum of products over axes, the other axes following each other.

    `axes` is a number (the last ones of `x1`, the first ones of `x2`) or two lists.

    Raises:
        ShapeError: a pair of axes differs in length.
        AxisError: an axis does not exist or is given twice.

    >>> tw.tensordot([[1, 2], [3, 4]], [[5, 6], [7, 8]], axes=([1], [1]))
    tensor([[17, 23],
            [39, 53]])
    """
    return _first(x1, x2).tensordot(x2, axes=axes)


def einsum(subscripts: str, /, *operands: ArrayLike) -> Tensor:
    """Return a sum of products whose axes are named by letters, as NumPy does.

    `'ij,jk->ik'` is the matrix product: letters that the result lacks are summed, in
    kernels that store no products. Without `->` the result has, in alphabetical order,
    the letters that stand once. `...` stands for further axes, which broadcast. A
    letter twice in one operand is its diagonal. Operands are taken from left to right.

    Raises:
        ShapeError: the subscripts are wrong or do not fit the operands' shapes.

    >>> tw.einsum("ij,jk->ik", [[1, 2], [3, 4]], [[5, 6], [7, 8]])
    tensor([[19, 22],
            [43, 50]])
    >>> tw.einsum("...i,i->...", [[1, 2], [3, 4]], [10, 1])
    tensor([12, 34])
    >>> tw.einsum("ii", [[1, 2], [3, 4]])
    tensor(5)
    """
    first_argument: object = subscripts
    if not isinstance(first_argument, str) or not operands:
        raise ShapeError(
            "einsum: give the subscripts first and then the operands, as in "
            "einsum('ij,jk->ik', a, b)."
        )
    return Tensor(build_einsum(subscripts, as_operands(*operands)))


def vecdot(x1: ArrayLike, x2: ArrayLike, /, axis: SupportsIndex = -1) -> Tensor:
    """Return the sum of products along one axis, the others broadcast.

    Raises:
        ShapeError: the axes differ in length or the others do not broadcast.
        AxisError: the axis does not count from the end.

    >>> tw.vecdot([[1, 2], [3, 4]], [10, 1])
    tensor([12, 34])
    """
    return _first(x1, x2).vecdot(x2, axis=axis)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return all products of two 1-D tensors: `(m,)` and `(n,)` give `(m, n)`.

    Raises:
        ShapeError: an operand has not exactly one axis.

    >>> tw.outer([1, 2], [10, 20, 30])
    tensor([[10, 20, 30],
            [20, 40, 60]])
    """
    return _first(x1, x2).outer(x2)


def diff(
    x: ArrayLike,
    /,
    n: SupportsIndex = 1,
    axis: SupportsIndex = -1,
    prepend: ArrayLike = None,
    append: ArrayLike = None,
) -> Tensor:
    """Return differences of neighbours along an axis, `n` times over.

    `prepend` and `append` are joined to the ends first.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: `n` is negative.

    >>> tw.diff([1, 4, 9, 16])
    tensor([3, 5, 7])
    """
    device = device_of(x, prepend, append)
    return asarray(x, device=device).diff(n, axis, prepend, append)


def _first(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Return the first operand as a tensor, in the dtype it takes with the second."""
    return Tensor(as_operands(x1, x2)[0])


declare_public(__name__)
