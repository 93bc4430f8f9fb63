"""Arguments of special functions whose values are recorded, and their error bounds."""

from __future__ import annotations

import math

COUNT = 40

CASES: dict[str, tuple[list[tuple[str, float, float]], float]] = {
    # Above 0 to 4 ULP; below, zeros are between the poles.
    "gammaln": ([("log", -6.0, 6.0)], 6),
    "gammaln near 2": ([("even", 0.4, 3.2)], 6),
    "gammaln below 0": ([("even", -7.9, -0.1)], -20),
    "gamma": ([("even", -4.9, 33.0)], 8),
    "digamma": ([("log", -3.0, 6.0)], -8),
    "digamma below 0": ([("even", -7.9, 0.1)], -2000),
    "polygamma": ([("whole", 1.0, 8.0), ("log", -1.0, 2.0)], 16),
    "zeta": ([("even", 1.02, 20.0), ("log", -1.0, 1.5)], 16),
    "beta": ([("log", -2.0, 1.0), ("log", -1.0, 1.2)], 50),
    "betaln": ([("log", -3.0, 5.0), ("log", -2.0, 5.0)], -16),
    "factorial": ([("whole", 0.0, 30.0)], 8),
    "comb": ([("whole", 0.0, 24.0), ("whole", 0.0, 7.0)], 4),
    "erfc": ([("even", -3.0, 9.0)], 6),
    "ndtr": ([("even", -12.0, 4.0)], 6),
    "log_ndtr": ([("even", -60.0, 5.0)], 6),
    "ndtri": ([("even", 0.01, 0.99)], 5),
    "ndtri of little": ([("log", -36.0, -0.5)], 5),
    "i0": ([("even", -60.0, 60.0)], 6),
    "i0e": ([("log", -2.0, 6.0)], 6),
    "i1": ([("even", -60.0, 60.0)], 14),
    "i1e": ([("log", -6.0, 6.0)], 14),
    "xlogy": ([("even", -2.0, 2.0), ("log", -5.0, 5.0)], 4),
    "xlog1py": ([("even", -2.0, 2.0), ("log", -5.0, 5.0)], 4),
    "entr": ([("log", -5.0, 2.0)], 4),
    "rel_entr": ([("log", -2.0, 2.0), ("log", -1.0, 1.0)], 4),
    "kl_div": ([("log", -2.0, 2.0), ("log", -1.0, 1.0)], -12),
    "expit": ([("even", -40.0, 40.0)], 4),
    "logit": ([("even", 0.01, 0.99)], 4),
    "logit of little": ([("log", -20.0, -0.4)], 4),
    "sinc": ([("even", -5.5, 5.5)], -4),
    "gammainc": ([("log", -4.0, 3.5), ("log", -4.0, 3.5)], 200),
    "gammainc, middle": ([("log", 0.0, 4.0), ("ratio", -2.0, 2.0)], 200),
    "gammaincc": ([("log", -4.0, 2.0), ("log", -4.0, 2.0)], 200),
    "gammaincc, middle": ([("log", 0.0, 4.0), ("ratio", -2.0, 2.0)], 200),
    "betainc": ([("log", -1.5, 2.0), ("log", -1.0, 2.0), ("even", 0.01, 0.99)], -200),
    "betainc of little": (
        [("log", 0.5, 1.5), ("log", -1.0, 2.0), ("log", -3.0, -1.5)],
        300,
    ),
}
"""The function, its arguments, and the bound in eps: of the value, or if it is negative
of the larger of 1 and the value. An argument is evenly distributed, as a number, as its
logarithm to base 10, or as a multiple of deviations of a gamma distribution from its
mean, `whole` to integers."""


def arguments(name: str) -> list[list[float]]:
    """Return numbers that float32 holds: each axis in its own order."""
    columns: list[list[float]] = []
    axes = CASES[name][0]
    for axis, (kind, low, high) in enumerate(axes):
        steps = [(k * (1, 17, 29)[axis] + 7 * axis) % COUNT for k in range(COUNT)]
        even = [low + (high - low) * (k + 0.37) / COUNT for k in steps]
        if kind == "log":
            even = [10.0**x for x in even]
        elif kind == "ratio":
            even = [a + x * math.sqrt(a) for x, a in zip(even, columns[0], strict=True)]
            even = [max(x, a / 8) for x, a in zip(even, columns[0], strict=True)]
        elif kind == "whole":
            even = [float(math.floor(x)) for x in even]
        columns.append([_single(x) for x in even])
    return columns


def _single(x: float) -> float:
    """Return a number of 24 bits."""
    if not x:
        return x
    digits, power = math.frexp(x)
    return math.ldexp(round(digits * 2**24), power - 24)
