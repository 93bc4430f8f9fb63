"""Record what PyTorch's layers and losses give, in `layers.json` of this folder.

No test runs it, and PyTorch is not needed otherwise. In an environment that has it (its
CPU wheel will do), from the root of the repository:

    PYTHONPATH=tests python tests/references/record_layers.py > layers.json

Outputs, gradients of inputs and parameters, and buffers after the call, in float64.
"""

from __future__ import annotations

import json
import math
from importlib import import_module
from typing import Any

from nn_cases import CASES
from nn_function_cases import (
    Case,
    numbers,
    phase_of,
    values_of_state,
    weights_of_result,
)

RENAMED = {
    "mse": "mse_loss",
    "l1": "l1_loss",
    "huber": "huber_loss",
    "smooth_l1": "smooth_l1_loss",
    "nll": "nll_loss",
    "gaussian_nll": "gaussian_nll_loss",
    "poisson_nll": "poisson_nll_loss",
}
"""Our names of functions of `torch.nn.functional`."""


class Names:
    """PyTorch by our names."""

    def __init__(self) -> None:
        """Import it."""
        self._torch = import_module("torch")
        self._functions = import_module("torch.nn.functional")

    def __getattr__(self, name: str) -> Any:
        """Return a layer, or a function."""
        for module in (self._torch.nn, self._functions, self._torch):
            found = getattr(module, RENAMED.get(name, name), None)
            if found is not None:
                return found
        raise AttributeError(name)

    def attention(
        self,
        q: Any,
        k: Any,
        v: Any,
        causal: bool = False,
        mask: Any = None,
        scale: float | None = None,
    ) -> Any:
        """Return attention, computed step by step and not by a fused kernel."""
        return self._functions.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=causal, scale=scale
        )


def parts_of(value: Any) -> list[Any]:
    """Return the tensors of a result, None left out."""
    if isinstance(value, tuple | list):
        return [part for each in value for part in parts_of(each)]
    return [] if value is None else [value]


def compact(tensor: Any) -> list[Any]:
    """Return numbers of 12 digits; infinities and NaN as text."""
    flat = tensor.detach().double().reshape(-1).tolist()
    return [float(f"{x:.12g}") if math.isfinite(x) else str(x) for x in flat]


def recorded(case: Case) -> dict[str, Any]:
    """Return a case's results and gradients."""
    torch = import_module("torch")
    names = Names()
    inputs = {}
    for name, given in case.inputs.items():
        if isinstance(given, tuple):
            flat = numbers(math.prod(given), phase_of(name), case.scale)
            tensor = torch.tensor(flat, dtype=torch.float64).reshape(given)
        else:
            tensor = torch.tensor(given)
            if tensor.is_floating_point():
                tensor = torch.tensor(given, dtype=torch.float64)
        inputs[name] = tensor.requires_grad_(name not in case.constants)
    layer = None
    if case.layer is not None:
        layer = case.layer(names).double()
        state = {
            name: torch.tensor(values_of_state(name, t.numel()), dtype=t.dtype).reshape(
                t.shape
            )
            if t.is_floating_point()
            else t
            for name, t in layer.state_dict().items()
        }
        layer.load_state_dict(state)
        layer.train(case.train)
    results = parts_of(case.call(names, layer, **inputs))
    total = sum(
        (
            part.reshape(-1)
            * torch.tensor(weights_of_result(part.numel()), dtype=torch.float64)
        ).sum()
        for part in results
    )
    total.backward()
    found: dict[str, Any] = {
        "results": [[list(part.shape), compact(part)] for part in results],
        "inputs": {
            name: compact(inputs[name].grad)
            for name in inputs
            if name not in case.constants
        },
    }
    if layer is not None:
        found["parameters"] = {
            name: compact(p.grad) for name, p in layer.named_parameters()
        }
        found["buffers"] = {name: compact(b) for name, b in layer.named_buffers()}
    return found


def main() -> None:
    """Print all cases, one a line."""
    version = import_module("torch").__version__
    lines = [
        f"  {json.dumps(name)}: {json.dumps(recorded(case), separators=(',', ':'))}"
        for name, case in CASES.items()
    ]
    body = ",\n".join(lines)
    print(f'{{\n "torch": "{version}",\n "cases": {{\n{body}\n }}\n}}')


if __name__ == "__main__":
    main()
