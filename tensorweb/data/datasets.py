"""Data sets, samples by index or one after another, and the order of samples."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import Any, Generic, TypeVar

from tensorweb.errors import DataError
from tensorweb.functions import asarray, isfinite, take
from tensorweb.nn import init
from tensorweb.nn.init import Rng
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor

Sample = TypeVar("Sample", covariant=True)


class Dataset(Generic[Sample]):
    """Base class for a data set of your own, with `__len__` and `__getitem__`.

    >>> class Squares(tw.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, index):
    ...         return index, index**2
    >>> list(tw.data.DataLoader(Squares(), batch_size=3))[0]
    [tensor([0, 1, 2]), tensor([0, 1, 4])]
    """

    def __len__(self) -> int:
        """Return the count of samples."""
        raise TypeError(f"{type(self).__name__} has no __len__")

    def __getitem__(self, index: int) -> Sample:
        """Return a sample."""
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__")

    def __add__(self, other: Any) -> Any:
        """Return the samples of both."""
        return ConcatDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Samples that are entries along the first axis of some tensors.

    A `DataLoader` takes each batch of it in one operation.

    Attributes:
        tensors: the tensors.

    >>> data = tw.data.TensorDataset(tw.arange(6).reshape((3, 2)), tw.arange(3))
    >>> len(data), data[1]
    (3, (tensor([2, 3]), tensor(1)))
    """

    def __init__(self, *tensors: Tensor) -> None:
        """Make a data set.

        Args:
            tensors: of shapes `(n, ...)`.

        Raises:
            DataError: there is none, or their first lengths differ.
        """
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise DataError(
                    f"TensorDataset: a value is a {type(tensor).__name__}; give "
                    "tensors, for example tw.asarray(values)."
                )
        lengths = {tensor.shape[:1] for tensor in tensors}
        if len(lengths) != 1 or () in lengths:
            shapes = ", ".join(str(tensor.shape) for tensor in tensors) or "none"
            raise DataError(
                f"TensorDataset: the tensors have shapes {shapes}; give tensors with "
                "one first length, the count of samples."
            )
        self.tensors = tensors

    def __len__(self) -> int:
        """Return the count of samples."""
        return self.tensors[0].shape[0]

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        """Return an entry of each tensor."""
        return tuple(tensor[index] for tensor in self.tensors)

    def _batch(self, indices: Sequence[int]) -> list[Tensor]:
        """Return the collated samples of some indices."""
        return [
            take(tensor, asarray(indices, device=tensor.device), axis=0)
            for tensor in self.tensors
        ]


class Subset(Dataset[Any]):
    """Some samples of a data set.

    Attributes:
        dataset: the data set.
        indices: of the samples in it.

    >>> list(tw.data.Subset("abcd", [3, 0]))
    ['d', 'a']
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        """Make a data set of the samples at these indices."""
        self.dataset, self.indices = dataset, list(indices)

    def __len__(self) -> int:
        """Return the count of samples."""
        return len(self.indices)

    def __getitem__(self, index: int) -> Any:
        """Return a sample."""
        return self.dataset[self.indices[index]]


class ConcatDataset(Dataset[Any]):
    """The samples of several data sets, one set after another.

    Attributes:
        datasets: the data sets.
        cumulative_sizes: the index of the first sample after each.

    >>> data = tw.data.ConcatDataset(["abc", "de"])
    >>> len(data), data[3], data[-1]
    (5, 'd', 'e')
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        """Make a data set.

        Args:
            datasets: objects with a length and samples by index.

        Raises:
            DataError: there is none, or one has no length.
        """
        self.datasets = list(datasets)
        if not self.datasets or any(
            isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__")
            for dataset in self.datasets
        ):
            raise DataError(
                "ConcatDataset: give data sets with a length; for others use "
                "ChainDataset."
            )
        self.cumulative_sizes = list(accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        """Return the count of samples."""
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        """Return a sample; negative indices count from the end.

        Raises:
            IndexError: there is none.
        """
        if not -len(self) <= index < len(self):
            raise IndexError(f"ConcatDataset: {index} is no index of {len(self)}.")
        index %= len(self)
        n = bisect_right(self.cumulative_sizes, index)
        return self.datasets[n][index - (self.cumulative_sizes[n - 1] if n else 0)]


class IterableDataset(Dataset[Sample]):
    """Base class for samples that come one after another, with `__iter__`.

    >>> class Squares(tw.data.IterableDataset):
    ...     def __iter__(self):
    ...         return (n * n for n in range(5))
    >>> [batch.tolist() for batch in tw.data.DataLoader(Squares(), batch_size=2)]
    [[0, 1], [4, 9], [16]]
    """

    def __iter__(self) -> Iterator[Sample]:
        """Yield the samples."""
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")

    def __add__(self, other: Any) -> ChainDataset:
        """Return the samples of both."""
        return ChainDataset([self, other])


class ChainDataset(IterableDataset[Any]):
    """The samples of several iterable data sets, one set after another.

    >>> list(tw.data.ChainDataset([range(2), range(3)]))
    [0, 1, 0, 1, 2]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        """Make a data set.

        Args:
            datasets: iterable data sets.
        """
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        """Yield the samples."""
        return chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        """Return the count of samples, if all sets have one."""
        return sum(map(len, self.datasets))


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Rng = None
) -> list[Subset]:
    """Return a data set divided at random.

    Args:
        dataset: an object with a length and samples.
        lengths: counts of samples, or fractions whose sum is 1; samples that rounding
            leaves go to the first parts.
        generator: a generator, a key or a seed; None for the program's generator.

    Raises:
        DataError: they are no counts whose sum is the length, nor fractions of 1.

    >>> train, test = tw.data.random_split(range(10), [0.7, 0.3], generator=0)
    >>> len(train), len(test), sorted([*train, *test]) == list(range(10))
    (7, 3, True)
    """
    total, counts = len(dataset), [int(length) for length in lengths]
    if min(lengths, default=0) < 0:
        raise DataError(f"random_split: {list(lengths)} has a negative length.")
    is_whole = counts == list(lengths)
    if abs(sum(lengths) - 1) < 1e-6 and (total != 1 or not is_whole):
        is_whole, counts = True, [int(total * length) for length in lengths]
        for n in range(total - sum(counts)):
            counts[n % len(counts)] += 1
    if sum(counts) != total or not is_whole:
        raise DataError(
            f"random_split: {list(lengths)} are neither counts whose sum is {total}, "
            "the count of samples, nor fractions whose sum is 1."
        )
    order = iter(_permutation(total, generator))
    return [
        Subset(dataset, [next(order) for _ in range(int(count))]) for count in counts
    ]


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
            yield from _permutation(total, self._rng)[:count]
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
        return (self.indices[n] for n in _permutation(len(self), self._rng))

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


def _permutation(count: int, rng: Rng) -> list[int]:
    """Return indices in an order drawn on the CPU, which Python reads at once."""
    order: list[int] = init.generator(rng, "cpu").permutation(count).tolist()
    return order


declare_public(__name__, hidden="batches")
