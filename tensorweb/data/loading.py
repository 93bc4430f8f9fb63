"""`DataLoader`: batches of a data set, and how samples become a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tensorweb import tree
from tensorweb.data.datasets import (
    BatchSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    TensorDataset,
    batches,
)
from tensorweb.errors import DataError
from tensorweb.functions import asarray, stack
from tensorweb.nn.init import Rng
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor


class DataLoader:
    """Batches of a data set, in a new order each time if they are shuffled.

    Loops over it see every sample once. Each length of a batch is planned anew:
    `drop_last=True` omits a shorter last one.

    Attributes:
        dataset: the data set.
        batch_size: count of samples in a batch.
        drop_last: whether a shorter last batch is omitted.
        sampler: the indices of the samples in order.
        batch_sampler: the indices of each batch, None for samples alone.

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
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Sequence[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        *,
        generator: Rng = None,
        device: str | None = None,
    ) -> None:
        """Make a loader.

        Args:
            dataset: an object with `__len__` and `__getitem__`, or an
                `IterableDataset`.
            batch_size: count of samples in a batch; None for samples alone.
            shuffle: whether each loop has another order.
            sampler: the indices of the samples in order, instead of `shuffle`.
            batch_sampler: lists of indices, one for each batch, instead of a size, an
                order and `drop_last`.
            num_workers: without effect: samples are read in this thread.
            collate_fn: a function from a list of samples to a batch; None for
                `default_collate`.
            pin_memory: without effect.
            drop_last: whether a shorter last batch is omitted.
            generator: of the orders: a generator, a key or a seed; None for the
                program's generator.
            device: where the tensors of a batch shall be; None for where they are.

        Raises:
            DataError: the data set has no length or no samples by index, the size is
                not above 0, or several options decide on the order.
        """
        self._is_iterable = isinstance(dataset, IterableDataset)
        if not self._is_iterable and not (
            hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
        ):
            raise DataError(
                f"DataLoader: a {type(dataset).__name__} has no length or no samples "
                "by index; give a list of its samples, a class with __len__ and "
                "__getitem__, or an IterableDataset."
            )
        _check_order(self._is_iterable, shuffle, sampler, batch_sampler, drop_last)
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self._collate, self._device = collate_fn, device
        if batch_sampler is not None:
            self.batch_size = None
        elif sampler is None:
            sampler = (
                RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
        if batch_sampler is None and batch_size is not None:
            order = () if sampler is None else sampler
            batch_sampler = BatchSampler(order, batch_size, drop_last)
        self.sampler, self.batch_sampler = sampler, batch_sampler

    def __len__(self) -> int:
        """Return the count of batches.

        Raises:
            TypeError: an `IterableDataset` or a sampler has no length.
        """
        order: Any = self.sampler if self.batch_sampler is None else self.batch_sampler
        return len(order)

    def __iter__(self) -> Iterator[Any]:
        """Yield the batches."""
        for batch in self._batches():
            yield batch if self._device is None else tree.map(self._moved, batch)

    def _batches(self) -> Iterator[Any]:
        collate, order = self._collate or default_collate, self.batch_sampler
        sampler: Any = self.sampler
        if self._is_iterable and self.batch_size is not None:
            lists = batches(self.dataset, self.batch_size, self.drop_last)
            return map(collate, lists)
        if self._is_iterable or order is None:
            samples = (
                iter(self.dataset)
                if self._is_iterable
                else (self.dataset[index] for index in sampler)
            )
            return map(self._collate, samples) if self._collate else samples
        return (self._batch(list(indices)) for indices in order)

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


def _check_order(
    is_iterable: bool, shuffle: bool, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    """Raise if several options decide on the order of samples.

    Raises:
        DataError: they do.
    """
    if is_iterable and (shuffle or sampler is not None or batch_sampler is not None):
        raise DataError(
            "DataLoader: an IterableDataset has an order of its own; omit shuffle, "
            "sampler and batch_sampler, and let its __iter__ decide."
        )
    if sampler is not None and (shuffle or batch_sampler is not None):
        raise DataError(
            "DataLoader: a sampler is the order; omit shuffle and batch_sampler."
        )
    if batch_sampler is not None and (shuffle or drop_last):
        raise DataError(
            "DataLoader: a batch_sampler decides on order and batches; omit shuffle "
            "and drop_last."
        )


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


declare_public(__name__)
