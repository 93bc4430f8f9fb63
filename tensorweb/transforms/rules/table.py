"""Every rule by the operation's name."""

from __future__ import annotations

from tensorweb.transforms.rules import (
    elementwise,
    indexing,
    products,
    reductions,
    structure,
)
from tensorweb.transforms.rules.rule import Rule

RULES: dict[str, Rule] = {
    **elementwise.RULES,
    **structure.RULES,
    **reductions.RULES,
    **indexing.RULES,
    **products.RULES,
}
"""Rows without one have no inputs."""
