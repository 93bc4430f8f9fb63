"""What the first call of each family costs on a fresh device, cold and after warm_up.

Runs inside Python's host, Pyodide or native; every function returns rows of results.
Needs a host that can wait for the GPU. A driver that keeps compiled shaders on disk
answers sooner when it has seen them: `__GL_SHADER_DISK_CACHE=0` turns NVIDIA's off.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import tensorweb as tw
from bench.cases import driver
from bench.programs import PROGRAMS
from bench.workloads import Workload, workloads
from tensorweb import Tensor, devices
from tensorweb.dtypes import BY_NAME

Row = dict[str, Any]

LEFT_OUT = ("matmul_odd2", "matmul2048", "gather_rows", "scatter_add_rows")
"""Workloads whose kernels another one compiles, or nearly."""


def measure(*, tiny: bool = False) -> str:
    """Return all rows as JSON; software adapters are not worth warming up."""
    rows = [row for row in workloads(tiny=tiny) if row.name not in LEFT_OUT]
    found: list[Row] = []
    for is_warm in (False,) if driver().is_software else (False, True):
        found += _all(rows, is_warm)
    return json.dumps(found)


def _all(rows: list[Workload], is_warm: bool) -> Iterator[Row]:
    """Yield the first calls of all families on one fresh device."""
    driver().close()  # its buffers would be freed in the middle of a measurement
    devices.forget("webgpu")
    gc.collect()
    tw.set_default_device("webgpu")
    prefix = "first_call_warm" if is_warm else "first_call"
    if is_warm:
        started = perf_counter()
        tw.warm_up()
        yield _row("warm_up", perf_counter() - started)
    for row in rows:
        operands = [_operand(each.shape, each.dtype) for each in row.inputs]
        tw.synchronize()
        started = perf_counter()
        result = tw.realize(PROGRAMS[row.program](*operands))
        tw.synchronize()
        yield _row(f"{prefix}_{row.name}", perf_counter() - started)
        del result, operands


def _operand(shape: tuple[int, ...], dtype: str) -> Tensor:
    """Return stored numbers; which ones does not matter."""
    made = tw.realize(tw.zeros(shape, dtype=BY_NAME[dtype]) + 0)
    assert isinstance(made, Tensor)
    return made


def _row(workload: str, seconds: float) -> Row:
    return {
        "workload": workload,
        "ms": seconds * 1e3,
        "rate": 1 / seconds,
        "unit": "call/s",
        "err": None,
    }
