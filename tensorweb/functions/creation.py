"""Make tensors: from data, filled, counted, with a pattern, and coordinate grids."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex

from tensorweb import dtypes
from tensorweb.devices import as_device, usable_dtype
from tensorweb.dtypes import DType, as_dtype, check_integer
from tensorweb.errors import DataError, DTypeError, ExchangeError, ShapeError
from tensorweb.graph.node import Node, constant, number_of_constant
from tensorweb.nodes import matrices as build
from tensorweb.nodes.complex_parts import join_parts
from tensorweb.nodes.elementwise import cast
from tensorweb.nodes.linspace import counted, grids, spaced
from tensorweb.nodes.movement import expand
from tensorweb.public_names import declare_public
from tensorweb.shapes import as_shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import NumberLike, as_complex_number, as_number
from tensorweb.tensor.convert import (
    ArrayLike,
    DTypeLike,
    as_node,
    as_operands,
    device_of,
    optional_dtype,
)
from tensorweb.tensor.hostarrays import exchanged

Lengths = SupportsIndex | Iterable[SupportsIndex]


def asarray(
    obj: ArrayLike,
    /,
    dtype: DTypeLike = None,
    *,
    device: object = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return data as a tensor: numbers, nested lists, NumPy arrays, buffers, tensors.

    Numbers give bool, int32 or float32, whichever holds them all; arrays and buffers
    keep their dtype, and a tensor that has dtype and device already is returned itself
    unless `copy=True`. Host data are copied, so later changes to them have no effect.
    On `webgpu` arrays of float64, int64 and uint64 become float32, int32 and uint32
    unless a dtype is asked for; a program is warned once (`NarrowedDataWarning`). With
    `requires_grad` the result is a new leaf, to whose `grad` `backward()` adds.

    Raises:
        DataError: rows differ in length or an item is no number; names the item.
        RangeError: an integer does not fit the dtype.
        DTypeError: the device cannot store the dtype.
        TransformError: a gradient is required of integers or bools.

    >>> tw.asarray([[1, 2, 3], [4, 5, 6]]).shape
    (2, 3)
    >>> tw.asarray([1, 2.5])
    tensor([1. , 2.5])
    """
    if requires_grad:
        tensor = Tensor(as_node(obj, dtype, device, copy))
        return tensor.detach().requires_grad_()
    if isinstance(obj, Tensor) and not copy:
        node = obj.node
        if (dtype is None or as_dtype(dtype) is node.dtype) and (
            device is None or as_device(device) == node.device
        ):
            return obj
    return Tensor(as_node(obj, dtype, device, copy))


def tensor(
    data: ArrayLike,
    *,
    dtype: DTypeLike = None,
    device: object = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return data as a new tensor: PyTorch's name for `asarray(data, copy=True)`.

    Errors are those of `asarray`.

    >>> tw.tensor([1.0, 2.0])
    tensor([1., 2.])
    """
    return asarray(
        data, dtype=dtype, device=device, copy=True, requires_grad=requires_grad
    )


def from_dlpack(
    x: object, /, *, device: object = None, copy: bool | None = None
) -> Tensor:
    """Return another library's array as a tensor, copied through host memory.

    Raises:
        DataError: `x` offers no `__dlpack__`, lies on no CPU, or NumPy lacks its dtype.
        ExchangeError: `copy=False`, but a copy is needed (a BufferError as well).

    >>> tw.from_dlpack(tw.asarray([1, 2, 3]))
    tensor([1, 2, 3])
    """
    if not hasattr(x, "__dlpack__"):
        raise DataError(f"from_dlpack: {type(x).__name__} offers no __dlpack__.")
    if isinstance(x, Tensor) and (
        copy is not False or device is None or as_device(device) == x.device
    ):
        return asarray(x, device=device, copy=copy)
    if copy is False:
        raise ExchangeError(
            f"from_dlpack: copy=False, but data of type {type(x).__name__} cannot "
            "become a tensor there without a copy; pass copy=None."
        )
    return asarray(exchanged(x), device=device)


def full(
    shape: Lengths,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    *,
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
        number = number_of_constant(value)
        return Tensor(constant(number, value.dtype, value.device, lengths))
    return Tensor(expand(value, lengths))


def zeros(
    shape: Lengths, *more: Any, dtype: DTypeLike = None, device: object = None
) -> Tensor:
    """Return a tensor of zeros, float32 unless said otherwise; it takes no storage.

    As for `ones` and `empty`, lengths may be given one by one, or a dtype last.

    >>> tw.zeros((2, 3))
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    return _filled(shape, more, 0, dtype, device)


def ones(
    shape: Lengths, *more: Any, dtype: DTypeLike = None, device: object = None
) -> Tensor:
    """Return a tensor of ones, float32 unless said otherwise; it takes no storage.

    >>> tw.ones(3, dtype=tw.int32)
    tensor([1, 1, 1])
    """
    return _filled(shape, more, 1, dtype, device)


def empty(
    shape: Lengths, *more: Any, dtype: DTypeLike = None, device: object = None
) -> Tensor:
    """Return a tensor of unspecified values, which are zeros here.

    >>> tw.empty((2, 0)).shape
    (2, 0)
    """
    return _filled(shape, more, 0, dtype, device)


def _filled(
    shape: Lengths,
    more: tuple[Any, ...],
    value: int,
    dtype: DTypeLike,
    device: object,
) -> Tensor:
    target = as_device(device)
    if more and not isinstance(more[-1], int):
        dtype, more = more[-1], more[:-1]
    lengths = as_shape((shape, *more) if more else shape)  # type: ignore[arg-type]  # raises
    result_dtype = optional_dtype(dtype) or dtypes.DEFAULT_FLOAT
    result_dtype = usable_dtype(result_dtype, target)
    return Tensor(constant(value, result_dtype, target, lengths))


def full_like(
    x: ArrayLike,
    /,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    *,
    device: object = None,
) -> Tensor:
    """Return one number everywhere, with the shape, dtype and device of `x`.

    >>> tw.full_like([1, 2, 3], 9)
    tensor([9, 9, 9])
    """
    like = asarray(x, device=device_of(x, fill_value))
    return full(
        like.shape,
        fill_value,
        dtype=like.dtype if dtype is None else dtype,
        device=like.device if device is None else device,
    )


def zeros_like(
    x: ArrayLike, /, dtype: DTypeLike = None, *, device: object = None
) -> Tensor:
    """Return zeros with the shape, dtype and device of `x`.

    >>> tw.zeros_like([1.5, 2.5])
    tensor([0., 0.])
    """
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(
    x: ArrayLike, /, dtype: DTypeLike = None, *, device: object = None
) -> Tensor:
    """Return ones with the shape, dtype and device of `x`.

    >>> tw.ones_like([1.5, 2.5])
    tensor([1., 1.])
    """
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(
    x: ArrayLike, /, dtype: DTypeLike = None, *, device: object = None
) -> Tensor:
    """Return unspecified values (zeros here) with the shape, dtype, device of `x`.

    >>> tw.empty_like([[1, 2]]).shape
    (1, 2)
    """
    return full_like(x, 0, dtype=dtype, device=device)


def arange(
    start: NumberLike,
    /,
    stop: NumberLike = None,
    step: NumberLike = 1,
    dtype: DTypeLike = None,
    *,
    device: object = None,
) -> Tensor:
    """Return `start, start + step, …` below `stop`; `arange(n)` counts from 0.

    Integers give int32, floats give float32. A 0-d tensor counts as its number.

    Raises:
        DataError: the step is 0 or NaN, or an end is not finite.
        DTypeError: something is no number.
        RangeError: a value does not fit the integer dtype.

    >>> tw.arange(5)
    tensor([0, 1, 2, 3, 4])
    >>> tw.arange(1, 2, 0.25)
    tensor([1.  , 1.25, 1.5 , 1.75])
    """
    first_value, limit = (0, start) if stop is None else (start, stop)
    first, end = (
        as_number(first_value, "arange: start"),
        as_number(limit, "arange: stop"),
    )
    step = as_number(step, "arange: step")
    if step == 0 or math.isnan(step) or not all(map(math.isfinite, (first, end))):
        raise DataError(
            f"arange: start {first}, stop {end}, step {step}; both ends must be finite "
            "and the step a number, not 0."
        )
    are_integers = all(isinstance(value, int) for value in (first, end, step))
    result_dtype = optional_dtype(dtype) or (
        dtypes.DEFAULT_INT if are_integers else dtypes.DEFAULT_FLOAT
    )
    target = as_device(device)
    result_dtype = usable_dtype(result_dtype, target)
    if are_integers:
        steps = range(
            operator.index(first),  # type: ignore[arg-type]  # an integer, as checked
            operator.index(end),  # type: ignore[arg-type]  # an integer
            operator.index(step),  # type: ignore[arg-type]  # an integer
        )
        if steps:
            check_integer(steps[0], result_dtype)
            check_integer(steps[-1], result_dtype)
        length = _length(steps)
        step = step if length > 1 else 1  # any step, and one that fits every dtype
    else:
        span = end - first
        # A span that is there counts one step, though the quotient may underflow.
        is_empty = span == 0 or (span < 0) != (step < 0)
        length = 0 if is_empty else max(math.ceil(span / step), 1)
        step = (first + step) - first if length > 1 else 1  # as NumPy counts
    if result_dtype.kind in ("int", "uint"):
        return Tensor(counted(length, first, step, result_dtype, target))
    return Tensor(spaced(length, first, step, result_dtype, target))


def _length(steps: range) -> int:
    try:
        return len(steps)
    except OverflowError:
        raise DataError(
            f"arange: {steps.start} to {steps.stop} by {steps.step} are more numbers "
            "than any device can count."
        ) from None


def linspace(
    start: NumberLike,
    stop: NumberLike,
    /,
    num: SupportsIndex,
    *,
    dtype: DTypeLike = None,
    device: object = None,
    endpoint: bool = True,
) -> Tensor:
    """Return `num` evenly spaced numbers; the first and last are exact.

    Without `endpoint` the interval is divided into `num` parts and `stop` left out. A
    0-d tensor counts as its number; complex ends give complex64.

    Numbers are computed in float64 and rounded once;
    of more than 262,144 a few in ten thousand are the second nearest float32 where the
    device has no float64. Integer dtypes take the largest whole numbers not above.

    Raises:
        ShapeError: `num` is negative, or `start` or `stop` has axes.
        DTypeError: an end is complex, and the dtype is not.

    >>> tw.linspace(0, 1, 5)
    tensor([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    first = as_complex_number(start, "linspace: start")
    last = as_complex_number(stop, "linspace: stop")
    count = operator.index(num)
    if count < 0:
        raise ShapeError(f"linspace: num is {count}; it is 0 or more.")
    is_real = complex not in (type(first), type(last))
    default_dtype = dtypes.DEFAULT_FLOAT if is_real else dtypes.DEFAULT_COMPLEX
    result_dtype = optional_dtype(dtype) or default_dtype
    target = as_device(device)
    result_dtype = usable_dtype(result_dtype, target)

    def line(first: float, last: float, dtype: DType) -> Node:
        parts = count - 1 if endpoint else count
        step = (last - first) / parts if parts > 0 else 0.0
        if not step and last != first and parts > 0:  # less than any float64
            shares = [first + i / parts * (last - first) for i in range(count)]
            return asarray(shares, dtype, device=target).node
        end = last if endpoint and count > 1 else None
        return spaced(count, first, step, dtype, target, end)

    if is_real:
        return Tensor(line(first.real, last.real, result_dtype))
    if result_dtype.kind != "complex":
        raise DTypeError(
            f"linspace: complex ends, and {result_dtype} has no imaginary part."
        )
    real = line(first.real, last.real, result_dtype.part)
    return Tensor(join_parts(real, line(first.imag, last.imag, result_dtype.part)))


dtypes.tensor_makers[:] = [asarray]


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike = None,
    device: object = None,
) -> Tensor:
    """Return a matrix with ones on a diagonal, `k` above the main one, else zeros.

    Raises:
        ShapeError: a count is negative.

    >>> tw.eye(3)
    tensor([[1., 0., 0.],
            [0., 1., 0.],
            [0., 0., 1.]])
    >>> tw.eye(2, 3, k=1, dtype=tw.int32)
    tensor([[0, 1, 0],
            [0, 0, 1]])
    """
    rows = operator.index(n_rows)
    columns = rows if n_cols is None else operator.index(n_cols)
    if rows < 0 or columns < 0:
        raise ShapeError(f"eye: {rows} rows and {columns} columns; give 0 or more.")
    target = as_device(device)
    result_dtype = usable_dtype(optional_dtype(dtype) or dtypes.DEFAULT_FLOAT, target)
    ones = build.compared_indices("equal", rows, columns, operator.index(k), target)
    return Tensor(cast(ones, result_dtype))


def tril(x: ArrayLike, /, *, k: int = 0) -> Tensor:
    """Return the lower triangle of each matrix, zeros above diagonal `k`.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> tw.tril([[1, 2], [3, 4]])
    tensor([[1, 0],
            [3, 4]])
    """
    node = asarray(x).node
    return Tensor(build.triangle("tril", "less_equal", node, operator.index(k)))


def triu(x: ArrayLike, /, *, k: int = 0) -> Tensor:
    """Return the upper triangle of each matrix, zeros below diagonal `k`.

    Raises:
        ShapeError: there are fewer than two axes.

    >>> tw.triu([[1, 2], [3, 4]])
    tensor([[1, 2],
            [0, 4]])
    """
    node = asarray(x).node
    return Tensor(build.triangle("triu", "greater_equal", node, operator.index(k)))


def meshgrid(*arrays: ArrayLike, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Return coordinate grids of 1-D tensors, as views with strides of 0.

    `xy` puts the first coordinate along the columns, `ij` along the rows.

    Raises:
        ShapeError: an input has more than one axis.
        DataError: `indexing` is neither `xy` nor `ij`.

    >>> x, y = tw.meshgrid([1, 2, 3], [10, 20])
    >>> x
    tensor([[1, 2, 3],
            [1, 2, 3]])
    >>> y
    tensor([[10, 10, 10],
            [20, 20, 20]])
    """
    nodes = as_operands(*arrays) if arrays else ()
    return tuple(Tensor(node) for node in grids(nodes, indexing))


declare_public(__name__)
