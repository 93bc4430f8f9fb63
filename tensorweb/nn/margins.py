"""Losses of distances, margins and rankings, and of sequences without alignment."""

from __future__ import annotations

import math
from typing import SupportsIndex

from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import (
    arange,
    clip,
    concat,
    cumulative_prod,
    expand_dims,
    full,
    maximum,
    minimum,
    stack,
    take_along_axis,
    where,
)
from tensorweb.lookups import ends_within
from tensorweb.nn.activations import logsigmoid, logsumexp, relu, softmax
from tensorweb.nn.arguments import (
    REDUCTIONS,
    as_float,
    choice,
    floats_of_one_shape,
    indices_operand,
    one_axis,
    reduced,
    same_shape,
)
from tensorweb.nn.classification import as_labels, check_labels, is_class
from tensorweb.nn.losses import Loss
from tensorweb.nn.normalization import cosine_similarity, norm_along
from tensorweb.public_names import declare_public
from tensorweb.random import gumbel
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.transforms.custom import stop_gradient

LEAST_SQUARE = 1e-12
"""What PyTorch adds to squared lengths in `cosine_embedding_loss`."""

IMPOSSIBLE = -1e30
"""A logarithm of 0 whose differences are finite, so that derivatives are."""


def pairwise_distance(
    x1: ArrayLike,
    x2: ArrayLike,
    p: float = 2.0,
    eps: float = 1e-6,
    keepdim: bool = False,
) -> Tensor:
    """Return the `p`-norm of `x1 - x2 + eps` along the last axis.

    >>> tw.nn.pairwise_distance([[0.0, 0.0]], [[3.0, 4.0]])
    tensor([4.9999986])
    """
    a = as_float("pairwise_distance", x1, x2)
    b = as_float("pairwise_distance", x2, a)
    norm = norm_along(a - b + eps, p, -1)
    return norm if keepdim else norm.squeeze(-1)


def triplet_margin_loss(
    anchor: ArrayLike,
    positive: ArrayLike,
    negative: ArrayLike,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean of `max(d(anchor, positive) - d(anchor, negative) + margin, 0)`.

    `d` is `pairwise_distance`. Source: V. Balntas and others, Learning shallow
    convolutional feature descriptors with triplet losses, 2016.

    Raises:
        DataError: the reduction is unknown.

    >>> tw.nn.triplet_margin_loss([[0.0]], [[1.0]], [[1.0]])
    tensor(1.)
    """
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    losses = relu(pairwise_distance(anchor, positive, p, eps) - far + margin)
    return reduced("triplet_margin_loss", losses, reduction)


def margin_ranking_loss(
    input1: ArrayLike,
    input2: ArrayLike,
    target: ArrayLike,
    margin: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean of `max(-target (input1 - input2) + margin, 0)`.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown.

    >>> tw.nn.margin_ranking_loss([1.0], [3.0], [1.0])
    tensor(2.)
    """
    a = as_float("margin_ranking_loss", input1, input2)
    b = as_float("margin_ranking_loss", input2, a)
    difference, order = floats_of_one_shape("margin_ranking_loss", a - b, target)
    losses = relu(margin - order * difference)
    return reduced("margin_ranking_loss", losses, reduction)


def hinge_embedding_loss(
    input: ArrayLike, target: ArrayLike, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """Return the mean of `input` for targets of 1, `max(margin - input, 0)` for -1.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown.

    >>> tw.nn.hinge_embedding_loss([0.25, 0.25], [1.0, -1.0], reduction="none")
    tensor([0.25, 0.75])
    """
    distance, labels = floats_of_one_shape("hinge_embedding_loss", input, target)
    losses = where(labels == 1, distance, relu(margin - distance))
    return reduced("hinge_embedding_loss", losses, reduction)


def cosine_embedding_loss(
    input1: ArrayLike,
    input2: ArrayLike,
    target: ArrayLike,
    margin: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean of `1 - cos` for targets of 1, `max(cos - margin, 0)` for -1.

    Args:
        input1: vectors `(n, size)`, or one of them.
        input2: vectors of the same shape.
        target: `(n,)`, 1 or -1.
        margin: the cosine up to which others do not count.
        reduction: `mean`, `sum` or `none` for the losses of all examples.

    Raises:
        ShapeError: the shapes do not fit.
        DataError: the reduction is unknown.

    >>> tw.nn.cosine_embedding_loss([[1.0, 0.0]], [[0.0, 1.0]], [1])
    tensor(1.)
    """
    name = "cosine_embedding_loss"
    a, b = floats_of_one_shape(name, input1, input2)
    lengths = ((a * a).sum(-1) + LEAST_SQUARE) * ((b * b).sum(-1) + LEAST_SQUARE)
    cosine, labels = floats_of_one_shape(name, (a * b).sum(-1) / lengths.sqrt(), target)
    losses = where(labels == 1, 1.0 - cosine, relu(cosine - margin))
    return reduced(name, losses, reduction)


def soft_margin_loss(
    input: ArrayLike, target: ArrayLike, reduction: str = "mean"
) -> Tensor:
    """Return the mean of `log(1 + exp(-target input))`, for targets of 1 and -1.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown.

    >>> tw.nn.soft_margin_loss([0.0], [1.0])
    tensor(0.6931472)
    """
    prediction, labels = floats_of_one_shape("soft_margin_loss", input, target)
    return reduced("soft_margin_loss", -logsigmoid(labels * prediction), reduction)


def multilabel_soft_margin_loss(
    input: ArrayLike,
    target: ArrayLike,
    weight: ArrayLike = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean over classes of the binary cross-entropy of `sigmoid(input)`.

    Args:
        input: logits `(n, classes)`.
        target: of the same shape, 1 where a class is present and 0 elsewhere.
        weight: `(classes,)`, weights of the classes.
        reduction: `mean`, `sum` or `none` for the losses of all examples.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown.

    >>> tw.nn.multilabel_soft_margin_loss([[0.0, 0.0]], [[1.0, 0.0]])
    tensor(0.6931472)
    """
    name = "multilabel_soft_margin_loss"
    logits, labels = floats_of_one_shape(name, input, target)
    losses = -labels * logsigmoid(logits) - (1.0 - labels) * logsigmoid(-logits)
    if weight is not None:
        losses = losses * as_float(name, weight, logits)
    return reduced(name, losses.mean(-1), reduction)


def multi_margin_loss(
    input: ArrayLike,
    target: ArrayLike,
    p: int = 1,
    margin: float = 1.0,
    weight: ArrayLike = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean of `Σ max(margin - input[label] + input[i], 0)ᵖ / classes`.

    The sum is over the classes `i` but the label.

    Args:
        input: scores `(n, classes)`, or `(classes,)`.
        target: labels `(n,)`, or one label.
        p: the power, 1 or 2.
        margin: by how much the label's score is to be the largest.
        weight: `(classes,)`, weights of the labels.
        reduction: `mean`, `sum` or `none` for the losses of all examples.

    Raises:
        ShapeError: the shapes do not fit.
        TensorIndexError: a label is no class.
        DataError: the reduction or the power is unknown.

    >>> tw.nn.multi_margin_loss([[0.0, 2.0, 1.5]], [1])
    tensor(0.16666667)
    """
    name = "multi_margin_loss"
    if p not in (1, 2):
        raise DataError(f"{name}: p is {p}; it is 1 or 2.")
    scores = as_float(name, input, target)
    labels = as_labels(name, indices_operand(scores, target))
    classes = scores.shape[-1]
    if labels.shape != scores.shape[:-1]:
        raise ShapeError(
            f"{name}: the input has shape {scores.shape} and the target {labels.shape};"
            f" it is {scores.shape[:-1]}, a label for each row of scores."
        )
    check_labels(name, labels, classes, None)
    own = is_class(labels, classes)
    score = where(own, scores, 0.0).sum(-1, keepdims=True)
    losses = where(own, 0.0, relu(margin - score + scores) ** p).sum(-1) / classes
    if weight is not None:
        losses = losses * where(own, as_float(name, weight, scores), 0.0).sum(-1)
    return reduced(name, losses, reduction)


def multilabel_margin_loss(
    input: ArrayLike, target: ArrayLike, reduction: str = "mean"
) -> Tensor:
    """Return the mean of `Σ max(1 - input[label] + input[i], 0) / classes`.

    The sum is over the labels of a row and the classes `i` that are none of them.

    Args:
        input: scores `(n, classes)`, or `(classes,)`.
        target: of the same shape: labels, up to the first -1 of a row.
        reduction: `mean`, `sum` or `none` for the losses of all examples.

    Raises:
        ShapeError: the shapes differ.
        TensorIndexError: a label is no class.
        DataError: the reduction is unknown.

    >>> tw.nn.multilabel_margin_loss([[0.1, 0.2, 0.4, 0.8]], [[3, 0, -1, 1]])
    tensor(0.85)
    """
    name = "multilabel_margin_loss"
    scores = as_float(name, input, target)
    labels = as_labels(name, indices_operand(scores, target))
    same_shape(name, scores, labels)
    check_labels(name, labels, scores.shape[-1], -1)
    counts = cumulative_prod((labels >= 0).astype("int32"), axis=-1) > 0
    own = is_class(labels, scores.shape[-1]) & expand_dims(counts, -1)
    is_other = expand_dims(~own.any(-2), -2) & expand_dims(counts, -1)
    score = take_along_axis(scores, maximum(labels, 0), axis=-1)
    hinges = relu(1.0 - expand_dims(score, -1) + expand_dims(scores, -2))
    losses = where(is_other, hinges, 0.0).sum((-2, -1)) / scores.shape[-1]
    return reduced(name, losses, reduction)


def ctc_loss(
    log_probs: ArrayLike,
    targets: ArrayLike,
    input_lengths: ArrayLike,
    target_lengths: ArrayLike,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return the connectionist temporal classification loss of sequences.

    It is `-log` of the probability of all alignments that give the target when repeats
    and blanks are left out. Source: A. Graves and others, Connectionist temporal
    classification, 2006.

    Args:
        log_probs: logarithms of probabilities `(t, n, classes)`, or `(t, classes)`.
        targets: labels `(n, s)`, padded, or those of all sequences one after another.
        input_lengths: `(n,)`, how many of the `t` steps count.
        target_lengths: `(n,)`, how many labels count.
        blank: the label of no class.
        reduction: `none`, `sum`, or `mean`, where each loss is divided by its target's
            length before.
        zero_infinity: whether losses of targets longer than their inputs are 0.

    Raises:
        ShapeError: the shapes do not fit.
        TensorIndexError: a label is no class.
        DataError: the reduction is unknown, `blank` is no class, or a length counts
            more than there is.

    >>> log_probs = tw.log(tw.full((2, 1, 2), 0.5))
    >>> tw.nn.ctc_loss(log_probs, [[1]], [2], [1], reduction="sum")
    tensor(0.2876821)
    """
    name = "ctc_loss"
    choice(name, "reduction", reduction, REDUCTIONS)
    steps = as_float(name, log_probs, targets)
    is_one = steps.ndim == 2
    if is_one:
        steps = expand_dims(steps, 1)
    if steps.ndim != 3 or not steps.shape[0]:
        raise ShapeError(
            f"{name}: log_probs has shape {steps.shape}; it is (t, n, classes)."
        )
    count, n, classes = steps.shape
    if not 0 <= blank < classes:
        raise DataError(f"{name}: blank is {blank}; labels are 0 to {classes - 1}.")
    lengths, sizes = (
        as_labels(name, indices_operand(steps, given)).reshape(-1)
        for given in (input_lengths, target_lengths)
    )
    labels = as_labels(name, indices_operand(steps, targets))
    if labels.ndim == 1 and not is_one:
        label_count = int(sizes.sum().item())
        if label_count > labels.size:
            raise DataError(
                f"{name}: target_lengths count {label_count} labels, and there are "
                f"{labels.size}."
            )
        starts = expand_dims(sizes.cumulative_sum() - sizes, -1)
        most = max(int(sizes.max().item()), 1)
        at = clip(starts + arange(most, device=steps.device), 0, labels.size - 1)
        labels = labels.take(at, axis=0)
    labels = labels.reshape(1, -1) if labels.ndim == 1 else labels
    if labels.ndim != 2 or {labels.shape[0], *lengths.shape, *sizes.shape} != {n}:
        raise ShapeError(
            f"{name}: {n} sequences, targets of shape {labels.shape}, lengths of "
            f"shapes {lengths.shape} and {sizes.shape}; each has one entry a sequence."
        )
    for what, given, most in (
        ("input_lengths", lengths, count),
        ("target_lengths", sizes, labels.shape[1]),
    ):
        low, high = ends_within(given.node, 0, most, f"the {most} of {what}")
        if low < 0 or high > most:
            wrong = low if low < 0 else high
            raise DataError(f"{name}: {what} has {wrong}; it counts from 0 to {most}.")
    is_label = arange(labels.shape[1], device=steps.device) < expand_dims(sizes, -1)
    labels = where(is_label, labels, blank)
    check_labels(name, labels, classes, None)
    # Blanks stand before, between and behind the labels.
    extended = stack([_filled(labels, blank), labels], axis=-1)
    extended = extended.reshape(n, -1)
    extended = concat([extended, _filled(extended[:, :1], blank)], axis=1)
    total = _alignments(steps, extended, lengths, sizes, blank)
    losses = where(total < IMPOSSIBLE / 2, math.inf, -total)
    if zero_infinity:
        losses = where(total < IMPOSSIBLE / 2, 0.0, losses)
    if reduction == "mean":
        losses = losses / maximum(sizes, 1).astype(losses.dtype)
    losses = losses.squeeze(0) if is_one else losses
    return reduced(name, losses, reduction)


def _filled(labels: Tensor, value: int) -> Tensor:
    """Return labels of one value in the shape of others."""
    return full(labels.shape, value, dtype=labels.dtype, device=labels.device)


def _alignments(
    steps: Tensor, extended: Tensor, lengths: Tensor, sizes: Tensor, blank: int
) -> Tensor:
    """Return the logarithm of the probability of all alignments, by sequence.

    `alpha[s]` is that of all beginnings that end in label `s` of the extended target.
    """
    count, n, _ = steps.shape
    width = extended.shape[1]
    emitted = take_along_axis(steps, extended.expand_dims(axis=0), axis=-1)
    nothing = full((n, 2), IMPOSSIBLE, dtype=steps.dtype, device=steps.device)
    index = arange(width, device=steps.device)
    # A blank between two labels may be left out unless they are equal.
    before = concat([extended[:, :2], extended[:, :-2]], axis=1)
    may_skip = (extended != blank) & (extended != before) & (index > 1)
    alpha = where(index < 2, emitted[0], IMPOSSIBLE)
    for step in range(1, count):
        shifted = concat([nothing, alpha], axis=1)
        skipped = where(may_skip, shifted[:, :width], IMPOSSIBLE)
        ways = stack([alpha, shifted[:, 1 : width + 1], skipped])
        further = logsumexp(ways, axis=0) + emitted[step]
        alpha = where(expand_dims(lengths > step, -1), further, alpha)
    last = expand_dims(2 * sizes, -1)
    is_end = (index == last) | (index == last - 1)
    return logsumexp(where(is_end, alpha, IMPOSSIBLE), axis=-1)


def gumbel_softmax(
    logits: ArrayLike,
    tau: float = 1.0,
    hard: bool = False,
    eps: float = 1e-10,
    dim: SupportsIndex = -1,
    *,
    key: ArrayLike,
) -> Tensor:
    """Return a softmax of logits plus Gumbel noise, a sample that has a derivative.

    Source: E. Jang and others, Categorical reparameterization with Gumbel-softmax,
    2017.

    Args:
        logits: floats of any shape.
        tau: the temperature; near 0 samples are near one-hot.
        hard: whether the result is one-hot, with the derivative of the soft one.
        eps: accepted as in PyTorch; changes nothing.
        dim: the axis of the classes.
        key: of `tw.random`.

    >>> tw.nn.gumbel_softmax([0.0, 9.0, 0.0], hard=True, key=tw.random.key(0))
    tensor([0., 1., 0.])
    """
    tensor = as_float("gumbel_softmax", logits)
    axis = one_axis(tensor, dim, None)
    noise = gumbel(key, tensor.shape, tensor.dtype).to_device(tensor.device)
    soft = softmax((tensor + noise) / tau, axis)
    if not hard:
        return soft
    largest = expand_dims(soft.argmax(axis), -1) == arange(
        soft.shape[axis], device=soft.device
    )
    hot = largest.astype(soft.dtype).moveaxis(-1, axis)
    return stop_gradient(hot - soft) + soft


class PairwiseDistance(Loss):
    """The distance of vectors; see `pairwise_distance`.

    >>> tw.nn.PairwiseDistance()([[0.0, 0.0]], [[3.0, 4.0]])
    tensor([4.9999986])
    """

    _function = staticmethod(pairwise_distance)
    p: float = 2.0
    eps: float = 1e-6
    keepdim: bool = False


class CosineSimilarity(Loss):
    """The cosine of the angle between vectors; see `cosine_similarity`.

    >>> tw.nn.CosineSimilarity()([[1.0, 0.0]], [[1.0, 1.0]])
    tensor([0.70710677])
    """

    _function = staticmethod(cosine_similarity)
    dim: int = 1
    eps: float = 1e-8


class TripletMarginLoss(Loss):
    """Distance to a positive less that to a negative; see `triplet_margin_loss`.

    >>> tw.nn.TripletMarginLoss()([[0.0]], [[1.0]], [[1.0]])
    tensor(1.)
    """

    _function = staticmethod(triplet_margin_loss)
    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    reduction: str = "mean"


class MarginRankingLoss(Loss):
    """Order of two scores; see `margin_ranking_loss`.

    >>> tw.nn.MarginRankingLoss()([1.0], [3.0], [1.0])
    tensor(2.)
    """

    _function = staticmethod(margin_ranking_loss)
    margin: float = 0.0
    reduction: str = "mean"


class HingeEmbeddingLoss(Loss):
    """Distances of equal and of different pairs; see `hinge_embedding_loss`.

    >>> tw.nn.HingeEmbeddingLoss()([0.25, 0.25], [1.0, -1.0])
    tensor(0.5)
    """

    _function = staticmethod(hinge_embedding_loss)
    margin: float = 1.0
    reduction: str = "mean"


class CosineEmbeddingLoss(Loss):
    """Angles of equal and of different pairs; see `cosine_embedding_loss`.

    >>> tw.nn.CosineEmbeddingLoss()([[1.0, 0.0]], [[0.0, 1.0]], [1])
    tensor(1.)
    """

    _function = staticmethod(cosine_embedding_loss)
    margin: float = 0.0
    reduction: str = "mean"


class SoftMarginLoss(Loss):
    """Logistic loss of targets 1 and -1; see `soft_margin_loss`.

    >>> tw.nn.SoftMarginLoss()([0.0], [1.0])
    tensor(0.6931472)
    """

    _function = staticmethod(soft_margin_loss)
    reduction: str = "mean"


class MultiLabelSoftMarginLoss(Loss):
    """Cross-entropy of each class; see `multilabel_soft_margin_loss`.

    >>> tw.nn.MultiLabelSoftMarginLoss()([[0.0, 0.0]], [[1.0, 0.0]])
    tensor(0.6931472)
    """

    _function = staticmethod(multilabel_soft_margin_loss)
    weight: ArrayLike = None
    reduction: str = "mean"


class MultiMarginLoss(Loss):
    """Hinge loss of a label and the other classes; see `multi_margin_loss`.

    >>> tw.nn.MultiMarginLoss()([[0.0, 2.0, 1.5]], [1])
    tensor(0.16666667)
    """

    _function = staticmethod(multi_margin_loss)
    p: int = 1
    margin: float = 1.0
    weight: ArrayLike = None
    reduction: str = "mean"


class MultiLabelMarginLoss(Loss):
    """Hinge loss of several labels and the others; see `multilabel_margin_loss`.

    >>> tw.nn.MultiLabelMarginLoss()([[0.1, 0.2, 0.4, 0.8]], [[3, 0, -1, 1]])
    tensor(0.85)
    """

    _function = staticmethod(multilabel_margin_loss)
    reduction: str = "mean"


class CTCLoss(Loss):
    """Loss of sequences without alignment; see `ctc_loss`.

    Args:
        blank: the label of no class.
        reduction: `none`, `sum`, or `mean` of losses by length of the target.
        zero_infinity: whether losses of targets longer than their inputs are 0.

    >>> log_probs = tw.log(tw.full((2, 1, 2), 0.5))
    >>> tw.nn.CTCLoss()(log_probs, [[1]], [2], [1])
    tensor(0.2876821)
    """

    _function = staticmethod(ctc_loss)
    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False


declare_public(__name__)
