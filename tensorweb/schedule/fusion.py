"""Decide which nodes get kernels of their own and which are fused into others.

The graph is walked from the outputs backwards. Every node that is not stored has
owners: the kernels that compute it inside themselves. A reduction, contraction or scan
with one owner of equal size becomes that kernel's core, the owner its epilogue.
"""

from __future__ import annotations

from collections.abc import Iterable

from tensorweb.graph.attributes import Reduction
from tensorweb.graph.kinds import KINDS, LOAD_COST, Role, kinds_of
from tensorweb.graph.node import Node
from tensorweb.ops.structure import COPY, RESHAPE, SLICE
from tensorweb.schedule.linear import LinearGraph
from tensorweb.shapes import size

CORES = kinds_of(Role.CORE)
"""Kinds that may carry an elementwise epilogue."""

CHOICES = kinds_of(Role.CHOICE)
"""Kinds that read their inputs at shifted positions."""

HEAVY = kinds_of(Role.CORE, Role.STORED)
"""Kinds that always need a kernel built around them."""

ADDRESSING = frozenset({"gather", "scatter"})
"""Kinds that compute positions from index tensors for every element."""

LONGEST_ROW = 8192
"""Elements of a row that one workgroup keeps in registers."""

SHORT_ROW = 1024
"""Elements up to which a row pays as one kernel, however few rows there are."""

LEAST_ROWS = 16
"""Rows from which on longer ones pay too: a workgroup each keeps the device busy."""

MOST_STAGES = 4
"""Reductions that one kernel computes of its rows, one after another."""

LONGEST_SCAN = 4096
"""Elements of a row above which its running totals read it twice."""

RECOMPUTE_LIMIT = 32
"""Multiply-adds an element above which a value used by several kernels is stored."""

LONGEST_CHAIN = 48
"""Operations in a row that one kernel may hold; a longer chain is stored between.

Compilers of shaders slow down steeply with length: on SwiftShader a reduction behind
128 operations took 15 s, behind 64 a third of a second.
"""

REPEAT_LIMIT = 12
"""Multiply-adds an element above which a value is stored that many elements of one
kernel use."""


def fits_row(node: Node, root: Node) -> bool:
    """Whether a reduction runs along the rows of an elementwise root of equal shape.

    Rows must be short enough for registers, and many or short enough that one
    workgroup for each of them keeps the device busy.
    """
    shape = root.shape
    if root.op.kind != "map" or not shape or node.op.kind != "reduce":
        return False
    if node.dtype.kind == "bool" or node.attrs != Reduction((len(shape) - 1,)):
        return False
    length = shape[-1]
    is_busy = root.size // max(length, 1) >= LEAST_ROWS or length <= SHORT_ROW
    return node.inputs[0].shape == shape and 1 < length <= LONGEST_ROW and is_busy


def _inside_borders(node: Node) -> Node:
    """Return what lies inside the borders around a node: they cost no storage."""
    while node.base.storage is None and node.base.op.kind == "pad":
        node = node.base.inputs[0]
    return node


class Fusion:
    """The decision for one graph.

    Attributes:
        stored: the nodes that get a kernel and a storage.
        roots: those nodes, in order of computation.
        core_of: the core node by the root that computes it.
        rows_of: reductions along the last axis by the root that computes them row by
            row, in order of computation.
    """

    def __init__(self, graph: LinearGraph, forced: Iterable[Node] = ()) -> None:
        """Decide; `forced` nodes are stored whatever they cost."""
        self.graph = graph
        self.stored: set[Node] = set(forced)
        self.core_of: dict[Node, Node] = {}
        self.rows_of: dict[Node, list[Node]] = {}
        self._owners: dict[Node, set[Node]] = {}
        self._is_linear: dict[Node, bool] = {}
        self._cost = self._costs()
        for number in graph.outputs:
            base = graph.nodes[number].base
            if base.storage is None:
                self.stored.add(base)
        for node in reversed(graph.nodes):
            if node.base.storage is None:
                self._visit(node)
        self.roots = [node for node in graph.nodes if node in self.stored]

    def _costs(self) -> dict[Node, int]:
        """Return for each node what computing one element costs, loads included.

        A value that one kernel would compute several times, seen through different
        movements, is stored once it costs too much; else each generation of a stencil
        would double the work.
        """
        cost: dict[Node, int] = {}
        length: dict[Node, int] = {}
        scattered = self._read_at_several_places()
        for node in self.graph.nodes:
            kind = node.op.kind
            if node.base.storage is not None or kind in HEAVY:
                cost[node] = LOAD_COST
            elif kind in ("constant", "iota"):
                cost[node] = 0
            else:
                own = node.op.weight if kind == "map" else KINDS[kind].cost
                total = own + sum(cost[each] for each in set(node.inputs))
                steps = 1 + max((length.get(s, 0) for s in node.inputs), default=0)
                is_long = steps > LONGEST_CHAIN and kind != "movement"
                if is_long or (total > RECOMPUTE_LIMIT and node in scattered):
                    self.stored.add(node)
                    total, steps = LOAD_COST, 0
                length[node] = steps
                cost[node] = total
        return cost

    def _read_at_several_places(self) -> set[Node]:
        """Return nodes with several readers, one of them a movement."""
        readers: dict[Node, int] = {}
        moved: set[Node] = set()
        for node in self.graph.nodes:
            moves = node.op.kind in ("movement", *CHOICES)
            for source in node.inputs:
                if source.op.kind == "map" or source.op.kind in CHOICES:
                    readers[source] = readers.get(source, 0) + 1
                    if moves:
                        moved.add(source)
        return {node for node in moved if readers[node] > 1}

    def _visit(self, node: Node) -> None:
        """Decide one node after all nodes that read it, then tell its inputs."""
        owners = self._owners.get(node, set())
        if node not in self.stored and self._must_store(node, owners):
            self.stored.add(node)
        if node in self.stored:
            owners = {node}
            self._is_linear[node] = True
        self._pass_on(node, owners)
        if node.op.kind == "gather":
            self._store_base(node.inputs[0])

    def _must_store(self, node: Node, owners: set[Node]) -> bool:
        kind = node.op.kind
        if kind == "movement":
            return False
        if kind in HEAVY:
            return not (
                self._becomes_core(node, owners) or self._joins_row(node, owners)
            )
        return (
            kind not in ("constant", "iota")
            and len(owners) > 1
            and self._cost[node] > RECOMPUTE_LIMIT
        )

    def _becomes_core(self, node: Node, owners: set[Node]) -> bool:
        if node.op.kind not in CORES or len(owners) != 1:
            return False
        (root,) = owners
        if root.op.kind in HEAVY or root in self.core_of or root in self.rows_of:
            return False
        if not self._is_linear.get(node, False) or root.size != node.size:
            return False
        self.core_of[root] = node
        return True

    def _joins_row(self, node: Node, owners: set[Node]) -> bool:
        """Whether a reduction is computed inside the root that works on its rows."""
        if len(owners) != 1:
            return False
        (root,) = owners
        if root in self.core_of or not fits_row(node, root):
            return False
        if len(self.rows_of.get(root, ())) == MOST_STAGES:
            return False
        self.rows_of.setdefault(root, []).insert(0, node)
        return True

    def _pass_on(self, node: Node, owners: set[Node]) -> None:
        """Tell the inputs who computes them, and how they are reached."""
        kind = node.op.kind
        keeps_order = kind in ("map", "copy") or node.op is RESHAPE
        is_linear = keeps_order and self._is_linear.get(node, False)
        for source in node.inputs:
            if source.base.storage is not None:
                continue
            is_same = is_linear and size(source.shape) == size(node.shape)
            self._is_linear[source] = self._is_linear.get(source, True) and is_same
            self._owners.setdefault(source, set()).update(owners)
            if self._repeats_too_much(node, source, owners):
                self._store_base(_inside_borders(source))

    def _repeats_too_much(self, node: Node, source: Node, owners: set[Node]) -> bool:
        """Whether a reader would compute an expensive element again and again."""
        kind = node.op.kind
        if kind == "matmul":
            return self._cost[source] > LOAD_COST + 4
        if kind == "sort" or (
            kind in ("scatter", "accumulate") and source is node.inputs[-1]
        ):
            return self._cost[source] > REPEAT_LIMIT
        if kind == "accumulate" and source is node.inputs[1]:
            return self._cost[source] > RECOMPUTE_LIMIT
        if kind == "scan" and source.op is COPY:
            return True  # transposed on purpose, see `nodes.reduction.scan`
        if kind == "scan" and node.shape[-1] > LONGEST_SCAN:
            return self._cost[source] > RECOMPUTE_LIMIT
        if kind in ADDRESSING and source is not node.inputs[0]:
            elements = node.inputs[-1].size if kind == "scatter" else node.size
            is_repeated = size(source.shape) * 2 <= elements
            return is_repeated and self._cost[source] > REPEAT_LIMIT
        if kind in HEAVY or size(source.shape) >= size(node.shape):
            return False
        if kind not in ("map", "movement") or size(source.shape) * 2 > node.size:
            return False
        if node.op is SLICE:
            return False
        core = self._core_below(source)
        if core is not None and len(owners) == 1:
            return not fits_row(core, next(iter(owners)))
        return core is not None or self._cost[source] > REPEAT_LIMIT

    def _core_below(self, node: Node) -> Node | None:
        """Return the core that an elementwise chain of this size could follow."""
        has_work = False
        while node.base.storage is None and node.op.kind in ("map", "movement", "copy"):
            has_work = has_work or node.op.kind == "map"
            sources = [
                source
                for source in node.inputs
                if source.base.storage is None and source.op.kind != "constant"
            ]
            for source in sources:
                if source.op.kind in CORES:
                    return source if has_work else None
            if not sources:
                return None
            node = sources[0]
        return None

    def _store_base(self, node: Node) -> None:
        """Store what a node looks at; movements are looked through."""
        base = node.base
        if base.storage is None:
            self.stored.add(base)
