"""Find, select and sort values, and distinct values with their counts.

Sorting is stable whatever `stable` says. NaN comes last in ascending and in descending
order, where the standard leaves its position open; -0 and 0 are equal. Each NaN counts
as a distinct value. The count of distinct values is a shape, so functions of sets read
one number from the device.
"""

from __future__ import annotations

import builtins
import operator
from typing import NamedTuple, SupportsIndex, overload

from tensorweb.devices import default_device
from tensorweb.errors import DataError
from tensorweb.functions.creation import asarray
from tensorweb.lookups import distinct
from tensorweb.nodes import sorting
from tensorweb.nodes import sorting as build
from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS
from tensorweb.public_names import declare_public
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import axis_of
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, as_node, as_operands, device_of
from tensorweb.tensor.reductions import ValuesAndIndices


@overload
def where(condition: ArrayLike, /) -> tuple[Tensor, ...]: ...


@overload
def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike, /) -> Tensor: ...


def where(
    condition: ArrayLike, x1: ArrayLike = None, x2: ArrayLike = None, /
) -> Tensor | tuple[Tensor, ...]:
    """Return `x1` where the condition holds, else `x2`; all three broadcast.

    With a condition alone, as in NumPy, the positions of what is true, as `nonzero`.

    Raises:
        ShapeError: the shapes do not broadcast.
        DeviceError: the operands lie on different devices.
        DataError: one of `x1` and `x2` is missing.

    >>> tw.where([True, False, True], [1, 2, 3], 0)
    tensor([1, 0, 3])
    >>> tw.where([True, False, True])
    (tensor([0, 2]),)
    """
    if x1 is None or x2 is None:
        if x1 is not x2:
            raise DataError(
                "where: one of x1 and x2 is missing; give both, or the condition alone "
                "for the positions of what is true."
            )
        return nonzero(condition)
    tensors = [x for x in (condition, x1, x2) if isinstance(x, TensorBase)]
    chosen = tensors[0].node.device if tensors else default_device()
    condition_device = None if isinstance(condition, TensorBase) else chosen
    test = as_node(condition, device=condition_device)
    choices = as_operands(x1, x2, device=chosen)
    return Tensor(elementwise(OPS["where"], test, *choices))


def argmax(
    x: ArrayLike,
    /,
    axis: SupportsIndex | None = None,
    *,
    keepdims: bool = False,
    dim: SupportsIndex | None = None,
    keepdim: bool = False,
) -> Tensor:
    """Return where the first largest value is; in row-major order without an axis.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty.

    >>> tw.argmax([[1, 9, 3], [8, 2, 7]], axis=1)
    tensor([1, 0])
    """
    return asarray(x).argmax(axis, keepdims=keepdims, dim=dim, keepdim=keepdim)


def argmin(
    x: ArrayLike,
    /,
    axis: SupportsIndex | None = None,
    *,
    keepdims: bool = False,
    dim: SupportsIndex | None = None,
    keepdim: bool = False,
) -> Tensor:
    """Return where the first smallest value is; in row-major order without an axis.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis is empty.

    >>> tw.argmin([[1, 9, 3], [8, 2, 7]], axis=1)
    tensor([0, 1])
    """
    return asarray(x).argmin(axis, keepdims=keepdims, dim=dim, keepdim=keepdim)


def nonzero(x: ArrayLike, /, *, as_tuple: bool = True) -> tuple[Tensor, ...]:
    """Return where elements are not zero: one index tensor per axis.

    With `as_tuple=False` it is one tensor, `(count, axes)`, as PyTorch's. Their number
    is a shape, so this reads one number from the device.

    Raises:
        DataError: the tensor is 0-d.

    >>> tw.nonzero([[1, 0], [0, 2]])
    (tensor([0, 1]), tensor([0, 1]))
    """
    return asarray(x).nonzero(as_tuple=as_tuple)


def isin(x1: ArrayLike, x2: ArrayLike, /, *, invert: bool = False) -> Tensor:
    """Return whether each element of `x1` is one of `x2`; is none of it for `invert`.

    >>> tw.isin([1, 2, 3], [3, 1])
    tensor([ True, False,  True])
    """
    return Tensor(sorting.isin(*as_operands(x1, x2), invert=invert))


def searchsorted(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    side: str = "left",
    sorter: ArrayLike = None,
) -> Tensor:
    """Return how many elements of the sorted 1-D `x1` lie before each of `x2`.

    Those are the smaller ones for `left`, the smaller and equal ones for `right`.
    `sorter` are indices that sort `x1`.

    Raises:
        ShapeError: `x1` has not exactly one axis.
        DataError: `side` is neither `left` nor `right`.

    >>> tw.searchsorted([10, 20, 30], [5, 20, 99])
    tensor([0, 1, 3])
    """
    ordered, values = as_operands(x1, x2)
    if sorter is not None:
        ordered = Tensor(ordered).take(sorter).node
    return Tensor(sorting.searchsorted(ordered, values, side))


def take(
    x: ArrayLike, indices: ArrayLike, /, axis: SupportsIndex | None = None
) -> Tensor:
    """Return the slices at `indices` along an axis, which only 1-D may leave out.

    Negative indices count from the end.

    Raises:
        TensorIndexError: an index is out of range or no integer.
        AxisError: the axis does not exist, or is needed and missing.

    >>> tw.take([[1, 2, 3], [4, 5, 6]], [2, 0], axis=1)
    tensor([[3, 1],
            [6, 4]])
    """
    return asarray(x, device=device_of(x, indices)).take(indices, axis)


def take_along_axis(
    x: ArrayLike, indices: ArrayLike, /, axis: SupportsIndex = -1
) -> Tensor:
    """Return elements at `indices` along an axis, the other axes matched one to one.

    Raises:
        TensorIndexError: an index is out of range or no integer.
        ShapeError: the numbers of axes differ.

    >>> tw.take_along_axis([[3, 1, 2], [6, 5, 4]], [[1], [2]])
    tensor([[1],
            [4]])
    """
    return asarray(x, device=device_of(x, indices)).take_along_axis(indices, axis)


@overload
def sort(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex = -1,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
    dim: None = None,
) -> Tensor: ...


@overload
def sort(
    x: ArrayLike,
    /,
    *,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
    dim: SupportsIndex,
) -> ValuesAndIndices: ...


def sort(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex = -1,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
    dim: SupportsIndex | None = None,
) -> Tensor | ValuesAndIndices:
    """Return the values in order along an axis; equal ones keep theirs, NaN is last.

    With PyTorch's word `dim`, values and indices as PyTorch returns.

    Raises:
        AxisError: the axis does not exist.

    >>> tw.sort([[3, 1, 2], [6, 5, 4]])
    tensor([[1, 2, 3],
            [4, 5, 6]])
    >>> tw.sort([2.0, tw.nan, 7.0], descending=True)
    tensor([ 7.,  2., nan])
    >>> tw.sort([[3, 1, 2]], dim=1).indices
    tensor([[1, 2, 0]])
    """
    if dim is not None:
        along: SupportsIndex = axis_of("sort", None if axis == -1 else axis, dim)
        return asarray(x).sort(dim=along, descending=descending)
    node = asarray(x).node
    along = normalize_axis(axis, len(node.shape))
    return Tensor(build.sort(node, along, descending))


def argsort(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex = -1,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
) -> Tensor:
    """Return the positions (int32) that sort an axis; equal values keep their order.

    Raises:
        AxisError: the axis does not exist.

    >>> tw.argsort([30, 10, 20, 10])
    tensor([1, 3, 2, 0])
    >>> tw.argsort([30, 10, 20, 10], descending=True)
    tensor([0, 2, 1, 3])
    """
    return asarray(x).argsort(axis, descending=descending, stable=stable)


def top_k(
    x: ArrayLike,
    k: SupportsIndex,
    /,
    axis: SupportsIndex = -1,
    *,
    largest: builtins.bool = True,
) -> ValuesAndIndices:
    """Return the k largest values along an axis, largest first, and where they are.

    With `largest=False` these are the smallest, smallest first. Of equal values the
    first ones are taken; NaN only where there are no others.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: the axis has fewer than k elements, or k is negative.

    >>> tw.top_k([30, 10, 20, 40], 2)
    ValuesAndIndices(values=tensor([40, 30]), indices=tensor([3, 0]))
    """
    node = asarray(x).node
    along = normalize_axis(axis, len(node.shape))
    values, indices = build.top_k(node, operator.index(k), along, largest)
    return ValuesAndIndices(Tensor(values), Tensor(indices))


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: ArrayLike, /) -> UniqueAllResult:
    """Return the distinct values in order, their first indices, inverse and counts.

    Indices count in row-major order; the inverse has the shape of `x`, and
    `values[inverse_indices]` gives `x` again.

    >>> tw.unique_all([30, 10, 30]).indices
    tensor([1, 0])
    """
    groups = distinct(asarray(x).node, with_order=True)
    return UniqueAllResult(
        Tensor(groups.values),
        Tensor(groups.indices),
        Tensor(groups.inverse),
        Tensor(groups.counts),
    )


def unique_counts(x: ArrayLike, /) -> UniqueCountsResult:
    """Return the distinct values in order, and how often each occurs.

    >>> tw.unique_counts([30, 10, 30])
    UniqueCountsResult(values=tensor([10, 30]), counts=tensor([1, 2]))
    """
    groups = distinct(asarray(x).node, with_order=False)
    return UniqueCountsResult(Tensor(groups.values), Tensor(groups.counts))


def unique_inverse(x: ArrayLike, /) -> UniqueInverseResult:
    """Return the distinct values in order, and which of them each element is.

    >>> tw.unique_inverse([30, 10, 30]).inverse_indices
    tensor([1, 0, 1])
    """
    groups = distinct(asarray(x).node, with_order=True)
    return UniqueInverseResult(Tensor(groups.values), Tensor(groups.inverse))


def unique_values(x: ArrayLike, /) -> Tensor:
    """Return the distinct values in order.

    >>> tw.unique_values([[30, 10], [10, 20]])
    tensor([10, 20, 30])
    """
    return Tensor(distinct(asarray(x).node, with_order=False).values)


declare_public(
    __name__, hidden="UniqueAllResult UniqueCountsResult UniqueInverseResult"
)
