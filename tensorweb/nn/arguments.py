"""Validation of the arguments of layers and functions."""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from typing import SupportsIndex

from tensorweb.errors import (
    DataError,
    DTypeError,
    ShapeError,
    equal_clash,
    expected_clash,
)
from tensorweb.functions import asarray, result_type
from tensorweb.hostdata import SEQUENCES
from tensorweb.nodes.convolution import PerAxis
from tensorweb.shapes import Shape, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, host_operand
from tensorweb.tensor.indexing import index_node

REDUCTIONS = ("none", "mean", "sum")


def as_float(name: str, x: ArrayLike, *others: object) -> Tensor:
    """Return data as a floating-point tensor, where the first other tensor lies.

    Integers get the precision of the first other floats.

    Raises:
        DTypeError: it is a tensor of another dtype.
    """
    tensors = [other for other in others if isinstance(other, Tensor)]
    tensor = operand(tensors[0], x) if tensors else asarray(x)
    if tensor.dtype.kind == "float":
        return tensor
    if isinstance(x, TensorBase):
        raise DTypeError(
            f"{name}: the input is {tensor.dtype} of shape {tensor.shape}, and it "
            "takes floats; convert it with astype(tw.float32)."
        )
    floats = [other.dtype for other in tensors if other.dtype.kind == "float"]
    return tensor.astype(floats[0] if floats else "float32")


def indices_operand(x: Tensor, indices: ArrayLike) -> Tensor:
    """Return integers that number rows or classes of `x` as a tensor on its device.

    NumPy's int64 becomes int32 where the device lacks it. Numbers that are no integers
    keep the precision of `x`.
    """
    kind = getattr(getattr(indices, "dtype", None), "kind", "")
    is_empty = isinstance(indices, SEQUENCES) and not indices
    if kind not in ("", "f") or is_empty:
        return Tensor(index_node(indices, x.node.device))
    return operand(x, indices)


def operand(x: Tensor, other: ArrayLike) -> Tensor:
    """Return data as a tensor; arrays and lists get device and precision of `x`."""
    if isinstance(other, Tensor):
        return other
    return Tensor(host_operand(other, x.node.device, x.node.dtype))


def of_one_dtype(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return two floating-point tensors in their promoted dtype."""
    if a.dtype is b.dtype:
        return a, b
    dtype = result_type(a, b)
    return a.astype(dtype), b.astype(dtype)


def choice(name: str, option: str, value: object, allowed: Collection[str]) -> str:
    """Return a word that is one of the options.

    Raises:
        DataError: it is none of them.
    """
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise DataError(f"{name}: {option} is {value!r}; it is one of {words}.")
    return value


def positive(name: str, option: str, value: SupportsIndex) -> int:
    """Return a positive integer.

    Raises:
        DataError: it is none.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise DataError(f"{name}: {option} is {value!r}; give a positive integer.")
    return number


def positive_eps(name: str, eps: float) -> None:
    """Raise unless `eps`, which is added to variances, is positive.

    Raises:
        DataError: it is not positive; equal numbers would be normalised to NaN.
    """
    if not eps > 0:
        raise DataError(f"{name}: eps is {eps}; give a positive number, 1e-5.")


def same_shape(name: str, a: Tensor, b: Tensor) -> None:
    """Raise unless prediction and target have one shape.

    Raises:
        ShapeError: they differ; broadcasting them would be a silent mistake.
    """
    if a.shape != b.shape:
        raise ShapeError(
            f"{name}: the input has shape {a.shape} and the target {b.shape}; they "
            "must be equal: reshape one of them.",
            clash=equal_clash([a.shape, b.shape]),
        )


def floats_of_one_shape(
    name: str, input: ArrayLike, target: ArrayLike
) -> tuple[Tensor, Tensor]:
    """Return both as tensors of floats of one shape; a scalar target broadcasts."""
    tensor = as_float(name, input, target)
    expected = target if isinstance(target, Tensor) else as_float(name, target, tensor)
    if expected.dtype.kind != "float":
        expected = expected.astype(tensor.dtype)
    if expected.ndim:
        same_shape(name, tensor, expected)
    return tensor, expected


def integers_per_axis(
    name: str,
    option: str,
    given: PerAxis,
    count: int,
    least: int,
) -> tuple[int, ...]:
    """Return `count` integers, one per axis; a single integer is used for all axes.

    Raises:
        DataError: they are too few, too small or no integers.
    """
    try:
        if isinstance(given, SupportsIndex):
            result = (operator.index(given),) * count
        else:
            result = tuple([operator.index(value) for value in given])
    except TypeError:
        result = ()
    if len(result) != count or min(result) < least:
        many = "an integer" if count == 1 else f"an integer, or {count} of them"
        raise DataError(f"{name}: {option} is {given!r}; give {many}, {least} or more.")
    return result


def trailing(name: str, x: Tensor, shape: Sequence[int]) -> None:
    """Raise unless a tensor's shape ends in the given lengths.

    Raises:
        ShapeError: it does not.
    """
    lengths: Shape = tuple(shape)
    if x.shape[x.ndim - len(lengths) :] != lengths or x.ndim < len(lengths):
        words = ", ".join(str(length) for length in lengths)
        raise ShapeError(
            f"{name}: the input has shape {x.shape}; it takes (..., {words}).",
            clash=expected_clash(x.shape, lengths, is_open=True, layer=name),
        )


def reduced(name: str, losses: Tensor, reduction: str) -> Tensor:
    """Return losses unreduced, their mean or their sum."""
    choice(name, "reduction", reduction, REDUCTIONS)
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


def one_axis(x: Tensor, axis: SupportsIndex, dim: SupportsIndex | None) -> int:
    """Return a negative axis, which stays valid under `vmap`.

    Raises:
        AxisError: it does not exist.
    """
    chosen = axis if dim is None else dim
    return normalize_axis(chosen, x.ndim) - x.ndim
