"""Data sets and batches of them, with the names of `torch.utils.data`.

A data set is any object with a length and numbered samples, such as a list.

>>> [batch.tolist() for batch in tw.data.DataLoader([1, 2, 3], batch_size=2)]
[[1, 2], [3]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from tensorweb import tree
from tensorweb.errors import DataError
from tensorweb.functions import asarray, stack, take
from tensorweb.nn import init
from tensorweb.nn.init import Rng
from tensorweb.tensor import Tensor

__all__ = [
    "DataLoader",
    "Dataset",
    "Subset",
    "TensorDataset",
    "default_collate",
    "random_split",
]

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
        raise NotImplementedError(f"{type(self).__name__} has no __len__")

    def __getitem__(self, index: int) -> Sample:
        """Return a sample."""
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__")


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


class DataLoader:
    """Batches of a data set, in a new order each time if they are shuffled.

    Loops over it see every sample once. Each length of a batch is planned anew:
    `drop_last=True` omits a shorter last one.

    Attributes:
        dataset: the data set.
        batch_size: count of samples in a batch.
        drop_last: whether a shorter last batch is omitted.

    >>> x, y = tw.arange(10.0).reshape((5, 2)), tw.arange(5)
    >>> loader = tw.data.DataLoader(tw.data.TensorDataset(x, y), batch_size=2)
    >>> [(inputs.shape, labels.tolist()) for inputs, labels in loader]
    [((2, 2), [0, 1]), ((2, 2), [2, 3]), ((1, 2), [4])]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool = False,
        *,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        generator: Rng = None,
        device: str | None = None,
    ) -> None:
        """Make a loader.

        Args:
            dataset: an object with `__len__` and `__getitem__`.
            batch_size: count of samples in a batch; None for samples alone.
            shuffle: whether each loop has another order.
            num_workers: without effect: samples are read in this thread.
            collate_fn: a function from a list of samples to a batch; None for
                `default_collate`.
            pin_memory: without effect.
            drop_last: whether a shorter last batch is omitted.
            generator: of the orders: a generator, a key or a seed; None for the
                program's generator.
            device: where the tensors of a batch shall be; None for where they are.

        Raises:
            DataError: the data set has no length or no samples by index, or the size
                is not above 0.
        """
        if not hasattr(dataset, "__len__") or not hasattr(dataset, "__getitem__"):
            raise DataError(
                f"DataLoader: a {type(dataset).__name__} has no length or no samples "
                "by index; give a list of its samples, or a class with __len__ and "
                "__getitem__."
            )
        if batch_size is not None and batch_size < 1:
            raise DataError(f"DataLoader: batch_size={batch_size} is not above 0.")
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self._collate, self._device = collate_fn, device
        self._rng = init.generator(generator, "cpu") if shuffle else None

    def __len__(self) -> int:
        """Return the count of batches."""
        size = self.batch_size or 1
        return (len(self.dataset) + (0 if self.drop_last else size - 1)) // size

    def __iter__(self) -> Iterator[Any]:
        """Yield the batches."""
        count = len(self.dataset)
        order = _permutation(count, self._rng) if self._rng else list(range(count))
        for n in range(len(self)):
            if self.batch_size is None:
                batch = self.dataset[order[n]]
            else:
                start = n * self.batch_size
                batch = self._batch(order[start : start + self.batch_size])
            yield batch if self._device is None else tree.map(self._moved, batch)

    def _moved(self, leaf: Any) -> Any:
        return leaf.to_device(self._device) if isinstance(leaf, Tensor) else leaf

    def _batch(self, indices: list[int]) -> Any:
        dataset = self.dataset
        if self._collate is None:
            chosen = indices
            while isinstance(dataset, Subset):
                chosen = [dataset.indices[index] for index in chosen]
                dataset = dataset.dataset
            if type(dataset) is TensorDataset:
                return dataset._batch(chosen)
        samples = [self.dataset[index] for index in indices]
        return (self._collate or default_collate)(samples)


def default_collate(batch: Sequence[Any]) -> Any:
    """Return samples as one batch: tensors are stacked along a new first axis.

    Args:
        batch: samples of one kind. Of tensors, arrays and numbers a tensor is made; of
            dicts a dict of batches, of tuples and lists a list of batches; of strings
            the list.

    Raises:
        DataError: there is no sample, one is of another kind, or tuples have different
            lengths.

    >>> tw.data.default_collate([{"x": tw.ones(2), "y": 1}, {"x": tw.zeros(2), "y": 0}])
    {'x': tensor([[1., 1.],
           [0., 0.]]), 'y': tensor([1, 0])}
    """
    if not batch:
        raise DataError("default_collate: there is no sample.")
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch))
    if hasattr(first, "__array__"):
        return stack([asarray(sample) for sample in batch])
    if isinstance(first, bool | int | float | complex):
        return asarray(list(batch))
    if isinstance(first, str | bytes):
        return list(batch)
    if isinstance(first, Mapping):
        return {
            key: default_collate([sample[key] for sample in batch]) for key in first
        }
    if isinstance(first, tuple | list):
        if any(len(sample) != len(first) for sample in batch):
            raise DataError(
                "DataLoader: samples of a batch have different lengths; make them "
                "equal, or give a collate_fn= that pads them."
            )
        parts = [default_collate(list(part)) for part in zip(*batch, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    raise DataError(
        f"DataLoader: a sample is of the class {type(first).__name__}; return tensors, "
        "arrays, numbers, strings, tuples or dicts, or give collate_fn=."
    )


def _permutation(count: int, rng: Rng) -> list[int]:
    """Return indices in an order drawn on the CPU, which Python reads at once."""
    order: list[int] = init.generator(rng, "cpu").permutation(count).tolist()
    return order
