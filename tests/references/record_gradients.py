"""Record the gradients that JAX and PyTorch find, in `gradients.json` of this folder.

No test runs it, and neither library is needed otherwise. In an environment that has one
of them (their CPU wheels will do), from the root of the repository:

    PYTHONPATH=tests python tests/references/record_gradients.py jax
    PYTHONPATH=tests python tests/references/record_gradients.py torch
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from gradient_cases import CASES, NUMBERS, SHAPE, WEIGHTS, Case

FILE = Path(__file__).parent / "gradients.json"


class Torch:
    """PyTorch by the names of the Array API, where they differ."""

    def __init__(self) -> None:
        """Import it."""
        self._torch = import_module("torch")

    def __getattr__(self, name: str) -> Any:
        """Return what has the same name."""
        return getattr(self._torch, name)

    def max(self, x: Any, axis: int, keepdims: bool = False) -> Any:
        return self._torch.amax(x, dim=axis, keepdim=keepdims)

    def min(self, x: Any, axis: int) -> Any:
        return self._torch.amin(x, dim=axis)

    def sum(self, x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        return x.sum() if axis is None else x.sum(dim=axis, keepdim=keepdims)

    def mean(self, x: Any, axis: int, keepdims: bool = False) -> Any:
        return x.mean(dim=axis, keepdim=keepdims)

    def prod(self, x: Any, axis: int | None = None) -> Any:
        return x.prod() if axis is None else x.prod(dim=axis)

    def var(self, x: Any, axis: int) -> Any:
        return self._torch.var(x, dim=axis, correction=0)

    def std(self, x: Any) -> Any:
        return self._torch.std(x, correction=0)

    def cumulative_sum(self, x: Any, axis: int) -> Any:
        return x.cumsum(dim=axis)

    def cumulative_prod(self, x: Any, axis: int) -> Any:
        return x.cumprod(dim=axis)

    def flip(self, x: Any, axis: int) -> Any:
        return x.flip(dims=(axis,))

    def roll(self, x: Any, shift: int, axis: int) -> Any:
        return x.roll(shift, dims=axis)

    def concat(self, parts: Any, axis: int) -> Any:
        return self._torch.cat(parts, dim=axis)

    def stack(self, parts: Any, axis: int) -> Any:
        return self._torch.stack(parts, dim=axis)

    def permute_dims(self, x: Any, axes: tuple[int, ...]) -> Any:
        return x.permute(axes)

    def take(self, x: Any, indices: Any, axis: int) -> Any:
        return x.index_select(axis, indices)

    def sort(self, x: Any, axis: int) -> Any:
        return self._torch.sort(x, dim=axis).values


def by_jax(case: Case) -> tuple[list[float], list[float]]:
    """Return first and second derivatives, in float64."""
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = import_module("jax.numpy")
    x = jnp.asarray(NUMBERS[case.at]).reshape(SHAPE)
    weights = jnp.asarray(WEIGHTS).reshape(SHAPE)
    first = jax.grad(lambda x: case.function(jnp, x).sum())
    second = jax.grad(lambda x: (first(x) * weights).sum())
    return first(x).ravel().tolist(), second(x).ravel().tolist()


def by_torch(case: Case) -> tuple[list[float], list[float]]:
    """Return first and second derivatives, in float64."""
    torch = import_module("torch")
    x = torch.tensor(NUMBERS[case.at], dtype=torch.float64).reshape(SHAPE)
    weights = torch.tensor(WEIGHTS, dtype=torch.float64).reshape(SHAPE)
    x.requires_grad_()
    total = case.function(Torch(), x).sum()
    [first] = torch.autograd.grad(total, x, create_graph=True)
    second = torch.zeros(SHAPE, dtype=torch.float64)
    if first.requires_grad:
        [second] = torch.autograd.grad((first * weights).sum(), x)
    return first.detach().ravel().tolist(), second.ravel().tolist()


RECORDERS = {"jax": by_jax, "torch": by_torch}


def main(library: str) -> None:
    """Put one library's derivatives into the file; others stay."""
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    derivatives = {}
    for name, case in CASES.items():
        first, second = RECORDERS[library](case)
        derivatives[name] = [[round(n, 10) for n in part] for part in (first, second)]
    version = import_module(library).__version__
    known[library] = {"version": version, "derivatives": derivatives}
    lines = [
        f" {json.dumps(one)}: {{\n"
        f'  "version": {json.dumps(part["version"])},\n'
        '  "derivatives": {\n'
        + ",\n".join(
            f"   {json.dumps(name)}: {json.dumps(found)}"
            for name, found in part["derivatives"].items()
        )
        + "\n  }\n }"
        for one, part in sorted(known.items())
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
