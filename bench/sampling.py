"""A workload's result at some places in float64, and how far a result is from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.family_references import FAMILY_REFERENCES
from bench.references import REFERENCES, Array, hashed, operands
from bench.workloads import COMPLEX, Workload

SAMPLES = 48


def sampled(workload: Workload, inputs: Sequence[Array]) -> dict[str, Array]:
    """Return `places` in the row-major result, their `values` and `scales` of errors.

    Complex numbers are two each. Places with an infinite scale are left out: no
    precision tells their value.
    """
    size = workload.numbers
    places = np.unique([0, size - 1, *(hashed(np.arange(SAMPLES) + 77) % size)])
    shape = (*workload.output, *((2,) if workload.dtype == COMPLEX else ()))
    where = np.array(np.unravel_index(places, shape or (1,)))
    reference = {**REFERENCES, **FAMILY_REFERENCES}[workload.program]
    values, scales = np.broadcast_arrays(*reference(inputs, where))
    told = np.isfinite(scales)
    scales = np.where(scales == 0, 1, scales)
    return {"places": places[told], "values": values[told], "scales": scales[told]}


def error_of(workload: Workload, inputs: Sequence[Array], result: Array) -> float:
    """Return the largest error of sampled elements, relative to the scale."""
    samples = sampled(workload, inputs)
    numbers = result.view(result.real.dtype)[samples["places"]].astype(np.float64)
    error = np.abs(numbers - samples["values"]) / samples["scales"]
    return float("inf") if np.isnan(error).any() else float(error.max())


def as_json(workload: Workload) -> dict[str, Any]:
    """Return the row for JavaScript, with its samples."""
    samples = sampled(workload, operands(workload))
    shown = {name: values.tolist() for name, values in samples.items()}
    return {**workload.as_json(), "samples": shown}
