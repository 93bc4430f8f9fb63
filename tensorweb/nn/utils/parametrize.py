"""Parameters that are computed from others, as in PyTorch's `nn.utils.parametrize`.

The class of a parametrized module gets a property for the parameter. What it is
computed from is trained and saved instead, under PyTorch's names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from tensorweb.errors import DataError, ShapeError
from tensorweb.graph.autograd import grad_disabled
from tensorweb.nn.module import Module
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
