"""Complex values stand for pairs of floats: the node that says so, and nothing more.

A complex node is a handle: it has no storage and no kernel knows it. Its one input, the
pair, is a float node with one axis more, the last one, of real and imaginary part.
Builders work on that or on the parts (`nodes/complex_parts.py`), devices on floats.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.graph.node import Node, complex_of
from tensorweb.graph.op import COMPLEX
from tensorweb.view import View


def pair_of(node: Node) -> Node:
    """Return the pairs of a complex node, any other node as it is."""
    return node.inputs[0] if node.op is COMPLEX else node


def pairs_of(nodes: Sequence[Node]) -> Sequence[Node]:
    """Return nodes with the pairs of those that are complex."""
    if any(node.op is COMPLEX for node in nodes):
        return [pair_of(node) for node in nodes]
    return nodes


def like(node: Node, pair: Node) -> Node:
    """Return a value that was computed for `pair_of(node)` as a value for the node."""
    return complex_of(pair) if node.op is COMPLEX else pair


def element_view(node: Node) -> View:
    """Return how a node looks at its storage, counted in its own elements."""
    view = node.view
    if node.op is not COMPLEX:
        return view
    strides = tuple([stride // 2 for stride in view.strides])
    return View(view.shape, strides, view.offset // 2)
