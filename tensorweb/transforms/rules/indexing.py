"""vjp rules of gathers, scatters and accumulations."""

from __future__ import annotations

from tensorweb import dtypes
from tensorweb.graph.attributes import Taking, Writing
from tensorweb.graph.node import Node, attributes_of, constant
from tensorweb.nodes.assignment import accumulate
from tensorweb.nodes.elementwise import cast
from tensorweb.nodes.indexing import advanced_shape
from tensorweb.nodes.keys import Indices, Item, Span
from tensorweb.nodes.movement import permute, reshape, slice_ranges
from tensorweb.nodes.selection import gather, iota, scatter
from tensorweb.shapes import Shape, size
from tensorweb.transforms.rules.reductions import of_nothing
from tensorweb.transforms.rules.rule import (
    Cotangents,
    Rule,
    Step,
    choose,
    equal,
    number,
    over,
    plus,
    times,
    zeros,
)


def of_gather(step: Step, cotangent: Node) -> Cotangents:
    """Accumulate the cotangent at the gathered indices."""
    source, *indices = step.inputs
    taking = attributes_of(step.node, Taking)
    by_axis = dict(zip(taking.axes, indices, strict=True))
    items: list[Item] = [
        Indices(by_axis[axis]) if axis in by_axis else Span((0, length, 1))
        for axis, length in enumerate(source.shape)
    ]
    # `items` decide where the axes of index tensors stand. The gather may have them
    # elsewhere: for x[0, :, [1, 2]] they come first, and its integer is no item here.
    count = len(cotangent.shape) - (len(source.shape) - len(indices))
    moved = _axes_moved(cotangent, taking.first, count, advanced_shape(items)[2])
    nothing: list[Node | None] = [None] * len(indices)
    return [accumulate("add", zeros(moved, source.shape), items, moved), *nothing]


def _axes_moved(node: Node, first: int, count: int, to: int) -> Node:
    """Return a node with `count` axes from `first` on moved to begin at axis `to`."""
    if first == to:
        return node
    order = list(range(len(node.shape)))
    axes = order[first : first + count]
    del order[first : first + count]
    order[to:to] = axes
    return permute(node, order)


def of_scatter(step: Step, cotangent: Node) -> Cotangents:
    """Return 0 for overwritten elements, the cotangent for values written last.

    The indices of the writes are scattered as the values are: the last write shows.
    """
    _, *indices, values = step.inputs
    writing = attributes_of(step.node, Writing)
    blank = scatter(cotangent, indices, zeros(values), writing)
    nothing: list[Node | None] = [None] * len(indices)
    if not step.needs_cotangent[-1]:
        return [blank, *nothing, None]
    device = cotangent.device
    numbers = reshape(iota(values.size, dtypes.int32, device), values.shape)
    empty = constant(0, dtypes.int32, device, cotangent.shape)
    last = scatter(empty, indices, numbers, writing)
    taken = [
        _taken(value, indices, writing, values.shape) for value in (last, cotangent)
    ]
    is_last = equal(taken[0], numbers)
    return [blank, *nothing, choose(is_last, taken[1], number(0, cotangent))]


def _taken(node: Node, indices: list[Node], writing: Writing, shape: Shape) -> Node:
    """Return the elements that a scatter writes."""
    part = reshape(slice_ranges(node, writing.ranges), writing.shape)
    return gather(part, indices, writing.taking, shape)


class _Rows:
    """The target of an accumulation, reshaped to rows that the indices address."""

    def __init__(self, step: Step) -> None:
        self.start, self.positions, self.values = step.inputs
        self.node = step.node
        self.row = self.values.shape[len(self.positions.shape) :]
        front = self.start.shape[: len(self.start.shape) - len(self.row)]
        self.shape = (size(front), *self.row)

    def read(self, node: Node) -> Node:
        """Return the rows at the indices."""
        source = reshape(node, self.shape)
        return gather(source, [self.positions], Taking((0,), 0), self.values.shape)

    def written(self, name: str, start: float, values: Node) -> Node:
        """Return values accumulated into a target filled with `start`."""
        items: list[Item] = [
            Indices(self.positions),
            *(Span((0, n, 1)) for n in self.row),
        ]
        storage = number(start, values, self.shape)
        return reshape(accumulate(name, storage, items, values), self.start.shape)


def of_scatter_add(step: Step, cotangent: Node) -> Cotangents:
    """Pass the cotangent to the start, and gather it for the values."""
    return [cotangent, None, _Rows(step).read(cotangent)]


def of_scatter_multiply(step: Step, cotangent: Node) -> Cotangents:
    """Multiply by the product of all other factors, exact where factors are 0."""
    rows = _Rows(step)
    values = rows.values
    one, nothing = number(1, values), number(0, values)
    is_zero = equal(values, nothing)
    product = rows.written("multiply", 1, values)
    zeros_there = rows.read(rows.written("add", 0, cast(is_zero, values.dtype)))
    nonzero = rows.read(rows.written("multiply", 1, choose(is_zero, one, values)))
    alone = choose(equal(zeros_there, one), nonzero, nothing)
    free = choose(
        equal(zeros_there, nothing),
        over(nonzero, choose(is_zero, one, values)),
        nothing,
    )
    others = times(choose(is_zero, alone, free), rows.read(rows.start))
    return [
        times(cotangent, product),
        None,
        times(rows.read(cotangent), others),
    ]


def of_scatter_extreme(step: Step, cotangent: Node) -> Cotangents:
    """Split the cotangent equally among tied extremes."""
    rows = _Rows(step)
    is_start = equal(rows.start, rows.node)
    is_value = equal(rows.values, rows.read(rows.node))
    dtype = cotangent.dtype
    count = plus(cast(is_start, dtype), rows.written("add", 0, cast(is_value, dtype)))
    nothing = number(0, cotangent)
    fraction = over(cotangent, choose(equal(count, nothing), number(1, count), count))
    return [
        choose(is_start, fraction, nothing),
        None,
        choose(is_value, rows.read(fraction), nothing),
    ]


RULES: dict[str, Rule] = {
    "gather": of_gather,
    "scatter": of_scatter,
    "scatter_add": of_scatter_add,
    "scatter_multiply": of_scatter_multiply,
    "scatter_minimum": of_scatter_extreme,
    "scatter_maximum": of_scatter_extreme,
    "compress": of_nothing,
}
