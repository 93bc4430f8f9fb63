"""Batching rules: each operation for a batch, whose axis is always the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tensorweb import dtypes
from tensorweb.graph.attributes import (
    Box,
    Custom,
    Expansion,
    Groups,
    Joining,
    Ordering,
    Padding,
    Permutation,
    Reduction,
    Reshape,
    Slices,
    Taking,
    Transform,
    Windows,
    Writing,
)
from tensorweb.graph.autograd import set_rule
from tensorweb.graph.node import Node, Rule, attributes_of, constant, leaf
from tensorweb.graph.op import Op
from tensorweb.graph.tracing import Placeholder, tracing
from tensorweb.nodes.contraction import contract
from tensorweb.nodes.custom import again
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import (
    alias,
    copy,
    expand,
    permute,
    reshape,
    slice_ranges,
    unfold,
)
from tensorweb.nodes.reduction import argreduce, reduce, scan
from tensorweb.nodes.selection import concat, embed, gather, iota, pad, scatter
from tensorweb.nodes.sorting import argsort, sort
from tensorweb.ops.structure import CAST, FOURIER, SORT
from tensorweb.shapes import size
from tensorweb.transforms.rules.rule import choose, plus, times, zeros


@dataclass(frozen=True, slots=True)
class Batched:
    """An operation and its inputs for the batch.

    Attributes:
        node: the operation on one example.
        inputs: batched where `flags` is set, otherwise shared by all examples.
        flags: whether an input has the batch axis in front.
        size: the batch's length.
    """

    node: Node
    inputs: tuple[Node, ...]
    flags: tuple[bool, ...]
    size: int

    def whole(self, index: int) -> Node:
        """Return an input with the batch axis, repeated if it has none."""
        result = self.inputs[index]
        return result if self.flags[index] else repeated(result, self.size)

    def aligned(self, index: int, rank: int) -> Node:
        """Return an input with `rank` axes after the batch axis, for broadcasting."""
        result = self.inputs[index]
        return behind(result, rank) if self.flags[index] else result

    def ramp(self, rank: int) -> Node:
        """Return the examples' indices along the first of `1 + rank` axes."""
        numbers = iota(self.size, dtypes.int32, self.node.device)
        return reshape(numbers, (self.size, *(1,) * rank))


def repeated(node: Node, size: int) -> Node:
    """Return a node repeated for each example."""
    return expand(reshape(node, (1, *node.shape)), (size, *node.shape))


def example(node: Node, index: int) -> Node:
    """Return one example of a batched node: a view."""
    shape = node.shape
    ranges = ((index, 1, 1), *((0, length, 1) for length in shape[1:]))
    return reshape(slice_ranges(node, ranges), shape[1:])


def behind(node: Node, rank: int) -> Node:
    """Return a batched node with `rank` axes after the batch axis, added as 1."""
    shape = node.shape
    ones = (1,) * (rank + 1 - len(shape))
    return reshape(node, (shape[0], *ones, *shape[1:]))


def moved(node: Node, axis: int, to: int) -> Node:
    """Return a node with one axis moved."""
    order = [value for value in range(len(node.shape)) if value != axis]
    order.insert(to, axis)
    return permute(node, order)


def of_map(step: Batched) -> Node:
    """Broadcast each example: operands of fewer axes are aligned at the last axis."""
    node = step.node
    if node.op is CAST:
        return cast(step.inputs[0], node.dtype)
    rank = len(node.shape)
    operands = [step.aligned(index, rank) for index in range(len(step.inputs))]
    return elementwise(node.op, *operands)


def of_movement(step: Batched) -> Node:
    """Apply a movement to the axes after the batch axis."""
    x, attrs = step.inputs[0], step.node.attrs
    if isinstance(attrs, Reshape):
        return reshape(x, (step.size, *attrs.shape))
    if isinstance(attrs, Permutation):
        return permute(x, (0, *(axis + 1 for axis in attrs.order)))
    if isinstance(attrs, Expansion):
        return expand(behind(x, len(attrs.shape)), (step.size, *attrs.shape))
    if isinstance(attrs, Slices):
        return slice_ranges(x, ((0, step.size, 1), *attrs.ranges))
    if isinstance(attrs, Windows):
        return unfold(x, attrs.axis + 1, attrs.size, attrs.step, attrs.dilation)
    return alias(x)


def of_copy(step: Batched) -> Node:
    """Copy the batch."""
    return copy(step.inputs[0])


def of_pad(step: Batched) -> Node:
    """Pad every example; each may have its own fill value."""
    widths = ((0, 0), *attributes_of(step.node, Padding).widths)
    source, filling = step.inputs
    if not step.flags[1]:
        return pad(step.whole(0), widths, filling)
    rank = len(step.node.shape)
    inside = constant(
        False, dtypes.bool, source.device, (1, *step.node.inputs[0].shape)
    )
    outside = constant(True, dtypes.bool, source.device)
    bordered = pad(step.whole(0), widths, zeros(source, ()))
    return choose(pad(inside, widths, outside), behind(filling, rank), bordered)


def of_concat(step: Batched) -> Node:
    """Concatenate along the next axis."""
    axis = attributes_of(step.node, Joining).axis + 1
    return concat([step.whole(index) for index in range(len(step.inputs))], axis)


def of_embed(step: Batched) -> Node:
    """Write into the same box of every example."""
    starts = attributes_of(step.node, Box).starts
    return embed(step.whole(0), step.whole(1), (0, *starts))


def of_gather(step: Batched) -> Node:
    """Gather from every example; batched indices also index the batch axis."""
    taking = attributes_of(step.node, Taking)
    source = step.inputs[0]
    later = tuple(axis + 1 for axis in taking.axes)
    if not any(step.flags[1:]):
        whole = Taking(later, taking.first + 1)
        shape = (step.size, *step.node.shape)
        return gather(source, step.inputs[1:], whole, shape)
    rank = len(step.node.shape) - (len(step.node.inputs[0].shape) - len(taking.axes))
    indices = [step.aligned(index, rank) for index in range(1, len(step.inputs))]
    around = step.node.shape
    shape = (*around[: taking.first], step.size, *around[taking.first :])
    if step.flags[0]:
        indices.insert(0, step.ramp(rank))
        taking = Taking((0, *later), taking.first)
    return moved(gather(source, indices, taking, shape), taking.first, 0)


def of_scatter(step: Batched) -> Node:
    """Scatter into every example; batched indices also index the batch axis."""
    writing = attributes_of(step.node, Writing)
    last = len(step.inputs) - 1
    taking = writing.taking
    later = tuple(axis + 1 for axis in taking.axes)
    values = step.whole(last)
    indices = list(step.inputs[1:last])
    first = taking.first + 1
    if any(step.flags[1:last]):
        together = len(values.shape) - 1 - (len(writing.shape) - len(taking.axes))
        indices = [step.aligned(index, together) for index in range(1, last)]
        indices.insert(0, step.ramp(together))
        later, first = (0, *later), taking.first
        values = moved(values, 0, first)
    ranges = ((0, step.size, 1), *writing.ranges)
    shape = (step.size, *writing.shape)
    there = Writing(ranges, shape, Taking(later, first))
    return scatter(step.whole(0), indices, values, there)


def of_accumulate(step: Batched) -> Node:
    """Offset the row indices of each example by the rows of the examples before it."""
    start, positions, values = (step.whole(index) for index in range(3))
    row = len(values.shape) - len(positions.shape)
    rows = size(start.shape[1 : len(start.shape) - row])
    number = constant(rows, dtypes.int32, positions.device)
    offset = times(step.ramp(len(positions.shape) - 1), number)
    positions = plus(positions, offset)
    inputs = (start, positions, values)
    return Node(step.node.op, inputs, None, start.shape, start.dtype, start.device)


def of_reduce(step: Batched) -> Node:
    """Reduce along the next axes."""
    axes = tuple(axis + 1 for axis in attributes_of(step.node, Reduction).axes)
    return reduce(step.node.op.name, step.inputs[0], axes, dtype=step.node.dtype)


def of_argreduce(step: Batched) -> Node:
    """Reduce along the next axis."""
    [axis] = attributes_of(step.node, Reduction).axes
    return argreduce(step.node.op.name, step.inputs[0], axis + 1)


def of_scan(step: Batched) -> Node:
    """Scan along the last axis."""
    x = step.inputs[0]
    return scan(step.node.op.name, x, len(x.shape) - 1, dtype=x.dtype)


def of_sort(step: Batched) -> Node:
    """Sort along the last axis."""
    x = step.inputs[0]
    order = sort if step.node.op is SORT else argsort
    return order(x, len(x.shape) - 1, attributes_of(step.node, Ordering).descending)


def of_matmul(step: Batched) -> Node:
    """Contract each example; a batched operand alone extends its rows or columns."""
    batch, rows, depth, columns = attributes_of(step.node, Groups)
    a, b = step.inputs
    if all(step.flags):
        return contract(a, b, Groups(batch + 1, rows, depth, columns))
    if step.flags[0]:
        groups = Groups(batch, rows + 1, depth, columns)
        return moved(contract(moved(a, 0, batch), b, groups), batch, 0)
    groups = Groups(batch, rows, depth, columns + 1)
    product = contract(a, moved(b, 0, batch + depth), groups)
    return moved(product, batch + rows, 0)


def of_fourier(step: Batched) -> Node:
    """Transform along the next axis; the roots of unity are shared."""
    axis, sign = attributes_of(step.node, Transform)
    roots, dtype = step.inputs[2:], step.node.dtype
    assert not any(step.flags[2:]), "internal: roots depend on nothing"
    parts = step.whole(0), step.whole(1)
    how, shape = Transform(axis + 1, sign), (step.size, *step.node.shape)
    return Node(FOURIER, (*parts, *roots), how, shape, dtype, step.node.device)


def of_factor(step: Batched) -> Node:
    """Factor a stack with one more leading axis, for which all operands are batched."""
    node = step.node
    inputs = tuple(step.whole(index) for index in range(len(step.inputs)))
    shape = (step.size, *node.shape)
    return Node(node.op, inputs, node.attrs, shape, node.dtype, node.device)


def of_custom(step: Batched) -> Node:
    """Launch a program's own kernel for each example, and stack the results.

    The last input of a further output is the first output of the same launch.
    """
    own = attributes_of(step.node, Custom)
    made = []
    for index in range(step.size):
        inputs = [
            example(source, index) if flag else source
            for source, flag in zip(step.inputs, step.flags, strict=True)
        ]
        if own.output:
            inputs[-1] = step.inputs[-1].inputs[index].inputs[0]
        made.append(again(step.node, inputs))
    shape = (1, *step.node.shape)
    return concat([reshape(node, shape) for node in made], 0)


BATCH: dict[str, Callable[[Batched], Node]] = {
    "map": of_map,
    "movement": of_movement,
    "copy": of_copy,
    "pad": of_pad,
    "concat": of_concat,
    "embed": of_embed,
    "gather": of_gather,
    "scatter": of_scatter,
    "accumulate": of_accumulate,
    "reduce": of_reduce,
    "argreduce": of_argreduce,
    "scan": of_scan,
    "sort": of_sort,
    "matmul": of_matmul,
    "fourier": of_fourier,
    "factor": of_factor,
    "custom": of_custom,
}
"""By kind. Sources have no inputs; the length of a `compress` depends on values."""


def batched(
    results: Sequence[Node], order: Sequence[Node], known: dict[Node, Node], size: int
) -> list[Node]:
    """Return results for the full batch.

    Args:
        results: nodes on one example.
        order: the nodes that depend on placeholders, inputs before consumers.
        known: batched nodes, by the placeholder that stands for one example.
        size: the batch's length.
    """
    for node in order:
        flags = tuple([operand in known for operand in node.inputs])
        inputs = tuple([known.get(value, value) for value in node.inputs])
        created = BATCH[node.op.kind](Batched(node, inputs, flags, size))
        history = node.history
        if history is not None and history.rule is not None:
            _set_batched_rule(created, history.inputs, history.rule, known, size)
        known[node] = created
    return [known[node] if node in known else repeated(node, size) for node in results]


def _set_batched_rule(
    made: Node, inputs: Sequence[Node], of_one: Rule, known: dict[Node, Node], size: int
) -> None:
    """Give a batched node the custom vjp rule of the node of one example, batched."""
    batched_inputs = tuple(
        [
            known[operand] if operand in known else repeated(operand, size)
            for operand in inputs
        ]
    )
    if isinstance(of_one, Op):
        set_rule(made, batched_inputs, of_one)
        return

    def rule(cotangent: Node) -> tuple[Node | None, ...]:
        shape = cotangent.shape[1:]
        one = leaf(Placeholder(), shape, cotangent.dtype, cotangent.device)
        here = {**known, one: cotangent}
        with tracing("the rule", here, "vmap", of_batch=of_batch(here, size)):
            result = of_one(one)
        nodes = [node for node in result if node is not None]
        remaining = iter(batched(nodes, dependent_nodes(nodes, list(here)), here, size))
        return tuple([None if node is None else next(remaining) for node in result])

    set_rule(made, batched_inputs, rule)


def of_batch(known: Mapping[Node, Node], size: int) -> Callable[[Node], Node]:
    """Return a function from a node of one example to its batched node.

    Nodes that do not depend on the batch are returned unchanged.

    Args:
        known: nodes of the batch, by those of one example.
        size: the batch's length.
    """

    def found(node: Node) -> Node:
        order = dependent_nodes([node], list(known))
        if node not in known and not order:
            return node
        return batched([node], order, dict(known), size)[0]

    return found


def dependent_nodes(results: Sequence[Node], variables: Sequence[Node]) -> list[Node]:
    """Return the nodes of `results` that depend on variables, in topological order."""
    depends: dict[Node, bool] = dict.fromkeys(variables, True)
    order: list[Node] = []
    stack = [(node, False) for node in reversed(results)]
    while stack:
        node, is_seen = stack.pop()
        if node in depends:
            continue
        if is_seen:
            depends[node] = any(depends[operand] for operand in node.inputs)
            if depends[node]:
                order.append(node)
        elif node.inputs:
            stack.append((node, True))
            stack += [(value, False) for value in node.inputs if value not in depends]
        else:
            depends[node] = False
    return order
