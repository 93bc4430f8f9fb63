"""Lines of PyTorch's tutorials that divide and mask tensors."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

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


SAME: dict[str, tuple[Callable[[tw.Tensor], Any], Any]] = {
    "size": (
        lambda x: (x.size(), x.size(0), x.size + 1),
        ((2, 3), 2, 7),
    ),
    "counts": (lambda x: (x.numel(), x.nelement(), x.dim()), (6, 6, 2)),
    "dtypes": (
        lambda x: [y.dtype for y in (x.int(), x.bool(), x.int().float())],
        [tw.int32, tw.bool, tw.float32],
    ),
    "to": (lambda x: x.to(tw.int32).to(x.device, non_blocking=True).dtype, tw.int32),
    "to another": (lambda x: x.int().to(x).dtype, tw.float32),
    "comparisons": (lambda x: (x.gt(4) | x.eq(0)).sum().item(), 2),
    "clamp": (lambda x: x.clamp(min=4).tolist(), [[4, 4, 4], [4, 4, 5]]),
    "gather": (lambda x: x.gather(1, tw.asarray([[2], [0]])).tolist(), [[2], [3]]),
    "gather of few": (lambda x: x.gather(0, tw.asarray([[1, 0]])).tolist(), [[3, 1]]),
    "index_select": (
        lambda x: x.index_select(1, tw.asarray([2, 0])).tolist(),
        [[2, 0], [5, 3]],
    ),
    "topk": (lambda x: x.topk(1, dim=1).indices.tolist(), [[2], [2]]),
    "norm": (lambda x: x[1].norm().item() ** 2, pytest.approx(50)),
    "softmax": (lambda x: x.softmax(dim=1).sum(1).tolist(), pytest.approx([1, 1])),
    "logsumexp": (lambda x: (x.logsumexp(1, True) > 2).tolist(), [[True], [True]]),
    "views": (lambda x: x.t().view_as(x).narrow(1, 1, 2).tolist(), [[3, 1], [2, 5]]),
    "bmm": (lambda x: x.mm(x.t()).trace().item(), 55),
    "in place": (lambda x: x.add_(x, alpha=2).sub_(1).mul_(2).div_(4)[0, 1].item(), 1),
    "fill": (lambda x: x.fill_(3).clamp_(max=2).tolist(), [[2, 2, 2]] * 2),
    "keepdim by position": (
        lambda x: (
            *(x.sum(1, True).shape, x.max(0, True).values.shape),
            x.mean(0, True).shape,
        ),
        ((2, 1), (1, 3), (1, 3)),
    ),
    "functions by position": (
        lambda x: (tw.sum(x, 1, True).shape, tw.triu(x, 1).tolist()),
        ((2, 1), [[0, 1, 2], [0, 0, 5]]),
    ),
    "roll by position": (lambda x: tw.roll(x, 1, 0)[0].tolist(), [3, 4, 5]),
    "lengths": (
        lambda x: tw.zeros(2, 3).shape + tw.ones(4, 5, 6).shape,
        (2, 3, 4, 5, 6),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_methods_of_torch(name: str, device: str) -> None:
    function, expected = SAME[name]
    assert function(tw.reshape(tw.arange(6.0), (2, 3))) == expected


def test_a_dtype_may_follow_the_shape() -> None:
    assert tw.zeros((2,), tw.int32).dtype is tw.ones(2, bool, device="cpu").int().dtype
    with pytest.raises(TypeError, match="takes from 1 to 2 positional arguments"):
        tw.sum([1], 0, None, True, 1)  # type: ignore[misc]
    with pytest.raises(TypeError, match="missing 1 required positional"):
        tw.roll(tw.ones(2))  # type: ignore[call-arg]


def test_the_data_of_a_leaf_are_written_without_a_derivative(device: str) -> None:
    w = tw.asarray([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()
    w.data -= 0.5 * w.grad
    assert (w.tolist(), w.requires_grad, w.is_leaf) == ([0, 0], True, True)
    w.data[0] = 3.0
    w.data[1:].add_(4)
    assert (w.tolist(), w.data.requires_grad) == ([3, 4], False)
    w.grad.zero_()
    (w * w).sum().backward()
    assert w.grad.tolist() == [6, 8]
    w.data = tw.asarray([5.0, 6.0])
    tw.nn.init.constant_(w.data, 7.0)
    assert (w.tolist(), w.requires_grad) == ([7, 7], True)
    number = tw.asarray(1.0, requires_grad=True)
    number.data.fill_(2)
    assert number.item() == 2


def test_a_size_is_a_number() -> None:
    size = tw.ones((2, 3)).size
    assert (size, size * 2, repr(size), isinstance(size, int)) == (6, 12, "6", True)
    assert type(pickle.loads(pickle.dumps(size))) is int
    assert tw.zeros(size).shape == tw.arange(size).reshape(size).shape == (6,)
    assert tw.arange(7)[size].item() == tw.arange(7)[size - 6 :][size].item() == 6
    assert tw.jit(lambda x, n: x * n)(tw.ones(2), size).tolist() == [6, 6]
    assert tw.ones((2, 3)).sum(tw.ones(1).size).tolist() == [3, 3]
    assert (tw.ones(6) / size).sum().item() == pytest.approx(1)


@pytest.mark.parametrize("value", [tw.float64, "float32", 5, None])
def test_only_a_bool_stands_behind_the_axis(value: Any) -> None:
    """NumPy takes the dtype there, and `var` of PyTorch `unbiased`."""
    x = tw.ones((2, 3))
    assert tw.sum(x, 0, True).shape == (1, 3)
    for function in (tw.sum, tw.mean, tw.max):
        with pytest.raises(TypeError, match="positional"):
            function(x, 0, value)
    for function in (tw.var, tw.std):
        with pytest.raises(TypeError, match="positional"):
            function(x, 0, True)


def test_a_part_is_counted_from_the_end() -> None:
    x = tw.reshape(tw.arange(6), (2, 3))
    assert x.narrow(1, -2, 2).tolist() == [[1, 2], [4, 5]]
    assert x.narrow(-1, 0, 1).tolist() == [[0], [3]]
