"""Validation of class labels, some of which may be ignored."""

from __future__ import annotations

import math
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from tensorweb.errors import DTypeError, ShapeError, TensorIndexError
from tensorweb.evaluate import host_bytes
from tensorweb.functions import asarray, where
from tensorweb.graph.node import Node
from tensorweb.graph.tracing import is_traced
from tensorweb.lookups.keys import ends_within, extremes
from tensorweb.nodes.ranges import MOST_LOOKED_AT, Interval, promise_interval
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike


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
    given = labels if isinstance(labels, Tensor) else asarray(labels, device=device)
    if given.dtype.kind not in ("int", "uint"):
        raise DTypeError(
            f"{name}: the labels are {given.dtype} of shape {given.shape}; they are "
            "numbers of classes, convert them with astype(tw.int32)."
        )
    return given


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
            "logits.reshape(-1, classes), labels.reshape(-1)."
        )
    check_labels(name, labels, classes, ignored)
    if not labels.size:
        return Labels(labels)
    low, high = _ends(labels, classes, ignored)
    is_a_class = 0 <= ignored < classes
    if low >= 0 and high < classes and not is_a_class:
        return Labels(labels)
    counts = labels != ignored
    kept = where(counts, labels, 0)
    if not is_a_class and is_traced(labels.node):
        is_known = (kept >= 0) & (kept < classes)
        kept = where(is_known, kept, 0)
        promise_interval(kept.node, 0, classes - 1)
        return Labels(kept, counts, is_known)
    if not is_a_class:
        low, high = _ends_of_counted(labels.node, kept.node, ignored)
        if low < 0 or high >= classes:
            raise _out_of_range(name, low if low < 0 else high, classes)
    promise_interval(kept.node, 0, classes - 1)
    return Labels(kept, counts)


_counted: WeakKeyDictionary[Node, dict[int, Interval]] = WeakKeyDictionary()
"""Minimum and maximum of the labels that are not ignored, by `ignore_index`."""


def _ends_of_counted(labels: Node, kept: Node, ignored: int) -> Interval:
    """Return minimum and maximum of labels that are not ignored, cached.

    Labels on a device are reduced there, from `kept`.
    """
    known = _counted.setdefault(labels, {})
    if ignored not in known:
        data = host_bytes(labels) if labels.size <= MOST_LOOKED_AT else None
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
