"""Record what JAX draws, in `random.json` of this folder.

No test runs it, and JAX is not needed otherwise. In an environment that has its CPU
wheel (0.10.2 has recorded), from the root of the repository:

    PYTHONPATH=tests python tests/references/record_random.py

JAX draws with its default generator: threefry2x32, partitionable.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import random_cases as cases

FILE = Path(__file__).parent / "random.json"


def recorded() -> dict[str, Any]:
    """Return everything as lists, with JAX's version."""
    jax = import_module("jax")
    jax.config.update("jax_threefry_partitionable", True)
    draw = jax.random
    keys = [draw.PRNGKey(seed) for seed in cases.SEEDS]
    key = draw.PRNGKey(cases.KEY)
    operands = SimpleNamespace(
        **{
            name: jax.numpy.array(x, jax.numpy.float32)
            for name, x in cases.OPERANDS.items()
        }
    )
    return {
        "jax": jax.__version__,
        "keys": [each.tolist() for each in keys],
        "split": [[draw.split(k, n).tolist() for n in cases.COUNTS] for k in keys],
        "fold_in": [[draw.fold_in(k, n).tolist() for n in cases.FOLDED] for k in keys],
        "bits": [
            [draw.bits(k, shape).tolist() for shape in cases.SHAPES] for k in keys
        ],
        "calls": {
            name: call(draw, key, operands).tolist()
            for name, call in {**cases.EXACT, **cases.ROUNDED}.items()
        },
    }


if __name__ == "__main__":
    text = json.dumps(recorded(), separators=(",", ":"))
    FILE.write_text(text + "\n", "utf-8")
