"""Estimate the code size of an expression, to choose between copies and a loop.

Drivers inline every call before they optimise, so compile time grows with the number of
calls in a kernel's text: on software adapters by up to a second per thousand statements
when two cores are busy. A loop around one call is compiled once; GPU compilers unroll
it where that pays.
"""

from __future__ import annotations

from collections.abc import Collection

from tensorweb.codegen.expression import form_of
from tensorweb.codegen.library import statements
from tensorweb.schedule.kernel import Expression

MOST_STATEMENTS = 1536
"""Largest number of statements for which copies of an expression are unrolled."""


def bulk(expression: Expression, steps: Collection[int] | None = None) -> int:
    """Return the number of statements of an expression, with library calls inlined.

    Args:
        expression: the expression of a kernel.
        steps: indices of the steps to count; all steps by default.
    """
    return sum(
        1 + statements(form_of(step, expression))
        for number, step in enumerate(expression.steps)
        if step.kind in ("map", "cast") and (steps is None or number in steps)
    )


def is_bulky(expression: Expression, copies: int) -> bool:
    """Return whether `copies` copies of an expression exceed `MOST_STATEMENTS`."""
    return bulk(expression) * copies > MOST_STATEMENTS
