"""How much an expression becomes once calls are written out, and when to loop instead.

Drivers write every call out before they optimise, so that compiling takes the longer
the more often a kernel's text calls an expression: on software adapters up to a second
for each thousand statements, where two cores are busy. A loop around one call compiles
once; GPU compilers unroll it where that pays.
"""

from __future__ import annotations

from collections.abc import Collection

from tensorweb.codegen.expression import form_of
from tensorweb.codegen.library import statements
from tensorweb.schedule.kernel import Expression

MOST_STATEMENTS = 1536
"""Statements up to which the copies of an expression are written out, not looped."""


def bulk(expression: Expression, steps: Collection[int] | None = None) -> int:
    """Return the statements of an expression, those of library functions included.

    Args:
        expression: what a kernel computes.
        steps: the steps to count, by number; all by default.
    """
    return sum(
        1 + statements(form_of(step, expression))
        for number, step in enumerate(expression.steps)
        if step.kind in ("map", "cast") and (steps is None or number in steps)
    )


def is_bulky(expression: Expression, copies: int) -> bool:
    """Whether so many copies of an expression are too much for one kernel."""
    return bulk(expression) * copies > MOST_STATEMENTS
