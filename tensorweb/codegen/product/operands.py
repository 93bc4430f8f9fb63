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
"""The groups of an operand's axes with the inner two exchanged."""


@dataclass(frozen=True, slots=True)
class Operand:
    """How an operand is read.

    Attributes:
        name: `left` or `right`.
        expression: what an element is.
        is_vector: whether four neighbours are read at once.
        is_swapped: whether its last two groups of axes are exchanged, so that the
            other axis is the one that vectors lie along.
        is_split: whether it is read at positions of two parts, see `positions.py`.
        is_ahead: whether an element so read is loaded first and computed with later.
    """

    name: str
    expression: Expression
    is_vector: bool
    is_swapped: bool
    is_split: bool = False
    is_ahead: bool = False

    @property
    def axis(self) -> str:
        """The axis that it does not share with the other operand."""
        return "row" if self.name == "left" else "column"

    @property
    def arguments(self) -> tuple[str, str, str]:
        """Names of the arguments of its function."""
        is_depth_last = (self.name == "left") is not self.is_swapped
        inner = (self.axis, "depth") if is_depth_last else ("depth", self.axis)
        return "batch", *inner

    @property
    def is_strided(self) -> bool:
        """Whether the four rows or columns of a vector of the tile lie apart."""
        return not self.is_vector

    @property
    def is_along_depth(self) -> bool:
        """Whether a vector of it holds four terms of one row or column."""
        return self.is_vector and self.arguments[2] == "depth"


@dataclass(frozen=True, slots=True)
class Operands:
    """Both operands, and the kernel's inputs that are read as vectors."""

    left: Operand
    right: Operand
    vectors: frozenset[int] = frozenset()


def reads_singly(expression: Expression) -> bool:
    """Whether no axis of an operand can be read in vectors of four."""
    swapped = regrouped(expression, SWAPPED)
    return not is_vectorizable(expression) and not is_vectorizable(swapped)


def operands_of(kernel: Kernel, is_split: bool, target: Target) -> Operands:
    """Return how a product's operands are read.

    An input cannot be read both in vectors and one by one; then all is read one by one.
    Where the inner axis is split, the epilogue is another launch and reads for itself.
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
    # A software GPU waits for no memory, and would only compute positions twice.
    is_ahead = only_load(expression) is not None and not target.is_software
    return Operand(name, expression, False, False, is_split=True, is_ahead=is_ahead)


def _loaded(expression: Expression) -> set[int]:
    """Return the inputs that an expression loads or gathers."""
    return {s.slot for s in expression.steps if s.kind in ("load", "gather")}
