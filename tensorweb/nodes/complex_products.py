"""Build products of many complex numbers, of pairs of pairs; and their matrix products.

No kernel multiplies complex numbers one after another: halves are multiplied, which
takes as many steps as the length has binary digits.
"""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.dtypes import promote
from tensorweb.graph.node import Node, constant
from tensorweb.graph.op import COMPLEX
from tensorweb.nodes.complex_parts import imaginary_part, join_parts, real_part
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import expand, slice_ranges
from tensorweb.nodes.selection import concat
from tensorweb.ops import OPS

Product = Callable[[Node, Node], Node]


def _along(node: Node, axis: int, start: int, length: int) -> Node:
    ranges = [(0, n, 1) for n in node.shape]
    ranges[axis] = (start, length, 1)
    return slice_ranges(node, ranges)


def product(node: Node, axis: int) -> Node:
    """Return the product along one axis, which stays with length 1; 1 of nothing."""
    if not node.shape[axis]:
        shape = [1 if a == axis else n for a, n in enumerate(node.shape)]
        return expand(constant(1, node.dtype, node.device), tuple(shape))
    while (length := node.shape[axis]) > 1:
        half = length // 2
        first, second = (_along(node, axis, at, half) for at in (0, half))
        pairs = elementwise(OPS["multiply"], first, second)
        rest = _along(node, axis, 2 * half, length % 2)
        node = concat([pairs, rest], axis) if length % 2 else pairs
    return node


def running_product(node: Node, axis: int) -> Node:
    """Return the running products along one axis.

    W. D. Hillis and G. L. Steele, Data parallel algorithms, CACM 29 (1986).
    """
    length, distance = node.shape[axis], 1
    while distance < length:
        rest = length - distance
        earlier = _along(node, axis, 0, rest)
        later = _along(node, axis, distance, rest)
        both = elementwise(OPS["multiply"], earlier, later)
        node = concat([_along(node, axis, 0, distance), both], axis)
        distance *= 2
    return node


def of_parts(multiplied: Product, a: Node, b: Node) -> Node:
    """Return a sum of products of which one operand at least is complex.

    It is that of the parts: four, or two beside a real operand.
    """
    part = promote(a.dtype, b.dtype).part
    real_a, real_b = (cast(real_part(node), part) for node in (a, b))
    if b.op is not COMPLEX:
        imaginary = multiplied(cast(imaginary_part(a), part), real_b)
        return join_parts(multiplied(real_a, real_b), imaginary)
    imaginary_b = cast(imaginary_part(b), part)
    if a.op is not COMPLEX:
        return join_parts(multiplied(real_a, real_b), multiplied(real_a, imaginary_b))
    imaginary_a = cast(imaginary_part(a), part)
    real = elementwise(
        OPS["subtract"],
        multiplied(real_a, real_b),
        multiplied(imaginary_a, imaginary_b),
    )
    imaginary = elementwise(
        OPS["add"], multiplied(real_a, imaginary_b), multiplied(imaginary_a, real_b)
    )
    return join_parts(real, imaginary)
