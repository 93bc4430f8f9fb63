"""The gamma function, its logarithm and derivatives; beta functions; zeta.

Sources: NIST Digital Library of Mathematical Functions (DLMF), chapters 5 and 25;
S. L. Moshier, Cephes, for the ranges.
"""

from __future__ import annotations

import math

from tensorweb.functions import abs as absolute
from tensorweb.functions import (
    exp,
    floor,
    isinf,
    log,
    log1p,
    maximum,
    minimum,
    remainder,
    round,
    sin,
    tan,
    where,
    zeros_like,
)
from tensorweb.public_names import declare_public
from tensorweb.special.entries import binary, polynomial, unary
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)

FAR = 8.5
"""From here on Stirling's series has the digits of float64."""

# fmt: off
_NEAR_2 = (
    0.42278433509846713,
    0.3224670334241132,
    -0.0673523010531981,
    0.020580808427784546,
    -0.007385551028673986,
    0.0028905103307415234,
    -0.001192753911703261,
    0.0005096695247430425,
    -0.00022315475845357939,
    9.945751278180853e-05,
    -4.492623673813314e-05,
    2.050721277567069e-05,
    -9.439488275268397e-06,
    4.374866789907488e-06,
    -2.039215753801366e-06,
    9.55141213040742e-07,
    -4.492469198764566e-07,
    2.1207184805554665e-07,
    -1.0043224823968099e-07,
    4.7698101693639804e-08,
    -2.2711094608943164e-08,
    1.0838659214896955e-08,
    -5.183475041970047e-09,
    2.4836745438024785e-09,
    -1.1921401405860912e-09,
    5.731367241678862e-10,
)
# fmt: on
"""gammaln(2 + x) / x by powers of x, up to |x| = 0.5 (DLMF 5.7.3)."""

_STIRLING = (
    *(1 / 12, -1 / 360, 1 / 1260, -1 / 1680),
    *(1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400),
)
"""The series of the correction by odd powers of 1 / x (DLMF 5.11.1)."""

_DIGAMMA = (
    *(1 / 12, -1 / 120, 1 / 252, -1 / 240),
    *(1 / 132, -691 / 32760, 1 / 12, -3617 / 8160),
)
"""The series of log(x) - 1 / 2x - digamma(x) by even powers (DLMF 5.11.2)."""


def _near_2(x: Tensor) -> Tensor:
    return x * polynomial(x, _NEAR_2)


def gammaln_1p(x: Tensor) -> Tensor:
    """Return gammaln(1 + x) for x from -0.5 to 1.5 without rounding 1 + x."""
    is_low = x < 0.5
    low = _near_2(where(is_low, x, 0.0)) - log1p(where(is_low, x, 0.0))
    return where(is_low, low, _near_2(where(is_low, 0.0, x - 1)))


def _reduced(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return y up to 2.5 and a product with gamma(x) = product gamma(y)."""
    product = x * 0.0 + 1.0
    for _ in range(math.ceil(FAR - 2.5)):
        is_high = x > 2.5
        product = where(is_high, product * (x - 1), product)
        x = where(is_high, x - 1, x)
    return x, product


def _near(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return a logarithm and a factor whose exponential and product is gamma(x).

    For x above 0 and up to `FAR`.
    """
    y, product = _reduced(x)
    is_small = y < 0.5
    size = where(y > 1.5, _near_2(y - 2), gammaln_1p(where(is_small, y, y - 1)))
    return size, where(is_small, 1 / y, product)


def stirling(x: Tensor) -> Tensor:
    """Return gammaln(x) - (x - 1/2) log(x) + x - log(2 pi) / 2 for x above 0."""
    is_near = x < FAR
    inverse = 1 / where(is_near, FAR, x)
    far = inverse * polynomial(inverse * inverse, _STIRLING)
    near = where(is_near, x, 1.0)
    size, factor = _near(near)
    size = size + near - HALF_LOG_2PI
    return where(is_near, size + (log(factor) - (near - 0.5) * log(near)), far)


def _sine(x: Tensor) -> Tensor:
    """Return sin(pi x), exact at integers."""
    whole = round(x)
    value = sin(math.pi * (x - whole))
    return where(remainder(whole, 2.0) == 0, value, -value)


def _is_pole(x: Tensor) -> Tensor:
    return (x <= 0) & (x == floor(x))


@unary(lambda y, x: (digamma(x),))
def gammaln(x: Tensor) -> Tensor:
    """Return the logarithm of `|gamma(x)|`, infinite at 0, -1 and so on.

    Within 4 ULP above 0 (float32 and float64); below, within 20 eps of the larger of 1
    and its size (DLMF 5.5.3).

    >>> tw.round(tw.scipy.special.gammaln([1.0, 5.0]) * 1000)
    tensor([   0., 3178.])
    """
    is_pole = _is_pole(x)
    is_negative = x < 0
    z = where(is_negative, 1 - x, x)
    is_far = z > FAR
    far = where(is_far & ~isinf(z), z, FAR)
    inverse = 1 / far
    series = inverse * polynomial(inverse * inverse, _STIRLING)
    large = (far - 0.5) * (log(far) - 1) + (HALF_LOG_2PI - 0.5) + series
    size, factor = _near(where(is_far | (z <= 0), 1.0, z))
    value = where(is_far, large, size + log(factor))
    sine = absolute(_sine(where(is_pole | ~is_negative, 0.5, x)))
    value = where(is_negative, math.log(math.pi) - log(sine) - value, value)
    value = where(is_pole | isinf(x), math.inf, value)
    return where(x != x, x, value)


@unary(lambda y, x: (y * digamma(x),))
def gamma(x: Tensor) -> Tensor:
    """Return the gamma function; NaN at -1, -2 and so on, infinite at 0.

    Within 8 ULP from -5 on.

    >>> tw.scipy.special.gamma([1.0, 5.0])
    tensor([ 1., 24.])
    """
    is_negative = x < 0
    z = where(is_negative, 1 - x, x)
    is_far = z > FAR
    far = where(is_far, z, FAR)
    inverse = 1 / far
    root = far ** (0.5 * far - 0.25)
    series = exp(inverse * polynomial(inverse * inverse, _STIRLING))
    large = root * exp(-far) * root * (math.sqrt(2 * math.pi) * series)
    large = where(isinf(root), root, large)
    size, factor = _near(where(is_far | (z <= 0), 1.0, z))
    value = where(is_far, large, exp(size) * factor)
    sine = _sine(where(is_negative, x, 0.5))
    value = where(is_negative, math.pi / (sine * value), value)
    value = where(x == 0, 1 / x, value)
    return where(is_negative & (x == floor(x)), math.nan, where(x != x, x, value))


@unary(lambda y, x: (_trigamma(x),))
def digamma(x: Tensor) -> Tensor:
    """Return the derivative of `gammaln`; NaN at -1, -2 and so on, -inf at 0.

    Within 8 eps of the larger of 1 and its size above 0.

    >>> tw.round(tw.scipy.special.digamma([1.0, 10.0]) * 1000)
    tensor([-577., 2252.])
    """
    is_negative = x < 0
    z = where(is_negative, 1 - x, x)
    total = zeros_like(z)
    for _ in range(math.ceil(FAR)):
        is_near = z < FAR
        total = where(is_near, total - 1 / z, total)
        z = where(is_near, z + 1, z)
    inverse = 1 / z
    squared = inverse * inverse
    value = log(z) - 0.5 * inverse - squared * polynomial(squared, _DIGAMMA) + total
    # digamma(1 - x) - digamma(x) = pi / tan(pi x), DLMF 5.5.4
    angle = where(is_negative, math.pi * (x - round(x)), 1.0)
    value = where(is_negative, value - math.pi / tan(angle), value)
    value = where(x == 0, -1 / x, value)
    return where(is_negative & (x == floor(x)), math.nan, value)


_BERNOULLI = (
    *(1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510),
    *(43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730),
)


@binary()
def _hurwitz(x: Tensor, q: Tensor) -> Tensor:
    """Return the Hurwitz zeta function by Euler and Maclaurin, DLMF 25.11.5."""
    is_inside = (x > 1) & (q > 0)
    s, start = where(is_inside, x, 2.0), where(is_inside, q, 1.0)
    total = start**-s
    for k in range(1, 10):
        total = total + (start + k) ** -s
    end = start + 10.0
    power = end**-s
    total = total + power * (end / (s - 1) + 0.5)
    factor, inverse = s * power / end, 1 / (end * end)
    for j, number in enumerate(_BERNOULLI, 1):
        total = total + factor * (number / math.factorial(2 * j))
        factor = factor * (s + (2 * j - 1)) * (s + 2 * j) * inverse
    edge = where((x == 1) | ((x > 1) & (q == 0)), math.inf, math.nan)
    return where(is_inside, total, edge)


def zeta(x: ArrayLike, q: ArrayLike = 1.0) -> Tensor:
    """Return the Hurwitz zeta function, the sum of `(q + k)**-x` for k from 0.

    With q = 1 it is Riemann's. Within 12 ULP for x above 1 and q above 0, NaN below.

    >>> tw.round(tw.scipy.special.zeta([2.0, 3.0]) * 1000)
    tensor([1645., 1202.])
    """
    return _hurwitz(x, q)


@binary()
def polygamma(n: Tensor, x: Tensor) -> Tensor:
    """Return the derivative of order n of `digamma`, for x above 0.

    Within 12 ULP for n from 1 to 20.

    >>> tw.round(tw.scipy.special.polygamma(1, [1.0, 2.0]) * 1000)
    tensor([1645.,  645.])
    """
    order = where(n > 0, n, 1.0)
    sign = where(remainder(order, 2.0) == 0, -1.0, 1.0)
    # DLMF 25.11.12
    value = sign * gamma(order + 1) * _hurwitz(order + 1, x)
    return where(n == 0, digamma(x), value)


@unary()
def _trigamma(x: Tensor) -> Tensor:
    """Return the derivative of `digamma`, also below 0 (DLMF 5.15.6)."""
    is_negative = x < 0
    value = polygamma(1.0, where(is_negative, 1 - x, x))
    sine = _sine(where(is_negative, x, 0.5)) / math.pi
    return where(is_negative, 1 / (sine * sine) - value, value)


def _digammas(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    both = digamma(a + b)
    return digamma(a) - both, digamma(b) - both


@binary(lambda y, a, b: _digammas(a, b))
def betaln(a: Tensor, b: Tensor) -> Tensor:
    """Return the logarithm of the beta function of numbers above 0, else NaN.

    Within 16 eps of the larger of 1 and its size.

    >>> tw.round(tw.scipy.special.betaln(2.0, 3.0) * 1000)
    tensor(-2485.)
    """
    is_inside = (a > 0) & (b > 0)
    least = where(is_inside, minimum(a, b), 1.0)
    most = where(is_inside, maximum(a, b), 1.0)
    total = least + most
    size = (least - 0.5) * log(least / total) - most * log1p(least / most)
    large = size - 0.5 * log(most) + HALF_LOG_2PI
    large = large + stirling(least) + (stirling(most) - stirling(total))
    small = gammaln(least) + (gammaln(most) - gammaln(total))
    return where(is_inside, where(most < FAR, small, large), math.nan)


@binary(lambda y, a, b: [y * part for part in _digammas(a, b)])
def beta(a: Tensor, b: Tensor) -> Tensor:
    """Return the beta function of numbers above 0, the exponential of `betaln`.

    >>> tw.scipy.special.beta(1.0, 4.0)
    tensor(0.25)
    """
    return exp(betaln(a, b))


@unary()
def factorial(n: Tensor) -> Tensor:
    """Return `gamma(n + 1)`, 0 below 0.

    >>> tw.scipy.special.factorial([0, 3, 5])
    tensor([  1.,   6., 120.])
    """
    return where(n < 0, 0.0, gamma(where(n < 0, 0.0, n) + 1))


_FACTORS = 20
"""`comb` of integers multiplies that many factors at most, as SciPy does."""


def _of_comb(y: Tensor, n: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    rest = where(y == 0, 0.0, n - k)  # outside of 0 to N, where the derivatives are 0
    n, k = where(y == 0, 0.0, n), where(y == 0, 0.0, k)
    low = digamma(rest + 1)
    return y * (digamma(n + 1) - low), y * (low - digamma(k + 1))


@binary(_of_comb)
def comb(N: Tensor, k: Tensor) -> Tensor:  # SciPy's name of the argument
    """Return the count of choices of k from N, 0 unless k is from 0 to N.

    Of integers it is rounded to one.

    >>> tw.scipy.special.comb([5, 10], 2)
    tensor([10., 45.])
    """
    is_inside = (k >= 0) & (k <= N)
    n, m = where(is_inside, N, 1.0), where(is_inside, k, 0.0)
    half = exp(-0.5 * betaln(n - m + 1, m + 1))
    value = half / (n + 1) * half
    are_whole = (n == floor(n)) & (m == floor(m))
    few = minimum(m, n - m)
    product = zeros_like(n) + 1.0
    for i in range(1, _FACTORS + 1):  # the choices of i from n - few + i
        product = where(few >= i, round(product * (n - few + i) / i), product)
    value = where(are_whole, round(value), value)
    value = where(are_whole & (few <= _FACTORS), product, value)
    return where(is_inside, value, 0.0)


declare_public(__name__, hidden="gammaln_1p stirling")
