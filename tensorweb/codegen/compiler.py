"""The one entry from kernels to programs: a row per family."""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.codegen.accumulation.sorted import accumulate
from tensorweb.codegen.bulk import is_bulky
from tensorweb.codegen.launches import compress, elementwise, scatter
from tensorweb.codegen.product.contraction import matmul
from tensorweb.codegen.program import Program
from tensorweb.codegen.reduction import reduce
from tensorweb.codegen.rows import rows
from tensorweb.codegen.scanning import scan
from tensorweb.codegen.sorting import sort
from tensorweb.codegen.target import DEFAULT_TARGET, Target
from tensorweb.codegen.transposition import find_transposed, transposition
from tensorweb.codegen.vector import WIDTH
from tensorweb.schedule.kernel import Kernel


def elementwise_or_transposed(kernel: Kernel, target: Target) -> Program:
    """Return the program of an elementwise kernel, through tiles for transposed inputs.

    A tile's four vectors hold a copy of the expression each, too much of a long one.
    """
    value = kernel.expression("value")
    found = None if is_bulky(value, WIDTH) else find_transposed(value)
    return transposition(kernel, found) if found else elementwise(kernel, target)


FAMILIES: dict[str, Callable[[Kernel, Target], Program]] = {
    "elementwise": elementwise_or_transposed,
    "reduce": reduce,
    "argreduce": reduce,
    "rows": rows,
    "matmul": matmul,
    "scan": scan,
    "sort": sort,
    "scatter": scatter,
    "accumulate": accumulate,
    "compress": compress,
}
"""Who writes the program of each kind of kernel."""


def compile_kernel(kernel: Kernel, target: Target = DEFAULT_TARGET) -> Program:
    """Return the launches of a kernel on a class of device."""
    return FAMILIES[kernel.kind](kernel, target)
