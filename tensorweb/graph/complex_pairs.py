"""Complex nodes: handles on float nodes that hold real and imaginary parts.

A complex node has no storage, and no kernel reads one. Its only input, the pair, is a
float node with an additional last axis of length 2: real and imaginary part. Builders
use the pair or its parts (`nodes/complex_parts.py`); devices compute with floats.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.graph.node import Node, complex_of
from tensorweb.graph.op import COMPLEX
from tensorweb.view import View


def pair_of(node: Node) -> Node:
    """Return the pair of a complex node, any other node unchanged."""
    return node.inputs[0] if node.op is COMPLEX else node


def pairs_of(nodes: Sequence[Node]) -> Sequence[Node]:
    """Return nodes with each complex node replaced by its pair."""
    for node in nodes:
        if node.op is COMPLEX:
            return [pair_of(each) for each in nodes]
    return nodes


def like(node: Node, pair: Node) -> Node:
    """Return `pair` as a complex node if `node` is complex, else unchanged."""
    return complex_of(pair) if node.op is COMPLEX else pair


def element_view(node: Node) -> View:
    """Return a node's view with strides and offset in elements of its own dtype."""
    view = node.view
    if node.op is not COMPLEX:
        return view
    strides = tuple([stride // 2 for stride in view.strides])
    return View(view.shape, strides, view.offset // 2)
