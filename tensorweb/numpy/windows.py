"""Windows of signal processing: weights that fall to the ends."""

from __future__ import annotations

import math

from tensorweb import functions
from tensorweb.numpy.mathematics import i0
from tensorweb.tensor import Tensor

__all__ = [
    "bartlett",
    "blackman",
    "hamming",
    "hanning",
    "kaiser",
]


def _cosines(M: int, weights: tuple[float, ...]) -> Tensor:
    """Return `sum w_k cos(2 pi k n / (M - 1))` for n from 0 to M - 1."""
    if M < 2:
        return functions.ones(max(M, 0))
    angle = functions.arange(M) * (2 * math.pi / (M - 1))
    found = functions.full(M, weights[0])
    for number, weight in enumerate(weights[1:], 1):
        found = found + functions.cos(angle * number) * weight
    return found


def hanning(M: int) -> Tensor:
    """Return the Hann window, `0.5 - 0.5 cos(2 pi n / (M - 1))`.

    >>> np.hanning(3)
    tensor([0., 1., 0.])
    """
    return _cosines(M, (0.5, -0.5))


def hamming(M: int) -> Tensor:
    """Return the Hamming window, `0.54 - 0.46 cos(2 pi n / (M - 1))`.

    >>> np.round(np.hamming(3), 2)
    tensor([0.08, 1.  , 0.08])
    """
    return _cosines(M, (0.54, -0.46))


def blackman(M: int) -> Tensor:
    """Return the Blackman window, of three cosines.

    >>> np.round(np.blackman(5), 2) + 0
    tensor([0.  , 0.34, 1.  , 0.34, 0.  ])
    """
    return _cosines(M, (0.42, -0.5, 0.08))


def bartlett(M: int) -> Tensor:
    """Return the triangle that is 0 at both ends.

    >>> np.bartlett(5)
    tensor([0. , 0.5, 1. , 0.5, 0. ])
    """
    if M < 2:
        return functions.ones(max(M, 0))
    distance = functions.abs(functions.arange(M) - (M - 1) / 2)
    return 1 - distance * (2 / (M - 1))


def kaiser(M: int, beta: float) -> Tensor:
    """Return the Kaiser window, `i0(beta sqrt(1 - x**2)) / i0(beta)`, x from -1 to 1.

    >>> np.round(np.kaiser(3, 2.0), 3)
    tensor([0.439, 1.   , 0.439])
    """
    if M < 2:
        return functions.ones(max(M, 0))
    place = functions.arange(M) * (2 / (M - 1)) - 1
    inside = functions.sqrt(functions.maximum(1 - place * place, 0.0))
    return i0(inside * beta) / i0(beta)
