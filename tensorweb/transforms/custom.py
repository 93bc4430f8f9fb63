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
        later: Any = _AwaitingRule(function, "defvjp", custom_vjp, nondiff_argnums)
        return later  # type: ignore[no-any-return]  # it is called as the function
    running_rules: list[None] = []

    @wraps_function(function)
    def wrapped(*arguments: Any) -> Any:
        constants, free = _split_arguments("custom_vjp", arguments, nondiff_argnums)
        if not is_followed(tree.leaves(free)):
            return function(*arguments)  # type: ignore[call-arg]  # its own

        def run_forward() -> tuple[Any, Any]:
            with numbers_allowed(1), _rule_running(running_rules):
                return forward(*arguments)

        def run_backward(residuals: Any, cotangents: Any) -> Sequence[Any]:
            value = backward(*constants, residuals, cotangents)
            if not isinstance(value, tuple | list) or len(value) != len(free):
                raise TransformError(
                    f"custom_vjp: backward returned {_count(value)} for "
                    f"{len(free)} arguments; return a tuple with a cotangent, or "
                    "None, for each."
                )
            return value

        if running_rules:
            result: Any = function(*arguments)  # type: ignore[call-arg]  # its own
            return _with_vjp_rule(
                result,
                free,
                lambda cotangents: run_backward(run_forward()[1], cotangents),
            )
        result, residuals = run_forward()
        return _with_vjp_rule(result, free, partial(run_backward, residuals))

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
        later: Any = _AwaitingRule(function, "defjvp", custom_jvp, nondiff_argnums)
        return later  # type: ignore[no-any-return]  # it is called as the function
    running_rules: list[None] = []

    @wraps_function(function)
    def wrapped(*arguments: Any) -> Any:
        constants, free = _split_arguments("custom_jvp", arguments, nondiff_argnums)
        if not is_followed(tree.leaves(free)):
            return function(*arguments)  # type: ignore[call-arg]  # its own

        def run_rule() -> tuple[Any, Callable[[Any], Sequence[Any]]]:
            with _rule_running(running_rules):
                return _apply_jvp_rule(partial(rule, *constants), free)

        if running_rules:
            result: Any = function(*arguments)  # type: ignore[call-arg]  # its own
            return _with_vjp_rule(
                result, free, lambda cotangents: run_rule()[1](cotangents)
            )
        result, vjp = run_rule()
        return _with_vjp_rule(result, free, vjp)

    return wrapped  # type: ignore[return-value]  # the same signature


def _apply_jvp_rule(
    rule: Callable[[Sequence[Any], Sequence[Any]], tuple[Any, Any]],
    arguments: tuple[Any, ...],
) -> tuple[Any, Callable[[Any], Sequence[Any]]]:
    """Return the result of a jvp rule, and its vjp: the transpose of its tangent map.

    The rule is called with tangents that are variables. Its tangent is linear in them,
    so a backward pass from the tangent to these variables is the vjp.
    """
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

    def vjp(cotangents: Any) -> Sequence[Any]:
        values = [
            pair_of(leaf.node) for leaf in tree.leaves(cotangents) if is_float(leaf)
        ]
        of_floats = iter(backward_pass.vjp(results, values))
        parts = [
            Tensor(like(leaf.node, next(of_floats))) if is_float(leaf) else None
            for leaf in leaves
        ]
        of_arguments: Sequence[Any] = tree.unflatten(structure, parts)
        return of_arguments

    return result, vjp


@contextmanager
def _rule_running(running_rules: list[None]) -> Iterator[None]:
    """Mark that a rule of a function runs, by an entry in the function's list.

    A rule may call its own function, as rules of JAX's guide do. Such a call runs the
    function itself, and the rule only in a backward pass: running the rule at once
    would recurse without end.
    """
    running_rules.append(None)
    try:
        yield
    finally:
        running_rules.pop()


def _split_arguments(
    name: str, arguments: tuple[Any, ...], chosen: Sequence[int]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the arguments at the `chosen` positions of a call, and all others."""
    if not chosen:
        return (), arguments
    positions = sorted(map(operator.index, chosen))
    if not 0 <= positions[0] <= positions[-1] < len(arguments):
        raise TransformError(
            f"{name}: nondiff_argnums={tuple(chosen)} of a call with {len(arguments)} "
            "arguments by position; count them from 0, and give them by position."
        )
    others = [n for n in range(len(arguments)) if n not in positions]
    return tuple(arguments[n] for n in positions), tuple(arguments[n] for n in others)


class _AwaitingRule:
    """A function without a rule yet; its method `defvjp` or `defjvp` defines it."""

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
    is_recorded = is_differentiating() or open_provenance() is not None
    return is_recorded or any(
        isinstance(value, TensorBase) and reaches_leaf(value.node) for value in values
    )


def _count(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"{len(value)} values"
    return f"a {type(value).__name__}"


def _with_vjp_rule(
    result: Any, arguments: Sequence[Any], rule: Callable[[Any], Sequence[Any]]
) -> Any:
    """Return a tree like the result, whose nodes have a custom vjp rule.

    Args:
        result: the tree that the function returned.
        arguments: the arguments that have a derivative.
        rule: maps a tree of cotangents like the result to a cotangent per argument.
    """
    # Each node of the result calls the rule with zeros as the others' cotangents; the
    # backward pass adds what the calls return, since the rule is linear.
    inputs = tuple(
        [pair_of(leaf.node) for leaf in tree.leaves(tuple(arguments)) if is_float(leaf)]
    )
    leaves, structure = tree.flatten(result)

    def rule_of(index: int) -> Callable[[Node], tuple[Node | None, ...]]:
        def node_rule(cotangent: Node) -> tuple[Node | None, ...]:
            cotangents = [
                _cotangent(leaf, cotangent if n == index else None)
                if is_float(leaf)
                else None
                for n, leaf in enumerate(leaves)
            ]
            value = rule(tree.unflatten(structure, cotangents))
            return _cotangent_nodes(value, arguments)

        return node_rule

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


def _cotangent_nodes(
    cotangents: Sequence[Any], arguments: Sequence[Any]
) -> tuple[Node | None, ...]:
    """Return what a rule returned, as a node or None for each tensor of floats.

    Raises:
        TransformError: a cotangent has another structure than its argument.
    """
    nodes: list[Node | None] = []
    for cotangent, argument in zip(cotangents, arguments, strict=True):
        leaves, structure = tree.flatten(argument)
        if cotangent is None:
            nodes += [None] * sum(is_float(leaf) for leaf in leaves)
            continue
        values, returned = tree.flatten(cotangent)
        if returned != structure:
            raise TransformError(
                f"custom_vjp: an argument is {structure} and its cotangent {returned}; "
                "return a tree of the same structure, or None."
            )
        for leaf, value in zip(leaves, values, strict=True):
            if is_float(leaf):
                is_none = value is None
                nodes.append(
                    None if is_none else matching("custom_vjp", value, leaf.node)
                )
    return tuple(nodes)
