"""Mistakes in using layers and losses are reported immediately, with advice."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

import tensorweb as tw
from tensorweb import nn


def images(*shape: int) -> tw.Tensor:
    return tw.ones(shape)


CASES: dict[str, tuple[Any, type[Exception], str]] = {
    "label too large": (
        lambda: nn.cross_entropy(images(2, 3), [0, 3]),
        tw.TensorIndexError,
        "label 3 is no class; with 3 classes labels are 0 to 2",
    ),
    "label negative": (
        lambda: nn.cross_entropy(images(2, 3), [0, -1]),
        tw.TensorIndexError,
        "label -1 is no class",
    ),
    "wrong label next to an ignored one": (
        lambda: nn.cross_entropy(images(2, 3), [-100, -7]),
        tw.TensorIndexError,
        "label -7 is no class",
    ),
    "labels of another length": (
        lambda: nn.cross_entropy(images(2, 3), [0, 1, 2]),
        tw.ShapeError,
        r"labels have shape \(2,\); these have \(3,\)",
    ),
    "classes last": (
        lambda: nn.cross_entropy(images(2, 5, 3), tw.zeros((2, 5), dtype=tw.int32)),
        tw.ShapeError,
        r"logits\.reshape\(-1, classes\)",
    ),
    "labels are floats": (
        lambda: nn.cross_entropy(images(2, 3), [0.0, 1.0]),
        tw.DTypeError,
        r"labels are float32 .* astype\(tw\.int32\)",
    ),
    "logits are integers": (
        lambda: nn.cross_entropy(tw.ones((2, 3), dtype=tw.int32), [0, 1]),
        tw.DTypeError,
        r"the input is int32 of shape \(2, 3\)",
    ),
    "weight": (
        lambda: nn.cross_entropy(images(2, 3), [0, 1], weight=[1.0, 2.0]),
        tw.ShapeError,
        r"weight has shape \(2,\), and there are 3 classes",
    ),
    "reduction": (
        lambda: nn.cross_entropy(images(2, 3), [0, 1], reduction="avg"),
        tw.DataError,
        "reduction is 'avg'; it is one of 'none', 'mean', 'sum'",
    ),
    "smoothing": (
        lambda: nn.cross_entropy(images(2, 3), [0, 1], label_smoothing=2.0),
        tw.DataError,
        "label_smoothing is 2.0",
    ),
    "one_hot": (lambda: nn.one_hot([5], 3), tw.TensorIndexError, "label 5 is no class"),
    "mse of a column and a row": (
        lambda: nn.mse(images(3, 1), images(3)),
        tw.ShapeError,
        r"mse: the input has shape \(3, 1\) and the target \(3,\)",
    ),
    "huber": (
        lambda: nn.huber([1.0], [1.0], delta=0.0),
        tw.DataError,
        "delta is 0.0; give a positive, finite number",
    ),
    "gelu": (lambda: nn.gelu([1.0], "erf"), tw.DataError, "approximate 'erf'"),
    "gelu of integers": (
        lambda: nn.gelu(tw.arange(3)),
        tw.DTypeError,
        r"gelu: the input is int32 of shape \(3,\)",
    ),
    "axis": (lambda: nn.softmax(images(2, 3), axis=2), tw.AxisError, "axis 2"),
    "attention": (
        lambda: nn.attention(images(3, 4), images(3, 5), images(3, 4)),
        tw.ShapeError,
        r"q, k and v have shapes \(3, 4\), \(3, 5\) and \(3, 4\)",
    ),
    "attention's mask": (
        lambda: nn.attention(
            images(3, 4), images(5, 4), images(5, 4), mask=images(5, 3) > 0
        ),
        tw.ShapeError,
        r"the mask has shape \(5, 3\), .* scores' \(3, 5\)",
    ),
    "attention's mask of integers": (
        lambda: nn.attention(
            images(3, 4), images(3, 4), images(3, 4), mask=tw.eye(3, dtype=tw.int32)
        ),
        tw.DTypeError,
        "with mask != 0",
    ),
    "heads": (
        lambda: nn.MultiheadAttention(10, 4),
        tw.DataError,
        "4 heads do not divide embed_dim 10",
    ),
    "heads' input": (
        lambda: nn.MultiheadAttention(4, 2)(*[images(2, 3, 5)] * 3),
        tw.ShapeError,
        r"query, key and value have shapes",
    ),
    "channels": (
        lambda: nn.Conv2d(3, 4, 3)(images(2, 4, 8, 8)),
        tw.ShapeError,
        r"Conv2d: the input has shape \(2, 4, 8, 8\); it takes \(n, 3, h, w\)",
    ),
    "kernel larger than the input": (
        lambda: nn.Conv2d(1, 1, 5)(images(1, 1, 4, 4)),
        tw.ShapeError,
        "5",
    ),
    "groups": (
        lambda: nn.Conv2d(3, 4, 3, groups=2),
        tw.DataError,
        "2 groups must divide 3 in_channels and 4 out_channels",
    ),
    "kernel size": (
        lambda: nn.Conv2d(3, 4, (3, 3, 3)),
        tw.DataError,
        r"kernel_size is \(3, 3, 3\); give an integer, or 2 of them",
    ),
    "same with a stride": (
        lambda: nn.Conv2d(3, 4, 3, stride=2, padding="same"),
        tw.DataError,
        "padding='same' with stride",
    ),
    "padding mode": (
        lambda: nn.Conv2d(3, 4, 3, padding_mode="mirror"),
        tw.DataError,
        "padding_mode is 'mirror'; it is one of 'zeros'",
    ),
    "border wider than the image": (
        lambda: nn.Conv2d(1, 1, 3, padding=4, padding_mode="reflect")(
            images(1, 1, 4, 4)
        ),
        tw.ShapeError,
        "a reflect border of 4 around axis 2",
    ),
    "output_padding": (
        lambda: nn.ConvTranspose2d(1, 1, 3, output_padding=1),
        tw.DataError,
        "output_padding",
    ),
    "pool larger than the image": (
        lambda: nn.MaxPool2d(3)(images(1, 1, 2, 5)),
        tw.ShapeError,
        r"a window reaches over 3, and axis -2 of shape \(1, 1, 2, 5\) is 2 long",
    ),
    "pool's border": (
        lambda: nn.MaxPool2d(2, padding=2)(images(1, 1, 4, 4)),
        tw.DataError,
        "half a window at most",
    ),
    "parts": (
        lambda: nn.AdaptiveAvgPool2d((1, 2, 3))(images(1, 1, 4, 4)),
        tw.DataError,
        "give 2 integers",
    ),
    "embedding of floats": (
        lambda: nn.Embedding(3, 2)(images(2)),
        tw.DTypeError,
        r"the indices are float32 .* astype\(tw\.int32\)",
    ),
    "embedding out of range": (
        lambda: nn.Embedding(3, 2)([0, 3]),
        tw.TensorIndexError,
        "index 3 is out of range",
    ),
    "padding_idx": (
        lambda: nn.Embedding(3, 2, padding_idx=3),
        tw.TensorIndexError,
        "padding_idx is 3; with 3 rows",
    ),
    "layer norm": (
        lambda: nn.LayerNorm(4)(images(4, 3)),
        tw.ShapeError,
        r"LayerNorm: the input has shape \(4, 3\); it takes \(\.\.\., 4\)",
    ),
    "groups of channels": (
        lambda: nn.GroupNorm(3, 4),
        tw.DataError,
        "3 groups do not divide 4 channels",
    ),
    "batch norm of images": (
        lambda: nn.BatchNorm2d(3)(images(2, 3)),
        tw.ShapeError,
        r"it takes \(n, 3, h, w\)",
    ),
    "batch of one": (
        lambda: nn.BatchNorm1d(3)(images(1, 3), train=True),
        tw.ShapeError,
        "one number a channel",
    ),
    "steps": (
        lambda: nn.LSTM(3, 4)(images(5, 2, 4)),
        tw.ShapeError,
        r"LSTM: the input has shape \(5, 2, 4\); it takes \(steps, n, 3\)",
    ),
    "first state": (
        lambda: nn.GRU(3, 4)(images(5, 2, 3), images(2, 4)),
        tw.ShapeError,
        r"a first state has shape \(2, 4\); it is \(1, 2, 4\)",
    ),
    "pair of states": (
        lambda: nn.LSTM(3, 4)(images(5, 2, 3), (images(1, 2, 4),)),
        tw.ShapeError,
        "LSTM: hx has 1 parts; give a pair",
    ),
    "gain": (
        lambda: nn.init.calculate_gain("swoosh"),
        tw.DataError,
        "nonlinearity 'swoosh'",
    ),
    "fans of a vector": (
        lambda: nn.init.xavier_uniform(images(3)),
        tw.ShapeError,
        "two axes",
    ),
    "filling a shape": (
        lambda: nn.init.kaiming_uniform((2, 3)),
        tw.DTypeError,
        "kaiming_uniform: what is filled is of type tuple",
    ),
    "flatten": (
        lambda: nn.flatten(images(2, 3), 1, 0),
        tw.ShapeError,
        "start_dim 1 comes behind end_dim 0",
    ),
    "integers as parameters": (
        lambda: nn.Linear(2, 2, dtype=tw.int32),
        tw.DTypeError,
        "parameters are floats",
    ),
}


def test_an_error_of_shapes_names_the_layer(cpu: str) -> None:
    inner = tw.nn.Sequential(tw.nn.ReLU(), tw.nn.Linear(6, 2))
    model = tw.nn.Sequential({"first": tw.nn.Linear(3, 5), "head": inner})
    with pytest.raises(tw.ShapeError, match=r"^layer head\.1: Linear: the input has"):
        model(tw.ones((2, 3)))


def test_a_module_that_contains_itself_is_refused(cpu: str) -> None:
    above, below = nn.Linear(2, 2), nn.Linear(2, 2)
    above.child, below.parents = below, [above]
    for walk in (
        lambda: list(above.parameters()),
        lambda: list(above.modules()),
        lambda: repr(above),
        lambda: tw.tree.flatten(above),
        lambda: tw.grad(lambda model: model(images(1, 2)).sum())(above),
    ):
        with pytest.raises(tw.DataError, match=r"Linear: .*contains itself.*weakref"):
            walk()
    below.parents = weakref.ref(above)
    assert len(list(above.parameters())) == 4


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_raises_with_advice(name: str, cpu: str) -> None:
    make, kind, words = CASES[name]
    with pytest.raises(kind, match=words):
        make()


@pytest.mark.parametrize("layer", ["Linear", "Conv2d", "LSTM"])
def test_a_key_for_a_layer_is_answered_with_its_own_argument(layer: str) -> None:
    kind: Any = getattr(nn, layer)
    with pytest.raises(TypeError, match=r"keyword argument 'key'; write rng=key, "):
        kind(2, 3, 3, key=tw.random.key(0))
