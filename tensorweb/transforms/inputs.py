"""Variables to differentiate by, which replace the arguments of a function.

A variable is an alias of the argument, a new node for the same value, so that two
transformations never share one.

A transformed function has the function's name, docstring and signature. Attributes are
copied from functions only, since those of an object are its state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import WRAPPER_ASSIGNMENTS, WRAPPER_UPDATES, wraps
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeVar

from tensorweb import tree
from tensorweb.errors import TransformError
from tensorweb.evaluate import end_step
from tensorweb.functions import asarray
from tensorweb.graph.autograd import add_variable, has_variables, recording_paused
from tensorweb.graph.node import Node, complex_of, pair_of
from tensorweb.graph.provenance import open_provenance
from tensorweb.nodes.movement import alias
from tensorweb.tensor import Tensor
from tensorweb.tensor.arguments import answering_keywords
from tensorweb.tensor.base import FLOWING, TensorBase
from tensorweb.tensor.convert import device_of

FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType)

C = TypeVar("C", bound=Callable[..., Any])


def wraps_function(function: object) -> Callable[[C], C]:
    """Return a decorator that copies a function's name and docs to a wrapper."""
    # An object may have a function's name, given by functools.wraps.
    updated = WRAPPER_UPDATES if isinstance(function, FUNCTIONS) else ()
    decorate: Any = wraps(function, WRAPPER_ASSIGNMENTS, updated)  # type: ignore[arg-type]  # any callable
    return decorate  # type: ignore[no-any-return]  # it returns what it is given


def transformation(transform: C) -> C:
    """Let a transformation take a `staticmethod` or a `classmethod` as well.

    The function inside is transformed, so decorators may stand in either order.
    """

    @answering_keywords
    @wraps(transform)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        if args and isinstance(args[0], staticmethod | classmethod):
            inside = transform(args[0].__func__, *args[1:], **keywords)
            return type(args[0])(inside)
        return transform(*args, **keywords)

    return wrapper  # type: ignore[return-value]  # the same signature


def name_of(function: object) -> str:
    """Return a function's name, or the name of a callable object's class."""
    return getattr(function, "__name__", None) or type(function).__name__


class Variables:
    """Arguments whose differentiable leaves are replaced by variables.

    Attributes:
        arguments: the arguments to call the function with.
        nodes: the variables in order.
        complex: whether each variable holds complex numbers as pairs.
    """

    def __init__(self, name: str, arguments: Sequence[Any]) -> None:
        """Make the variables.

        Raises:
            TransformError: an argument is a number or tensor without a derivative.
        """
        self.nodes: list[Node] = []
        self.complex: list[bool] = []
        self._slots: list[list[bool]] = []
        self._structures: list[tree.Structure] = []
        self.arguments: list[Any] = []
        provenance = None if has_variables() else open_provenance()
        trees = [tree.flatten(argument) for argument in arguments]
        given = [leaf for leaves, _ in trees for leaf in leaves]
        _begin_step(given)
        device = device_of(*given)
        for argument, (leaves, structure) in zip(arguments, trees, strict=True):
            created = [
                leaf if slot.is_constant else _leaf(leaf, device)
                for leaf, slot in zip(leaves, structure.slots(), strict=True)
            ]
            slots = [isinstance(leaf, _Variable) for leaf in created]
            if structure is tree.LEAF and not slots[0]:
                raise TransformError(_refusal(name, argument))
            variables = [leaf for leaf in created if isinstance(leaf, _Variable)]
            self.nodes += [leaf.node for leaf in variables]
            self.complex += [leaf.is_complex for leaf in variables]
            self._slots.append(slots)
            self._structures.append(structure)
            plain = [m.tensor() if isinstance(m, _Variable) else m for m in created]
            self.arguments.append(_rebuilt(argument, structure, iter(plain), {}))
        if provenance is not None:
            provenance.variables.update(self.nodes)
        if not self.nodes:
            raise TransformError(
                f"{name}: the arguments hold no floats to differentiate by; make them "
                "tensors of floats, with astype(tw.float32) for example."
            )

    def tensors(self, nodes: Sequence[Node]) -> list[Tensor]:
        """Return nodes, one per variable, as tensors, complex if the variable is."""
        return [wrap(*value) for value in zip(nodes, self.complex, strict=True)]

    def trees(self, values: Sequence[Any]) -> list[Any]:
        """Return values, one per variable, as trees like the arguments.

        Leaves without a derivative are None.
        """
        remaining = iter(values)
        return [
            tree.unflatten(
                structure, [next(remaining) if slot else None for slot in slots]
            )
            for structure, slots in zip(self._structures, self._slots, strict=True)
        ]

    def leaves(self, name: str, trees: Sequence[Any]) -> list[Node]:
        """Return the nodes of trees like the arguments, one per variable.

        Raises:
            TransformError: a tree or a tensor does not match.
        """
        results = []
        variables = iter(self.tensors(self.nodes))
        for structure, slots, value in zip(
            self._structures, self._slots, trees, strict=True
        ):
            leaves, other = tree.flatten(value)
            if other != structure:
                raise TransformError(
                    f"{name}: the argument is {structure} and what goes with it is "
                    f"{other}; give a tree of the same structure."
                )
            for leaf, slot in zip(leaves, slots, strict=True):
                if slot:
                    results.append(matching(name, leaf, next(variables).node))
        return results


def _begin_step(leaves: Sequence[Any]) -> None:
    """Evaluate the arguments of the outermost derivative.

    In a training loop they are the pending results of the iteration before.
    """
    if not has_variables():
        with recording_paused(is_outermost=True):
            end_step([pair_of(leaf.node) for leaf in leaves if is_float(leaf)])


def _rebuilt(
    value: Any, structure: tree.Structure, leaves: Iterator[Any], known: dict[int, Any]
) -> Any:
    """Return a tree with other leaves; subtrees without new leaves are reused.

    So the function may change them: a random generator advances. `known` maps the `id`
    of old leaves to new ones.
    """
    if tree.is_setting(structure):
        return value
    if tree.is_shared(structure):
        return known[id(value)]
    before = tree.children(value)
    if before is None:
        known[id(value)] = result = next(leaves)
        return result
    pairs = zip(before, structure.parts, strict=True)
    parts = [_rebuilt(each, part, leaves, known) for each, part in pairs]
    if all(new is old for new, old in zip(parts, before, strict=True)):
        return value
    flat = tuple([p if tree.is_setting(p) else tree.LEAF for p in structure.parts])
    others = [p for p, s in zip(parts, flat, strict=True) if s is tree.LEAF]
    return tree.unflatten(tree.Structure(structure.kind, structure.names, flat), others)


def is_float(leaf: Any) -> bool:
    """Whether a leaf is a floating-point or complex tensor, which is differentiable."""
    return isinstance(leaf, TensorBase) and leaf.node.dtype.kind in FLOWING


def is_complex(leaf: TensorBase) -> bool:
    """Whether a tensor is complex; then its pairs of floats are differentiated."""
    return leaf.node.dtype.kind == "complex"


def wrap(node: Node, as_complex: bool) -> Tensor:
    """Return a node as a tensor, pairs as a complex one."""
    return Tensor(complex_of(node) if as_complex else node)


class _Variable:
    """A variable that has not been wrapped in a tensor yet."""

    __slots__ = ("is_complex", "node")

    def __init__(self, node: Node, is_complex: bool) -> None:
        self.node = node
        self.is_complex = is_complex

    def tensor(self) -> Tensor:
        """Return the tensor that is passed to the function."""
        return wrap(self.node, self.is_complex)


def _leaf(leaf: Any, device: str | None) -> Any:
    """Return a variable for a float or floating-point tensor, else the leaf itself."""
    if isinstance(leaf, float | complex) and not isinstance(leaf, int):
        leaf = asarray(leaf, device=device)
    if not isinstance(leaf, TensorBase) and hasattr(leaf, "__array__"):
        leaf = asarray(leaf, device=device)
    if is_float(leaf):
        node = alias(pair_of(leaf.node))
        add_variable(node)
        return _Variable(node, is_complex(leaf))
    return leaf


def _refusal(name: str, argument: Any) -> str:
    """Return the error message for an argument that is not differentiable."""
    if isinstance(argument, TensorBase):
        return (
            f"{name}: the argument is {argument.node.dtype} of shape "
            f"{argument.node.shape}, and only floats have derivatives; convert it with "
            "astype(tw.float32), or name other arguments in argnums."
        )
    if isinstance(argument, int):
        return (
            f"{name}: the argument is the integer {argument}, and only floats have "
            f"derivatives; write {argument}.0, or name other arguments in argnums."
        )
    return (
        f"{name}: an argument of type {type(argument).__name__} has no derivative; "
        "give tensors of floats or trees of them, or name other arguments in argnums."
    )


def matching(name: str, value: Any, node: Node) -> Node:
    """Return a value as a node; it must match another node's shape, dtype and device.

    A complex value is returned as pairs.

    Raises:
        TransformError: it does not match.
    """
    tensor = value if isinstance(value, TensorBase) else None
    if tensor is None:
        if value is None:
            raise TransformError(f"{name}: None stands where a tensor is needed.")
        tensor = asarray(value, dtype=node.dtype, device=node.device)
    other = tensor.node
    if (other.shape, other.dtype, other.device) != (
        node.shape,
        node.dtype,
        node.device,
    ):
        raise TransformError(
            f"{name}: {other.dtype} of shape {other.shape} on {other.device!r} does "
            f"not match {node.dtype} of shape {node.shape} on {node.device!r}; "
            "give it the same shape, dtype and device."
        )
    return pair_of(other)
