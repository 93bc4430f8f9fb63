"""Where a quantile lies between sorted values, by each of NumPy's methods."""

from __future__ import annotations

import math
from collections.abc import Callable

Place = tuple[int, int, float]
"""Two positions in sorted values, and the weight of the second."""


def _between(index: float) -> Place:
    low = math.floor(index)
    return low, low + 1, index - low


def _line(alpha: float, beta: float) -> Callable[[int, float], Place]:
    """Return the continuous method of two plotting positions."""
    return lambda n, q: _between(n * q + (alpha + q * (1 - alpha - beta)) - 1)


def _averaged(n: int, q: float) -> Place:
    low, high, weight = _between(n * q - 1)
    return low, high, 0.5 if weight == 0 else 1.0


def _midpoint(n: int, q: float) -> Place:
    low, high = math.floor((n - 1) * q), math.ceil((n - 1) * q)
    return low, high, 0.5 if high > low else 0.0


def _closest(n: int, q: float) -> int:
    low, high, weight = _between(n * q - 1.5)
    return low if weight == 0 and low % 2 == 1 else high


METHODS: dict[str, Callable[[int, float], Place]] = {
    "linear": lambda n, q: _between((n - 1) * q),
    "midpoint": _midpoint,
    "averaged_inverted_cdf": _averaged,
    "interpolated_inverted_cdf": _line(0, 1),
    "hazen": _line(0.5, 0.5),
    "weibull": _line(0, 0),
    "median_unbiased": _line(1 / 3, 1 / 3),
    "normal_unbiased": _line(3 / 8, 3 / 8),
}
"""Where a quantile of n values lies, as Hyndman and Fan, 1996, number the methods."""

DISCRETE: dict[str, Callable[[int, float], int]] = {
    "lower": lambda n, q: math.floor((n - 1) * q),
    "higher": lambda n, q: math.ceil((n - 1) * q),
    "nearest": lambda n, q: round((n - 1) * q),
    "inverted_cdf": lambda n, q: math.ceil(n * q - 1),
    "closest_observation": _closest,
}
"""Methods that give one of the values, in its own dtype."""
