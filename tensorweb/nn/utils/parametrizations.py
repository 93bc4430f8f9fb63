"""Computed weights of PyTorch's `nn.utils.parametrizations`.

>>> weight_norm(tw.nn.Linear(3, 2)).weight.shape
(2, 3)
"""

from __future__ import annotations

from typing import Any, TypeVar

from tensorweb.errors import DataError
from tensorweb.functions import moveaxis, sqrt, square
from tensorweb.nn.convolution import _ConvTranspose
from tensorweb.nn.init import generator
from tensorweb.nn.module import Module, replace
from tensorweb.nn.normalization import normalize
from tensorweb.nn.utils.parametrize import ParametrizationList, register_parametrization
from tensorweb.tensor import Tensor

__all__ = ["spectral_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


class _WeightNorm(Module):
    """`g v / |v|`, with a norm for each slice along an axis."""

    def __init__(self, dim: int | None) -> None:
        self.dim = dim

    def _norm(self, v: Tensor) -> Tensor:
        own = None if self.dim in (None, -1) else self.dim % v.ndim
        axes = tuple([axis for axis in range(v.ndim) if axis != own])
        return sqrt(square(v).sum(axes, keepdims=own is not None))

    def forward(self, g: Tensor, v: Tensor) -> Tensor:
        return v * (g / self._norm(v))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        norm = self._norm(weight).detach()
        return (norm.requires_grad_() if weight.requires_grad else norm), weight


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, by power iterations."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, count: int, eps: float, dim: int) -> None:
        self.count, self.eps, self.dim = count, eps, dim
        matrix, source = self._matrix(weight.detach()), generator(None, weight.device)
        for name, length in zip(("_u", "_v"), matrix.shape, strict=True):
            drawn = source.normal((length,), weight.dtype)
            self.register_buffer(name, normalize(drawn, dim=0, eps=eps))
        self.iterate(weight, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        first = moveaxis(weight, self.dim, 0)
        return first.reshape((first.shape[0], -1))

    def iterate(self, weight: Tensor, count: int) -> None:
        matrix, u, v = self._matrix(weight.detach()), self._u, self._v
        for _ in range(count):
            u = normalize(matrix @ v, dim=0, eps=self.eps)
            v = normalize(matrix.mT @ u, dim=0, eps=self.eps)
        replace(self._u, u)
        replace(self._v, v)

    def forward(self, weight: Tensor) -> Tensor:
        return weight / (self._u * (self._matrix(weight) @ self._v)).sum()


def _iterate(module: Module, args: Any) -> None:
    """Begin a call in training with power iterations."""
    parts: ParametrizationList
    for parts in vars(module).get("parametrizations", {}).values():
        if not any(isinstance(step, _SpectralNorm) for step in parts.steps):
            continue
        values = [getattr(parts, name) for name in parts.names]
        for step in parts.steps:
            if isinstance(step, _SpectralNorm) and step.training:
                step.iterate(values[0], step.count)
            if step is not parts.steps[-1]:
                values = [step(*values)]


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Train length and direction of a weight apart; return the module.

    T. Salimans and D. Kingma, Weight normalization, 2016. The trained tensors are
    `parametrizations.weight.original0`, the lengths, and `original1`.

    Args:
        module: the module.
        name: of the weight.
        dim: the axis whose slices have a length each; None for one length.

    Raises:
        DataError: the module has no such tensor.

    >>> layer = tw.nn.utils.weight_norm(tw.nn.Linear(3, 2))
    >>> layer.parametrizations["weight"].original0.shape
    (2, 1)
    """
    return register_parametrization(module, name, _WeightNorm(dim))


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a weight by its largest singular value; return the module.

    T. Miyato and others, Spectral normalization for generative adversarial networks,
    2018. In training each call of the module begins with power iterations.

    Args:
        module: the module.
        name: of the weight.
        n_power_iterations: count in each call.
        eps: keeps norms above 0.
        dim: the axis of the matrix's rows; None for 0, of transposed convolutions 1.

    Raises:
        DataError: the module has no such tensor.

    >>> layer = tw.nn.utils.spectral_norm(tw.nn.Linear(3, 2))
    >>> round(tw.linalg.svdvals(layer.weight)[0].item(), 2)
    1.0
    """
    axis = dim if dim is not None else int(isinstance(module, _ConvTranspose))
    weight = getattr(module, name, None)  # may be computed by an earlier step
    if not isinstance(weight, Tensor):
        raise DataError(f"spectral_norm: {type(module).__name__} has no {name!r}.")
    if _iterate not in module._forward_pre_hooks:
        module.register_forward_pre_hook(_iterate)
    step = _SpectralNorm(weight, n_power_iterations, eps, axis)
    return register_parametrization(module, name, step)
