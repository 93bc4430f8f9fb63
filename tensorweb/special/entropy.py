"""Logarithms with their limits at 0: entropies, divergences, logits."""

from __future__ import annotations

import math

from tensorweb.dtypes import finfo
from tensorweb.functions import abs as absolute
from tensorweb.functions import atanh, isinf, log, log1p, where
from tensorweb.public_names import declare_public
from tensorweb.special.entries import binary, log1p_less, unary
from tensorweb.tensor import Tensor


@binary(lambda z, x, y: (log(y), x / y))
def xlogy(x: Tensor, y: Tensor) -> Tensor:
    """Return `x log(y)`, 0 where x is 0 and y is not NaN.

    >>> tw.scipy.special.xlogy([0.0, 2.0], [0.0, 1.0])
    tensor([0., 0.])
    """
    is_zero = (x == 0) & (y == y)
    return where(is_zero, 0.0, x * log(where(is_zero, 1.0, y)))


@binary(lambda z, x, y: (log1p(y), x / (1 + y)))
def xlog1py(x: Tensor, y: Tensor) -> Tensor:
    """Return `x log(1 + y)`, 0 where x is 0 and y is not NaN.

    >>> tw.scipy.special.xlog1py([0.0, 2.0], [-1.0, 0.0])
    tensor([0., 0.])
    """
    is_zero = (x == 0) & (y == y)
    return where(is_zero, 0.0, x * log1p(where(is_zero, 0.0, y)))


# y = -x log(x); dx = -log(x) - 1, infinite at 0, and 0 where y is -inf
@unary(lambda y, x: (where(x < 0, 0.0, -log(absolute(x)) - 1),))
def entr(x: Tensor) -> Tensor:
    """Return `-x log(x)`, -inf below 0.

    >>> tw.scipy.special.entr([0.0, 1.0, -1.0])
    tensor([  0.,   0., -inf])
    """
    return where(x < 0, -math.inf, 0.0 - xlogy(x, where(x < 0, 1.0, x)))


def _log_ratio(x: Tensor, y: Tensor) -> Tensor:
    """Return log(x / y), also where the quotient overflows or underflows."""
    ratio = x / y
    is_far = (absolute(ratio) < finfo(x.dtype).smallest_normal) | isinf(ratio)
    apart = log(where(is_far, x, 1.0)) - log(where(is_far, y, 1.0))
    return where(is_far, apart, log(where(is_far, 1.0, ratio)))


def _parts(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return x (log(x / y) - u) and u, which is x / y - 1 near 0, else 0."""
    is_inside = (x > 0) & (y > 0)
    above, below = where(is_inside, x, 1.0), where(is_inside, y, 1.0)
    is_near = is_inside & (absolute(above / below - 1) < 0.5)
    change = where(is_near, (x - y) / below, 0.0)
    size = where(is_near, log1p_less(change), _log_ratio(above, below))
    edge = where((x == 0) & (y >= 0), 0.0, math.inf)
    edge = where((x != x) | (y != y), math.nan, edge)
    return where(is_inside, x * size, edge), change


@binary(lambda z, x, y: (_log_ratio(x, y) + 1, -x / y))
def rel_entr(x: Tensor, y: Tensor) -> Tensor:
    """Return `x log(x / y)`; infinite where x or y is outside its domain.

    >>> tw.scipy.special.rel_entr([0.0, 1.0, 1.0], [1.0, 1.0, 0.0])
    tensor([ 0.,  0., inf])
    """
    value, change = _parts(x, y)
    return value + x * change


@binary(lambda z, x, y: (_log_ratio(x, y), 1 - x / y))
def kl_div(x: Tensor, y: Tensor) -> Tensor:
    """Return `x log(x / y) - x + y`; infinite where x or y is outside its domain.

    >>> tw.scipy.special.kl_div([1.0, 0.0], [1.0, 2.0])
    tensor([0., 2.])
    """
    value, change = _parts(x, y)
    rest = where(change == 0, y - x, (x - y) * change)
    return value + where((x >= 0) & (y >= 0), rest, 0.0)


@unary(lambda y, p: (1 / (p * (1 - p)),))
def logit(p: Tensor) -> Tensor:
    """Return `log(p / (1 - p))`, the inverse of `expit`, exact near 1/2.

    >>> tw.scipy.special.logit([0.0, 0.5, 1.0])
    tensor([-inf,   0.,  inf])
    """
    is_near = absolute(p - 0.5) < 0.25
    near = 2 * atanh(where(is_near, 2 * p - 1, 0.0))
    return where(is_near, near, log(p) - log1p(-p))


declare_public(__name__)
