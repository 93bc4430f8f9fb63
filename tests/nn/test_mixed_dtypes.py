"""Losses of tensors of two dtypes, and numbers and lists combined with float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.errors import DataError
from tensorweb.tensor import Tensor, convert, indexing

LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "binary_cross_entropy": tw.nn.binary_cross_entropy,
    "binary_cross_entropy_with_logits": tw.nn.binary_cross_entropy_with_logits,
    "cross_entropy": tw.nn.cross_entropy,
    "smoothed": lambda x, y: tw.nn.cross_entropy(
        x, tw.asarray([0, 1], device=x.device), weight=y[0], label_smoothing=0.1
    ),
    "kl_div": tw.nn.kl_div,
    "mse": tw.nn.mse,
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("dtypes", [("float16", "float32"), ("float64", "float32")])
def test_losses_of_two_dtypes_have_derivatives(
    cpu: str, name: str, dtypes: tuple[str, str]
) -> None:
    loss = LOSSES[name]
    data = [[0.25, 0.75], [0.5, 0.5]], [[0.125, 0.875], [0.5, 0.25]]
    for first, second in (dtypes, dtypes[::-1]):
        x = tw.asarray(data[0], dtype=first)
        y = tw.asarray(data[1], dtype=second)
        wide = [tw.asarray(a, dtype="float64") for a in data]
        found, reference = (tw.grad(loss, (0, 1))(*pair) for pair in ((x, y), wide))
        for got, expected, of in zip(found, reference, (x, y), strict=True):
            assert got.dtype is of.dtype
            assert tw.abs(got - expected).max() < 2e-3


def test_numbers_and_lists_keep_their_digits_with_float64(cpu: str) -> None:
    x = tw.asarray([[0.1, 0.3]], dtype="float64")
    assert tw.nn.mse(x, [[0.1, 0.3]]).item() == 0
    assert tw.nn.l1(x[:, 0], 0.1).item() == 0
    layer = tw.nn.Linear(2, 1, dtype="float64")
    assert (layer([[0.1, 0.3]]) - layer(x)).item() == 0
    weights = tw.nn.nll(x, tw.asarray([0]), weight=[0.1, 0.2], reduction="sum")
    assert weights.item() == -0.1 * 0.1


@pytest.mark.parametrize("read", ["flatten", "array_node"])
def test_labels_that_are_floats_are_read_once(
    cpu: str, np: Any, monkeypatch: pytest.MonkeyPatch, read: str
) -> None:
    x = tw.asarray([[0.25, 0.5]], dtype="float64")
    labels = [[0.1, 0.9]] if read == "flatten" else np.asarray([[0.1, 0.9]])
    calls: list[object] = []
    plain = getattr(convert, read)

    def counting(*arguments: object) -> object:
        calls.append(arguments)
        return plain(*arguments)

    monkeypatch.setattr(convert, read, counting)
    monkeypatch.setattr(indexing, read, counting, raising=False)
    loss = tw.nn.cross_entropy(x, labels)
    assert len(calls) == 1
    assert loss.item() == tw.nn.cross_entropy(x, tw.asarray(labels, "float64")).item()


def test_an_infinite_delta_of_huber_is_an_error(cpu: str) -> None:
    with pytest.raises(DataError, match="positive, finite"):
        tw.nn.huber(tw.ones(2), tw.zeros(2), delta=float("inf"))
