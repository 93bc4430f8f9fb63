"""How the operands of a product are read: in vectors along an axis, or one by one."""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.product.positions import has_several_axes, only_load
from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import (
    is_vectorizable,
    regrouped,
    scalar_slots,
    vector_slots,
)
from tensorweb.schedule.kernel import Expression, Kernel

SWAPPED = (0, 2, 1)
"""Order of an operand's groups of axes with the inner two exchanged."""


@dataclass(frozen=True, slots=True)
class Operand:
    """How an operand is read.

    Attributes:
        name: `left` or `right`.
        expression: the expression of an element.
        is_vector: whether four neighbours are read at once.
        is_swapped: whether its last two groups of axes are exchanged, so that vectors
            extend along the other axis.
        is_split: whether its addresses have a fixed and a moving part, see
            `positions.py`.
        is_ahead: whether an element of a split operand is loaded first and computed
            later.
    """

    name: str
    expression: Expression
    is_vector: bool
    is_swapped: bool
    is_split: bool = False
    is_ahead: bool = False

    @property
    def axis(self) -> str:
        """The axis that the other operand does not have."""
        return "row" if self.name == "left" else "column"

    @property
    def arguments(self) -> tuple[str, str, str]:
        """Names of the parameters of its function."""
        is_depth_last = (self.name == "left") is not self.is_swapped
        inner = (self.axis, "depth") if is_depth_last else ("depth", self.axis)
        return "batch", *inner

    @property
    def is_strided(self) -> bool:
        """Whether the four rows or columns of a tile's vector are not adjacent."""
        return not self.is_vector

    @property
    def is_along_depth(self) -> bool:
        """Whether a vector holds four terms of one row or column."""
        return self.is_vector and self.arguments[2] == "depth"


@dataclass(frozen=True, slots=True)
class Operands:
    """Both operands, and the inputs of the kernel that are read as vectors."""

    left: Operand
    right: Operand
    vectors: frozenset[int] = frozenset()


def reads_singly(expression: Expression) -> bool:
    """Return whether no axis of an operand can be read in vectors of four."""
    swapped = regrouped(expression, SWAPPED)
    return not is_vectorizable(expression) and not is_vectorizable(swapped)


def operands_of(kernel: Kernel, is_split: bool, target: Target) -> Operands:
    """Return how the operands of a product are read.

    An input cannot be read both in vectors and one by one; in that case all operands
    are read one by one. If the inner axis is split, the epilogue is a separate launch
    with its own reads.
    """
    left = _operand("left", kernel.expression("left"), target)
    right = _operand("right", kernel.expression("right"), target)
    single = set() if is_split else _loaded(kernel.expression("finish"))
    vectors: set[int] = set()
    for operand in (left, right):
        if operand.is_vector:
            single |= scalar_slots(operand.expression)
            vectors |= vector_slots(operand.expression)
        else:
            single |= _loaded(operand.expression)
    if not vectors & single:
        return Operands(left, right, frozenset(vectors))
    return Operands(
        _singly("left", kernel.expression("left"), target),
        _singly("right", kernel.expression("right"), target),
    )


def _operand(name: str, expression: Expression, target: Target) -> Operand:
    if is_vectorizable(expression):
        return Operand(name, expression, True, False)
    swapped = regrouped(expression, SWAPPED)
    if is_vectorizable(swapped):
        return Operand(name, swapped, True, True)
    return _singly(name, expression, target)


def _singly(name: str, expression: Expression, target: Target) -> Operand:
    if not has_several_axes(expression):
        return Operand(name, expression, False, False)
    # A software GPU has no memory latency to hide, and would only compute addresses
    # twice.
    is_ahead = only_load(expression) is not None and not target.is_software
    return Operand(name, expression, False, False, is_split=True, is_ahead=is_ahead)


def _loaded(expression: Expression) -> set[int]:
    """Return the inputs that an expression loads or gathers."""
    return {s.slot for s in expression.steps if s.kind in ("load", "gather")}
