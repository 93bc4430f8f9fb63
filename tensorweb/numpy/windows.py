"""Windows of signal processing: weights that fall to the ends.

The number of points may be a float, as in NumPy: `n` then runs over `1 - M`, `3 - M`
and so on, below `M`.
"""

from __future__ import annotations

import math

from tensorweb import functions as tw
from tensorweb.numpy.mathematics import i0
from tensorweb.tensor import Tensor
from tensorweb.tensor.scalars import NumberLike, as_number

__all__ = [
    "bartlett",
    "blackman",
    "hamming",
    "hanning",
    "kaiser",
]


def _steps(name: str, M: NumberLike) -> tuple[Tensor, float] | Tensor:
    """Return `1 - M, 3 - M, …` below `M` and `M - 1`; the window itself if it is short.

    Raises:
        DTypeError: the number is complex.
    """
    length = as_number(M, f"{name}: M")
    if not length >= 1:
        return tw.ones(0)
    if length == 1:
        return tw.ones(1)
    count = math.ceil(length - 0.5)
    return tw.arange(count) * 2.0 + (1 - length), length - 1


def _cosines(name: str, M: NumberLike, weights: tuple[float, ...]) -> Tensor:
    """Return `sum w_k cos(k pi n / (M - 1))` for n from 1 - M to M - 1."""
    found = _steps(name, M)
    if isinstance(found, Tensor):
        return found
    steps, span = found
    angle = steps * (math.pi / span)
    window = tw.full(steps.shape[0], weights[0])
    for number, weight in enumerate(weights[1:], 1):
        window = window + tw.cos(angle * number) * weight
    return window


def hanning(M: NumberLike) -> Tensor:
    """Return the Hann window, `0.5 + 0.5 cos(pi n / (M - 1))`.

    >>> np.round(np.hanning(3), 2)
    tensor([0., 1., 0.])
    """
    return _cosines("hanning", M, (0.5, 0.5))


def hamming(M: NumberLike) -> Tensor:
    """Return the Hamming window, `0.54 + 0.46 cos(pi n / (M - 1))`.

    >>> np.round(np.hamming(3), 2)
    tensor([0.08, 1.  , 0.08])
    """
    return _cosines("hamming", M, (0.54, 0.46))


def blackman(M: NumberLike) -> Tensor:
    """Return the Blackman window, of three cosines.

    >>> np.round(np.blackman(5), 2) + 0
    tensor([0.  , 0.34, 1.  , 0.34, 0.  ])
    """
    return _cosines("blackman", M, (0.42, 0.5, 0.08))


def bartlett(M: NumberLike) -> Tensor:
    """Return the triangle that is 0 at both ends.

    >>> np.bartlett(5)
    tensor([0. , 0.5, 1. , 0.5, 0. ])
    """
    found = _steps("bartlett", M)
    if isinstance(found, Tensor):
        return found
    steps, span = found
    return 1 - tw.abs(steps) * (1 / span)


def kaiser(M: NumberLike, beta: NumberLike) -> Tensor:
    """Return the Kaiser window, `i0(beta sqrt(1 - x**2)) / i0(beta)`, x from -1 to 1.

    >>> np.round(np.kaiser(3, 2.0), 3)
    tensor([0.439, 1.   , 0.439])
    """
    length, width = as_number(M, "kaiser: M"), as_number(beta, "kaiser: beta")
    if length == 1:
        return tw.ones(1)
    middle = (length - 1) / 2
    place = tw.arange(max(0, math.ceil(length))) * 1.0 - middle
    place = place * (1 / middle) if middle else place
    inside = tw.sqrt(tw.maximum(1 - place * place, 0.0))
    return i0(inside * width) / i0(width)
