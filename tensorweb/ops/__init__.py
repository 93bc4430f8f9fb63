"""The op table: one row per operation, read by both backends, tests and docs."""

from __future__ import annotations

from tensorweb.graph.op import CONSTANT, LEAF, Op
from tensorweb.ops import (
    arithmetic,
    comparison,
    exponential,
    factorizations,
    logic,
    random,
    reductions,
    rounding,
    structure,
    trigonometric,
)

GROUPS: dict[str, tuple[Op, ...]] = {
    "arithmetic": arithmetic.ROWS,
    "exponential": exponential.ROWS,
    "trigonometric": trigonometric.ROWS,
    "rounding": rounding.ROWS,
    "comparison": comparison.ROWS,
    "logic": logic.ROWS,
    "random": random.ROWS,
    "reductions": reductions.ROWS,
    "factorizations": factorizations.ROWS,
    "structure": (LEAF, CONSTANT, *structure.ROWS),
}
"""The rows by topic, in the order of the documentation."""

OPS: dict[str, Op] = {row.name: row for rows in GROUPS.values() for row in rows}
"""Every row by name."""
