"""Derivatives of functions: `grad`, `value_and_grad`, `vjp`, `jvp`, `linearize`.

The function runs once, on ordinary tensors: `print`, `if` and loops that depend on
values work inside. The backward pass then traverses its graph. Its result is a graph
again, so transformations nest in any order, and `jit` records them. See
docs/guide/gradients.md.

Sources: A. Griewank and A. Walther, Evaluating Derivatives, 2nd ed., SIAM 2008; A. G.
Baydin et al., Automatic differentiation in machine learning: a survey, JMLR 18 (2018).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar, overload

from tensorweb import tree
from tensorweb.errors import TransformError
from tensorweb.graph.autograd import (
    add_variable,
    is_differentiating,
    recording_history,
    recording_paused,
)
from tensorweb.graph.node import Node, pair_of
from tensorweb.nodes.movement import alias
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.transforms.backward import BackwardPass
from tensorweb.transforms.inputs import (
    Variables,
    is_complex,
    is_float,
    matching,
    name_of,
    transformation,
    wrap,
    wraps_function,
)
from tensorweb.transforms.rules.rule import ones

P = ParamSpec("P")
Q = ParamSpec("Q")
X = TypeVar("X")
Aux = TypeVar("Aux", covariant=True)


class Gradient(Protocol[P]):
    """A function that returns a gradient of the type of its first argument."""

    def __call__(
        self: Gradient[Concatenate[X, Q]], x: X, /, *args: Q.args, **keywords: Q.kwargs
    ) -> X:
        """Return the gradient."""
        ...


class GradientWith(Protocol[P, Aux]):
    """A function that returns a gradient and an auxiliary value."""

    def __call__(
        self: GradientWith[Concatenate[X, Q], Aux],
        x: X,
        /,
        *args: Q.args,
        **keywords: Q.kwargs,
    ) -> tuple[X, Aux]:
        """Return the gradient and the auxiliary value."""
        ...


class ValueWithGradient(Protocol[P, Aux]):
    """A function that returns a value and a gradient."""

    def __call__(
        self: ValueWithGradient[Concatenate[X, Q], Aux],
        x: X,
        /,
        *args: Q.args,
        **keywords: Q.kwargs,
    ) -> tuple[Aux, X]:
        """Return the value and the gradient."""
        ...


class Hessian(Protocol[P]):
    """A function that returns a tensor for a tensor, and a tree of trees for a tree."""

    @overload
    def __call__(
        self: Hessian[Concatenate[Tensor, Q]],
        x: Tensor,
        /,
        *args: Q.args,
        **keywords: Q.kwargs,
    ) -> Tensor: ...

    @overload
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> Any: ...


R = TypeVar("R")
A = TypeVar("A")

Argnums = int | Sequence[int]


class DifferentiatedCall:
    """One run of a function on variables.

    Attributes:
        variables: the variables to differentiate by.
        result: the tree that the function returned, without the auxiliary value of
            `has_aux`.
        auxiliary: the auxiliary value.
        nodes: the floating-point tensors of the result in order, complex ones as pairs.
        complex: whether each of these is complex.
        backward_pass: the graph from these nodes to the variables.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        chosen: Sequence[int],
        keywords: Mapping[str, Any],
        has_aux: bool = False,
    ) -> None:
        """Run the function; a history must be open.

        Raises:
            TransformError: an argument or the result is not differentiable.
        """
        self.variables = Variables(name, [arguments[number] for number in chosen])
        values = list(arguments)
        for number, argument in zip(chosen, self.variables.arguments, strict=True):
            values[number] = argument
        result = function(*values, **keywords)
        self.auxiliary = None
        if has_aux:
            if not isinstance(result, tuple) or len(result) != 2:
                raise TransformError(
                    f"{name}: with has_aux the function returns a pair, what is "
                    f"differentiated and what comes along; it returned a "
                    f"{type(result).__name__}."
                )
            result, self.auxiliary = result
        self.result = result
        leaves, self._structure = tree.flatten(result)
        self._slots = [is_float(leaf) for leaf in leaves]
        floats = [leaf for leaf in leaves if is_float(leaf)]
        self.nodes: list[Node] = [pair_of(leaf.node) for leaf in floats]
        self.complex = [is_complex(leaf) for leaf in floats]
        if not self.nodes:
            raise TransformError(
                f"{name}: {name_of(function)} returned {_described(leaves)}, and only "
                "tensors of floats have derivatives; return one, with "
                "astype(tw.float32) for example."
            )
        self.backward_pass = BackwardPass(self.nodes, self.variables.nodes)

    def vjp(self, cotangents: Sequence[Node]) -> list[Node]:
        """Return the variables' cotangents, zeros for unused variables."""
        return self.backward_pass.vjp(self.nodes, cotangents)

    def forward(self) -> Callable[[Sequence[Node]], list[Node]]:
        """Return the push-forward (jvp) of this call.

        The vjp is linear in its cotangents, so the jvp is the vjp of the vjp with
        respect to the cotangents. A history must be open.
        """
        cotangents = [alias(ones(node)) for node in self.nodes]
        for cotangent in cotangents:
            add_variable(cotangent)
        pulled = self.vjp(cotangents)
        backward_pass = BackwardPass(pulled, cotangents)
        return lambda tangents: backward_pass.vjp(pulled, tangents)

    def like_result(self, name: str, value: Any) -> list[Node]:
        """Return the nodes of a tree like the result, one per floating-point tensor."""
        leaves, structure = tree.flatten(value)
        if structure != self._structure:
            raise TransformError(
                f"{name}: the function returned {self._structure} and its cotangent is "
                f"{structure}; give a tree of the same structure."
            )
        selected = [
            leaf for leaf, slot in zip(leaves, self._slots, strict=True) if slot
        ]
        return [
            matching(name, leaf, tensor.node)
            for leaf, tensor in zip(selected, self.tensors(self.nodes), strict=True)
        ]

    def tensors(self, nodes: Sequence[Node]) -> list[Tensor]:
        """Return nodes, one per floating-point result, as real or complex tensors."""
        return [wrap(*value) for value in zip(nodes, self.complex, strict=True)]

    def in_slots(self, values: Sequence[Any]) -> Any:
        """Return a tree like the result with these values for its floats, else None."""
        remaining = iter(values)
        return tree.unflatten(
            self._structure, [next(remaining) if slot else None for slot in self._slots]
        )


def _described(leaves: Sequence[Any]) -> str:
    if not leaves:
        return "nothing"
    first = leaves[0]
    if isinstance(first, TensorBase):
        return f"a tensor of {first.node.dtype}"
    return f"a {type(first).__name__}" if first is not None else "None"


def argument_numbers(name: str, argnums: Argnums, count: int) -> list[int]:
    """Return the indices of the arguments, none of them negative.

    Raises:
        TransformError: there is no such argument, or one is named twice.
    """
    requested = [argnums] if isinstance(argnums, int) else list(argnums)
    indices = [number + count if number < 0 else number for number in requested]
    for number, named in zip(indices, requested, strict=True):
        if not 0 <= number < count:
            raise TransformError(
                f"{name}: argnums names argument {named}, and the call has {count} "
                "positional ones; pass it by position, or name another."
            )
    if len(set(indices)) < len(indices):
        raise TransformError(
            f"{name}: argnums {argnums} names an argument twice; name each once."
        )
    return indices


@overload
def value_and_grad(
    function: Callable[P, R], argnums: Literal[0] = 0, *, has_aux: bool = False
) -> ValueWithGradient[P, R]: ...


@overload
def value_and_grad(
    function: Callable[P, R], argnums: Sequence[int], *, has_aux: bool = False
) -> Callable[P, tuple[R, tuple[Any, ...]]]: ...


@overload
def value_and_grad(
    function: Callable[P, R], argnums: Argnums, *, has_aux: bool = False
) -> Callable[..., tuple[R, Any]]: ...


@transformation
def value_and_grad(
    function: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False
) -> Any:
    """Return a function that computes a scalar function's value and its gradient.

    Args:
        function: returns one 0-d floating-point tensor; with `has_aux` a pair of that
            tensor and any auxiliary value.
        argnums: index or indices of the positional arguments to differentiate by. An
            argument may be a floating-point tensor, a float, or a tree of them.
        has_aux: whether the function returns `(value, auxiliary)`.

    Returns:
        A function of the same arguments that returns `(value, gradient)`. The gradient
        has the argument's structure, shapes and dtypes, with None for leaves that are
        not floats; for several argnums it is a tuple.

    Raises:
        TransformError: the result is not a 0-d floating-point tensor, or an argument is
            not differentiable.

    >>> value_and_grad(lambda x: (x * x).sum())(tw.asarray([1.0, 2.0, 3.0]))
    (tensor(14.), tensor([2., 4., 6.]))
    """

    @wraps_function(function)
    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        chosen = argument_numbers("grad", argnums, len(arguments))
        is_outermost = not is_differentiating()
        with recording_history():
            call = DifferentiatedCall(
                "grad", function, arguments, chosen, keywords, has_aux
            )
            if (
                not isinstance(call.result, TensorBase)
                or call.result.node.shape
                or is_complex(call.result)
            ):
                raise TransformError(_refused_result(function, call.result))
            with recording_paused(is_outermost):
                result = call.vjp([ones(call.nodes[0])])
        trees = call.variables.trees(call.variables.tensors(result))
        gradient = trees[0] if isinstance(argnums, int) else tuple(trees)
        value = (call.result, call.auxiliary) if has_aux else call.result
        return value, gradient

    return wrapped


def _refused_result(function: Callable[..., Any], result: Any) -> str:
    name = name_of(function)
    if isinstance(result, TensorBase) and is_complex(result):
        return (
            f"grad: {name} returned a complex number, and a gradient is that of a real "
            "one; return its abs(), real or imag, or take vjp with a cotangent."
        )
    if isinstance(result, TensorBase):
        return (
            f"grad: {name} returned shape {result.node.shape}, and a gradient is that "
            "of one number; return sum() or mean() of it, or take vjp with a cotangent."
        )
    return (
        f"grad: {name} returned a {type(result).__name__}, and a gradient is that of "
        "one 0-d tensor; return that alone, has_aux=True lets other values come along."
    )


@overload
def grad(
    function: Callable[P, Tensor],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
) -> Gradient[P]: ...


@overload
def grad(
    function: Callable[P, tuple[Tensor, A]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
) -> GradientWith[P, A]: ...


@overload
def grad(
    function: Callable[P, Tensor],
    argnums: Sequence[int],
    *,
    has_aux: Literal[False] = False,
) -> Callable[P, tuple[Any, ...]]: ...


@overload
def grad(
    function: Callable[P, Any], argnums: Argnums = 0, *, has_aux: bool = False
) -> Callable[P, Any]: ...


@transformation
def grad(
    function: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False
) -> Any:
    """Return a function that computes the gradient of a scalar function.

    Arguments and errors are those of `value_and_grad`. With `has_aux` the result is
    `(gradient, auxiliary)`.

    >>> grad(lambda x: x**3)(2.0)
    tensor(12.)
    >>> grad(grad(lambda x: x**3))(2.0)
    tensor(12.)
    """
    both = value_and_grad(function, argnums, has_aux=has_aux)

    @wraps_function(function)
    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        value, gradient = both(*arguments, **keywords)
        return (gradient, value[1]) if has_aux else gradient

    return wrapped


@overload
def vjp(
    function: Callable[..., R], *primals: Any, has_aux: Literal[False] = False
) -> tuple[R, Callable[[Any], tuple[Any, ...]]]: ...


@overload
def vjp(
    function: Callable[..., tuple[R, A]], *primals: Any, has_aux: Literal[True]
) -> tuple[R, Callable[[Any], tuple[Any, ...]], A]: ...


@overload
def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool) -> Any: ...


def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return a function's result and its vector-Jacobian product function (pullback).

    Args:
        function: takes the primals and returns a tree with floating-point tensors.
        primals: floating-point tensors, floats or trees of them.
        has_aux: whether the function returns `(result, auxiliary)`.

    Returns:
        `(result, pullback)`, and with `has_aux` the auxiliary value. The pullback takes
        a tree of cotangents like the result (any value where the result has no floats)
        and returns a tuple with one tree per primal: the vector-Jacobian products.

    Raises:
        TransformError: a primal or the result is not differentiable, or a cotangent
            does not match the result.

    >>> y, pullback = vjp(lambda x: x * x, tw.asarray([1.0, 2.0, 3.0]))
    >>> pullback(tw.asarray([1.0, 0.0, 10.0]))
    (tensor([ 2.,  0., 60.]),)
    """
    with recording_history():
        call = DifferentiatedCall(
            "vjp", function, primals, range(len(primals)), {}, has_aux
        )

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        result = call.vjp(call.like_result("vjp", cotangent))
        return tuple(call.variables.trees(call.variables.tensors(result)))

    return (
        (call.result, pullback, call.auxiliary) if has_aux else (call.result, pullback)
    )


def linearize(function: Callable[..., R], *primals: Any) -> tuple[R, Callable[..., R]]:
    """Return a function's result and its linear approximation at the primals.

    Returns:
        `(result, push)`. `push` takes one tangent per primal and returns a tree like
        the result: the Jacobian-vector product.

    Raises:
        TransformError: a primal or the result is not differentiable.

    >>> y, push = linearize(lambda x: x * x, tw.asarray([1.0, 2.0, 3.0]))
    >>> push(tw.asarray([1.0, 0.0, 10.0]))
    tensor([ 2.,  0., 60.])
    """
    with recording_history():
        call = DifferentiatedCall(
            "linearize", function, primals, range(len(primals)), {}
        )
        forward = call.forward()

    def push(*tangents: Any) -> Any:
        if len(tangents) != len(primals):
            raise TransformError(
                f"linearize: {len(tangents)} tangents for {len(primals)} primals; give "
                "one for each."
            )
        result = forward(call.variables.leaves("jvp", tangents))
        return call.in_slots(call.tensors(result))

    return call.result, push


def jvp(
    function: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[R, R]:
    """Return a function's result and its directional derivative along tangents.

    Args:
        function: takes the primals and returns a tree with floating-point tensors.
        primals: the point; floating-point tensors, floats or trees of them.
        tangents: the direction, one tree per primal.

    Returns:
        `(result, tangent)`. The tangent is the Jacobian-vector product, None where the
        result has no floats.

    Raises:
        TransformError: a primal or the result is not differentiable, or a tangent does
            not match its primal.

    >>> jvp(lambda x: x.sin(), (0.0,), (2.0,))
    (tensor(0.), tensor(2.))
    """
    result, push = linearize(function, *primals)
    return result, push(*tangents)
