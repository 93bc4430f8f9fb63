"""Lines of PyTorch's tutorials that divide and mask tensors."""

from __future__ import annotations

import pytest

import tensorweb as tw
from tensorweb.errors import ShapeError


def test_a_tensor_is_split_as_in_pytorch(device: str) -> None:
    x = tw.arange(14).reshape((2, 7))
    assert [part.tolist() for part in x.split(3, dim=1)] == [
        [[0, 1, 2], [7, 8, 9]],
        [[3, 4, 5], [10, 11, 12]],
        [[6], [13]],
    ]
    first, second = x.split([5, 2], dim=-1)
    assert (first.shape, second.tolist()) == ((2, 5), [[5, 6], [12, 13]])
    assert [part.shape for part in x.chunk(3, dim=1)] == [(2, 3), (2, 3), (2, 1)]
    # PyTorch makes as many parts of one length as there are.
    assert [part.shape for part in tw.ones(6).chunk(4)] == [(2,), (2,), (2,)]
    for wrong in (0, -1, [3, 3]):
        with pytest.raises(ShapeError, match="do not divide axis 1"):
            x.split(wrong, dim=1)
    with pytest.raises(ShapeError, match="chunks=0"):
        x.chunk(0)


def test_a_causal_mask_is_filled_and_differentiated(device: str) -> None:
    mask = tw.tril(tw.ones((2, 2)))
    x = tw.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert x.masked_fill(mask == 0, float("-inf")).tolist() == [[1, -tw.inf], [3, 4]]
    assert tw.arange(2).masked_fill(tw.asarray([True, False]), 7).dtype is tw.int32
    grad = tw.grad(lambda x: x.masked_fill(mask == 0, 0.0).sum())(x)
    assert grad.tolist() == [[1, 0], [1, 1]]
