"""`loss.backward()` and `no_grad`: automatic differentiation as in PyTorch.

The traversal is that of `grad`. Its variables are the leaves that it finds, and the
graph is freed afterwards unless `retain_graph` is set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ContextDecorator
from types import TracebackType
from typing import Any
from weakref import ref

from tensorweb.errors import TraceError, TransformError
from tensorweb.evaluate import end_step
from tensorweb.graph import autograd
from tensorweb.graph.autograd import (
    USED,
    Leaf,
    custom_rule,
    depends_on_leaf,
    grad_disabled,
    inputs_of,
    is_differentiating,
)
from tensorweb.graph.node import Node, like, pair_of
from tensorweb.graph.op import Op
from tensorweb.graph.tracing import is_tracing, open_trace
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.gradients import register_walk
from tensorweb.transforms.inputs import matching
from tensorweb.transforms.rules import (
    factorizations,
    indexing,
    products,
    reductions,
    structure,
)
from tensorweb.transforms.rules.rule import (
    ELEMENTWISE,
    Rule,
    Step,
    ones,
    plus,
    summed_to,
    zeros,
)

RULES: dict[str, Rule] = {
    **ELEMENTWISE,
    **structure.RULES,
    **reductions.RULES,
    **indexing.RULES,
    **products.RULES,
    **factorizations.RULES,
}
"""Operations without an entry have no inputs."""

READS: dict[str, Callable[[Node], tuple[Node, ...]]] = {
    "matmul": products.before_repeating
}
"""Replaces a node's inputs in the backward pass, where those differ."""


class BackwardPass:
    """The nodes between results and variables, with their inputs.

    The graph is traversed while the history is open; `vjp` may be called later.

    Attributes:
        variables: the nodes whose cotangents are computed.
    """

    def __init__(self, results: Sequence[Node], variables: Sequence[Node]) -> None:
        """Find the nodes that results depend on and that depend on variables."""
        self.variables = tuple(variables)
        self._depends: dict[Node, bool] = dict.fromkeys(variables, True)
        self._steps: list[tuple[Step, Rule]] = []
        self._inputs: dict[Node, tuple[Node, ...]] = {}
        for result in results:
            self._visit(result)

    def _visit(self, result: Node) -> None:
        """Visit all nodes that a result depends on, inputs before consumers."""
        depends, pending = self._depends, self._inputs
        stack = [result]
        while stack:
            node = stack[-1]
            if node in depends:
                stack.pop()
                continue
            inputs = pending.pop(node, None)
            if inputs is not None:
                depending = tuple([depends[item] for item in inputs])
                depends[node] = is_on_way = True in depending
                if is_on_way:
                    self._steps.append((Step(node, inputs, depending), _rule_of(node)))
                stack.pop()
                continue
            inputs = self._inputs_of(node) if node.dtype.kind == "float" else ()
            if inputs:
                pending[node] = inputs
                stack += [operand for operand in inputs if operand not in depends]
            else:
                depends.setdefault(node, False)

    def _inputs_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes whose cotangents the rule of a node computes."""
        return _read_by(node)

    def reaches(self, node: Node) -> bool:
        """Whether a node of the graph depends on a variable."""
        return self._depends.get(node, False)

    def vjp(
        self,
        results: Sequence[Node],
        cotangents: Sequence[Node],
        between: Sequence[Node] = (),
    ) -> list[Node]:
        """Return each variable's cotangent, given the cotangents of results.

        Args:
            results: some of the results of the graph; one that occurs twice counts
                twice.
            cotangents: one per result, of its shape and dtype.
            between: nodes between results and variables whose cotangents are returned
                after those of the variables.

        Returns:
            The cotangents; zeros for a node on which none of these results depends.
        """
        depends = self._depends
        totals: dict[Node, Node] = {}
        kept = frozenset(between)
        parts: dict[Node, list[Node]] = {}
        for node, cotangent in zip(results, cotangents, strict=True):
            if depends.get(node):
                parts.setdefault(node, []).append(cotangent)
        for step, rule in reversed(self._steps):
            arrived = parts.pop(step.node, None)
            if arrived is None:
                continue
            total = _total(step.node, arrived)
            if step.node in kept:
                totals[step.node] = total
            result = rule(step, total)
            for source, is_wanted, part in zip(
                step.inputs, step.needs_cotangent, result, strict=True
            ):
                if is_wanted and part is not None:
                    part = summed_to(part, source.shape)
                    parts.setdefault(source, []).append(part)
        for node in self.variables:
            if node in parts:
                totals[node] = _total(node, parts[node])
        return [totals.get(one) or zeros(one) for one in (*self.variables, *between)]


def _read_by(node: Node) -> tuple[Node, ...]:
    """Return the nodes whose cotangents the rule of a node computes."""
    inputs = inputs_of(node)
    reads = READS.get(node.op.name) if inputs else None
    if reads is None or custom_rule(node) is not None:
        return inputs
    return reads(node)


def _rule_of(node: Node) -> Rule:
    """Return the vjp rule of a node: its custom rule or the rule of its operation."""
    rule = custom_rule(node) or node.op
    if isinstance(rule, Op):
        return RULES[rule.name]
    return lambda step, cotangent: rule(cotangent)


def _total(node: Node, parts: Sequence[Node]) -> Node:
    """Return the sum of the cotangents of one node, after its hooks."""
    result = parts[0]
    for part in parts[1:]:
        result = plus(result, part)
    for hook in autograd.hooks.get(node, ()) if autograd.hooks else ():
        result = hook(result)
    return result


class LeafBackwardPass(BackwardPass):
    """The nodes between results and the leaves that they depend on."""

    def __init__(self, *results: Node) -> None:
        """Traverse the graph of the results.

        Raises:
            TransformError: a part of the graph has been freed.
        """
        super().__init__(results, [])

    def _inputs_of(self, node: Node) -> tuple[Node, ...]:
        """Return a node's inputs, none if the node depends on no leaf."""
        history = node.history
        if history is None or not history.on_leaf:
            return ()
        if type(history) is Leaf:
            self._depends[node] = True
            self.variables += (node,)
            return ()
        if history.freed:
            raise TransformError(f"backward: {history.freed}.")
        return super()._inputs_of(node)

    def free(self) -> None:
        """Free the graph: the nodes keep their values, but no inputs."""
        for step, _ in self._steps:
            step.node.history = USED


def backward(tensor: TensorBase, gradient: object, retain_graph: bool) -> None:
    """Implement `Tensor.backward`."""
    node = pair_of(tensor.node)
    _refuse_inside()
    if not depends_on_leaf(node):
        raise TransformError(
            "backward: this tensor was computed from none that requires a gradient, or "
            "inside of tw.no_grad(); make the weights with "
            "tw.asarray(..., requires_grad=True), call model.requires_grad_() for a "
            "module, or write tw.grad(loss)(weights)."
        )
    if gradient is not None:
        cotangent = matching("backward", gradient, tensor.node)
    elif tensor.node is not node:
        raise TransformError(
            "backward: this tensor is complex, and a gradient is that of one real "
            "number; take its abs(), real or imag, or pass gradient=, a complex tensor."
        )
    elif node.shape:
        raise TransformError(
            f"backward: this tensor has shape {node.shape}, and a gradient is that of "
            "one number; take sum() or mean() of it, or pass gradient=, a tensor of "
            "that shape."
        )
    else:
        cotangent = ones(node)
    backward_pass = LeafBackwardPass(node)
    with grad_disabled():
        parts = backward_pass.vjp([node], [cotangent])
        for leaf, part in zip(backward_pass.variables, parts, strict=True):
            _add(leaf, part)
    if not retain_graph:
        backward_pass.free()


register_walk(backward)


def _add(node: Node, part: Node) -> None:
    """Add `part` to the gradient of the tensor that owns a leaf, if it still exists."""
    history = node.history
    tensor: Any = history.tensor() if type(history) is Leaf else None
    if tensor is not None:
        before = tensor.grad
        trace = open_trace()
        if trace is not None and not trace.is_updated(tensor):
            trace.gradients.setdefault(id(tensor), (ref(tensor), before))
        total = part if before is None else plus(pair_of(before.node), part)
        tensor.grad = Tensor(like(tensor.node, total))


def _refuse_inside() -> None:
    """Raise inside of a transformation, which differentiates functions, not leaves."""
    trace = open_trace()
    if is_tracing() and trace is not None and not trace.updated:
        or_list = (
            ", list what it trains, @tw.jit(updates=(model, opt))"
            if trace.transform == "jit"
            else ""
        )
        raise TraceError(
            f"{trace.transform}: backward() was called inside of {trace.name}, and "
            f"what it adds to x.grad is no result of it. Return "
            f"tw.grad(loss)(weights) from the function{or_list}, or leave out "
            f"{trace.transform}."
        )
    if is_differentiating():
        raise TransformError(
            "backward: this is a function that is differentiated already; use "
            "tw.grad(loss)(weights) inside of it, which nests."
        )


class no_grad(ContextDecorator, AbstractContextManager[None]):
    """A block or decorated function whose results require no gradient.

    Only here may a tensor that requires a gradient be changed; it stays a leaf and
    retains its `grad`. Inside of a function that is differentiated, tensors made in the
    block are constants.

    >>> w = tw.asarray([1.0, 2.0], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> with no_grad():
    ...     w -= 0.1 * w.grad
    >>> w
    tensor([0.8, 1.6])
    """

    def __init__(self) -> None:
        """Make a reusable context manager."""
        self._open: list[AbstractContextManager[None]] = []

    def __enter__(self) -> None:
        if autograd.changed is None:
            autograd.changed = []
        block = grad_disabled(constants=is_differentiating())
        block.__enter__()
        self._open.append(block)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open.pop().__exit__(kind, error, traceback)
        if autograd.open_blocks == 0:
            changed, autograd.changed = autograd.changed or [], None
            tensors = [tensor for one in changed if (tensor := one()) is not None]
            if kind is None:
                end_step([pair_of(tensor.node) for tensor in tensors])
