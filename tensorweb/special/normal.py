"""Tails of the error function and of the normal distribution, without underflow.

`erfcx` is the trapezoidal sum of its integral with the contribution of the pole:
C. Chiarella and A. Reichel, On the evaluation of integrals related to the error
function, 1968.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tensorweb.functions import abs as absolute
from tensorweb.functions import (
    erf,
    erfinv,
    exp,
    log,
    log1p,
    maximum,
    round,
    sqrt,
    where,
)
from tensorweb.public_names import declare_public
from tensorweb.special.entries import unary, with_derivative
from tensorweb.tensor import Tensor

_STEP = 0.5
ROOT_2 = math.sqrt(2.0)


def _scaled(x: Tensor) -> Tensor:
    """Return exp(x**2) erfc(x) for x from 0.5."""
    inverse = 1 / x
    square = inverse * inverse
    total = square * 0.0 + 0.5
    for k in range(1, 14):
        node = (k * _STEP) ** 2
        total = total + math.exp(-node) / (1 + node * square)
    near = where(x < 6, x, 6.0)
    growth = exp(near * (near - 2 * math.pi / _STEP))
    pole = growth / (1 - exp(near * (-2 * math.pi / _STEP)))
    return total * inverse * (2 * _STEP / math.pi) - 2 * where(x < 6, pole, 0.0)


def _exp_of_square(factor: float) -> Callable[[Tensor], Tensor]:
    """Return exp(factor x**2) as a function of x."""

    # y = exp(f x**2); dy = 2 f x y. The derivative of the formula's `round` is 0.
    @with_derivative(lambda y, x: (2 * factor * x * y,))
    def function(x: Tensor) -> Tensor:
        # A rounded square would lose the digits of a tail.
        coarse = where(absolute(x) < 1e4, round(x * 16) / 16, x)
        fine = where(coarse == x, 0.0, (x - coarse) * (x + coarse))
        return exp(factor * coarse * coarse) * exp(factor * fine)

    return function


_exp_less_square = _exp_of_square(-1.0)
_exp_less_half_square = _exp_of_square(-0.5)


@unary(lambda y, x: (-2 / math.sqrt(math.pi) * _exp_less_square(x),))
def erfc(x: Tensor) -> Tensor:
    """Return `1 - erf(x)`, exact where it is small: within 5 ULP.

    >>> tw.scipy.special.erfc([0.0, tw.inf])
    tensor([1., 0.])
    """
    far = _exp_less_square(x) * _scaled(maximum(absolute(x), 0.5))
    far = where(x < 0, 2 - far, far)
    return where(absolute(x) < 0.5, 1 - erf(x), far)


@unary(lambda y, x: (_density(x),))
def ndtr(x: Tensor) -> Tensor:
    """Return the probability of a standard normal number below x: within 5 ULP.

    >>> tw.scipy.special.ndtr([0.0, tw.inf])
    tensor([0.5, 1. ])
    """
    near = 0.5 + 0.5 * erf(x / ROOT_2)
    size = maximum(absolute(x), 0.5 * ROOT_2)
    far = 0.5 * _exp_less_half_square(x) * _scaled(size / ROOT_2)
    far = where(x > 0, 1 - far, far)
    return where(absolute(x) < 0.5 * ROOT_2, near, far)


def _density(x: Tensor) -> Tensor:
    return _exp_less_half_square(x) / math.sqrt(2 * math.pi)


@unary(lambda y, x: (_ratio(x, y),))
def log_ndtr(x: Tensor) -> Tensor:
    """Return the logarithm of `ndtr`, exact far in both tails: within 5 ULP.

    >>> tw.scipy.special.log_ndtr(-tw.inf)
    tensor(-inf)
    """
    tail = maximum(-x, 0.5 * ROOT_2) / ROOT_2
    far = -0.5 * x * x + log(0.5 * _scaled(tail))
    near = log1p(-ndtr(where(x < -1, 1.0, -x)))
    return where(x < -1, far, near)


def _ratio(x: Tensor, y: Tensor) -> Tensor:
    """Return the density over the probability below x."""
    tail = maximum(-x, 0.5 * ROOT_2) / ROOT_2
    far = math.sqrt(2 / math.pi) / _scaled(tail)
    return where(x < -1, far, _density(x) * exp(-where(x < -1, 0.0, y)))


@unary(lambda y, p: (1 / _density(y),))
def ndtri(p: Tensor) -> Tensor:
    """Return the inverse of `ndtr`: within 4 ULP.

    Infinite at 0 and 1 and NaN beyond. Below 0.1 by Newton's rule on `log_ndtr`.

    >>> tw.scipy.special.ndtri([0.0, 0.5])
    tensor([-inf,   0.])
    """
    is_upper = p > 0.5
    small = where(is_upper, 1 - p, p)
    is_tail = (small < 0.1) & (small > 0)
    target = log(where(is_tail, small, 0.05))
    squared = -2 * target
    x = -sqrt(squared - log(2 * math.pi * squared))
    for _ in range(4):
        y = log_ndtr(x)
        x = x - (y - target) / _ratio(x, y)
    # A small negative number is lost in 2 p - 1.
    middle = where(small < 0, math.nan, erfinv(2 * small - 1) * ROOT_2)
    value = where(is_tail, x, middle)
    return where(is_upper, -value, value)


declare_public(__name__)
