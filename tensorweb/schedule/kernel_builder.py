"""Build the kernel of one node, or of several nodes of one index space."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from math import prod

from tensorweb.graph.attributes import (
    Custom,
    Expansion,
    Factoring,
    Ordering,
    Reduction,
    Reshape,
    Transform,
    Writing,
)
from tensorweb.graph.node import Node, attributes_of
from tensorweb.graph.op import CONSTANT, KINDS
from tensorweb.schedule import policy
from tensorweb.schedule.chain_length import HEAVY
from tensorweb.schedule.fusion import Fusion
from tensorweb.schedule.joining import Candidate, walks_across
from tensorweb.schedule.kernel import (
    BY_ELEMENT,
    BY_ROW,
    Expression,
    Kernel,
    Parts,
    Planned,
    Rule,
    result_name,
)
from tensorweb.schedule.linear import LinearGraph
from tensorweb.schedule.lowering import Bindings, Space, positions
from tensorweb.schedule.products import (
    Product,
    ProductBuilder,
    consecutive,
    product_of,
    split_product,
)
from tensorweb.schedule.refining import Blocked, RowSpace, split_groups
from tensorweb.view import View


class KernelBuilder:
    """Builds the kernel of one root."""

    def __init__(
        self,
        graph: LinearGraph,
        fusion: Fusion,
        root: Node,
        max_inputs: int,
        equal: Mapping[Node, Node],
        others: Sequence[Node] = (),
        outputs: Sequence[Node] = (),
    ) -> None:
        self.graph = graph
        self.root = root
        self.others = others
        self.outputs = outputs or (root,)
        self.space: Space | None = None
        self.max_inputs = max_inputs - KINDS[root.op.kind].extra_storages
        if others:  # elementwise: no scratch storage, so its binding is free
            self.max_inputs = max_inputs + policy.OUTPUT_BINDINGS - len(self.outputs)
        self.stored = fusion.stored
        self.core = fusion.core_of.get(root)
        self.rows = fusion.rows_of.get(root, [])
        self.row_space = fusion.row_spaces.get(root)
        self.extra_outputs = fusion.extra_outputs.get(root, ())
        if self.extra_outputs:
            self.outputs = (root, *self.extra_outputs)
            self.max_inputs -= len(self.extra_outputs)
        if self.core is None and root.op.kind in HEAVY and not self.rows:
            self.core = root
        self.is_long = fusion.length[root] > policy.LONGEST_CHAIN
        self.equal = equal
        self.bindings = Bindings(graph.numbers, equal)

    def build(self) -> Planned:
        """Return the planned kernel.

        Raises:
            Blocked: a node must be stored first.
        """
        is_custom = self.root.op.kind == "custom" and not self.rows
        if self.extra_outputs and not self.rows and not is_custom:
            # None of its reductions joined it.
            raise Blocked(Rule.OTHER_ROWS, *self.extra_outputs)
        kind, sizes, expressions = self._builder()(self)
        if not is_custom:  # `tw.kernel` has counted what that one binds
            self._check_bindings()
        kernel = Kernel(
            kind,
            self._op_name(kind),
            sizes,
            tuple(expressions.items()),
            tuple(node.dtype.name for node in self.bindings.inputs),
            tuple(node.dtype.name for node in self.bindings.scalars),
            self.core.dtype.name if self.core is not None else "",
            tuple(node.dtype.name for node in self.outputs),
            attributes_of(self.root, Custom) if is_custom else None,
        )
        numbers = self.graph.numbers
        return Planned(
            kernel,
            tuple(numbers[node] for node in self.outputs),
            tuple(numbers[node] for node in self.bindings.inputs),
            tuple(numbers[node] for node in self.bindings.scalars),
        )

    def _builder(self) -> Callable[[KernelBuilder], Parts]:
        """Return the method that builds the kernel."""
        if self.rows:
            return BUILDERS["rows"]
        return BUILDERS[self.core.op.kind if self.core is not None else "elementwise"]

    def _op_name(self, kind: str) -> str:
        """Return the operation of a kernel of `kind`, or the reductions of its rows."""
        if self.rows:
            return ",".join(node.op.name for node in self.rows)
        if self.core is None:
            return ""
        if kind == "custom":
            return attributes_of(self.core, Custom).name
        is_product_as_sum = kind == "reduce" and self.core.op.name == "matmul"
        return "sum" if is_product_as_sum else self.core.op.name

    def _check_bindings(self) -> None:
        """Raise `Blocked` where the kernel reads its own output or too many inputs."""
        if any(node in self.bindings.inputs for node in self.extra_outputs):
            # A gather reads a value of the same rows, which must be computed before.
            raise Blocked(Rule.ROW_ADDRESS, *self.extra_outputs)
        if (
            len(self.bindings.inputs) <= self.max_inputs
            and len(self.bindings.scalars) <= policy.MOST_SCALARS
        ):
            return
        if self.extra_outputs:  # their own kernels read fewer inputs each
            raise Blocked(Rule.BINDINGS, *self.extra_outputs)
        most, numbers = self.max_inputs, self.graph.numbers
        found = cuts(self.root, self.stored, numbers, most, self.equal)
        raise Blocked(Rule.BINDINGS, *found)

    def _space(self) -> Space:
        bindings, stored = self.bindings, self.stored
        return Space(bindings, stored, self.root, self.core, others=self.others)

    def _value(self, node: Node, *groups: tuple[int, ...]) -> Expression:
        """Return the expression of an input of the core, its axes in groups."""
        space = Space(self.bindings, self.stored, self.root)
        return space.expression(space.lower(node), groups)

    def _value_finely(self, node: Node, *groups: tuple[int, ...]) -> Expression:
        """Return the expression of an input, with axes split where reshapes need it."""
        space = Space(self.bindings, self.stored, self.root)
        (result,), shape = space.lower_finely(node)
        return space.expression(result, split_groups(node.shape, shape, groups))

    def _flat(self, node: Node) -> Expression:
        return self._value(node, tuple(range(len(node.shape))))

    def _finish(self) -> Expression:
        space = self.space = self._space()
        axes = tuple(range(len(self.root.shape)))
        return space.expression(space.lower(self.root), (axes,))

    def candidate(self) -> Candidate:
        """Describe the built kernel for merging with others."""
        reads = dict.fromkeys(self.bindings.inputs, False)
        inside: Sequence[Node] = ()
        bar: Rule | None = Rule.KEPT_CORE
        if self.space is not None:
            inside = list(self.space.inside)
        if self.space is not None and self.core is None and self.root.size:
            own = View.contiguous(self.root.shape)
            for slot, node in enumerate(self.bindings.inputs):
                reads[node] = self.space.reads_in_place(slot, own)
            is_across = any(map(walks_across, self.space.views))
            bar = Rule.KEPT_ACROSS if is_across else None
        scalars = self.bindings.scalars
        return Candidate(self.root, reads, scalars, inside, bar, self.extra_outputs)

    def elementwise(self) -> Parts:
        """Return an elementwise kernel; all of its outputs share their steps."""
        space = self.space = self._space()
        if self.is_long:
            space.lower_in_order([*self.others, self.root])
        if not self.others:
            (result,), shape = space.lower_finely(self.root)
            value = space.expression(result, (tuple(range(len(shape))),))
            return "elementwise", (self.root.size,), {"value": value}
        steps = {node: space.lower(node) for node in (*self.others, self.root)}
        result, *more = (steps[node] for node in self.outputs)
        axes = tuple(range(len(self.root.shape)))
        value = replace(space.expression(result, (axes,)), more=tuple(more))
        return "elementwise", (self.root.size,), {"value": value}

    def rows_of_root(self) -> Parts:
        """Return a row kernel; its reductions and results share their steps."""
        assert self.row_space is not None, "internal: rows have a space"
        whole = self.row_space
        space = Space(
            self.bindings,
            self.stored,
            self.root,
            rows=self.rows,
            inner=whole.rank,
            others=self.extra_outputs,
        )
        expressions = lower_rows(space, whole, self.outputs, self.rows)
        return "rows", (prod(whole.outer), prod(whole.inner)), expressions

    def reduce(self) -> Parts:
        """Return a kernel that reduces axes and applies an epilogue to each result."""
        assert self.core is not None, "internal: a reduction has a core"
        source = self.core.inputs[0]
        axes = attributes_of(self.core, Reduction).axes
        kept = tuple(a for a in range(len(source.shape)) if a not in axes)
        length = prod(source.shape[a] for a in axes)
        # An argreduce returns indices along a single axis, so that is never split.
        is_sum = self.core.op.kind == "reduce"
        value = self._value_finely if is_sum else self._value
        expressions = {"term": value(source, kept, axes), "finish": self._finish()}
        return self.core.op.kind, (self.core.size, length), expressions

    def matmul(self) -> Parts:
        """Return a matmul kernel, or a reduction if there are few outputs."""
        assert self.core is not None, "internal: a contraction has a core"
        try:
            return self._product(product_of(self.core))
        except Blocked as blocked:
            apart = split_product(self.core, self.stored)
            if apart is None:
                raise
            self.bindings = Bindings(self.graph.numbers, self.equal)
            try:
                return self._product(apart)
            except Blocked:
                raise blocked from None

    def _product(self, product: Product) -> Parts:
        assert self.core is not None, "internal: a contraction has a core"

        def space() -> Space:
            return Space(self.bindings, self.stored, self.root)

        return ProductBuilder(self.core, product, space, self._finish).parts()

    def by_row(self) -> Parts:
        """Return a kernel that processes rows along the last axis."""
        source = self.root.inputs[0]
        last = len(source.shape) - 1
        length = source.shape[-1]
        rows = prod(source.shape[:-1])
        term = self._value(source, tuple(range(last)), (last,))
        return self.root.op.kind, (rows, length), {"term": term}

    def sort(self) -> Parts:
        """Return a kernel that sorts rows; several launches read long rows.

        Raises:
            Blocked: the elements of a long row are computed, and each launch might
                round them differently.
        """
        source = self.root.inputs[0]
        *outer, length = source.shape
        term = self._value(source, tuple(range(len(outer))), (len(outer),))
        if length > policy.SHORT_SORT and any(
            step.kind == "map" for step in term.steps
        ):
            raise Blocked(Rule.LONG_SORT, source)
        sizes = (
            prod(outer),
            length,
            int(attributes_of(self.root, Ordering).descending),
        )
        return "sort", sizes, {"term": term}

    def scatter(self) -> Parts:
        """Return a kernel that scatters values into a copy; the last write wins."""
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
        """Return a kernel that combines rows of values into a copy at given indices."""
        original, positions, values = self.root.inputs
        rank = len(positions.shape)
        groups = consecutive(rank, len(values.shape) - rank)
        width = prod(values.shape[rank:])
        expressions = {
            "original": self._flat(original),
            "position": self._flat(positions),
            "written": self._value(values, *groups),
        }
        sizes = (self.root.size // width, positions.size, width)
        return "accumulate", sizes, expressions

    def compress(self) -> Parts:
        """Return a kernel that collects the indices where a mask is true."""
        mask, running = self.root.inputs
        expressions = {"mask": self._flat(mask), "running": self._flat(running)}
        return "compress", (mask.size,), expressions

    def fourier(self) -> Parts:
        """Return a kernel that Fourier-transforms an axis.

        Real and imaginary parts share their steps.
        """
        re, im, roots = self.root.inputs
        axis, sign = attributes_of(self.root, Transform)
        others = tuple(a for a in range(len(re.shape)) if a != axis)
        space = Space(self.bindings, self.stored, self.root)
        parts, shape = space.lower_finely(re, im)
        groups = split_groups(re.shape, shape, (others, (axis,)))
        term = space.expression(parts[0], groups)
        expressions = {
            "term": replace(term, more=(parts[1],)),
            "root": self._flat(roots),
        }
        rows = prod(re.shape[a] for a in others)
        sizes = (rows, re.shape[axis], prod(re.shape[axis + 1 :]), int(sign > 0))
        return "fourier", sizes, expressions

    def factor(self) -> Parts:
        """Return a kernel that factorizes or solves a batch of matrices."""
        source, *others = self.root.inputs
        *outer, rows, columns = source.shape
        attrs = attributes_of(self.root, Factoring)
        width = rows if attrs.is_complete else 0
        if others and not width:
            width = others[0].shape[-1]
        expressions = {"first": self._flat(source)}
        if others:
            expressions["second"] = self._flat(others[0])
        flags = (int(attrs.is_upper), int(attrs.is_unit), int(attrs.is_packed))
        sizes = (prod(outer), rows, columns, width, *flags, attrs.sweeps)
        return "factor", sizes, expressions

    def custom(self) -> Parts:
        """Return a program's own kernel, which reads every input as a storage.

        A constant that the kernel takes as a value is a constant of the launch.
        """
        own = attributes_of(self.root, Custom)
        sources = self.root.inputs[: len(own.inputs)]
        outputs = [attributes_of(node, Custom).output for node in self.outputs]
        expressions = {
            argument.name: self._flat(source)
            for argument, source in zip(own.inputs, sources, strict=True)
        }
        return "custom", tuple(outputs), expressions


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
    "fourier": KernelBuilder.fourier,
    "factor": KernelBuilder.factor,
    "custom": KernelBuilder.custom,
}
"""The method that builds a kernel, by the kind of its core or root."""


# Kernels of rows


def lower_rows(
    space: Space, rows: RowSpace, outputs: Sequence[Node], reductions: Sequence[Node]
) -> dict[str, Expression]:
    """Return the expressions by name, of each reduction and then each result.

    Args:
        space: an empty space created with these reductions.
        rows: the index space and its rows.
        outputs: nodes that the kernel stores, one value per element or per row.
        reductions: of the rows, in order of computation.

    Raises:
        Blocked: a node must be stored first.
    """
    results = {
        f"stage{stage}": space.lower(node.inputs[0])
        for stage, node in enumerate(reductions)
    }
    for number, node in enumerate(outputs):
        if node.shape == rows.shape:
            results[result_name(BY_ELEMENT, number)] = space.lower(node)
        else:
            along = space.link(Expansion(rows.shape), node, None)
            widened = Reshape((*rows.outer, *(1 for _ in rows.inner)))
            name = result_name(BY_ROW, number)
            try:
                results[name] = space.lower(node, space.link(widened, node, along))
            except Blocked as blocked:
                if node not in blocked.nodes:
                    raise
                # Another operand has other axes, so the row kernel ends before it.
                raise Blocked(Rule.OTHER_ROWS, reductions[-1], *outputs) from None
    _check_addressing(space, reductions, outputs)
    rank = len(rows.outer)
    groups = (tuple(range(rank)), tuple(range(rank, rank + rows.rank)))
    expressions = {
        name: space.expression(result, groups) for name, result in results.items()
    }
    if any(len(each.groups[-1]) > 1 for each in expressions.values()):
        raise Blocked(Rule.OTHER_ROWS, *reductions, *outputs)
    return expressions


def _check_addressing(
    space: Space, reductions: Sequence[Node], outputs: Sequence[Node]
) -> None:
    """Check that no address or guard of a load depends on a reduction.

    Raises:
        Blocked: an address depends on a reduction, which must be stored first.
    """
    steps = space.steps
    reads = [step for step in steps if step.kind == "gather" or step.guard >= 0]
    waiting = [n for step in reads for n in (*step.args, step.guard) if n >= 0]
    found = set(waiting)
    while waiting:
        step = steps[waiting.pop()]
        if step.kind == "core":
            raise Blocked(Rule.ROW_ADDRESS, reductions[step.slot], *outputs)
        before = {*step.args, step.guard} - found - {-1}
        found |= before
        waiting += before


# Kernels that bind too much


def inlined(
    root: Node, stored: Container[Node], numbers: Mapping[Node, int]
) -> list[Node]:
    """Return the nodes that a kernel computes inside itself, inputs first."""
    found = {root: None}
    waiting = [root]
    while waiting:
        for source in waiting.pop().inputs:
            base = source.base
            is_stored = base.storage is not None or base in stored
            if not is_stored and source not in found:
                found[source] = None
                waiting.append(source)
    return sorted(found, key=numbers.__getitem__)


def cuts(
    root: Node,
    stored: Container[Node],
    numbers: Mapping[Node, int],
    most: int,
    equal: Mapping[Node, Node],
) -> list[Node]:
    """Return the nodes to store so that every part of a kernel stays within the limits.

    Inputs are visited before their consumers. Where a node exceeds a limit, the input
    that binds most is stored and counts as one storage from there on.

    Args:
        root: the node that the kernel computes.
        stored: the nodes with kernels of their own.
        numbers: index of each node in order of computation.
        most: limit on the storages that a kernel reads.
        equal: constants by the equal constant that is passed instead.
    """
    found: list[Node] = []
    storages: dict[Node, frozenset[Node]] = {}
    scalars: dict[Node, frozenset[Node]] = {}
    none: frozenset[Node] = frozenset()

    for node in inlined(root, stored, numbers):
        for source in node.inputs:
            if source not in storages:
                storages[source], scalars[source] = frozenset({source.base}), none
        own = frozenset({equal.get(node, node)}) if node.op is CONSTANT else none
        while True:
            storages[node] = none.union(*(storages[s] for s in node.inputs))
            scalars[node] = own.union(*(scalars[s] for s in node.inputs))
            if len(storages[node]) > most:
                bound = storages
            elif len(scalars[node]) > policy.MOST_SCALARS:
                bound = scalars
            else:
                break
            widest = max(node.inputs, key=lambda s: len(bound[s]))
            if len(storages[widest]) + len(scalars[widest]) < 2:
                raise AssertionError(f"internal: {node!r} binds too much")
            found.append(widest)
            storages[widest], scalars[widest] = frozenset({widest.base}), none
    if not found:
        raise AssertionError("internal: no node to store")
    return found
