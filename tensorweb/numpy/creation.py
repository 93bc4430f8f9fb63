"""Create arrays: from data, of one value, or uninitialised."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Iterable
from typing import Any

from tensorweb import functions as tw
from tensorweb.devices import default_device, usable_dtype
from tensorweb.dtypes import as_dtype
from tensorweb.errors import DataError
from tensorweb.functions.creation import Lengths
from tensorweb.graph.node import leaf
from tensorweb.graph.storage import HostData
from tensorweb.numpy.arguments import (
    as_operand_like,
    check_creation,
    check_order,
    check_unused,
    declare_public,
    signature_of,
    with_first,
)
from tensorweb.numpy.grids import indices
from tensorweb.shapes import as_shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike


def array(
    object: ArrayLike,
    dtype: DTypeLike = None,
    *,
    copy: builtins.bool | None = True,
    order: str | None = "K",
    subok: builtins.bool = False,
    ndmin: int = 0,
    ndmax: int = 0,
    like: ArrayLike = None,
    device: str | None = None,
) -> Tensor:
    """Return data as an array: numbers, nested lists of them, ranges, tensors.

    Numbers give bool, int32 or float32. `ndmin` adds axes of length 1 in front.

    Raises:
        DataError: rows differ in length or an item is no number; names the item. Or
            there are more than `ndmax` axes.
        RangeError: an integer does not fit the dtype.

    >>> np.array([[1, 2], [3, 4]], ndmin=3).shape
    (1, 2, 2)
    >>> np.array([1, 2.5])
    tensor([1. , 2.5])
    """
    check_creation("array", order, like)
    if isinstance(copy, str):
        raise DataError(f"array: copy={copy!r}; it is True, False or None.")
    if not 0 <= ndmax <= 64:
        raise DataError(f"array: ndmax={ndmax}; it is 1 to 64, or 0 for no limit.")
    x = tw.asarray(object, dtype, device=device, copy=copy)
    if 0 < ndmax < x.ndim:
        raise DataError(
            f"array: {x.ndim} axes and ndmax={ndmax}, so that its elements would "
            "be lists; tensors are made of numbers."
        )
    added = (1,) * (ndmin - x.ndim)
    return x.reshape((*added, *x.shape)) if added else x


def asarray(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str | None = None,
    *,
    device: str | None = None,
    copy: builtins.bool | None = None,
    like: ArrayLike = None,
) -> Tensor:
    """Return data as an array; a tensor of that dtype is returned itself.

    Raises:
        DataError: rows differ in length or an item is no number; names the item.

    >>> x = np.ones(2)
    >>> np.asarray(x) is x
    True
    """
    check_creation("asarray", order, like)
    return tw.asarray(a, dtype, device=device, copy=copy)


asanyarray = asarray
ascontiguousarray = asarray


def copy(a: ArrayLike, order: str = "K", subok: builtins.bool = False) -> Tensor:
    """Return an array of the same values, which later writes into `a` do not reach.

    >>> x = np.zeros(2)
    >>> y = np.copy(x)
    >>> x[0] = 1
    >>> y
    tensor([0., 0.])
    """
    check_order("copy", order)
    return tw.asarray(a, copy=True)


def astype(
    x: ArrayLike,
    dtype: DTypeLike,
    /,
    *,
    copy: builtins.bool = True,
    device: str | None = None,
) -> Tensor:
    """Return the values in another dtype; floats become integers by truncation.

    >>> np.astype(np.array([1.7, -1.7]), int)
    tensor([ 1, -1])
    """
    return tw.astype(x, dtype, copy=copy, device=device)


def asarray_chkfinite(
    a: ArrayLike, dtype: DTypeLike = None, order: str | None = None
) -> Tensor:
    """Return data as an array if all its values are finite; reads them.

    Raises:
        DataError: a value is infinite or NaN (a ValueError as well).

    >>> np.asarray_chkfinite([1.0, 2.0])
    tensor([1., 2.])
    """
    x = asarray(a, dtype, order)
    if x.dtype.kind == "float" and not tw.all(tw.isfinite(x)):
        raise DataError("asarray_chkfinite: an element is infinite or NaN.")
    return x


def require(
    a: ArrayLike,
    dtype: DTypeLike = None,
    requirements: str | Iterable[str] | None = None,
    *,
    like: ArrayLike = None,
) -> Tensor:
    """Return data as an array, which is in row-major order and can be written.

    Raises:
        DataError: column-major order is required.

    >>> np.require([1, 2], requirements="CW")
    tensor([1, 2])
    """
    check_unused("require", like=like)
    if any(name in ("F", "F_CONTIGUOUS", "FORTRAN") for name in requirements or ()):
        check_order("require", "F")
    return asarray(a, dtype)


def frombuffer(
    buffer: ArrayLike,
    dtype: DTypeLike = float,
    count: int = -1,
    offset: int = 0,
    *,
    like: ArrayLike = None,
) -> Tensor:
    r"""Return the numbers in a buffer of bytes, copied.

    Without a dtype they are float32.

    Raises:
        DataError: the bytes do not divide into elements, or are too few.
        DTypeError: the device has no such dtype.

    >>> np.frombuffer(b"\x01\x02\x03", dtype=np.uint8)
    tensor([1, 2, 3], dtype=uint8)
    """
    check_unused("frombuffer", like=like)
    target_dtype = as_dtype(dtype)
    size = target_dtype.itemsize
    data = memoryview(buffer).cast("B")[offset:]  # type: ignore[arg-type]  # a buffer
    length = len(data) // size if count < 0 else count
    if len(data) < length * size or (count < 0 and len(data) % size):
        raise DataError(
            f"frombuffer: {len(data)} bytes from {offset} on are not "
            f"{'whole' if count < 0 else count} elements of {target_dtype}, of "
            f"{size} bytes each."
        )
    data = data[: length * size]
    node = leaf(HostData(bytes(data)), (length,), target_dtype, "cpu")
    device = default_device()
    return Tensor(node).astype(usable_dtype(target_dtype, device), device=device)


def fromiter(
    iter: Iterable[object],
    dtype: DTypeLike,
    count: int = -1,
    *,
    like: ArrayLike = None,
) -> Tensor:
    """Return the numbers of an iterator, all of them or `count`.

    Raises:
        DataError: it has fewer than `count`.

    >>> np.fromiter((i * i for i in range(4)), int)
    tensor([0, 1, 4, 9])
    """
    check_unused("fromiter", like=like)
    items = list(iter if count < 0 else itertools.islice(iter, count))
    if len(items) < count:
        raise DataError(f"fromiter: {len(items)} items where count is {count}.")
    return tw.asarray(items, dtype)


def fromfunction(
    function: Callable[..., Any],
    shape: Lengths,
    *,
    dtype: DTypeLike = float,
    like: ArrayLike = None,
    **kwargs: object,
) -> Any:
    """Return a function of the coordinates along each axis, called once.

    >>> np.fromfunction(lambda i, j: i + j, (2, 3), dtype=int)
    tensor([[0, 1, 2],
            [1, 2, 3]])
    """
    check_unused("fromfunction", like=like)
    return function(*indices(as_shape(shape), dtype=dtype), **kwargs)


def _create(
    function: Callable[..., Tensor],
    shape: Lengths,
    dtype: DTypeLike = None,
    order: str = "C",
    *,
    device: str | None = None,
    like: ArrayLike = None,
) -> Tensor:
    check_creation(function.__name__, order, like)
    return function(shape, dtype, device=device)


empty = with_first(_create, tw.empty)
ones = with_first(_create, tw.ones)
zeros = with_first(_create, tw.zeros)


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
    check_creation("full", order, like)
    value = tw.asarray(fill_value, dtype, device=device)
    if value.ndim:
        return value.broadcast_to(as_shape(shape))
    return tw.full(shape, fill_value, dtype, device=device)


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
    value = as_operand_like(fill_value, like)
    value = value.astype(like.dtype if dtype is None else dtype)
    target = like.device if device is None else device
    return tw.asarray(value.broadcast_to(lengths), device=target)


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


@signature_of(zeros_like)
def ones_like(a: ArrayLike, *args: Any, **options: Any) -> Tensor:
    """Return ones with the dtype and shape of an array, unless they are given.

    >>> np.ones_like([1, 2], float)
    tensor([1., 1.])
    """
    return full_like(a, 1, *args, **options)


@signature_of(zeros_like)
def empty_like(prototype: ArrayLike, /, *args: Any, **options: Any) -> Tensor:
    """Return zeros with the dtype and shape of an array, unless they are given.

    >>> np.empty_like([[1, 2]]).shape
    (1, 2)
    """
    return full_like(prototype, 0, *args, **options)


declare_public(__name__)
