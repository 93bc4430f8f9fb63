"""Shapes that a rule cannot combine, as data for pictures of an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Rule = Literal["broadcast", "broadcast_to", "matmul", "reshape", "concat"]


@dataclass(frozen=True, slots=True)
class Clash:
    """The shapes that a rule cannot combine.

    Attributes:
        rule: the rule; `broadcast_to` is broadcasting to a fixed shape.
        shapes: of the operands, in order; the second one of `reshape` and
            `broadcast_to` is the requested shape.
        axes: for each shape the axis that does not fit, None for none.
        joined: the axis that `concat` joins.
    """

    rule: Rule
    shapes: tuple[tuple[int, ...], ...]
    axes: tuple[int | None, ...]
    joined: int | None = None


def broadcast_clash(
    shapes: Sequence[Sequence[int]], back: int | None = None, *, is_fixed: bool = False
) -> Clash:
    """Return the clash of shapes along an axis that is counted from the right.

    Without one it is the last axis along which the first shape does not broadcast to
    the second. With `is_fixed` the second shape is the requested one.

    >>> from tensorweb.clashes import broadcast_clash
    >>> broadcast_clash([(2, 3), (2,)], 1).axes
    (1, 0)
    """
    aligned = [tuple(shape) for shape in shapes]
    if back is None:
        first, second = (list(reversed(shape)) for shape in aligned[:2])
        second += [0] * (len(first) - len(second))
        pairs = enumerate(zip(first, second, strict=False), 1)
        back = next((at for at, (a, b) in pairs if a not in (1, b)), 0)
    axes = tuple(
        len(shape) - back
        if 0 < back <= len(shape) and (is_fixed or shape[len(shape) - back] != 1)
        else None
        for shape in aligned
    )
    rule: Rule = "broadcast_to" if is_fixed else "broadcast"
    return Clash(rule, tuple(aligned), axes)


def matmul_clash(
    a: Sequence[int], b: Sequence[int], axes: tuple[int | None, ...]
) -> Clash:
    """Return the clash of two operands of a product."""
    return Clash("matmul", (tuple(a), tuple(b)), axes)
