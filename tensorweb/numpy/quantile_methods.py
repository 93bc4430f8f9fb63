"""Where a quantile lies between sorted values, by each of NumPy's methods.

The formulas are for Python's numbers, which have all digits of `q`, and for tensors,
whose values may be unknown or have derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from tensorweb import functions as tw
from tensorweb.tensor import Tensor

Place = tuple[Any, Any, Any]
"""Two positions in sorted values, and the weight of the second."""


class Arithmetic(NamedTuple):
    """The functions that the formulas need."""

    floor: Callable[[Any], Any]
    ceil: Callable[[Any], Any]
    round: Callable[[Any], Any]
    where: Callable[[Any, Any, Any], Any]


NUMBERS = Arithmetic(
    math.floor, math.ceil, round, lambda condition, a, b: a if condition else b
)
TENSORS = Arithmetic(tw.floor, tw.ceil, tw.round, tw.where)


def arithmetic_of(*values: object) -> Arithmetic:
    """Return the functions for numbers, or for tensors where one is among them."""
    return TENSORS if any(isinstance(each, Tensor) for each in values) else NUMBERS


def _between(xp: Arithmetic, index: Any) -> Place:
    low = xp.floor(index)
    return low, low + 1, index - low


def _line(alpha: float, beta: float) -> Callable[[Arithmetic, Any, Any], Place]:
    """Return the continuous method of two plotting positions."""
    return lambda xp, n, q: _between(xp, n * q + (alpha + q * (1 - alpha - beta)) - 1)


def _averaged(xp: Arithmetic, n: Any, q: Any) -> Place:
    low, high, weight = _between(xp, n * q - 1)
    return low, high, xp.where(weight == 0, 0.5, 1.0)


def _midpoint(xp: Arithmetic, n: Any, q: Any) -> Place:
    low, high = xp.floor((n - 1) * q), xp.ceil((n - 1) * q)
    return low, high, xp.where(high > low, 0.5, 0.0)


def _closest(xp: Arithmetic, n: Any, q: Any) -> Any:
    low, high, weight = _between(xp, n * q - 1.5)
    return xp.where((weight == 0) & (low % 2 == 1), low, high)


METHODS: dict[str, Callable[[Arithmetic, Any, Any], Place]] = {
    "linear": lambda xp, n, q: _between(xp, (n - 1) * q),
    "midpoint": _midpoint,
    "averaged_inverted_cdf": _averaged,
    "interpolated_inverted_cdf": _line(0, 1),
    "hazen": _line(0.5, 0.5),
    "weibull": _line(0, 0),
    "median_unbiased": _line(1 / 3, 1 / 3),
    "normal_unbiased": _line(3 / 8, 3 / 8),
}
"""Where a quantile of n values lies, as Hyndman and Fan, 1996, number the methods."""

DISCRETE: dict[str, Callable[[Arithmetic, Any, Any], Any]] = {
    "lower": lambda xp, n, q: xp.floor((n - 1) * q),
    "higher": lambda xp, n, q: xp.ceil((n - 1) * q),
    "nearest": lambda xp, n, q: xp.round((n - 1) * q),
    "inverted_cdf": lambda xp, n, q: xp.ceil(n * q - 1),
    "closest_observation": _closest,
}
"""Methods that give one of the values, in its own dtype."""
