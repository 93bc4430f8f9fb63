"""Runs the cases of the op table inside Pyodide, where there is no NumPy.

Cases come as JSON and one block of bytes, which `tests/operation_files.py` writes where
NumPy is: inputs, and for each number of a result the least and the greatest that is
right. `evaluate` is also how these are computed, with NumPy as `xp`.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import tensorweb as tw
from tensorweb.dtypes import BY_NAME
from tensorweb.evaluate import read

READ_TOGETHER = 100


def evaluate(code: str, xp: ModuleType, names: dict[str, Any]) -> Any:
    """Run lines of code and return the value of the last one, an expression."""
    scope = {"xp": xp, **names}
    *lines, last = code.strip().split("\n")
    exec("\n".join(lines), scope)
    return eval(last, scope)


class Table:
    """All cases, their inputs and what is right.

    Attributes:
        cases: `{name, code, inputs, shape, dtype, kernels, right}` of each; `inputs`
            are indices of blocks by name, `kernels` the templates that must run or
            None, `right` the indices of the least and of the greatest numbers.
    """

    def __init__(self, folder: Path) -> None:
        described = json.loads((folder / "cases.json").read_text("utf-8"))
        self.cases: list[dict[str, Any]] = described["cases"]
        self._blocks: list[dict[str, Any]] = described["blocks"]
        self._data = memoryview((folder / "cases.bin").read_bytes())

    def numbers(self, block: int) -> memoryview | list[float]:
        """Return the numbers of a block."""
        row = self._blocks[block]
        part = self._data[row["start"] : row["start"] + row["bytes"]]
        return numbers(part, row["dtype"])

    def inputs(self, case: dict[str, Any]) -> dict[str, tw.Tensor]:
        """Return a case's inputs as new tensors: nothing is known of them."""
        return {name: self._tensor(block) for name, block in case["inputs"].items()}

    def _tensor(self, block: int) -> tw.Tensor:
        row = self._blocks[block]
        flat = tw.asarray(self.numbers(block), dtype=row["dtype"])
        return flat.reshape(tuple(row["shape"]))

    def failure(self, case: dict[str, Any], result: tw.Tensor, data: bytes) -> str:
        """Return what is wrong with the numbers of a result, or nothing."""
        if [list(result.shape), result.dtype.name] != [case["shape"], case["dtype"]]:
            return (
                f"is {result.dtype} {result.shape}, not {case['dtype']} {case['shape']}"
            )
        got = numbers(memoryview(data), case["dtype"])
        least, greatest = [self.numbers(block) for block in case["right"]]
        for i, (value, low, high) in enumerate(zip(got, least, greatest, strict=True)):
            if not is_right(value, low, high):
                expected = f"{low!r}" if low == high else f"{low!r} to {high!r}"
                return f"element {i} of {len(got)} is {value!r}, right is {expected}"
        return ""


def numbers(data: memoryview, dtype: str) -> memoryview | list[float]:
    """Return the numbers that bytes are."""
    code = BY_NAME[dtype].typecode
    if code == "e":  # Python 3.11 has no views of float16
        return list(struct.unpack(f"{len(data) // 2}e", data))
    return data.cast(code)


def is_right(value: float, least: float, greatest: float) -> bool:
    """Whether a number is in its bounds; NaN alone is right where these are NaN.

    Where both are one zero, its sign must be right as well.
    """
    if value == least == greatest:
        return value != 0 or math.copysign(1, value) == math.copysign(1, least)
    return least <= value <= greatest or (value != value and least != least)


def run(table: Table, device: str) -> list[str]:
    """Run all cases on a device and return the failures, each with its case's name."""
    failures: list[str] = []
    done: list[tuple[dict[str, Any], tw.Tensor]] = []
    with tw.device(device):
        for case in table.cases:
            try:
                value, ran = compute(table, case)
            except Exception as error:
                failures.append(f"{case['name']}: {type(error).__name__}: {error}")
                continue
            if value.device != device:
                failures.append(f"{case['name']}: ran on {value.device}")
            if not has_run(ran, case["kernels"]):
                failures.append(f"{case['name']}: ran {ran}, not {case['kernels']}")
            done.append((case, value))
    for begin in range(0, len(done), READ_TOGETHER):
        together = done[begin : begin + READ_TOGETHER]
        parts = read([value.node for _, value in together])
        for (case, value), data in zip(together, parts, strict=True):
            if text := table.failure(case, value, data):
                failures.append(f"{case['name']}: {text}")
    return failures


def compute(table: Table, case: dict[str, Any]) -> tuple[tw.Tensor, list[str]]:
    """Return a case's result and the templates that ran."""
    inputs = table.inputs(case)
    with tw.record_kernels() as kernels:
        value = tw.realize(evaluate(case["code"], tw, inputs))
    assert isinstance(value, tw.Tensor), "internal: a case has one result"
    return value, [kernel.kind for kernel in kernels]


def has_run(ran: Sequence[str], expected: Sequence[str] | None) -> bool:
    """Whether the templates that ran are the expected ones, `...` for any further."""
    if expected is None:
        return True
    if expected and expected[-1] == "...":
        expected = expected[:-1]
        ran = ran[: len(expected)]
    return list(ran) == list(expected)
