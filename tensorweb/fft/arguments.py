"""What transforms are asked for: along which axes, how many points, how scaled."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Literal, SupportsIndex

from tensorweb.errors import AxisError, DataError, ShapeError
from tensorweb.shapes import Shape, normalize_axis

Norm = Literal["backward", "ortho", "forward"]

Lengths = list[tuple[int, int]]
"""Axes, each with its number of points."""

NORMS = ("backward", "ortho", "forward")


def scale(name: str, norm: object, lengths: Lengths, *, is_inverse: bool) -> float:
    """Return what a transform is multiplied by.

    Raises:
        DataError: there is no such norm.
    """
    if norm not in NORMS:
        raise DataError(
            f"{name}: norm {norm!r}; it is 'backward' (the inverse divides by the "
            "number of points), 'forward' (the other one does) or 'ortho' (both divide "
            "by its root)."
        )
    points = math.prod(length for _, length in lengths)
    if norm == "ortho":
        return 1 / math.sqrt(points)
    return 1 / points if (norm == "backward") == is_inverse else 1.0


def along_one(
    name: str, shape: Shape, n: SupportsIndex | None, axis: SupportsIndex
) -> Lengths:
    """Return the one axis of a transform and its number of points, as they are now.

    Raises:
        AxisError: the axis does not exist.
        ShapeError: there is no point.
    """
    place = normalize_axis(axis, len(shape))
    if n is None:
        return [(place, _present(name, shape, place))]
    return [(place, _asked(name, "n", n))]


def along_many(
    name: str,
    shape: Shape,
    s: Iterable[SupportsIndex | None] | None,
    axes: Iterable[SupportsIndex] | None,
) -> Lengths:
    """Return the axes of a transform, in order, and their numbers of points.

    Raises:
        AxisError: an axis does not exist or is given twice.
        ShapeError: there is no point, or `s` and `axes` differ in length.
    """
    asked = None if s is None else [-1 if size is None else size for size in s]
    sizes = None if asked is None else _listed(name, "s", asked)
    if axes is not None:
        places = [
            normalize_axis(axis, len(shape)) for axis in _listed(name, "axes", axes)
        ]
    elif sizes is None:
        places = list(range(len(shape)))
    else:
        if len(sizes) > len(shape):
            raise ShapeError(
                f"{name}: s has {len(sizes)} lengths for the {len(shape)} axes of "
                f"shape {shape}."
            )
        places = list(range(len(shape) - len(sizes), len(shape)))
    if len(set(places)) != len(places):
        raise AxisError(f"{name}: axes {tuple(places)} name the same axis twice.")
    if sizes is None:
        return [(place, _present(name, shape, place)) for place in places]
    if len(sizes) != len(places):
        raise ShapeError(
            f"{name}: s has {len(sizes)} lengths and axes {len(places)}; give one "
            "length for each axis."
        )
    return [
        (place, _present(name, shape, place))
        if size == -1
        else (place, _asked(name, "s", size))
        for place, size in zip(places, sizes, strict=True)
    ]


def _listed(name: str, what: str, items: Iterable[SupportsIndex]) -> list[int]:
    try:
        return [operator.index(item) for item in items]
    except TypeError as error:
        raise ShapeError(
            f"{name}: {what} is {items!r}; give a tuple of integers."
        ) from error


def _present(name: str, shape: Shape, axis: int) -> int:
    """Return an axis's length, which is that of the transform."""
    if not shape[axis]:
        raise ShapeError(
            f"{name}: axis {axis} of shape {shape} is empty; a transform has 1 point "
            "or more. Give a length to fill it with zeros."
        )
    return shape[axis]


def _asked(name: str, what: str, n: SupportsIndex) -> int:
    """Return a number of points that was asked for."""
    try:
        count = operator.index(n)
    except TypeError as error:
        raise ShapeError(f"{name}: {what} is {n!r}; give an integer.") from error
    if count < 1:
        raise ShapeError(f"{name}: {what} is {count}; a transform has 1 point or more.")
    return count


def require_axes(name: str, lengths: Lengths) -> Lengths:
    """Return axes of a real transform, the last of which is halved.

    Raises:
        AxisError: there is none.
    """
    if not lengths:
        raise AxisError(f"{name}: it needs at least one axis; the last one is halved.")
    return lengths


def of_real(name: str, lengths: Lengths, is_asked: bool) -> Lengths:
    """Return axes with the last one's number of real points.

    Where nobody asked for a number, there are twice as many as elements but one.

    Raises:
        ShapeError: one element belongs to no even number of points.
    """
    if is_asked:
        return lengths
    *others, (axis, count) = lengths
    if count == 1:
        raise ShapeError(
            f"{name}: axis {axis} has 1 element, which is the transform of 2 * (1 - 1) "
            "= 0 points; ask for 1 or more."
        )
    return [*others, (axis, 2 * (count - 1))]
