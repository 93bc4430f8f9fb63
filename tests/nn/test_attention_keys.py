"""Attention layers that add keys of their own, against the formula in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb import nn
from tensorweb.nn import attention_layers

HIDDEN = np.asarray([[False, True, False], [True, True, False]])
LATER = np.arange(4)[:, None] < np.arange(3)
MASKS: dict[str, tuple[dict[str, Any], Any]] = {
    "none": ({}, np.zeros((2, 1, 4, 3))),
    "padding": (
        {"key_padding_mask": HIDDEN},
        np.where(HIDDEN[:, None, None], -np.inf, 0),
    ),
    "numbers": (
        {"attn_mask": np.arange(12, dtype="float32").reshape(4, 3)},
        np.arange(12).reshape(1, 1, 4, 3),
    ),
    "causal": ({"is_causal": True}, np.where(LATER, -np.inf, 0)[None, None]),
}


def expected(layer: Any, q: Any, k: Any, v: Any, added: Any) -> tuple[Any, Any]:
    """Return result and weights of inputs `(n, length, 6)` with two heads."""
    weights = np.split(layer.in_proj_weight.numpy(), 3)
    biases = np.split(layer.in_proj_bias.numpy(), 3)
    q, k, v = (x @ w.T + b for x, w, b in zip((q, k, v), weights, biases, strict=True))
    for learned in (layer.bias_k, layer.bias_v)[: 2 * (layer.bias_k is not None)]:
        row = np.broadcast_to(learned.numpy(), (2, 1, 6))
        k, v = (
            (np.concatenate([k, row], 1), v)
            if learned is layer.bias_k
            else (k, np.concatenate([v, row], 1))
        )
    if layer.add_zero_attn:
        k, v = (np.pad(x, ((0, 0), (0, 1), (0, 0))) for x in (k, v))
    q, k, v = (x.reshape(2, -1, 2, 3).transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(3)
    scores[..., : added.shape[-1]] += added
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    joined = (shares @ v).transpose(0, 2, 1, 3).reshape(2, -1, 6)
    out = layer.out_proj
    return joined @ out.weight.numpy().T + out.bias.numpy(), shares.mean(1)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    ("learned", "zeros"), [(True, False), (False, True), (True, True)]
)
def test_added_keys_are_seen_by_all_queries(
    learned: bool, zeros: bool, mask: str, device: str
) -> None:
    layer = nn.MultiheadAttention(
        6, 2, add_bias_kv=learned, add_zero_attn=zeros, batch_first=True, rng=0
    )
    random = np.random.default_rng(0)
    q, k, v = (
        random.standard_normal((2, length, 6)).astype("float32") for length in (4, 3, 3)
    )
    given, added = MASKS[mask]
    found, weights = layer(*map(tw.asarray, (q, k, v)), **given)
    result, shares = expected(layer, q, k, v, added)
    np.testing.assert_allclose(weights.numpy(), shares, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.numpy(), result, rtol=1e-4, atol=1e-5)
    one, _ = layer(*(tw.asarray(x[0]) for x in (q, k, v)))
    assert one.shape == (4, 6)


def test_learned_keys_are_parameters(cpu: str) -> None:
    layer = nn.MultiheadAttention(64, 2, add_bias_kv=True, rng=0)
    names = dict(layer.named_parameters())
    assert names["bias_k"].shape == names["bias_v"].shape == (1, 1, 64)
    assert names["bias_k"].std().item() == pytest.approx(1 / 8, rel=0.3)


@pytest.mark.parametrize("length", [8, 13, 24])
def test_blocks_of_long_causal_attention(
    length: int, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(length)
    q, k, v = (
        tw.asarray(random.standard_normal((2, 3, length, 4)).astype("float32"))
        for _ in range(3)
    )

    def loss(operands: tuple[tw.Tensor, ...]) -> tw.Tensor:
        return (nn.attention(*operands, causal=True) ** 2).sum()

    whole, expected = nn.attention(q, k, v, causal=True), tw.grad(loss)((q, k, v))
    monkeypatch.setattr(attention_layers, "LEAST_IN_BLOCKS", 8)
    monkeypatch.setattr(attention_layers, "BLOCK_MULTIPLE", 2)
    blocks, found = nn.attention(q, k, v, causal=True), tw.grad(loss)((q, k, v))
    np.testing.assert_allclose(blocks.numpy(), whole.numpy(), atol=1e-6)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), atol=1e-5)
