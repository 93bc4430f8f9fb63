"""The one entry from kernels to programs: a row per family."""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.codegen.contraction import matmul
from tensorweb.codegen.families import compress, elementwise, scatter
from tensorweb.codegen.program import Program
from tensorweb.codegen.reduction import reduce
from tensorweb.codegen.rows import rows
from tensorweb.codegen.scanning import scan
from tensorweb.codegen.target import DEFAULT_TARGET, Target
from tensorweb.schedule.kernel import Kernel

FAMILIES: dict[str, Callable[[Kernel, Target], Program]] = {
    "elementwise": elementwise,
    "reduce": reduce,
    "argreduce": reduce,
    "rows": rows,
    "matmul": matmul,
    "scan": scan,
    "scatter": scatter,
    "compress": compress,
}
"""Who writes the program of each kind of kernel."""


def compile_kernel(kernel: Kernel, target: Target = DEFAULT_TARGET) -> Program:
    """Return the launches of a kernel on a class of device."""
    return FAMILIES[kernel.kind](kernel, target)
