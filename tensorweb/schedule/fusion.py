"""Decide which nodes get kernels of their own and which are fused into others.

The graph is walked from the outputs backwards. Every node that is not stored has
owners: the kernels that compute it inside themselves. A reduction, contraction or scan
with one owner of equal size becomes that kernel's core, the owner its epilogue.
"""

from __future__ import annotations

from collections.abc import Iterable

from tensorweb.graph import Node
from tensorweb.schedule.linear import LinearGraph
from tensorweb.shapes import size

CORES = frozenset({"reduce", "argreduce", "matmul"})
"""Kinds that may carry an elementwise epilogue."""

HEAVY = CORES | {"scan", "scatter", "compress"}
"""Kinds that always need a kernel built around them."""

LOAD_COST = 4
RECOMPUTE_LIMIT = 32
"""A value used by several kernels is stored when it costs more than this."""

REPEAT_LIMIT = 12
"""A value used by many elements of one kernel is stored when it costs more."""


class Fusion:
    """The decision for one graph.

    Attributes:
        stored: `id` of the nodes that get a kernel and a storage.
        roots: those nodes, in order of computation.
        core_of: the core node by `id` of the root that computes it.
    """

    def __init__(self, graph: LinearGraph, forced: Iterable[Node] = ()) -> None:
        """Decide; `forced` nodes are stored whatever they cost."""
        self.graph = graph
        self.stored: set[int] = {id(node) for node in forced}
        self.core_of: dict[int, Node] = {}
        self._owners: dict[int, set[int]] = {}
        self._is_linear: dict[int, bool] = {}
        self._by_id: dict[int, Node] = {id(node): node for node in graph.nodes}
        self._cost = self._costs()
        for number in graph.outputs:
            base = graph.nodes[number].base
            if base.storage is None:
                self.stored.add(id(base))
        for node in reversed(graph.nodes):
            if node.base.storage is None:
                self._visit(node)
        self.roots = [node for node in graph.nodes if id(node) in self.stored]

    def _costs(self) -> dict[int, int]:
        """Return for each node what computing one element costs, loads included."""
        cost: dict[int, int] = {}
        for node in self.graph.nodes:
            kind = node.op.kind
            if node.base.storage is not None or kind in HEAVY:
                cost[id(node)] = LOAD_COST
            elif kind in ("constant", "iota"):
                cost[id(node)] = 0
            else:
                own = node.op.weight if kind == "map" else 0
                inner = sum(cost[id(source)] for source in node.inputs)
                own += {"gather": LOAD_COST, "pad": 2, "concat": 2, "embed": 2}.get(
                    kind, 0
                )
                cost[id(node)] = min(own + inner, 1_000_000)
        return cost

    def _visit(self, node: Node) -> None:
        """Decide one node after all nodes that read it, then tell its inputs."""
        key = id(node)
        kind = node.op.kind
        owners = self._owners.get(key, set())
        if key not in self.stored and self._must_store(node, owners):
            self.stored.add(key)
        if key in self.stored:
            owners = {key}
            self._is_linear[key] = True
        self._pass_on(node, owners)
        if kind == "gather":
            self._store_base(node.inputs[0])

    def _must_store(self, node: Node, owners: set[int]) -> bool:
        kind = node.op.kind
        if kind == "movement":
            return False
        if kind in HEAVY:
            return not self._becomes_core(node, owners)
        return (
            kind not in ("constant", "iota")
            and len(owners) > 1
            and self._cost[id(node)] > RECOMPUTE_LIMIT
        )

    def _becomes_core(self, node: Node, owners: set[int]) -> bool:
        if node.op.kind not in CORES or len(owners) != 1:
            return False
        (owner,) = owners
        root = self._by_id[owner]
        if root.op.kind in HEAVY or owner in self.core_of:
            return False
        if not self._is_linear.get(id(node), False) or root.size != node.size:
            return False
        self.core_of[owner] = node
        return True

    def _pass_on(self, node: Node, owners: set[int]) -> None:
        """Tell the inputs who computes them, and how they are reached."""
        kind = node.op.kind
        keeps_order = kind in ("map", "copy") or node.op.name == "reshape"
        is_linear = keeps_order and self._is_linear.get(id(node), False)
        for source in node.inputs:
            key = id(source)
            if source.base.storage is not None:
                continue
            is_same = is_linear and size(source.shape) == size(node.shape)
            self._is_linear[key] = self._is_linear.get(key, True) and is_same
            self._owners.setdefault(key, set()).update(owners)
            if self._repeats_too_much(node, source):
                self._store_base(source)

    def _repeats_too_much(self, node: Node, source: Node) -> bool:
        """Whether a reader would compute an expensive element again and again."""
        kind = node.op.kind
        if kind == "matmul":
            return self._cost[id(source)] > LOAD_COST + 4
        if kind == "scatter" and source is node.inputs[2]:
            return self._cost[id(source)] > REPEAT_LIMIT
        if kind in HEAVY or size(source.shape) >= size(node.shape):
            return False
        if kind not in ("map", "movement") or size(source.shape) * 2 > node.size:
            return False
        if node.op.name == "slice":
            return False
        return self._holds_core(source) or self._cost[id(source)] > REPEAT_LIMIT

    def _holds_core(self, node: Node) -> bool:
        """Whether an elementwise chain of this size ends at a core it could follow."""
        has_work = False
        while node.base.storage is None and node.op.kind in ("map", "movement", "copy"):
            has_work = has_work or node.op.kind == "map"
            sources = [
                source
                for source in node.inputs
                if source.base.storage is None and source.op.kind != "constant"
            ]
            if any(source.op.kind in CORES for source in sources):
                return has_work
            if not sources:
                return False
            node = sources[0]
        return False

    def _store_base(self, node: Node) -> None:
        """Store what a node looks at; movements are looked through."""
        base = node.base
        if base.storage is None:
            self.stored.add(id(base))
