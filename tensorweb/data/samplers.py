"""Samplers: the order in which a loader takes samples, and their batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from tensorweb.errors import DataError
from tensorweb.functions import asarray, isfinite
from tensorweb.nn import init
from tensorweb.nn.init import Rng
from tensorweb.public_names import declare_public


class Sampler:
    """Base class for an order of your own, with `__iter__` and `__len__`.

    >>> class Backwards(tw.data.Sampler):
    ...     def __iter__(self):
    ...         return iter([2, 1, 0])
    ...     def __len__(self):
    ...         return 3
    >>> [x.item() for x in tw.data.DataLoader([5, 6, 7], sampler=Backwards())]
    [7, 6, 5]
    """

    def __iter__(self) -> Iterator[Any]:
        """Yield indices of samples."""
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")


class SequentialSampler(Sampler):
    """All samples in order.

    >>> list(tw.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Any) -> None:
        """Make a sampler.

        Args:
            data_source: the data set.
        """
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        """Yield the indices."""
        return iter(range(len(self)))

    def __len__(self) -> int:
        """Return the count of indices."""
        return len(self.data_source)


class RandomSampler(Sampler):
    """All samples in a new order each time, or random ones with replacement.

    >>> sorted(tw.data.RandomSampler("abc", generator=0))
    [0, 1, 2]
    >>> len(tw.data.RandomSampler("abc", replacement=True, num_samples=8))
    8
    """

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Rng = None,
    ) -> None:
        """Make a sampler.

        Args:
            data_source: the data set.
            replacement: whether a sample may be drawn again.
            num_samples: count of indices; None for the count of samples.
            generator: a generator, a key or a seed; None for the program's generator.

        Raises:
            DataError: the count is negative, or there are no samples to draw it from.
        """
        if num_samples is not None and num_samples < 0:
            raise DataError(f"RandomSampler: num_samples={num_samples} is negative.")
        if num_samples and not len(data_source):
            raise DataError(
                f"RandomSampler: num_samples={num_samples} of an empty data set."
            )
        self.data_source, self.replacement = data_source, replacement
        self._count, self._rng = num_samples, init.generator(generator, "cpu")

    def __iter__(self) -> Iterator[int]:
        """Yield the indices."""
        total, count = len(self.data_source), len(self)
        if self.replacement:
            yield from self._rng.randint(count, 0, total).tolist()
            return
        while count > 0:
            yield from permutation(total, self._rng)[:count]
            count -= total

    def __len__(self) -> int:
        """Return the count of indices."""
        return len(self.data_source) if self._count is None else self._count


class SubsetRandomSampler(Sampler):
    """Some samples in a new order each time.

    >>> sorted(tw.data.SubsetRandomSampler([4, 8, 2], generator=0))
    [2, 4, 8]
    """

    def __init__(self, indices: Sequence[int], generator: Rng = None) -> None:
        """Make a sampler.

        Args:
            indices: of the samples.
            generator: a generator, a key or a seed; None for the program's generator.
        """
        self.indices, self._rng = list(indices), init.generator(generator, "cpu")

    def __iter__(self) -> Iterator[int]:
        """Yield the indices."""
        return (self.indices[n] for n in permutation(len(self), self._rng))

    def __len__(self) -> int:
        """Return the count of indices."""
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Samples drawn with probabilities proportional to weights.

    For classes of unequal sizes: the weight of a sample is 1 by the size of its class.

    >>> list(tw.data.WeightedRandomSampler([0.0, 3.0], num_samples=4))
    [1, 1, 1, 1]
    """

    def __init__(
        self,
        weights: Any,
        num_samples: int,
        replacement: bool = True,
        generator: Rng = None,
    ) -> None:
        """Make a sampler.

        Args:
            weights: of the samples, numbers from 0 on; their sum is arbitrary.
            num_samples: count of indices.
            replacement: whether a sample may be drawn again.
            generator: a generator, a key or a seed; None for the program's generator.

        Raises:
            DataError: weights are no vector of finite numbers from 0 on, or without
                replacement fewer samples have a weight than are drawn.
        """
        given = asarray(weights, "float32").to_device("cpu")
        if given.ndim != 1 or not bool(((given >= 0) & isfinite(given)).all()):
            raise DataError(
                f"WeightedRandomSampler: the weights {given.tolist()} are no vector of "
                "finite numbers from 0 on."
            )
        weighted = int((given > 0).sum())
        if not weighted or (not replacement and weighted < num_samples):
            raise DataError(
                f"WeightedRandomSampler: {num_samples} indices of {weighted} samples "
                "with a weight above 0; give replacement=True, or a smaller count."
            )
        self.weights = given / given.sum()
        self.num_samples, self.replacement = num_samples, replacement
        self._rng = init.generator(generator, "cpu")

    def __iter__(self) -> Iterator[int]:
        """Yield the indices."""
        drawn: list[int] = self._rng.choice(
            len(self.weights), self.num_samples, self.replacement, self.weights
        ).tolist()
        return iter(drawn)

    def __len__(self) -> int:
        """Return the count of indices."""
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of indices, of which a loader makes batches.

    >>> list(tw.data.BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self, sampler: Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        """Make a sampler.

        Args:
            sampler: the indices.
            batch_size: count of indices in a batch.
            drop_last: whether a shorter last batch is omitted.

        Raises:
            DataError: the size is not above 0.
        """
        if batch_size < 1:
            raise DataError(f"BatchSampler: batch_size={batch_size} is not above 0.")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the lists."""
        return batches(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        """Return the count of lists."""
        count: int = len(self.sampler)  # type: ignore[arg-type]  # an error if it has none
        return (
            count + (0 if self.drop_last else self.batch_size - 1)
        ) // self.batch_size


def batches(items: Iterable[Any], size: int, drop_last: bool) -> Iterator[list[Any]]:
    """Yield lists of `size` items; the last may be shorter, unless it is omitted."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        if len(batch) == size or not drop_last:
            yield batch


def permutation(count: int, rng: Rng) -> list[int]:
    """Return indices in an order drawn on the CPU, which Python reads at once."""
    order: list[int] = init.generator(rng, "cpu").permutation(count).tolist()
    return order


declare_public(__name__, hidden="batches permutation")
