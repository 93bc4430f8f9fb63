"""The one entry from kernels to programs of WebAssembly: a row per family."""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.codegen.program import Program
from tensorweb.codegen.wasm.argreduce import argreduce
from tensorweb.codegen.wasm.custom import custom
from tensorweb.codegen.wasm.elementwise import (
    accumulate,
    compress,
    elementwise,
    scatter,
)
from tensorweb.codegen.wasm.factorizations import factor
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.product.contraction import matmul
from tensorweb.codegen.wasm.reduction import reduce
from tensorweb.codegen.wasm.rows import rows
from tensorweb.codegen.wasm.scanning import scan
from tensorweb.codegen.wasm.sorting import sort
from tensorweb.schedule.kernel import Kernel

GENERATORS: dict[str, Callable[[Kernel, WasmTarget], Program]] = {
    "elementwise": elementwise,
    "matmul": matmul,
    "scan": scan,
    "sort": sort,
    "scatter": scatter,
    "accumulate": accumulate,
    "compress": compress,
    "factor": factor,
    "reduce": reduce,
    "argreduce": argreduce,
    "rows": rows,
    "custom": custom,
}
"""Who writes the program of each kind of kernel."""


def compile_kernel(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the launches of a kernel on a class of machine."""
    program = GENERATORS[kernel.kind](kernel, target)
    program.check(kernel)
    return program
