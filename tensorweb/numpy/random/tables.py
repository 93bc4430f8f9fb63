"""Distributions of whole numbers as tables of summed probabilities.

Tables are made in Python's floats, from the most likely number outwards, so that
nothing overflows. They end where what is left is too small to be drawn.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import accumulate

from tensorweb.errors import RangeError

SMALLEST = 1e-18
"""Probabilities below this share of the most likely number's are left out."""

Table = tuple[int, tuple[float, ...]]
"""The least number, and the probabilities of being at most it, the next one, …."""


def _table(mode: int, down: object, up: object, least: int, most: float) -> Table:
    """Return the table of a distribution with one peak.

    `down(k)` is the probability of k - 1 divided by that of k, `up(k)` that of k + 1.
    """
    assert callable(down), "internal: a function"
    assert callable(up), "internal: a function"
    before: list[float] = []
    share, k = 1.0, mode
    while k > least:
        share *= down(k)
        if share < SMALLEST:
            break
        k -= 1
        before.append(share)
    first = k
    share, k = 1.0, mode
    after = [1.0]
    while k < most:
        share *= up(k)
        if share < SMALLEST:
            break
        k += 1
        after.append(share)
    weights = [*reversed(before), *after]
    total = math.fsum(weights)
    return first, tuple(min(each / total, 1.0) for each in accumulate(weights))


@lru_cache(64)
def poisson(lam: float) -> Table:
    """Return the table of the Poisson distribution of mean `lam`.

    >>> first, sums = poisson(2.0)
    >>> first, round(sums[1] - sums[0], 6)
    (0, 0.270671)
    """
    if not 0 <= lam <= 1e9:
        raise RangeError(f"poisson: lam is {lam}; give a number from 0 to 1e9.")
    return _table(
        int(lam), lambda k: k / lam, lambda k: lam / (k + 1), 0, math.inf if lam else 0
    )


@lru_cache(64)
def binomial(n: int, p: float) -> Table:
    """Return the table of how many of `n` trials succeed with probability `p`.

    >>> binomial(2, 0.5)
    (0, (0.25, 0.75, 1.0))
    """
    if n < 0 or not 0 <= p <= 1:
        raise RangeError(
            f"binomial: n is {n} and p {p}; n is 0 or more, p from 0 to 1."
        )
    if p in (0, 1):
        return int(n * p), (1.0,)
    odds = p / (1 - p)
    return _table(
        min(int((n + 1) * p), n),
        lambda k: k / (n - k + 1) / odds,
        lambda k: (n - k) / (k + 1) * odds,
        0,
        n,
    )


@lru_cache(64)
def negative_binomial(n: float, p: float) -> Table:
    """Return the table of how many trials fail before the n-th success.

    >>> first, sums = negative_binomial(1, 0.5)
    >>> first, sums[0]
    (0, 0.5)
    """
    if n <= 0 or not 0 < p <= 1:
        raise RangeError(
            f"negative_binomial: n is {n} and p {p}; n is above 0, p from 0 to 1."
        )
    q = 1 - p
    mode = int((n - 1) * q / p) if n > 1 else 0
    return _table(
        mode,
        lambda k: k / ((k + n - 1) * q),
        lambda k: (k + n) / (k + 1) * q,
        0,
        math.inf if q else mode,
    )


@lru_cache(64)
def hypergeometric(ngood: int, nbad: int, nsample: int) -> Table:
    """Return the table of how many of a sample are good ones.

    >>> hypergeometric(1, 1, 1)
    (0, (0.5, 1.0))
    """
    if min(ngood, nbad, nsample) < 0 or nsample > ngood + nbad:
        raise RangeError(
            f"hypergeometric: {nsample} of {ngood} good and {nbad} bad ones; give "
            "numbers of which a sample can be drawn."
        )
    least, most = max(0, nsample - nbad), min(ngood, nsample)
    total = ngood + nbad + 2
    mode = min(max((nsample + 1) * (ngood + 1) // total, least), most)
    return _table(
        mode,
        lambda k: k * (nbad - nsample + k) / ((ngood - k + 1) * (nsample - k + 1)),
        lambda k: (ngood - k) * (nsample - k) / ((k + 1) * (nbad - nsample + k + 1)),
        least,
        most,
    )
