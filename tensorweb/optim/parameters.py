"""The floating-point tensors in a tree, their gradients, and their flat storage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tensorweb import tree
from tensorweb.errors import DataError
from tensorweb.graph.leaves import not_following
from tensorweb.optim.state import Group
from tensorweb.tensor import Tensor
from tensorweb.tensor.in_place import rehouse
from tensorweb.transforms.inputs import is_float

Put: TypeAlias = Callable[[Sequence[Tensor]], Any]
"""A function from parameters to their tree."""


def parameters_of(given: Any) -> tuple[list[str], list[Tensor], Put]:
    """Return names and float tensors of a tree, and a function to replace them."""
    leaves, structure = tree.flatten(given)
    names = tree.paths(given)
    chosen = [
        index
        for index, (leaf, place) in enumerate(
            zip(leaves, structure.places(), strict=True)
        )
        if is_float(leaf) and not place.is_constant
    ]
    if isinstance(given, int | float) and not chosen:
        raise DataError(
            f"the parameters are the number {given}; a learning rate is given by "
            f"name, lr={given}, and parameters are tensors."
        )

    def put(others: Sequence[Tensor]) -> Any:
        for index, other in zip(chosen, others, strict=True):
            leaves[index] = other
        return tree.unflatten(structure, leaves)

    return [names[n] for n in chosen], [leaves[n] for n in chosen], put


def groups_in(name: str, given: object) -> list[Mapping[str, Any]]:
    """Return PyTorch's parameter groups, `[{"params": ..., ...}]`; [] for a tree.

    Raises:
        DataError: groups and other values are mixed, or one group is in no list.
    """
    if isinstance(given, Mapping) and "params" in given and len(given) > 1:
        extra = next(key for key in given if key != "params")
        if not isinstance(given[extra], Tensor | Mapping | list | tuple):
            raise DataError(
                f"{name}: one parameter group stands alone; give a list of groups, "
                f"[{{'params': ..., {extra!r}: ...}}]."
            )
    if not isinstance(given, list | tuple):
        return []
    groups = [each for each in given if isinstance(each, Mapping) and "params" in each]
    if groups and len(groups) < len(given):
        raise DataError(
            f"{name}: parameter groups and other things are mixed in one list; give "
            "every tensor in a group, {'params': [...]}."
        )
    return groups


def gradients_of(params: Any, grads: Any) -> list[Tensor | None]:
    """Return each parameter's leaf in the tree of gradients.

    Raises:
        DataError: the trees do not match.
    """
    leaves, structure = tree.flatten(params)
    found, other = tree.flatten(grads)
    if structure != other:
        mine, theirs = tree.paths(params), tree.paths(grads)
        different = [name for name in mine if name not in theirs]
        different += [name for name in theirs if name not in mine]
        at = f"{different[0]!r} is only in one" if different else "their classes differ"
        raise DataError(
            f"update: parameters and gradients are different trees: {at}. Give what "
            "tw.grad of a function of the parameters returns."
        )
    rows = zip(leaves, found, structure.places(), strict=True)
    return [
        grad for leaf, grad, place in rows if is_float(leaf) and not place.is_constant
    ]


def check_gradient(name: str, path: str, leaf: Tensor, grad: Any) -> None:
    """Raise if a gradient does not match its parameter.

    Raises:
        DataError: it is no tensor of the same shape.
    """
    if grad is None:
        return
    if not is_float(grad) or grad.shape != leaf.shape:
        what = f"shape {grad.shape}" if is_float(grad) else type(grad).__name__
        raise DataError(
            f"{name}: the gradient of {path or 'the parameter'!r} is {what}, and the "
            f"parameter a tensor of shape {leaf.shape}."
        )


def join_in_place(groups: Iterable[Group], leaves: Mapping[str, Tensor]) -> None:
    """Make leaves of a group views of one flat storage; their values stay.

    So the first step has the same structure as all others, and is recorded once.
    """
    for group in groups:
        tensors = [leaves[name] for name in group.layout.names]
        if len(tensors) == 1:
            continue
        with not_following():
            values = [Tensor.around(tensor.node) for tensor in tensors]
            parts = group.layout.parts(group.layout.join(values))
        for tensor, part in zip(tensors, parts, strict=True):
            rehouse(tensor, part.node)
