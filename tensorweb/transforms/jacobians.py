"""Jacobians and Hessians: `jacrev`, `jacfwd`, `hessian`.

The function runs once. Only the linear map (vjp or jvp) is batched over the unit
vectors, so `if` on values works inside. Complex numbers are handled as pairs of real
parts; the derivatives of both parts by both parts are one complex number only if the
function is holomorphic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, overload

from tensorweb.errors import TransformError
from tensorweb.functions import conj, eye, moveaxis
from tensorweb.graph.autograd import recording_history
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.tracing import Placeholder, tracing
from tensorweb.nodes.complex_parts import join_parts
from tensorweb.nodes.movement import reshape
from tensorweb.nodes.selection import pad
from tensorweb.tensor import Tensor
from tensorweb.transforms.gradients import (
    Argnums,
    DifferentiatedCall,
    Gradient,
    Hessian,
    argument_numbers,
)
from tensorweb.transforms.inputs import transformation, wraps_function
from tensorweb.transforms.rules.batch import batched, dependent_nodes

P = ParamSpec("P")


class _UnitVectors:
    """The unit vectors of the concatenation of some nodes.

    Attributes:
        nodes: floating-point nodes, pairs where numbers are complex.
        step: 1 if every element has a unit vector, 2 if only real parts have one.
    """

    def __init__(self, nodes: Sequence[Node], step: int) -> None:
        self.nodes = nodes
        self.step = step
        self._counts = [node.size // step for node in nodes]

    def components(self) -> list[Node]:
        """Return each node's components of all unit vectors, stacked along axis 0."""
        before, components = 0, []
        total = sum(self._counts)
        for node, count in zip(self.nodes, self._counts, strict=True):
            identity = eye(node.size, dtype=node.dtype, device=node.device)
            zero = constant(0, node.dtype, node.device)
            widths = [(before, total - before - count), (0, 0)]
            rows = pad(identity[:: self.step].node, widths, zero)
            components.append(reshape(rows, (total, *node.shape)))
            before += count
        return components

    def mapped(self, function: Callable[[list[Node]], list[Node]]) -> list[Tensor]:
        """Apply a linear map to every unit vector; return the stacked results."""
        placeholders = [
            leaf(Placeholder(), n.shape, n.dtype, n.device) for n in self.nodes
        ]
        with tracing("the function", {}, "vmap"):
            results = function(placeholders)
        batch = dict(zip(placeholders, self.components(), strict=True))
        order = dependent_nodes(results, placeholders)
        return list(map(Tensor, batched(results, order, batch, sum(self._counts))))

    def cut(self, rows: Tensor, index: int) -> Tensor:
        """Return the rows of the unit vectors of one node."""
        start = sum(self._counts[:index])
        return rows[start : start + self._counts[index]]


def _jacobian(
    name: str,
    function: Callable[..., Any],
    argnums: Argnums,
    holomorphic: bool,
    is_forward: bool,
) -> Any:
    """Return the function that computes the Jacobian by columns or by rows."""

    @wraps_function(function)
    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        chosen = argument_numbers(name, argnums, len(arguments))
        with recording_history():
            call = DifferentiatedCall(name, function, arguments, chosen, keywords)
            _check_complex(name, call, holomorphic)
            nodes = call.variables.nodes if is_forward else call.nodes
            units = _UnitVectors(nodes, 2 if holomorphic else 1)
            stacked = units.mapped(call.forward() if is_forward else call.vjp)

        def part(result: int, variable: int) -> Tensor:
            """Return the derivative of a result by a variable."""
            index, unit = (result, variable) if is_forward else (variable, result)
            rows = units.cut(stacked[index], unit)
            is_complex = (call.complex[result], call.variables.complex[variable])
            if is_complex[0 if is_forward else 1]:
                rows = _from_pairs(rows)
                if not is_forward and holomorphic:
                    rows = conj(rows)
            elif any(is_complex):
                rows = _from_pairs(rows, 0)
            return moveaxis(rows, 0, -1) if is_forward else rows

        return _as_tree(call, part, argnums)

    return wrapped


@overload
def jacrev(
    function: Callable[P, Tensor],
    argnums: Literal[0] = 0,
    *,
    holomorphic: bool = False,
) -> Gradient[P]: ...


@overload
def jacrev(
    function: Callable[P, Any], argnums: Argnums = 0, *, holomorphic: bool = False
) -> Callable[P, Any]: ...


@transformation
def jacrev(
    function: Callable[..., Any], argnums: Argnums = 0, *, holomorphic: bool = False
) -> Any:
    """Return a function that computes the Jacobian in reverse mode, row by row.

    Args:
        function: returns a tree with floating-point tensors.
        argnums: index or indices of the positional arguments to differentiate by, as
            for `grad`.
        holomorphic: whether arguments and results are complex and the function is
            holomorphic; the result is then `df/dz`. Otherwise the derivative of a real
            result by a complex argument is `∂/∂x + i ∂/∂y`, as for `grad`.

    Returns:
        A function of the same arguments. It returns the tree of the result, each tensor
        replaced by a tree like the argument (a tuple of trees for several argnums)
        whose tensors have shape `(*result, *argument)`.

    Raises:
        TransformError: an argument or the result is not differentiable, or both are
            complex without `holomorphic`.

    >>> jacrev(lambda x: x * x)(tw.asarray([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    return _jacobian("jacrev", function, argnums, holomorphic, is_forward=False)


@overload
def jacfwd(
    function: Callable[P, Tensor],
    argnums: Literal[0] = 0,
    *,
    holomorphic: bool = False,
) -> Gradient[P]: ...


@overload
def jacfwd(
    function: Callable[P, Any], argnums: Argnums = 0, *, holomorphic: bool = False
) -> Callable[P, Any]: ...


@transformation
def jacfwd(
    function: Callable[..., Any], argnums: Argnums = 0, *, holomorphic: bool = False
) -> Any:
    """Return a function that computes the Jacobian in forward mode, column by column.

    Arguments and results are those of `jacrev`. The batch has one example per element
    of the arguments, instead of one per element of the results.

    >>> jacfwd(lambda x: x * x)(tw.asarray([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    >>> jacfwd(lambda z: z * z, holomorphic=True)(1 + 2j)
    tensor(2.+4.j, dtype=complex64)
    """
    return _jacobian("jacfwd", function, argnums, holomorphic, is_forward=True)


def _from_pairs(x: Tensor, axis: int | None = None) -> Tensor:
    """Return complex numbers from pairs along the last axis, or along `axis`."""
    pairs = x
    if axis is not None:
        pairs = moveaxis(x.reshape((x.shape[0] // 2, 2, *x.shape[1:])), 1, -1)
    return Tensor(join_parts(pairs[..., 0].node, pairs[..., 1].node))


def _check_complex(name: str, call: DifferentiatedCall, holomorphic: bool) -> None:
    """Raise if `holomorphic` does not fit the arguments' and results' dtypes."""
    kinds = {*call.variables.complex, *call.complex}
    if holomorphic and False in kinds:
        raise TransformError(
            f"{name}: with holomorphic=True all arguments and results are complex, and "
            "one is real here; leave it out, or convert with astype(tw.complex64)."
        )
    if not holomorphic and True in call.variables.complex and True in call.complex:
        raise TransformError(
            f"{name}: an argument and a result are complex, and its derivatives are "
            "those of both parts by both parts. If the function is holomorphic, made "
            "of z and not of its conjugate, parts or size, say holomorphic=True; else "
            "write it as a function of real parts, or take vjp or jvp."
        )


def _as_tree(
    call: DifferentiatedCall, part: Callable[[int, int], Tensor], argnums: Argnums
) -> Any:
    """Return the derivatives as a tree like the result of trees like the arguments."""
    derivatives = []
    variables = call.variables.tensors(call.variables.nodes)
    for row, result in enumerate(call.tensors(call.nodes)):
        shaped = [
            part(row, column).reshape((*result.shape, *variable.shape))
            for column, variable in enumerate(variables)
        ]
        trees = call.variables.trees(shaped)
        derivatives.append(trees[0] if isinstance(argnums, int) else tuple(trees))
    return call.in_slots(derivatives)


@overload
def hessian(
    function: Callable[P, Tensor],
    argnums: Literal[0] = 0,
    *,
    holomorphic: bool = False,
) -> Hessian[P]: ...


@overload
def hessian(
    function: Callable[P, Any], argnums: Argnums = 0, *, holomorphic: bool = False
) -> Callable[P, Any]: ...


@transformation
def hessian(
    function: Callable[..., Any], argnums: Argnums = 0, *, holomorphic: bool = False
) -> Any:
    """Return a function that computes the Hessian: `jacfwd` of `jacrev`.

    >>> hessian(lambda x: (x**3).sum())(tw.asarray([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    rows = jacrev(function, argnums, holomorphic=holomorphic)
    return jacfwd(rows, argnums, holomorphic=holomorphic)
