"""Modified Bessel functions of the first kind, by Chebyshev series; sinc.

S. L. Moshier, Cephes, for the intervals: up to 8, and from there in 32 / x.
"""

from __future__ import annotations

import math

from tensorweb.functions import abs as absolute
from tensorweb.functions import exp, isinf, sign, sin, sqrt, where
from tensorweb.public_names import declare_public
from tensorweb.special.entries import polynomial, unary
from tensorweb.tensor import Tensor

_I0_SMALL = (
    *(-4.41534164647933937950e-18, 3.33079451882223809783e-17),
    *(-2.43127984654795469359e-16, 1.71539128555513303061e-15),
    *(-1.16853328779934516808e-14, 7.67618549860493561688e-14),
    *(-4.85644678311192946090e-13, 2.95505266312963983461e-12),
    *(-1.72682629144155570723e-11, 9.67580903537323691224e-11),
    *(-5.18979560163526290666e-10, 2.65982372468238665035e-9),
    *(-1.30002500998624804212e-8, 6.04699502254191894932e-8),
    *(-2.67079385394061173391e-7, 1.11738753912010371815e-6),
    *(-4.41673835845875056359e-6, 1.64484480707288970893e-5),
    *(-5.75419501008210370398e-5, 1.88502885095841655729e-4),
    *(-5.76375574538582365885e-4, 1.63947561694133579842e-3),
    *(-4.32430999505057594430e-3, 1.05464603945949983183e-2),
    *(-2.37374148058994688156e-2, 4.93052842396707084878e-2),
    *(-9.49010970480476444210e-2, 1.71620901522208775349e-1),
    *(-3.04682672343198398683e-1, 6.76795274409476084995e-1),
)
"""Chebyshev coefficients of `exp(-x) i0(x)` for x from 0 to 8, from Cephes."""

_I0_LARGE = (
    *(-7.23318048787475395456e-18, -4.83050448594418207126e-18),
    *(4.46562142029675999901e-17, 3.46122286769746109310e-17),
    *(-2.82762398051658348494e-16, -3.42548561967721913462e-16),
    *(1.77256013305652638360e-15, 3.81168066935262242075e-15),
    *(-9.55484669882830764870e-15, -4.15056934728722208663e-14),
    *(1.54008621752140982691e-14, 3.85277838274214270114e-13),
    *(7.18012445138366623367e-13, -1.79417853150680611778e-12),
    *(-1.32158118404477131188e-11, -3.14991652796324136454e-11),
    *(1.18891471078464383424e-11, 4.94060238822496958910e-10),
    *(3.39623202570838634515e-9, 2.26666899049817806459e-8),
    *(2.04891858946906374183e-7, 2.89137052083475648297e-6),
    *(6.88975834691682398426e-5, 3.36911647825569408990e-3),
    8.04490411014108831608e-1,
)
"""Those of `exp(-x) sqrt(x) i0(x)` for x above 8, in 32 / x - 2."""

_I1_SMALL = (
    *(-2.11142121435816608e-17, 1.55363195773620047e-16),
    *(-1.10559694773538631e-15, 7.60068429473540693e-15),
    *(-5.04218550472791169e-14, 3.22379336594557471e-13),
    *(-1.98397439776494372e-12, 1.17361862988909016e-11),
    *(-6.66348972350202774e-11, 3.62559028155211704e-10),
    *(-1.88724975172282929e-9, 9.38153738649577178e-9),
    *(-4.44505912879632808e-8, 2.00329475355213526e-7),
    *(-8.56872026469545474e-7, 3.47025130813767848e-6),
    *(-0.0000132731636560394358, 0.0000478156510755005423),
    *(-0.000161760815825896746, 0.000512285956168575773),
    *(-0.00151357245063125315, 0.00415642294431288816),
    *(-0.0105640848946261982, 0.0247264490306265168),
    *(-0.0529459812080949914, 0.102643658689847095),
    *(-0.176416518357834055, 0.252587186443633655),
)
"""Those of `exp(-x) i1(x) / x` for x from 0 to 8."""

_I1_LARGE = (
    *(7.51729631084210481e-18, 4.41434832307170795e-18),
    *(-4.65030536848935833e-17, -3.20952592199342396e-17),
    *(2.96262899764595014e-16, 3.30820231092092828e-16),
    *(-1.88035477551078245e-15, -3.8144030724370078e-15),
    *(1.04202769841288028e-14, 4.27244001671195135e-14),
    *(-2.10154184277266431e-14, -4.08355111109219732e-13),
    *(-7.19855177624590851e-13, 2.03562854414708951e-12),
    *(1.41258074366137813e-11, 3.25260358301548824e-11),
    *(-1.89749581235054123e-11, -5.58974346219658381e-10),
    *(-3.83538038596423702e-9, -2.63146884688951951e-8),
    *(-2.51223623787020893e-7, -3.88256480887769039e-6),
    *(-0.000110588938762623716, -0.00976109749136146841),
    0.77857623501828012,
)
"""Those of `exp(-x) sqrt(x) i1(x)` for x above 8, in 32 / x - 2."""


def _series(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    """Return a Chebyshev series by Clenshaw's recurrence."""
    before = previous = x * 0
    current = before + coefficients[0]
    for coefficient in coefficients[1:]:
        before, previous = previous, current
        current = x * previous - before + coefficient
    return (current - before) / 2


def _both(
    x: Tensor, small: tuple[float, ...], large: tuple[float, ...], power: float
) -> Tensor:
    """Return the series up to 8, and the other one times a power from there."""
    a = absolute(x)
    is_small = a <= 8
    low = _series(where(is_small, a, 8.0) / 2 - 2, small)
    high = where(is_small, 8.0, a)
    return where(is_small, low, _series(32 / high - 2, large) * high**power)


def _unscaled(x: Tensor, y: Tensor) -> Tensor:
    """Return exp(|x|) y in two halves, since the power overflows before the product."""
    half = exp(absolute(x) / 2)
    return half * y * half


def _i1e_over_x(x: Tensor) -> Tensor:
    return _both(x, _I1_SMALL, _I1_LARGE, -1.5)


@unary(lambda y, x: (i1(x),))
def i0(x: Tensor) -> Tensor:
    """Return the modified Bessel function of order 0: within 5 ULP.

    >>> tw.round(tw.scipy.special.i0([0.0, 1.0]) * 1000)
    tensor([1000., 1266.])
    """
    return where(isinf(x), absolute(x), _unscaled(x, i0e(x)))


@unary(lambda y, x: (i1e(x) - sign(x) * y,))
def i0e(x: Tensor) -> Tensor:
    """Return `exp(-|x|) i0(x)`: within 4 ULP.

    >>> tw.round(tw.scipy.special.i0e([0.0, 1.0]) * 1000)
    tensor([1000.,  466.])
    """
    return _both(x, _I0_SMALL, _I0_LARGE, -0.5)


_I1_OVER_X = [
    0.5 / (4**k * math.factorial(k) * math.factorial(k + 1)) for k in range(9)
]
"""Taylor coefficients of `i1(x) / x` in x², to float64's precision up to 1.

The series in |x| has no third derivative at 0.
"""


def _i1_over_x(x: Tensor) -> Tensor:
    is_near = absolute(x) < 1
    near, far = where(is_near, x, 0.0), where(is_near, 1.0, x)
    quotient = _unscaled(far, _i1e_over_x(far))
    return where(is_near, polynomial(near * near, _I1_OVER_X), quotient)


@unary(lambda y, x: (i0(x) - _i1_over_x(x),))
def i1(x: Tensor) -> Tensor:
    """Return the modified Bessel function of order 1: within 12 ULP.

    >>> tw.round(tw.scipy.special.i1([0.0, 1.0]) * 1000)
    tensor([  0., 565.])
    """
    return where(isinf(x), x, _unscaled(x, i1e(x)))


@unary(lambda y, x: (i0e(x) - _i1e_over_x(x) - sign(x) * y,))
def i1e(x: Tensor) -> Tensor:
    """Return `exp(-|x|) i1(x)`: within 12 ULP.

    >>> tw.round(tw.scipy.special.i1e([0.0, 1.0]) * 1000)
    tensor([  0., 208.])
    """
    a = absolute(x)
    small = x * _series(where(a <= 8, a, 8.0) / 2 - 2, _I1_SMALL)
    high = where(a <= 8, 8.0, a)
    return where(
        a <= 8, small, sign(x) * _series(32 / high - 2, _I1_LARGE) / sqrt(high)
    )


_SINC = [(-1) ** k / math.factorial(2 * k + 1) for k in range(10)]
"""Taylor coefficients of `sin(a) / a` in a², to float64's precision up to 1.

A quotient with a chosen value at 0 would have wrong derivatives there.
"""


def sinc_of(x: Tensor) -> Tensor:
    """Return `sin(pi x) / (pi x)`, 1 at 0, also of complex numbers."""
    a = x * math.pi
    is_near = absolute(a) <= 1
    safe = where(is_near, 1.0, a)
    near = where(is_near, a, 0.0)
    return where(is_near, polynomial(near * near, _SINC), sin(safe) / safe)


@unary()
def sinc(x: Tensor) -> Tensor:
    """Return `sin(pi x) / (pi x)`, 1 at 0.

    >>> tw.round(tw.scipy.special.sinc([0.0, 0.5]) * 1000)
    tensor([1000.,  637.])
    """
    return sinc_of(x)


declare_public(__name__, hidden="sinc_of")
