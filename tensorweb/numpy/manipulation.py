"""Other shapes and orders of the same elements, with NumPy's arguments."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, Protocol, SupportsIndex, overload

from tensorweb.errors import ShapeError
from tensorweb.functions.creation import Lengths
from tensorweb.numpy.arguments import (
    as_tensors,
    check_order,
    is_by_columns,
)
from tensorweb.numpy.creation import asarray
from tensorweb.public_names import declare_public
from tensorweb.shapes import as_shape, broadcast_shapes, normalize_axes, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.movement import Axes
from tensorweb.tensor.views import base_or_self, element_indices, extent_of


def reshape(
    a: ArrayLike,
    /,
    shape: Lengths,
    order: str = "C",
    *,
    copy: builtins.bool | None = None,
) -> Tensor:
    """Return the elements in another shape; one length may be -1.

    `order="F"` reads and writes them with the first axis running fastest.

    Raises:
        ShapeError: the sizes differ, or `copy=False` and a copy is needed.

    >>> np.reshape([1, 2, 3, 4], (2, -1))
    tensor([[1, 2],
            [3, 4]])
    >>> np.reshape([1, 2, 3, 4], (2, 2), order="F")
    tensor([[1, 3],
            [2, 4]])
    """
    x = asarray(a)
    if is_by_columns(order):
        lengths = tuple(shape) if isinstance(shape, Iterable) else (shape,)
        return transpose(transpose(x).reshape(lengths[::-1], copy=copy))
    check_order("reshape", order)
    return x.reshape(shape, copy=copy)


def ravel(a: ArrayLike, order: str = "C") -> Tensor:
    """Return the elements along one axis; `order="F"` runs through columns first.

    >>> np.ravel([[1, 2], [3, 4]]), np.ravel([[1, 2], [3, 4]], order="F")
    (tensor([1, 2, 3, 4]), tensor([1, 3, 2, 4]))
    """
    if is_by_columns(order):
        return transpose(a).ravel()
    check_order("ravel", order)
    return asarray(a).ravel()


def transpose(a: ArrayLike, axes: Iterable[SupportsIndex] | None = None) -> Tensor:
    """Return the axes in another order, reversed unless one is given.

    Raises:
        AxisError: an axis is missing, repeated or does not exist.

    >>> np.transpose(np.zeros((2, 3, 4))).shape
    (4, 3, 2)
    >>> np.transpose(np.zeros((2, 3, 4)), (0, 2, 1)).shape
    (2, 4, 3)
    """
    x = asarray(a)
    order = tuple(reversed(range(x.ndim))) if axes is None else tuple(axes)
    return x.permute_dims(order)


permute_dims = transpose


def swapaxes(a: ArrayLike, axis1: SupportsIndex, axis2: SupportsIndex) -> Tensor:
    """Return two axes swapped.

    Raises:
        AxisError: an axis does not exist.

    >>> np.swapaxes([[1, 2, 3]], 0, 1).shape
    (3, 1)
    """
    return asarray(a).swapaxes(axis1, axis2)


def moveaxis(a: ArrayLike, source: Axes, destination: Axes) -> Tensor:
    """Move axes to other positions; the other axes keep their order.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> np.moveaxis(np.zeros((3, 4, 5)), 0, -1).shape
    (4, 5, 3)
    """
    return asarray(a).moveaxis(source, destination)


def rollaxis(a: ArrayLike, axis: SupportsIndex, start: SupportsIndex = 0) -> Tensor:
    """Return an axis moved before the one at `start`.

    Raises:
        AxisError: an axis does not exist.

    >>> np.rollaxis(np.ones((3, 4, 5, 6)), 3, 1).shape
    (3, 6, 4, 5)
    """
    x = asarray(a)
    source = normalize_axis(axis, x.ndim)
    # A negative start names an axis; only a positive one can be after the last.
    ends = x.ndim if operator.index(start) < 0 else x.ndim + 1
    target = normalize_axis(start, ends, "start")
    return x.moveaxis(source, target - 1 if source < target else target)


def expand_dims(a: ArrayLike, axis: Axes) -> Tensor:
    """Return axes of length 1 inserted where the result shall have them.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> np.expand_dims([1, 2, 3], 0).shape
    (1, 3)
    """
    return asarray(a).expand_dims(axis)


def broadcast_to(
    array: ArrayLike, shape: Lengths, subok: builtins.bool = False
) -> Tensor:
    """Return an array repeated to a shape, without a copy.

    Raises:
        ShapeError: an axis that is not 1 would have to change.

    >>> np.broadcast_to([1, 2, 3], (2, 3))
    tensor([[1, 2, 3],
            [1, 2, 3]])
    """
    return asarray(array).broadcast_to(as_shape(shape))


def broadcast_arrays(
    *args: ArrayLike, subok: builtins.bool = False
) -> tuple[Tensor, ...]:
    """Return arrays repeated to their common shape, each in its own dtype.

    Raises:
        ShapeError: the shapes do not broadcast.

    >>> np.broadcast_arrays([[1], [2]], [10, 20])[0]
    tensor([[1, 1],
            [2, 2]])
    """
    arrays = as_tensors(args)
    shape = broadcast_shapes(*(array.shape for array in arrays))
    return tuple(array.broadcast_to(shape) for array in arrays)


class _ForEachArray(Protocol):
    """A function that returns a tensor for one array, a tuple for several."""

    @overload
    def __call__(self, arys: ArrayLike, /) -> Tensor: ...

    @overload
    def __call__(self, *arys: ArrayLike) -> Tensor | tuple[Tensor, ...]: ...


def _for_each_array(function: Callable[[Tensor], Tensor]) -> _ForEachArray:
    """Let a function of a tensor take several arrays."""

    @functools.wraps(function)
    def call(*arys: ArrayLike) -> Any:
        results = tuple(function(asarray(array)) for array in arys)
        return results[0] if len(results) == 1 else results

    vars(call)["__signature__"] = inspect.signature(call, follow_wrapped=False)
    return call


@_for_each_array
def atleast_1d(x: Tensor) -> Tensor:
    """Return numbers as arrays of one element, and arrays as they are.

    >>> np.atleast_1d(3)
    tensor([3])
    """
    return x if x.ndim else x.reshape((1,))


@_for_each_array
def atleast_2d(x: Tensor) -> Tensor:
    """Return numbers and vectors as matrices of one row, and arrays as they are.

    >>> np.atleast_2d([1, 2])
    tensor([[1, 2]])
    """
    return x if x.ndim > 1 else x.reshape((1, x.size))


@_for_each_array
def atleast_3d(x: Tensor) -> Tensor:
    """Return arrays with three axes: `(n,)` gives `(1, n, 1)`, `(m, n)` `(m, n, 1)`.

    >>> np.atleast_3d([1, 2]).shape
    (1, 2, 1)
    """
    if x.ndim > 2:
        return x
    return x.reshape((*x.shape, 1) if x.ndim == 2 else (1, x.size, 1))


def flip(m: ArrayLike, axis: Axes | None = None) -> Tensor:
    """Return axes reversed, all of them for None.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> np.flip([[1, 2], [3, 4]], 1)
    tensor([[2, 1],
            [4, 3]])
    """
    return asarray(m).flip(axis)


def fliplr(m: ArrayLike) -> Tensor:
    """Return the second axis reversed.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> np.fliplr([[1, 2], [3, 4]])
    tensor([[2, 1],
            [4, 3]])
    """
    x = asarray(m)
    if x.ndim < 2:
        raise ShapeError(f"fliplr: shape {x.shape} has fewer than two axes.")
    return x.flip(1)


def flipud(m: ArrayLike) -> Tensor:
    """Return the first axis reversed.

    Raises:
        ShapeError: there is no axis.

    >>> np.flipud([1, 2, 3])
    tensor([3, 2, 1])
    """
    x = asarray(m)
    if not x.ndim:
        raise ShapeError("flipud: a 0-d array has no axis.")
    return x.flip(0)


def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Tensor:
    """Rotate a plane of axes by `k` quarters, from the first to the second axis.

    Raises:
        AxisError: an axis does not exist, or both are the same.

    >>> np.rot90([[1, 2], [3, 4]])
    tensor([[2, 4],
            [1, 3]])
    """
    x = asarray(m)
    normalize_axes(axes, x.ndim)
    first, second = axes
    quarters = k % 4
    if quarters == 2:
        return x.flip((first, second))
    if quarters == 1:
        return x.flip(second).swapaxes(first, second)
    return x.swapaxes(first, second).flip(second) if quarters else x


def roll(a: ArrayLike, shift: Axes, axis: Axes | None = None) -> Tensor:
    """Return elements moved along axes; those leaving an end return at the other.

    Raises:
        AxisError: an axis does not exist.

    >>> np.roll([1, 2, 3, 4], 1)
    tensor([4, 1, 2, 3])
    """
    return asarray(a).roll(shift, axis)


def shape(a: ArrayLike) -> tuple[int, ...]:
    """Return the shape of an array, `()` of a number.

    >>> np.shape([[1, 2, 3]])
    (1, 3)
    """
    return asarray(a).shape


def ndim(a: ArrayLike) -> int:
    """Return the count of axes.

    >>> np.ndim([[1, 2, 3]])
    2
    """
    return asarray(a).ndim


def size(a: ArrayLike, axis: int | tuple[int, ...] | None = None) -> int:
    """Return the count of elements, of all axes or of some.

    >>> np.size([[1, 2, 3]]), np.size([[1, 2, 3]], 0)
    (3, 1)
    """
    lengths = asarray(a).shape
    if axis is None:
        return math.prod(lengths)
    return math.prod(lengths[i] for i in normalize_axes(axis, len(lengths)))


def may_share_memory(a: object, b: object, /, max_work: int | None = 0) -> bool:
    """Return whether the memory ranges of two arrays overlap.

    With a `max_work` other than 0 it is exact, as `shares_memory` is.

    >>> x = np.zeros(6)
    >>> np.may_share_memory(x[::2], x[1::2]), np.may_share_memory(x, x + 0)
    (True, False)
    """
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return False
    if base_or_self(a) is not base_or_self(b) or not (a.size and b.size):
        return False
    (first, last), (low, high) = extent_of(a), extent_of(b)
    if first > high or low > last:
        return False
    if max_work == 0 or a is b:
        return True
    mine, others = (Tensor(element_indices(x)).reshape(-1).tolist() for x in (a, b))
    return not set(mine).isdisjoint(others)


def shares_memory(a: object, b: object, /, max_work: int | None = None) -> bool:
    """Return whether two arrays have an element in common, which a write changes.

    It is exact unless `max_work` is 0, which compares ranges only.

    >>> x = np.zeros(6)
    >>> np.shares_memory(x[::2], x[1::2]), np.shares_memory(x[::2], x[::3])
    (False, True)
    """
    return may_share_memory(a, b, max_work=max_work)


declare_public(__name__)
