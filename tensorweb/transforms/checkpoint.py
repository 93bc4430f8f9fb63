"""`checkpoint`: recompute a function's intermediate values in the backward pass.

Only the arguments are retained. The result has a custom vjp rule, which runs the
function again when the cotangent arrives.

Source: T. Chen, B. Xu, C. Zhang, C. Guestrin, Training deep nets with sublinear memory
cost, 2016, https://arxiv.org/abs/1604.06174.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from tensorweb import tree
from tensorweb.errors import TransformError
from tensorweb.evaluate import realize
from tensorweb.graph.autograd import (
    Leaf,
    add_variable,
    discard_history,
    inputs_of,
    is_differentiating,
    is_variable,
    reaches_leaf,
    recording_history,
    set_rule,
)
from tensorweb.graph.node import Node, like, pair_of
from tensorweb.graph.tracing import is_tracing, repeating
from tensorweb.nodes.movement import alias
from tensorweb.tensor import Tensor
from tensorweb.transforms.backward import BackwardPass
from tensorweb.transforms.inputs import (
    is_float,
    name_of,
    transformation,
    wraps_function,
)

P = ParamSpec("P")
R = TypeVar("R")


@transformation
def checkpoint(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function whose derivatives recompute its intermediate values.

    Args:
        function: takes tensors or trees of them. It runs again in each backward pass
            and must then compute the same results; its results are its only effect.
            Tensors that it captures are differentiated as well.

    Returns:
        A function of the same arguments with the same results and derivatives.
        Intermediate values are not retained. Results are evaluated at once, so that
        intermediate values can be freed, except inside of `jit` and `vmap`.

    Raises:
        TransformError: the second run returned another structure.
        TraceError: the function draws from a generator, whose numbers would then
            differ.

    >>> f = checkpoint(lambda x: tw.sin(x) * x)
    >>> tw.grad(lambda x: f(f(x)))(0.0)
    tensor(0.)
    """

    @wraps_function(function)
    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        return _Call(function, arguments, keywords).result()

    return wrapped


class _Call:
    """One call of the function, which can be repeated."""

    def __init__(
        self, function: Callable[..., Any], arguments: object, keywords: object
    ) -> None:
        self._function = function
        self._leaves, self._structure = tree.flatten((arguments, keywords))
        floats = [leaf for leaf in self._leaves if is_float(leaf)]
        self._floats = [pair_of(leaf.node) for leaf in floats]
        self._captured: list[Node] = []

    def _run(self) -> tuple[list[Node], list[Any], tree.Structure]:
        """Run the function on new variables; return these and the flattened result."""
        variables = [alias(node) for node in self._floats]
        for node in variables:
            add_variable(node, is_taken=False)
        remaining = iter(variables)
        arguments = [
            Tensor(like(x.node, next(remaining))) if is_float(x) else x
            for x in self._leaves
        ]
        positional, named = tree.unflatten(self._structure, arguments)
        with repeating(name_of(self._function)):
            return variables, *tree.flatten(self._function(*positional, **named))

    def result(self) -> Any:
        """Run the function, and attach the recomputing rule to its results."""
        variables, results, structure = self._run()
        nodes = [pair_of(value.node) for value in results if is_float(value)]
        if not is_differentiating() and not any(reaches_leaf(node) for node in nodes):
            return tree.unflatten(structure, results)
        self._captured, between = _between(nodes, variables)
        for node in between:
            discard_history(node)
        _compute(nodes)
        inputs = (*self._floats, *self._captured)
        for index, value in enumerate(results):
            if is_float(value):
                created = alias(pair_of(value.node))
                set_rule(created, inputs, self._rule(index, structure))
                results[index] = Tensor(like(value.node, created))
        return tree.unflatten(structure, results)

    def _rule(
        self, index: int, structure: tree.Structure
    ) -> Callable[[Node], tuple[Node | None, ...]]:
        """Return the vjp rule of one result, which runs the function again."""

        def back(cotangent: Node) -> tuple[Node | None, ...]:
            _compute([cotangent])
            with recording_history():
                variables, results, same = self._run()
                if same != structure:
                    raise TransformError(
                        f"checkpoint: {name_of(self._function)} returned {structure} "
                        f"at first, and {same} when it ran again; it must do the same."
                    )
                node = pair_of(results[index].node)
                backward_pass = BackwardPass([node], [*variables, *self._captured])
                result = backward_pass.vjp([node], [cotangent])
            del backward_pass, node, results, variables
            _compute(result)
            return tuple(result)

        return back


def _compute(nodes: Sequence[Node]) -> None:
    """Evaluate nodes, so that intermediate values can be freed, except in a trace."""
    if not is_tracing():
        realize(nodes)


def _between(
    results: Sequence[Node], variables: Sequence[Node]
) -> tuple[list[Node], list[Node]]:
    """Return captured variables, and the nodes between `variables` and `results`.

    Captured variables are outer variables and leaves that results depend on directly.
    The intermediate nodes are those whose history is freed.
    """
    inside: dict[Node, bool] = dict.fromkeys(variables, True)
    captured: list[Node] = []
    pending: dict[Node, tuple[Node, ...]] = {}
    stack = list(results)
    while stack:
        node = stack[-1]
        inputs = pending.pop(node, None)
        if node in inside:
            stack.pop()
        elif inputs is not None:
            inside[node] = any(inside[operand] for operand in inputs)
            stack.pop()
        elif type(node.history) is Leaf or is_variable(node):
            captured.append(node)
            inside[node] = False
        elif read := inputs_of(node):
            pending[node] = read
            stack += [value for value in read if value not in inside]
        else:
            inside[node] = False
    own = set(variables)
    return captured, [
        node for node, is_in in inside.items() if is_in and node not in own
    ]
