"""Signatures such as `(m,n),(n)->(m)`: the last axes that a function works on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.arguments import as_tensors
from tensorweb.shapes import broadcast_shapes
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

Axes = tuple[str, ...]

_NAMES = r"\((?:\w+(?:,\w+)*)?\)"
_LIST = f"{_NAMES}(?:,{_NAMES})*"


def parse(signature: str) -> tuple[list[Axes], list[Axes]]:
    """Return the names of the axes of each operand and of each result.

    Raises:
        DataError: the signature is none.

    >>> parse("(m,n),(n)->(m)")
    ([('m', 'n'), ('n',)], [('m',)])
    """
    text = re.sub(r"\s+", "", signature)
    if not re.fullmatch(f"{_LIST}->{_LIST}", text):
        raise DataError(
            f"signature={signature!r}; write one such as '(m,n),(n)->(m)', with () for "
            "numbers."
        )
    left, right = (
        [tuple(re.findall(r"\w+", part)) for part in re.findall(_NAMES, side)]
        for side in text.split("->")
    )
    return left, right


def applied(
    name: str,
    function: Callable[..., Any],
    signature: str,
    args: Sequence[ArrayLike],
    otypes: Sequence[DTypeLike] | None,
) -> Any:
    """Return a function of the last axes for all indices of the others, broadcast.

    Raises:
        DataError: operands or results are more or fewer than the signature has, or
            nothing says the dtypes or shapes of results without an element.
        ShapeError: axes of one name differ in length, or an operand has too few.
    """
    inputs, outputs = parse(signature)
    if len(args) != len(inputs):
        raise DataError(f"{name}: {len(args)} operands for the signature {signature}.")
    operands = as_tensors(args)
    lengths: dict[str, int] = {}
    outer = [
        _outer(name, x.shape, axes, lengths)
        for x, axes in zip(operands, inputs, strict=True)
    ]
    shape = broadcast_shapes(*outer)
    operands = [
        tw.broadcast_to(x, (*shape, *x.shape[x.ndim - len(axes) :]))
        for x, axes in zip(operands, inputs, strict=True)
    ]
    rows = []
    for index in product(*map(range, shape)):
        given = function(*(x[index] for x in operands))
        row = given if isinstance(given, tuple) else (given,)
        if len(row) != len(outputs):
            raise DataError(
                f"{name}: {len(row)} results for {len(outputs)} of {signature}."
            )
        rows.append([tw.asarray(each) for each in row])
        for each, axes in zip(rows[-1], outputs, strict=True):
            if _outer(name, each.shape, axes, lengths):
                raise ShapeError(
                    f"{name}: a result of shape {each.shape} for the axes {axes}."
                )
    if not rows:
        made = _empty(name, shape, outputs, lengths, otypes)
    else:
        made = [
            tw.stack(list(column)).reshape((*shape, *column[0].shape))
            for column in zip(*rows, strict=True)
        ]
        if otypes is not None:
            made = [x.astype(t) for x, t in zip(made, otypes, strict=True)]
    return made[0] if len(made) == 1 else tuple(made)


def _outer(
    name: str, shape: tuple[int, ...], axes: Axes, lengths: dict[str, int]
) -> tuple[int, ...]:
    """Return the axes before those of a signature, whose lengths are noted."""
    if len(shape) < len(axes):
        raise ShapeError(f"{name}: shape {shape} has too few axes for {axes}.")
    first = len(shape) - len(axes)
    for axis, length in zip(axes, shape[first:], strict=True):
        if lengths.setdefault(axis, length) != length:
            raise ShapeError(
                f"{name}: the axis {axis!r} has lengths {lengths[axis]} and {length}; "
                "they must be equal."
            )
    return shape[:first]


def _empty(
    name: str,
    shape: tuple[int, ...],
    outputs: list[Axes],
    lengths: dict[str, int],
    otypes: Sequence[DTypeLike] | None,
) -> list[Tensor]:
    """Return results without an element, for which no function was called."""
    if otypes is None or not all(axis in lengths for axes in outputs for axis in axes):
        raise DataError(
            f"{name}: there are no elements to call it with; say the dtypes of results "
            "with otypes=, and name no axis that only results have."
        )
    return [
        tw.zeros((*shape, *(lengths[axis] for axis in axes)), dtype=dtype)
        for axes, dtype in zip(outputs, otypes, strict=True)
    ]
