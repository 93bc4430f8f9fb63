"""The inverse error function of float64: rational functions, and NumPy's use of them.

Up to |x| = 0.75 it is `k x + x u p(c - u) / q(c - u)` with `u = x²`, `c = 0.75²` and
`k = sqrt(pi) / 2`; from there on `s - s p(s - b) / q(s - b)` with
`s = sqrt(-log(1 - |x|))`, where no digit of `1 - |x|` is lost. All coefficients are
positive, so that no sum cancels.
"""

from __future__ import annotations

import math
from typing import Any

from tensorweb.ops.blocks import in_blocks

HALF_ROOT_OF_PI = math.sqrt(math.pi) / 2

NEAR_END = 0.75

TAIL_BEGIN = 1.125
"""`b` above; it lies below the least `s`."""

Coefficients = tuple[float, ...]
"""Of a polynomial, the constant first."""

NEAR: tuple[Coefficients, Coefficients] = (
    (
        0.3525917712783408,
        1.9639991316616314,
        3.941540738346373,
        3.4472052488502705,
        1.250393874219224,
        0.13997972677877965,
        0.0006044087445231053,
    ),
    (
        1.0,
        6.629113168800624,
        16.694213417139135,
        19.932817324926127,
        11.471356908199349,
        2.850532086315434,
        0.216969603839006,
    ),
)
"""Numerator and denominator, off by 3e-18 of the result."""

TAIL: tuple[Coefficients, Coefficients] = (
    (
        0.32388232269558376,
        0.9257360098000041,
        1.0650881153425154,
        0.633207236274372,
        0.19919486019060145,
        0.031267031239614156,
        0.0021012404867361716,
        4.188239209035299e-05,
        4.202387609472892e-08,
    ),
    (
        1.0,
        3.7556156303561203,
        6.087928494893841,
        5.553040895121825,
        3.080108211713838,
        1.0471628750488151,
        0.20907571383754972,
        0.02232954957271498,
        0.001058064323140922,
        1.449980315095005e-05,
    ),
)
"""Numerator and denominator, off by 3e-17 of the result up to `1 - |x| = 2^-53`."""


def _polynomial(coefficients: Coefficients, t: Any) -> Any:
    total = coefficients[-1] * t
    for coefficient in coefficients[-2:0:-1]:
        total += coefficient
        total *= t
    total += coefficients[0]
    return total


def _ratio(parts: tuple[Coefficients, Coefficients], t: Any) -> Any:
    return _polynomial(parts[0], t) / _polynomial(parts[1], t)


def _of_block(np: Any, x: Any) -> Any:
    x = x.astype(np.float64)
    u = np.minimum(x * x, NEAR_END**2)
    result = HALF_ROOT_OF_PI * x + x * (u * _ratio(NEAR, NEAR_END**2 - u))
    (indices,) = np.nonzero(~(np.abs(x) <= NEAR_END))
    distance = 1 - np.abs(x[indices])
    s = np.sqrt(-np.log(distance))
    far = s - s * _ratio(TAIL, s - TAIL_BEGIN)
    far[distance == 0] = np.inf
    result[indices] = np.copysign(far, x[indices])
    return result


def inverse_error(np: Any, x: Any) -> Any:
    """Return the inverse error function of an array of floats, in its dtype.

    It is infinite at 1 and -1 and NaN beyond.
    """
    with np.errstate(all="ignore"):
        return in_blocks(np, lambda block: _of_block(np, block), x.dtype, x)
