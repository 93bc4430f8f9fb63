"""The families of operations that graphs are made of; a row is a name and a function.

A function draws operands and adds one step to the program, or raises `Unfit`.
"""

from __future__ import annotations

from fuzz.program import Drawing
from fuzz.steps import (
    algebra,
    creation,
    elementwise,
    indexing,
    movement,
    reductions,
    sorting,
    writing,
)

FAMILIES = (
    (elementwise.ROWS, 34),
    (movement.ROWS, 22),
    (reductions.ROWS, 12),
    (indexing.ROWS, 8),
    (writing.ROWS, 9),
    (algebra.ROWS, 6),
    (sorting.ROWS, 5),
    (creation.ROWS, 4),
)
"""Rows of each family, and how often it is drawn."""


def add_step(draw: Drawing) -> None:
    """Add one step of a random family.

    Raises:
        Unfit: no operands suit it.
    """
    rows = draw.rng.choices(
        [rows for rows, _ in FAMILIES], [weight for _, weight in FAMILIES]
    )[0]
    draw.rng.choice(rows)(draw)
