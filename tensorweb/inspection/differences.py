"""The first operation whose result another device computes differently.

Each operation is computed once more on the other device from the very inputs that it
had, so a difference is its own and not inherited. Allowed are the documented bounds of
both devices: `Op.ulp` of elementwise operations, and `SUMS` in units of the sum of
sizes. Factorizations and Fourier transforms, which may differ in the order of their
steps, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tensorweb import dtypes
from tensorweb.devices import stores
from tensorweb.evaluate import read_steps
from tensorweb.graph.attributes import Groups, Reduction
from tensorweb.graph.node import Node, attributes_of, leaf
from tensorweb.graph.provenance import Provenance
from tensorweb.graph.storage import HostData
from tensorweb.hostdata import Number
from tensorweb.inspection.cells import Index, lit_cells, values_at
from tensorweb.inspection.dependence import computed_again
from tensorweb.nodes.contraction import contract
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.reduction import reduce, scan
from tensorweb.ops import OPS
from tensorweb.transforms.rules.rule import minus, number, times
from tensorweb.waits import Steps

SUMS = {"sum": 8.0, "cumulative_sum": 16.0, "matmul": 8.0}
"""Error bounds of one device, in units in the last place of the sum of sizes."""

PRODUCTS = {"prod": 64.0, "cumulative_prod": 64.0}
"""Error bounds of one device, in units in the last place of the result."""

COMPARED = ("map", "copy", "reduce", "argreduce", "matmul", "scan", "sort", "gather")
"""Kinds of operations that are compared; movements compute nothing."""

MOST_ELEMENTS = 1 << 22
"""Elements of the operations that are compared together; larger ones are left out."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first cell that differs by more than its bound.

    Attributes:
        node: the operation.
        index: the cell.
        value: what its device computed.
        other: what the other device computed.
    """

    node: Node
    index: Index
    value: Number
    other: Number


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison of two devices.

    Attributes:
        compared: how many operations were compared.
        left_out: how many could not be.
        first: the first difference, None without one.
    """

    compared: int
    left_out: int
    first: Difference | None


def compare_devices(
    provenance: Provenance, targets: Sequence[Node], device: str
) -> Steps[Comparison]:
    """Compare the operations behind some values with another device, in their order.

    Args:
        provenance: what the program computed.
        targets: the values.
        device: the other device; it must be open.
    """
    order = [one for one in _ordered(provenance, targets) if one.device != device]
    chosen = [one for one in order if _is_compared(one, provenance, device)]
    compared = 0
    for part in _parts(chosen, provenance):
        inputs = dict.fromkeys(
            source for one in part for source in (one, *provenance.inputs_of(one))
        )
        data = yield from read_steps(list(inputs), is_display=True)
        there = {
            one: leaf(HostData(each), one.shape, one.dtype, device)
            for one, each in zip(inputs, data, strict=True)
        }
        others = {}
        for one in part:
            given = [there[source] for source in provenance.inputs_of(one)]
            others[one] = computed_again(one, given, device)
        wrong = [_differs(one, others[one], there, provenance) for one in part]
        lit = yield from lit_cells(wrong)
        for one, (_, indices) in zip(part, lit, strict=True):
            if indices:
                at = indices[0]
                value, other = yield from values_at([(one, at), (others[one], at)])
                found = Difference(one, at, value, other)
                return Comparison(compared, len(order) - len(chosen), found)
            compared += 1
    return Comparison(compared, len(order) - len(chosen), None)


def _ordered(provenance: Provenance, targets: Sequence[Node]) -> list[Node]:
    """Return the operations behind some values, inputs first."""
    order = provenance.ordered(reversed(targets), lambda one: True)
    return [one for one in order if one.op.kind not in ("movement", "leaf")]


def _is_compared(node: Node, provenance: Provenance, device: str) -> bool:
    values = (node, *provenance.inputs_of(node))
    if not all(stores(each.dtype, device) for each in values):
        return False
    largest = max(each.size for each in values)
    return node.op.kind in COMPARED and node.size > 0 and largest <= MOST_ELEMENTS


def _parts(nodes: Sequence[Node], provenance: Provenance) -> Iterator[list[Node]]:
    """Yield operations whose inputs are read together."""
    part: list[Node] = []
    left = MOST_ELEMENTS
    for one in nodes:
        size = one.size + sum(each.size for each in provenance.inputs_of(one))
        if part and size > left:
            yield part
            part, left = [], MOST_ELEMENTS
        part.append(one)
        left -= size
    if part:
        yield part


def _differs(
    node: Node, other: Node, there: dict[Node, Node], provenance: Provenance
) -> Node:
    """Return the float32 mask of the cells that differ by more than the bounds."""
    own = there[node]
    differs = elementwise(OPS["not_equal"], own, other)
    if node.dtype.kind == "float":
        bound = _bound(node, [there[each] for each in provenance.inputs_of(node)], own)
        distance = elementwise(OPS["abs"], minus(own, other))
        is_near = elementwise(OPS["less_equal"], distance, bound)
        both = [elementwise(OPS["isnan"], each) for each in (own, other)]
        is_same = elementwise(
            OPS["logical_or"], is_near, elementwise(OPS["logical_and"], *both)
        )
        is_other = elementwise(OPS["logical_not"], is_same)
        differs = elementwise(OPS["logical_and"], differs, is_other)
    return cast(differs, dtypes.float32)


def _bound(node: Node, inputs: Sequence[Node], own: Node) -> Node:
    """Return the allowed distance of two devices' results."""
    name, limits = node.op.name, dtypes.finfo(node.dtype)
    scale = elementwise(OPS["abs"], own)
    allowed = SUMS.get(name) or PRODUCTS.get(name) or node.op.ulp
    if name in SUMS:
        sizes = [elementwise(OPS["abs"], each) for each in inputs]
        scale = _sum_of_sizes(node, sizes)
    elif name in CANCELLING:
        for each in inputs:
            scale = elementwise(OPS["maximum"], scale, elementwise(OPS["abs"], each))
    factor = number(2 * allowed * limits.eps, scale)
    # Subnormal numbers may become 0 on a GPU.
    smallest = number(2 * limits.smallest_normal, scale)
    return elementwise(OPS["add"], times(scale, factor), smallest)


CANCELLING = frozenset({"logaddexp"})
"""Operations whose error is measured at the largest operand."""


def _sum_of_sizes(node: Node, sizes: Sequence[Node]) -> Node:
    if node.op.kind == "matmul":
        left, right = sizes
        return contract(left, right, attributes_of(node, Groups))
    if node.op.kind == "scan":
        return scan("cumulative_sum", sizes[0], len(node.shape) - 1, dtype=node.dtype)
    axes = attributes_of(node, Reduction).axes
    return reduce("sum", sizes[0], axes, dtype=node.dtype)
