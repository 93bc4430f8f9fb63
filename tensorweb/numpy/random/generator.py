"""`Generator` and `RandomState`: NumPy's two families of methods over a hidden key."""

from __future__ import annotations

import builtins
from collections.abc import MutableSequence
from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.dtypes import as_dtype
from tensorweb.errors import DataError
from tensorweb.numpy.arguments import flatten_without_axis, into
from tensorweb.numpy.random.counts import Counts
from tensorweb.numpy.random.distributions import Distributions
from tensorweb.numpy.random.sampling import Hidden, Size, sample_shape
from tensorweb.shapes import is_integer
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike


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
