"""Data sets and batches mean what PyTorch's do."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.data import (
    DataLoader,
    Dataset,
    Subset,
    TensorDataset,
    default_collate,
    random_split,
)
from tensorweb.errors import DataError


class Pairs(Dataset[Any]):
    """Seven samples, each a dict of a tensor, a number and a name."""

    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"x": tw.full(2, float(index)), "y": index, "name": f"s{index}"}


def test_batches_of_tensors_are_in_order_and_the_last_is_shorter(device: str) -> None:
    x, y = tw.arange(14.0).reshape((7, 2)), tw.arange(7)
    loader = DataLoader(TensorDataset(x, y), batch_size=3)
    found = [(a.tolist(), b.tolist(), a.device) for a, b in loader]
    assert [b for _, b, _ in found] == [[0, 1, 2], [3, 4, 5], [6]]
    assert found[2] == ([[12, 13]], [6], device)
    assert len(loader) == 3
    without = DataLoader(TensorDataset(x, y), batch_size=3, drop_last=True)
    assert len(without) == len(list(without)) == 2


@pytest.mark.parametrize("make", [lambda x: TensorDataset(x), lambda x: list(x)])
def test_shuffled_loops_differ_and_repeat_with_their_seed(make: Any, cpu: str) -> None:
    data = make(tw.arange(20))

    def orders(seed: int | None) -> list[list[int]]:
        loader = DataLoader(data, batch_size=20, shuffle=True, generator=seed)
        return [_flat(batch) for batch in [*loader, *loader]]

    first, second = orders(1)
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second
    assert orders(1) == [first, second]
    assert orders(2)[0] != first
    assert sorted(orders(None)[0]) == list(range(20))


def _flat(batch: Any) -> list[int]:
    return (batch[0] if isinstance(batch, list) else batch).tolist()


def test_samples_are_collated_as_in_pytorch(cpu: str) -> None:
    batch = next(iter(DataLoader(Pairs(), batch_size=2)))
    assert batch["x"].tolist() == [[0, 0], [1, 1]]
    assert (batch["y"].dtype, batch["y"].tolist()) == (tw.int32, [0, 1])
    assert batch["name"] == ["s0", "s1"]
    point = namedtuple("point", "a b")
    found = default_collate([point(1.5, (True, 2)), point(2.5, (False, 3))])
    assert isinstance(found, point)
    assert found.a.tolist() == [1.5, 2.5]
    assert [part.tolist() for part in found.b] == [[True, False], [2, 3]]
    own = DataLoader(Pairs(), batch_size=3, collate_fn=len)
    assert list(own) == [3, 3, 1]
    assert next(iter(DataLoader(Pairs(), batch_size=None)))["y"] == 0


def test_arrays_are_collated(np: Any, cpu: str) -> None:
    batch = default_collate([np.ones(2, "float32"), np.zeros(2, "float32")])
    assert batch.tolist() == [[1, 1], [0, 0]]


def test_batches_move_to_a_device(webgpu: str) -> None:
    data = TensorDataset(tw.ones((4, 2), device="cpu"))
    [(batch,)] = DataLoader(data, batch_size=4, device=webgpu)
    assert batch.device == webgpu
    [batch] = DataLoader(Pairs(), batch_size=7, device="cpu")
    assert (batch["x"].device, batch["name"][6]) == ("cpu", "s6")


def test_data_sets_are_divided(cpu: str) -> None:
    data = TensorDataset(tw.arange(10))
    train, test = random_split(data, [0.75, 0.25], generator=3)
    assert (len(train), len(test)) == (8, 2)
    assert sorted(s.item() for part in (train, test) for (s,) in part) == list(
        range(10)
    )
    nested = Subset(train, [2, 0])
    [(batch,)] = DataLoader(nested, batch_size=2)
    assert batch.tolist() == [train.indices[2], train.indices[0]]
    assert [len(part) for part in random_split(range(5), [2, 3])] == [2, 3]


def test_a_loop_of_a_tutorial_trains(cpu: str) -> None:
    x = tw.random.normal(tw.random.key(0), (64, 2))
    loader = DataLoader(
        TensorDataset(x, x.sum(axis=1, keepdims=True)),
        batch_size=16,
        shuffle=True,
        num_workers=2,
        pin_memory=True,
    )
    model = tw.nn.Linear(2, 1)
    optimizer = tw.optim.SGD(model.parameters(), lr=0.3)
    for _ in range(15):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = tw.nn.mse(model(inputs), targets)
            loss.backward()
            optimizer.step()
    assert loss.item() < 1e-4


def test_what_is_no_data_set_is_refused(cpu: str) -> None:
    for make, words in (
        (lambda: DataLoader(iter([1])), "no length or no samples"),
        (lambda: DataLoader([1], batch_size=0), "batch_size=0"),
        (lambda: TensorDataset(tw.ones(2), tw.ones(3)), r"\(2,\), \(3,\)"),
        (lambda: TensorDataset(tw.ones(())), "one first length"),
        (lambda: TensorDataset(), "shapes none"),
        (lambda: random_split(range(5), [2, 2]), "whose sum is 5"),
        (lambda: random_split(range(4), [2.9, 1.1]), "whose sum is 4"),
        (lambda: random_split(range(4), [5, -1]), "negative"),
        (lambda: TensorDataset([1, 2]), "a list"),
        (lambda: default_collate([]), "no sample"),
        (lambda: default_collate([(1, 2), (1,)]), "different lengths"),
        (lambda: default_collate([object()]), "of the class object"),
    ):
        with pytest.raises(DataError, match=words):
            make()
