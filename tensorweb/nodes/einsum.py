"""Build einsum: parse the subscripts and contract operands pairwise.

Operands are contracted from left to right. Labels of one operand that the result lacks
are summed first; shared labels are contracted when no later operand and not the result
has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from tensorweb.dtypes import promote
from tensorweb.errors import Clash, ShapeError, aligned_clash
from tensorweb.graph.attributes import Groups
from tensorweb.graph.node import Node
from tensorweb.graph.op import COMPLEX
from tensorweb.nodes.contraction import contract
from tensorweb.nodes.elementwise import cast, elementwise, require_promoted
from tensorweb.nodes.movement import expand, expand_dims, permute, reshape, slice_ranges
from tensorweb.nodes.reduction import reduce
from tensorweb.ops import OPS
from tensorweb.shapes import Shape

Labels = tuple[str, ...]
"""One label per axis: a letter, or `.1`, `.2`, … for the dots' axes from the right."""


def einsum(subscripts: str, nodes: Sequence[Node]) -> Node:
    """Return the einsum of nodes.

    Raises:
        ShapeError: the subscripts are wrong or do not fit the operands' shapes.
    """
    terms, output = parse(subscripts, nodes)
    floats = {node.dtype for node in nodes if node.dtype.kind == "float"}
    if len(floats) == 1 and _roundings(terms, output) > 1:
        (dtype,) = floats
        if dtype.wide is not dtype:
            widened = [cast(node, dtype.wide) for node in nodes]
            return cast(einsum(subscripts, widened), dtype)
    lengths = _lengths(subscripts, terms, nodes)
    nodes = _promoted(nodes)
    operands: list[tuple[Labels, Node]] = []
    for number, (labels, node) in enumerate(zip(terms, nodes, strict=True)):
        others = {
            label
            for term in (*terms[:number], *terms[number + 1 :], output)
            for label in term
        }
        wide = expand(node, _wide(labels, node, lengths))
        operands.append(sum_alone(*_diagonals(labels, wide), others))
    labels, node = operands[0]
    for number, (next_labels, next_node) in enumerate(operands[1:], 2):
        later = {label for term, _ in operands[number:] for label in term}
        kept = later | set(output)
        labels, node = pair((labels, node), (next_labels, next_node), kept, lengths)
    order = [labels.index(label) for label in output]
    return permute(node, order)


def _wide(labels: Labels, node: Node, lengths: dict[str, int]) -> tuple[int, ...]:
    """Return an operand's shape with lengths of 1 broadcast to their label's length."""
    return tuple(
        length if label[0] == "." else lengths[label]
        for label, length in zip(labels, node.shape, strict=True)
    )


def _roundings(terms: Sequence[Labels], output: Labels) -> int:
    """Return the count of sums and products, each of which rounds once."""
    count = len(terms) - 1
    for number, term in enumerate(terms):
        rest = {
            label
            for other in (*terms[:number], *terms[number + 1 :], output)
            for label in other
        }
        count += not rest.issuperset(term)
    return count


def _promoted(nodes: Sequence[Node]) -> list[Node]:
    """Return operands in their common dtype, in which each is summed and multiplied.

    Real operands of complex ones stay real.
    """
    dtype = nodes[0].dtype
    for node in nodes[1:]:
        dtype = promote(dtype, node.dtype)
    require_promoted("einsum", nodes, dtype)
    return [
        node
        if node.op is COMPLEX and dtype is node.dtype
        else cast(node, dtype if node.op is COMPLEX else dtype.part)
        for node in nodes
    ]


def parse(subscripts: str, nodes: Sequence[Node]) -> tuple[list[Labels], Labels]:
    """Return the labels of each operand and of the result."""
    text = "".join(subscripts.split())
    left, arrow, right = text.partition("->")
    names = left.split(",")
    for character in left.replace(",", "").replace("...", "") + right.replace(
        "...", ""
    ):
        if not (character.isascii() and character.isalpha()):
            raise ShapeError(
                f"einsum: {character!r} in {subscripts!r}; subscripts are letters, "
                "commas, one '->' and '...', as in 'ij,jk->ik'."
            )
    if len(names) != len(nodes):
        raise ShapeError(
            f"einsum: {subscripts!r} names {len(names)} operands, {len(nodes)} are "
            "given; commas divide the operands."
        )
    terms = [
        _labels(subscripts, name, node) for name, node in zip(names, nodes, strict=True)
    ]
    dots = max((sum(label[0] == "." for label in term) for term in terms), default=0)
    all_dots = tuple(f".{number}" for number in range(dots, 0, -1))
    found = [label for term in terms for label in term]
    if not arrow:
        once = sorted(
            {label for label in found if label[0] != "." and found.count(label) == 1}
        )
        return terms, (*all_dots, *once)
    before, has_dots, after = right.partition("...")
    output = (*before, *(all_dots if has_dots else ()), *after)
    if dots and not has_dots:
        raise ShapeError(
            f"einsum: {subscripts!r} has '...' in an operand and not in the result; "
            "write it there too, or name these axes by letters."
        )
    for label in output:
        if output.count(label) > 1:
            raise ShapeError(
                f"einsum: {label!r} is given twice in the result of {subscripts!r}; "
                "each axis of the result has a letter of its own."
            )
        if label not in found and label[0] != ".":
            raise ShapeError(
                f"einsum: {label!r} in the result of {subscripts!r} is in no operand."
            )
    return terms, output


def _labels(subscripts: str, name: str, node: Node) -> Labels:
    """Return an operand's labels; the ellipsis stands for the axes without a letter."""
    before, dots, after = name.partition("...")
    rank = len(node.shape)
    missing = rank - len(before) - len(after)
    if missing < 0 or (missing and not dots):
        raise ShapeError(
            f"einsum: {name!r} in {subscripts!r} names {len(before) + len(after)} "
            f"axes, its operand of shape {node.shape} has {rank}"
            + (
                "; remove letters."
                if missing < 0
                else "; name each axis, or write '...' for the others."
            )
        )
    return (*before, *(f".{number}" for number in range(missing, 0, -1)), *after)


def _clash(terms: Sequence[Labels], shapes: Sequence[Shape]) -> Clash:
    """Return the clash of shapes in which equal letters have other lengths."""
    letters = {letter: n for n, letter in enumerate(dict.fromkeys(chain(*terms)))}

    def fits(shapes: Sequence[Shape]) -> bool:
        lengths: dict[str, set[int]] = {}
        for term, shape in zip(terms, shapes, strict=True):
            if len(term) != len(shape):
                return False
            for letter, length in zip(term, shape, strict=True):
                lengths.setdefault(letter, {1}).add(length)
        return all(len(own) < 3 for own in lengths.values())

    columns = [[letters[letter] for letter in term] for term in terms]
    return aligned_clash(shapes, columns, fits, [*letters.values()])


def _lengths(
    subscripts: str, terms: Sequence[Labels], nodes: Sequence[Node]
) -> dict[str, int]:
    """Return the length of each label; axes of length 1 broadcast."""
    lengths: dict[str, int] = {}
    for term, node in zip(terms, nodes, strict=True):
        for label, length in zip(term, node.shape, strict=True):
            have = lengths.setdefault(label, length)
            if length in (have, 1):
                continue
            if have == 1:
                lengths[label] = length
                continue
            what = "an axis of '...'" if label[0] == "." else repr(label)
            shapes = ", ".join(str(each.shape) for each in nodes)
            raise ShapeError(
                f"einsum: {what} in {subscripts!r} has lengths {have} and {length} in "
                f"shapes {shapes}; equal letters need equal lengths, or 1.",
                clash=_clash(terms, [node.shape for node in nodes]),
            )
    return lengths


def _diagonals(labels: Labels, node: Node) -> tuple[Labels, Node]:
    """Return an operand with the diagonal taken for each label that occurs twice."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            others = [a for a in range(len(labels)) if a not in (first, second)]
            moved = permute(node, (*others, first, second))
            *outer, n, _ = moved.shape
            flat = reshape(moved, (*outer, n * n))
            node = slice_ranges(flat, [*((0, m, 1) for m in outer), (0, n, n + 1)])
            labels = (*(labels[a] for a in others), label)
    return labels, node


def sum_alone(labels: Labels, node: Node, others: set[str]) -> tuple[Labels, Node]:
    """Return an operand summed over its labels that are not in `others`."""
    axes = tuple(axis for axis, label in enumerate(labels) if label not in others)
    if not axes:
        return labels, node
    kept = tuple(label for label in labels if label in others)
    return kept, reduce("sum", node, axes, dtype=node.dtype)


def pair(
    a: tuple[Labels, Node],
    b: tuple[Labels, Node],
    kept: set[str],
    lengths: dict[str, int],
) -> tuple[Labels, Node]:
    """Return the product of two operands, summed over shared labels not in `kept`."""
    labels_a, labels_b = a[0], b[0]
    shared = [label for label in labels_a if label in labels_b]
    batch = [label for label in shared if label in kept]
    depth = [label for label in shared if label not in kept]
    rows = [label for label in labels_a if label not in shared]
    columns = [label for label in labels_b if label not in shared]
    result = (*batch, *rows, *columns)
    left = permute(a[1], [labels_a.index(label) for label in (*batch, *rows, *depth)])
    right = permute(
        b[1], [labels_b.index(label) for label in (*batch, *depth, *columns)]
    )
    if not depth:
        end = len(result)
        left = expand_dims(left, tuple(range(end - len(columns), end)))
        middle = range(len(batch), len(batch) + len(rows))
        right = expand_dims(right, tuple(middle))
        return result, elementwise(OPS["multiply"], left, right)
    wide = tuple(lengths[label] for label in batch)
    left = expand(left, (*wide, *left.shape[len(batch) :]))
    right = expand(right, (*wide, *right.shape[len(batch) :]))
    groups = Groups(len(batch), len(rows), len(depth), len(columns))
    return result, contract(left, right, groups)
