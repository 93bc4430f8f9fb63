"""Find call-invariant values of a traced function, to compute them once before tracing.

A function may capture pending tensors that were built outside of it, such as lazily
prepared data. A trace that included their ancestors would recompute them in every call.
"""

from __future__ import annotations

from collections.abc import Collection

from tensorweb.graph.kinds import Role, kinds_of
from tensorweb.graph.node import Node
from tensorweb.schedule.linear import LinearGraph

LARGEST = 1 << 22
"""Most elements of a value that is stored for a trace."""

FREE = kinds_of(Role.SOURCE, Role.MOVEMENT)


def unchanging(graph: LinearGraph, arguments: Collection[Node]) -> list[Node]:
    """Return the captured pending values that do not depend on the arguments.

    Values of ramps and constants alone are omitted: a mask, for example, is as quick to
    compute as to load, and needs no storage.
    """
    changing = set(arguments)
    read_from_storage: set[Node] = set()
    found: dict[Node, None] = {}
    for node in graph.nodes:
        sources = (*node.inputs, *([node.owner] if node.owner else ()))
        if node in changing or any(source in changing for source in sources):
            changing.add(node)
        elif node.base.storage is not None or any(
            source in read_from_storage for source in sources
        ):
            read_from_storage.add(node)
    for node in graph.nodes:
        if node in changing:
            for source in node.inputs:
                base = source.base
                is_fixed = base in read_from_storage and base.storage is None
                if is_fixed and base.op.kind not in FREE and base.size <= LARGEST:
                    found[base] = None
    return list(found)
