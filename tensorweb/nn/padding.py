"""Padding in PyTorch's modes, and arguments with one number per axis."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import SupportsIndex

from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import asarray, pad
from tensorweb.tensor import Tensor

MODES = ("zeros", "reflect", "replicate", "circular")


def numbers(
    name: str,
    what: str,
    given: SupportsIndex | Iterable[SupportsIndex],
    count: int,
    least: int,
) -> tuple[int, ...]:
    """Return one integer per axis.

    Raises:
        DataError: they are too few, too small or no integers.
    """
    try:
        if isinstance(given, SupportsIndex):
            found = (operator.index(given),) * count
        else:
            found = tuple([operator.index(each) for each in given])
    except TypeError:
        found = ()
    if len(found) != count or min(found) < least:
        many = "an integer" if count == 1 else f"an integer, or {count} of them"
        raise DataError(f"{name}: {what} is {given!r}; give {many}, {least} or more.")
    return found


def padded(
    name: str, x: Tensor, borders: Sequence[tuple[int, int]], mode: str
) -> Tensor:
    """Return a tensor padded along the last axes by zeros or its own elements.

    Raises:
        ShapeError: the padding is wider than the mode allows.
    """
    first = x.ndim - len(borders)
    if mode == "zeros":
        return pad(x, [(0, 0)] * first + list(borders))
    for axis, (before, after) in enumerate(borders, first):
        if not before and not after:
            continue
        length = x.shape[axis]
        widest = {"reflect": length - 1, "circular": length}.get(mode, before + after)
        if max(before, after) > widest or not length:
            raise ShapeError(
                f"{name}: a {mode} border of {max(before, after)} around axis {axis} "
                f"of shape {x.shape}; it is {widest} wide at most."
            )
        places = [_place(i, length, mode) for i in range(-before, length + after)]
        x = x.take(asarray(places, device=x.device), axis=axis)
    return x


def _place(position: int, length: int, mode: str) -> int:
    """Return the index of the element that an index beyond the ends stands for."""
    if mode == "circular":
        return position % length
    if mode == "replicate":
        return min(max(position, 0), length - 1)
    if position < 0:
        return -position
    return position if position < length else 2 * (length - 1) - position
