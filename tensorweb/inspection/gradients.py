"""The gradient of one cell by every value that it was computed from.

`autograd.inputs_of` follows an open provenance, so the backward pass of `grad` runs
over a program that asked for no gradient. A detached value ends it, as in `grad`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tensorweb.graph.autograd import grad_disabled
from tensorweb.graph.complex_pairs import pair_of
from tensorweb.graph.node import Node
from tensorweb.inspection import dependence
from tensorweb.nodes.elementwise import cast
from tensorweb.transforms.backward import BackwardPass

WITHOUT_GRADIENT = ("constant", "iota")


class _WholePass(BackwardPass):
    """A backward pass to all floats that a result depends on.

    It ends at data and at floats that are made of integers, such as random numbers.
    """

    def __init__(self, result: Node, asked: Collection[Node]) -> None:
        self._asked = asked
        super().__init__([result], [])

    def _inputs_of(self, node: Node) -> tuple[Node, ...]:
        inputs = super()._inputs_of(node)
        if any(each.dtype.kind == "float" for each in inputs):
            return inputs
        if node in self._asked or node.op.kind not in WITHOUT_GRADIENT:
            self._depends[node] = True
            self.variables += (node,)
        return ()


def gradients(
    node: Node, index: Sequence[int], by: Sequence[Node]
) -> list[tuple[Node, Node]]:
    """Return each of the values `by` on which a cell depends, with its gradient.

    Args:
        node: a value of real numbers, whose provenance is open.
        index: the cell, not negative.
        by: the values.

    Raises:
        TransformError: the value is not of real numbers.
    """
    with grad_disabled():
        nodes = dict.fromkeys(map(pair_of, by))
        whole = _WholePass(node, nodes)
        asked = [one for one in nodes if whole.reaches(one)]
        cotangent = cast(dependence.cell(node, index), node.dtype)
        count = len(whole.variables)
        found = whole.vjp([node], [cotangent], asked)
        totals = dict(zip(whole.variables, found[:count], strict=True))
        totals |= {
            one: each
            for one, each in zip(asked, found[count:], strict=True)
            if one not in totals
        }
    return [(one, totals[one]) for one in asked]
