"""`Generator` and `RandomState`: NumPy's two families of methods over a hidden key."""

from __future__ import annotations

from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.dtypes import as_dtype
from tensorweb.numpy.arguments import into
from tensorweb.numpy.random.counts import Counts
from tensorweb.numpy.random.distributions import Distributions
from tensorweb.numpy.random.drawing import Drawing, plain
from tensorweb.numpy.random.shapes import Size, sample_shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike


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
        """Return numbers from 0 up to and without 1, all as likely."""
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
        """Return integers from `low` up to and without `high`, or with it."""
        first, last = (0, plain(low)) if high is None else (plain(low), plain(high))
        last = tw.asarray(last) + 1 if endpoint and not isinstance(last, int) else last
        last = last + 1 if endpoint and isinstance(last, int) else last
        return self._integers("integers", first, last, size, as_dtype(dtype))

    def spawn(self, n_children: int) -> list[Generator]:
        """Return generators whose numbers have nothing to do with each other."""
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
        wanted = as_dtype(dtype)
        if wanted.kind == "bool":
            return self._integers("randint", 0, 2, size, "int32").astype(wanted)
        last = None if high is None else plain(high)
        return self._integers("randint", plain(low), last, size, wanted)


def default_rng(seed: Any = None) -> Generator:
    """Return a generator of a seed, a generator itself, or one of the system's seed.

    >>> rng = np.random.default_rng(42)
    >>> bool(rng.random() == np.random.default_rng(42).random())
    True
    """
    return seed if isinstance(seed, Generator) else Generator(seed)
