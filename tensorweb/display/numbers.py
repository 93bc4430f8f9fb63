"""Numbers for people, as short as on the page; numbers out of the bytes of a read."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tensorweb.graph.node import Node
from tensorweb.hostdata import Number, unpack

DIGITS = 4
"""Significant digits of a short number."""

LARGEST_WHOLE = 10**7
"""Whole numbers below this are written in full."""

SCIENTIFIC = (1e-4, 1e6)
"""Other numbers have an exponent outside of this range."""

MOST_AXES = 16
"""Axes beyond which a shape is cut."""


def short(value: Number) -> str:
    """Return four significant digits without trailing zeros, `1.5e6` for large ones.

    >>> [short(value) for value in (0.1 + 0.2, 1234567.5, -0.0, float("nan"), 12)]
    ['0.3', '1.235e6', '-0', 'nan', '12']
    """
    if not math.isfinite(value):
        return str(float(value))
    if value == 0:
        return "-0" if math.copysign(1.0, value) < 0 else "0"
    if value == int(value) and abs(value) < LARGEST_WHOLE:
        return str(int(value))
    least, greatest = SCIENTIFIC
    is_plain = least <= abs(value) < greatest
    return _tidy(f"{value:.{DIGITS}g}" if is_plain else f"{value:.{DIGITS - 1}e}")


def _tidy(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as Python writes it, cut where there are many axes."""
    if len(shape) <= MOST_AXES:
        return str(tuple(shape))
    first = ", ".join(map(str, shape[: MOST_AXES - 2]))
    return f"({first}, … {len(shape)} axes)"


def values_of(data: bytes, node: Node) -> list[Number]:
    """Return the numbers of a node in row-major order from its bytes."""
    values = unpack(data, node.dtype, (node.size,))
    assert isinstance(values, list), "internal: a 1-d read gives a list"
    return values
