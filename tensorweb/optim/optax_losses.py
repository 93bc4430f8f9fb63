"""Optax's losses: one loss for each example, of the last axis where it is a class.

Losses of `tw.nn` return a mean and take PyTorch's arguments instead.
"""

from __future__ import annotations

from typing import SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DTypeError
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


def softmax_cross_entropy(
    logits: ArrayLike, labels: ArrayLike, axis: SupportsIndex = -1
) -> Tensor:
    """Return the cross entropy of distributions and softmax, one for each example.

    Args:
        logits: floats, with the classes along `axis`.
        labels: probabilities of the classes, of the shape of the logits.
        axis: of the classes.

    Raises:
        ShapeError: the shapes do not broadcast.

    >>> tw.optim.optax.softmax_cross_entropy([[0.0, 0.0]], [[0.5, 0.5]])
    tensor([0.6931472])
    """
    chances = tw.asarray(logits).log_softmax(axis)
    return -tw.sum(tw.asarray(labels) * chances, axis=axis)


def softmax_cross_entropy_with_integer_labels(
    logits: ArrayLike, labels: ArrayLike, axis: SupportsIndex = -1
) -> Tensor:
    """Return the cross entropy of classes and softmax, one for each example.

    Args:
        logits: floats, with the classes along `axis`.
        labels: integers, of the shape of the logits without `axis`.
        axis: of the classes.

    Raises:
        DTypeError: the labels are no integers.
        ShapeError: the shapes do not fit.

    >>> optax = tw.optim.optax
    >>> optax.softmax_cross_entropy_with_integer_labels([[0.0, 0.0]], [1])
    tensor([0.6931472])
    """
    classes = tw.asarray(labels)
    if classes.dtype.kind not in ("int", "uint"):
        raise DTypeError(
            f"softmax_cross_entropy_with_integer_labels: the labels are "
            f"{classes.dtype}; give integers, or probabilities to "
            "softmax_cross_entropy."
        )
    chances = tw.asarray(logits).log_softmax(axis)
    at = tw.expand_dims(classes, axis=axis)
    return -tw.squeeze(tw.take_along_axis(chances, at, axis=axis), axis=axis)


def sigmoid_binary_cross_entropy(logits: ArrayLike, labels: ArrayLike) -> Tensor:
    """Return the cross entropy of each label from 0 to 1 and the sigmoid of its logit.

    >>> tw.optim.optax.sigmoid_binary_cross_entropy([0.0, -100.0], [1.0, 1.0])
    tensor([  0.6931472, 100.       ])
    """
    x, y = tw.asarray(logits), tw.asarray(labels)
    # log(1 + exp(-|x|)) never overflows.
    return tw.maximum(x, 0) - x * y + tw.log1p(tw.exp(-tw.abs(x)))


def squared_error(predictions: ArrayLike, targets: ArrayLike = 0.0) -> Tensor:
    """Return the squares of the differences.

    >>> tw.optim.optax.squared_error([1.0, 3.0], [1.0, 1.0])
    tensor([0., 4.])
    """
    return tw.square(tw.asarray(predictions) - targets)


def l2_loss(predictions: ArrayLike, targets: ArrayLike = 0.0) -> Tensor:
    """Return half of the squares of the differences.

    >>> tw.optim.optax.l2_loss([1.0, 3.0], [1.0, 1.0])
    tensor([0., 2.])
    """
    return 0.5 * squared_error(predictions, targets)


def huber_loss(
    predictions: ArrayLike, targets: ArrayLike = 0.0, delta: float = 1.0
) -> Tensor:
    """Return half of the squares, beyond a difference of `delta` its line.

    >>> tw.optim.optax.huber_loss([0.5, 3.0], [0.0, 0.0])
    tensor([0.125, 2.5  ])
    """
    distance = tw.abs(tw.asarray(predictions) - targets)
    square = tw.minimum(distance, delta)
    return 0.5 * square**2 + delta * (distance - square)


def smooth_labels(labels: ArrayLike, alpha: float) -> Tensor:
    """Return distributions mixed with the uniform one.

    Args:
        labels: probabilities, with the classes along the last axis.
        alpha: the share of the uniform distribution, from 0 to 1.

    >>> tw.optim.optax.smooth_labels([[1.0, 0.0]], 0.5)
    tensor([[0.75, 0.25]])
    """
    given = tw.asarray(labels)
    return (1.0 - alpha) * given + alpha / given.shape[-1]


def cosine_similarity(
    predictions: ArrayLike, targets: ArrayLike, epsilon: float = 0.0
) -> Tensor:
    """Return the cosine of the angle between vectors along the last axis.

    Args:
        predictions: floats.
        targets: floats of the same shape.
        epsilon: the least norm that a vector counts with.

    >>> tw.optim.optax.cosine_similarity([[3.0, 4.0]], [[3.0, 0.0]])
    tensor([0.6])
    """
    x, y = tw.asarray(predictions), tw.asarray(targets)
    lengths = [
        tw.sqrt(tw.maximum(tw.sum(each * each, axis=-1), epsilon**2)) for each in (x, y)
    ]
    return tw.sum(x * y, axis=-1) / (lengths[0] * lengths[1])


LOSSES = declare_public(__name__)
