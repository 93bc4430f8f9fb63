"""Arguments that NumPy's functions share, and operands as tensors.

Options without an effect here are accepted; others are refused with an alternative.
"""

from __future__ import annotations

import inspect
import string
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Concatenate, ParamSpec, SupportsIndex, TypeVar

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.dtypes import DType
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import ROW_MAJOR as ROW_MAJOR
from tensorweb.tensor.arguments import into as into
from tensorweb.tensor.convert import (
    ArrayLike,
    DTypeLike,
    as_operands,
    device_of,
    is_number,
    is_scalar,
    number_of_scalar,
)
from tensorweb.tensor.indexing import index_node

P = ParamSpec("P")
R = TypeVar("R")

Out = Tensor | tuple[Tensor, ...] | None
"""The tensor that a result is written into, alone or in a tuple, if there is one."""


def signature_of(
    model: Callable[P, object],
) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Give a function the signature of another one, for `help`, editors and mypy.

    >>> @signature_of(np.sum)
    ... def total(*args, **options):
    ...     return np.sum(*args, **options)
    >>> list(inspect.signature(total).parameters)[:3]
    ['a', 'axis', 'dtype']
    """

    def decorate(function: Callable[..., R]) -> Callable[P, R]:
        vars(function)["__signature__"] = inspect.signature(model)
        return function

    return decorate


def signature_after_first(
    model: Callable[Concatenate[Any, P], object],
) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Give a function the signature of another one without its first parameter.

    >>> def power(exponent, x, out=None):
    ...     return x**exponent
    >>> @signature_after_first(power)
    ... def cube(*args, **options):
    ...     return power(3, *args, **options)
    >>> inspect.signature(cube)
    <Signature (x, out=None)>
    """

    def decorate(function: Callable[..., R]) -> Callable[P, R]:
        _, *parameters = inspect.signature(model).parameters.values()
        vars(function)["__signature__"] = inspect.Signature(parameters)
        return function

    return decorate


def with_first(
    function: Callable[Concatenate[Any, P], R], model: Any, name: str | None = None
) -> Callable[P, R]:
    """Return a function whose first argument is bound to a function of `tw`.

    Args:
        function: what the result calls; its other parameters are those of the result.
        model: the first argument; the result has its name and documentation.
        name: another name of the result, whose documentation is that of `function`.

    >>> def call(function, number):
    ...     return function(number)
    >>> with_first(call, abs)(-1), with_first(call, abs).__name__
    (1, 'abs')
    """

    @signature_after_first(function)
    def bound(*args: Any, **options: Any) -> R:
        return function(model, *args, **options)

    bound.__name__ = bound.__qualname__ = name or model.__name__
    bound.__doc__ = function.__doc__ if name else model.__doc__
    bound.__module__ = function.__module__
    vars(bound)["__wrapped__"] = function  # has the annotations that editors read
    return bound


def is_by_columns(order: object) -> bool:
    """Whether an `order` argument asks for column-major order."""
    return isinstance(order, str) and order.upper() == "F"


def check_order(name: str, order: object) -> None:
    """Raise unless an `order` argument allows row-major order.

    Raises:
        DataError: the order is not one of `ROW_MAJOR`.
    """
    if order not in ROW_MAJOR and str(order).upper() not in ROW_MAJOR:
        raise DataError(
            f"{name}: order={order!r}, but elements are in row-major order here; leave "
            "it out, or work on the transposed array."
        )


def check_unused(name: str, **arguments: object) -> None:
    """Raise when an argument without a meaning here is given.

    Raises:
        DataError: one of them is not None.
    """
    for argument, value in arguments.items():
        if value is not None:
            raise DataError(
                f"{name}: {argument}={value!r} is not possible here; leave it out."
            )


def check_creation(name: str, order: object, like: object) -> None:
    """Raise unless elements are in row-major order, and `like` is not given."""
    check_order(name, order)
    check_unused(name, like=like)


def as_operand_like(value: ArrayLike, x: Tensor) -> Tensor:
    """Return an operand as a tensor; others take the device and precision of `x`.

    >>> x = tw.asarray([1.0], dtype="float64", device="cpu")
    >>> as_operand_like(0.1, x).item(), as_operand_like([0.1], x).tolist()
    (0.1, [0.1])
    """
    return value if isinstance(value, Tensor) else Tensor(as_operands(x, value)[1])


def as_tensors(values: Iterable[ArrayLike]) -> list[Tensor]:
    """Return operands as tensors, numbers and lists on the device of the tensors.

    A number keeps the dtype that it has alone, as in NumPy's functions that join.

    >>> [x.dtype for x in as_tensors([tw.ones(2, dtype="float16", device="cpu"), 0.5])]
    [tensorweb.float16, tensorweb.float32]
    """
    operands = list(values)
    listed = [[value] if is_scalar(value) else value for value in operands]
    tensors = map(Tensor, as_operands(*listed)) if listed else ()
    return [
        x.reshape(()) if is_scalar(value) else value if isinstance(value, Tensor) else x
        for value, x in zip(operands, tensors, strict=True)
    ]


def as_indices(indices: ArrayLike, x: Tensor) -> Tensor:
    """Return indices as a tensor on the device of what they index.

    NumPy's int64 becomes int32 where a device lacks it, never the dtype of `x`.

    >>> as_indices([2, 0], tw.ones(3)).dtype
    tensorweb.int32
    """
    return Tensor(index_node(indices, x.device))


def as_signed_operand(value: ArrayLike, *others: ArrayLike) -> Tensor:
    """Return an operand of a difference as a tensor.

    Integers keep the signed dtype that they have alone, also with unsigned
    tensors among the `others` of a call, so that the difference can be negative.

    >>> as_signed_operand(5, tw.ones(2, dtype="uint32")).dtype
    tensorweb.int32
    """
    if isinstance(value, Tensor):
        return value
    x = tw.asarray(value, device=device_of(*others))
    return x if x.dtype.kind == "int" else as_first_operand(value, *others)


def as_first_operand(value: ArrayLike, *others: ArrayLike) -> Tensor:
    """Return an operand as a tensor on the device of the first tensor of a call.

    >>> x = tw.asarray([1.0], dtype="float64", device="cpu")
    >>> as_first_operand([0.1], None, x).tolist(), as_first_operand([1, 2]).dtype
    ([0.1], tensorweb.int32)
    """
    if isinstance(value, Tensor):
        return value
    tensors = [other for other in others if isinstance(other, Tensor)]
    return as_tensors([value, *tensors[:1]])[0]


def as_pair(x1: ArrayLike, x2: ArrayLike) -> tuple[Tensor, Tensor]:
    """Return two operands as tensors of their common dtype."""
    first, second = (Tensor(node) for node in as_operands(x1, x2))
    dtype = tw.result_type(first, second)
    return first.astype(dtype), second.astype(dtype)


def is_inexact(dtype: DType) -> bool:
    """Whether a dtype rounds: floats and complex numbers do."""
    return dtype.kind not in ("bool", "int", "uint")


def as_floats(x: ArrayLike) -> Tensor:
    """Return an operand as floats; integers and bool become the default float.

    >>> as_floats([1, 2])
    tensor([1., 2.])
    """
    values = tw.asarray(x)
    return values if is_inexact(values.dtype) else values.astype(dtypes.DEFAULT_FLOAT)


def as_mask(condition: ArrayLike, x: Tensor) -> Tensor:
    """Return a condition as a bool tensor of the shape of `x`, on its device."""
    device = condition.device if isinstance(condition, Tensor) else x.device
    mask = tw.asarray(condition, device=device).astype(dtypes.bool)
    return tw.broadcast_to(mask, x.shape)


def apply_mask(x: Tensor, condition: ArrayLike, neutral: float) -> Tensor:
    """Return values where a condition holds, elsewhere a neutral number.

    >>> apply_mask(tw.asarray([1, 2, 3]), [True, False, True], 0)
    tensor([1, 0, 3])
    """
    return x if condition is True else tw.where(as_mask(condition, x), x, neutral)


def as_real_floats(name: str, x: ArrayLike) -> Tensor:
    """Return an operand as floats, for functions of real numbers alone.

    Raises:
        DTypeError: the elements are complex.
    """
    values = as_floats(x)
    if values.dtype.kind == "complex":
        raise DTypeError(
            f"{name}: {values.dtype} elements; it takes real numbers. Take np.real(x), "
            "np.imag(x) or np.abs(x)."
        )
    return values


def flatten_without_axis(
    a: ArrayLike, axis: SupportsIndex | None
) -> tuple[Tensor, int]:
    """Return a tensor and an axis of it; all elements in row-major order for None."""
    x = tw.asarray(a)
    return (x.ravel(), 0) if axis is None else (x, normalize_axis(axis, x.ndim))


def resolve_indices(indices: Tensor, length: int, mode: str) -> Tensor:
    """Return indices that are in range by a mode such as `wrap`.

    Raises:
        DataError: there is no such mode.
    """
    if not indices.size or indices.dtype.kind == "bool":  # no mask, as in NumPy
        indices = indices.astype(int)
    if mode == "wrap":
        return tw.remainder(indices, length)
    if mode == "clip":
        return tw.clip(indices, 0, length - 1)
    if mode != "raise":
        raise DataError(f"mode={mode!r}; it is raise, wrap or clip.")
    return indices


def slice_values(span: slice, dtype: DTypeLike = None) -> Tensor:
    """Return the range that a slice describes; `start:stop:5j` has five numbers."""
    start: Any = 0 if span.start is None else span.start
    step: Any = 1 if span.step is None else span.step
    if span.stop is None:
        raise DataError(f"grid: {span} has no end; write start:stop.")
    if isinstance(step, Tensor) and step.dtype.kind == "complex":
        step = step.item()
    count = number_of_scalar(step) if is_number(step) else step
    if isinstance(count, complex):
        return tw.linspace(start, span.stop, int(abs(count)), dtype=dtype)
    return tw.arange(start, span.stop, step, dtype)


LETTERS = string.ascii_uppercase + string.ascii_lowercase


def subscripts_of(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """Return subscripts and operands of `einsum`; axes in lists become letters."""
    if operands and isinstance(operands[0], str):
        return operands[0], list(operands[1:])
    count = len(operands) // 2
    texts = ["".join(map(_letter_of, axes)) for axes in operands[1 : 2 * count : 2]]
    result = [f"->{''.join(map(_letter_of, axes))}" for axes in operands[2 * count :]]
    return ",".join(texts) + "".join(result), list(operands[0 : 2 * count : 2])


def _letter_of(axis: Any) -> str:
    if axis is Ellipsis:
        return "..."
    if not 0 <= axis < len(LETTERS):
        raise ShapeError(f"einsum: axis {axis}; give numbers from 0 to 51.")
    return LETTERS[axis]
