"""What each limit of `codegen/policy.py` decides, on both sides of it.

Each line of `policy_limits.txt` is a call of a function of this file, which makes
kernels, perhaps a target, and the first launches: template, workgroups, and constants
and parameters that limits decide. A limit that moves changes a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod
from pathlib import Path

import pytest

from tensorweb import dtypes
from tensorweb.codegen.compiler import compile_kernel
from tensorweb.codegen.expression import loop_of
from tensorweb.codegen.program import DEFAULT_TARGET, Target
from tensorweb.dtypes import DType
from tensorweb.graph.node import Node
from tensorweb.nodes import (
    assignment,
    contraction,
    convolution,
    elementwise,
    factorizations,
    movement,
    reduction,
    sorting,
)
from tensorweb.nodes.keys import Indices, Span
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Access, Expression, Kernel, Step
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tests.shader_corpus import value

SLOW = Target(is_slow_to_compile=True)
SOFTWARE = Target(is_software=True)
UNITS = Target(workgroup_bytes=49152, has_subgroup_matrices=True)
LARGE = Target(workgroup_bytes=49152, threads=512)


F32 = dtypes.float32


def kernels(node: Node) -> list[Kernel]:
    return [planned.kernel for planned in plan(linearize([node.base]), 6)]


def launched(
    names: str, kernels: Iterable[Kernel], target: Target = DEFAULT_TARGET
) -> str:
    """Return templates and workgroups, and constants and parameters by name."""
    entries = []
    for kernel in kernels:
        for launch in compile_kernel(kernel, target).launches:
            source = str(launch.source)
            values = dict(re.findall(r"^const (\w+): \w+ = (\w+?)u?;", source, re.M))
            struct = source.split("struct Parameters {", 1)[1].split("}", 1)[0]
            fields = re.findall(r"(\w+?)\d*: ", struct)
            values |= zip(fields, map(str, launch.words), strict=True)
            values["arrays"] = str(source.count("var<workgroup>"))
            shown = [
                f"{name}={values[name]}" for name in names.split() if name in values
            ]
            entries.append(" ".join([launch.template, f"{prod(launch.grid)}", *shown]))
    return ", ".join(entries)


def op(name: str, *operands: Node) -> Node:
    return elementwise.elementwise(OPS[name], *operands)


def summed(*shape: int, axis: int) -> list[Kernel]:
    return kernels(reduction.reduce("sum", value(*shape), (axis,)))


def pooled(outputs: int, length: int, stride: int = 4) -> list[Kernel]:
    access = Access(0, ((stride,), (3,)))
    load = Step("load", "float32", slot=0, access=0)
    term = Expression(((outputs,), (length,)), (access,), (load,), 0)
    finish = Expression(((outputs,),), (), (Step("core", "float32"),), 0)
    expressions = (("term", term), ("finish", finish))
    sizes = (outputs, length)
    f32 = ("float32",)
    return [Kernel("reduce", "sum", sizes, expressions, f32, (), *f32, f32)]


def softmax(count: int, length: int, steps: int = 0) -> list[Kernel]:
    x = value(count, length)
    for _ in range(steps):
        x = op("sqrt", x)
    top = reduction.reduce("max", x, (1,), keepdims=True)
    shifted = op("exp", op("subtract", x, top))
    total = reduction.reduce("sum", shifted, (1,), keepdims=True)
    return kernels(op("divide", shifted, total))


def scanned(count: int, length: int) -> list[Kernel]:
    return kernels(reduction.scan("cumulative_sum", value(count, length), 1))


def ordered(name: str, length: int) -> list[Kernel]:
    return kernels(getattr(sorting, name)(value(3, length), 1))


def accumulated(
    name: str, writes: int, length: int, *row: int, dtype: DType = F32
) -> list[Kernel]:
    keys = [Indices(value(writes, dtype=dtypes.int32)), *(Span((0, n, 1)) for n in row)]
    x, values = value(length, *row, dtype=dtype), value(writes, *row, dtype=dtype)
    return kernels(assignment.accumulate(name, x, keys, values))


def transposed(rows: int, columns: int, inputs: int = 1) -> list[Kernel]:
    total = op("negative", movement.permute(value(columns, rows), (1, 0)))
    for _ in range(inputs - 1):
        total = op("add", total, movement.permute(value(columns, rows), (1, 0)))
    return kernels(total)


def neighbours(
    rows: int, columns: int, distance: int = 1, steps: int = 0, *, across: bool = False
) -> list[Kernel]:
    width = columns + 1
    offsets = [n * (1 if across else width) for n in (-distance, 0, distance)]
    accesses = tuple(Access(offset, ((width, 1),)) for offset in offsets)
    loads = [Step("load", "float32", slot=0, access=n) for n in range(len(offsets))]
    adds = [Step("map", "float32", "add", args=(n, n + 1)) for n in range(3 + steps)]
    groups = ((rows, columns),)
    x = Expression(groups, accesses, (*loads, *adds), len(loads) + len(adds) - 1)
    sizes, f32 = (rows * columns,), ("float32",)
    return [Kernel("elementwise", "", sizes, (("value", x),), f32, (), "", f32)]


def fourier(count: int, length: int, *, across: bool = False) -> list[Kernel]:
    strides = ((2,), (2 * count,)) if across else ((2 * length,), (2,))
    accesses = tuple(Access(n, strides) for n in range(2))
    loads = tuple(Step("load", "float32", slot=0, access=n) for n in range(2))
    term = Expression(((count,), (length,)), accesses, loads, 0, (1,))
    load = Step("load", "float32", slot=1, access=0)
    root = Expression(((length,),), (Access(0, ((1,),)),), (load,), 0)
    sizes = (count, length, count if across else 1, 0)
    f32 = ("float32",)
    both = (("term", term), ("root", root))
    return [Kernel("fourier", "fourier", sizes, both, f32 * 2, (), *f32, f32)]


def factored(size: int) -> list[Kernel]:
    return kernels(factorizations.cholesky(value(7, size, size)))


def decomposed(size: int) -> list[Kernel]:
    return kernels(factorizations.svd(value(7, size, size))[1])


def solved(size: int, columns: int) -> list[Kernel]:
    left, right = value(7, size, size), value(7, size, columns)
    return kernels(factorizations.triangular_solve(left, right, is_upper=True))


def product(
    batch: int, rows: int, depth: int, columns: int, dtype: DType = F32
) -> list[Kernel]:
    left = value(batch, rows, depth, dtype=dtype)
    return kernels(contraction.matmul(left, value(batch, depth, columns, dtype=dtype)))


def distances(rows: int, columns: int, depth: int) -> list[Kernel]:
    difference = op("subtract", value(depth, rows, 1), value(depth, 1, columns))
    return kernels(reduction.reduce("sum", op("abs", difference), (0,)))


def convolved(
    batch: int, channels: int, outputs: int, side: int, groups: int = 1, window: int = 3
) -> list[Kernel]:
    x = value(batch, channels, side, side)
    weight = value(outputs, channels // groups, window, window)
    sizes, padding = (window, window), window // 2
    windows = convolution.windows("convolution", (side, side), 2, sizes, 1, padding, 1)
    return kernels(convolution.convolve(x, weight, windows, groups))


LIMITS = Path(__file__).with_name("policy_limits.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("line", LIMITS.splitlines())
def test_limits(line: str) -> None:
    call, expected = line.split(" → ")
    call, _, target = call.partition(" for ")
    names = dict.fromkeys(re.findall(r"(\w+)=", expected))
    made = launched(" ".join(names), eval(call), eval(target or "DEFAULT_TARGET"))
    assert made.startswith(expected)


def texts(kernels: Iterable[Kernel]) -> str:
    """Return the texts of the launches of kernels."""
    launches = (compile_kernel(kernel, DEFAULT_TARGET).launches for kernel in kernels)
    return "\n".join(str(each.source) for made in launches for each in made)


def test_short_axes_of_windows_are_literals_and_long_ones_share_a_text() -> None:
    made = [texts(convolved(1, 5, 37, 40, window=side)) for side in (5, 15, 17, 19)]
    assert len({*made}) == 3
    assert made[2] == made[3]


def test_a_padding_mask_is_made_where_its_tests_pay() -> None:
    assert "padding_mask" in texts(convolved(8, 16, 128, 28))
    assert "padding_mask" not in texts(convolved(16, 2, 64, 56, window=5))


def test_long_expressions_have_one_copy_in_a_loop() -> None:
    def sines(count: int) -> str:
        x = value(1 << 22)
        for _ in range(count):
            x = op("sin", x)
        return texts(kernels(x))

    assert "for (" not in sines(1)
    assert "for (" in sines(4)


def test_short_trips_of_rolled_loops_are_four_iterations() -> None:
    def copies(statements: int) -> int:
        text = loop_of("    x += 1.0;\n" * statements, "8u")
        return text.count("x += 1.0;") // statements

    assert [copies(count) for count in (1, 100, 128, 129, 400)] == [5, 5, 5, 1, 1]
