"""The one entry from kernels to programs: a row per family."""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.codegen.contraction import matmul
from tensorweb.codegen.families import compress, elementwise, scan, scatter
from tensorweb.codegen.program import Program
from tensorweb.codegen.reduction import reduce
from tensorweb.schedule.kernel import Kernel

FAMILIES: dict[str, Callable[[Kernel], Program]] = {
    "elementwise": elementwise,
    "reduce": reduce,
    "argreduce": reduce,
    "matmul": matmul,
    "scan": scan,
    "scatter": scatter,
    "compress": compress,
}
"""Who writes the program of each kind of kernel."""


def compile_kernel(kernel: Kernel) -> Program:
    """Return the launches of a kernel."""
    return FAMILIES[kernel.kind](kernel)
