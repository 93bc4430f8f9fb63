"""Neighbours: differences, gradients, areas, interpolation, phases without jumps."""

from __future__ import annotations

import math
import operator
from typing import Any, SupportsIndex, overload

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.errors import DataError, RangeError, ShapeError
from tensorweb.nodes.complex_parts import join_parts
from tensorweb.numpy.arguments import (
    as_first_operand,
    as_floats,
    as_operand_like,
    as_signed_operand,
    as_tensors,
    is_inexact,
)
from tensorweb.public_names import declare_public
from tensorweb.shapes import is_integer, normalize_axis, normalize_axis_order
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.reductions import Axis


def diff(
    a: ArrayLike,
    n: SupportsIndex = 1,
    axis: SupportsIndex = -1,
    prepend: ArrayLike = None,
    append: ArrayLike = None,
) -> Tensor:
    """Return differences of neighbours along an axis, `n` times over.

    Of bool it is whether they differ. `prepend` and `append` are joined to the ends
    first.

    Raises:
        RangeError: `n` is negative.

    >>> np.diff([1, 2, 4, 7, 0])
    tensor([ 1,  2,  3, -7])
    >>> np.diff([1, 2, 4, 7, 0], 2)
    tensor([  1,   1, -10])
    """
    x = as_signed_operand(a, prepend, append)
    along = normalize_axis(axis, x.ndim)
    slice_shape = (*x.shape[:along], 1, *x.shape[along + 1 :])
    parts = [
        as_signed_operand(part, x) for part in (prepend, x, append) if part is not None
    ]
    joined = tw.concat(
        [part if part.ndim else tw.broadcast_to(part, slice_shape) for part in parts],
        along,
    )
    times = operator.index(n)
    if joined.dtype is not dtypes.bool:
        return tw.diff(joined, axis=along, n=times)
    if times < 0:
        raise RangeError(f"diff: n is {times}; it is 0 or more.")
    for _ in range(times):
        joined = _without_first(joined, along) != _without_last(joined, along)
    return joined


def _slice_axis(x: Tensor, axis: int, start: int | None, stop: int | None) -> Tensor:
    """Return a slice along one axis."""
    key = [slice(None)] * x.ndim
    key[axis] = slice(start, stop)
    return x[tuple(key)]


def _without_first(x: Tensor, axis: int) -> Tensor:
    return _slice_axis(x, axis, 1, None)


def _without_last(x: Tensor, axis: int) -> Tensor:
    return _slice_axis(x, axis, None, -1)


def ediff1d(
    ary: ArrayLike, to_end: ArrayLike = None, to_begin: ArrayLike = None
) -> Tensor:
    """Return differences of neighbours of all elements, with values at both ends.

    >>> np.ediff1d([1, 2, 4], to_begin=-9, to_end=[7, 8])
    tensor([-9,  1,  2,  7,  8])
    """
    x = as_first_operand(ary, to_begin, to_end).reshape(-1)
    parts = [to_begin, tw.diff(x), to_end]
    flat = [as_operand_like(part, x).reshape(-1) for part in parts if part is not None]
    return tw.concat(flat).astype(x.dtype)


@overload
def gradient(
    f: ArrayLike, *varargs: ArrayLike, axis: SupportsIndex, edge_order: int = 1
) -> Tensor: ...


@overload  # whether there is one axis or several is not known before the call
def gradient(
    f: ArrayLike, *varargs: ArrayLike, axis: Axis = None, edge_order: int = 1
) -> Any: ...


def gradient(
    f: ArrayLike,
    *varargs: ArrayLike,
    axis: Axis = None,
    edge_order: int = 1,
) -> Tensor | tuple[Tensor, ...]:
    """Return derivatives along axes: central differences inside, one-sided at the ends.

    `varargs` are distances, one for all axes or one for each, or coordinates of an
    axis. Several axes give a tuple.

    Raises:
        ShapeError: an axis is too short, or coordinates have another length.
        DataError: there are too many distances, or `edge_order` is not 1 or 2.

    >>> np.gradient([1.0, 2.0, 4.0, 7.0])
    tensor([1. , 1.5, 2.5, 3. ])
    >>> np.gradient([1.0, 4.0, 9.0], [0.0, 1.0, 3.0])
    tensor([3.       , 2.8333333, 2.5      ])
    """
    x = as_floats(as_first_operand(f, *varargs))
    axes = normalize_axis_order(axis, x.ndim)
    if edge_order not in (1, 2):
        raise DataError(f"gradient: edge_order is {edge_order}; it is 1 or 2.")
    if len(varargs) not in (0, 1, len(axes)):
        raise DataError(
            f"gradient: {len(varargs)} distances for {len(axes)} axes; give one for "
            "all or one for each."
        )
    if len(varargs) == 1 < len(axes) and as_operand_like(varargs[0], x).ndim:
        raise DataError(
            f"gradient: coordinates of one axis for {len(axes)} axes; give some for "
            "each, or one distance for all."
        )
    spacings = varargs or (1,)
    spacings = spacings * len(axes) if len(spacings) == 1 else spacings
    derivatives = [
        _derivative(x, along, spacing, edge_order)
        for along, spacing in zip(axes, spacings, strict=True)
    ]
    return derivatives[0] if len(derivatives) == 1 else tuple(derivatives)


def _derivative(x: Tensor, axis: int, spacing: ArrayLike, edge_order: int) -> Tensor:
    """Return the derivative along one axis."""
    length = x.shape[axis]
    if length < edge_order + 1:
        raise ShapeError(
            f"gradient: axis {axis} of shape {x.shape} has {length} elements; it needs "
            f"{edge_order + 1}."
        )
    before, here, after = (
        _slice_axis(x, axis, start, stop)
        for start, stop in ((0, -2), (1, -1), (2, None))
    )
    step = as_operand_like(spacing, x).astype(x.dtype)
    if not step.ndim:
        inside = (after - before) / (2.0 * step)
        first = last = (step, step)
    else:
        if step.shape != (length,):
            raise ShapeError(
                f"gradient: coordinates of shape {step.shape} for axis {axis} of shape "
                f"{x.shape}; give {length} of them."
            )
        gaps = tw.diff(step)
        low, high = (_along_axis(gap, x, axis) for gap in (gaps[:-1], gaps[1:]))
        inside = (
            before * (-high / (low * (low + high)))
            + here * ((high - low) / (low * high))
            + after * (low / (high * (low + high)))
        )
        first = (gaps[0], gaps[min(1, length - 2)])
        last = (gaps[-1], gaps[max(length - 3, 0)])
    begin = _derivative_at_end(x, axis, first, edge_order)
    end = _derivative_at_end(tw.flip(x, axis), axis, last, edge_order)
    return tw.concat([begin, inside, -end], axis)


def _along_axis(vector: Tensor, x: Tensor, axis: int) -> Tensor:
    """Return a vector along an axis of `x`, with length 1 along the others."""
    return vector.reshape(tuple(-1 if i == axis else 1 for i in range(x.ndim)))


def _derivative_at_end(
    x: Tensor, axis: int, gaps: tuple[Tensor, Tensor], edge_order: int
) -> Tensor:
    """Return the derivative at the beginning of an axis, from two or three values."""
    first, second = _slice_axis(x, axis, 0, 1), _slice_axis(x, axis, 1, 2)
    near, far = gaps
    if edge_order == 1:
        return (second - first) / near
    third = _slice_axis(x, axis, 2, 3)
    both = near + far
    return (
        first * (-(near + both) / (near * both))
        + second * (both / (near * far))
        - third * (near / (far * both))
    )


def trapezoid(
    y: ArrayLike,
    x: ArrayLike = None,
    dx: float = 1.0,
    axis: SupportsIndex = -1,
) -> Tensor:
    """Return the area below values along an axis, by straight lines between them.

    `x` are their coordinates, `dx` is the distance where there are none.

    >>> np.trapezoid([1, 2, 3], x=[4, 6, 8])
    tensor(8.)
    """
    values = as_floats(as_first_operand(y, x, dx))
    along = normalize_axis(axis, values.ndim)
    width: ArrayLike = dx
    if x is not None:
        points = as_floats(as_operand_like(x, values))
        if points.ndim == 1:
            width = _along_axis(tw.diff(points), values, along)
        else:
            width = tw.diff(points, axis=along)
    middle = (_without_first(values, along) + _without_last(values, along)) * 0.5
    return (middle * width).sum(along)


def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike = None,
    right: ArrayLike = None,
    period: float | None = None,
) -> Tensor:
    """Return values at `x` on the straight lines between points `(xp, fp)`.

    `xp` must rise, which is not checked. Beyond the ends the result is `left` and
    `right`, by default the first and the last value; a `period` leaves no ends.

    Raises:
        ShapeError: `xp` and `fp` are not 1-D, of one length, or empty.
        DataError: the period is 0.

    >>> np.interp([0.0, 1.5, 9.0], [1.0, 2.0, 3.0], [10.0, 20.0, 0.0])
    tensor([10., 15.,  0.])
    """
    at, points, values = map(
        as_floats, as_tensors([as_first_operand(x, xp, fp, left, right), xp, fp])
    )
    if points.ndim != 1 or points.shape != values.shape or not points.size:
        raise ShapeError(
            f"interp: xp and fp have shapes {points.shape} and {values.shape}; give as "
            "many values as points, at least one."
        )
    if period is not None:
        at, points, values = _extend_period(at, points, values, period)
        left = right = None
    below = values[0] if left is None else left
    above = values[-1] if right is None else right
    if values.dtype.kind == "complex":  # an infinite part leaves the other one alone
        parts = (
            _interpolate_lines(at, points, x).node for x in (values.real, values.imag)
        )
        inside = Tensor(join_parts(*parts))
    else:
        inside = _interpolate_lines(at, points, values)
    result = tw.where(at < points[0], below, tw.where(at > points[-1], above, inside))
    return tw.where(tw.isnan(at), at, result)


def _interpolate_lines(at: Tensor, points: Tensor, values: Tensor) -> Tensor:
    """Interpolate real values between points; the outer lines extrapolate."""
    last = points.size - 1
    if not last:
        return tw.broadcast_to(values[0], at.shape)
    index = tw.clip(tw.searchsorted(points, at, side="right") - 1, 0, last - 1)
    x0, x1 = tw.take(points, index), tw.take(points, index + 1)
    y0, y1 = tw.take(values, index), tw.take(values, index + 1)
    rate = (y1 - y0) / (x1 - x0)
    line = rate * (at - x0) + y0
    # From an infinite end there is no distance: measure from the other one.
    line = tw.where(tw.isnan(line), rate * (at - x1) + y1, line)
    # Equal values of infinite points, and a point itself, need no interpolation.
    line = tw.where(y0 == y1, y0, line)
    return tw.where(at == x0, y0, tw.where(at == x1, y1, line))


def _extend_period(
    at: Tensor, points: Tensor, values: Tensor, period: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return positions and points of one period, with a point more at both ends."""
    if period == 0:
        raise DataError("interp: the period is 0; give a positive number.")
    length = abs(period)
    points = tw.remainder(points, length)
    order = tw.argsort(points)
    points, values = tw.take(points, order), tw.take(values, order)
    points = tw.concat([points[-1:] - length, points, points[:1] + length])
    values = tw.concat([values[-1:], values, values[:1]])
    return tw.remainder(at, length), points, values


def unwrap(
    p: ArrayLike,
    discont: float | None = None,
    axis: SupportsIndex = -1,
    *,
    period: float = 2 * math.pi,
) -> Tensor:
    """Return phases along an axis without jumps of more than half a period.

    Multiples of the period are added; jumps below `discont` are left alone. Integers
    stay integers for a period that is one.

    >>> np.unwrap([0, 1, 2, -1, 0], period=4)
    tensor([0, 1, 2, 3, 4])
    """
    x = tw.asarray(p)
    is_exact = not is_inexact(x.dtype) and is_integer(period)
    x = x if is_exact else as_floats(x)
    along = normalize_axis(axis, x.ndim)
    steps = tw.diff(x, axis=along)
    limit = period / 2 if discont is None else discont
    half: float = period // 2 if is_exact else period / 2
    wrapped = tw.remainder(steps + half, period) - half
    if not is_exact or period % 2 == 0:  # Half a period keeps the step's sign.
        wrapped = tw.where((wrapped == -half) & (steps > 0), half, wrapped)
    change = tw.where(tw.abs(steps) < limit, 0, wrapped - steps)
    moved = _without_first(x, along) + tw.cumulative_sum(change, along)
    return tw.concat([_slice_axis(x, along, 0, 1), moved], along).astype(x.dtype)


declare_public(__name__)
