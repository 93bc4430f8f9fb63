"""The families of operations that graphs are made of.

A function draws operands and adds one step to the program, or raises `Unfit`.
"""

from __future__ import annotations

from fuzz.program import Drawing
from fuzz.steps import algebra, elementwise, indexing, movement, reductions

FAMILIES = (
    (elementwise.ELEMENTWISE, 34),
    (movement.MOVEMENT, 22),
    (reductions.REDUCTIONS, 12),
    (indexing.READING, 8),
    (indexing.WRITING, 9),
    (algebra.ALGEBRA, 6),
    (reductions.SORTING, 5),
    (elementwise.CREATION, 4),
)
"""Functions of each family, and how often it is drawn."""


def add_step(draw: Drawing) -> None:
    """Add one step of a random family.

    Raises:
        Unfit: no operands suit it.
    """
    chosen = draw.rng.choices(FAMILIES, [weight for _, weight in FAMILIES])[0]
    draw.rng.choice(chosen[0])(draw)
