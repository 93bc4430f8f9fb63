"""The op table: one entry per operation, read by both backends, tests and docs."""

from __future__ import annotations

from tensorweb.graph.op import CONSTANT, LEAF, Op
from tensorweb.ops import (
    arithmetic,
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
    "arithmetic": arithmetic.ENTRIES,
    "exponential": exponential.ENTRIES,
    "trigonometric": trigonometric.ENTRIES,
    "rounding": rounding.ENTRIES,
    "logic": logic.ENTRIES,
    "random": random.ENTRIES,
    "reductions": reductions.ENTRIES,
    "factorizations": factorizations.ENTRIES,
    "structure": (LEAF, CONSTANT, *structure.ENTRIES),
}
"""The entries by topic, in the order of the documentation."""

OPS: dict[str, Op] = {
    entry.name: entry for entries in GROUPS.values() for entry in entries
}
"""Every entry by name."""
