"""Regression and probability losses, with PyTorch's options.

`reduction` is `mean`, `sum` or `none`; losses of classes are in `classification.py`.
"""

from __future__ import annotations

import math
from typing import Any

from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import asarray, log, log1p, maximum, where
from tensorweb.nn.activations import logsigmoid
from tensorweb.nn.arguments import (
    REDUCTIONS,
    as_float,
    choice,
    floats_of_one_shape,
    of_one_dtype,
    reduced,
)
from tensorweb.nn.classification import cross_entropy, nll
from tensorweb.nn.containers import FunctionModule
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike
from tensorweb.transforms.custom import custom_vjp

LEAST_LOGARITHM = -100.0
"""PyTorch's clamp of logarithms in `binary_cross_entropy`."""


LEAST_VARIANCE = 1e-12
"""Lower bound of `p (1 - p)` in the derivative."""


def mse(input: ArrayLike, target: ArrayLike, reduction: str = "mean") -> Tensor:
    """Return the mean of `(input - target)^2`.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown.

    >>> tw.nn.mse([1.0, 2.0], [1.0, 4.0])
    tensor(2.)
    """
    prediction, expected = floats_of_one_shape("mse", input, target)
    return reduced("mse", (prediction - expected) ** 2, reduction)


def l1(input: ArrayLike, target: ArrayLike, reduction: str = "mean") -> Tensor:
    """Return the mean of `|input - target|`; its derivative at 0 is 0.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown.

    >>> tw.nn.l1([1.0, 2.0], [1.0, 4.0])
    tensor(1.)
    """
    prediction, expected = floats_of_one_shape("l1", input, target)
    return reduced("l1", abs(prediction - expected), reduction)


def huber(
    input: ArrayLike,
    target: ArrayLike,
    reduction: str = "mean",
    delta: float = 1.0,
) -> Tensor:
    """Return the mean of `d²/2` where `d = |input - target|` is up to `delta`.

    Beyond it is `delta (d - delta / 2)`. Source: P. Huber, Robust estimation of a
    location parameter, 1964.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown, or `delta` not positive.

    >>> tw.nn.huber([0.0, 0.0], [1.0, 3.0], reduction="none")
    tensor([0.5, 2.5])
    """
    prediction, expected = floats_of_one_shape("huber", input, target)
    if not 0 < delta < math.inf:
        raise DataError(f"huber: delta is {delta}; give a positive, finite number.")
    error = prediction - expected
    distance = abs(error)
    near, far = 0.5 * error**2, delta * (distance - 0.5 * delta)
    return reduced("huber", where(distance <= delta, near, far), reduction)


def smooth_l1(
    input: ArrayLike,
    target: ArrayLike,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Return the mean of `d² / (2 beta)` where `d = |input - target|` is below `beta`.

    Beyond it is `d - beta / 2`; with `beta=0` it is `l1`.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown, or `beta` negative.

    >>> tw.nn.smooth_l1([0.0, 0.0], [1.0, 3.0], reduction="none")
    tensor([0.5, 2.5])
    """
    prediction, expected = floats_of_one_shape("smooth_l1", input, target)
    if beta < 0:
        raise DataError(f"smooth_l1: beta is {beta}; give 0 or a positive number.")
    error = prediction - expected
    distance = abs(error)
    if beta == 0:
        return reduced("smooth_l1", distance, reduction)
    near, far = error**2 * (0.5 / beta), distance - 0.5 * beta
    return reduced("smooth_l1", where(distance < beta, near, far), reduction)


def _entropy(p: Tensor, y: Tensor) -> Tensor:
    by_p = maximum(log(p), LEAST_LOGARITHM)
    by_rest = maximum(log1p(-p), LEAST_LOGARITHM)
    return (y - 1.0) * by_rest - y * by_p


def _slopes_of_entropy(
    needed: tuple[Tensor, Tensor], g: Tensor
) -> tuple[Tensor, Tensor]:
    p, y = needed
    by_p = (p - y) / maximum(p * (1.0 - p), LEAST_VARIANCE)
    by_y = maximum(log1p(-p), LEAST_LOGARITHM) - maximum(log(p), LEAST_LOGARITHM)
    return g * by_p, g * by_y


# l = -y log p - (1 - y) log(1 - p); dp = (p - y) / (p (1 - p)), dy = log((1 - p) / p)
_binary = custom_vjp(
    _entropy, lambda p, y: (_entropy(p, y), (p, y)), _slopes_of_entropy
)


def binary_cross_entropy(
    input: ArrayLike,
    target: ArrayLike,
    weight: ArrayLike = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean of `-target log p - (1 - target) log(1 - p)` for `p = input`.

    Logarithms end at -100, as in PyTorch; beyond 0 and 1 the loss is NaN. Where `p` is
    a sigmoid, `binary_cross_entropy_with_logits` of what is inside loses no digits.

    Args:
        input: probabilities.
        target: of the same shape, from 0 to 1.
        weight: of each element; it broadcasts.
        reduction: `mean`, `sum` or `none`.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown.

    >>> tw.nn.binary_cross_entropy([0.0, 0.0], [1.0, 1.0], reduction="none")
    tensor([100., 100.])
    """
    name = "binary_cross_entropy"
    prediction, expected = floats_of_one_shape(name, input, target)
    whole = expected + prediction * 0 if not expected.ndim else expected
    losses = _binary(*of_one_dtype(prediction, whole))
    if weight is not None:
        losses = losses * as_float(name, weight, prediction)
    return reduced(name, losses, reduction)


def binary_cross_entropy_with_logits(
    input: ArrayLike,
    target: ArrayLike,
    weight: ArrayLike = None,
    reduction: str = "mean",
    pos_weight: ArrayLike = None,
) -> Tensor:
    """Return the binary cross-entropy of `sigmoid(input)`, without overflow.

    Args:
        input: logits.
        target: of the same shape, from 0 to 1.
        weight: of each element; it broadcasts.
        reduction: `mean`, `sum` or `none`.
        pos_weight: by how much targets of 1 count; it broadcasts.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown.

    >>> tw.nn.binary_cross_entropy_with_logits([1e4, -1e4], [1.0, 1.0], reduction="sum")
    tensor(10000.)
    """
    name = "binary_cross_entropy_with_logits"
    prediction, expected = floats_of_one_shape(name, input, target)
    positive = logsigmoid(prediction)
    if pos_weight is not None:
        scale = as_float(name, pos_weight, prediction)
        positive = positive * ((scale - 1.0) * expected + 1.0)
    losses = (1.0 - expected) * prediction - positive
    if weight is not None:
        losses = losses * as_float(name, weight, prediction)
    return reduced(name, losses, reduction)


def kl_div(
    input: ArrayLike,
    target: ArrayLike,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return the mean of `target (log target - input)`, `input` being logarithms.

    Args:
        input: logarithms of probabilities.
        target: probabilities of the same shape, or their logarithms.
        reduction: `mean`, `batchmean` (the sum over the first axis' length), `sum` or
            `none`.
        log_target: whether `target` are logarithms.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown.

    >>> tw.nn.kl_div(tw.log([0.5, 0.5]), [1.0, 0.0], "sum")
    tensor(0.6931472)
    """
    prediction, expected = floats_of_one_shape("kl_div", input, target)
    choice("kl_div", "reduction", reduction, (*REDUCTIONS, "batchmean"))
    if log_target:
        losses = expected.exp() * (expected - prediction)
    else:
        is_there = expected > 0
        logarithms = log(where(is_there, expected, 1.0))
        losses = where(is_there, expected * logarithms, 0.0) - expected * prediction
    if reduction == "batchmean":
        return losses.sum() / (prediction.shape[0] if prediction.ndim else 1)
    return reduced("kl_div", losses, reduction)


def gaussian_nll(
    input: ArrayLike,
    target: ArrayLike,
    var: ArrayLike,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean of `(log v + (input - target)² / v) / 2`, `v` at least `eps`.

    Args:
        input: expected values.
        target: of the same shape.
        var: variances of the input's shape, of that without its last axis or with
            length 1 there (one for each row), or a number. A bound has no derivative.
        full: whether the constant `log(2 π) / 2` is added.
        eps: the least variance.
        reduction: `mean`, `sum` or `none`.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown.

    >>> tw.nn.gaussian_nll([0.0], [2.0], [1.0])
    tensor(2.)
    """
    prediction, expected = floats_of_one_shape("gaussian_nll", input, target)
    variance = _variance(as_float("gaussian_nll", var, prediction), prediction)
    bounded = variance + (maximum(variance, eps) - variance).detach()
    losses = 0.5 * (log(bounded) + (prediction - expected) ** 2 / bounded)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced("gaussian_nll", losses, reduction)


def _variance(var: Tensor, prediction: Tensor) -> Tensor:
    """Return variances; one variance per row gets a last axis of length 1.

    Raises:
        ShapeError: it is neither the input's shape nor that of its rows.
    """
    shape, rows = var.shape, prediction.shape[:-1]
    if not shape or shape in (prediction.shape, (*rows, 1)):
        return var
    if shape == rows:
        return var[..., None]
    raise ShapeError(
        f"gaussian_nll: var has shape {shape}, and input {prediction.shape}; give the "
        f"input's shape, {rows} or {(*rows, 1)} for one variance a row, or a number."
    )


def poisson_nll(
    input: ArrayLike,
    target: ArrayLike,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean of `exp(input) - target input`, for counts of a Poisson process.

    Args:
        input: logarithms of the expected counts, or those with `log_input=False`.
        target: counts, of the same shape.
        log_input: whether `input` are logarithms.
        full: whether Stirling's approximation of `log target!` is added.
        eps: what is added to `input` inside of its logarithm.
        reduction: `mean`, `sum` or `none`.

    Raises:
        ShapeError: the shapes differ.
        DataError: the reduction is unknown.

    >>> tw.nn.poisson_nll([0.0], [2.0])
    tensor(1.)
    """
    prediction, expected = floats_of_one_shape("poisson_nll", input, target)
    if log_input:
        losses = prediction.exp() - expected * prediction
    else:
        losses = prediction - expected * log(prediction + eps)
    if full:
        counts = where(expected > 1, expected, 1.0)
        stirling = counts * log(counts) - counts + 0.5 * log(2 * math.pi * counts)
        losses = losses + where(expected > 1, stirling, 0.0)
    return reduced("poisson_nll", losses, reduction)


class Loss(FunctionModule):
    """A function of an input and a target, with options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Store the options; class weights are buffers, which are not trained."""
        super().__init__(*args, **kwargs)
        for name in ("weight", "pos_weight"):
            if name in self._options:
                value = getattr(self, name)
                tensor = None if value is None else asarray(value)
                self.register_buffer(name, tensor)

    def forward(  # type: ignore[override]  # a target as well
        self, input: ArrayLike, target: ArrayLike, *more: ArrayLike
    ) -> Any:
        """Return the loss; see the function."""
        return self._apply(input, target, *more)

    def extra_repr(self) -> str:
        """Return nothing, as PyTorch does."""
        return ""


class CrossEntropyLoss(Loss):
    """Cross-entropy of logits and labels; see `cross_entropy`.

    Args:
        weight: a weight for each class; None for equal weights.
        ignore_index: a label whose examples are left out.
        reduction: `mean`, `sum` or `none` for the losses of all examples.
        label_smoothing: share of the target that all classes get in equal parts.

    >>> tw.nn.CrossEntropyLoss()([[0.0, 0.0]], [1])
    tensor(0.6931472)
    """

    _function = staticmethod(cross_entropy)
    weight: ArrayLike = None
    ignore_index: int = -100
    reduction: str = "mean"
    label_smoothing: float = 0.0


class NLLLoss(Loss):
    """Negative log-likelihood of labels; see `nll`.

    Args:
        weight: a weight for each class; None for equal weights.
        ignore_index: a label whose examples are left out.
        reduction: `mean`, `sum` or `none` for the losses of all examples.

    >>> tw.nn.NLLLoss()([[-0.5, -1.0]], [1])
    tensor(1.)
    """

    _function = staticmethod(nll)
    weight: ArrayLike = None
    ignore_index: int = -100
    reduction: str = "mean"


class BCELoss(Loss):
    """See `binary_cross_entropy`.

    >>> tw.nn.BCELoss()([0.5], [1.0])
    tensor(0.6931472)
    """

    _function = staticmethod(binary_cross_entropy)
    weight: ArrayLike = None
    reduction: str = "mean"


class BCEWithLogitsLoss(Loss):
    """See `binary_cross_entropy_with_logits`.

    >>> tw.nn.BCEWithLogitsLoss()([0.0], [1.0])
    tensor(0.6931472)
    """

    _function = staticmethod(binary_cross_entropy_with_logits)
    weight: ArrayLike = None
    reduction: str = "mean"
    pos_weight: ArrayLike = None


class MSELoss(Loss):
    """Mean squared error; see `mse`.

    >>> tw.nn.MSELoss()([1.0, 2.0], [1.0, 4.0])
    tensor(2.)
    """

    _function = staticmethod(mse)
    reduction: str = "mean"


class L1Loss(Loss):
    """Mean absolute error; see `l1`.

    >>> tw.nn.L1Loss()([1.0, 2.0], [1.0, 4.0])
    tensor(1.)
    """

    _function = staticmethod(l1)
    reduction: str = "mean"


class HuberLoss(Loss):
    """Huber loss: quadratic for small differences, linear for large; see `huber`.

    Args:
        reduction: `mean`, `sum` or `none` for the losses of all examples.
        delta: the difference from which on the loss is linear.

    >>> tw.nn.HuberLoss()([0.0, 0.0], [1.0, 3.0])
    tensor(1.5)
    """

    _function = staticmethod(huber)
    reduction: str = "mean"
    delta: float = 1.0


class SmoothL1Loss(Loss):
    """Smooth L1: quadratic for small differences, else linear; see `smooth_l1`.

    Args:
        reduction: `mean`, `sum` or `none` for the losses of all examples.
        beta: the difference from which on the loss is linear.

    >>> tw.nn.SmoothL1Loss()([0.0, 0.0], [1.0, 3.0])
    tensor(1.5)
    """

    _function = staticmethod(smooth_l1)
    reduction: str = "mean"
    beta: float = 1.0


class KLDivLoss(Loss):
    """Kullback-Leibler divergence; see `kl_div`.

    Args:
        reduction: `mean`, `sum`, `batchmean` or `none` for all losses.
        log_target: whether targets are logarithms too.

    >>> tw.nn.KLDivLoss(reduction="sum")([[0.0, -1.0]], [[0.0, 1.0]])
    tensor(1.)
    """

    _function = staticmethod(kl_div)
    reduction: str = "mean"
    log_target: bool = False


class GaussianNLLLoss(Loss):
    """See `gaussian_nll`; it is called with variances as well.

    >>> tw.nn.GaussianNLLLoss()([0.0], [2.0], [1.0])
    tensor(2.)
    """

    _function = staticmethod(gaussian_nll)
    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"


class PoissonNLLLoss(Loss):
    """See `poisson_nll`.

    >>> tw.nn.PoissonNLLLoss()([0.0], [2.0])
    tensor(1.)
    """

    _function = staticmethod(poisson_nll)
    log_input: bool = True
    full: bool = False
    eps: float = 1e-8
    reduction: str = "mean"


declare_public(__name__, hidden="Loss")
