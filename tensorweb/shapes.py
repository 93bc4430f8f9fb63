"""Plain functions on shapes, axes and index lists: no data, no devices.

Row-major throughout: the last axis moves fastest. Everything here is usable on its
own:

>>> tw.shapes.strides((2, 3, 4))
(12, 4, 1)
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, SupportsIndex

from tensorweb.errors import (
    AxisError,
    Clash,
    DataError,
    ShapeError,
    ShapeTypeError,
    TensorIndexError,
    broadcast_clash,
    matmul_clash,
)

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Shape = tuple[int, ...]


def is_integer(value: object) -> TypeIs[SupportsIndex]:
    """Whether a value counts as an integer, as indices and axes do.

    Tensors and arrays do without axes only. Much faster than asking
    `isinstance(value, SupportsIndex)`.

    >>> is_integer(3), is_integer(3.0)
    (True, False)
    """
    if type(value) is int:
        return True
    return hasattr(type(value), "__index__") and not getattr(value, "shape", ())


def as_shape(shape: SupportsIndex | Iterable[SupportsIndex]) -> Shape:
    """Return a shape as a tuple; a single integer is a one-axis shape.

    Raises:
        ShapeError: a length is negative.
        ShapeTypeError: a length is no integer.

    >>> as_shape(3), as_shape([2, 3])
    ((3,), (2, 3))
    """
    try:
        if is_integer(shape):
            result: Shape = (operator.index(shape),)
        else:
            result = tuple(operator.index(length) for length in shape)
    except TypeError as error:
        raise ShapeTypeError(f"shape {shape!r} is not made of integers.") from error
    for length in result:
        if length < 0:
            raise ShapeError(f"shape {result} has a negative length {length}.")
    return result


def size(shape: Sequence[int]) -> int:
    """Return the number of elements; the empty shape has one.

    >>> size((2, 3, 4)), size(())
    (24, 1)
    """
    return prod(shape)


def strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return row-major strides in elements: `s[n-1] = 1, s[i] = s[i+1] * shape[i+1]`.

    >>> strides((2, 3, 4)), strides(())
    ((12, 4, 1), ())
    """
    result = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        result[axis] = result[axis + 1] * shape[axis + 1]
    return tuple(result)


def ravel_index(index: Sequence[int], shape: Sequence[int]) -> int:
    """Return the row-major position of an index list.

    Raises:
        TensorIndexError: the count of indices is wrong or one is out of range.

    >>> ravel_index((1, 2, 3), (5, 6, 7))
    59
    """
    if len(index) != len(shape):
        raise TensorIndexError(
            f"ravel_index: {len(index)} indices {tuple(index)} for the "
            f"{len(shape)} axes of shape {tuple(shape)}."
        )
    position = 0
    for axis, (i, length) in enumerate(zip(index, shape, strict=True)):
        if not 0 <= i < length:
            raise TensorIndexError(
                f"ravel_index: index {i} is out of range for axis {axis} of shape "
                f"{tuple(shape)} (length {length})."
            )
        position = position * length + i
    return position


def unravel_index(position: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the index list of a row-major position.

    Raises:
        TensorIndexError: the position is negative or not below the size.

    >>> unravel_index(59, (5, 6, 7)), unravel_index(4, (5, 3))
    ((1, 2, 3), (1, 1))
    """
    if not 0 <= position < size(shape):
        raise TensorIndexError(
            f"unravel_index: position {position} is out of range for shape "
            f"{tuple(shape)} with {size(shape)} elements."
        )
    index = []
    for length in reversed(shape):
        position, i = divmod(position, length)
        index.append(i)
    return tuple(reversed(index))


def next_position(index: Sequence[int], shape: Sequence[int]) -> tuple[int, ...] | None:
    """Return the index list that follows in row-major order, None after the last.

    >>> next_position((1, 2, 6), (5, 6, 7))
    (1, 3, 0)
    >>> next_position((1, 1, 1), (2, 2, 2)) is None
    True
    """
    position = ravel_index(index, shape) + 1
    return None if position == size(shape) else unravel_index(position, shape)


def _fits(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Whether `other` repeats into `shape` without growing it: the usual case."""
    added = len(shape) - len(other)
    if added < 0:
        return False
    for axis, length in enumerate(other, added):
        if length != 1 and length != shape[axis]:
            return False
    return True


def broadcast_shapes(*shapes: Sequence[int]) -> Shape:
    """Return the common shape of arrays that broadcast together.

    Shapes are aligned at the right; lengths must be equal or one of them 1.

    Raises:
        ShapeError: names the shapes and the axis that do not fit.

    >>> broadcast_shapes((5, 1, 3), (7, 1, 4, 3))
    (7, 5, 4, 3)
    """
    if not shapes:
        return ()
    if len(shapes) == 2 and _fits(*shapes):
        return tuple(shapes[0])
    result = list(shapes[0])
    for shape in shapes[1:]:
        if len(shape) > len(result):
            result = [1] * (len(shape) - len(result)) + result
        shift = len(result) - len(shape)
        for axis, length in enumerate(shape):
            have = result[axis + shift]
            if have == length or length == 1:
                continue
            if have != 1:
                listed = " and ".join(str(tuple(s)) for s in shapes)
                raise ShapeError(
                    f"shapes {listed} do not broadcast: axis {axis + shift} of the "
                    f"result has lengths {have} and {length}; lengths must be equal "
                    "or 1 (insert an axis with expand_dims or reshape).",
                    clash=broadcast_clash(shapes, len(shape) - axis),
                )
            result[axis + shift] = length
    return tuple(result)


def align_shapes(a: Sequence[int], b: Sequence[int]) -> tuple[Shape, Shape, Shape]:
    """Return both shapes padded with leading ones, and their broadcast shape.

    >>> align_shapes([5, 1, 3], [7, 1, 4, 3])
    ((1, 5, 1, 3), (7, 1, 4, 3), (7, 5, 4, 3))
    """
    result = broadcast_shapes(a, b)
    ndim = len(result)
    return (
        (1,) * (ndim - len(a)) + tuple(a),
        (1,) * (ndim - len(b)) + tuple(b),
        result,
    )


def normalize_axis(axis: SupportsIndex, ndim: int, name: str = "axis") -> int:
    """Return an axis counted from the front.

    Raises:
        AxisError: the axis does not exist.
        DataError: it is no integer.

    >>> normalize_axis(-1, 3)
    2
    """
    try:
        value = operator.index(axis)
    except TypeError as error:
        raise DataError(f"{name} {axis!r} is no integer.") from error
    if not -ndim <= value < ndim:
        raise AxisError(
            f"{name} {value} is out of range for a tensor with {ndim} axes "
            f"(valid: {-ndim} to {ndim - 1})."
            if ndim
            else f"{name} {value} is out of range: the tensor has no axes (0-d)."
        )
    return value + ndim if value < 0 else value


def normalize_axes(
    axes: SupportsIndex | Iterable[SupportsIndex] | None, ndim: int
) -> tuple[int, ...]:
    """Return axes counted from the front, sorted; None means all of them.

    Raises:
        AxisError: an axis does not exist or is given twice.

    >>> normalize_axes((-1, 0), 3)
    (0, 2)
    """
    return tuple(sorted(normalize_axis_order(axes, ndim)))


def normalize_axis_order(
    axes: SupportsIndex | Iterable[SupportsIndex] | None, ndim: int
) -> tuple[int, ...]:
    """Return axes counted from the front, in the order given; None means all of them.

    Raises:
        AxisError: an axis does not exist or is given twice.
        DataError: one is no integer.

    >>> normalize_axis_order((-1, 0), 3)
    (2, 0)
    """
    if axes is None:
        return tuple(range(ndim))
    if type(axes) is int and -ndim <= axes < ndim:
        return (axes % ndim,)
    if isinstance(axes, str) or not (is_integer(axes) or isinstance(axes, Iterable)):
        raise DataError(f"axis {axes!r} is no integer and no tuple of integers.")
    given = [axes] if is_integer(axes) else list(axes)
    result = [normalize_axis(axis, ndim) for axis in given]
    if len(set(result)) != len(result):
        raise AxisError(f"axis {tuple(given)} names the same axis twice.")
    return tuple(result)


def normalize_permutation(axes: Iterable[SupportsIndex], ndim: int) -> tuple[int, ...]:
    """Return a permutation of all axes, counted from the front.

    Raises:
        AxisError: an axis is missing, repeated or does not exist.

    >>> normalize_permutation((-1, 0, 1), 3)
    (2, 0, 1)
    """
    given = tuple(axes)
    result = tuple(normalize_axis(axis, ndim) for axis in given)
    if sorted(result) != list(range(ndim)):
        raise AxisError(
            f"permute: axes {given} must name each of the {ndim} axes exactly once."
        )
    return result


def infer_reshape(shape: Sequence[int], new: Sequence[int]) -> Shape:
    """Return the new shape with one -1 filled in.

    Raises:
        ShapeError: sizes differ, two -1 are given or a length is below -1.

    >>> infer_reshape((6, 2), (-1, 3, 1))
    (4, 3, 1)
    """
    total = size(shape)
    unknown = [axis for axis, length in enumerate(new) if length == -1]
    if any(length < -1 for length in new):
        raise ShapeError(f"reshape: {tuple(new)} has a length below -1.")
    if len(unknown) > 1:
        raise ShapeError(
            f"reshape: {tuple(new)} has {len(unknown)} lengths -1; only one can be "
            "inferred."
        )
    known = prod(length for length in new if length != -1)
    if unknown:
        if known == 0 or total % known:
            raise ShapeError(
                f"reshape: {total} elements of shape {tuple(shape)} cannot be divided "
                f"into shape {tuple(new)}; {known} does not divide {total}.",
                clash=Clash("reshape", (tuple(shape), tuple(new)), (None, None)),
            )
        filled = list(new)
        filled[unknown[0]] = total // known
        return tuple(filled)
    if known != total:
        raise ShapeError(
            f"reshape: shape {tuple(shape)} has {total} elements, shape {tuple(new)} "
            f"has {known}; sizes must be equal.",
            clash=Clash("reshape", (tuple(shape), tuple(new)), (None, None)),
        )
    return tuple(new)


def matmul_shape(a: Sequence[int], b: Sequence[int]) -> tuple[Shape, int, int, int]:
    """Return the batch shape and m, k, n of `(..., m, k) @ (..., k, n)`.

    Both operands need two axes or more.

    Raises:
        ShapeError: the inner sizes differ or the batch axes do not broadcast.

    >>> matmul_shape((7, 2, 3), (3, 5))
    ((7,), 2, 3, 5)
    """
    m, k = a[-2:]
    k_right, n = b[-2:]
    if k != k_right:
        raise ShapeError(
            f"matmul: inner sizes differ, {tuple(a)} @ {tuple(b)} has {k} and "
            f"{k_right}; transpose or reshape one operand.",
            clash=matmul_clash(a, b, (len(a) - 1, len(b) - 2)),
        )
    try:
        batch = broadcast_shapes(a[:-2], b[:-2])
    except ShapeError as error:
        axes = error.clash.axes if error.clash else (None, None)
        raise ShapeError(str(error), clash=matmul_clash(a, b, axes)) from None
    return batch, m, k, n
