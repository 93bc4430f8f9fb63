"""Data sets and batches of them, with the names of `torch.utils.data`.

A data set is any object with a length and numbered samples, such as a list.

>>> [batch.tolist() for batch in tw.data.DataLoader([1, 2, 3], batch_size=2)]
[[1, 2], [3]]
"""

from tensorweb.data import transforms
from tensorweb.data.datasets import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from tensorweb.data.loading import DataLoader, default_collate
from tensorweb.data.samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "random_split",
    "transforms",
]
