"""Compile kernels to programs: one entry of `GENERATORS` per kind of kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tensorweb.codegen.accumulation import accumulate
from tensorweb.codegen.custom import custom
from tensorweb.codegen.elementwise import (
    compress,
    elementwise,
    find_transposed,
    is_packed_elementwise,
    packed_elementwise,
    scatter,
    transposition,
    with_packed_results,
)
from tensorweb.codegen.expression import is_long_code
from tensorweb.codegen.factorizations import factor
from tensorweb.codegen.fourier import fourier
from tensorweb.codegen.product.contraction import matmul
from tensorweb.codegen.product.pairs import paired_reduction, small_products
from tensorweb.codegen.product.windows import convolution, depthwise
from tensorweb.codegen.program import DEFAULT_TARGET, Program, Target
from tensorweb.codegen.reduction import reduce, scan
from tensorweb.codegen.rows import rows
from tensorweb.codegen.sorting import sort
from tensorweb.codegen.stencil import is_stencil, stencil
from tensorweb.codegen.template import apply_workarounds, retain_loops
from tensorweb.codegen.vector import WIDTH
from tensorweb.schedule.kernel import Kernel


def elementwise_or_transposed(kernel: Kernel, target: Target) -> Program:
    """Return the program of an elementwise kernel, tiled if an input is transposed.

    A packed result is stored in full words. A tile contains four copies of the
    expression, one per component of a vector, which makes a long expression too large;
    its workgroup memory takes some compilers seconds.
    """
    if is_packed_elementwise(kernel):
        return packed_elementwise(kernel)
    value = kernel.expression("value")
    # A tiled kernel reads along one result. A kernel with several results reads its
    # inputs in storage order.
    is_untiled = target.is_slow_to_compile or is_long_code(value, WIDTH) or value.more
    transposed = None if is_untiled else find_transposed(value)
    if transposed:
        return transposition(kernel, transposed)
    return stencil(kernel) if is_stencil(value) else elementwise(kernel)


def product(kernel: Kernel, target: Target) -> Program:
    """Return the program of a matrix product or convolution.

    Small matrices have a kernel of their own.
    """
    return (
        convolution(kernel, target)
        or small_products(kernel, target)
        or matmul(kernel, target)
    )


def reduction(kernel: Kernel, target: Target) -> Program:
    """Return the program of a reduction; depthwise and pairwise ones are tiled."""
    return (
        depthwise(kernel, target)
        or paired_reduction(kernel, target)
        or reduce(kernel, target)
    )


GENERATORS: dict[str, Callable[[Kernel, Target], Program]] = {
    "elementwise": elementwise_or_transposed,
    "reduce": reduction,
    "argreduce": reduce,
    "rows": rows,
    "matmul": product,
    "scan": scan,
    "sort": sort,
    "scatter": scatter,
    "accumulate": accumulate,
    "compress": compress,
    "fourier": fourier,
    "factor": factor,
    "custom": custom,
}
"""The function that generates the program of each kind of kernel."""


ALWAYS_UNROLLED = ("matmul", "rows")
"""Kinds whose threads keep many values in registers: loops slow them down everywhere.
"""


def compile_kernel(kernel: Kernel, target: Target = DEFAULT_TARGET) -> Program:
    """Return the program of a kernel for a target."""
    with retain_loops(target.is_slow_to_compile and kernel.kind not in ALWAYS_UNROLLED):
        program = GENERATORS[kernel.kind](kernel, target)
    if kernel.custom is None and not is_packed_elementwise(kernel):
        program = with_packed_results(kernel, program)
    program.check(kernel)
    return _apply_workarounds(program, target) if target.workarounds else program


def _apply_workarounds(program: Program, target: Target) -> Program:
    """Return a program with the functions that the adapter miscomputes replaced."""
    return replace(
        program,
        launches=tuple(
            replace(launch, source=apply_workarounds(launch.source, target.workarounds))
            for launch in program.launches
            if isinstance(launch.source, str)
        ),
    )
