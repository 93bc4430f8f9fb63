"""Look for NaN and infinity in what a flush computes, and for what made them.

`KernelBackend` runs its flushes through `Inspector.inspect` while a search is open
(`graph/nonfinite.py`). A flush runs its fused kernels as always, then its results are
looked at. Only where one is not finite, the operations it depends on are computed once
more, one after another. The origins found are cached by the graph's structure, so that
a loop in which everything is NaN goes on about as fast as before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Protocol

from tensorweb import dtypes
from tensorweb.backends import policy
from tensorweb.errors import DeviceMemoryError
from tensorweb.graph.autograd import grad_disabled
from tensorweb.graph.node import Node, number_of_constant
from tensorweb.graph.nonfinite import (
    FINITE,
    KINDS,
    Found,
    Kind,
    Origin,
    Origins,
    Search,
    found_in,
    not_searching,
)
from tensorweb.graph.op import CONSTANT
from tensorweb.graph.tracing import Placeholder
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.reduction import reduce
from tensorweb.ops import OPS
from tensorweb.schedule.linear import LinearGraph
from tensorweb.waits import Steps, run_blocking

PREDICATES: dict[Kind, str] = {"nan": "isnan", "inf": "isinf"}
"""Operations by kind, in the order of `KINDS`."""


class Host(Protocol):
    """The methods of a backend that an `Inspector` calls."""

    def realize(self, nodes: Sequence[Node]) -> None:
        """Compute nodes."""

    def read_steps(self, nodes: Sequence[Node]) -> Steps[list[bytes]]:
        """Compute nodes and return their bytes."""


class Inspector:
    """Looks at what one backend computes, for one search after another."""

    def __init__(self, host: Host) -> None:
        """Begin without a search."""
        self._host = host
        self._search: Search | None = None
        self._known: dict[Hashable, list[dict[Kind, Origin | int]]] = {}

    def inspect(
        self, search: Search, graph: LinearGraph, run: Callable[[], None]
    ) -> None:
        """Run a flush and give origins to those of its results that are not finite."""
        if search is not self._search:
            self._search = search
            self._known.clear()
        # Before the flush: afterwards its results have dropped their inputs.
        with not_searching(), grad_disabled():
            copies = _copied(graph)
        run()
        results = [
            node
            for node, one in zip(graph.nodes, copies, strict=True)
            if one is not node and node.storage is not None and _is_float(node)
        ]
        with not_searching(), grad_disabled():
            self._settle(search, graph, copies, results)

    def _settle(
        self,
        search: Search,
        graph: LinearGraph,
        copies: Sequence[Node],
        results: Sequence[Node],
    ) -> None:
        """Give origins to the results, cached ones where an equal graph was seen."""
        found = dict(zip(results, self._look_together(results), strict=True))
        for node in results:
            if not found[node]:
                search.inherit(node, {})
        suspects = [node for node in results if found[node]]
        if not suspects:
            return
        numbers = graph.numbers
        pairs = zip(graph.nodes, copies, strict=True)
        before = [search.origins(node) for node, one in pairs if one is node]
        # An equal graph has equal origins only where the same inputs are not finite.
        key = (
            graph.key,
            tuple(map(tuple, before)),
            tuple((numbers[node], found[node]) for node in suspects),
        )
        known = self._known.get(key)
        if known is None:
            self._find(search, graph, copies, {node: found[node] for node in suspects})
            self._known[key] = [
                _by_reads(search.origins(node), before) for node in suspects
            ]
            return
        for node, origins in zip(suspects, known, strict=True):
            search.inherit(
                node,
                {
                    kind: before[origin][kind] if isinstance(origin, int) else origin
                    for kind, origin in origins.items()
                },
            )

    def _find(
        self,
        search: Search,
        graph: LinearGraph,
        copies: Sequence[Node],
        suspects: Mapping[Node, Found],
    ) -> None:
        """Compute the ancestors of non-finite results one by one, and note origins."""
        numbers = graph.numbers
        needed = _ancestors(copies, [copies[numbers[node]] for node in suspects])
        inputs = {node: node.inputs for node in needed}
        try:
            for begin in range(0, len(needed), policy.VALUES_PER_READ):
                part = needed[begin : begin + policy.VALUES_PER_READ]
                for node in part:
                    if node.owner is None:
                        self._host.realize([node])
                floats = [node for node in part if _is_float(node)]
                for node, found in zip(
                    floats, self._look_together(floats), strict=True
                ):
                    search.made(node, inputs[node], found, self._look)
        except DeviceMemoryError:
            pass  # The copies do not fit: the kernel's lines are named together below.
        for node, kinds in suspects.items():
            one = copies[numbers[node]]
            origins = search.origins(one) if search.is_known(one) else {}
            search.inherit(
                node,
                {
                    kind: origins.get(kind) or search.made_inside(kind, needed)
                    for kind in KINDS
                    if kind in kinds
                },
            )

    def _look(self, node: Node) -> Found:
        return self._look_together([node])[0]

    def _look_together(self, nodes: Sequence[Node]) -> list[Found]:
        """Return what is not finite in values, all read from the device at once."""
        asked = [node for node in dict.fromkeys(nodes) if _can_be_asked(node)]
        questions = [_any(name, node) for node in asked for name in PREDICATES.values()]
        self._host.realize(questions)
        answers = iter(
            run_blocking(self._host.read_steps(questions)) if questions else []
        )
        found = {
            node: frozenset(kind for kind in KINDS if any(next(answers)))
            for node in asked
        }
        for node in nodes:
            if node.base.op is CONSTANT:
                found[node] = found_in(number_of_constant(node.base))
        return [found.get(node, FINITE) for node in nodes]


def _any(name: str, node: Node) -> Node:
    """Return an int32 node: 1 if an element is NaN (or infinite, by `name`), else 0."""
    yes = cast(elementwise(OPS[name], node), dtypes.int32)
    return reduce("max", yes, tuple(range(len(yes.shape))))


def _is_float(node: Node) -> bool:
    return node.dtype.kind == "float"


def _can_be_asked(node: Node) -> bool:
    """Whether elements can be read; an argument of a traced function has none."""
    base = node.base
    is_argument = isinstance(base.storage, Placeholder)
    return node.size > 0 and base.op is not CONSTANT and not is_argument


def _copied(graph: LinearGraph) -> list[Node]:
    """Return a graph's nodes, each pending one as a copy.

    A flush lets its results drop their inputs; the copies keep theirs. It also decides
    by reference counts what to store, so the copies refer to no pending node of the
    graph. Nodes that have values, or no inputs, are returned themselves.
    """
    copies: dict[int, Node] = {}
    numbers = graph.numbers
    for number, node in enumerate(graph.nodes):
        owner = node.owner
        is_there = (owner or node).storage is not None
        if is_there or not node.inputs:
            copies[number] = node
            continue
        one = Node(
            node.op,
            tuple(copies[numbers[source]] for source in node.inputs),
            node.attrs,
            node.shape,
            node.dtype,
            node.device,
            None if owner is None else copies[numbers[owner]],
            None if owner is None else node.view,
            node.structure,
        )
        location = getattr(node, "location", None)
        if location is not None:
            one.location = location
        elif hasattr(one, "location"):
            del one.location
        copies[number] = one
    return list(copies.values())


def _ancestors(copies: Sequence[Node], outputs: Sequence[Node]) -> list[Node]:
    """Return the pending copies that outputs depend on, inputs first."""
    needed = set(outputs)
    found = []
    for node in reversed(copies):
        if node in needed and node.base.storage is None and node.inputs:
            needed.update(node.inputs)
            found.append(node)
    return found[::-1]


def _by_reads(origins: Origins, reads: Sequence[Origins]) -> dict[Kind, Origin | int]:
    """Return origins for the cache: of an input's origin, the input's index."""
    return {
        kind: next(
            (at for at, one in enumerate(reads) if one.get(kind) is origin), origin
        )
        for kind, origin in origins.items()
    }
