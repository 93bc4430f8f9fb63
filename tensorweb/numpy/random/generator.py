"""`Generator` and `RandomState`: NumPy's two families of methods over a hidden key.

Tables are made in Python's floats, from the most likely number outwards, so that
nothing overflows. They end where the rest is too small to be drawn.
"""

from __future__ import annotations

import bisect
import builtins
import math
import operator
from collections.abc import Callable, Iterable, Iterator, MutableSequence
from functools import lru_cache
from itertools import accumulate, count, takewhile
from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.dtypes import as_dtype
from tensorweb.errors import DataError, RangeError, ShapeError
from tensorweb.numpy.arguments import as_first_operand, flatten_without_axis, into
from tensorweb.numpy.random.distributions import Distributions
from tensorweb.numpy.random.sampling import (
    Hidden,
    Size,
    as_parameter,
    check,
    is_plain,
    sample_shape,
)
from tensorweb.shapes import is_integer
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

SMALLEST = 1e-18
"""Probabilities below this share of the most likely number's are left out."""

Table = tuple[int, tuple[float, ...]]
"""The least number, and the probabilities of being at most it, the next one, …."""


Ratio = Callable[[int], float]


def _unimodal_table(
    mode: int, down: Ratio, up: Ratio, least: int, most: float
) -> Table:
    """Return the table of a distribution with one peak.

    `down(k)` is the probability of k - 1 divided by that of k, `up(k)` that of k + 1.
    """
    before = list(_weights(down, range(mode, least, -1)))
    after = _weights(up, count(mode) if most == math.inf else range(mode, int(most)))
    weights = [*reversed(before), 1.0, *after]
    total = math.fsum(weights)
    return mode - len(before), tuple(min(x / total, 1.0) for x in accumulate(weights))


def _weights(ratio: Ratio, numbers: Iterable[int]) -> Iterator[float]:
    """Yield products of ratios as long as they are not too small to be drawn."""
    products = accumulate(map(ratio, numbers), operator.mul)
    return takewhile(lambda weight: weight >= SMALLEST, products)


@lru_cache(64)
def poisson_table(lam: float) -> Table:
    """Return the table of the Poisson distribution of mean `lam`.

    >>> first, sums = poisson_table(2.0)
    >>> first, round(sums[1] - sums[0], 6)
    (0, 0.270671)
    """
    if not 0 <= lam <= 1e9:
        raise RangeError(f"poisson: lam is {lam}; give a number from 0 to 1e9.")
    return _unimodal_table(
        int(lam), lambda k: k / lam, lambda k: lam / (k + 1), 0, math.inf if lam else 0
    )


@lru_cache(64)
def binomial_table(n: int, p: float) -> Table:
    """Return the table of successes in `n` trials of probability `p`.

    >>> binomial_table(2, 0.5)
    (0, (0.25, 0.75, 1.0))
    """
    if n < 0 or not 0 <= p <= 1:
        raise RangeError(
            f"binomial: n is {n} and p {p}; n is 0 or more, p from 0 to 1."
        )
    if p in (0, 1):
        return int(n * p), (1.0,)
    odds = p / (1 - p)
    return _unimodal_table(
        min(int((n + 1) * p), n),
        lambda k: k / (n - k + 1) / odds,
        lambda k: (n - k) / (k + 1) * odds,
        0,
        n,
    )


@lru_cache(64)
def negative_binomial_table(n: float, p: float) -> Table:
    """Return the table of failures before the n-th success.

    >>> first, sums = negative_binomial_table(1, 0.5)
    >>> first, sums[0]
    (0, 0.5)
    """
    if n <= 0 or not 0 < p <= 1:
        raise RangeError(
            f"negative_binomial: n is {n} and p {p}; n is above 0, p from 0 to 1."
        )
    q = 1 - p
    mode = int((n - 1) * q / p) if n > 1 else 0
    return _unimodal_table(
        mode,
        lambda k: k / ((k + n - 1) * q),
        lambda k: (k + n) / (k + 1) * q,
        0,
        math.inf if q else mode,
    )


@lru_cache(64)
def hypergeometric_table(ngood: int, nbad: int, nsample: int) -> Table:
    """Return the table of good items in a sample.

    >>> hypergeometric_table(1, 1, 1)
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
    return _unimodal_table(
        mode,
        lambda k: k * (nbad - nsample + k) / ((ngood - k + 1) * (nsample - k + 1)),
        lambda k: (ngood - k) * (nsample - k) / ((k + 1) * (nbad - nsample + k + 1)),
        least,
        most,
    )


ROUNDED = 1e-12
"""The sum of probabilities may exceed 1 by this much, as in NumPy."""


class Counts(Hidden):
    """Samples of integers; `size` is their shape, parameters broadcast to it."""

    def geometric(self, p: ArrayLike, size: Size = None) -> Tensor:
        """Return counts of trials up to the first success of probability `p`.

        >>> bool(np.all(np.random.geometric(0.3, 50) >= 1))
        True
        """
        check("geometric", "p", p, 0, 1)
        e = self._draw().exponential(sample_shape("geometric", size, p))
        trials = tw.ceil(e / -tw.log1p(-as_parameter(p, e)))
        return tw.maximum(trials, 1.0).astype("int32")

    def poisson(self, lam: ArrayLike = 1.0, size: Size = None) -> Tensor:
        """Return counts of events, `lam` on average; parameters in tensors are read.

        >>> np.random.poisson(3.0, 4).dtype
        tensorweb.int32
        """
        return self._sample_table("poisson", poisson_table, size, lam)

    def binomial(self, n: ArrayLike, p: ArrayLike, size: Size = None) -> Tensor:
        """Return counts of successes in `n` trials; parameters in tensors are read.

        >>> np.random.binomial(10, 0.5, 4).shape
        (4,)
        """
        return self._sample_table("binomial", binomial_table, size, n, p)

    def negative_binomial(
        self, n: ArrayLike, p: ArrayLike, size: Size = None
    ) -> Tensor:
        """Return counts of failures before the n-th success; tensors are read.

        >>> np.random.negative_binomial(3, 0.5, 4).shape
        (4,)
        """
        return self._sample_table(
            "negative_binomial", negative_binomial_table, size, n, p
        )

    def hypergeometric(
        self, ngood: ArrayLike, nbad: ArrayLike, nsample: ArrayLike, size: Size = None
    ) -> Tensor:
        """Return counts of good items in samples; parameters in tensors are read.

        >>> np.random.hypergeometric(10, 5, 3, 4).shape
        (4,)
        """
        return self._sample_table(
            "hypergeometric", hypergeometric_table, size, ngood, nbad, nsample
        )

    def _sample_table(
        self,
        name: str,
        table: Callable[..., Table],
        size: Size,
        *parameters: ArrayLike,
    ) -> Tensor:
        """Return integers by their cumulative probabilities."""
        u = self._uniform(sample_shape(name, size, *parameters))
        if is_plain(*parameters):
            first, sums = table(*parameters)
            edges = tw.asarray(sums[:-1], dtype=u.dtype, device=u.device)
            return tw.searchsorted(edges, u, side="right") + first
        tensors = [as_first_operand(value, u) for value in parameters]
        columns = [tw.broadcast_to(x, u.shape).reshape(-1).tolist() for x in tensors]
        numbers = []
        for value, *values in zip(u.reshape(-1).tolist(), *columns, strict=True):
            first, sums = table(*values)
            numbers.append(first + bisect.bisect_right(sums, value, 0, len(sums) - 1))
        return tw.asarray(numbers, dtype="int32", device=u.device).reshape(u.shape)

    def multinomial(self, n: int, pvals: ArrayLike, size: Size = None) -> Tensor:
        """Return the counts of each outcome in `n` trials: `(k,)` to `(*size, k)`.

        The last probability is 1 less the others, whatever its own value is.

        Raises:
            ShapeError: `pvals` are not 1-D, or none.
            DataError: plain numbers are negative, or all but the last above 1 together.

        >>> int(np.random.multinomial(20, [0.2, 0.3, 0.5]).sum())
        20
        """
        chances = tw.asarray(pvals).astype("float32")
        if chances.ndim != 1 or not chances.size:
            raise ShapeError(
                f"multinomial: pvals have shape {chances.shape}; give them in 1-D."
            )
        if isinstance(pvals, list | tuple) and is_plain(*pvals):
            least, most = min(pvals), math.fsum(pvals[:-1])
            if least < 0 or most > 1 + ROUNDED:
                raise DataError(
                    f"multinomial: pvals are {pvals}; they are 0 or more, and all but "
                    "the last one together at most 1."
                )
        last = tw.maximum(1.0 - chances[:-1].sum(), 0.0)
        chances = tw.concat([chances[:-1], last.reshape(1)])
        shape = sample_shape("multinomial", size)
        drawn = self._draw().choice(
            chances.size, (*shape, n), p=chances / chances.sum()
        )
        outcomes = tw.arange(chances.size, device=drawn.device)
        return (drawn[..., None] == outcomes).astype("int32").sum(-2)


class Drawing(Hidden):
    """Elements and orders, all as likely unless probabilities are given."""

    def _integers(
        self, name: str, low: ArrayLike, high: ArrayLike, size: Size, dtype: DTypeLike
    ) -> Tensor:
        """Return integers from `low` up to and without `high`; up to `low` for None."""
        first, last = (0, low) if high is None else (low, high)
        shape = sample_shape(name, size, first, last)
        return self._draw().randint(shape, first, last, dtype)

    def choice(
        self,
        a: ArrayLike,
        size: Size = None,
        replace: bool = True,
        p: ArrayLike = None,
        axis: SupportsIndex = 0,
        shuffle: bool = True,
    ) -> Tensor:
        """Return random elements of `a`, or of the numbers below it.

        Raises:
            DataError: without `replace` there are fewer elements than asked for.

        >>> sorted(np.random.choice([3, 5, 7], 3, replace=False).tolist())
        [3, 5, 7]
        """
        chances = None if p is None else tw.asarray(p).astype("float32")
        return self._draw().choice(
            a, sample_shape("choice", size), replace, chances, axis
        )

    def permutation(self, x: ArrayLike, axis: SupportsIndex = 0) -> Tensor:
        """Return a tensor in random order, or the numbers below an integer.

        >>> sorted(np.random.permutation(4).tolist())
        [0, 1, 2, 3]
        """
        return self._draw().permutation(x, axis)

    def shuffle(self, x: Any, axis: SupportsIndex = 0) -> None:
        """Bring a tensor or a list into random order; a list's order is read.

        Raises:
            DataError: it is neither.

        >>> x = np.arange(5)
        >>> np.random.shuffle(x)
        >>> int(x.sum())
        10
        """
        if isinstance(x, Tensor):
            x[...] = self._draw().permutation(x, axis)
        elif isinstance(x, MutableSequence):
            order = self._draw().permutation(len(x)).tolist()
            x[:] = [x[i] for i in order]
        else:
            raise DataError(
                f"shuffle: {type(x).__name__} cannot be changed; use permutation(x)."
            )

    def permuted(
        self, x: ArrayLike, axis: SupportsIndex | None = None, out: Tensor | None = None
    ) -> Tensor:
        """Return slices along an axis, each in an order of its own; all for None.

        >>> np.random.default_rng(0).permuted([[1, 2], [3, 4]], axis=1).sum(1)
        tensor([3, 7])
        """
        shape = tw.asarray(x).shape
        flat, along = flatten_without_axis(x, axis)
        result = self._draw().permutation(flat, along, independent=axis is not None)
        return into(result.reshape(shape), out)

    def bytes(self, length: SupportsIndex) -> builtins.bytes:
        """Return random bytes, which are read.

        >>> len(np.random.bytes(5))
        5
        """
        count = length.__index__()
        words = self._draw().bits((count + 3) // 4)
        return b"".join(word.to_bytes(4, "little") for word in words.tolist())[:count]


def plain(value: ArrayLike) -> ArrayLike:
    """Return NumPy's and tensors' integers as Python's, others as they are.

    >>> plain(3), plain(2.5)
    (3, 2.5)
    """
    return value.__index__() if is_integer(value) else value


class Generator(Distributions, Counts, Drawing):
    """Random numbers of a seed, by the methods of NumPy's `Generator`.

    >>> rng = np.random.Generator(7)
    >>> rng.random(3).shape, rng.integers(10, size=(2, 2)).shape
    ((3,), (2, 2))
    """

    def __init__(self, seed: Any = None) -> None:
        """Take a seed: an integer, several, or None for one of the system."""
        self._begin(seed)

    def __repr__(self) -> str:
        return "Generator(tensorweb)"

    def random(
        self, size: Size = None, dtype: DTypeLike = "float32", out: Tensor | None = None
    ) -> Tensor:
        """Return numbers from 0 up to and without 1, all as likely.

        >>> np.random.default_rng(0).random(3).shape
        (3,)
        """
        shape = out.shape if out is not None else sample_shape("random", size)
        return into(self._draw().uniform(shape, dtype), out)

    def integers(
        self,
        low: ArrayLike,
        high: ArrayLike = None,
        size: Size = None,
        dtype: DTypeLike = "int32",
        endpoint: bool = False,
    ) -> Tensor:
        """Return integers from `low` up to and without `high`, or with it.

        >>> np.random.default_rng(0).integers(5, 6, 2)
        tensor([5, 5])
        """
        first, last = (0, plain(low)) if high is None else (plain(low), plain(high))
        if endpoint:
            last = (last if isinstance(last, int) else tw.asarray(last)) + 1
        return self._integers("integers", first, last, size, as_dtype(dtype))

    def spawn(self, n_children: int) -> list[Generator]:
        """Return generators whose numbers are independent.

        >>> len(np.random.default_rng(0).spawn(2))
        2
        """
        words = self._draw().bits((n_children, 2)).tolist()
        return [Generator(high << 31 | low >> 1) for high, low in words]


class RandomState(Distributions, Counts, Drawing):
    """Random numbers of a seed, by the methods that `np.random` has as functions.

    >>> np.random.RandomState(0).rand(2, 3).shape
    (2, 3)
    """

    def __init__(self, seed: Any = None) -> None:
        """Take a seed: an integer, several, or None for one of the system."""
        self._begin(seed)

    def __repr__(self) -> str:
        return "RandomState(tensorweb)"

    def seed(self, seed: Any = None) -> None:
        """Begin anew with a seed: the same one gives the same numbers.

        >>> np.random.seed(3)
        >>> a = np.random.rand()
        >>> np.random.seed(3)
        >>> bool(a == np.random.rand())
        True
        """
        self._begin(seed)

    def rand(self, *shape: SupportsIndex) -> Tensor:
        """Return numbers from 0 up to and without 1; lengths are arguments.

        >>> np.random.rand(3, 2).shape
        (3, 2)
        """
        return self._uniform(sample_shape("rand", shape))

    def randn(self, *shape: SupportsIndex) -> Tensor:
        """Return normally distributed numbers; lengths are arguments.

        >>> np.random.randn(4).shape
        (4,)
        """
        return self._draw().normal(sample_shape("randn", shape))

    def random_sample(self, size: Size = None) -> Tensor:
        """Return numbers from 0 up to and without 1.

        >>> np.random.random((3, 3)).shape
        (3, 3)
        """
        return self._uniform(sample_shape("random", size))

    random = random_sample

    def randint(
        self,
        low: ArrayLike,
        high: ArrayLike = None,
        size: Size = None,
        dtype: DTypeLike = int,
    ) -> Tensor:
        """Return integers from `low` up to and without `high`; below `low` without.

        >>> x = np.random.randint(0, 10, 50)
        >>> bool(((x >= 0) & (x < 10)).all())
        True
        """
        target_dtype = as_dtype(dtype)
        if target_dtype.kind == "bool":
            return self._integers("randint", 0, 2, size, "int32").astype(target_dtype)
        last = None if high is None else plain(high)
        return self._integers("randint", plain(low), last, size, target_dtype)


def default_rng(seed: Any = None) -> Generator:
    """Return a generator of a seed, a generator itself, or one of the system's seed.

    >>> rng = np.random.default_rng(42)
    >>> bool(rng.random() == np.random.default_rng(42).random())
    True
    """
    return seed if isinstance(seed, Generator) else Generator(seed)
