"""Which cells of its inputs does a cell come from, and which cells does it reach?

Each kind of operation has a structural twin: a linear operation with coefficients of 0
and 1 that reads, for each element, exactly the elements that the operation reads. Its
transpose, computed by the rules of the derivative, maps a mask of cells to the masks of
the inputs' cells that they come from; the twin itself maps the masks of inputs to the
mask of cells that they reach. Masks are float32, 1 for a cell that is in the set.

A choice by value is followed: `where` reads its condition and the chosen operand, a
sorted element comes from the one that was moved there, indexing reads the element that
the index names, and the index. Everything else counts as read, whatever its value is:
the factor of 0, all elements of a maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce as fold

from tensorweb import dtypes
from tensorweb.graph.attributes import (
    Groups,
    Ordering,
    Reduction,
    Taking,
    Transform,
    Writing,
)
from tensorweb.graph.node import Node, attributes_of, constant, movement_of
from tensorweb.graph.op import Op
from tensorweb.nodes.contraction import contract
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.indexing import index_sum
from tensorweb.nodes.movement import alias, copy, expand, expand_dims, move, reshape
from tensorweb.nodes.reduction import reduce, scan
from tensorweb.nodes.selection import embed, gather, iota
from tensorweb.nodes.sorting import argsort
from tensorweb.ops import OPS
from tensorweb.shapes import Shape, size
from tensorweb.transforms.backward import BackwardPass
from tensorweb.transforms.rules.rule import choose, number, ones, plus, zeros
from tensorweb.view import View

Nodes = Sequence[Node]
Twin = Callable[[Node, Nodes, Nodes], Node]
"""Maps a node, its inputs and their masks to the twin's result."""


def input_masks(node: Node, inputs: Nodes, mask: Node) -> list[Node]:
    """Return the masks of the cells of inputs from which the masked cells come.

    Args:
        node: the operation.
        inputs: its inputs, which a computed node has dropped; the `followed` ones on
            the device of the mask.
        mask: of the node's shape.
    """
    if not inputs:
        return []
    variables = [alias(empty(each, mask.device)) for each in inputs]
    twin = _twin(node, inputs, variables)
    parts = BackwardPass([twin], variables).vjp([twin], [mask])
    return [_limited(part) for part in parts]


def reached(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    """Return the mask of the cells that read a masked cell of the inputs."""
    return _limited(_twin(node, inputs, masks))


def computed_again(node: Node, inputs: Nodes, device: str) -> Node:
    """Return a node's operation on `inputs`, of the same shapes as its own inputs."""
    if node.op.kind in ("movement", "leaf"):
        return _twin(node, inputs, inputs)
    return Node(node.op, tuple(inputs), node.attrs, node.shape, node.dtype, device)


def followed(node: Node, inputs: Nodes) -> Nodes:
    """Return the inputs whose values select which cells of other inputs are read."""
    if node.op is OPS["where"] or node.op is OPS["sort"]:
        return inputs[:1]
    kinds = {"gather": inputs[1:], "scatter": inputs[1:-1], "accumulate": inputs[1:2]}
    return kinds.get(node.op.kind, ())


def cell(node: Node, index: Sequence[int], device: str = "") -> Node:
    """Return the mask of one cell of a node, on its device or another one."""
    none = empty(node, device)
    one = constant(1, dtypes.float32, none.device, (1,) * len(node.shape))
    return embed(none, one, index)


def _twin(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    return TWINS.get(node.op.kind, _everything)(node, inputs, masks)


def empty(node: Node, device: str = "") -> Node:
    """Return the mask of no cell of a node."""
    return constant(0, dtypes.float32, device or node.device, node.shape)


def _limited(mask: Node) -> Node:
    """Return where a count of paths is positive."""
    return cast(elementwise(OPS["greater"], mask, number(0, mask)), dtypes.float32)


def _sum(masks: Nodes, shape: Shape) -> Node:
    """Return the sum of masks, broadcast to a shape."""
    return expand(fold(plus, masks), shape)


def _elementwise(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    if node.op is OPS["where"]:
        chosen = choose(inputs[0], masks[1], masks[2])
        return _sum([chosen, masks[0]], node.shape)
    return _sum(masks, node.shape)


def _movement(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    attrs = movement_of(node)
    (mask,) = masks
    view = attrs.apply(mask.view)
    if view is None:
        mask = copy(mask)
        view = attrs.apply(mask.view)
        assert view is not None, "internal: every movement applies to a copy"
    return move(node.op, mask, attrs, view)


def _stored_view(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    """Return the mask of a view of a stored value: a leaf that has an owner."""
    if not masks:
        return empty(node)
    (mask,) = masks
    view = node.view
    if view == View.contiguous(mask.shape):
        return mask
    terms = [
        (_along(view.shape, axis, mask.device), stride)
        for axis, stride in enumerate(view.strides)
    ]
    positions = index_sum(terms, len(view.shape), mask.device)
    start = constant(view.offset, dtypes.int32, mask.device)
    positions = expand(plus(positions, start), view.shape)
    flat = reshape(mask, (size(mask.shape),))
    return gather(flat, [positions], Taking((0,), 0), view.shape)


def _along(shape: Shape, axis: int, device: str) -> Node:
    """Return the index along an axis, with length 1 on the other axes."""
    aligned = [1] * len(shape)
    aligned[axis] = shape[axis]
    return reshape(iota(shape[axis], dtypes.int32, device), tuple(aligned))


def _rebuilt(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    """Return an operation that only moves elements, on masks."""
    return _again(node, node.op, *masks)


def _again(node: Node, op: Op, *inputs: Node) -> Node:
    """Return an operation on masks with the attributes of a node."""
    device = inputs[0].device
    return Node(op, inputs, node.attrs, node.shape, dtypes.float32, device)


def _reduction(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    axes = attributes_of(node, Reduction).axes
    return reduce("sum", masks[0], axes, dtype=dtypes.float32)


def _product(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    groups = attributes_of(node, Groups)
    left, right = masks
    return plus(
        contract(left, ones(right), groups), contract(ones(left), right, groups)
    )


def _scan(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    last = len(node.shape) - 1
    return scan("cumulative_sum", masks[0], last, dtype=dtypes.float32)


def _sorted(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    last = len(node.shape) - 1
    if node.op is OPS["argsort"]:
        total = reduce("sum", masks[0], (last,), True, dtypes.float32)
        return expand(total, node.shape)
    descending = attributes_of(node, Ordering).descending
    order = argsort(inputs[0], last, descending)
    device = masks[0].device
    others = [_along(node.shape, axis, device) for axis in range(last)]
    taking = Taking(tuple(range(last + 1)), 0)
    return gather(masks[0], [*others, order], taking, node.shape)


def _indexed(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    taking = attributes_of(node, Taking)
    source, *indices = inputs
    taken = _again(node, node.op, masks[0], *indices)
    after = len(source.shape) - len(taking.axes) - taking.first
    return _sum([taken, _at_indices(masks[1:], after)], node.shape)


def _at_indices(masks: Nodes, after: int) -> Node:
    """Return the sum of the masks of index tensors, with axes of length 1 after it."""
    total = fold(plus, masks)
    axes = range(len(total.shape), len(total.shape) + after)
    return expand_dims(total, tuple(axes))


def _written(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    taking = attributes_of(node, Writing).taking
    base, *indices, values = masks
    part = len(inputs[-1].shape) - taking.first
    together = max((len(each.shape) for each in indices), default=0)
    if indices:
        values = plus(values, _at_indices(indices, part - together))
        values = expand(values, inputs[-1].shape)
    return _again(node, node.op, base, *inputs[1:-1], values)


def _accumulated(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    base, positions, values = masks
    after = len(values.shape) - len(positions.shape)
    values = expand(plus(values, _at_indices([positions], after)), inputs[2].shape)
    return _again(node, OPS["scatter_add"], base, inputs[1], values)


def _everything(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    """Return the total of all masks, for an operation whose structure is unknown."""
    totals = [
        reduce("sum", each, tuple(range(len(each.shape))), dtype=dtypes.float32)
        for each in masks
    ]
    return _sum(totals, node.shape)


def _transformed(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    axis = attributes_of(node, Transform).axis
    shape = node.shape[:-1]
    parts = [each for each in masks if each.shape == shape]
    total = reduce("sum", fold(plus, parts), (axis,), True, dtypes.float32)
    return expand(expand_dims(expand(total, shape), (len(shape),)), node.shape)


def _factored(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    """Return the total of each matrix, for every element of its factors."""
    totals = []
    for each in masks:
        batch = len(each.shape) - 2
        axes = (batch, batch + 1)
        totals.append(reduce("sum", each, axes, dtype=dtypes.float32))
    total = fold(plus, totals)
    added = range(len(total.shape), len(node.shape))
    return expand(expand_dims(total, tuple(added)), node.shape)


def _none(node: Node, inputs: Nodes, masks: Nodes) -> Node:
    return zeros(empty(node))


TWINS: Mapping[str, Twin] = {
    "leaf": _stored_view,
    "constant": _none,
    "iota": _none,
    "movement": _movement,
    "map": _elementwise,
    "copy": _elementwise,
    "gather": _indexed,
    "pad": _rebuilt,
    "concat": _rebuilt,
    "embed": _rebuilt,
    "reduce": _reduction,
    "argreduce": _reduction,
    "matmul": _product,
    "scan": _scan,
    "sort": _sorted,
    "scatter": _written,
    "accumulate": _accumulated,
    "fourier": _transformed,
    "factor": _factored,
}
"""The twin by kind of operations; of any other kind every element reads everything."""
