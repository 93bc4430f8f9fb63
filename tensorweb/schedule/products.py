"""Build matmul kernels: group the axes of the operands.

Two decisions are made here. Batch axes along which the right operand is broadcast
become rows of one product, `(…, m, k) @ (k, n)`, so that small `m` fill tiles. And
where an operand merges axes that strides cannot express as one, as the heads of
attention, the product leaves them split instead of copying: `einsum('bhtd,hdo->bto')`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from math import prod

from tensorweb.graph.attributes import (
    Expansion,
    Groups,
    Movement,
    Permutation,
    Reshape,
)
from tensorweb.graph.node import Node, attributes_of
from tensorweb.ops import OPS
from tensorweb.ops.structure import COPY, PERMUTE, RESHAPE
from tensorweb.schedule import policy
from tensorweb.schedule.kernel import Expression, Parts, Rule
from tensorweb.schedule.lowering import Space
from tensorweb.schedule.refining import Blocked, Chain
from tensorweb.shapes import Shape


def consecutive(*counts: int) -> tuple[tuple[int, ...], ...]:
    """Return axes 0, 1, … in groups of these sizes."""
    ends = list(accumulate(counts))
    return tuple(
        tuple(range(end - count, end)) for count, end in zip(counts, ends, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a product.

    Attributes:
        node: the node that provides its values.
        lengths: for each axis of the operand, the lengths of the axes it is split into.
        movement: the movement from the node to these axes, if any.
    """

    node: Node
    lengths: tuple[Shape, ...]
    movement: Movement | None = None

    @property
    def shape(self) -> Shape:
        """Lengths of all split axes."""
        return tuple(chain.from_iterable(self.lengths))

    def chain(self, space: Space, rest: Chain = None) -> Chain:
        """Return the chain from the node outwards, continued by `rest`."""
        if self.movement is None:
            return rest
        return space.link(self.movement, self.node, rest)


@dataclass(frozen=True, slots=True)
class Product:
    """A contraction's operands, and the number of axes in each group."""

    left: Operand
    right: Operand
    groups: Groups


def product_of(core: Node) -> Product:
    """Return the operands of a contraction, no axis split."""
    a, b = (
        Operand(node, tuple((length,) for length in node.shape)) for node in core.inputs
    )
    return Product(a, b, attributes_of(core, Groups))


def split_product(core: Node, stored: Container[Node]) -> Product | None:
    """Return a contraction with merged axes split again, None where none are merged."""
    a, b = (_split(node, stored) for node in core.inputs)
    if a is None and b is None:
        return None
    batch, rows, depth, _ = attributes_of(core, Groups)
    plain = product_of(core)
    left, right = a or plain.left, b or plain.right
    shared = list(left.lengths[:batch]), list(left.lengths[batch + rows :])
    others = right.lengths[:batch], right.lengths[batch : batch + depth]
    for found, other in zip(shared, others, strict=True):
        for axis, (one, two) in enumerate(zip(found, other, strict=True)):
            if len(one) > 1 < len(two) and one != two:
                return None
            found[axis] = max(one, two, key=len)
    both, deep = shared
    whole_left = _reshaped(left, (*both, *left.lengths[batch : batch + rows], *deep))
    whole_right = _reshaped(right, (*both, *deep, *right.lengths[batch + depth :]))
    if whole_left is None or whole_right is None:
        return None
    groups = Groups(
        sum(map(len, both)),
        sum(map(len, left.lengths[batch : batch + rows])),
        sum(map(len, deep)),
        sum(map(len, right.lengths[batch + depth :])),
    )
    return Product(whole_left, whole_right, groups)


def _reshaped(operand: Operand, lengths: tuple[Shape, ...]) -> Operand | None:
    """Return an operand with these axes, None if it already has another movement."""
    if operand.lengths == lengths:
        return operand
    if operand.movement is not None:
        return None
    shape = tuple(chain.from_iterable(lengths))
    return Operand(operand.node, lengths, Reshape(shape))


def _split(node: Node, stored: Container[Node]) -> Operand | None:
    """Return an operand as it was before a copy merged its axes, None without one."""
    if node.op is PERMUTE:
        (source,) = node.inputs
        found = _split(source, stored)
        if found is None or found.movement is not None:
            return None
        order = attributes_of(node, Permutation).order
        axes = consecutive(*map(len, found.lengths))
        fine = tuple(chain.from_iterable(axes[axis] for axis in order))
        lengths = tuple(found.lengths[axis] for axis in order)
        return Operand(found.node, lengths, Permutation(fine))
    copied = node
    while copied.op is RESHAPE and copied.base.storage is None:
        (copied,) = copied.inputs
    if copied is node or copied.op is not COPY:
        return None
    if copied.storage is not None or copied in stored:
        return None
    (source,) = copied.inputs
    refined = _refined(source.shape, node.shape)
    return None if refined is None else Operand(source, refined)


def _refined(fine: Shape, coarse: Shape) -> tuple[Shape, ...] | None:
    """Return the finer axes that each axis of a coarser shape merges, or None.

    >>> _refined((2, 3, 4, 8), (2, 3, 32))
    ((2,), (3,), (4, 8))
    """
    found: list[Shape] = []
    start = 0
    if not fine or fine[-1] % policy.EVEN_LENGTH:
        return None
    for length in coarse:
        end = start
        while end < len(fine) and prod(fine[start:end]) < length:
            end += 1
        end = max(end, min(start + 1, len(fine)))
        part = fine[start:end]
        if prod(part) != length:
            return None
        found.append(part)
        start = end
    return tuple(found) if prod(fine[start:]) == 1 and start == len(fine) else None


class ProductBuilder:
    """Builds the expressions of one product."""

    def __init__(
        self,
        core: Node,
        product: Product,
        space: Callable[[], Space],
        finish: Callable[[], Expression],
    ) -> None:
        """Begin.

        Args:
            core: the contraction.
            product: its operands.
            space: creates an empty space over the kernel's inputs.
            finish: builds the epilogue's expression.
        """
        self.core = core
        self.left, self.right = product.left, product.right
        self.groups = product.groups
        self.space = space
        self.finish = finish

    def parts(self) -> Parts:
        """Return a matmul kernel, or a reduction if there are few outputs."""
        groups = self.groups
        batch, rows, depth = groups.split_left(self.left.shape)
        columns = groups.split_right(self.right.shape)[2]
        n, k = prod(columns), prod(depth)
        again = self._repeats(batch) if batch and n > 1 else 0
        m = prod(rows) * prod(batch[len(batch) - again :])
        if 1 in (m, n) or (
            self.core.size <= policy.FEW_OUTPUTS and k >= policy.SHORTEST_DOT
        ):
            return self._dot((batch, rows, columns, depth))
        apart = groups.batch - again
        left = consecutive(apart, again + groups.rows, groups.depth)
        _, _, *right = consecutive(apart, again, groups.depth, groups.columns)
        right.insert(0, left[0])
        finish = self.finish()
        weights = (OPS[step.name].weight for step in finish.steps if step.name in OPS)
        if sum(weights) > policy.LONGEST_EPILOGUE:
            raise Blocked(Rule.LONG_EPILOGUE, self.core)
        expressions = {
            "left": self._value(self.left, left),
            "right": self._value(self.right, right),
            "finish": finish,
        }
        return "matmul", (prod(batch[:apart]), m, n, k), expressions

    def _value(self, operand: Operand, groups: Sequence[Sequence[int]]) -> Expression:
        """Return the expression of an operand, its axes in groups."""
        space = self.space()
        value = space.lower(operand.node, operand.chain(space))
        return space.expression(value, groups)

    def _repeats(self, batch: Shape) -> int:
        """Return how many of the last batch axes can become rows of one product."""
        groups = self.groups
        right = consecutive(groups.batch, groups.depth, groups.columns)
        again = repeated_axes(self._value(self.right, right), batch)
        joined = (groups.batch - again, again + groups.rows, groups.depth)
        left = self._value(self.left, consecutive(*joined))
        # Rows without a single stride would cost divisions to compute indices.
        return again if len(left.groups[1]) == 1 else 0

    def _dot(self, lengths: tuple[Shape, Shape, Shape, Shape]) -> Parts:
        """Return a product of few outputs as a reduction of `a * b`.

        Args:
            lengths: lengths of the batch, row, column and depth axes.
        """
        space = self.space()
        a, b = self.left, self.right
        batch, rows, columns, depth = lengths
        whole = Expansion((*batch, *rows, *columns, *depth))
        grown = space.link(whole, a.node, None)
        widened = Reshape((*batch, *rows, *(1 for _ in columns), *depth))
        row = a.chain(space, space.link(widened, a.node, grown))
        left = space.lower(a.node, row)
        widened = Reshape((*batch, *(1 for _ in rows), *columns, *depth))
        column = space.link(widened, b.node, grown)
        first, middle, last = consecutive(len(batch), len(depth), len(columns))
        order = Permutation((*first, *last, *middle))
        right = space.lower(b.node, b.chain(space, space.link(order, b.node, column)))
        product = space.operation("multiply", self.core.dtype.name, left, right)
        kept = len(batch) + len(rows) + len(columns)
        expressions = {
            "term": space.expression(product, consecutive(kept, len(depth))),
            "finish": self.finish(),
        }
        return "reduce", (self.core.size, prod(depth)), expressions


def repeated_axes(operand: Expression, batch: Shape) -> int:
    """Return along how many of the last batch axes an operand is broadcast.

    Args:
        operand: an operand with axes (batch, …).
        batch: lengths of the batch axes.
    """
    repeats = 1
    for axis in range(len(operand.groups[0]) - 1, -1, -1):
        if any(access.strides[0][axis] for access in operand.accesses):
            break
        repeats *= operand.groups[0][axis]
    counts = range(len(batch), 0, -1)
    return next((n for n in counts if 1 < prod(batch[-n:]) <= repeats), 0)
