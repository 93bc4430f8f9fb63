"""How operands of broadcast operations and of products align."""

from __future__ import annotations

import tensorweb as tw
from tensorweb.graph.node import Node
from tensorweb.graph.provenance import Provenance
from tensorweb.inspection.alignments import Alignment, alignment_of, partial_sum


def aligned(provenance: Provenance, node: Node) -> Alignment:
    found = alignment_of(provenance, node)
    assert found is not None
    return found


def test_a_vector_is_repeated_without_a_copy() -> None:
    with Provenance().open() as provenance:
        x, b = tw.ones((2, 3)) * 2, tw.arange(3.0) + 1
        y = (x + b).realize()
    found = aligned(provenance, y.node)
    assert (found.rule, found.node) == ("broadcast", y.node)
    assert [each.given for each in found.operands] == [x.node, b.node]
    repeated = tw.Tensor(found.operands[1].repeated)
    assert repeated.strides == (0, 1)
    assert repeated.tolist() == [[1, 2, 3], [1, 2, 3]]


def test_an_operand_that_is_cast_is_the_one_of_the_program() -> None:
    with Provenance().open() as provenance:
        x, n = tw.ones((2, 3)) * 2, tw.asarray([[1], [2]])
        y = (x * n).realize()
    found = aligned(provenance, y.node)
    assert found.operands[1].given is n.node
    assert tw.Tensor(found.operands[1].repeated).tolist() == [[1] * 3, [2] * 3]


def test_numbers_and_equal_shapes_do_not_broadcast() -> None:
    with Provenance().open() as provenance:
        x = tw.ones((2, 3)) * 2
        same, number = (x - x).realize(), (x - 1).realize()
        scalar = (x - x.sum()).realize()
    assert alignment_of(provenance, same.node) is None
    assert alignment_of(provenance, number.node) is None
    assert aligned(provenance, scalar.node).operands[1].given.shape == ()


def test_conditions_broadcast_as_well() -> None:
    with Provenance().open() as provenance:
        x, b = tw.ones((2, 3)) * 2, tw.asarray([[True], [False]])
        y = tw.where(b, x, x[0]).realize()
    found = aligned(provenance, y.node)
    assert [each.given.shape for each in found.operands] == [(2, 1), (2, 3), (3,)]


def product_of(provenance: Provenance, y: tw.Tensor) -> Alignment:
    """Return the alignment of the product behind the last view of a line."""
    (node,) = [
        one
        for one in provenance.ordered([y.node], lambda one: True)
        if one.op.name == "matmul"
    ]
    return aligned(provenance, node)


def test_a_stack_of_products_repeats_the_one_matrix() -> None:
    with Provenance().open() as provenance:
        a, b = tw.arange(30.0).reshape(2, 3, 5), tw.arange(10.0).reshape(5, 2)
        y = (a @ b).realize()
    found = product_of(provenance, y)
    left, right = found.operands
    assert (left.given, right.given) == (a.node, b.node)
    assert right.repeated.shape == (2, 5, 2)
    terms = [a[1, 2, k].item() * b[k, 1].item() for k in range(5)]
    sums = [partial_sum(found, (1, 2, 1), depth) for depth in (0, 3, 5)]
    assert [tw.Tensor(each).item() for each in sums] == [
        0,
        sum(terms[:3]),
        y[1, 2, 1].item(),
    ]


def test_vectors_of_products_are_those_of_the_program() -> None:
    with Provenance().open() as provenance:
        a, v = tw.arange(6.0).reshape(2, 3), tw.arange(3.0) + 1
        y = (a @ v).realize()
    found = product_of(provenance, y)
    assert [each.given for each in found.operands] == [a.node, v.node]
    assert [each.repeated.shape for each in found.operands] == [(2, 3), (3, 1)]


def test_other_contractions_are_left_out() -> None:
    with Provenance().open() as provenance:
        a, b = tw.ones((2, 3, 5)) * 2, tw.ones((3, 5, 4)) * 2
        y = tw.tensordot(a, b, axes=2).realize()
    nodes = provenance.ordered([y.node], lambda one: True)
    assert [alignment_of(provenance, one) for one in nodes] == [None] * len(nodes)
