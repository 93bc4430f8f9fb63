"""The whole op table on WebGPU inside Pyodide in Chromium, against NumPy.

The page has the wheel and no NumPy: expected values are computed in this process. All
cases run in one page load; each asserts its values and which kernels ran.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from bare_page import open_bare, serve_bare
from operation_cases import Case, all_cases, packed
from playwright.sync_api import Browser

from conftest import Serve

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Outcome:
    """What the page gave for one case."""

    case: Case
    row: dict[str, Any]
    data: bytes

    def failure(self) -> str:
        """Return what is wrong, or nothing."""
        case, row = self.case, self.row
        if "error" in row:
            return f"{case.name}: {row['error']}"
        wanted = [list(case.expected.shape), case.dtype, "webgpu"]
        found = [row[key] for key in ("shape", "dtype", "device")]
        if found != wanted:
            return f"{case.name}: {found}, expected {wanted}"
        if not case.has_run(row["kernels"]):
            return f"{case.name}: ran {row['kernels']}, expected {case.kernels}"
        got = np.frombuffer(self.data, case.dtype).reshape(case.expected.shape)
        error = case.error(got)
        if error <= case.allowed:
            return ""
        return (
            f"{case.name}: {error:.2f} ULP, {case.allowed} allowed; "
            f"{got.ravel()[:9]}, expected {case.expected.ravel()[:9]}"
        )


@pytest.fixture(scope="module")
def outcomes(
    chromium: Browser, serve: Serve, tmp_path_factory: pytest.TempPathFactory
) -> list[Outcome]:
    """Run every case in the worker of one page."""
    cases = all_cases()
    description, data = packed(cases)
    address = serve_bare(serve, tmp_path_factory.mktemp("bare"))
    python = open_bare(chromium, address, "inWorker")
    python("load")
    python.install()
    python("await", f"cases = {description!r}")
    python("await", f"data = {base64.b64encode(data).decode()!r}")
    python("await", RUN)
    rows = json.loads(python("await", "rows"))
    found = base64.b64decode(python("await", "results"))
    outcomes, at = [], 0
    for case, row in zip(cases, rows, strict=True):
        size = 0
        if "error" not in row:
            itemsize = np.dtype(row["dtype"]).itemsize
            size = int(np.prod(row["shape"], dtype=int)) * itemsize
        outcomes.append(Outcome(case, row, found[at : at + size]))
        at += size
    python.page.context.close()
    return outcomes


RUN = """
import base64, sys
from pathlib import Path
from pyodide.http import pyfetch
Path("op_runner.py").write_text(await (await pyfetch("./op_runner.py")).string())
import op_runner
rows, results = op_runner.run(cases, base64.b64decode(data))
results = base64.b64encode(results).decode()
assert "numpy" not in sys.modules
"""


def test_every_case_equals_numpy_and_runs_its_kernels(outcomes: list[Outcome]) -> None:
    failures = [text for outcome in outcomes if (text := outcome.failure())]
    assert not failures, f"{len(failures)} of {len(outcomes)}:\n" + "\n".join(failures)
