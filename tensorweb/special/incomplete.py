"""Incomplete gamma and beta functions, by one quadrature.

`f(0) exp(-g(y))` is integrated over y from 0, away from the maximum of the density, at
56 nodes: `y = l exp(w - exp(-w))` with equally distant w makes both ends of the
integral vanish double exponentially. H. Takahasi and M. Mori, Double exponential
formulas for numerical integration, 1974; all else from DLMF 8.2, 8.7 and 8.17. There is
no loop whose length depends on values, and the derivative of the quadrature is that of
the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tensorweb.functions import abs as absolute
from tensorweb.functions import (
    asarray,
    exp,
    expm1,
    isinf,
    log,
    maximum,
    sqrt,
    where,
)
from tensorweb.functions import sum as sum_of
from tensorweb.public_names import declare_public
from tensorweb.special.entries import (
    binary,
    log1p_less,
    log_less,
    polynomial,
    ternary,
    with_derivative,
)
from tensorweb.special.gamma import digamma, gammaln_1p, stirling
from tensorweb.tensor import Tensor
from tensorweb.transforms.custom import stop_gradient
from tensorweb.transforms.gradients import grad

_COUNT = 56
_STEP = 7.1 / (_COUNT - 1)
_W = [-3.4 + _STEP * k for k in range(_COUNT)]
_NODES = [math.exp(w - math.exp(-w)) for w in _W]
_WEIGHTS = [
    _STEP * (1 + math.exp(-w)) * node for w, node in zip(_W, _NODES, strict=True)
]


def _integral(exponent: Callable[[Tensor], Tensor], scale: Tensor) -> Tensor:
    """Return the integral of `exp(-exponent(y))` over y from 0.

    The exponent reaches 1 for y near the scale.
    """
    width = stop_gradient(2 / scale)
    shape = (_COUNT, *[1] * width.ndim)

    def column(values: list[float]) -> Tensor:
        return asarray(values, width.dtype, device=width.device).reshape(shape)

    terms = exp(-exponent(column(_NODES) * width)) * column(_WEIGHTS)
    return sum_of(terms, axis=0) * width


@with_derivative(lambda z, y: (-expm1(-y),))
def _exponential_less(y: Tensor) -> Tensor:
    """Return exp(-y) - 1 + y for y from 0 without cancellation."""
    is_near = y < 0.5
    near = where(is_near, y, 0.0)
    series = [(-1) ** k / math.factorial(k + 2) for k in range(14)]
    return where(is_near, near * near * polynomial(near, series), y + expm1(-y))


def _of_shapes(a: Tensor, x: Tensor) -> Sequence[Tensor]:
    return log(x) - digamma(a), a / x - 1


@with_derivative(lambda y, a, x: [y * part for part in _of_shapes(a, x)])
def _gamma_density(a: Tensor, x: Tensor) -> Tensor:
    """Return x**a exp(-x) / gamma(a)."""
    size = a * log_less((x - a) / a, x / a) - stirling(a)
    return sqrt(a / (2 * math.pi)) * exp(size)


def _gamma_sides(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return both regularized incomplete gamma functions of numbers above 0."""
    is_small = (a < 1) & (x < 1.2)
    # x**a / gamma(1 + a) (1 + sum of a (-x)**n / ((a + n) n!)), DLMF 8.7.1
    s, y = where(is_small, a, 0.5), where(is_small, x, 0.5)
    rest = y * 0.0
    for n in range(20, 0, -1):
        rest = (s / (s + n) + rest) * y * (-1.0 / n)
    size = s * log(y) - gammaln_1p(s)
    power = exp(size)
    small = power * (1 + rest), -expm1(size) - power * rest
    # Below the maximum at a in t = x exp(-y), above it in t = x (1 + y).
    a, x = where(is_small, 1.0, a), where(is_small, 1.5, x)
    density = _gamma_density(a, x)
    is_lower = x < a
    under = where(is_lower, x, 0.5 * a)
    lower = density * _integral(
        lambda y: (a - under) * y + under * _exponential_less(y),
        maximum(a - under, sqrt(under)),
    )
    over = where(is_lower, 2 * a, x)
    upper = density * _integral(
        lambda y: (over - a + 1) * y + (1 - a) * log1p_less(y),
        maximum(over - a + 1, sqrt(a)),
    )
    return (
        where(is_small, small[0], where(is_lower, lower, 1 - upper)),
        where(is_small, small[1], where(is_lower, 1 - lower, upper)),
    )


def _of_gamma(side: int, a: Tensor, x: Tensor) -> Tensor:
    """Return the lower or the upper function, with its values at the ends."""
    is_inside = (a > 0) & (x > 0) & ~isinf(a) & ~isinf(x)
    both = _gamma_sides(where(is_inside, a, 1.0), where(is_inside, x, 1.0))
    is_none = (a < 0) | (x < 0) | ((a == 0) & (x == 0)) | (isinf(a) & isinf(x))
    is_none = is_none | (a != a) | (x != x)
    is_below = (x == 0) | isinf(a)
    edge = where(is_below, float(side), 1.0 - side)
    return where(is_inside, both[side], where(is_none, math.nan, edge))


def _by_shape(a: Tensor, x: Tensor) -> Tensor:
    """Return the derivative of the lower function by a."""
    is_inside = (a > 0) & (x > 0) & ~isinf(a) & ~isinf(x)
    shape, value = where(is_inside, a, 1.0), where(is_inside, x, 1.0)
    found = grad(lambda shape: _gamma_sides(shape, value)[0].sum())(shape)
    return where(is_inside, found, 0.0)


def _gamma_parts(y: Tensor, a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    safe = where(x > 0, x, 1.0)
    density = where(x > 0, _gamma_density(a, safe) / safe, 0.0)
    return _by_shape(a, x), where((x == 0) & (a <= 1), a**math.inf, density)


def gamma_by_shape(a: Tensor, x: Tensor) -> Tensor:
    """Return the derivative by a of a gamma distributed x: of its quantile.

    M. Figurnov, S. Mohamed and A. Mnih, Implicit reparameterization gradients, 2018.
    """
    by_shape, density = _gamma_parts(x, a, x)
    return -by_shape / where(density > 0, density, 1.0)


@binary(_gamma_parts)
def gammainc(a: Tensor, x: Tensor) -> Tensor:
    """Return the regularized lower incomplete gamma function, DLMF 8.2.4.

    Within 150 eps relative to it for a up to 1e4, in a tail more by its logarithm.

    >>> tw.round(tw.scipy.special.gammainc(2.0, [1.0, 2.0]) * 1000)
    tensor([264., 594.])
    """
    return _of_gamma(0, a, x)


@binary(lambda y, a, x: [-part for part in _gamma_parts(y, a, x)])
def gammaincc(a: Tensor, x: Tensor) -> Tensor:
    """Return the regularized upper incomplete gamma function, `1 - gammainc`.

    As exact as `gammainc`, also where it is small.

    >>> tw.round(tw.scipy.special.gammaincc(2.0, [1.0, 2.0]) * 1000)
    tensor([736., 406.])
    """
    return _of_gamma(1, a, x)


def _of_sides(
    a: Tensor, b: Tensor, x: Tensor, rest: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    both = digamma(a + b)
    return log(x) - digamma(a) + both, log(rest) - digamma(b) + both, a / x, b / rest


@with_derivative(lambda y, *x: [y * part for part in _of_sides(*x)])
def _beta_density(a: Tensor, b: Tensor, x: Tensor, rest: Tensor) -> Tensor:
    """Return x**a rest**b / beta(a, b), where rest is 1 - x."""
    gap, total = x * b - rest * a, a + b
    size = a * log_less(gap / a, total / a * x)
    size = size + b * log_less(-gap / b, total / b * rest)
    size = size - stirling(a) - stirling(b) + stirling(total)
    return sqrt(a / total * b / (2 * math.pi)) * exp(size)


def _beta(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """Return the incomplete beta function for x above 0 and below 1."""
    is_lower = x * (a + b + 2) <= a + 1
    a, b = where(is_lower, a, b), where(is_lower, b, a)
    x, rest = where(is_lower, x, 1 - x), where(is_lower, 1 - x, x)
    density = _beta_density(a, b, x, rest)
    # I(a, b) = density / a + I(a + 1, b), DLMF 8.17.20: shapes below 1 decay slowly.
    is_small = a < 1
    shape = where(is_small, a + 1, a)
    odds = x / rest
    start = shape - (b - 1) * odds

    def exponent(y: Tensor) -> Tensor:  # in t = x exp(-y)
        near = odds * _exponential_less(y) - log1p_less(-odds * expm1(-y))
        return start * y + (b - 1) * near

    curve = sqrt(maximum(b - 1, 0.0) * odds * (1 + odds))
    value = density * _integral(exponent, maximum(absolute(start), curve)) / rest
    more = density / a + value * x * ((a + b) / a)
    value = where(is_small, more, value)
    return where(is_lower, value, 1 - value)


def _beta_inside(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    return (a > 0) & (b > 0) & (x > 0) & (x < 1) & ~isinf(a) & ~isinf(b)


def _beta_parts(
    y: Tensor, a: Tensor, b: Tensor, x: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    is_inside = _beta_inside(a, b, x)
    p, q = where(is_inside, a, 1.0), where(is_inside, b, 1.0)
    t = where(is_inside, x, 0.5)

    def total(p: Tensor, q: Tensor) -> Tensor:
        return _beta(p, q, t).sum()

    by_p, by_q = grad(total, (0, 1))(p, q)
    by_t = _beta_density(p, q, t, 1 - t) / t / (1 - t)
    return (
        where(is_inside, by_p, 0.0),
        where(is_inside, by_q, 0.0),
        where(is_inside, by_t, 0.0),
    )


@ternary(_beta_parts)
def betainc(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """Return the regularized incomplete beta function, DLMF 8.17.2.

    Within 200 eps relative to it for a and b up to 1e4, in a tail more by its
    logarithm, and within 100 eps absolutely where `x > (a + 1) / (a + b + 2)`; NaN
    unless a and b are above 0 and finite. It has derivatives by a and b, unlike JAX's.

    >>> tw.round(tw.scipy.special.betainc(2.0, 3.0, [0.25, 0.5]) * 1000)
    tensor([262., 688.])
    """
    is_inside = _beta_inside(a, b, x)
    p, q = where(is_inside, a, 1.0), where(is_inside, b, 1.0)
    value = _beta(p, q, where(is_inside, x, 0.5))
    is_none = (a <= 0) | (b <= 0) | (x < 0) | (x > 1) | isinf(a) | isinf(b) | (x != x)
    is_none = is_none | (a != a) | (b != b)
    return where(is_inside, value, where(is_none, math.nan, x))


declare_public(__name__, hidden="gamma_by_shape")
