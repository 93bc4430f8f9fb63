"""Losses of margins and sequences: transformations, keys, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw
from tensorweb import nn

CALLS: dict[str, Callable[[tw.Tensor], tw.Tensor]] = {
    "triplets": lambda x: nn.triplet_margin_loss(x[0], x[1], x[2]),
    "classes": lambda x: nn.multi_margin_loss(x[0], tw.asarray([1, 0, 3])),
    "labels": lambda x: nn.multilabel_margin_loss(x[0, 0], tw.asarray([3, 1, -1, 0])),
    "sequences": lambda x: nn.ctc_loss(
        nn.log_softmax(x), [[1], [2], [3]], [3, 2, 3], [1, 1, 1]
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_losses_map_and_compile(name: str, device: str) -> None:
    x = tw.random.normal(tw.random.key(0), (2, 3, 3, 4))

    def gradient(x: tw.Tensor) -> Any:
        return tw.grad(CALLS[name])(x)

    one_by_one = tw.stack([gradient(part) for part in x])
    assert abs(one_by_one).max().item() > 0.01
    for found in (tw.vmap(gradient)(x), tw.jit(tw.vmap(gradient))(x)):
        assert abs(found - one_by_one).max().item() < 1e-5


def test_samples_of_a_softmax_follow_their_key(device: str) -> None:
    logits = tw.log(tw.asarray([0.7, 0.1, 0.2]))
    keys = tw.random.split(tw.random.key(0), 500)
    hard = tw.vmap(lambda key: nn.gumbel_softmax(logits, hard=True, key=key))(keys)
    assert abs(hard.mean(0) - tw.exp(logits)).max().item() < 0.07
    assert (abs(hard.sum(-1) - 1) < 1e-6).all()
    column = nn.gumbel_softmax(logits[:, None], 0.5, dim=0, key=keys[0])
    assert abs(column.sum() - 1).item() < 1e-6
    through = tw.grad(lambda x: nn.gumbel_softmax(x, hard=True, key=keys[0])[0])(logits)
    soft = tw.grad(lambda x: nn.gumbel_softmax(x, key=keys[0])[0])(logits)
    assert abs(through - soft).max().item() < 1e-6


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: nn.multi_margin_loss(x, [1, 2]), "a label for each row"),
        (lambda x: nn.multi_margin_loss(x, [1, 2, 4]), "label 4 is no class"),
        (lambda x: nn.multi_margin_loss(x, [1, 2, 0], p=3), "p is 3; it is 1 or 2"),
        (lambda x: nn.soft_margin_loss(x, tw.ones((3, 5))), "they must be equal"),
        (lambda x: nn.ctc_loss(x, [[1], [2]], [3], [1]), "has one entry a sequence"),
        (lambda x: nn.ctc_loss(x[None, None], [1], [3], [1]), "(t, n, classes)"),
        (lambda x: nn.ctc_loss(x, [1], [3], [1], blank=9), "blank is 9"),
        (
            lambda x: nn.ctc_loss(tw.ones((3, 2, 4)), [1, 2], [3, 3], [2, 1]),
            "count 3 labels, and there are 2",
        ),
        (lambda x: nn.ctc_loss(x, [1], [4], [1]), "input_lengths has 4"),
        (lambda x: nn.ctc_loss(x, [1, 2], [3], [3]), "target_lengths has 3"),
        (lambda x: nn.ctc_loss(x, [1, 2], [3], [-1]), "target_lengths has -1"),
        (lambda x: nn.interpolate(x[None, :, :0], size=4), "no element"),
        (lambda x: nn.margin_ranking_loss(x, x, 1, reduction="max"), "reduction"),
    ],
)
def test_what_does_not_fit_is_named(call: Callable[..., Any], words: str) -> None:
    with pytest.raises(tw.TensorwebError, match=re.escape(words)):
        call(tw.ones((3, 4)))


def test_padding_behind_the_labels_may_be_any_number() -> None:
    steps = nn.log_softmax(tw.sin(tw.arange(12.0)).reshape(3, 1, 4), axis=-1)
    expected = nn.ctc_loss(steps, [[1, 2]], [3], [2])
    assert nn.ctc_loss(steps, [[1, 2, -1]], [3], [2]).item() == expected.item()
