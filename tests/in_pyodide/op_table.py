"""The whole op table on `cpu`, inside Pyodide: a test for each case.

`tests/operation_files.py` writes the cases into the folder `TENSORWEB_OP_TABLE`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from e2e.bare.op_runner import Table, compute
from tensorweb.evaluate import read

TABLE = Table(Path(os.environ["TENSORWEB_OP_TABLE"]))


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case["name"])
def test_values(case: dict[str, Any], cpu: str) -> None:
    result, _ = compute(TABLE, case)
    assert result.device == cpu
    [data] = read([result.node])
    assert not (failure := TABLE.failure(case, result, data)), failure
