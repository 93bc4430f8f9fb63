"""Counted numbers and coordinates: ranges, spaces and grids."""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.dtypes import (
    DEFAULT_COMPLEX,
    DEFAULT_FLOAT,
    DEFAULT_INT,
    as_dtype,
)
from tensorweb.errors import DataError, ShapeError
from tensorweb.functions.creation import Lengths
from tensorweb.numpy.arguments import (
    as_tensors,
    check_unused,
    declare_public,
    slice_values,
)
from tensorweb.shapes import as_shape, broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.scalars import as_complex_number


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
) -> Any:
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


def indices(
    dimensions: Lengths,
    dtype: DTypeLike = int,
    sparse: builtins.bool = False,
) -> Any:
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


def ix_(*args: ArrayLike) -> tuple[Tensor, ...]:
    """Return 1-D sequences as indices of a grid: rows, columns and so on.

    Bool sequences select the positions of true elements, which are read.

    Raises:
        ShapeError: a sequence has not one axis.

    >>> x = np.arange(10).reshape(2, 5)
    >>> x[np.ix_([0, 1], [2, 4])]
    tensor([[2, 4],
            [7, 9]])
    """
    vectors = []
    for index, x in enumerate(as_tensors(args)):
        if x.ndim != 1:
            raise ShapeError(f"ix_: argument {index} has shape {x.shape}; give 1-D.")
        if x.dtype.kind == "bool":
            (x,) = x.nonzero()
        elif not x.size and not hasattr(args[index], "dtype"):
            x = x.astype(DEFAULT_INT)
        vectors.append(x)
    return meshgrid(*vectors, sparse=True, indexing="ij")


class Grid:
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
    return [each for each in numbers if each is not None]


mgrid = Grid(sparse=False)
ogrid = Grid(sparse=True)


declare_public(__name__)
