"""Custom derivatives: `custom_vjp`, `custom_jvp`, `stop_gradient`.

Nodes of the result are marked with the custom rule, which the backward pass uses
instead of the rules of the operations.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ParamSpec, TypeVar

from tensorweb import tree
from tensorweb.errors import TransformError
from tensorweb.graph.autograd import (
    add_variable,
    is_differentiating,
    numbers_allowed,
    reaches_leaf,
    recording_history,
    set_rule,
)
from tensorweb.graph.node import Node, like, pair_of
from tensorweb.graph.provenance import open_provenance
from tensorweb.nodes.movement import alias, stopped
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.transforms.backward import BackwardPass
from tensorweb.transforms.inputs import (
    is_float,
    matching,
    transformation,
    wraps_function,
)
from tensorweb.transforms.rules.rule import ones, zeros

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def stop_gradient(value: T) -> T:
    """Return a tree whose tensors are constants for differentiation.

    >>> tw.grad(lambda x: x * stop_gradient(x))(3.0)
    tensor(3.)
    """

    def leaf(x: Any) -> Any:
        if not isinstance(x, TensorBase) or not is_followed([x]):
            return x
        return Tensor(stopped(x.node))

    result: T = tree.map(leaf, value)
    return result


@transformation
def custom_vjp(
    function: Callable[P, R],
    forward: Callable[..., tuple[Any, Any]] | None = None,
    backward: Callable[..., Sequence[Any]] | None = None,
    *,
    nondiff_argnums: Sequence[int] = (),
) -> Callable[P, R]:
    """Return a function with a custom vjp rule.

    Without a rule it is defined later, as in JAX: `f.defvjp(forward, backward)`.

    Args:
        function: takes positional arguments; runs where nothing is differentiated.
        forward: takes the same arguments; returns `(result, residuals)`. It may compute
            with NumPy and other libraries: `x.numpy()` is allowed here. It may call the
            function itself.
        backward: takes the residuals and a tree of cotangents like the result; returns
            one cotangent per argument, None where there is none.
        nondiff_argnums: positions of arguments without derivative, such as functions.
            `backward` takes them first, and returns no cotangents for them.

    Returns:
        A function of the same arguments. Values that `forward` captures have no
        derivative.

    Raises:
        TransformError: `backward` returned another number of cotangents or another
            structure.

    >>> clipped = custom_vjp(
    ...     lambda x: x, lambda x: (x, None), lambda _, g: (tw.clip(g, -1.0, 1.0),)
    ... )
    >>> tw.grad(lambda x: 5 * clipped(x))(2.0)
    tensor(1.)
    """
    if forward is None or backward is None:
        later: Any = _RuleLater(function, "defvjp", custom_vjp, nondiff_argnums)
        return later  # type: ignore[no-any-return]  # it is called as the function
    open_calls: list[None] = []

    @wraps_function(function)
    def wrapped(*arguments: Any) -> Any:
        constants, free = _divided("custom_vjp", arguments, nondiff_argnums)
        if not is_followed(tree.leaves(free)):
            return function(*arguments)  # type: ignore[call-arg]  # its own

        def computed() -> tuple[Any, Any]:
            with numbers_allowed(1), _noted(open_calls):
                return forward(*arguments)

        def pulled(needed: Any, cotangents: Any) -> Sequence[Any]:
            value = backward(*constants, needed, cotangents)
            if not isinstance(value, tuple | list) or len(value) != len(free):
                raise TransformError(
                    f"custom_vjp: backward returned {_count(value)} for "
                    f"{len(free)} arguments; return a tuple with a cotangent, or "
                    "None, for each."
                )
            return value

        if open_calls:
            result: Any = function(*arguments)  # type: ignore[call-arg]  # its own
            return _marked(result, free, lambda given: pulled(computed()[1], given))
        result, needed = computed()
        return _marked(result, free, partial(pulled, needed))

    return wrapped  # type: ignore[return-value]  # the same signature


@transformation
def custom_jvp(
    function: Callable[P, R],
    rule: Callable[..., tuple[Any, Any]] | None = None,
    *,
    nondiff_argnums: Sequence[int] = (),
) -> Callable[P, R]:
    """Return a function with a custom jvp rule.

    Without a rule it is defined later, as in JAX: `f.defjvp(rule)`.

    Args:
        function: takes positional arguments that are floating-point tensors or trees of
            them.
        rule: takes the arguments and one tangent per argument; returns `(result,
            tangent)`, where the tangent is linear in the tangents. The vjp is derived
            from it. It may call the function itself.
        nondiff_argnums: positions of arguments without derivative, such as functions.
            `rule` takes them first.

    Raises:
        TransformError: result and tangent of the rule differ in structure.

    >>> log1p = custom_jvp(
    ...     lambda x: tw.log(1 + x),
    ...     lambda x, t: (tw.log(1 + x[0]), t[0] / (1 + x[0])),
    ... )
    >>> tw.grad(log1p)(1.0)
    tensor(0.5)
    """
    if rule is None:
        later: Any = _RuleLater(function, "defjvp", custom_jvp, nondiff_argnums)
        return later  # type: ignore[no-any-return]  # it is called as the function
    open_calls: list[None] = []

    @wraps_function(function)
    def wrapped(*arguments: Any) -> Any:
        constants, free = _divided("custom_jvp", arguments, nondiff_argnums)
        if not is_followed(tree.leaves(free)):
            return function(*arguments)  # type: ignore[call-arg]  # its own

        def linearized() -> tuple[Any, Callable[[Any], Sequence[Any]]]:
            with _noted(open_calls):
                return _linearized(partial(rule, *constants), free)

        if open_calls:
            result: Any = function(*arguments)  # type: ignore[call-arg]  # its own
            return _marked(result, free, lambda given: linearized()[1](given))
        result, pulled = linearized()
        return _marked(result, free, pulled)

    return wrapped  # type: ignore[return-value]  # the same signature


def _linearized(
    rule: Callable[[Sequence[Any], Sequence[Any]], tuple[Any, Any]],
    arguments: tuple[Any, ...],
) -> tuple[Any, Callable[[Any], Sequence[Any]]]:
    """Return the result of a jvp rule, and the vjp that follows from it."""
    leaves, structure = tree.flatten(arguments)
    floats = [leaf for leaf in leaves if is_float(leaf)]
    units = [alias(alias(ones(pair_of(leaf.node)))) for leaf in floats]
    remaining = iter(units)
    tangents = [
        Tensor(like(leaf.node, next(remaining))) if is_float(leaf) else leaf
        for leaf in leaves
    ]
    with recording_history(), numbers_allowed(1):
        for unit in units:  # Two variables deep: tangents stay tensors.
            add_variable(unit.inputs[0])
            add_variable(unit)
        result, tangent = rule(arguments, tree.unflatten(structure, tangents))
    value, same = tree.flatten(tangent)
    if same != tree.flatten(result)[1]:
        raise TransformError(
            f"custom_jvp: the rule returned {tree.flatten(result)[1]} and the "
            f"tangent {same}; both have the same structure."
        )
    results = [pair_of(leaf.node) for leaf in value if is_float(leaf)]
    backward_pass = BackwardPass(results, units)

    def back(cotangents: Any) -> Sequence[Any]:
        values = [
            pair_of(leaf.node) for leaf in tree.leaves(cotangents) if is_float(leaf)
        ]
        pulled = iter(backward_pass.vjp(results, values))
        parts = [
            Tensor(like(leaf.node, next(pulled))) if is_float(leaf) else None
            for leaf in leaves
        ]
        back_tree: Sequence[Any] = tree.unflatten(structure, parts)
        return back_tree

    return result, back


@contextmanager
def _noted(open_calls: list[None]) -> Iterator[None]:
    """Note that a rule runs, in which the function itself has a value at once.

    Else a rule that calls its function, as those of JAX's guide do, would never end.
    """
    open_calls.append(None)
    try:
        yield
    finally:
        open_calls.pop()


def _divided(
    name: str, arguments: tuple[Any, ...], chosen: Sequence[int]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the chosen arguments of a call, in order, and the others."""
    if not chosen:
        return (), arguments
    numbers = sorted(map(operator.index, chosen))
    if not 0 <= numbers[0] <= numbers[-1] < len(arguments):
        raise TransformError(
            f"{name}: nondiff_argnums={tuple(chosen)} of a call with {len(arguments)} "
            "arguments by position; count them from 0, and give them by position."
        )
    others = [n for n in range(len(arguments)) if n not in numbers]
    return tuple(arguments[n] for n in numbers), tuple(arguments[n] for n in others)


class _RuleLater:
    """A function whose rule a method defines, as in JAX."""

    def __init__(
        self,
        function: Any,
        method: str,
        transform: Any,
        nondiff_argnums: Sequence[int],
    ) -> None:
        wraps_function(function)(self)
        self._call: Any = None

        def define(*rules: Any) -> Any:
            self._call = transform(function, *rules, nondiff_argnums=nondiff_argnums)
            return rules[0]  # as a decorator

        self._method = method
        setattr(self, method, define)

    def __call__(self, *arguments: Any) -> Any:
        if self._call is None:
            name = getattr(self, "__name__", "f")
            raise TransformError(
                f"{name} has no derivative yet; define it with {name}.{self._method}."
            )
        return self._call(*arguments)


def is_followed(values: Sequence[Any]) -> bool:
    """Whether a result computed from these values may be differentiated."""
    is_asked = is_differentiating() or open_provenance() is not None
    return is_asked or any(
        isinstance(value, TensorBase) and reaches_leaf(value.node) for value in values
    )


def _count(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"{len(value)} values"
    return f"a {type(value).__name__}"


def _marked(
    result: Any, arguments: Sequence[Any], rule: Callable[[Any], Sequence[Any]]
) -> Any:
    """Return the result, with a custom vjp rule from it to the arguments."""
    inputs = tuple(
        [pair_of(leaf.node) for leaf in tree.leaves(tuple(arguments)) if is_float(leaf)]
    )
    leaves, structure = tree.flatten(result)

    def rule_of(index: int) -> Callable[[Node], tuple[Node | None, ...]]:
        def back(cotangent: Node) -> tuple[Node | None, ...]:
            parts = [
                _cotangent(leaf, cotangent if n == index else None)
                if is_float(leaf)
                else None
                for n, leaf in enumerate(leaves)
            ]
            value = rule(tree.unflatten(structure, parts))
            return _checked(value, arguments)

        return back

    created = []
    for index, leaf in enumerate(leaves):
        if not is_float(leaf):
            created.append(leaf)
            continue
        node = alias(pair_of(leaf.node))
        set_rule(node, inputs, rule_of(index))
        created.append(Tensor(like(leaf.node, node)))
    return tree.unflatten(structure, created)


def _cotangent(leaf: TensorBase, node: Node | None) -> Tensor:
    """Return the cotangent of a result as a tensor, zeros for None."""
    return Tensor(like(leaf.node, node or zeros(pair_of(leaf.node))))


def _checked(found: Sequence[Any], arguments: Sequence[Any]) -> tuple[Node | None, ...]:
    """Return a rule's cotangents, a node or None per floating-point tensor."""
    nodes: list[Node | None] = []
    for part, argument in zip(found, arguments, strict=True):
        expected, structure = tree.flatten(argument)
        if part is None:
            nodes += [None] * sum(is_float(leaf) for leaf in expected)
            continue
        cotangents, same = tree.flatten(part)
        if same != structure:
            raise TransformError(
                f"custom_vjp: an argument is {structure} and its cotangent {same}; "
                "return a tree of the same structure, or None."
            )
        for leaf, value in zip(expected, cotangents, strict=True):
            if is_float(leaf):
                is_none = value is None
                nodes.append(
                    None if is_none else matching("custom_vjp", value, leaf.node)
                )
    return tuple(nodes)
