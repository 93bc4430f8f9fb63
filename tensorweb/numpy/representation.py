"""Numbers and tensors as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DataError
from tensorweb.numpy.print_options import printoptions
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.printing import format_array

__all__ = [
    "array2string",
    "array_repr",
    "array_str",
    "base_repr",
    "binary_repr",
]

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def array2string(
    a: ArrayLike,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
    separator: str = " ",
    prefix: str = "",
    *,
    formatter: Mapping[str, Callable[[Any], str]] | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
) -> str:
    """Return the values of a tensor as text.

    `prefix` is what will stand before it: later lines begin as far to the right.

    >>> np.array2string(np.array([1.0, 1 / 3]), precision=2, separator=", ")
    '[1.  , 0.33]'
    """
    with printoptions(
        precision=precision,
        threshold=threshold,
        edgeitems=edgeitems,
        linewidth=max_line_width,
        suppress=suppress_small,
        formatter=formatter,
    ):
        return format_array(tw.asarray(a), separator, prefix)


def array_str(
    a: ArrayLike, max_line_width: int | None = None, precision: int | None = None
) -> str:
    """Return what `print` shows of a tensor.

    >>> np.array_str([1.0, 1 / 3], precision=2)
    '[1.   0.33]'
    """
    with printoptions(linewidth=max_line_width, precision=precision):
        return str(tw.asarray(a))


def array_repr(
    arr: ArrayLike, max_line_width: int | None = None, precision: int | None = None
) -> str:
    """Return what a session shows of a tensor.

    >>> np.array_repr([1, 2])
    'tensor([1, 2])'
    """
    with printoptions(linewidth=max_line_width, precision=precision):
        return repr(tw.asarray(arr))


def base_repr(number: SupportsIndex, base: int = 2, padding: int = 0) -> str:
    """Return an integer in a base from 2 to 36, with zeros in front.

    Raises:
        DataError: the base is another one.

    >>> np.base_repr(10, base=16), np.base_repr(5, padding=3)
    ('A', '000101')
    """
    if not 2 <= base <= 36:
        raise DataError(f"base_repr: the base is {base}; it is from 2 to 36.")
    value = number.__index__()
    rest, digits = abs(value), ""
    while rest:
        rest, digit = divmod(rest, base)
        digits = DIGITS[digit] + digits
    text = "0" * padding + (digits or ("" if padding else "0"))
    return f"-{text}" if value < 0 else text


def binary_repr(num: SupportsIndex, width: int | None = None) -> str:
    """Return an integer in binary; of a width, negative ones as two's complement.

    Raises:
        DataError: the width has not enough places.

    >>> np.binary_repr(3), np.binary_repr(-3), np.binary_repr(-3, width=5)
    ('11', '-11', '11101')
    """
    value = num.__index__()
    if width is None:
        return f"{value:b}"
    low, high = -(1 << max(width - 1, 0)), (1 << width) - 1
    if not low <= value <= high:
        raise DataError(f"binary_repr: {value} does not fit {width} places.")
    return f"{value & high:0{width}b}" if width else ""
