"""The networks that `bench train` trains, and the numbers that they begin with.

Written in operations that every library has, so that all compute the same. The numbers
come from a counter (`numbers`), the same in `js/train/values.mjs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

Shape = tuple[int, ...]

CLASSES = 10
LETTERS = 65
WIDTH = 128
HEADS = 4
SLOPE = sqrt(2 / 3.141592653589793)


@dataclass(frozen=True, slots=True)
class Size:
    """How large a network is: images or texts of a batch, layers, length of a text."""

    batch: int
    layers: int = 1
    length: int = 1


SIZES = {
    "train_mlp": (Size(128), Size(8)),
    "train_cnn": (Size(128), Size(4)),
    "train_gpt": (Size(32, 4, 64), Size(2, 1, 16)),
}
"""Of each network: as it is measured, and for a software GPU."""


@dataclass(frozen=True, slots=True)
class Start:
    """How a parameter begins: evenly in ±limit, or everywhere the same number."""

    shape: Shape
    limit: float = 0.0
    constant: float = 0.0


def linear(inputs: int, outputs: int) -> Start:
    """Return a weight of shape (inputs, outputs)."""
    return Start((inputs, outputs), 1 / sqrt(inputs))


def filters(outputs: int, inputs: int) -> Start:
    """Return 3 by 3 filters."""
    return Start((outputs, inputs, 3, 3), 1 / sqrt(inputs * 9))


def constant(number: float, *shape: int) -> Start:
    """Return a parameter that is one number everywhere."""
    return Start(shape, constant=number)


def parameters(network: str, size: Size) -> dict[str, Start]:
    """Return the parameters of a network by name, in the order of their seeds."""
    if network == "train_mlp":
        return {
            "w1": linear(784, WIDTH),
            "b1": constant(0, WIDTH),
            "w2": linear(WIDTH, CLASSES),
            "b2": constant(0, CLASSES),
        }
    if network == "train_cnn":
        return {
            "c1": filters(16, 1),
            "d1": constant(0, 16, 1, 1),
            "c2": filters(32, 16),
            "d2": constant(0, 32, 1, 1),
            "w": linear(32 * 49, CLASSES),
            "b": constant(0, CLASSES),
        }
    found = {
        "letters": Start((LETTERS, WIDTH), 0.1),
        "places": Start((size.length, WIDTH), 0.1),
        "head": linear(WIDTH, LETTERS),
        "scale": constant(1, WIDTH),
        "shift": constant(0, WIDTH),
    }
    for layer in range(size.layers):
        found |= {
            f"scale1_{layer}": constant(1, WIDTH),
            f"shift1_{layer}": constant(0, WIDTH),
            f"qkv_{layer}": linear(WIDTH, 3 * WIDTH),
            f"qkv_b_{layer}": constant(0, 3 * WIDTH),
            f"out_{layer}": linear(WIDTH, WIDTH),
            f"out_b_{layer}": constant(0, WIDTH),
            f"scale2_{layer}": constant(1, WIDTH),
            f"shift2_{layer}": constant(0, WIDTH),
            f"up_{layer}": linear(WIDTH, 4 * WIDTH),
            f"up_b_{layer}": constant(0, 4 * WIDTH),
            f"down_{layer}": linear(4 * WIDTH, WIDTH),
            f"down_b_{layer}": constant(0, WIDTH),
        }
    return found


def data(network: str, size: Size) -> tuple[Shape, int, Shape, int]:
    """Return shape and kinds (0: numbers) of the inputs, and the same of the labels."""
    if network == "train_gpt":
        text = (size.batch, size.length)
        return text, LETTERS, (size.batch * size.length,), LETTERS
    shape = (784,) if network == "train_mlp" else (1, 28, 28)
    return (size.batch, *shape), 0, (size.batch,), CLASSES


def cross_entropy(tw: Any, logits: Any, labels: Any) -> Any:
    """Return the mean of -log softmax at the labels."""
    return tw.nn.cross_entropy(logits, labels)


def mlp(tw: Any, size: Size, p: dict[str, Any], x: Any, y: Any) -> Any:
    """Return the loss of two linear layers."""
    hidden = tw.nn.relu(x @ p["w1"] + p["b1"])
    return cross_entropy(tw, hidden @ p["w2"] + p["b2"], y)


def cnn(tw: Any, size: Size, p: dict[str, Any], x: Any, y: Any) -> Any:
    """Return the loss of two convolutions with pooling, and a linear layer."""
    for filters, bias in (("c1", "d1"), ("c2", "d2")):
        x = tw.nn.relu(tw.conv2d(x, p[filters], padding=1) + p[bias])
        x = tw.max_pool2d(x, 2)
    flat = x.reshape(size.batch, 32 * 49)
    return cross_entropy(tw, flat @ p["w"] + p["b"], y)


def norm(tw: Any, x: Any, scale: Any, shift: Any) -> Any:
    """Return rows of mean 0 and variance 1, scaled and shifted."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred * tw.rsqrt(variance + 1e-5) * scale + shift


def gelu(tw: Any, x: Any) -> Any:
    """Return x times the share of a bell curve below it, by tanh."""
    return 0.5 * x * (1 + tw.tanh(SLOPE * (x + 0.044715 * x * x * x)))


def attention(tw: Any, qkv: Any, heads: int) -> Any:
    """Return what places gather from those before; qkv (batch, length, 3·width)."""
    batch, length, wide = qkv.shape
    each = wide // 3 // heads
    parts = qkv.reshape(batch, length, 3, heads, each)
    q, k, v = (parts[:, :, part].permute_dims((0, 2, 1, 3)) for part in range(3))
    scores = q @ k.permute_dims((0, 1, 3, 2)) / sqrt(each)
    places = tw.arange(length)
    scores = tw.where(places[:, None] >= places, scores, -1e9)
    gathered = tw.nn.softmax(scores, axis=-1) @ v
    return gathered.permute_dims((0, 2, 1, 3)).reshape(batch, length, wide // 3)


PARTS = (
    *("scale1", "shift1", "qkv", "qkv_b", "out", "out_b"),
    *("scale2", "shift2", "up", "up_b", "down", "down_b"),
)
"""Parameters of a layer of a transformer; their names end in its number."""


def layer(tw: Any, h: Any, p: dict[str, Any], number: int, heads: int) -> Any:
    """Return texts (batch, length, width) behind one more layer of a transformer."""
    of = {part: p[f"{part}_{number}"] for part in PARTS}
    a = norm(tw, h, of["scale1"], of["shift1"]) @ of["qkv"] + of["qkv_b"]
    h = h + attention(tw, a, heads) @ of["out"] + of["out_b"]
    b = norm(tw, h, of["scale2"], of["shift2"]) @ of["up"] + of["up_b"]
    return h + gelu(tw, b) @ of["down"] + of["down_b"]


def gpt(tw: Any, size: Size, p: dict[str, Any], x: Any, y: Any) -> Any:
    """Return the loss of a small transformer that guesses the next letter."""
    h = p["letters"][x] + p["places"]
    for number in range(size.layers):
        h = layer(tw, h, p, number, HEADS)
    logits = norm(tw, h, p["scale"], p["shift"]) @ p["head"]
    return cross_entropy(tw, logits.reshape(-1, LETTERS), y)


LOSSES: dict[str, Callable[..., Any]] = {
    "train_mlp": mlp,
    "train_cnn": cnn,
    "train_gpt": gpt,
}
"""The loss of each network: of the module, its size, parameters, inputs, labels."""
