"""Fusion: decide which nodes get kernels of their own.

Nodes are visited in reverse order, from the outputs. Every node that is not stored has
owners: the kernels that compute it inside themselves. A reduction, contraction or scan
with one owner of equal size becomes that kernel's core, the owner its epilogue.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType

from tensorweb.graph.attributes import Custom
from tensorweb.graph.node import Node, attributes_of
from tensorweb.graph.op import CONSTANT, KINDS, LOAD_COST, Role, kinds_of
from tensorweb.ops.structure import COPY, CUSTOM, RESHAPE, SLICE
from tensorweb.schedule import policy
from tensorweb.schedule.chain_length import HEAVY, chains, cut
from tensorweb.schedule.kernel import Rule
from tensorweb.schedule.linear import LinearGraph
from tensorweb.schedule.refining import RowSpace, row_space, rows_below
from tensorweb.shapes import size

CORES = kinds_of(Role.CORE)
"""Kinds that may carry an elementwise epilogue."""

ADDRESSING = frozenset({"gather", "scatter"})
"""Kinds that compute an address from index tensors for every element."""

REDUCTIONS = frozenset({"reduce", "argreduce"})
"""Kinds that combine many elements."""


def _inside_borders(node: Node) -> Node:
    """Return the node below all padding of a node: padding needs no storage."""
    while node.base.storage is None and node.base.op.kind == "pad":
        node = node.base.inputs[0]
    return node


class Fusion:
    """The decision for one graph.

    Attributes:
        stored: the nodes that get a storage, and why; None for a graph's outputs.
        roots: the nodes that get a kernel, in order of computation.
        core_of: core node by root.
        rows_of: the reductions that a row kernel computes, by its root, in order of
            computation.
        row_spaces: index space of each row kernel, by root.
        extra_outputs: additional outputs of each row kernel, by root.
        length: length of the chain of operations that ends with a node.
        shared: costly values read by several roots of one index space; not stored,
            because these roots are expected to be merged into one kernel.
    """

    def __init__(
        self,
        graph: LinearGraph,
        forced: Mapping[Node, Rule | None] = MappingProxyType({}),
        longest: int = sys.maxsize,
        stored: Iterable[Node] = (),
    ) -> None:
        """Decide.

        Args:
            graph: the linear graph.
            forced: nodes that get kernels of their own at any cost, and why.
            longest: longest chain of operations in an elementwise kernel.
            stored: further nodes that are stored, by their own or another kernel.
        """
        self.graph = graph
        self._forced = forced
        self.stored = {**dict.fromkeys(stored, Rule.LONG_CHAIN), **forced}
        self.core_of: dict[Node, Node] = {}
        self.rows_of: dict[Node, list[Node]] = {}
        self.row_spaces: dict[Node, RowSpace] = {}
        self.extra_outputs: dict[Node, list[Node]] = {}
        self._owners: dict[Node, set[Node]] = {}
        # By node: the core below it, and whether a map lies between.
        self._cores: dict[Node, tuple[Node | None, bool]] = {}
        self._is_linear: dict[Node, bool] = {}
        self._readers = Counter(s for node in graph.nodes for s in node.inputs)
        self.shared: set[Node] = set()
        self._cost = costs(graph, self.stored, self._is_tail)
        measured = chains(graph, self.stored)
        self.length, self._stage = measured.length, measured.stage
        if more := measured.stored | cut(graph, measured, longest):
            self.stored = {**dict.fromkeys(more, Rule.LONG_CHAIN), **self.stored}
            self._cost = costs(graph, self.stored, self._is_tail)
        for number in graph.outputs:
            base = graph.nodes[number].base
            if base.storage is None:
                self.stored.setdefault(base, None)
        for node in reversed(graph.nodes):
            if node.base.storage is None:
                self._visit(node)
        kernels = self.stored.keys() - chain(*self.extra_outputs.values())
        self.roots = [node for node in graph.nodes if node in kernels]

    @property
    def longest(self) -> int:
        """Length of the longest chain of operations."""
        return max(self.length.values(), default=0)

    def read_repeatedly(self) -> list[Node]:
        """Return the stored elementwise values that have several readers.

        Roots of row kernels are omitted: with shorter chains, other row kernels may
        compute them.
        """
        return [
            root
            for root in self.roots
            if root.op.kind == "map"
            and self._readers[root] > 1
            and root not in self.rows_of
        ]

    def changed_since(self, earlier: Fusion) -> set[Node]:
        """Return the roots whose kernels may differ from an earlier decision's."""
        changed: set[Node] = set()
        for node in self.stored.keys() ^ earlier.stored.keys():
            for decision in (self, earlier):
                changed.update(decision._owners.get(node, ()))
        for root in self.stored:
            if (
                self.core_of.get(root) is not earlier.core_of.get(root)
                or self.rows_of.get(root) != earlier.rows_of.get(root)
                or self.row_spaces.get(root) != earlier.row_spaces.get(root)
                or self.extra_outputs.get(root) != earlier.extra_outputs.get(root)
            ):
                changed.add(root)
        return changed

    def _visit(self, node: Node) -> None:
        """Decide one node after all of its readers, then pass owners to its inputs."""
        owners = self._owners.get(node, set())
        host = self._host(node, owners)
        if node not in self.stored and (rule := self._must_store(node, owners)):
            self.stored[node] = rule
        if host is not None:
            self.extra_outputs.setdefault(host, []).append(node)
            owners = {host}
        elif node in self.stored:
            owners = {node}
            self._is_linear[node] = True
        self._pass_on(node, owners)
        if node.op.kind == "gather":
            self._store_base(node.inputs[0], Rule.GATHERED)
        if node.op is CUSTOM:
            for source in node.inputs:
                if source.base.op is not CONSTANT:  # a value for the text
                    self._store_base(source, Rule.OWN_INPUT)

    def _must_store(self, node: Node, owners: set[Node]) -> Rule | None:
        """Return the rule by which a node is stored, None if readers compute it."""
        kind = node.op.kind
        if kind == "movement":
            return None
        if kind in HEAVY:
            rule = self._bars_core(node, owners)
            return rule and self._bars_row(node, owners, rule)
        if kind in ("constant", "iota") or len(owners) < 2:
            return None
        if self._ends_core(node):
            return Rule.AFTER_CORE
        again = (len(owners) - 1) * (self._cost[node] - LOAD_COST)
        is_cheap = self._cost[node] <= policy.RECOMPUTE_LIMIT
        if is_cheap and again <= policy.TOTAL_RECOMPUTE_LIMIT:
            return None
        if self._stays_inside(node, owners):
            self.shared.add(node)
            return None
        return Rule.RECOMPUTED

    def _stays_inside(self, node: Node, owners: set[Node]) -> bool:
        """Whether all owners can be merged into one kernel that computes this node."""
        stage = self._stage[next(iter(owners))]
        return self._is_linear.get(node, False) and all(
            root.shape == node.shape
            and self._stage[root] == stage
            and root.op.kind not in HEAVY
            and root not in self.core_of
            and root not in self.rows_of
            for root in owners
        )

    def _bars_core(self, node: Node, owners: set[Node]) -> Rule | None:
        """Make a node its owner's core; return the rule if one forbids that."""
        if node.op.kind not in CORES:
            return Rule.OWN_KERNEL
        if len(owners) != 1:
            return Rule.READERS
        (root,) = owners
        if root.op.kind in HEAVY or root in self.core_of or root in self.rows_of:
            return Rule.SECOND_CORE
        if self.length[root] > policy.LONGEST_CHAIN:
            return Rule.LONG_CHAIN
        if not self._is_linear.get(node, False) or root.size != node.size:
            return Rule.MOVED_CORE
        self.core_of[root] = node
        return None

    def _bars_row(self, node: Node, owners: set[Node], rule: Rule) -> Rule | None:
        """Add a reduction to its owner's row kernel, or return the rule against it.

        `rule` is the one against a core, given where no row kernel is possible.
        """
        space = rows_below(node)
        if space is None or any(self.length[r] > policy.LONGEST_CHAIN for r in owners):
            return rule
        if not space.pays:
            is_for_rows = all(space.has_results(root.shape) for root in owners)
            return Rule.LONG_ROWS if is_for_rows else rule
        if len(owners) != 1 or not self._works_on(root := next(iter(owners)), space):
            return rule
        reductions = self._rows(root, space)
        if len(reductions) == policy.MOST_ROW_REDUCTIONS:
            return Rule.FULL_ROW
        reductions.insert(0, node)
        return None

    def _host(self, node: Node, owners: set[Node]) -> Node | None:
        """Return the row kernel's root that stores a value as an additional output.

        It is the first owner in order of computation, so that the others run after it.
        Outputs of a program's own kernel are stored with the first one.
        """
        if node.op is CUSTOM:
            first = node.inputs[-1]
            is_further = attributes_of(node, Custom).output > 0
            is_here = is_further and first.op is CUSTOM and first.storage is None
            return first if is_here else None
        if not owners or node in self._forced:
            return None
        host = min(owners, key=self.graph.numbers.__getitem__)
        space = self._shared_space(node, owners, host)
        if space is None:
            return None
        is_full = len(self.extra_outputs.get(host, ())) == policy.MOST_EXTRA_OUTPUTS
        if is_full or not self._works_on(host, space):
            return None
        reductions = self._rows(host, space)
        if node.op.kind == "reduce":
            if len(reductions) == policy.MOST_ROW_REDUCTIONS:
                return None
            reductions.insert(0, node)
        return host

    def _shared_space(
        self, node: Node, owners: set[Node], host: Node
    ) -> RowSpace | None:
        """Return the row space in which a host may compute a value to be stored."""
        is_stored = node in self.stored
        if node.op.kind == "reduce":
            return row_space(node) if is_stored or len(owners) > 1 else None
        if node.op.kind != "map" or not (is_stored or self._must_store(node, owners)):
            return None
        space = self.row_spaces.get(host) or self._space_below(node)
        if space is None or not space.has_results(node.shape):
            return None
        is_by_element = node.shape == space.shape
        return None if is_by_element and self._ends_core(node) else space

    def _space_below(self, node: Node) -> RowSpace | None:
        """Return the row space of a reduction that a value depends on, if any."""
        for each in self._below(node):
            if each.op.kind == "reduce":
                space = row_space(each)
                if space is not None:
                    return space
        return None

    def _below(self, node: Node) -> Iterator[Node]:
        """Yield a node and up to LONGEST_CHAIN nodes that its kernel computes."""
        seen, waiting = {node}, [node]
        while waiting and len(seen) < policy.LONGEST_CHAIN:
            each = waiting.pop()
            yield each
            if each.op.kind not in ("map", "movement", "copy", "reduce"):
                continue
            for source in each.inputs:
                is_open = source.base.storage is None and source not in self.stored
                if is_open and source not in seen:
                    seen.add(source)
                    waiting.append(source)

    def _is_tail(self, node: Node) -> bool:
        """Whether a node has several readers and can end the kernel of a core."""
        return self._readers[node] > 1 and self._ends_core(node)

    def _ends_core(self, node: Node) -> bool:
        """Whether a node can end the kernel of a core of its size.

        All values between must have one reader. Storing the node then costs nothing:
        otherwise the core's value would be stored.
        """
        waiting, seen = [node], 0
        while waiting and seen < policy.LONGEST_CHAIN:
            each = waiting.pop()
            seen += 1
            for source in each.inputs:
                is_open = source.base.storage is None and source not in self.stored
                if not is_open or self._readers.get(source, 0) != 1:
                    continue
                if source.op.kind in CORES and source.size == node.size:
                    return True
                keeps_order = source.op.kind in ("map", "copy")
                if keeps_order or source.op is RESHAPE:
                    waiting.append(source)
        return False

    def _rows(self, root: Node, space: RowSpace) -> list[Node]:
        """Make a root's kernel a row kernel, and return the list of its reductions."""
        reductions = self.rows_of.get(root)
        if reductions is None:
            last = root if root.op.kind == "reduce" else self.core_of.pop(root, None)
            reductions = self.rows_of[root] = [] if last is None else [last]
            self.row_spaces[root] = space
        return reductions

    def _works_on(self, root: Node, space: RowSpace) -> bool:
        """Whether a root's kernel is, or can become, a row kernel of this space.

        A root that has or is a core can do so only if the core reduces these rows.
        """
        if root in self.row_spaces:
            return self.row_spaces[root] == space
        core = root if root.op.kind == "reduce" else self.core_of.get(root)
        if core is None:
            return root.op.kind == "map" and space.has_results(root.shape)
        return row_space(core) == space

    def _pass_on(self, node: Node, owners: set[Node]) -> None:
        """Add a node's owners to its inputs; record whether it reads them in order."""
        kind = node.op.kind
        keeps_order = kind in ("map", "copy") or node.op is RESHAPE
        is_linear = keeps_order and self._is_linear.get(node, False)
        for source in node.inputs:
            if source.base.storage is not None:
                continue
            is_same = is_linear and size(source.shape) == size(node.shape)
            self._is_linear[source] = self._is_linear.get(source, True) and is_same
            self._owners.setdefault(source, set()).update(owners)
            if rule := self._repeats_too_much(node, source, owners):
                self._store_base(_inside_borders(source), rule)

    def _repeats_too_much(
        self, node: Node, source: Node, owners: set[Node]
    ) -> Rule | None:
        """Return the rule if a reader would recompute an expensive element often."""
        kind = node.op.kind
        if kind == "matmul":
            return self._above(policy.OPERAND_LIMIT, source, Rule.OPERAND)
        if kind == "sort" or (
            kind in ("scatter", "accumulate") and source is node.inputs[-1]
        ):
            return self._above(policy.REPEAT_LIMIT, source)
        if kind == "accumulate" and source is node.inputs[1]:
            return self._above(policy.RECOMPUTE_LIMIT, source)
        if kind == "scan" and source.op is COPY:
            return Rule.SCAN_COPY  # deliberate, see `nodes.reduction.scan`
        if kind == "scan" and node.shape[-1] > policy.LONGEST_SCAN:
            return self._above(policy.RECOMPUTE_LIMIT, source, Rule.LONG_SCAN)
        if kind in ADDRESSING and source is not node.inputs[0]:
            elements = node.inputs[-1].size if kind == "scatter" else node.size
            is_repeated = size(source.shape) * 2 <= elements
            return self._above(policy.REPEAT_LIMIT, source) if is_repeated else None
        if kind in REDUCTIONS:
            return Rule.ROW_RESULT if self._ends_rows(source) else None
        if kind in HEAVY or size(source.shape) >= size(node.shape):
            return None
        if kind not in ("map", "movement") or size(source.shape) * 2 > node.size:
            return None
        if node.op is SLICE:
            return None
        core = self._core_below(source)
        if core is not None and len(owners) == 1:
            space = rows_below(core)
            if space is None or not self._works_on(next(iter(owners)), space):
                return Rule.MOVED_CORE
            return None if space.pays else Rule.LONG_ROWS
        if core is not None:
            return Rule.READERS
        limit = (
            policy.RECOMPUTE_LIMIT if size(source.shape) == 1 else policy.REPEAT_LIMIT
        )
        return self._above(limit, source)

    def _above(
        self, limit: int, source: Node, rule: Rule = Rule.REPEATED
    ) -> Rule | None:
        return rule if self._cost[source] > limit else None

    def _ends_rows(self, node: Node) -> bool:
        """Whether a node is the epilogue of several reductions of the same rows.

        One row kernel computes it; inside a reader, each reduction would need a kernel.
        """
        core = self._core_below(node)
        space = None if core is None else row_space(core)
        if core is None or space is None or core.size != size(node.shape):
            return False
        found = [each for each in self._below(node) if each.op.kind == "reduce"]
        if any(row_space(each) != space for each in found):
            return False
        return len(found) > 1

    def _core_below(self, node: Node) -> Node | None:
        """Return the core below an elementwise chain, None if the chain has no map."""
        walked: list[Node] = []
        core, has_work = None, False
        while node.base.storage is None and node.op.kind in ("map", "movement", "copy"):
            if node in self._cores:
                core, has_work = self._cores[node]
                break
            walked.append(node)
            sources = [
                source
                for source in node.inputs
                if source.base.storage is None and source.op.kind != "constant"
            ]
            core = next((each for each in sources if each.op.kind in CORES), None)
            if core is not None or not sources:
                break
            node = sources[0]
        for each in reversed(walked):
            has_work = has_work or each.op.kind == "map"
            self._cores[each] = core, has_work
        return core if has_work else None

    def _store_base(self, node: Node, rule: Rule) -> None:
        """Store the base of a view, if it is not computed yet."""
        base = node.base
        if base.storage is None:
            self.stored.setdefault(base, rule)


# Costs

CHOICES = kinds_of(Role.CHOICE)
"""Kinds that read their inputs at shifted indices."""


def costs(
    graph: LinearGraph,
    stored: dict[Node, Rule | None],
    is_tail: Callable[[Node], bool],
) -> dict[Node, int]:
    """Return the cost of each node, and add expensive shared nodes to `stored`.

    A value that one kernel would compute several times through different movements is
    stored if it costs more than RECOMPUTE_LIMIT; otherwise each generation of a stencil
    would double the work.

    Args:
        graph: the linear graph.
        stored: the nodes that get kernels of their own; extended in place.
        is_tail: whether a value ends a core's kernel and has several readers.
    """
    cost: dict[Node, int] = {}
    scattered = _read_at_several_places(graph)
    for node in graph.nodes:
        kind = node.op.kind
        is_read = node.base.storage is not None or node in stored
        if is_read or kind in HEAVY:
            cost[node] = LOAD_COST
        elif kind in ("constant", "iota"):
            cost[node] = 0
        else:
            own = node.op.weight if kind == "map" else KINDS[kind].cost
            total = own + sum(cost[each] for each in set(node.inputs))
            if total > policy.RECOMPUTE_LIMIT and node in scattered:
                stored[node] = Rule.SHIFTED
                total = LOAD_COST
            if kind == "map" and is_tail(node):
                total = LOAD_COST
            cost[node] = total
    return cost


def _read_at_several_places(graph: LinearGraph) -> set[Node]:
    """Return nodes with several readers, one of them a movement."""
    readers: dict[Node, int] = {}
    moved: set[Node] = set()
    for node in graph.nodes:
        moves = node.op.kind in ("movement", *CHOICES)
        for source in node.inputs:
            if source.op.kind == "map" or source.op.kind in CHOICES:
                readers[source] = readers.get(source, 0) + 1
                if moves:
                    moved.add(source)
    return {node for node in moved if readers[node] > 1}
