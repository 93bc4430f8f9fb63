"""A small transformer and its training step in plain functions, for tests of plans."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorweb as tw
from tensorweb import Tensor

Parameters = dict[str, Any]


def parameters(
    layers: int, width: int, length: int, vocabulary: int, *, shape_only: bool = True
) -> Parameters:
    """Return a model's parameters; small numbers, all alike where only shapes count."""

    def made(*shape: int) -> Tensor:
        if shape_only:
            return tw.zeros(shape).contiguous()
        return tw.random.normal(tw.random.key(sum(shape)), shape) * 0.1

    def block() -> Parameters:
        return {
            "norm1": (tw.ones(width) * 1.0, made(width)),
            "qkv": (made(width, 3 * width), made(3 * width)),
            "out": (made(width, width), made(width)),
            "norm2": (tw.ones(width) * 1.0, made(width)),
            "up": (made(width, 4 * width), made(4 * width)),
            "down": (made(4 * width, width), made(width)),
        }

    return {
        "tokens": made(vocabulary, width),
        "positions": made(length, width),
        "blocks": [block() for _ in range(layers)],
        "norm": (tw.ones(width) * 1.0, made(width)),
        "head": (made(width, vocabulary), made(vocabulary)),
    }


def linear(x: Tensor, pair: tuple[Tensor, Tensor]) -> Tensor:
    """Return a layer's product and bias."""
    return x @ pair[0] + pair[1]


def norm(x: Tensor, pair: tuple[Tensor, Tensor]) -> Tensor:
    """Return rows of mean 0 and variance 1, scaled and moved."""
    mean = x.mean(axis=-1, keepdims=True)
    spread = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / tw.sqrt(spread + 1e-5) * pair[0] + pair[1]


def gelu(x: Tensor) -> Tensor:
    """Return the smooth rectifier, by its usual formula."""
    return 0.5 * x * (1.0 + tw.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def attention(x: Tensor, block: Parameters, heads: int) -> Tensor:
    """Return causal attention over (batch, length, width)."""
    batch, length, width = x.shape
    head = width // heads
    qkv = linear(x, block["qkv"]).reshape((batch, length, 3, heads, head))
    q, k, v = (qkv[:, :, i].permute((0, 2, 1, 3)) for i in range(3))
    scores = q @ k.permute((0, 1, 3, 2)) / math.sqrt(head)
    positions = tw.arange(length)
    scores = tw.where(positions[:, None] >= positions[None, :], scores, -1e9)
    e = tw.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (e / e.sum(axis=-1, keepdims=True)) @ v
    return linear(
        mixed.permute((0, 2, 1, 3)).reshape((batch, length, width)), block["out"]
    )


def layer(x: Tensor, block: Parameters, heads: int) -> Tensor:
    """Return what one block makes of its input."""
    x = x + attention(norm(x, block["norm1"]), block, heads)
    hidden = gelu(linear(norm(x, block["norm2"]), block["up"]))
    return x + linear(hidden, block["down"])


def loss_of(
    model: Parameters,
    tokens: Tensor,
    labels: Tensor,
    *,
    heads: int = 4,
    wrap: Callable[..., Any] = lambda f: f,
) -> Tensor:
    """Return the mean cross entropy of the next token; `wrap` is put around layers."""
    x = model["tokens"][tokens] + model["positions"]
    for block in model["blocks"]:
        x = wrap(lambda x, block: layer(x, block, heads))(x, block)
    logits = linear(norm(x, model["norm"]), model["head"])
    high = logits.max(axis=-1, keepdims=True)
    total = tw.log(tw.exp(logits - high).sum(axis=-1)) + high[..., 0]
    right = tw.where(labels[..., None] == tw.arange(logits.shape[-1]), logits, 0.0).sum(
        axis=-1
    )
    return (total - right).mean()


def adam(
    model: Parameters, first: Parameters, second: Parameters, gradient: Parameters
) -> tuple[Parameters, Parameters, Parameters]:
    """Return parameters and both averages after one step of Adam."""
    first = tw.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = tw.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradient)
    model = tw.tree.map(
        lambda p, m, v: p - 1e-3 * m / (tw.sqrt(v) + 1e-8), model, first, second
    )
    return model, first, second


def step(
    model: Parameters,
    first: Parameters,
    second: Parameters,
    tokens: Tensor,
    labels: Tensor,
    *,
    wrap: Callable[..., Any] = lambda f: f,
) -> tuple[Parameters, Parameters, Parameters, Tensor]:
    """Return parameters and averages after one step of training, and the loss."""
    loss, gradient = tw.value_and_grad(
        lambda model: loss_of(model, tokens, labels, wrap=wrap)
    )(model)
    return (*adam(model, first, second, gradient), loss)
