"""vjp rule of the matrix product: two products with the cotangent.

An operand that is broadcast along the batch gets its gradient summed inside the
product, with the batch as contracted axes; where the other operand is broadcast, its
batch becomes rows. So no gradient is materialized per example.
"""

from __future__ import annotations

from tensorweb.graph.attributes import Groups, Transform
from tensorweb.graph.autograd import inputs_of
from tensorweb.graph.node import Node, attributes_of
from tensorweb.nodes.contraction import contract
from tensorweb.nodes.einsum import Labels, pair, sum_alone
from tensorweb.nodes.fourier_pairs import part
from tensorweb.nodes.movement import permute, reshape
from tensorweb.ops.structure import EXPAND, FOURIER
from tensorweb.transforms.rules.rule import Cotangents, Rule, Step


def before_repeating(node: Node) -> tuple[Node, ...]:
    """Return a product's operands, with length 1 on batch axes that are broadcast."""
    batch = attributes_of(node, Groups).batch
    return tuple([_once(value, batch) for value in inputs_of(node)])


def _once(node: Node, batch: int) -> Node:
    """Return the source of a node broadcast along the batch only, else the node."""
    if node.op is not EXPAND or not batch:
        return node
    [source] = inputs_of(node)
    added = len(node.shape) - len(source.shape)
    if added > batch or source.shape[batch - added :] != node.shape[batch:]:
        return node
    return reshape(source, (*(1,) * added, *source.shape))


def of_matmul(step: Step, cotangent: Node) -> Cotangents:
    """Return G · Bᵀ and Aᵀ · G, as contractions over labelled axes."""
    groups = attributes_of(step.node, Groups)
    if not groups.batch and groups.rows and groups.columns:
        return _of_plain(step, cotangent, groups)
    names = [
        tuple(f"{letter}{axis}" for axis in range(count))
        for letter, count in zip("brdc", groups, strict=True)
    ]
    batch, rows, depth, columns = names
    labels = (*batch, *rows, *depth), (*batch, *depth, *columns)
    upper = ((*batch, *rows, *columns), cotangent)
    a, b = step.inputs
    results: list[Node | None] = [None, None]
    if step.needs_cotangent[0]:
        other = labels[1], b
        first, second = (
            (other, upper) if _is_turned(a, groups.depth) else (upper, other)
        )
        results[0] = _product(first, second, labels[0], a)
    if step.needs_cotangent[1]:
        other = labels[0], a
        first, second = (
            (upper, other) if _is_turned(b, groups.columns) else (other, upper)
        )
        results[1] = _product(first, second, labels[1], b)
    return results


def _is_turned(node: Node, last: int) -> bool:
    """Whether an operand is stored transposed: its `last` last axes are not contiguous.

    Its gradient is computed in the same order of axes, so that the parameter behind a
    transposed operand gets a contiguous gradient without a copy.
    """
    strides = node.view.strides
    return 1 in strides[:-last] and 1 not in strides[-last:]


def _of_plain(step: Step, cotangent: Node, groups: Groups) -> Cotangents:
    """Return both gradients without batch axes, from transposed operands."""
    _, r, d, c = groups
    a, b = step.inputs
    results: list[Node | None] = [None, None]
    if step.needs_cotangent[0] and _is_turned(a, d):
        results[0] = _turned(contract(b, _turned(cotangent, r), Groups(0, d, c, r)), d)
    elif step.needs_cotangent[0]:
        results[0] = contract(cotangent, _turned(b, d), Groups(0, r, c, d))
    if step.needs_cotangent[1] and _is_turned(b, c):
        results[1] = _turned(contract(_turned(cotangent, r), a, Groups(0, c, r, d)), c)
    elif step.needs_cotangent[1]:
        results[1] = contract(_turned(a, r), cotangent, Groups(0, d, r, c))
    return results


def _turned(node: Node, first: int) -> Node:
    """Return a node with its first `first` axes moved to the end."""
    rank = len(node.shape)
    return permute(node, (*range(first, rank), *range(first)))


def _product(
    left: tuple[Labels, Node],
    right: tuple[Labels, Node],
    target: Labels,
    like: Node,
) -> Node:
    """Return the contraction over the axes not in `target`.

    Axes of length 1 are omitted where the other operand is longer.
    """
    lengths: dict[str, int] = {}
    for labels, node in (left, right):
        for label, length in zip(labels, node.shape, strict=True):
            lengths[label] = max(length, lengths.get(label, 0))
    retained = {
        label
        for label, length in zip(target, like.shape, strict=True)
        if length == lengths[label]
    }
    a, b = (_without_repeats(part, lengths) for part in (left, right))
    a = sum_alone(*a, {*b[0], *retained})
    b = sum_alone(*b, {*a[0], *retained})
    labels, product = pair(a, b, retained, lengths)
    order = [label for label in target if label in labels]
    product = permute(product, [labels.index(label) for label in order])
    return reshape(product, like.shape)


def _without_repeats(
    part: tuple[Labels, Node], lengths: dict[str, int]
) -> tuple[Labels, Node]:
    """Return an operand without its axes of length 1 that others have longer."""
    labels, node = part
    axes = [i for i, n in enumerate(node.shape) if n == lengths[labels[i]]]
    retained = tuple(labels[i] for i in axes)
    return retained, reshape(node, tuple(node.shape[i] for i in axes))


def of_fourier(step: Step, cotangent: Node) -> Cotangents:
    """X = F · x; for both parts as real numbers, dx = F̄ · g, as F is symmetric."""
    axis, sign = attributes_of(step.node, Transform)
    roots = step.inputs[2:]
    last = len(cotangent.shape) - 1
    parts = part(cotangent, last, 0), part(cotangent, last, 1)
    how, dtype = Transform(axis, -sign), cotangent.dtype
    inputs = (*parts, *roots)
    back = Node(FOURIER, inputs, how, cotangent.shape, dtype, cotangent.device)
    return [part(back, last, 0), part(back, last, 1), *(None for _ in roots)]


RULES: dict[str, Rule] = {"matmul": of_matmul, "fourier": of_fourier}
