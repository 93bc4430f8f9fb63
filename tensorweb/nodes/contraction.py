"""Build matrix products: batching, the 1-D rules, tensordot and vecdot."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tensorweb import dtypes
from tensorweb.dtypes import promote
from tensorweb.errors import ShapeError, matmul_clash
from tensorweb.graph.attributes import Groups
from tensorweb.graph.node import Cache, Node, attributes_of, structure_of
from tensorweb.graph.op import COMPLEX, Op
from tensorweb.nodes.complex_parts import (
    conjugate,
    imaginary_part,
    join_parts,
    real_part,
)
from tensorweb.nodes.elementwise import (
    cast,
    common_device,
    elementwise,
    require_promoted,
)
from tensorweb.nodes.movement import (
    expand,
    expand_dims,
    move_axis_last,
    permute,
    squeeze,
)
from tensorweb.nodes.reduction import reduce
from tensorweb.ops import OPS
from tensorweb.ops.structure import MATMUL
from tensorweb.shapes import Shape, matmul_shape

Product = Callable[[Node, Node], Node]


def _operands(a: Node, b: Node, op: Op) -> tuple[Node, Node]:
    common_device(op, (a, b))
    dtype = promote(a.dtype, b.dtype)
    require_promoted(op.name, (a, b), dtype)
    if dtype.kind == "complex":  # a real operand stays real
        return a, b
    return cast(a, dtype), cast(b, dtype)


def _are_bool(a: Node, b: Node) -> bool:
    return a.dtype.kind == b.dtype.kind == "bool"


def _bool_product(product: Product, a: Node, b: Node) -> Node:
    """Return a product of bool, where `+` is *or*: whether the count of ones is not 0.

    Ones are counted in float32; its sums may be rounded but never become 0.
    """
    counts = product(cast(a, dtypes.float32), cast(b, dtypes.float32))
    return cast(counts, dtypes.bool)


def _complex_product(product: Product, a: Node, b: Node) -> Node:
    """Return a sum of products with at least one complex operand, by real products.

    They are four, or two if one operand is real.
    """
    dtype = promote(a.dtype, b.dtype).part
    real_a, real_b = (cast(real_part(node), dtype) for node in (a, b))
    if b.op is not COMPLEX:
        imaginary = product(cast(imaginary_part(a), dtype), real_b)
        return join_parts(product(real_a, real_b), imaginary)
    imaginary_b = cast(imaginary_part(b), dtype)
    if a.op is not COMPLEX:
        return join_parts(product(real_a, real_b), product(real_a, imaginary_b))
    imaginary_a = cast(imaginary_part(a), dtype)
    return join_parts(
        elementwise(
            OPS["subtract"],
            product(real_a, real_b),
            product(imaginary_a, imaginary_b),
        ),
        elementwise(
            OPS["add"], product(real_a, imaginary_b), product(imaginary_a, real_b)
        ),
    )


def matmul(a: Node, b: Node) -> Node:
    """Return `a @ b`: batched `(..., m, k) @ (..., k, n)`, 1-D operands as in NumPy.

    Raises:
        ShapeError: an operand has no axes, inner sizes differ or batches do not fit.
    """
    key = (a.shape, a.dtype, a.device, b.shape, b.dtype, b.device)
    cached = _cached.get(key)
    if cached is not None:
        groups, shape, structure = cached
        return Node(
            MATMUL, (a, b), groups, shape, a.dtype, a.device, None, None, structure
        )
    result = _checked_matmul(a, b)
    if result.inputs == (a, b):
        groups = attributes_of(result, Groups)
        _cached.keep(key, (groups, result.shape, structure_of(result)))
    return result


_cached: Cache[tuple[Groups, Shape, int]] = Cache()
"""Products of operands that need no cast and no broadcasting."""


def _checked_matmul(a: Node, b: Node) -> Node:
    """Return `a @ b`, with all checks."""
    if _are_bool(a, b):
        return _bool_product(_checked_matmul, a, b)
    if not a.shape or not b.shape:
        raise ShapeError(
            f"matmul: shapes {a.shape} and {b.shape}; operands need at least one axis, "
            "use * for scalars."
        )
    # The rows of `b`: the axis before the last, or the only one of a vector.
    inner = a.shape[-1], b.shape[-2 if len(b.shape) > 1 else -1]
    if 1 in (len(a.shape), len(b.shape)) and inner[0] != inner[1]:
        raise ShapeError(
            f"matmul: inner sizes differ, {a.shape} @ {b.shape} has {inner[0]} and "
            f"{inner[1]}.",
            clash=matmul_clash(
                a.shape, b.shape, (len(a.shape) - 1, max(len(b.shape) - 2, 0))
            ),
        )
    a, b = _operands(a, b, MATMUL)
    if COMPLEX in (a.op, b.op):
        return _complex_product(matmul, a, b)
    is_vector_a, is_vector_b = len(a.shape) == 1, len(b.shape) == 1
    left = expand_dims(a, (0,)) if is_vector_a else a
    right = expand_dims(b, (1,)) if is_vector_b else b
    batch, m, k, n = matmul_shape(left.shape, right.shape)
    left = expand(left, (*batch, m, k))
    right = expand(right, (*batch, k, n))
    groups = Groups(len(batch), 1, 1, 1)
    result = Node(MATMUL, (left, right), groups, (*batch, m, n), a.dtype, a.device)
    dropped = [len(batch)] * is_vector_a + [len(batch) + 1] * is_vector_b
    return squeeze(result, dropped) if dropped else result


def contract(a: Node, b: Node, groups: Groups) -> Node:
    """Return `(batch…, rows…, depth…)` times `(batch…, depth…, columns…)`.

    The result has the axes `(batch…, rows…, columns…)`; batch and depth of both
    operands have equal lengths, which callers have checked.
    """
    if _are_bool(a, b):
        return _bool_product(lambda left, right: contract(left, right, groups), a, b)
    a, b = _operands(a, b, MATMUL)
    if COMPLEX in (a.op, b.op):
        return _complex_product(lambda left, right: contract(left, right, groups), a, b)
    batch, rows, depth = groups.split_left(a.shape)
    other_batch, other_depth, columns = groups.split_right(b.shape)
    assert (batch, depth) == (other_batch, other_depth), "internal: groups differ"
    shape = (*batch, *rows, *columns)
    return Node(MATMUL, (a, b), groups, shape, a.dtype, a.device)


def tensordot(a: Node, b: Node, axes_a: Sequence[int], axes_b: Sequence[int]) -> Node:
    """Return the sum of products over pairs of checked axes.

    Raises:
        ShapeError: a pair of axes differs in length.
    """
    for i, j in zip(axes_a, axes_b, strict=True):
        if a.shape[i] != b.shape[j]:
            raise ShapeError(
                f"tensordot: axis {i} of {a.shape} has length {a.shape[i]}, axis {j} "
                f"of {b.shape} has {b.shape[j]}; contracted axes must be equal."
            )
    free_a = [axis for axis in range(len(a.shape)) if axis not in axes_a]
    free_b = [axis for axis in range(len(b.shape)) if axis not in axes_b]
    left = permute(a, (*free_a, *axes_a))
    right = permute(b, (*axes_b, *free_b))
    return contract(left, right, Groups(0, len(free_a), len(axes_a), len(free_b)))


def vecdot(a: Node, b: Node, axis: int) -> Node:
    """Return the sum of products along one axis; `axis` is negative.

    A complex first operand is conjugated.

    Raises:
        ShapeError: the axes differ in length or the others do not broadcast.
    """
    if a.shape[axis] != b.shape[axis]:
        raise ShapeError(
            f"vecdot: axis {axis} has lengths {a.shape[axis]} and {b.shape[axis]} in "
            f"{a.shape} and {b.shape}; they must be equal."
        )
    a, b = _operands(a, b, MATMUL)
    if COMPLEX in (a.op, b.op):
        a = conjugate(a, lambda part: elementwise(OPS["negative"], part))
    left = move_axis_last(a, len(a.shape) + axis)
    right = move_axis_last(b, len(b.shape) + axis)
    if "complex" in (a.dtype.kind, b.dtype.kind):
        product = elementwise(OPS["multiply"], left, right)
        return reduce("sum", product, (len(product.shape) - 1,))
    # Products of 16-bit floats are added before they are rounded.
    wide = left.dtype.wide
    product = elementwise(OPS["multiply"], cast(left, wide), cast(right, wide))
    total = reduce("sum", product, (len(product.shape) - 1,), dtype=wide)
    return cast(total, a.dtype)
