"""Writes cases of the op table for a Python without NumPy; `Table` reads them there.

Floats get the least and the greatest number that `Case.error` takes for right, others
are equal or wrong.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from operation_cases import Case

Array = np.ndarray[Any, Any]


def write_cases(folder: Path, cases: Sequence[Case], device: str) -> None:
    """Write `cases.json` and `cases.bin`; templates must run on `webgpu` only.

    Browsers compute on SwiftShader here, whose compiler is slow.
    """
    blocks = Blocks()
    rows = [
        {
            "name": case.name,
            "code": case.code,
            "inputs": {name: blocks.add(x) for name, x in case.inputs.items()},
            "shape": case.expected.shape,
            "dtype": case.dtype,
            "kernels": (case.slow or case.kernels) if device == "webgpu" else None,
            "right": [blocks.add(x) for x in bounds(case)],
        }
        for case in cases
    ]
    described = {"cases": rows, "blocks": blocks.rows}
    (folder / "cases.json").write_text(json.dumps(described), "utf-8")
    (folder / "cases.bin").write_bytes(b"".join(blocks.parts))


class Blocks:
    """Arrays one after another, each once."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.parts: list[bytes] = []
        self._places: dict[tuple[str, tuple[int, ...], bytes], int] = {}
        self._size = 0

    def add(self, x: Array) -> int:
        """Return the number of an array's block."""
        key = (x.dtype.name, x.shape, np.ascontiguousarray(x).tobytes())
        if key not in self._places:
            self._places[key] = len(self.rows)
            dtype, shape, data = key
            self.rows.append(
                {
                    "dtype": dtype,
                    "shape": shape,
                    "start": self._size,
                    "bytes": len(data),
                }
            )
            # A block begins where any dtype may begin.
            self.parts.append(data.ljust(-(-len(data) // 8) * 8, b"\0"))
            self._size += len(self.parts[-1])
        return self._places[key]


def bounds(case: Case) -> tuple[Array, Array]:
    """Return the least and the greatest result that is right, floats in float64.

    NaN in both says that NaN is right. Where a result is exact, zeros have their sign.
    """
    exact = np.asarray(case.expected)
    if not case.dtype.startswith("float"):
        exact = exact.astype(case.dtype)
        return exact, exact
    expected = exact.astype(np.float64)
    limits = np.finfo(case.dtype)
    tiny, largest = float(limits.smallest_normal), float(limits.max)
    nearly = largest * (1 - 2.0**-limits.nmant)
    with np.errstate(all="ignore"):
        error = case.allowed * case.unit()
        is_large = np.abs(expected) > nearly
        too_large = np.abs(expected) > largest
        limited = np.where(too_large, np.copysign(np.inf, expected), expected)
        least, greatest = limited - error, limited + error
        # In float64 these are rounded, and away from `limited` only.
        least = np.where(limited - least > error, np.nextafter(least, np.inf), least)
        is_over = greatest - limited > error
        greatest = np.where(is_over, np.nextafter(greatest, -np.inf), greatest)
        least = np.where(too_large & (expected > 0), np.inf, least)
        greatest = np.where(too_large & (expected < 0), -np.inf, greatest)
        greatest = np.where(is_large & (expected > 0), np.inf, greatest)
        least = np.where(is_large & (expected < 0), -np.inf, least)
        # A device may take subnormal numbers for zero.
        is_tiny = (np.abs(expected) < tiny) & ((expected != 0) | (case.allowed > 0))
        least = np.where(is_tiny, np.minimum(least, -tiny), least)
        greatest = np.where(is_tiny, np.maximum(greatest, tiny), greatest)
    return least, greatest
