"""Runs the cases of the op table inside Pyodide, where there is no NumPy.

`evaluate` is also how the test computes the expected values, with NumPy as `xp`.
"""

from __future__ import annotations

import json
from itertools import accumulate
from types import ModuleType
from typing import Any

import tensorweb as tw
from tensorweb.evaluate import read

TYPECODES = {"bool": "?", "int32": "i", "uint32": "I", "float32": "f"}

READ_TOGETHER = 100


def evaluate(code: str, xp: ModuleType, names: dict[str, Any]) -> Any:
    """Run lines of code and return the value of the last one, an expression."""
    scope = {"xp": xp, **names}
    *lines, last = code.strip().split("\n")
    exec("\n".join(lines), scope)
    return eval(last, scope)


class Inputs:
    """The inputs of all cases, from their bytes one after another."""

    def __init__(self, rows: list[dict[str, Any]], data: bytes) -> None:
        self.rows = rows
        self.data = memoryview(data)
        self.starts = [0, *accumulate(row["bytes"] for row in rows)]

    def tensor(self, place: int) -> tw.Tensor:
        """Return an input as a new tensor: nothing is known of it from other cases."""
        row, start = self.rows[place], self.starts[place]
        flat = self.data[start : start + row["bytes"]].cast(TYPECODES[row["dtype"]])
        return tw.asarray(flat, device="webgpu").reshape(tuple(row["shape"]))


def run(description: str, data: bytes) -> tuple[str, bytes]:
    """Run cases and return what each gave, as JSON, and the bytes of all results.

    A case is `{code, inputs}` with inputs by name as places in the list of inputs.
    """
    asked = json.loads(description)
    inputs = Inputs(asked["inputs"], data)
    rows: list[dict[str, Any]] = []
    results: list[tw.Tensor] = []
    for case in asked["cases"]:
        names = {name: inputs.tensor(place) for name, place in case["inputs"].items()}
        with tw.record_kernels() as kernels:
            try:
                value = evaluate(case["code"], tw, names)
                tw.realize(value)
            except Exception as error:
                rows.append({"error": f"{type(error).__name__}: {error}"})
                continue
        results.append(value)
        rows.append(
            {
                "shape": value.shape,
                "dtype": value.dtype.name,
                "device": value.device,
                "kernels": [kernel.kind for kernel in kernels],
            }
        )
    return json.dumps(rows), b"".join(_read(results))


def _read(results: list[tw.Tensor]) -> list[bytes]:
    """Return the bytes of all results, many by one read."""
    parts: list[bytes] = []
    for begin in range(0, len(results), READ_TOGETHER):
        group = [x.node for x in results[begin : begin + READ_TOGETHER]]
        parts += read(group)
    return parts
