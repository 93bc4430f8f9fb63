"""Make tensors: from data, filled with one number, or counted."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import SupportsIndex

from tensorweb import dtypes
from tensorweb.build.elementwise import cast, elementwise
from tensorweb.build.movement import expand
from tensorweb.build.selection import iota
from tensorweb.convert import ArrayLike, DTypeLike, as_node, optional_dtype
from tensorweb.devices import as_device, require_dtype
from tensorweb.dtypes import DType, check_integer
from tensorweb.errors import DataError, ShapeError
from tensorweb.graph import Node, constant
from tensorweb.ops import OPS
from tensorweb.shapes import as_shape
from tensorweb.tensor import Tensor

Lengths = SupportsIndex | Iterable[SupportsIndex]


def asarray(
    obj: ArrayLike,
    /,
    dtype: DTypeLike = None,
    *,
    device: object = None,
    copy: bool | None = None,
) -> Tensor:
    """Return data as a tensor: numbers, nested lists, NumPy arrays, buffers, tensors.

    Numbers give bool, int32 or float32, whichever holds them all; arrays and buffers
    keep their dtype. Host data are copied, so later changes to them have no effect.

    Raises:
        DataError: rows differ in length or an item is no number; names the place.
        RangeError: an integer does not fit the dtype.
        DTypeError: the device cannot store the dtype.

    >>> tw.asarray([[1, 2, 3], [4, 5, 6]]).shape
    (2, 3)
    >>> tw.asarray([1, 2.5])
    tensor([1. , 2.5])
    """
    if isinstance(obj, Tensor) and dtype is None and device is None and not copy:
        return obj
    return Tensor(as_node(obj, dtype, device, copy))


def from_dlpack(
    x: object, /, *, device: object = None, copy: bool | None = None
) -> Tensor:
    """Return another library's array as a tensor, copied through host memory.

    Raises:
        DataError: `x` offers no `__dlpack__`, or `copy=False`.

    >>> tw.from_dlpack(tw.asarray([1, 2, 3]))
    tensor([1, 2, 3])
    """
    if not hasattr(x, "__dlpack__"):
        raise DataError(f"from_dlpack: {type(x).__name__} offers no __dlpack__.")
    if isinstance(x, Tensor):
        return asarray(x, device=device, copy=copy)
    import numpy

    return asarray(numpy.from_dlpack(x), device=device, copy=copy)


def full(
    shape: Lengths,
    fill_value: ArrayLike,
    *,
    dtype: DTypeLike = None,
    device: object = None,
) -> Tensor:
    """Return a tensor of one number everywhere; it takes no storage.

    Raises:
        ShapeError: a length is negative, or `fill_value` has axes.
        RangeError: the number does not fit the dtype.

    >>> tw.full((2, 3), 7)
    tensor([[7, 7, 7],
            [7, 7, 7]])
    """
    value = as_node(fill_value, dtype, device)
    if value.shape:
        raise ShapeError(f"full: fill_value has shape {value.shape}; give one number.")
    lengths = as_shape(shape)
    if value.op.kind == "constant":
        return Tensor(constant(value.attrs, value.dtype, value.device, lengths))  # type: ignore[arg-type]  # a constant's attrs are its number
    return Tensor(expand(value, lengths))


def zeros(shape: Lengths, *, dtype: DTypeLike = None, device: object = None) -> Tensor:
    """Return a tensor of zeros, float32 unless said otherwise; it takes no storage.

    >>> tw.zeros((2, 3))
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    return _filled(shape, 0, dtype, device)


def ones(shape: Lengths, *, dtype: DTypeLike = None, device: object = None) -> Tensor:
    """Return a tensor of ones, float32 unless said otherwise; it takes no storage.

    >>> tw.ones(3, dtype=tw.int32)
    tensor([1, 1, 1])
    """
    return _filled(shape, 1, dtype, device)


def empty(shape: Lengths, *, dtype: DTypeLike = None, device: object = None) -> Tensor:
    """Return a tensor of unspecified values, which are zeros here.

    >>> tw.empty((2, 0)).shape
    (2, 0)
    """
    return _filled(shape, 0, dtype, device)


def _filled(shape: Lengths, value: int, dtype: DTypeLike, device: object) -> Tensor:
    place = as_device(device)
    wanted = optional_dtype(dtype) or dtypes.DEFAULT_FLOAT
    require_dtype(wanted, place)
    return Tensor(constant(value, wanted, place, as_shape(shape)))


def full_like(
    x: ArrayLike,
    /,
    fill_value: ArrayLike,
    *,
    dtype: DTypeLike = None,
    device: object = None,
) -> Tensor:
    """Return one number everywhere, with the shape, dtype and device of `x`.

    >>> tw.full_like([1, 2, 3], 9)
    tensor([9, 9, 9])
    """
    like = asarray(x)
    return full(
        like.shape,
        fill_value,
        dtype=like.dtype if dtype is None else dtype,
        device=like.device if device is None else device,
    )


def zeros_like(
    x: ArrayLike, /, *, dtype: DTypeLike = None, device: object = None
) -> Tensor:
    """Return zeros with the shape, dtype and device of `x`.

    >>> tw.zeros_like([1.5, 2.5])
    tensor([0., 0.])
    """
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(
    x: ArrayLike, /, *, dtype: DTypeLike = None, device: object = None
) -> Tensor:
    """Return ones with the shape, dtype and device of `x`.

    >>> tw.ones_like([1.5, 2.5])
    tensor([1., 1.])
    """
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(
    x: ArrayLike, /, *, dtype: DTypeLike = None, device: object = None
) -> Tensor:
    """Return unspecified values (zeros here) with the shape, dtype, device of `x`.

    >>> tw.empty_like([[1, 2]]).shape
    (1, 2)
    """
    return full_like(x, 0, dtype=dtype, device=device)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DTypeLike = None,
    device: object = None,
) -> Tensor:
    """Return `start, start + step, …` below `stop`; `arange(n)` counts from 0.

    Integers give int32, floats give float32.

    Raises:
        DataError: the step is 0 or not finite.
        RangeError: a value does not fit the integer dtype.

    >>> tw.arange(5)
    tensor([0, 1, 2, 3, 4])
    >>> tw.arange(1, 2, 0.25)
    tensor([1.  , 1.25, 1.5 , 1.75])
    """
    first, end = (0, start) if stop is None else (start, stop)
    if step == 0 or not all(map(math.isfinite, (first, end, step))):
        raise DataError(
            f"arange: start {first}, stop {end}, step {step}; all must be finite and "
            "the step not 0."
        )
    are_integers = all(isinstance(value, SupportsIndex) for value in (first, end, step))
    wanted = optional_dtype(dtype) or (
        dtypes.DEFAULT_INT if are_integers else dtypes.DEFAULT_FLOAT
    )
    place = as_device(device)
    require_dtype(wanted, place)
    if are_integers:
        steps = range(
            operator.index(first),  # type: ignore[arg-type]  # an integer, as checked
            operator.index(end),  # type: ignore[arg-type]  # likewise
            operator.index(step),  # type: ignore[arg-type]  # likewise
        )
        length = len(steps)
        if length:
            check_integer(steps[0], wanted)
            check_integer(steps[-1], wanted)
    else:
        length = max(math.ceil((end - first) / step), 0)
    return Tensor(_ramp(length, first, step, wanted, place))


def _ramp(length: int, start: float, step: float, dtype: DType, device: str) -> Node:
    """Return `start + i * step` for i from 0."""
    counted = dtype if dtype.kind in ("int", "uint") else dtypes.int32
    node = cast(iota(length, counted, device), dtype)
    if step != 1:
        factor = constant(_wrapped(step, dtype), dtype, device)
        node = elementwise(OPS["multiply"], node, factor)
    if start != 0:
        node = elementwise(OPS["add"], node, constant(start, dtype, device))
    return node


def _wrapped(step: float, dtype: DType) -> float:
    """Return a negative step as the unsigned number that wraps to the same result."""
    return step + 2**dtype.bits if dtype.kind == "uint" and step < 0 else step


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: DTypeLike = None,
    device: object = None,
    endpoint: bool = True,
) -> Tensor:
    """Return `num` evenly spaced numbers; the first and last are exact.

    Without `endpoint` the interval is divided into `num` parts and `stop` left out.

    Raises:
        ShapeError: `num` is negative.

    >>> tw.linspace(0, 1, 5)
    tensor([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    count = operator.index(num)
    if count < 0:
        raise ShapeError(f"linspace: num is {count}; it is 0 or more.")
    wanted = optional_dtype(dtype) or dtypes.DEFAULT_FLOAT
    place = as_device(device)
    require_dtype(wanted, place)
    if wanted.kind != "float":
        inner = linspace(start, stop, num, device=device, endpoint=endpoint)
        return Tensor(cast(elementwise(OPS["floor"], inner.node), wanted))
    parts = count - 1 if endpoint else count
    step = (stop - start) / parts if parts > 0 else 0.0
    node = _ramp(count, start, step, wanted, place)
    if endpoint and count > 1:
        node = _exact_end(node, stop, step)
    return Tensor(node)


def _exact_end(node: Node, stop: float, step: float) -> Node:
    """Count the upper half down from `stop`, so that the last value is `stop`."""
    count, device = node.size, node.device
    index = iota(count, dtypes.int32, device)
    upper = _ramp(count, -(count - 1), 1, node.dtype, device)
    scaled = elementwise(OPS["multiply"], upper, constant(step, node.dtype, device))
    from_end = elementwise(OPS["add"], scaled, constant(stop, node.dtype, device))
    half = constant(count // 2, dtypes.int32, device)
    is_lower = elementwise(OPS["less"], index, half)
    return elementwise(OPS["where"], is_lower, node, from_end)
