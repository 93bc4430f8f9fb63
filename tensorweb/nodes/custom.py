"""Build the outputs of a program's own kernel."""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.dtypes import BY_NAME
from tensorweb.graph.attributes import Custom
from tensorweb.graph.node import Node, attributes_of
from tensorweb.graph.op import CONSTANT, Role, kinds_of
from tensorweb.nodes.movement import copy
from tensorweb.ops.structure import CUSTOM

SOURCES = kinds_of(Role.SOURCE)


def custom(inputs: Sequence[Node], description: Custom) -> tuple[Node, ...]:
    """Return a node for each output, of inputs that fit the description.

    Every output but the first also depends on the first, so that one flush computes
    all of them, in one kernel.
    """
    device = inputs[0].device
    read = tuple(node if is_value(node) else in_order(node) for node in inputs)
    found: list[Node] = []
    for index, output in enumerate(description.outputs):
        attributes = description._replace(output=index)
        dtype = BY_NAME[output.dtype]
        sources = (*read, *found[:1])
        found.append(Node(CUSTOM, sources, attributes, output.shape, dtype, device))
    return tuple(found)


def again(node: Node, inputs: Sequence[Node]) -> Node:
    """Return a node of the same kernel and output for other inputs of equal shapes.

    `inputs` has the first output last where `node` is a further one.
    """
    own = attributes_of(node, Custom)
    count = len(own.inputs)
    read = (each if is_value(each) else in_order(each) for each in inputs[:count])
    sources = (*read, *inputs[count:])
    return Node(CUSTOM, sources, own, node.shape, node.dtype, node.device)


def is_value(node: Node) -> bool:
    """Whether a node is a number that a launch takes without a storage."""
    return not node.shape and node.base.op is CONSTANT and node.base.storage is None


def in_order(node: Node) -> Node:
    """Return a node whose base has exactly its elements, in row-major order."""
    base, view = node.base, node.view
    is_full = view.is_contiguous and not view.offset and base.size == node.size
    is_number = base.op.kind in SOURCES and base.storage is None
    return node if is_full and not is_number else copy(node)
