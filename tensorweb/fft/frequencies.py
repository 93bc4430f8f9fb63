"""Frequencies of transforms, and the order with frequency zero in the middle."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import SupportsIndex

from tensorweb import dtypes
from tensorweb.devices import as_device, stores, usable_dtype
from tensorweb.dtypes import DType
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.functions import asarray
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.hostdata import pack
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.linspace import counted
from tensorweb.nodes.policy import LARGEST_HOST_RANGE
from tensorweb.nodes.selection import concat, roll
from tensorweb.ops import OPS
from tensorweb.public_names import declare_public
from tensorweb.shapes import normalize_axes
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import NumberLike, as_number
from tensorweb.tensor.convert import ArrayLike, DTypeLike, optional_dtype

Axes = SupportsIndex | Iterable[SupportsIndex]


def fftfreq(
    n: SupportsIndex,
    /,
    *,
    d: NumberLike = 1.0,
    dtype: DTypeLike = None,
    device: object = None,
) -> Tensor:
    """Return the frequencies of the elements of `fft`, in cycles per unit of `d`.

    Zero and the positive frequencies come first, then the negative ones in ascending
    order: `[0, 1, …, (n - 1) // 2, -(n // 2), …, -1] / (d * n)`, of shape (n,).

    Args:
        n: number of transformed samples.
        d: distance between two samples.
        dtype: a floating dtype; float32 by default.
        device: device of the result.

    Raises:
        ShapeError: `n` is less than 1.
        DTypeError: the dtype is not floating, or `d` is no real number.
        DataError: `d` is 0.

    >>> tw.fft.fftfreq(5, d=0.1)
    tensor([ 0.,  2.,  4., -4., -2.])
    """
    count = _length("fftfreq", n)
    step = _step("fftfreq", count, d)
    kind, where = _kind("fftfreq", dtype, device)
    half = count // 2
    above = _multiples(0, count - half, step, kind, where)
    below = _multiples(-half, half, step, kind, where)
    return Tensor(concat([above, below], 0))


def rfftfreq(
    n: SupportsIndex,
    /,
    *,
    d: NumberLike = 1.0,
    dtype: DTypeLike = None,
    device: object = None,
) -> Tensor:
    """Return the frequencies of the elements of `rfft`, in cycles per unit of `d`.

    `[0, 1, …, n // 2] / (d * n)`, of shape (n // 2 + 1,). Arguments are as for
    `fftfreq`.

    Raises:
        ShapeError: `n` is less than 1.
        DTypeError: the dtype is not floating, or `d` is no real number.
        DataError: `d` is 0.

    >>> tw.fft.rfftfreq(5, d=0.1)
    tensor([0., 2., 4.])
    """
    count = _length("rfftfreq", n)
    step = _step("rfftfreq", count, d)
    kind, where = _kind("rfftfreq", dtype, device)
    return Tensor(_multiples(0, count // 2 + 1, step, kind, where))


def fftshift(x: ArrayLike, /, *, axes: Axes | None = None) -> Tensor:
    """Return the elements with frequency zero in the middle of each axis.

    Any dtype; the shape stays. Of an even number of elements one more is before the
    middle than after it.

    Args:
        x: the result of a transform or of `fftfreq`.
        axes: the axes to shift; all axes by default.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> tw.fft.fftshift(tw.fft.fftfreq(5, d=0.2))
    tensor([-2., -1.,  0.,  1.,  2.])
    """
    return _shift(asarray(x), axes, lambda length: length // 2)


def ifftshift(x: ArrayLike, /, *, axes: Axes | None = None) -> Tensor:
    """Undo `fftshift`: return the elements with frequency zero first.

    Any dtype; the shape stays. It differs from `fftshift` if a length is odd.

    Args:
        x: elements with frequency zero in the middle.
        axes: the axes to shift; all axes by default.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> tw.fft.ifftshift([-2, -1, 0, 1, 2])
    tensor([ 0,  1,  2, -2, -1])
    """
    return _shift(asarray(x), axes, lambda length: -(length // 2))


def _shift(x: Tensor, axes: Axes | None, shift: Callable[[int], int]) -> Tensor:
    node = x.node
    for axis in normalize_axes(axes, len(node.shape)):
        node = roll(node, shift(node.shape[axis]), axis)
    return Tensor(node)


def _length(name: str, n: SupportsIndex) -> int:
    """Return the number of samples.

    Raises:
        ShapeError: it is less than 1, or not an integer.
    """
    try:
        count = operator.index(n)
    except TypeError as error:
        raise ShapeError(
            f"{name}: n is {n!r}; it is the number of samples, an integer."
        ) from error
    if count < 1:
        raise ShapeError(
            f"{name}: n is {count}; give the number of samples, 1 or more."
        )
    return count


def _step(name: str, count: int, d: NumberLike) -> float:
    """Return the distance between two frequencies.

    Raises:
        DataError: `d` is 0.
    """
    distance = as_number(d, f"{name}: d")
    if distance == 0:
        raise DataError(f"{name}: d is 0; give the distance between two samples.")
    return 1.0 / (count * distance)


def _kind(name: str, dtype: DTypeLike, device: object) -> tuple[DType, str]:
    """Return the dtype and device of a result.

    Raises:
        DTypeError: the dtype is not floating, or the device does not store it.
    """
    found = optional_dtype(dtype) or dtypes.DEFAULT_FLOAT
    if found.kind != "float":
        raise DTypeError(
            f"{name}: dtype {found}; frequencies are fractions, give a floating dtype."
        )
    where = as_device(device)
    return usable_dtype(found, where), where


def _multiples(first: int, count: int, step: float, dtype: DType, device: str) -> Node:
    """Return `count` consecutive integers from `first` on, times a step.

    They are rounded once, from float64, if the device stores float64 or the host
    computes them; otherwise they are exact integers times the rounded step.
    """
    if not stores(dtypes.float64, device) and count <= LARGEST_HOST_RANGE:
        numbers = [i * step for i in range(first, first + count)]
        return leaf(HostData(pack(numbers, dtype, (count,))), (count,), dtype, device)
    wide = dtypes.float64 if stores(dtypes.float64, device) else dtypes.float32
    integers = cast(counted(count, first, 1, dtypes.int32, device), wide)
    scaled = elementwise(OPS["multiply"], integers, constant(step, wide, device))
    return cast(scaled, dtype)


declare_public(__name__)
