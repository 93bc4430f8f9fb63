"""Losses as modules: objects that store a loss's options."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from tensorweb.functions import asarray
from tensorweb.nn import classes, losses
from tensorweb.nn.module import Module
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
]


class _Loss(Module):
    """A function of an input and a target, with options."""

    _function: ClassVar[Callable[..., Tensor]]
    _options: ClassVar[tuple[str, ...]] = ("reduction",)

    def forward(self, input: ArrayLike, target: ArrayLike, *more: ArrayLike) -> Tensor:
        """Return the loss; see the function."""
        options = {name: getattr(self, name) for name in self._options}
        return type(self)._function(input, target, *more, **options)

    def _keep(self, name: str, value: ArrayLike) -> None:
        """Store class weights as a buffer, which is not trained."""
        given = None if value is None else asarray(value)
        self.register_buffer(name, given)


class CrossEntropyLoss(_Loss):
    """Cross-entropy of logits and labels; see `cross_entropy`.

    >>> tw.nn.CrossEntropyLoss()([[0.0, 0.0]], [1])
    tensor(0.6931472)
    """

    _function = staticmethod(classes.cross_entropy)
    _options = (
        "weight",
        "ignore_index",
        "reduction",
        "label_smoothing",
    )

    def __init__(
        self,
        weight: ArrayLike = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        """Store the options of the function."""
        self._keep("weight", weight)
        self.ignore_index = ignore_index
        self.reduction = reduction
        self.label_smoothing = label_smoothing


class NLLLoss(_Loss):
    """Negative log-likelihood of labels; see `nll`."""

    _function = staticmethod(classes.nll)
    _options = (
        "weight",
        "ignore_index",
        "reduction",
    )

    def __init__(
        self,
        weight: ArrayLike = None,
        ignore_index: int = -100,
        reduction: str = "mean",
    ) -> None:
        """Store the options of the function."""
        self._keep("weight", weight)
        self.ignore_index = ignore_index
        self.reduction = reduction


class BCELoss(_Loss):
    """See `binary_cross_entropy`.

    >>> tw.nn.BCELoss()([0.5], [1.0])
    tensor(0.6931472)
    """

    _function = staticmethod(losses.binary_cross_entropy)
    _options = (
        "weight",
        "reduction",
    )

    def __init__(self, weight: ArrayLike = None, reduction: str = "mean") -> None:
        """Store the options of the function."""
        self._keep("weight", weight)
        self.reduction = reduction


class BCEWithLogitsLoss(_Loss):
    """See `binary_cross_entropy_with_logits`.

    >>> tw.nn.BCEWithLogitsLoss()([0.0], [1.0])
    tensor(0.6931472)
    """

    _function = staticmethod(losses.binary_cross_entropy_with_logits)
    _options = (
        "weight",
        "reduction",
        "pos_weight",
    )

    def __init__(
        self,
        weight: ArrayLike = None,
        reduction: str = "mean",
        pos_weight: ArrayLike = None,
    ) -> None:
        """Store the options of the function."""
        self._keep("weight", weight)
        self.reduction = reduction
        self._keep("pos_weight", pos_weight)


class MSELoss(_Loss):
    """Mean squared error; see `mse`."""

    _function = staticmethod(losses.mse)
    _options = ("reduction",)

    def __init__(self, reduction: str = "mean") -> None:
        """Store the options of the function."""
        self.reduction = reduction


class L1Loss(_Loss):
    """Mean absolute error; see `l1`."""

    _function = staticmethod(losses.l1)
    _options = ("reduction",)

    def __init__(self, reduction: str = "mean") -> None:
        """Store the options of the function."""
        self.reduction = reduction


class HuberLoss(_Loss):
    """Huber loss: quadratic for small differences, linear for large; see `huber`."""

    _function = staticmethod(losses.huber)
    _options = (
        "reduction",
        "delta",
    )

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        """Store the options of the function."""
        self.reduction = reduction
        self.delta = delta


class SmoothL1Loss(_Loss):
    """Smooth L1: quadratic for small differences, else linear; see `smooth_l1`."""

    _function = staticmethod(losses.smooth_l1)
    _options = (
        "reduction",
        "beta",
    )

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        """Store the options of the function."""
        self.reduction = reduction
        self.beta = beta


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence; see `kl_div`."""

    _function = staticmethod(losses.kl_div)
    _options = (
        "reduction",
        "log_target",
    )

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        """Store the options of the function."""
        self.reduction = reduction
        self.log_target = log_target


class GaussianNLLLoss(_Loss):
    """See `gaussian_nll`; it is called with variances as well.

    >>> tw.nn.GaussianNLLLoss()([0.0], [2.0], [1.0])
    tensor(2.)
    """

    _function = staticmethod(losses.gaussian_nll)
    _options = (
        "full",
        "eps",
        "reduction",
    )

    def __init__(
        self, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
    ) -> None:
        """Store the options of the function."""
        self.full = full
        self.eps = eps
        self.reduction = reduction


class PoissonNLLLoss(_Loss):
    """See `poisson_nll`.

    >>> tw.nn.PoissonNLLLoss()([0.0], [2.0])
    tensor(1.)
    """

    _function = staticmethod(losses.poisson_nll)
    _options = (
        "log_input",
        "full",
        "eps",
        "reduction",
    )

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        eps: float = 1e-8,
        reduction: str = "mean",
    ) -> None:
        """Store the options of the function."""
        self.log_input = log_input
        self.full = full
        self.eps = eps
        self.reduction = reduction
