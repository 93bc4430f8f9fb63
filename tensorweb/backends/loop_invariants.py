"""What a recorded function computes that no call changes: done once, before recording.

A function may use values that were built outside of it and never computed: its data,
drawn or prepared lazily. A recording of all that they hang on would compute them again
in every call.
"""

from __future__ import annotations

from collections.abc import Collection

from tensorweb.graph.kinds import Role, kinds_of
from tensorweb.graph.node import Node
from tensorweb.schedule.linear import LinearGraph

LARGEST = 1 << 22
"""Elements of a value that is stored for a recording, at most."""

FREE = kinds_of(Role.SOURCE, Role.MOVEMENT)


def unchanging(graph: LinearGraph, arguments: Collection[Node]) -> list[Node]:
    """Return the pending values that are read beside the arguments and never change.

    Those made of ramps and constants alone are left out: a mask, for example, is as
    quick to compute as to read, and takes no storage.
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
