"""Parameters that are computed from others, as in PyTorch's `nn.utils.parametrize`.

The class of a parametrized module gets a property for the parameter. What it is
computed from is trained and saved instead, under PyTorch's names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any, NoReturn, TypeVar

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
        DataError: the module has no such tensor, or it is computed already and the
            parametrization takes several tensors.
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
    earlier = found.get(tensor_name)
    if earlier is not None:
        _check_takes_one(tensor_name, earlier, parametrization)
    tensor = vars(module).get(tensor_name) if earlier is None else earlier()
    if not isinstance(tensor, Tensor):
        raise DataError(
            f"register_parametrization: {type(module).__name__} has no tensor "
            f"{tensor_name!r}."
        )
    with grad_disabled():
        if earlier is None:
            parts = ParametrizationList(tensor, parametrization)
            shape = parts().shape
        else:
            shape = parametrization(tensor).shape
    if shape != tensor.shape:
        raise ShapeError(
            f"register_parametrization: {tensor_name} has shape {tensor.shape}, and "
            f"{type(parametrization).__name__} returned {shape}."
        )
    if earlier is not None:
        earlier.steps.append(parametrization)
        return module
    vars(module).pop(tensor_name)
    owner: Any = module
    owner.parametrizations = {**found, tensor_name: parts}
    base: Any = owner._computed_from if found else type(module)
    owner.__class__ = _with_properties(base, (*found, tensor_name))
    return module


def _check_takes_one(name: str, earlier: ParametrizationList, step: Module) -> None:
    """Raise DataError if a later parametrization needs several tensors."""
    try:
        signature(step.forward).bind(None)
    except TypeError:
        raise DataError(
            f"register_parametrization: {name!r} is computed already, by "
            f"{type(earlier.steps[-1]).__name__}, and a later parametrization takes "
            f"that one tensor; {type(step).__name__} takes several, so register it "
            "first."
        ) from None


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
        DataError: the parameter is not computed, or its original is several tensors.

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
    parts = found[tensor_name]
    if not leave_parametrized and len(parts.names) > 1:
        raise DataError(
            f"remove_parametrizations: {tensor_name!r} is computed from "
            f"{len(parts.names)} tensors, so it has no one original to return to; keep "
            "its value with leave_parametrized=True."
        )
    value = (parts() if leave_parametrized else parts.original).detach()
    del found[tensor_name]
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
        def refuse(module: Any, value: object) -> NoReturn:
            names = ", ".join(module.parametrizations[name].names)
            raise DataError(
                f"{base.__name__}: {name!r} is computed, so it cannot be assigned; set "
                f"{names} of parametrizations[{name!r}], or call "
                f"remove_parametrizations(module, {name!r}) first."
            )

        return property(lambda module: module.parametrizations[name](), refuse)

    attributes: dict[str, Any] = {name: computed(name) for name in names}
    attributes |= {"_computed_from": base, "__module__": base.__module__}
    return type(f"Parametrized{base.__name__}", (base,), attributes)
