"""Choose how a product is computed: as it is written, or turned.

The product turned is that of the operands in the other order, each transposed: its rows
are the columns of the result. It pays where an operand need then not be packed.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.program import scratch
from tensorweb.codegen.vector import reorder_groups
from tensorweb.codegen.wasm.product.operands import (
    Operand,
    folded,
    is_shared,
    left_operand,
    right_operand,
    scratch_bytes,
    without_batch,
)
from tensorweb.codegen.wasm.product.sizes import Sizes, best_tile, sizes_of
from tensorweb.schedule.kernel import Expression, Kernel

SWAPPED = (0, 2, 1)
"""The groups of an operand with the inner two exchanged."""

PACKING = 2.0
"""Time of computing a number into a scratch storage, in products of vectors."""

TURNING = 5.0
"""Time of storing a result whose neighbours were not computed together."""


MOST_PACKED = 8 << 20
"""Bytes of right operands that are packed at a time, if one alone takes no more."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a product is cut, and where its operands are read.

    Attributes:
        sizes: of the product, or of the turned one.
        left: its left operand.
        right: its right operand.
        is_turned: whether the operands have changed places, so that the result's rows
            are computed as columns.
        together: how many matrices' right operands are packed at a time.
        scratch_bytes: of the scratch storages of operands that are packed.
    """

    sizes: Sizes
    left: Operand
    right: Operand
    is_turned: bool
    together: int
    scratch_bytes: tuple[int, ...]

    def time(self, is_fused: bool) -> float:
        """Return about how long it takes, in products of vectors."""
        sizes = self.sizes
        _, tile = best_tile(sizes.rows, sizes.columns, sizes.kind, is_fused)
        packed = sum(
            length * sizes.depth * (sizes.batch if operand.matrix else 1)
            for operand, length in (
                (self.left, sizes.rows),
                (self.right, sizes.columns),
            )
            if operand.is_packed
        )
        results = sizes.batch * sizes.rows * sizes.columns
        finished = results * TURNING if self.is_turned else 0
        return tile * sizes.batch * sizes.depth + packed * PACKING + finished


def layout_of(kernel: Kernel, dtype: str, is_fused: bool) -> Layout:
    """Return the layout of a product that takes the least time.

    Args:
        kernel: the product.
        dtype: of its sums.
        is_fused: whether multiplying and adding round once.
    """
    batch, rows, columns, depth = kernel.sizes
    left, right = kernel.expression("left"), kernel.expression("right")
    operands = left, right
    lengths = batch, rows, columns, depth
    if batch > 1 and is_shared(right):
        one = folded(left)
        if one is not None:
            operands, lengths = (
                (one, without_batch(right)),
                (1, batch * rows, columns, depth),
            )
    plain = _read(lengths, operands, dtype, is_fused)
    if not plain.scratch_bytes:
        return plain
    operands = reorder_groups(right, SWAPPED), reorder_groups(left, SWAPPED)
    lengths = batch, columns, rows, depth
    turned = _read(lengths, operands, dtype, is_fused, is_turned=True)
    return min(plain, turned, key=lambda each: each.time(is_fused))


def _read(
    lengths: tuple[int, int, int, int],
    operands: tuple[Expression, Expression],
    dtype: str,
    is_fused: bool,
    is_turned: bool = False,
) -> Layout:
    """Return the layout of a product of two operands."""
    sizes = sizes_of(*lengths, dtype, is_fused)
    left = left_operand(operands[0], sizes, dtype, scratch(0))
    storage = scratch(1 if left.is_packed else 0)
    right = right_operand(operands[1], sizes, dtype, storage)
    together = sizes.batch
    if right.matrix:
        matrix = right.matrix * sizes.numbers.size
        together = min(max(MOST_PACKED // matrix, 1), together)
    taken = tuple(
        scratch_bytes(operand, sizes, operand is left, together)
        for operand in (left, right)
        if operand.is_packed
    )
    return Layout(sizes, left, right, is_turned, together, taken)
