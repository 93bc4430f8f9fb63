"""What is drawn and measured of complex numbers, which have no order: their sizes."""

from __future__ import annotations

from tensorweb.graph.node import Node
from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS


def drawn(node: Node) -> Node:
    """Return the sizes of complex numbers, any other node as it is."""
    return elementwise(OPS["abs"], node) if node.dtype.kind == "complex" else node
