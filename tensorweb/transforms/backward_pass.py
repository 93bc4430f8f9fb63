"""The backward pass: cotangents from results to variables.

It traverses the graph that a function has built, including values already computed,
without recursion. The rules emit nodes; nothing is evaluated here.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.graph.autograd import custom_rule, inputs_of
from tensorweb.graph.node import Node
from tensorweb.graph.op import Op
from tensorweb.transforms.rules.rule import Rule, Step, plus, summed_to, zeros
from tensorweb.transforms.rules.table import READS, RULES


class WayBack:
    """The nodes between results and variables, with their inputs.

    The graph is traversed while the history is open; `pull` may be called later.

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
        depends, found = self._depends, self._inputs
        stack = [result]
        while stack:
            node = stack[-1]
            if node in depends:
                stack.pop()
                continue
            inputs = found.pop(node, None)
            if inputs is not None:
                wanted = tuple([depends[each] for each in inputs])
                depends[node] = is_on_way = True in wanted
                if is_on_way:
                    self._steps.append((Step(node, inputs, wanted), _rule_of(node)))
                stack.pop()
                continue
            inputs = self._inputs_of(node) if node.dtype.kind == "float" else ()
            if inputs:
                found[node] = inputs
                stack += [each for each in inputs if each not in depends]
            else:
                depends.setdefault(node, False)

    def _inputs_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes whose cotangents the rule of a node computes."""
        return _read_by(node)

    def reaches(self, node: Node) -> bool:
        """Whether a node of the graph depends on a variable."""
        return self._depends.get(node, False)

    def pull(self, results: Sequence[Node], cotangents: Sequence[Node]) -> list[Node]:
        """Return each variable's cotangent, given the cotangents of results.

        Args:
            results: some of the results of the graph; one that occurs twice counts
                twice.
            cotangents: one per result, of its shape and dtype.

        Returns:
            The cotangents; zeros for a variable on which none of these results depends.
        """
        depends = self._depends
        parts: dict[Node, list[Node]] = {}
        for node, cotangent in zip(results, cotangents, strict=True):
            if depends.get(node):
                parts.setdefault(node, []).append(cotangent)
        for step, rule in reversed(self._steps):
            arrived = parts.pop(step.node, None)
            if arrived is None:
                continue
            found = rule(step, _total(arrived))
            for source, is_wanted, part in zip(
                step.inputs, step.wanted, found, strict=True
            ):
                if is_wanted and part is not None:
                    part = summed_to(part, source.shape)
                    parts.setdefault(source, []).append(part)
        return [
            _total(parts[node]) if node in parts else zeros(node)
            for node in self.variables
        ]


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


def _total(parts: Sequence[Node]) -> Node:
    """Return the sum of the cotangents of one node."""
    found = parts[0]
    for part in parts[1:]:
        found = plus(found, part)
    return found
