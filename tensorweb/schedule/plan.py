"""Make the kernels of a graph, in the order in which they must run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from math import prod

from tensorweb.graph.attributes import (
    Expansion,
    Groups,
    Ordering,
    Permutation,
    Reduction,
    Reshape,
    Writing,
)
from tensorweb.graph.kinds import KINDS
from tensorweb.graph.node import Node, attributes_of
from tensorweb.graph.op import CONSTANT
from tensorweb.ops import OPS
from tensorweb.schedule.addressing import positions
from tensorweb.schedule.chain import Blocked
from tensorweb.schedule.fusion import HEAVY, Fusion
from tensorweb.schedule.kernel import Expression, Kernel, Planned
from tensorweb.schedule.linear import LinearGraph
from tensorweb.schedule.lowering import Bindings, Space
from tensorweb.shapes import Shape
from tensorweb.view import View

VECTOR_LENGTH = 64
"""Elements along the depth from which on a product of few outputs is a reduction."""

FEW_OUTPUTS = 256
"""Outputs of a product up to which that holds."""

SHORT_SORT = 2048
"""Rows up to this length are sorted by one launch."""

LONGEST_EPILOGUE = 64
"""What may be computed behind a product, by weight: each thread has it for many sums,
and a kernel of its own compiles sooner than so many copies."""

MOST_SCALARS = 32
"""Constants of one kernel; half of a launch's parameter block."""


def plan(graph: LinearGraph, max_inputs: int) -> list[Planned]:
    """Return the kernels that compute a graph's outputs.

    Args:
        graph: the numbered graph.
        max_inputs: most storages that one kernel may read on the device.
    """
    forced: dict[Node, None] = {}
    while True:
        fusion = Fusion(graph, forced)
        kernels: list[Planned] = []
        blocking: list[Node] = []
        for root in fusion.roots:
            try:
                kernels.append(KernelBuilder(graph, fusion, root, max_inputs).build())
            except Blocked as blocked:
                blocking += [node.base for node in blocked.nodes]
        if not blocking:
            return kernels
        for base in blocking:
            if base.storage is not None or base in forced:
                raise AssertionError(f"internal: {base!r} blocks a kernel")
        forced.update(dict.fromkeys(blocking))


def _consecutive(*counts: int) -> tuple[tuple[int, ...], ...]:
    """Return axes 0, 1, … in groups of so many."""
    ends = list(accumulate(counts))
    return tuple(
        tuple(range(end - count, end)) for count, end in zip(counts, ends, strict=True)
    )


Parts = tuple[str, tuple[int, ...], dict[str, Expression]]
"""Kind, sizes and expressions of a kernel."""


class KernelBuilder:
    """Builds the kernel of one root."""

    def __init__(
        self, graph: LinearGraph, fusion: Fusion, root: Node, max_inputs: int
    ) -> None:
        self.graph = graph
        self.root = root
        self.max_inputs = max_inputs - KINDS[root.op.kind].extra_storages
        self.stored = fusion.stored
        self.core = fusion.core_of.get(root)
        self.rows = fusion.rows_of.get(root, [])
        if self.core is None and root.op.kind in HEAVY:
            self.core = root
        self.bindings = Bindings()

    def build(self) -> Planned:
        """Return the planned kernel.

        Raises:
            Blocked: some node must be stored first.
        """
        kind = self.core.op.kind if self.core is not None else "elementwise"
        kind = "rows" if self.rows else kind
        kind, sizes, expressions = BUILDERS[kind](self)
        if (
            len(self.bindings.inputs) > self.max_inputs
            or len(self.bindings.scalars) > MOST_SCALARS
        ):
            raise Blocked(*self._cuts())
        op = self.core.op.name if self.core is not None else ""
        if kind == "reduce" and op == "matmul":
            op = "sum"
        if self.rows:
            op = ",".join(node.op.name for node in self.rows)
        kernel = Kernel(
            kind,
            op,
            sizes,
            tuple(expressions.items()),
            tuple(node.dtype.name for node in self.bindings.inputs),
            tuple(node.dtype.name for node in self.bindings.scalars),
            self.core.dtype.name if self.core is not None else "",
            self.root.dtype.name,
        )
        numbers = self.graph.numbers
        return Planned(
            kernel,
            numbers[self.root],
            tuple(numbers[node] for node in self.bindings.inputs),
            tuple(numbers[node] for node in self.bindings.scalars),
        )

    def _space(self) -> Space:
        return Space(self.bindings, self.stored, self.root, self.core)

    def _value(self, node: Node, *groups: tuple[int, ...]) -> Expression:
        """Return the expression of an input of the core, axes gathered in groups."""
        space = Space(self.bindings, self.stored, self.root)
        return space.expression(space.lower(node), groups)

    def _flat(self, node: Node) -> Expression:
        return self._value(node, tuple(range(len(node.shape))))

    def _finish(self) -> Expression:
        space = self._space()
        axes = tuple(range(len(self.root.shape)))
        return space.expression(space.lower(self.root), (axes,))

    def elementwise(self) -> Parts:
        """Return a kernel without a core."""
        return "elementwise", (self.root.size,), {"value": self._finish()}

    def rows_of_root(self) -> Parts:
        """Return a kernel that reduces and finishes each row; all share their steps."""
        shape = self.root.shape
        space = Space(self.bindings, self.stored, self.root, rows=self.rows)
        results = {
            f"stage{stage}": space.lower(node.inputs[0])
            for stage, node in enumerate(self.rows)
        }
        results["finish"] = space.lower(self.root)
        if any(s.kind in ("gather", "ramp") or s.guard >= 0 for s in space.steps):
            raise Blocked(self.rows[0])
        groups = (tuple(range(len(shape) - 1)), (len(shape) - 1,))
        expressions = {
            name: space.expression(result, groups) for name, result in results.items()
        }
        return "rows", (self.root.size // shape[-1], shape[-1]), expressions

    def reduce(self) -> Parts:
        """Return a kernel that reduces some axes and finishes each result."""
        assert self.core is not None, "internal: a reduction has a core"
        source = self.core.inputs[0]
        axes = attributes_of(self.core, Reduction).axes
        kept = tuple(a for a in range(len(source.shape)) if a not in axes)
        length = prod(source.shape[a] for a in axes)
        expressions = {
            "term": self._value(source, kept, axes),
            "finish": self._finish(),
        }
        return self.core.op.kind, (self.core.size, length), expressions

    def matmul(self) -> Parts:
        """Return a product of matrices, or of few outputs a reduction."""
        assert self.core is not None, "internal: a contraction has a core"
        a, b = self.core.inputs
        groups = attributes_of(self.core, Groups)
        batch, rows, depth = groups.split_left(a.shape)
        columns = groups.split_right(b.shape)[2]
        m, n, k = prod(rows), prod(columns), prod(depth)
        outputs = self.core.size
        if 1 in (m, n) or (outputs <= FEW_OUTPUTS and k >= VECTOR_LENGTH):
            return self._dot(a, b, (batch, rows, columns, depth))
        left = _consecutive(groups.batch, groups.rows, groups.depth)
        right = _consecutive(groups.batch, groups.depth, groups.columns)
        finish = self._finish()
        weights = (OPS[step.name].weight for step in finish.steps if step.name in OPS)
        if sum(weights) > LONGEST_EPILOGUE:
            raise Blocked(self.core)
        expressions = {
            "left": self._value(a, *left),
            "right": self._value(b, *right),
            "finish": finish,
        }
        return "matmul", (prod(batch), m, n, k), expressions

    def _dot(
        self, a: Node, b: Node, lengths: tuple[Shape, Shape, Shape, Shape]
    ) -> Parts:
        """Return a product of few outputs as a reduction of `a * b`.

        Args:
            a: the left operand.
            b: the right operand.
            lengths: of the axes of batch, rows, columns and depth.
        """
        space = Space(self.bindings, self.stored, self.root)
        batch, rows, columns, depth = lengths
        whole = Expansion((*batch, *rows, *columns, *depth))
        grown = space.link(whole, a, None)
        widened = Reshape((*batch, *rows, *(1 for _ in columns), *depth))
        left = space.lower(a, space.link(widened, a, grown))
        widened = Reshape((*batch, *(1 for _ in rows), *columns, *depth))
        column = space.link(widened, b, grown)
        first, middle, last = _consecutive(len(batch), len(depth), len(columns))
        order = Permutation((*first, *last, *middle))
        right = space.lower(b, space.link(order, b, column))
        assert self.core is not None, "internal: a contraction has a core"
        product = space.operation("multiply", self.core.dtype.name, left, right)
        kept = len(batch) + len(rows) + len(columns)
        expressions = {
            "term": space.expression(product, _consecutive(kept, len(depth))),
            "finish": self._finish(),
        }
        return "reduce", (self.core.size, prod(depth)), expressions

    def by_row(self) -> Parts:
        """Return a kernel that works on whole rows, along the last axis."""
        source = self.root.inputs[0]
        last = len(source.shape) - 1
        length = source.shape[-1]
        rows = prod(source.shape[:-1])
        term = self._value(source, tuple(range(last)), (last,))
        return self.root.op.kind, (rows, length), {"term": term}

    def sort(self) -> Parts:
        """Return a kernel that sorts rows; long rows are read by several launches.

        Raises:
            Blocked: a long row is computed, and launches might round it differently.
        """
        source = self.root.inputs[0]
        *outer, length = source.shape
        term = self._value(source, tuple(range(len(outer))), (len(outer),))
        if length > SHORT_SORT and any(step.kind == "map" for step in term.steps):
            raise Blocked(source)
        sizes = (
            prod(outer),
            length,
            int(attributes_of(self.root, Ordering).descending),
        )
        return "sort", sizes, {"term": term}

    def scatter(self) -> Parts:
        """Return a kernel that writes values over a copy, the last one last."""
        original, *indices, values = self.root.inputs
        writing = attributes_of(self.root, Writing)
        part = writing.part(View.contiguous(self.root.shape))
        space = Space(self.bindings, self.stored, self.root)
        position = positions(space, part, indices, writing.taking, values.shape)
        axes = tuple(range(len(values.shape)))
        expressions = {
            "original": self._flat(original),
            "position": space.expression(position, (axes,)),
            "written": self._flat(values),
        }
        return "scatter", (self.root.size, values.size), expressions

    def accumulate(self) -> Parts:
        """Return a kernel over rows of the result: axes of positions, then of a row."""
        original, positions, values = self.root.inputs
        rank = len(positions.shape)
        groups = _consecutive(rank, len(values.shape) - rank)
        width = prod(values.shape[rank:])
        expressions = {
            "original": self._flat(original),
            "position": self._flat(positions),
            "written": self._value(values, *groups),
        }
        sizes = (self.root.size // width, positions.size, width)
        return "accumulate", sizes, expressions

    def compress(self) -> Parts:
        """Return a kernel that gathers the positions where a mask holds."""
        mask, running = self.root.inputs
        expressions = {"mask": self._flat(mask), "running": self._flat(running)}
        return "compress", (mask.size,), expressions

    def _inlined(self) -> list[Node]:
        """Return the nodes that this kernel computes inside itself, inputs first."""
        found = {self.root: None}
        waiting = [self.root]
        while waiting:
            for source in waiting.pop().inputs:
                base = source.base
                is_stored = base.storage is not None or base in self.stored
                if not is_stored and source not in found:
                    found[source] = None
                    waiting.append(source)
        return sorted(found, key=self.graph.numbers.__getitem__)

    def _cuts(self) -> list[Node]:
        """Return the nodes to store so that no part of this kernel binds too much.

        Inputs come before their readers; where a node binds too much, the widest of
        its inputs is stored, and from there on counts as one storage.
        """
        cuts: list[Node] = []
        storages: dict[Node, frozenset[Node]] = {}
        scalars: dict[Node, frozenset[Node]] = {}
        none: frozenset[Node] = frozenset()

        for node in self._inlined():
            for source in node.inputs:
                if source not in storages:
                    storages[source], scalars[source] = frozenset({source.base}), none
            own = frozenset({node}) if node.op is CONSTANT else none
            while True:
                storages[node] = none.union(*(storages[s] for s in node.inputs))
                scalars[node] = own.union(*(scalars[s] for s in node.inputs))
                if len(storages[node]) > self.max_inputs:
                    bound = storages
                elif len(scalars[node]) > MOST_SCALARS:
                    bound = scalars
                else:
                    break
                widest = max(node.inputs, key=lambda s: len(bound[s]))
                if len(storages[widest]) + len(scalars[widest]) < 2:
                    raise AssertionError(f"internal: {node!r} binds too much")
                cuts.append(widest)
                storages[widest], scalars[widest] = frozenset({widest.base}), none
        if not cuts:
            raise AssertionError("internal: no node to store")
        return cuts


BUILDERS: dict[str, Callable[[KernelBuilder], Parts]] = {
    "elementwise": KernelBuilder.elementwise,
    "rows": KernelBuilder.rows_of_root,
    "reduce": KernelBuilder.reduce,
    "argreduce": KernelBuilder.reduce,
    "matmul": KernelBuilder.matmul,
    "scan": KernelBuilder.by_row,
    "sort": KernelBuilder.sort,
    "scatter": KernelBuilder.scatter,
    "accumulate": KernelBuilder.accumulate,
    "compress": KernelBuilder.compress,
}
"""Who gathers the parts of a kernel, by the kind of its core or root."""
