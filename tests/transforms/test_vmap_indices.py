"""Indices and labels below `vmap`, within `jit` too: checked as without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb import nn
from tensorweb.errors import TensorIndexError, TraceError

NUMBERS = np.random.default_rng(5)
ROWS = NUMBERS.normal(size=(6, 4)).astype("f")
WEIGHTS = NUMBERS.normal(size=(4, 5)).astype("f")
LABELS = [0, 4, 2, 1, 3, 3]

Loss = Callable[[Any, Any, Any], Any]

LOSSES: dict[str, Loss] = {
    "cross-entropy": lambda w, x, t: nn.cross_entropy((x @ w)[None], t[None]),
    "of one row": lambda w, x, t: nn.cross_entropy(x @ w, t),
    "smoothed": lambda w, x, t: nn.cross_entropy(
        (x @ w)[None], t[None], label_smoothing=0.1
    ),
    "one ignored": lambda w, x, t: nn.cross_entropy(
        (x @ w)[None], t[None], ignore_index=2, reduction="sum"
    ),
    "weighted": lambda w, x, t: nn.cross_entropy(
        (x @ w)[None], t[None], weight=tw.arange(5.0) + 1
    ),
    "nll": lambda w, x, t: nn.nll(nn.log_softmax((x @ w)[None]), t[None]),
    "one-hot": lambda w, x, t: (nn.one_hot(t, 5) * (x @ w)).sum() ** 2,
    "embedding": lambda w, x, t: (nn.embedding(t, w.T) * x).sum() ** 2,
    "take": lambda w, x, t: tw.take(x @ w, t, axis=0) ** 2,
    "take along": lambda w, x, t: tw.take_along_axis(x @ w, t[None], axis=0).sum() ** 2,
    "index": lambda w, x, t: (x @ w)[t] ** 2,
    "from the end": lambda w, x, t: (x @ w)[t - 5] ** 2,
    "reversed": lambda w, x, t: (x @ w)[4 - t] ** 2,
    "wrapped": lambda w, x, t: (x @ w)[(t + 3) % 5] ** 2,
    "set": lambda w, x, t: ((x @ w).at[t].set(1.0) ** 2).sum(),
    "add": lambda w, x, t: ((x @ w).at[t].add(x[0]) ** 2).sum(),
    "assigned": lambda w, x, t: (_assigned(x @ w, t) ** 2).sum(),
    "segments": lambda w, x, t: (
        tw.segment_sum((x @ w).sum()[None], t[None], 5) ** 2
    ).sum(),
    "choose": lambda w, x, t: tw.numpy.choose(t, list(x @ w)) ** 2,
    "mapped twice": lambda w, x, t: tw.vmap(lambda row: row[t])(
        tw.stack([x @ w, x @ w * 2])
    ).prod(),
    "mapped over both": lambda w, x, t: tw.vmap(lambda row, i: row[i])(
        tw.stack([x @ w] * 2), tw.stack([t, t])
    ).prod(),
    "positions": lambda w, x, t: (
        (x @ w)[tw.numpy.ravel_multi_index((t // 2, t % 2), (3, 2)) % 5] ** 2
    ),
    "checkpoint": lambda w, x, t: tw.checkpoint(lambda w, x, t: (x @ w)[t] ** 2)(
        w, x, t
    ),
}


def assert_near(found: Any, want: Any) -> None:
    np.testing.assert_allclose(found.numpy(), np.asarray(want), rtol=1e-4, atol=1e-5)


def _assigned(x: Any, index: Any) -> Any:
    x = x * 1
    x[index] = 7.0
    return x


def _by_hand(loss: Loss, w: Any, x: Any, labels: Any) -> Any:
    each = [tw.grad(loss)(w, x[n], labels[n]) for n in range(len(LABELS))]
    return tw.stack(each).numpy()


def _mapped(loss: Loss) -> Callable[..., Any]:
    return tw.vmap(tw.grad(loss), (None, 0, 0))


def _of_sum(loss: Loss) -> Callable[..., Any]:
    return tw.grad(lambda w, x, t: tw.vmap(loss, (None, 0, 0))(w, x, t).sum())


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_of_single_examples(name: str, device: str) -> None:
    loss = LOSSES[name]
    w, x, labels = tw.asarray(WEIGHTS), tw.asarray(ROWS), tw.asarray(LABELS)
    want = _by_hand(loss, w, x, labels)
    jitted = tw.jit(_mapped(loss))
    for function in (_mapped(loss), jitted, jitted):
        assert_near(function(w, x, labels), want)
    for function in (_of_sum(loss), tw.jit(_of_sum(loss))):
        assert_near(function(w, x, labels), want.sum(0))
    other = tw.asarray([1, 1, 0, 4, 2, 0])
    assert_near(jitted(w, x, other), _by_hand(loss, w, x, other))
    if device == "webgpu":
        assert jitted.recordings == 1


@pytest.mark.parametrize("name", ["cross-entropy", "nll", "index", "take", "add"])
def test_labels_out_of_range_are_errors_in_every_call(name: str, device: str) -> None:
    w, x = tw.asarray(WEIGHTS), tw.asarray(ROWS)
    mapped = _mapped(LOSSES[name])
    jitted = tw.jit(mapped)
    wrong = tw.asarray([0, 1, 2, 9, 0, 1])
    for _ in range(2):
        for function in (mapped, jitted):
            with pytest.raises(TensorIndexError, match=r"9 is (no class|out of range)"):
                function(w, x, wrong)
        assert jitted(w, x, tw.asarray(LABELS)).shape == (6, 4, 5)


def test_computed_indices_are_looked_at_without_jit(device: str) -> None:
    table = tw.asarray([10.0, 20.0, 30.0])

    def read(x: Any) -> Any:
        return table[(x * 2).astype(tw.int32)]

    assert tw.vmap(read)(tw.asarray([0.0, 1.0, 0.5])).tolist() == [10, 30, 20]
    with pytest.raises(TensorIndexError, match="index 4 is out of range"):
        tw.vmap(read)(tw.asarray([0.0, 2.0]))


def test_computed_indices_within_jit_need_bounds(webgpu: str) -> None:
    table = tw.asarray([10.0, 20.0, 30.0])
    mapped = tw.jit(tw.vmap(lambda x: table[(x * 2).astype(tw.int32)]))
    with pytest.raises(TraceError, match=r"tw.clip\(i, 0, 2\)"):
        mapped(tw.asarray([0.0, 1.0]))


def test_masks_below_vmap_stay_an_error(device: str) -> None:
    with pytest.raises(TraceError, match="vmap"):
        tw.vmap(lambda x: x[x > 0])(tw.ones((2, 3)))


def test_a_shift_of_roll_may_differ_for_each_example(device: str) -> None:
    x = tw.reshape(tw.arange(6.0), (2, 3))
    shifts = tw.asarray([1, -4])
    rolled = tw.vmap(lambda row, shift: tw.roll(row, shift))(x, shifts)
    assert rolled.tolist() == [[2, 0, 1], [4, 5, 3]]
    both = tw.vmap(lambda shift: tw.roll(x, (shift, 1), axis=(0, 1)))(shifts)
    assert both.tolist() == [[[5, 3, 4], [2, 0, 1]], [[2, 0, 1], [5, 3, 4]]]
    assert tw.jit(lambda shift: tw.roll(x, shift, axis=1))(shifts[0]).tolist() == [
        [2, 0, 1],
        [5, 3, 4],
    ]
    weights = tw.asarray([1.0, 2.0, 3.0])
    gradient = tw.grad(
        lambda x: tw.vmap(lambda row, shift: tw.roll(row, shift) @ weights)(
            x, shifts
        ).sum()
    )(x)
    assert gradient.tolist() == [[2, 3, 1], [3, 1, 2]]
    with pytest.raises(tw.DTypeError, match="a shift is float32"):
        tw.vmap(lambda shift: tw.roll(x[0], shift))(tw.asarray([1.0]))
    with pytest.raises(tw.TraceError, match=r"x\[i \+ tw\.arange\(n\)\]"):
        tw.vmap(lambda i: x[0, i : i + 1])(shifts)
