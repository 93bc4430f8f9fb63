"""Orders, joined data sets and transforms of images mean what PyTorch's do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tensorweb as tw
from tensorweb import data
from tensorweb.data import DataLoader, transforms
from tensorweb.errors import DataError, DTypeError, ShapeError


class Numbers(data.IterableDataset[int]):
    """Five numbers, of which nobody knows the count."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(5))


def test_a_sampler_decides_on_the_order(cpu: str) -> None:
    pairs = data.TensorDataset(tw.arange(5) * 10, tw.arange(5))
    loader = DataLoader(pairs, 2, sampler=[4, 0, 3], drop_last=True)
    assert [batch[0].tolist() for batch in loader] == [[40, 0]]
    assert len(loader) == 1
    loader = DataLoader(pairs, batch_sampler=[[1], [0, 2]])
    assert [batch[1].tolist() for batch in loader] == [[1], [0, 2]]
    assert len(loader) == 2
    alone = DataLoader("abc", None, sampler=data.SubsetRandomSampler([2], 0))
    assert list(alone) == ["c"]


def test_random_samplers_repeat_with_their_seed(cpu: str) -> None:
    def drawn(**options: Any) -> list[int]:
        return list(data.RandomSampler(range(7), generator=3, **options))

    assert sorted(drawn()) == list(range(7))
    assert drawn() == drawn() != list(range(7))
    assert len(drawn(num_samples=17)) == 17
    assert max(drawn(replacement=True, num_samples=40)) == 6
    sampler = data.RandomSampler(range(7), generator=3)
    assert list(sampler) != list(sampler)


def test_weights_decide_how_often_a_sample_is_drawn(cpu: str) -> None:
    drawn = list(data.WeightedRandomSampler([1.0, 0.0, 3.0], 4000, generator=0))
    assert drawn.count(1) == 0
    assert drawn.count(2) == pytest.approx(3000, abs=100)
    each = data.WeightedRandomSampler([2.0, 1.0, 5.0], 3, False, generator=0)
    assert sorted(each) == [0, 1, 2]
    with pytest.raises(DataError, match="1 samples with a weight above 0"):
        data.WeightedRandomSampler([1.0, 0.0], 2, replacement=False)


def test_samples_come_one_after_another(cpu: str) -> None:
    assert [b.tolist() for b in DataLoader(Numbers(), 2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in DataLoader(Numbers(), 2, drop_last=True)][-1] == [2, 3]
    assert list(DataLoader(Numbers(), None)) == [0, 1, 2, 3, 4]
    assert len(list(Numbers() + Numbers())) == 10
    with pytest.raises(TypeError, match="Numbers has no __len__"):
        len(DataLoader(Numbers()))
    with pytest.raises(DataError, match="an order of its own"):
        DataLoader(Numbers(), shuffle=True)


def test_data_sets_are_joined(cpu: str) -> None:
    both = data.TensorDataset(tw.arange(3)) + data.TensorDataset(tw.arange(2) + 7)
    assert [sample[0].item() for sample in both] == [0, 1, 2, 7, 8]
    assert both[-4][0].item() == 1
    assert [batch[0].tolist() for batch in DataLoader(both, 4)] == [[0, 1, 2, 7], [8]]
    with pytest.raises(DataError, match="ChainDataset"):
        data.ConcatDataset([Numbers()])


@pytest.mark.parametrize(
    "options",
    [
        {"shuffle": True, "sampler": [0]},
        {"sampler": [0], "batch_sampler": [[0]]},
        {"batch_sampler": [[0]], "drop_last": True},
    ],
)
def test_two_orders_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="omit shuffle"):
        DataLoader([1], **options)


def test_each_image_of_a_batch_is_cropped_elsewhere(device: str) -> None:
    with tw.device(device):
        images = tw.arange(2 * 7 * 5).reshape((2, 7, 5)) + tw.zeros((9, 1, 1, 1))
        crop = tw.jit(lambda x, key: transforms.RandomCrop((3, 2))(x, key=key))
        found = crop(images, tw.random.key(0))
        corners = [divmod(int(c), 5) for c in found[:, 0, 0, 0].tolist()]
        assert all(len(set(part)) > 1 for part in zip(*corners, strict=True))
        for image in found.tolist():
            top, left = divmod(int(image[0][0][0]), 5)
            expected = images[0, :, top : top + 3, left : left + 2]
            assert image == expected.tolist()
    assert transforms.RandomCrop(6, padding=4)(tw.ones((1, 3, 2))).shape == (1, 6, 6)


def test_some_images_are_mirrored(device: str) -> None:
    with tw.device(device):
        x = tw.asarray([[[1.0, 2.0]]]) + tw.zeros((40, 1, 1, 1))
        found = transforms.RandomHorizontalFlip()(x, key=tw.random.key(1))
        mirrored = [image == [[[2.0, 1.0]]] for image in found.tolist()]
        assert 8 < sum(mirrored) < 32
        assert found.sum() == x.sum()


def test_images_are_resized_cropped_and_normalised(cpu: str) -> None:
    steps = [
        transforms.ToTensor(),
        transforms.Resize((4, 6)),
        transforms.CenterCrop(2),
        transforms.Normalize([1.0, 0.0], [2.0, 1.0]),
    ]
    picture = tw.arange(2 * 3 * 2, dtype=tw.float32).reshape((2, 3, 2))
    found = transforms.Compose(steps)(picture.numpy())
    images = tw.moveaxis(picture, -1, 0)[None]
    resized = tw.nn.interpolate(images, (4, 6), mode="bilinear")
    middle = resized[0, :, 1:3, 2:4]
    assert found[0].tolist() == ((middle[0] - 1) / 2).tolist()
    assert found[1].tolist() == middle[1].tolist()
    assert transforms.Resize(3)(tw.ones((2, 1, 6, 9))).shape == (2, 1, 3, 4)
    with pytest.raises(ShapeError, match="have no part of"):
        transforms.CenterCrop(9)(images)
    with pytest.raises(DataError, match="which divides"):
        transforms.Normalize([0.0], [0.0])


def test_transforms_refuse_what_torchvision_refuses(cpu: str) -> None:
    with pytest.raises(DTypeError, match=r"Normalize: the images are uint8.*astype"):
        transforms.Normalize([0.5], [0.25])(tw.ones((1, 1, 2), dtype=tw.uint8))
    with pytest.raises(DTypeError, match="ToTensor: this is a tensor already"):
        transforms.ToTensor()(tw.ones((3, 4, 5)))
    flipped = transforms.RandomHorizontalFlip(1.0)(tw.arange(6).reshape(2, 3))
    assert flipped.tolist() == [[2, 1, 0], [5, 4, 3]]


@pytest.mark.parametrize("weights", [[-3.0, 2.0], [float("nan"), 1.0], [[1.0], [2.0]]])
def test_weights_of_samples_are_numbers_from_0_on(cpu: str, weights: Any) -> None:
    with pytest.raises(DataError, match="WeightedRandomSampler: the weights"):
        data.WeightedRandomSampler(weights, 3)


def test_samplers_name_themselves_in_errors(cpu: str) -> None:
    with pytest.raises(DataError, match="RandomSampler: num_samples=3 of an empty"):
        data.RandomSampler([], num_samples=3)
    assert list(data.RandomSampler([])) == []
    with pytest.raises(DataError, match="BatchSampler: batch_size=0"):
        data.BatchSampler([1], 0, False)
