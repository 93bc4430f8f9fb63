"""Classification losses: cross-entropy of logits, negative log-likelihood.

Classes lie along axis 1, as in PyTorch, or along the only axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsIndex
from weakref import WeakKeyDictionary

from tensorweb.errors import (
    Clash,
    DataError,
    DTypeError,
    ShapeError,
    TensorIndexError,
    aligned_clash,
)
from tensorweb.evaluate import host_bytes
from tensorweb.functions import (
    arange,
    asarray,
    exp,
    expand_dims,
    log,
    moveaxis,
    where,
)
from tensorweb.graph.node import Node
from tensorweb.graph.tracing import is_traced
from tensorweb.lookups import ends_within, extremes
from tensorweb.nn.activations import log_softmax_along, softmax_along
from tensorweb.nn.arguments import (
    REDUCTIONS,
    as_float,
    choice,
    indices_operand,
    of_one_dtype,
    positive,
)
from tensorweb.nodes.policy import LARGEST_INSPECTED
from tensorweb.nodes.ranges import Interval, promise_interval
from tensorweb.shapes import Shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.transforms.custom import custom_vjp, stop_gradient

__all__ = [
    "cross_entropy",
    "nll",
    "one_hot",
]


IGNORED = -100
"""The default of `ignore_index`."""


def one_hot(
    labels: ArrayLike, num_classes: SupportsIndex = -1, *, dtype: object = "int32"
) -> Tensor:
    """Return rows of 0 with a 1 at each label: `(...)` gives `(..., num_classes)`.

    With `num_classes=-1` it is the largest label and one, which must be looked at.

    Raises:
        DTypeError: the labels are no integers.
        TensorIndexError: a label is negative, or not below `num_classes`.
        DataError: there are no labels to count.

    >>> tw.nn.one_hot([2, 0], 3)
    tensor([[0, 0, 1],
            [1, 0, 0]])
    """
    tensor = as_labels("one_hot", labels)
    if num_classes == -1:
        number = extremes(tensor.node)[1] + 1 if tensor.size else 0
        if not number:
            raise DataError("one_hot: there are no labels to count; give num_classes.")
    else:
        number = positive("one_hot", "num_classes", num_classes)
    check_labels("one_hot", tensor, number, None)
    return is_class(tensor, number).astype(dtype)


def cross_entropy(
    logits: ArrayLike,
    labels: ArrayLike,
    weight: ArrayLike = None,
    ignore_index: int = IGNORED,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the mean of `-log softmax(logits)[label]`.

    Args:
        logits: `(n, classes)`, `(n, classes, ...)` or `(classes,)`.
        labels: integers of the shape without classes, or probabilities of classes of
            the same shape as `logits`.
        weight: `(classes,)`, weights of the classes, also in the mean.
        ignore_index: the label of examples that are ignored.
        reduction: `mean`, `sum` or `none`.
        label_smoothing: probability distributed uniformly over all classes.

    Returns:
        One loss, or with `none` one per label. The mean of no labels is NaN.

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: the logits are no floats, or the labels neither integers nor floats.
        TensorIndexError: a label is no class.
        DataError: the reduction or the smoothing is none.

    >>> tw.nn.cross_entropy([[0.0, 0.0], [1e4, -1e4]], [1, 0])
    tensor(0.3465736)
    """
    name = "cross_entropy"
    tensor = as_float(name, logits, labels)
    choice(name, "reduction", reduction, REDUCTIONS)
    if not 0.0 <= label_smoothing <= 1.0:
        raise DataError(
            f"{name}: label_smoothing is {label_smoothing}; it is from 0 to 1."
        )
    expected = indices_operand(tensor, labels)
    rows = classes_last(name, tensor)
    weights = _weights(name, weight, rows)
    if expected.dtype.kind == "float" and expected.shape == tensor.shape:
        if ignore_index != IGNORED:
            raise DataError(
                f"{name}: ignore_index is {ignore_index}, and the labels are shares of "
                "classes, none of which is it; leave it out, or give integers."
            )
        shares = _spread(classes_last(name, expected), label_smoothing)
        losses = _soft(
            *of_one_dtype(rows, shares if weights is None else shares * weights)
        )
        return _over_examples(losses, reduction)
    checked = checked_labels(name, rows, expected, ignore_index)
    if not label_smoothing:
        return checked.reduced(_hard(rows, checked.labels), weights, reduction)
    hot = where(is_class(checked.labels, rows.shape[-1]), 1.0, 0.0).astype(rows.dtype)
    if weights is None:
        losses = _soft(rows, _spread(hot, label_smoothing))
        return checked.reduced(losses, None, reduction)
    own = (hot * weights).sum(-1, keepdims=True)
    even = weights * (label_smoothing / rows.shape[-1])
    losses = _soft(*of_one_dtype(rows, hot * own * (1.0 - label_smoothing) + even))
    return checked.reduced(losses, weights, reduction, is_weighted=True)


def nll(
    input: ArrayLike,
    target: ArrayLike,
    weight: ArrayLike = None,
    ignore_index: int = IGNORED,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean of `-input[label]`, `input` being logarithms of probabilities.

    Arguments and errors are those of `cross_entropy`, which is this of `log_softmax`.

    >>> tw.nn.nll([[-1.0, -2.0], [-3.0, -4.0]], [1, 0])
    tensor(2.5)
    """
    tensor = as_float("nll", input, target)
    choice("nll", "reduction", reduction, REDUCTIONS)
    expected = indices_operand(tensor, target)
    rows = classes_last("nll", tensor)
    weights = _weights("nll", weight, rows)
    checked = checked_labels("nll", rows, expected, ignore_index)
    losses = -where(is_class(checked.labels, rows.shape[-1]), rows, 0.0).sum(-1)
    return checked.reduced(losses, weights, reduction)


def classes_last(name: str, x: Tensor) -> Tensor:
    """Return scores with the class axis last.

    Raises:
        ShapeError: there are no classes.
    """
    if not x.ndim or not x.shape[min(1, x.ndim - 1)]:
        raise ShapeError(
            f"{name}: the input has shape {x.shape}; it is (n, classes), "
            "(n, classes, ...) or (classes,), with one class or more."
        )
    return x if x.ndim < 3 else moveaxis(x, 1, -1)


def is_class(labels: Tensor, classes: int) -> Tensor:
    """Return bools `(..., classes)`, True at each label's class."""
    numbers = arange(classes, dtype=labels.dtype, device=labels.device)
    return expand_dims(labels, -1) == numbers


def _weights(name: str, weight: ArrayLike, rows: Tensor) -> Tensor | None:
    if weight is None:
        return None
    weights = as_float(name, weight, rows)
    if weights.shape != rows.shape[-1:]:
        raise ShapeError(
            f"{name}: weight has shape {weights.shape}, and there are {rows.shape[-1]} "
            f"classes; give one for each, shape ({rows.shape[-1]},)."
        )
    return weights


def _spread(shares: Tensor, smoothing: float) -> Tensor:
    """Return class probabilities with label smoothing."""
    if not smoothing:
        return shares
    return shares * (1.0 - smoothing) + smoothing / shares.shape[-1]


def _over_examples(losses: Tensor, reduction: str) -> Tensor:
    """Return losses reduced over all axes but the classes, as in PyTorch."""
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.mean()


def _shifted(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows minus their maximum, and the logarithm of the sum of exponentials."""
    shifted = rows - stop_gradient(rows.max(-1, keepdims=True))
    return shifted, log(exp(shifted).sum(-1))


def _hard_value(rows: Tensor, labels: Tensor) -> Tensor:
    shifted, total = _shifted(rows)
    hot = is_class(labels, rows.shape[-1])
    return total - where(hot, shifted, 0.0).sum(-1)


# l = log sum exp(z) - z[t]; dz = (softmax(z) - [t]) g
def _hard_slope(needed: tuple[Tensor, Tensor], g: Tensor) -> tuple[Tensor, None]:
    rows, labels = needed
    hot = is_class(labels, rows.shape[-1])
    part = softmax_along(rows, -1) - where(hot, 1.0, 0.0).astype(rows.dtype)
    return part * expand_dims(g, -1), None


_hard = custom_vjp(
    _hard_value, lambda rows, t: (_hard_value(rows, t), (rows, t)), _hard_slope
)


def _soft_value(rows: Tensor, shares: Tensor) -> Tensor:
    shifted, total = _shifted(rows)
    whole = where(shares == 0, 0.0, shares * shifted)
    return total * shares.sum(-1) - whole.sum(-1)


# l = (sum q) log sum exp(z) - sum q z
# dz = ((sum q) softmax(z) - q) g, dq = -log softmax(z) g
def _soft_slope(needed: tuple[Tensor, Tensor], g: Tensor) -> tuple[Tensor, Tensor]:
    rows, shares = needed
    column = expand_dims(g, -1)
    part = softmax_along(rows, -1) * shares.sum(-1, keepdims=True) - shares
    return part * column, -log_softmax_along(rows, -1) * column


_soft = custom_vjp(
    _soft_value, lambda rows, q: (_soft_value(rows, q), (rows, q)), _soft_slope
)


@dataclass(frozen=True)
class Labels:
    """Validated labels.

    Attributes:
        labels: integers below the count of classes; 0 for ignored ones.
        counts: mask of labels that are not ignored, None if all count.
        is_known: mask of valid labels, None if all were checked: under `jit` their
            values cannot be read.
    """

    labels: Tensor
    counts: Tensor | None = None
    is_known: Tensor | None = None

    def reduced(
        self,
        losses: Tensor,
        weights: Tensor | None,
        reduction: str,
        is_weighted: bool = False,
    ) -> Tensor:
        """Return losses by their reduction; the mean is weighted by class.

        `is_weighted` means that the losses are multiplied by weights already.
        """
        if self.is_known is not None:
            losses = where(self.is_known, losses, math.nan)
        counted = losses
        if weights is not None:
            own = weights.take(self.labels, axis=0)
            counted = losses if is_weighted else losses * own
        else:
            own = None
        if self.counts is not None:
            counted = where(self.counts, counted, 0.0)
        if reduction == "none":
            return counted
        if reduction == "sum":
            return counted.sum()
        if own is None and self.counts is None:
            return counted.mean()
        if own is None:
            assert self.counts is not None, "internal: something does not count"
            return counted.sum() / self.counts.astype(losses.dtype).sum()
        if self.counts is not None:
            own = where(self.counts, own, 0.0)
        return counted.sum() / own.sum()


def as_labels(name: str, labels: ArrayLike, device: object = None) -> Tensor:
    """Return data as an integer tensor.

    Raises:
        DTypeError: it has another dtype.
    """
    tensor = labels if isinstance(labels, Tensor) else asarray(labels, device=device)
    if tensor.dtype.kind not in ("int", "uint"):
        raise DTypeError(
            f"{name}: the labels are {tensor.dtype} of shape {tensor.shape}; they are "
            "numbers of classes, convert them with astype(tw.int32)."
        )
    return tensor


def check_labels(name: str, labels: Tensor, classes: int, ignored: int | None) -> None:
    """Check that labels are numbers of classes, or the one that does not count.

    Raises:
        TensorIndexError: one is not.
    """
    if not labels.size:
        return
    least, most = (0, classes - 1)
    if ignored is not None:
        least, most = min(least, ignored), max(most, ignored)
    words = f"the {classes} classes"
    low, high = ends_within(labels.node, least, most, words)
    if low < least or high > most:
        raise _out_of_range(name, low if low < least else high, classes)


def _out_of_range(name: str, label: int, classes: int) -> TensorIndexError:
    return TensorIndexError(
        f"{name}: label {label} is no class; with {classes} classes labels are 0 to "
        f"{classes - 1}."
    )


def _labels_clash(rows: Shape, labels: Shape) -> Clash:
    """Return the clash of scores, whose classes are along axis 1, and labels."""
    along = min(1, len(rows) - 1)
    scores = (*rows[:-1][:along], rows[-1], *rows[along:-1])
    columns = [n for n in range(len(labels) + 1) if n != along]

    def fits(shapes: Sequence[Shape]) -> bool:
        scores, labels = shapes
        along = min(1, len(scores) - 1)
        return bool(scores) and (*scores[:along], *scores[along + 1 :]) == labels

    shown = columns[: len(labels)]
    return aligned_clash([scores, labels], [range(len(scores)), shown], fits, [along])


def checked_labels(name: str, rows: Tensor, given: Tensor, ignored: int) -> Labels:
    """Return labels for rows of scores `(..., classes)`.

    Raises:
        DTypeError: they are no integers.
        ShapeError: their shape is not that of the rows.
        TensorIndexError: one is no class.
    """
    classes = rows.shape[-1]
    labels = as_labels(name, given)
    if labels.shape != rows.shape[:-1]:
        raise ShapeError(
            f"{name}: there are {classes} classes along axis {min(1, rows.ndim - 1)} "
            f"of the input, so that labels have shape {rows.shape[:-1]}; these have "
            f"{labels.shape}. Where classes are the last of more axes, reshape both: "
            "logits.reshape(-1, classes), labels.reshape(-1).",
            clash=_labels_clash(rows.shape, labels.shape),
        )
    check_labels(name, labels, classes, ignored)
    if not labels.size:
        return Labels(labels)
    low, high = _ends(labels, classes, ignored)
    is_a_class = 0 <= ignored < classes
    if low >= 0 and high < classes and not is_a_class:
        return Labels(labels)
    counts = labels != ignored
    counted = where(counts, labels, 0)
    if not is_a_class and is_traced(labels.node):
        is_known = (counted >= 0) & (counted < classes)
        counted = where(is_known, counted, 0)
        promise_interval(counted.node, 0, classes - 1)
        return Labels(counted, counts, is_known)
    if not is_a_class:
        low, high = _ends_of_counted(labels.node, counted.node, ignored)
        if low < 0 or high >= classes:
            raise _out_of_range(name, low if low < 0 else high, classes)
    promise_interval(counted.node, 0, classes - 1)
    return Labels(counted, counts)


_counted: WeakKeyDictionary[Node, dict[int, Interval]] = WeakKeyDictionary()
"""Minimum and maximum of the labels that are not ignored, by `ignore_index`."""


def _ends_of_counted(labels: Node, kept: Node, ignored: int) -> Interval:
    """Return minimum and maximum of labels that are not ignored, cached.

    Labels on a device are reduced there, from `kept`.
    """
    known = _counted.setdefault(labels, {})
    if ignored not in known:
        data = host_bytes(labels) if labels.size <= LARGEST_INSPECTED else None
        if data is None:
            known[ignored] = extremes(kept)
        else:
            values = memoryview(data).cast(labels.dtype.typecode)  # type: ignore[call-overload]  # a dtype's letter is a native one
            counted = [value for value in values if value != ignored]
            known[ignored] = min(counted, default=0), max(counted, default=0)
    return known[ignored]


def _ends(labels: Tensor, classes: int, ignored: int) -> tuple[int, int]:
    least, most = min(0, ignored), max(classes - 1, ignored)
    return ends_within(labels.node, least, most, f"the {classes} classes")
