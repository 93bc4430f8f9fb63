"""Record what JAX draws, for `test_random_recorded.py`: writes `recorded.json`.

Run by hand, in an environment of its own, which tests do not need:
`pip install jax==0.10.2`, then `python tests/random_numbers/record_jax.py`. JAX runs
on the CPU with its default generator: threefry2x32, partitionable.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

FOLDER = Path(__file__).parent

sys.path.insert(0, str(FOLDER.parent))

import random_cases as cases  # noqa: E402  # beside the folder of this script


def recorded() -> dict[str, Any]:
    """Return everything as lists, with JAX's version."""
    jax = importlib.import_module("jax")
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
    (FOLDER / "recorded.json").write_text(text + "\n", "utf-8")
