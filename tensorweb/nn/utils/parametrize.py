"""Parameters that are computed from others, as in PyTorch's `nn.utils.parametrize`.

The class of a parametrized module gets a property for the parameter. What it is
computed from is trained and saved instead, under PyTorch's names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from tensorweb.errors import DataError, ShapeError
from tensorweb.functions import moveaxis, sqrt, square
from tensorweb.graph.autograd import grad_disabled
from tensorweb.nn.convolution import _ConvTranspose
from tensorweb.nn.init import generator
from tensorweb.nn.module import Module, replace
from tensorweb.nn.normalization import normalize
from tensorweb.tensor import Tensor

__all__ = ["is_parametrized", "register_parametrization", "remove_parametrizations"]

M = TypeVar("M", bound=Module)


class ParametrizationList(Module):
    """The modules that compute a parameter, one after another, and from what."""

    _unnamed = "steps"

    def __init__(self, tensor: Tensor, first: Module) -> None:
        inverse: Callable[[Tensor], Any] | None = getattr(first, "right_inverse", None)
        made = tensor if inverse is None else inverse(tensor)
        self.names: tuple[str, ...] = ("original",)
        if isinstance(made, tuple):
            self.names = tuple([f"original{index}" for index in range(len(made))])
            vars(self).update(zip(self.names, made, strict=True))
        else:
            self.original = made
        self.steps = [first]

    def forward(self) -> Tensor:
        """Return the parameter."""
        values = [getattr(self, name) for name in self.names]
        for step in self.steps:
            values = [step(*values)]
        result: Tensor = values[0]
        return result


def register_parametrization(module: M, tensor_name: str, parametrization: Module) -> M:
    """Let a parameter of a module be computed by another module; return the module.

    Args:
        module: the module.
        tensor_name: the parameter's name.
        parametrization: its `forward` takes the trained tensor and returns the
            parameter; its `right_inverse`, if it has one, returns the tensor to train,
            or a tuple of them, for the present value.

    Raises:
        DataError: the module has no such tensor.
        ShapeError: the parameter would have another shape.

    >>> class Symmetric(tw.nn.Module):
    ...     def forward(self, x):
    ...         return tw.triu(x) + tw.triu(x, 1).mT
    >>> layer = tw.nn.Linear(2, 2)
    >>> layer = register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.mT).all())
    True
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'parametrizations.weight.original']
    """
    found: dict[str, ParametrizationList] = vars(module).get("parametrizations", {})
    if tensor_name in found:
        found[tensor_name].steps.append(parametrization)
        return module
    tensor = vars(module).get(tensor_name)
    if not isinstance(tensor, Tensor):
        raise DataError(
            f"register_parametrization: {type(module).__name__} has no tensor "
            f"{tensor_name!r}."
        )
    parts = ParametrizationList(tensor, parametrization)
    with grad_disabled():
        shape = parts().shape
    if shape != tensor.shape:
        raise ShapeError(
            f"register_parametrization: {tensor_name} has shape {tensor.shape}, and "
            f"{type(parametrization).__name__} returned {shape}."
        )
    vars(module).pop(tensor_name)
    owner: Any = module
    owner.parametrizations = {**found, tensor_name: parts}
    base: Any = owner._computed_from if found else type(module)
    owner.__class__ = _with_properties(base, (*found, tensor_name))
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a parameter of a module, or one of that name, is computed from others.

    Args:
        module: the module.
        tensor_name: the parameter's name; None for any.

    >>> is_parametrized(tw.nn.utils.weight_norm(tw.nn.Linear(2, 2)), "weight")
    True
    """
    found = vars(module).get("parametrizations", {})
    return bool(found) if tensor_name is None else tensor_name in found


def remove_parametrizations(
    module: M, tensor_name: str, leave_parametrized: bool = True
) -> M:
    """Make a computed parameter an ordinary one again; return the module.

    Args:
        module: the module.
        tensor_name: the parameter's name.
        leave_parametrized: whether it keeps its present value, not that of `original`.

    Raises:
        DataError: the parameter is not computed.

    >>> layer = tw.nn.utils.weight_norm(tw.nn.Linear(2, 2))
    >>> layer = remove_parametrizations(layer, "weight")
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight']
    """
    found = vars(module).get("parametrizations", {})
    if tensor_name not in found:
        raise DataError(
            f"remove_parametrizations: {tensor_name!r} of {type(module).__name__} is "
            "computed from nothing."
        )
    parts = found.pop(tensor_name)
    value = (parts() if leave_parametrized else parts.original).detach()
    owner: Any = module
    base = owner._computed_from
    owner.__class__ = _with_properties(base, tuple(found)) if found else base
    if not found:
        del owner.parametrizations
    if getattr(parts, parts.names[0]).requires_grad:
        value.requires_grad_()
    setattr(module, tensor_name, value)
    return module


@cache
def _with_properties(base: type[Module], names: tuple[str, ...]) -> type[Module]:
    """Return a class whose parameters of some names are computed."""

    def computed(name: str) -> property:
        return property(lambda module: module.parametrizations[name]())

    attributes: dict[str, Any] = {name: computed(name) for name in names}
    attributes |= {"_computed_from": base, "__module__": base.__module__}
    return type(f"Parametrized{base.__name__}", (base,), attributes)


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
        for step in parts.steps:
            if isinstance(step, _SpectralNorm) and step.training:
                step.iterate(getattr(parts, parts.names[0]), step.count)


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
    weight = vars(module).get(name)
    if not isinstance(weight, Tensor):
        raise DataError(f"spectral_norm: {type(module).__name__} has no {name!r}.")
    if _iterate not in module._forward_pre_hooks:
        module.register_forward_pre_hook(_iterate)
    step = _SpectralNorm(weight, n_power_iterations, eps, axis)
    return register_parametrization(module, name, step)
