"""Padding around an array, in all of NumPy's modes."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.arguments import as_operand_like, is_inexact
from tensorweb.numpy.creation import asarray
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

Pair = tuple[Any, Any]

OPTIONS: dict[str, dict[str, object]] = {
    "constant": {"constant_values": 0},
    "edge": {},
    "empty": {},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "mean": {"stat_length": None},
    "median": {"stat_length": None},
    "minimum": {"stat_length": None},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "wrap": {},
}
"""The modes, and the options that each takes."""


def pad(
    array: ArrayLike,
    pad_width: Any,
    mode: str | Callable[..., object] = "constant",
    **kwargs: Any,
) -> Tensor:
    """Pad an array, one axis after the other.

    `pad_width` is a number, one `(before, after)` for all axes, one for each, or a dict
    from axis to either. Modes are `constant` (`constant_values`), `edge`, `linear_ramp`
    (`end_values`), `maximum`, `mean`, `median`, `minimum` (`stat_length`), `reflect`,
    `symmetric` (`reflect_type`, `even` or `odd`), `wrap` and `empty`. A function is
    called with each row, its widths, the axis and the keywords, and writes into it.

    Raises:
        ShapeError: a width is negative, their number is wrong, or there is nothing to
            pad with.
        DataError: there is no such mode, or it takes no such option.

    >>> np.pad([1, 2, 3], (2, 1))
    tensor([0, 0, 1, 2, 3, 0])
    >>> np.pad([1, 2, 3], 2, mode="reflect")
    tensor([3, 2, 1, 2, 3, 2, 1])
    """
    x = asarray(array)
    x = x.astype(x.dtype)  # a tensor of its own, without padding too
    widths = _parse_widths(pad_width, x.ndim)
    if callable(mode):
        return _pad_by_function(x, widths, mode, kwargs)
    if mode not in OPTIONS:
        raise DataError(f"pad: mode={mode!r}; modes are {', '.join(OPTIONS)}.")
    unknown = kwargs.keys() - OPTIONS[mode].keys()
    if unknown:
        raise DataError(f"pad: mode {mode!r} takes no {', '.join(sorted(unknown))}.")
    options = {
        name: _parse_option(name, kwargs.get(name, default), x.ndim)
        for name, default in OPTIONS[mode].items()
    }
    _check_stat_lengths(options.get("stat_length", []), mode, x)
    for axis, (before, after) in enumerate(widths):
        if before or after:
            if mode not in ("constant", "empty") and not x.shape[axis]:
                raise ShapeError(
                    f"pad: axis {axis} is empty, so mode {mode!r} has nothing to take."
                )
            own = {name: values[axis] for name, values in options.items()}
            x = _pad_axis(x, axis, before, after, mode, own)
    return x


def _check_stat_lengths(pairs: list[Pair], mode: str, x: Tensor) -> None:
    """Raise when a statistic of a mode is undefined for some lengths.

    Raises:
        ShapeError: a length is negative, or 0 where the statistic of no elements is
            undefined: mean and median are NaN, which integers do not have.
    """
    least = 0 if mode in ("mean", "median") and is_inexact(x.dtype) else 1
    for length in itertools.chain(*pairs):
        if length is not None and length < least:
            raise ShapeError(
                f"pad: stat_length={length} for mode {mode!r} of {x.dtype}; it is "
                f"{least} or more."
            )


def _broadcast_pairs(name: str, value: Any, rank: int) -> list[Pair]:
    """Return a pair for each axis, by NumPy's rules of broadcasting to `(rank, 2)`."""
    values = value.tolist() if hasattr(value, "tolist") else value
    values = list(values) if isinstance(values, list | tuple) else [values]
    items = [x.tolist() if hasattr(x, "tolist") else x for x in values]
    if not any(isinstance(item, list | tuple) for item in items):
        items = [items]
    listed = [item if isinstance(item, list | tuple) else [item] for item in items]
    if len(items) in (1, rank) and all(len(item) in (1, 2) for item in listed):
        pairs = [(item[0], item[-1]) for item in listed]
        return pairs * rank if len(items) == 1 else pairs
    raise ShapeError(
        f"pad: {name}={value!r} for {rank} axes; give one number, one (before, after), "
        "or one such pair for each axis."
    )


def _parse_widths(pad_width: Any, rank: int) -> list[tuple[int, int]]:
    pairs: list[Pair] = [(0, 0)] * rank
    if isinstance(pad_width, dict):
        for axis, width in pad_width.items():
            pairs[axis] = _broadcast_pairs("pad_width", width, 1)[0]
    else:
        pairs = _broadcast_pairs("pad_width", pad_width, rank)
    widths = [
        (operator.index(before), operator.index(after)) for before, after in pairs
    ]
    if any(before < 0 or after < 0 for before, after in widths):
        raise ShapeError(f"pad: pad_width={pad_width!r}; widths are 0 or more.")
    return widths


def _parse_option(name: str, value: Any, rank: int) -> list[Pair]:
    if name == "reflect_type":
        if value not in ("even", "odd"):
            raise DataError(f"pad: reflect_type={value!r}; it is even or odd.")
        return [(value, value)] * rank
    return _broadcast_pairs(name, value, rank)


def _pad_axis(
    x: Tensor, axis: int, before: int, after: int, mode: str, own: dict[str, Pair]
) -> Tensor:
    """Pad an array along one axis."""
    moved = x.moveaxis(axis, 0)
    if mode == "empty":
        padded = moved.pad([(before, after), *[(0, 0)] * (moved.ndim - 1)])
    elif mode in ("edge", "wrap", "reflect", "symmetric"):
        padded = _pad_by_index(moved, before, after, mode, own)
    else:
        ((first, last),) = own.values()
        padded = tw.concat(
            [
                _padding_values(moved, before, mode, first, at_end=False),
                moved,
                _padding_values(moved, after, mode, last, at_end=True),
            ]
        )
    return padded.moveaxis(0, axis)


def _padding_values(
    x: Tensor, width: int, mode: str, value: Any, *, at_end: bool
) -> Tensor:
    """Return the padding at one end of the first axis, by the value of an option."""
    if mode == "linear_ramp":
        ramp = _linear_ramp(x[-1:] if at_end else x[:1], value, width)
        return ramp if at_end else ramp.flip(0)
    if mode == "constant":
        values = as_operand_like(value, x).astype(x.dtype)
    else:
        count = x.shape[0] if value is None else min(int(value), x.shape[0])
        values = _statistic_of(x[x.shape[0] - count :] if at_end else x[:count], mode)
    return values.broadcast_to((width, *x.shape[1:]))


def _pad_by_index(
    x: Tensor, before: int, after: int, mode: str, own: dict[str, Pair]
) -> Tensor:
    """Pad with elements of the axis, by the index of each."""
    length = x.shape[0]
    period = length - 1 if mode == "reflect" else length
    indices, reflections = [], []
    for i in range(-before, length + after):
        count, index = divmod(i, period or 1)
        if mode == "edge" or (length == 1 and mode != "wrap"):
            index = min(max(i, 0), length - 1)
        elif mode != "wrap" and count % 2:
            index = length - 1 - index
        indices.append(index)
        reflections.append(count)
    padded = x[asarray(indices, int, device=x.device)]
    is_odd = length > 1 and "odd" in own.get("reflect_type", ())
    return _reflect_odd(x, padded, reflections) if is_odd else padded


def _reflect_odd(x: Tensor, padded: Tensor, reflections: list[int]) -> Tensor:
    """Return odd reflections, which continue the values beyond the ends.

    With r reflections `y = x + r span` for even r, `first + last + r span - x` for odd,
    where span is `last - first`.
    """
    shape = (len(reflections), *(1,) * (x.ndim - 1))
    count = asarray(reflections, device=x.device).reshape(shape)
    is_odd = tw.remainder(count, 2) == 1
    moved = count.astype(x.dtype) * (x[-1] - x[0])
    return tw.where(is_odd, x[0] + x[-1] - padded, padded) + moved


def _linear_ramp(edge: Tensor, value: object, width: int) -> Tensor:
    """Return numbers that lead evenly from an edge to a value, which is the last."""
    left = tw.arange(width - 1, -1, -1, device=edge.device)
    left = left.reshape((width, *(1,) * (edge.ndim - 1))).astype(edge.dtype)
    end = as_operand_like(value, edge).astype(edge.dtype)
    if is_inexact(edge.dtype):
        return end + (edge - end) * (left / max(width, 1))
    if edge.dtype.bits < 32:
        wide = [x.astype(int) for x in (edge, end, left)]
        return _integer_ramp(wide[0], wide[1], wide[2], width).astype(edge.dtype)
    return _integer_ramp(edge, end, left, width)


def _integer_ramp(edge: Tensor, end: Tensor, left: Tensor, width: int) -> Tensor:
    """Return integers from an edge to an end, rounded down.

    Differences are taken from the larger one, and no product is larger than they are:
    unsigned numbers have no negative ones, and others must not wrap around.
    """
    count = max(width, 1)

    def share(distance: Tensor, rest: int) -> Tensor:
        quotient = tw.floor_divide(distance, count)
        part = tw.remainder(distance, count)
        return quotient * left + tw.floor_divide(part * left + rest, count)

    rising = end + share(tw.maximum(edge, end) - end, 0)
    falling = end - share(tw.maximum(end, edge) - edge, count - 1)
    return tw.where(edge >= end, rising, falling)


def _statistic_of(x: Tensor, mode: str) -> Tensor:
    """Return the statistic of a mode along the first axis, which keeps length 1."""
    if not x.shape[0]:  # the mean of no elements
        return tw.full((1, *x.shape[1:]), math.nan, x.dtype, device=x.device)
    if mode == "maximum":
        return tw.max(x, axis=0, keepdims=True)
    if mode == "minimum":
        return tw.min(x, axis=0, keepdims=True)
    if mode == "mean":
        result = tw.mean(x, axis=0, keepdims=True)
    else:
        ordered = tw.sort(x, axis=0)
        middle = x.shape[0] // 2
        low = ordered[(x.shape[0] - 1) // 2 :][:1]
        result = (low + ordered[middle : middle + 1]) / 2
    if x.dtype.kind in ("int", "uint"):
        result = tw.round(result)
    return result.astype(x.dtype)


def _pad_by_function(
    x: Tensor,
    widths: list[tuple[int, int]],
    function: Callable[..., object],
    options: dict[str, Any],
) -> Tensor:
    """Pad with zeros, into which a function writes row by row."""
    padded = x.pad(widths)
    for axis, pair in enumerate(widths):
        moved = padded.moveaxis(axis, -1)
        rows = [row.copy() for row in moved.reshape((-1, moved.shape[-1]))]
        for row in rows:
            function(row, pair, axis, options)
        padded = tw.stack(rows).reshape(moved.shape).moveaxis(-1, axis)
    return padded


declare_public(__name__)
