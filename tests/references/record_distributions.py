"""Record what PyTorch's distributions give, in `distributions.json` of this folder.

No test runs it. In an environment that has PyTorch, from the root of the repository:

    PYTHONPATH=tests python tests/references/record_distributions.py > found.json

Log densities, moments, modes, quantiles, entropies and divergences, in float64.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from importlib import import_module
from typing import Any

from distribution_cases import CASES, CHANCES, OTHERS


def compact(tensor: Any) -> list[Any]:
    """Return the shape, and numbers of 12 digits; infinities and NaN as text."""
    flat = tensor.double().reshape(-1).tolist()
    numbers = [float(f"{x:.12g}") if math.isfinite(x) else str(x) for x in flat]
    return [list(tensor.shape), numbers]


def main() -> None:
    """Print what was recorded."""
    torch = import_module("torch")
    torch.set_default_dtype(torch.float64)
    kinds = torch.distributions
    cases = {}
    for name, (kind, parameters, values) in CASES.items():
        make = getattr(kinds, kind)
        made = make(**{key: torch.tensor(x) for key, x in parameters.items()})
        found = {
            "log_prob": compact(made.log_prob(torch.tensor(values))),
            "mean": compact(made.mean),
            "variance": compact(made.variance),
        }
        with suppress(NotImplementedError):
            found["entropy"] = compact(made.entropy())
        with suppress(NotImplementedError):
            found["mode"] = compact(made.mode)
        with suppress(NotImplementedError):
            found["cdf"] = compact(made.cdf(torch.tensor(values)))
            found["icdf"] = compact(made.icdf(torch.tensor(CHANCES)))
        if name in OTHERS:
            other = make(**{key: torch.tensor(x) for key, x in OTHERS[name].items()})
            found["kl_divergence"] = compact(kinds.kl_divergence(made, other))
        cases[name] = found
    version = torch.__version__.partition("+")[0]
    print(json.dumps({"version": version, "cases": cases}, separators=(",", ":")))


if __name__ == "__main__":
    main()
