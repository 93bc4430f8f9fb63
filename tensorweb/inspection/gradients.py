"""The gradient of one cell by every value that it was computed from.

`autograd.inputs_of` follows an open provenance, so the backward pass of `grad` runs
over a program that asked for no gradient. A detached value ends it, as in `grad`, and
a leaf, as in `backward`: what an optimiser's step assigned depends on no earlier step,
and neither does a variable of `grad` that was computed from an earlier gradient.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tensorweb import dtypes
from tensorweb.graph.autograd import Leaf, grad_disabled, inputs_of, leaf_tensor
from tensorweb.graph.node import Node, pair_of
from tensorweb.graph.provenance import Provenance, open_provenance
from tensorweb.inspection import dependence
from tensorweb.inspection.cells import Index, values_at
from tensorweb.nodes.elementwise import cast
from tensorweb.transforms.backward import BackwardPass
from tensorweb.transforms.rules.rule import number, plus, times
from tensorweb.waits import Steps

WITHOUT_GRADIENT = ("constant", "iota")

FINER = 16
"""How much smaller the second step of a difference quotient is."""

AGREEMENT = 0.02
"""Quotients of both steps that differ by a larger part show a nearby pole or kink."""


def _is_leaf(node: Node) -> bool:
    """Whether gradients end at a node: the parameter of a step."""
    provenance = open_provenance()
    return isinstance(node.history, Leaf) or (
        provenance is not None and provenance.is_updated(node)
    )


class _WholePass(BackwardPass):
    """A backward pass to all floats that a result depends on.

    It ends at data and at floats that are made of integers, such as random numbers.
    """

    def __init__(self, result: Node, asked: Collection[Node]) -> None:
        self._asked = asked
        super().__init__([result], [])

    def _inputs_of(self, node: Node) -> tuple[Node, ...]:
        inputs = super()._inputs_of(node)
        is_leaf = _is_leaf(node)
        if not is_leaf and any(each.dtype.kind == "float" for each in inputs):
            return inputs
        if is_leaf or node in self._asked or node.op.kind not in WITHOUT_GRADIENT:
            self._depends[node] = True
            self.variables += (node,)
        return ()


def gradients(
    node: Node, index: Sequence[int], by: Sequence[Node]
) -> list[tuple[Node, Node, Node]]:
    """Return each of `by` on which a cell depends, the value of it, and the gradient.

    The value is another node for a leaf that was assigned since, or that `grad` copied.

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
        before = {}
        for one in whole.variables:
            tensor = leaf_tensor(one)
            for other in inputs_of(one) if tensor is None else [pair_of(tensor.node)]:
                if other.dtype.kind == "float":
                    before[other] = one
        read = {one: one if whole.reaches(one) else before.get(one) for one in nodes}
        asked = list(dict.fromkeys(one for one in read.values() if one is not None))
        cotangent = cast(dependence.cell(node, index), node.dtype)
        count = len(whole.variables)
        found = whole.vjp([node], [cotangent], asked)
        totals = dict(zip(whole.variables, found[:count], strict=True))
        totals |= {
            one: each
            for one, each in zip(asked, found[count:], strict=True)
            if one not in totals
        }
    return [(one, value, totals[value]) for one, value in read.items() if value]


def difference_quotient(
    provenance: Provenance, node: Node, index: Index, by: Node, at: Index
) -> Steps[tuple[float, float]]:
    """Return the derivative of a cell by another one, by differences, and their step.

    All operations between them run again for values around the other cell's own, x:
    the derivative is (f(x + step) - f(x - step)) / (2 * step). A step of the cube root
    of the rounding error balances both errors of a smooth function; where a step that
    is `FINER` gives something else than rounding explains, that one counts.

    Args:
        provenance: what the program computed; it is open.
        node: the result.
        index: its cell.
        by: a value that the result was computed from.
        at: its cell.
    """
    (own,) = yield from values_at([(by, at)])
    eps = dtypes.finfo(by.dtype).eps
    step = eps ** (1 / 3) * max(1.0, abs(float(own)))
    order = provenance.ordered([node], lambda one: one is not by and not _is_leaf(one))
    change = cast(dependence.cell(by, at), by.dtype)
    ends = []
    for moved in (step, -step, step / FINER, -step / FINER):
        others = {by: plus(by, times(change, number(moved, by)))}
        for one in order:
            inputs = provenance.inputs_of(one)
            if any(each in others for each in inputs):
                given = [others.get(each, each) for each in inputs]
                others[one] = dependence.computed_again(one, given, one.device)
        ends += [(others[node], index), (others[by], at)]
    values = [float(value) for value in (yield from values_at(ends))]
    coarse, fine = (_quotient(*values[at : at + 4]) for at in (0, 4))
    rounding = 4 * eps * abs(values[4]) * FINER / step
    is_smooth = abs(coarse - fine) <= AGREEMENT * abs(coarse) + rounding
    return (coarse, step) if is_smooth else (fine, step / FINER)


def _quotient(high: float, above: float, low: float, below: float) -> float:
    """Return the difference of two results by that of their arguments, as rounded."""
    return (high - low) / (above - below)
