"""All derivatives of a result by an argument: `jacrev`, `jacfwd`, `hessian`.

The function runs once; only the way back (or forward) is done for a whole batch of unit
cotangents (or tangents), so that `if` on values works inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from tensorweb.functions import eye
from tensorweb.graph.history import keeping_history
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.tracing import Placeholder, tracing
from tensorweb.nodes.movement import permute, reshape
from tensorweb.nodes.selection import pad
from tensorweb.tensor import Tensor
from tensorweb.transforms.gradients import Argnums, Run, argument_numbers
from tensorweb.transforms.rules.batch import batched, hanging_on


def _units(nodes: Sequence[Node]) -> list[Node]:
    """Return, for each node, the unit vectors of all nodes together, seen from it."""
    sizes = [node.size for node in nodes]
    before, found = 0, []
    for node, size in zip(nodes, sizes, strict=True):
        rows = eye(size, dtype=node.dtype, device=node.device).node
        after = sum(sizes) - before - size
        zero = constant(0, node.dtype, node.device)
        rows = pad(rows, [(before, after), (0, 0)], zero)
        found.append(reshape(rows, (sum(sizes), *node.shape)))
        before += size
    return found


def _linear_rows(
    walk: Callable[[list[Node]], list[Node]], sources: Sequence[Node]
) -> list[Node]:
    """Return what a linear walk makes of every unit vector of its sources, in rows."""
    places = [leaf(Placeholder(), n.shape, n.dtype, n.device) for n in sources]
    with tracing("the function", {}, "vmap"):
        results = walk(places)
    batch = dict(zip(places, _units(sources), strict=True))
    count = sum(node.size for node in sources)
    return batched(results, hanging_on(results, places), batch, count)


def _cut(rows: Node, sources: Sequence[Node], place: int) -> Node:
    """Return the rows that belong to one of the sources."""
    start = sum(node.size for node in sources[:place])
    return Tensor(rows)[start : start + sources[place].size].node


def jacrev(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return a function that gives all first derivatives, row by row of the result.

    Args:
        function: returns a tree with tensors of floats.
        argnums: which positional arguments to differentiate by, as for `grad`.

    Returns:
        A function of the same arguments: the tree of the result, with the tree of the
        argument in each of its places (a tuple of them for several argnums); a tensor
        in it has the shape `(*result, *argument)`.

    Raises:
        TransformError: an argument or the result has no derivative.

    >>> jacrev(lambda x: x * x)(tw.asarray([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @wraps(function)
    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        chosen = argument_numbers("jacrev", argnums, len(arguments))
        with keeping_history():
            run = Run("jacrev", function, arguments, chosen, keywords)
            rows = _linear_rows(run.pull, run.nodes)
        parts = [
            [_cut(row, run.nodes, place) for row in rows]
            for place in range(len(run.nodes))
        ]
        return _as_tree(run, parts, argnums)

    return wrapped


def jacfwd(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return a function that gives all first derivatives, column by column.

    The same as `jacrev`; its batch has an example for each element of the arguments,
    not of the results.

    >>> jacfwd(lambda x: x * x)(tw.asarray([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @wraps(function)
    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        chosen = argument_numbers("jacfwd", argnums, len(arguments))
        with keeping_history():
            run = Run("jacfwd", function, arguments, chosen, keywords)
            variables = run.variables.nodes
            columns = _linear_rows(run.forward(), variables)
        parts = [
            [_turned(_cut(column, variables, place)) for place in range(len(variables))]
            for column in columns
        ]
        return _as_tree(run, parts, argnums)

    return wrapped


def _turned(rows: Node) -> Node:
    """Return rows as columns: the first axis last."""
    return permute(rows, (*range(1, len(rows.shape)), 0))


def _as_tree(run: Run, parts: Sequence[Sequence[Node]], argnums: Argnums) -> Any:
    """Return derivatives, by result and by variable, as a tree of trees."""
    found = []
    for result, row in zip(run.nodes, parts, strict=True):
        shaped = [
            Tensor(reshape(part, (*result.shape, *variable.shape)))
            for part, variable in zip(row, run.variables.nodes, strict=True)
        ]
        trees = run.variables.trees(shaped)
        found.append(trees[0] if isinstance(argnums, int) else tuple(trees))
    return run.in_places(found)


def hessian(function: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return a function that gives all second derivatives: `jacfwd` of `jacrev`.

    >>> hessian(lambda x: (x**3).sum())(tw.asarray([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(function, argnums), argnums)
