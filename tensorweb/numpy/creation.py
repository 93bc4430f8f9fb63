"""Create arrays: from data, of one value, as ranges and as grids of coordinates."""

from __future__ import annotations

import builtins
import cmath
import itertools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, Literal, SupportsIndex, overload

from tensorweb import functions as tw
from tensorweb.devices import default_device, usable_dtype
from tensorweb.dtypes import (
    DEFAULT_COMPLEX,
    DEFAULT_FLOAT,
    DEFAULT_INT,
    as_dtype,
)
from tensorweb.errors import DataError, ShapeError
from tensorweb.functions.creation import Lengths
from tensorweb.graph.node import leaf
from tensorweb.graph.storage import HostData
from tensorweb.numpy.arguments import (
    as_first_operand,
    as_operand_like,
    as_tensors,
    check_creation,
    check_order,
    check_unused,
    signature_of,
    slice_values,
    with_first,
)
from tensorweb.public_names import declare_public
from tensorweb.shapes import as_shape, broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import as_complex_number
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
    like = as_first_operand(a, fill_value)
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


def arange(
    start: Any = None,
    stop: Any = None,
    step: Any = 1,
    dtype: DTypeLike = None,
    *,
    device: str | None = None,
    like: ArrayLike = None,
) -> Tensor:
    """Return `start, start + step, …` below `stop`; `arange(n)` counts from 0.

    Integers give int32, floats give float32.

    Raises:
        DataError: the step is 0 or NaN, or an end is not finite.

    >>> np.arange(10, 30, 5)
    tensor([10, 15, 20, 25])
    """
    check_unused("arange", like=like)
    if start is None and stop is None:
        raise DataError("arange: no numbers; say where it stops.")
    return tw.arange(0 if start is None else start, stop, step, dtype, device=device)


@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: builtins.bool = True,
    retstep: Literal[False] = False,
    dtype: DTypeLike = None,
    axis: SupportsIndex = 0,
    *,
    device: str | None = None,
) -> Tensor: ...


@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: builtins.bool = True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike = None,
    axis: SupportsIndex = 0,
    device: str | None = None,
) -> tuple[Tensor, Any]: ...


def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: builtins.bool = True,
    retstep: builtins.bool = False,
    dtype: DTypeLike = None,
    axis: SupportsIndex = 0,
    *,
    device: str | None = None,
) -> Tensor | tuple[Tensor, Any]:
    """Return `num` evenly spaced numbers, also between arrays, along a new axis.

    With `retstep` also the step. Integer dtypes take the largest integers not
    above. Between numbers they are computed in float64 and rounded once.

    Raises:
        ShapeError: `num` is negative, or arrays do not broadcast.

    >>> np.linspace(0, 1, 5)
    tensor([0.  , 0.25, 0.5 , 0.75, 1.  ])
    >>> np.linspace(0, 10, 4, endpoint=False, retstep=True)
    (tensor([0. , 2.5, 5. , 7.5]), 2.5)
    """
    count = operator.index(num)
    parts = count - 1 if endpoint else count
    if _is_number(start) and _is_number(stop):
        first, last = _number(start), _number(stop)
        ramp = tw.linspace(
            first, last, count, dtype=dtype, device=device, endpoint=endpoint
        )
        step: Any = (last - first) / parts if parts > 0 else math.nan
        return (ramp, step) if retstep else ramp
    if count < 0:
        raise ShapeError(f"linspace: num is {count}; it is 0 or more.")
    low, high = tw.broadcast_arrays(start, stop)
    low, high = low * 1.0, high * 1.0
    step = (high - low) / parts if parts > 0 else tw.full_like(low, math.nan)
    ramp = tw.arange(count, dtype=low.dtype, device=low.device)
    ramp = ramp.reshape((count, *(1,) * low.ndim))
    rise = ramp * step
    if parts > 0:  # a step that is less than the least number is 0
        rise = tw.where(step == 0, ramp / parts * (high - low), rise)
    values = low + rise
    if endpoint and count > 1:
        values = tw.concat([values[:-1], high[None]])
    elif count == 1:
        values = low[None]
    if dtype is not None:
        is_integer_dtype = as_dtype(dtype).kind in ("int", "uint")
        values = (tw.floor(values) if is_integer_dtype else values).astype(dtype)
    values = values.moveaxis(0, axis)
    return (values, step) if retstep else values


def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: builtins.bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike = None,
    axis: SupportsIndex = 0,
) -> Tensor:
    """Return `base` to the power of evenly spaced numbers.

    Between numbers they are computed in float64 on the host and rounded once.

    >>> np.logspace(0, 3, 4)
    tensor([   1.,   10.,  100., 1000.])
    """
    if _is_number(start) and _is_number(stop) and _is_number(base):
        first, last, root = _number(start), _number(stop), _number(base)
        fractions = _fractions(operator.index(num), endpoint)
        values = [root ** (first + fraction * (last - first)) for fraction in fractions]
        is_complex = complex in map(type, (first, last, root))
        return _as_tensor(values, dtype, is_complex)
    first_power, last_power, powers = tw.broadcast_arrays(start, stop, base)
    exponents = linspace(first_power, last_power, num, endpoint)
    result = tw.pow(powers * 1.0, exponents).moveaxis(0, axis)
    return result if dtype is None else result.astype(dtype)


def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: builtins.bool = True,
    dtype: DTypeLike = None,
    axis: SupportsIndex = 0,
) -> Tensor:
    """Return numbers from `start` to `stop` of which each is a multiple of the last.

    Between numbers they are computed in float64 on the host and rounded once. Between
    real ends of different signs they are NaN; a complex dtype goes round zero.

    Raises:
        DataError: an end is 0.

    >>> np.geomspace(1, 1000, 4)
    tensor([   1.,   10.,  100., 1000.])
    """
    if _is_number(start) and _is_number(stop):
        first, last = _number(start), _number(stop)
        if not first or not last:
            raise DataError(f"geomspace: from {first} to {last}; no end may be 0.")
        fractions = _fractions(operator.index(num), endpoint)
        is_complex = dtype is not None and as_dtype(dtype).kind == "complex"
        if is_complex or complex in (type(first), type(last)):
            first, last = complex(first), complex(last)
            ratio = cmath.log(last / first)
            values = [first * cmath.exp(fraction * ratio) for fraction in fractions]
        else:
            sign = -1.0 if first < 0 else 1.0
            if (first < 0) != (last < 0):
                sign = math.nan
            low, high = math.log10(abs(first)), math.log10(abs(last))
            exponents = [low + fraction * (high - low) for fraction in fractions]
            values = [sign * 10**exponent for exponent in exponents]
        if values:  # the ends are exact
            values[0] = first
        if endpoint and len(values) > 1:
            values[-1] = last
        return _as_tensor(values, dtype, type(first) is complex)
    low_end, high_end = tw.broadcast_arrays(start, stop)
    first_log = tw.log10(tw.abs(low_end * 1.0))
    signs = tw.sign(low_end * 1.0)
    last_log = tw.log10(high_end / signs)
    sizes = tw.pow(10.0, linspace(first_log, last_log, num, endpoint))
    result = sizes * signs
    if operator.index(num) > 1:  # the ends are exact
        last = high_end[None] if endpoint else result[-1:]
        result = tw.concat([low_end[None], result[1:-1], last])
    result = result.moveaxis(0, axis)
    return result if dtype is None else result.astype(dtype)


def _is_number(value: ArrayLike) -> builtins.bool:
    """Whether a value is one number that is known without reading from a device."""
    return not isinstance(value, Tensor | list | tuple) and not getattr(
        value, "shape", ()
    )


def _number(value: Any) -> Any:
    """Return a number as Python's: an integer, a float or a complex one."""
    return as_complex_number(value, "an end")


def _fractions(count: int, endpoint: builtins.bool) -> list[float]:
    """Return `count` evenly spaced numbers from 0 to 1."""
    if count < 0:
        raise ShapeError(f"num is {count}; it is 0 or more.")
    parts = max(count - 1 if endpoint else count, 1)
    return [i / parts for i in range(count)]


def _as_tensor(
    values: list[Any], dtype: DTypeLike, is_complex: builtins.bool
) -> Tensor:
    """Return numbers as a tensor, by default of floats or complex numbers."""
    default = DEFAULT_COMPLEX if is_complex else DEFAULT_FLOAT
    return tw.asarray(values or tw.zeros(0), dtype or default)


def meshgrid(
    *xi: ArrayLike,
    copy: builtins.bool = True,
    sparse: builtins.bool = False,
    indexing: str = "xy",
) -> tuple[Tensor, ...]:
    """Return the coordinates of a grid, an array for each axis.

    `xy` lets the first argument count columns, `ij` rows; `sparse` arrays have length
    1 along the others' axes.

    Raises:
        DataError: `indexing` is neither `xy` nor `ij`.

    >>> np.meshgrid([1, 2, 3], [10, 20])[1]
    tensor([[10, 10, 10],
            [20, 20, 20]])
    """
    if indexing not in ("xy", "ij"):
        raise DataError(f"meshgrid: indexing={indexing!r}; it is 'xy' or 'ij'.")
    rank = len(xi)
    flat = [x.ravel() for x in as_tensors(xi)]
    axes = list(range(rank))
    if indexing == "xy" and rank > 1:
        axes[:2] = 1, 0
    open_grid = tuple(
        x.reshape((*(1,) * axis, x.size, *(1,) * (rank - axis - 1)))
        for x, axis in zip(flat, axes, strict=True)
    )
    if sparse or not open_grid:
        return open_grid
    shape = broadcast_shapes(*(x.shape for x in open_grid))
    return tuple(x.broadcast_to(shape) for x in open_grid)


@overload
def indices(
    dimensions: Lengths, dtype: DTypeLike = int, sparse: Literal[False] = False
) -> Tensor: ...


@overload
def indices(
    dimensions: Lengths, dtype: DTypeLike = int, *, sparse: Literal[True]
) -> tuple[Tensor, ...]: ...


def indices(
    dimensions: Lengths,
    dtype: DTypeLike = int,
    sparse: builtins.bool = False,
) -> Tensor | tuple[Tensor, ...]:
    """Return the index along each axis of every element of a shape.

    One array, `(rank, *dimensions)`; for `sparse` a tuple with length 1 along others'
    axes.

    >>> np.indices((2, 3))[1]
    tensor([[0, 1, 2],
            [0, 1, 2]])
    """
    shape = as_shape(dimensions)
    ramps = [tw.arange(length, dtype=dtype) for length in shape]
    grids = meshgrid(*ramps, sparse=sparse, indexing="ij")
    if sparse:
        return grids
    return tw.stack(grids) if grids else tw.zeros(0, dtype)


class _Grid:
    """Makes grids from slices: `np.mgrid[0:3, 0:5]`.

    A step that is imaginary is a number of points, and the end then belongs to them.
    `mgrid` gives one array, `ogrid` a tuple whose arrays have length 1 along others'
    axes.

    >>> np.mgrid[0:2, 0:3][0]
    tensor([[0, 0, 0],
            [1, 1, 1]])
    >>> np.ogrid[0:1:3j]
    tensor([0. , 0.5, 1. ])
    """

    def __init__(self, sparse: builtins.bool) -> None:
        """Make grids that are open or filled."""
        self._sparse = sparse

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Any:
        """Return the grid of one slice, or of one for each axis."""
        if not isinstance(key, tuple):
            return slice_values(key)
        numbers = [number for span in key for number in _numbers_of(span)]
        is_typed = any(hasattr(number, "dtype") for number in numbers)
        dtype = tw.result_type(*numbers) if is_typed else None
        ramps = [slice_values(span, dtype) for span in key]
        dtype = tw.result_type(*ramps) if ramps else DEFAULT_INT
        ramps = [ramp.astype(dtype) for ramp in ramps]
        grids = meshgrid(*ramps, sparse=self._sparse, indexing="ij")
        return grids if self._sparse else tw.stack(grids)


def _numbers_of(span: slice) -> list[Any]:
    """Return the numbers of a slice; a count of points, `5j`, makes them floats."""
    kind = getattr(getattr(span.step, "dtype", None), "kind", None)
    is_count = isinstance(span.step, complex) or kind in ("c", "complex")
    numbers = (span.start, span.stop, 1.0 if is_count else span.step)
    return [number for number in numbers if number is not None]


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)


declare_public(__name__)
