"""Losses and functions of networks that PyTorch has computed as well.

A case is written once, for the names of `torch.nn` as of `tw.nn`; the recorder in
`tests/references/` gives PyTorch our names where they differ. Nothing here needs either
library. Layers are in `nn_cases.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """One call.

    Attributes:
        call: of the namespace, the layer and the inputs; returns tensors.
        inputs: by name: a shape (tuple) of floats, or a nested list of what is meant.
        layer: makes a layer in a namespace.
        constants: inputs whose gradient is not asked for.
        train: whether the layer is in training.
        scale: of the floats that inputs are made of.
    """

    call: Callable[..., Any]
    inputs: Mapping[str, Any]
    layer: Callable[[Any], Any] | None = None
    constants: tuple[str, ...] = ()
    train: bool = False
    scale: float = 1.5


def numbers(count: int, phase: float, scale: float) -> list[float]:
    """Return floats that look random and are the same everywhere.

    >>> [round(x, 3) for x in numbers(2, 0.0, 1.0)]
    [0.0, 0.99]
    """
    return [scale * math.sin(1.7 * i + phase + 0.01 * i * i) for i in range(count)]


def phase_of(name: str) -> float:
    """Return another phase for each name."""
    return sum((index + 1) * ord(letter) for index, letter in enumerate(name)) % 97 / 7


def weights_of_result(count: int) -> list[float]:
    """Return what results are multiplied by before they are summed up."""
    return [math.cos(0.9 * i + 0.3) for i in range(count)]


def values_of_state(name: str, count: int) -> list[float]:
    """Return what a layer's tensor holds; variances are positive."""
    found = numbers(count, phase_of(name), 0.6)
    return [1.2 + x for x in found] if "var" in name else found


def layer(make: Callable[[Any], Any], shape: Any, **options: Any) -> Case:
    """Return a case of a layer of one input."""
    return Case(lambda nn, layer, x: layer(x), {"x": shape}, make, **options)


def function(call: Callable[..., Any], **inputs: Any) -> Case:
    """Return a case of a function."""
    return Case(lambda nn, layer, **given: call(nn, **given), inputs)


def classes(call: Callable[..., Any], labels: Any, shape: Any = (4, 5)) -> Case:
    """Return a case of a loss of classes."""
    return Case(
        lambda nn, layer, x, t, **rest: call(nn, x, t, **rest),
        {"x": shape, "t": labels},
        constants=("t",),
    )


SPECIAL = [-1e4, -30.0, -5.0, -1.0, -0.1, 0.1, 0.7, 3.0, 25.0, 1e4]
LABELS = [3, 0, 4, 1]
PIXELS = [[[3, 0], [4, 1]], [[2, 2], [0, 3]]]
MASK = [[True, False, True, True], [False, True, True, False], [True, True, True, True]]
HIDDEN = [[False] * 4, [True, True, True, False], [True] * 4]

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "relu": lambda nn, x: nn.relu(x),
    "relu6": lambda nn, x: nn.relu6(x * 4),
    "hardtanh": lambda nn, x: nn.hardtanh(x, -0.5, 2.0),
    "leaky_relu": lambda nn, x: nn.leaky_relu(x),
    "leaky_relu 0.3": lambda nn, x: nn.leaky_relu(x, 0.3),
    "elu": lambda nn, x: nn.elu(x),
    "elu alpha": lambda nn, x: nn.elu(x, 0.4),
    "celu": lambda nn, x: nn.celu(x, 0.7),
    "selu": lambda nn, x: nn.selu(x),
    "gelu": lambda nn, x: nn.gelu(x),
    "gelu tanh": lambda nn, x: nn.gelu(x, approximate="tanh"),
    "silu": lambda nn, x: nn.silu(x),
    "mish": lambda nn, x: nn.mish(x),
    "softplus": lambda nn, x: nn.softplus(x),
    "softplus options": lambda nn, x: nn.softplus(x, beta=2.0, threshold=3.0),
    "logsigmoid": lambda nn, x: nn.logsigmoid(x),
    "softsign": lambda nn, x: nn.softsign(x),
    "tanhshrink": lambda nn, x: nn.tanhshrink(x),
    "hardsigmoid": lambda nn, x: nn.hardsigmoid(x * 3),
    "hardswish": lambda nn, x: nn.hardswish(x * 3),
    "sigmoid": lambda nn, x: nn.sigmoid(x),
    "tanh": lambda nn, x: nn.tanh(x),
}

LOSSES: dict[str, Callable[..., Any]] = {
    "mse": lambda nn, x, y: nn.mse(x, y),
    "mse sum": lambda nn, x, y: nn.mse(x, y, reduction="sum"),
    "l1": lambda nn, x, y: nn.l1(x, y),
    "l1 none": lambda nn, x, y: nn.l1(x, y, reduction="none"),
    "huber": lambda nn, x, y: nn.huber(x, y),
    "huber delta": lambda nn, x, y: nn.huber(x, y, reduction="sum", delta=0.4),
    "smooth_l1": lambda nn, x, y: nn.smooth_l1(x, y),
    "smooth_l1 beta": lambda nn, x, y: nn.smooth_l1(x, y, reduction="none", beta=0.5),
    "kl_div": lambda nn, x, y: nn.kl_div(
        nn.log_softmax(x, dim=1), nn.softmax(y, dim=1), reduction="batchmean"
    ),
    "kl_div log_target": lambda nn, x, y: nn.kl_div(
        nn.log_softmax(x, dim=1), nn.log_softmax(y, dim=1), log_target=True
    ),
    "gaussian_nll": lambda nn, x, y: nn.gaussian_nll(x, y, x * x + 0.1, full=True),
    "poisson_nll": lambda nn, x, y: nn.poisson_nll(x, y * y * 4, full=True),
    "poisson_nll of numbers": lambda nn, x, y: nn.poisson_nll(
        x * x + 0.5, y, log_input=False
    ),
    "bce with logits": lambda nn, x, y: nn.binary_cross_entropy_with_logits(
        x, nn.sigmoid(y)
    ),
    "bce": lambda nn, x, y: nn.binary_cross_entropy(nn.sigmoid(x), nn.sigmoid(y)),
    "cosine_similarity": lambda nn, x, y: nn.cosine_similarity(x, y, dim=1),
    "normalize": lambda nn, x, y: nn.normalize(x * y, dim=0),
    "cross_entropy of probabilities": lambda nn, x, y: nn.cross_entropy(
        x, nn.softmax(y, dim=1)
    ),
    "cross_entropy of probabilities, smoothed": lambda nn, x, y: nn.cross_entropy(
        x, nn.softmax(y, dim=1), label_smoothing=0.2, reduction="sum"
    ),
}

FUNCTION_CASES: dict[str, Case] = {
    **{name: function(call, x=(3, 4)) for name, call in ACTIVATIONS.items()},
    **{
        f"{name}, extreme": function(call, x=SPECIAL)
        for name, call in ACTIVATIONS.items()
        if name != "softplus options"
    },
    **{name: function(call, x=(3, 4), y=(3, 4)) for name, call in LOSSES.items()},
    "softmax": function(lambda nn, x: nn.softmax(x, dim=-1), x=(3, 4)),
    "softmax, axis 0": function(lambda nn, x: nn.softmax(x, dim=0), x=(3, 2, 2)),
    "softmax, extreme": function(
        lambda nn, x: nn.softmax(x, dim=-1),
        x=[[1e4, 1e4, -1e4], [-math.inf, 0.0, 1.0]],
    ),
    "softmin": function(lambda nn, x: nn.softmin(x, dim=1), x=(3, 4)),
    "log_softmax": function(lambda nn, x: nn.log_softmax(x, dim=-1), x=(3, 4)),
    "log_softmax, extreme": function(
        lambda nn, x: nn.log_softmax(x, dim=-1), x=[[1e4, 0.0, -1e4], [1.0, 2.0, 3.0]]
    ),
    "logsumexp": function(lambda nn, x: nn.logsumexp(x, dim=1), x=(3, 4)),
    "logsumexp, two axes": function(
        lambda nn, x: nn.logsumexp(x, dim=(0, 2)), x=(2, 3, 2)
    ),
    "logsumexp, extreme": function(
        lambda nn, x: nn.logsumexp(x, dim=1),
        x=[[1e4, 1e4, -1e4], [-math.inf, -1e4, -1e4]],
    ),
    "glu": function(lambda nn, x: nn.glu(x, dim=-1), x=(3, 4)),
    "glu, axis 0": function(lambda nn, x: nn.glu(x, dim=0), x=(4, 3)),
    "prelu": function(lambda nn, x, w: nn.prelu(x, w), x=(2, 3, 2), w=(3,)),
    "bce weight": Case(
        lambda nn, layer, x, y, w: nn.binary_cross_entropy(
            nn.sigmoid(x), nn.sigmoid(y), weight=w, reduction="sum"
        ),
        {"x": (3, 4), "y": (3, 4), "w": (4,)},
        constants=("w",),
    ),
    "bce, extreme": Case(
        lambda nn, layer, x, y: nn.binary_cross_entropy(x, y, reduction="none"),
        {"x": [0.0, 1.0, 0.0, 1.0, 0.5], "y": [0.0, 1.0, 1.0, 0.0, 0.3]},
        constants=("y",),
    ),
    "bce with logits, options": Case(
        lambda nn, layer, x, y, w, p: nn.binary_cross_entropy_with_logits(
            x, nn.sigmoid(y), weight=w, pos_weight=p * p + 1
        ),
        {"x": (3, 4), "y": (3, 4), "w": (4,), "p": (4,)},
        constants=("w", "p"),
    ),
    "bce with logits, extreme": Case(
        lambda nn, layer, x, y: nn.binary_cross_entropy_with_logits(
            x, y, reduction="none"
        ),
        {"x": [1e4, -1e4, 1e4, -1e4, 0.0], "y": [1.0, 0.0, 0.0, 1.0, 0.5]},
        constants=("y",),
    ),
    "cross_entropy": classes(lambda nn, x, t: nn.cross_entropy(x, t), LABELS),
    "cross_entropy sum": classes(
        lambda nn, x, t: nn.cross_entropy(x, t, reduction="sum"), LABELS
    ),
    "cross_entropy none": classes(
        lambda nn, x, t: nn.cross_entropy(x, t, reduction="none"), LABELS
    ),
    "cross_entropy of one": classes(lambda nn, x, t: nn.cross_entropy(x, t), 2, (5,)),
    "cross_entropy of pixels": classes(
        lambda nn, x, t: nn.cross_entropy(x, t, reduction="none"), PIXELS, (2, 5, 2, 2)
    ),
    "cross_entropy ignoring": classes(
        lambda nn, x, t: nn.cross_entropy(x, t), [3, -100, 4, -100]
    ),
    "cross_entropy ignoring a class": classes(
        lambda nn, x, t: nn.cross_entropy(x, t, ignore_index=4), LABELS
    ),
    "cross_entropy smoothed": classes(
        lambda nn, x, t: nn.cross_entropy(x, t, label_smoothing=0.1), LABELS
    ),
    "cross_entropy smoothed, ignoring": classes(
        lambda nn, x, t: nn.cross_entropy(x, t, label_smoothing=0.3, ignore_index=0),
        LABELS,
    ),
    "cross_entropy, extreme": classes(
        lambda nn, x, t: nn.cross_entropy(x, t, reduction="none"),
        [0, 1, 2],
        [[1e4, -1e4, 0.0], [1e4, 1e4 - 3, 0.0], [0.0, -math.inf, 1.0]],
    ),
    **{
        f"cross_entropy weight, {name}": Case(
            lambda nn, layer, x, t, w, options=options: nn.cross_entropy(
                x, t, weight=w * w + 0.1, **options
            ),
            {"x": (4, 5), "t": LABELS, "w": (5,)},
            constants=("t", "w"),
        )
        for name, options in {
            "mean": {},
            "none": {"reduction": "none"},
            "ignoring": {"ignore_index": 3},
            "smoothed": {"label_smoothing": 0.2},
            "smoothed, ignoring": {"label_smoothing": 0.2, "ignore_index": 3},
            "smoothed, none": {"label_smoothing": 0.2, "reduction": "none"},
        }.items()
    },
    "cross_entropy of probabilities, weight": Case(
        lambda nn, layer, x, y, w: nn.cross_entropy(
            x, nn.softmax(y, dim=1), weight=w * w + 0.1, label_smoothing=0.1
        ),
        {"x": (3, 4), "y": (3, 4), "w": (4,)},
        constants=("w",),
    ),
    "nll": classes(
        lambda nn, x, t: nn.nll(nn.log_softmax(x, dim=1), t, ignore_index=1), LABELS
    ),
    "nll weight": Case(
        lambda nn, layer, x, t, w: nn.nll(x, t, weight=w * w, reduction="mean"),
        {"x": (2, 5, 2, 2), "t": PIXELS, "w": (5,)},
        constants=("t", "w"),
    ),
}

RESIZED: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "nearest": ((1, 2, 3, 4), {"scale_factor": 2}),
    "nearest, volumes": ((1, 1, 2, 3, 2), {"size": (4, 3, 3)}),
    "nearest, smaller": ((1, 2, 7), {"size": 3}),
    "nearest, odd factor": ((1, 1, 5, 3), {"scale_factor": (1.7, 0.6)}),
    "nearest-exact": ((1, 1, 4, 3), {"size": (6, 5), "mode": "nearest-exact"}),
    "linear": ((2, 2, 5), {"scale_factor": 1.5, "mode": "linear"}),
    "linear, recomputed": (
        (1, 2, 5),
        {"scale_factor": 1.5, "mode": "linear", "recompute_scale_factor": True},
    ),
    "bilinear": ((1, 2, 3, 4), {"scale_factor": 2, "mode": "bilinear"}),
    "bilinear, smaller": ((1, 2, 5, 7), {"size": (3, 2), "mode": "bilinear"}),
    "bilinear, corners": (
        (1, 2, 3, 4),
        {"size": (5, 1), "mode": "bilinear", "align_corners": True},
    ),
    "bicubic": ((1, 1, 4, 5), {"scale_factor": 2.0, "mode": "bicubic"}),
    "bicubic, corners": (
        (1, 1, 4, 5),
        {"size": (7, 3), "mode": "bicubic", "align_corners": True},
    ),
    "trilinear": ((1, 1, 2, 3, 2), {"scale_factor": 2, "mode": "trilinear"}),
    "area": ((1, 2, 5, 6), {"size": (3, 2), "mode": "area"}),
}

FUNCTION_CASES |= {
    **{
        f"interpolate {name}": function(
            lambda nn, x, options=options: nn.interpolate(x, **options), x=shape
        )
        for name, (shape, options) in RESIZED.items()
    },
    "pixel_shuffle": function(lambda nn, x: nn.pixel_shuffle(x, 2), x=(2, 8, 2, 3)),
    "pixel_unshuffle": function(lambda nn, x: nn.pixel_unshuffle(x, 2), x=(2, 4, 6)),
    "pad": function(lambda nn, x: nn.pad(x, (1, 2, 0, -1), value=0.5), x=(1, 2, 3, 4)),
    "unfold": function(
        lambda nn, x: nn.unfold(x, (2, 3), padding=1, stride=(2, 1)), x=(2, 3, 4, 5)
    ),
    "fold": function(
        lambda nn, x: nn.fold(x, (4, 5), (2, 3), dilation=2, padding=1, stride=(2, 1)),
        x=(2, 12, 6),
    ),
}

SIGNS = [1, -1, -1, 1]
SEVERAL = [[3, 0, -1, 1, 1], [2, -1, -1, 4, 0], [0, 1, 2, 3, 4], [-1, 0, 0, 0, 0]]


def of_logits(nn: Any, x: Any, t: Any, n: Any, s: Any, **options: Any) -> Any:
    """Return the loss of sequences for logits."""
    return nn.ctc_loss(nn.log_softmax(x, dim=-1), t, n, s, **options)


MARGINS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "margin_ranking_loss": (
        SIGNS,
        lambda nn, x, t: nn.margin_ranking_loss(x[:, 0], x[:, 1], t, margin=0.3),
    ),
    "hinge_embedding_loss": (
        SIGNS,
        lambda nn, x, t: nn.hinge_embedding_loss(x[:, 0], t, margin=0.7),
    ),
    "cosine_embedding_loss": (
        SIGNS,
        lambda nn, x, t: nn.cosine_embedding_loss(x[:, :2], x[:, 3:], t, margin=0.1),
    ),
    "soft_margin_loss": (
        SIGNS,
        lambda nn, x, t: nn.soft_margin_loss(x[:, 1], t, reduction="sum"),
    ),
    "multi_margin_loss": (LABELS, lambda nn, x, t: nn.multi_margin_loss(x, t)),
    "multilabel_margin_loss": (
        SEVERAL,
        lambda nn, x, t: nn.multilabel_margin_loss(x, t, reduction="none"),
    ),
}

SEQUENCES: dict[str, tuple[Any, dict[str, Any]]] = {
    "": ([[1, 2, 2], [3, 1, 0]], {}),
    " in a row": ([1, 2, 2, 3, 1], {"reduction": "none"}),
    " without infinity": (
        [[1, 1, 1], [3, 1, 0]],
        {"zero_infinity": True, "reduction": "sum"},
    ),
}

FUNCTION_CASES |= {
    "pairwise_distance": function(
        lambda nn, x, y: nn.pairwise_distance(x, y, p=3, keepdim=True),
        x=(3, 4),
        y=(3, 4),
    ),
    "triplet_margin_loss": function(
        lambda nn, x, y, z: nn.triplet_margin_loss(x, y, z, swap=True, margin=2.0),
        x=(3, 4),
        y=(3, 4),
        z=(3, 4),
    ),
    "multilabel_soft_margin_loss": function(
        lambda nn, x, y: nn.multilabel_soft_margin_loss(
            x, nn.sigmoid(y), weight=x[0] * 0 + 0.3
        ),
        x=(3, 4),
        y=(3, 4),
    ),
    "multi_margin_loss, options": Case(
        lambda nn, layer, x, t, w: nn.multi_margin_loss(
            x, t, p=2, margin=0.4, weight=w * w, reduction="none"
        ),
        {"x": (4, 5), "t": LABELS, "w": (5,)},
        constants=("t", "w"),
    ),
    **{name: classes(call, labels) for name, (labels, call) in MARGINS.items()},
    **{
        f"ctc_loss{name}": Case(
            lambda nn, layer, options=options, **given: of_logits(
                nn, **given, **options
            ),
            {"x": (5, 2, 4), "t": labels, "n": [4, 5], "s": [3, 2]},
            constants=("t", "n", "s"),
        )
        for name, (labels, options) in SEQUENCES.items()
    },
}
