"""Every template as committed, and kernels that fill them, made without a device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache

import tensorweb as tw
from e2e.bare.op_runner import evaluate
from tensorweb import dtypes
from tensorweb.codegen.compiler import compile_kernel
from tensorweb.codegen.program import DEFAULT_TARGET, Target
from tensorweb.codegen.template import shader_folder, template_names
from tensorweb.drivers.browser import ENABLES
from tensorweb.dtypes import DType, as_dtype, is_in_category
from tensorweb.errors import TraceError
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.graph.tracing import Placeholder, tracing
from tensorweb.nodes import (
    assignment,
    contraction,
    convolution,
    elementwise,
    factorizations,
    indexing,
    movement,
    reduction,
    selection,
    sorting,
)
from tensorweb.nodes.keys import Indices, Span
from tensorweb.nodes.ranges import promise_interval
from tensorweb.ops import OPS
from tensorweb.performance.warming import given
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tensorweb.tensor import Tensor
from tests.row_formulas import FORMULAS
from tests.structure_cases import STRUCTURES, inputs_of

WORDS = (dtypes.float32, dtypes.int32, dtypes.uint32, dtypes.bool)
STORED = (*WORDS, dtypes.uint8, dtypes.int16)


def value(*shape: int, dtype: DType = dtypes.float32) -> Node:
    """Return a leaf on webgpu whose bytes nobody reads."""
    return leaf(HostData(b""), shape, dtype, "webgpu")


UNITS = Target(workgroup_bytes=49152, has_subgroup_matrices=True)
"""A device with matrix units."""

UNIT_TEMPLATE = "matmul_subgroup_matrix"
"""For Tint alone: naga knows no subgroup matrices."""

HEADER = "".join(ENABLES.values())
"""What a browser's driver writes above every shader there; naga refuses it."""


def sources(*outputs: Node, target: Target = DEFAULT_TARGET) -> Iterator[str]:
    """Yield the WGSL of all kernels of a graph on a class of device."""
    for planned in plan(linearize([node.base for node in outputs]), 6):
        for launch in compile_kernel(planned.kernel, target).launches:
            yield launch.source


def operations() -> Iterator[tuple[str, Node]]:
    """Yield every elementwise, reducing and scanning row on every dtype it takes."""
    for op in OPS.values():
        for dtype in STORED:
            if not is_in_category(dtype, op.accepts):
                continue
            name = f"{op.name} {dtype}"
            if op.kind == "map" and op.name not in ("cast", "where"):
                operands = [value(5, 7, dtype=dtype) for _ in range(op.arity)]
                yield name, elementwise.elementwise(op, *operands)
            elif op.kind == "reduce":
                yield name, reduction.reduce(op.name, value(5, 7, dtype=dtype), (0,))
                yield name, reduction.reduce(op.name, value(99999, dtype=dtype), (0,))
            elif op.kind == "argreduce":
                yield name, reduction.argreduce(op.name, value(5, 7, dtype=dtype), 1)
                yield name, reduction.argreduce(op.name, value(99999, dtype=dtype), 0)
            elif op.kind == "scan":
                yield name, reduction.scan(op.name, value(5, 7, dtype=dtype), 0)
                yield name, reduction.scan(op.name, value(300, dtype=dtype), 0)
                yield name, reduction.scan(op.name, value(3, 9999, dtype=dtype), 1)
                yield name, reduction.scan(op.name, value(3, 8192, dtype=dtype), 1)


def structures() -> Iterator[tuple[str, Node]]:
    """Yield casts, choices, joins, products and positions."""
    for a in STORED:
        for b in STORED:
            yield f"cast {a} {b}", elementwise.cast(value(5, 7, dtype=a), b)
    for dtype in STORED:
        x, y = value(5, 7, dtype=dtype), value(7, dtype=dtype)
        fill = constant(1, dtype, "webgpu")
        choice = elementwise.elementwise(
            OPS["where"], value(5, 1, dtype=dtypes.bool), x, y
        )
        yield f"where {dtype}", choice
        yield f"pad {dtype}", selection.pad(x, [(1, 2), (0, 3)], fill)
        yield f"concat {dtype}", selection.concat([x, x, x], 1)
        row = movement.reshape(y, (1, 7))
        yield f"embed {dtype}", selection.embed(x, row, (2, 0))
        yield f"copy {dtype}", movement.copy(movement.permute(x, (1, 0)))
        rows = [Indices(value(9, dtype=dtypes.int32)), Span((0, 7, 1))]
        yield f"gather {dtype}", indexing.select(x, rows)
        lines = [Indices(value(9, dtype=dtypes.int32)), Span((0, 8, 1))]
        yield f"gather lines {dtype}", indexing.select(value(5, 8, dtype=dtype), lines)
        columns = [Span((1, 3, 1)), Indices(value(9, 2, dtype=dtypes.int32))]
        yield f"gather columns {dtype}", indexing.select(x, columns)
        written = value(9, 7, dtype=dtype)
        yield f"scatter {dtype}", assignment.assign(x, rows, written)
        written = value(3, 9, 2, dtype=dtype)
        yield f"scatter columns {dtype}", assignment.assign(x, columns, written)
        if dtype.kind != "bool":
            for m, k, n in ((5, 7, 11), (1, 7, 11), (5, 7, 1), (2, 999, 2)):
                product = contraction.matmul(
                    value(3, m, k, dtype=dtype), value(k, n, dtype=dtype)
                )
                yield f"matmul {dtype} {m} {k} {n}", product
                yield (
                    f"matmul epilogue {dtype}",
                    elementwise.elementwise(OPS["add"], product, fill),
                )
    for rows, columns in ((128, 128), (300, 20)):
        yield f"lu {rows} {columns}", factorizations.lu(value(rows, columns))
    for dtype in (dtypes.float32, dtypes.int32):
        for m, k, n in ((16, 16, 16), (9, 40, 7)):
            x, y = value(999, m, k, dtype=dtype), value(999, k, n, dtype=dtype)
            yield f"small products {dtype} {m} {k} {n}", contraction.matmul(x, y)
            rows = value(k, m * 9, 1, dtype=dtype)
            apart = elementwise.elementwise(
                OPS["subtract"], rows, value(k, 1, n * 9, dtype=dtype)
            )
            for name in ("sum", "max"):
                paired = reduction.reduce(
                    name, elementwise.elementwise(OPS["abs"], apart), (0,)
                )
                yield f"pairs {name} {dtype} {m} {k} {n}", paired
        for length in (7, 64, 5000):
            x = value(33, length, dtype=dtype)
            total = reduction.reduce("sum", x, (1,), keepdims=True)
            top = reduction.reduce("max", x, (1,), keepdims=True)
            centred = elementwise.elementwise(OPS["subtract"], x, top)
            rows = elementwise.elementwise(OPS["multiply"], centred, total)
            yield f"rows {dtype} {length}", rows
    yield from row_formulas()
    for length in (8, 12):
        x, y = value(5, length), value(length)
        yield f"vectors {length}", elementwise.elementwise(OPS["pow"], x, y)
    for dtype in STORED:
        for rows in (33, 36):
            transposed = movement.permute(value(3, rows, 40, dtype=dtype), (0, 2, 1))
            yield f"transposed {dtype} {rows}", movement.copy(transposed)
    for size in (4096, 1000, 800, 512, 256):
        x = value(size, size)
        yield f"matmul of many tiles {size}", contraction.matmul(x, x)
    for name in ("sort", "argsort"):
        for dtype in STORED:
            for length in (9, 9999, 99999):
                x = value(3, length, dtype=dtype)
                yield f"{name} {dtype} {length}", getattr(sorting, name)(x, 1)
    yield from accumulations()
    for padding, groups in ((1, 1), (0, 1), (1, 3)):
        for shape in ((2, 9, 8, 8), (2, 9, 17, 15)):
            name = f"convolution {shape} padding {padding} groups {groups}"
            x, weight = value(*shape), value(12, 9 // groups, 3, 3)
            how = convolution.windows(name, shape, 2, (3, 3), 1, padding, 1)
            yield name, convolution.convolve(x, weight, how, groups)
    for outputs, step in ((32, 1), (64, 2)):
        x, weight = value(32, 32, 40, 42), value(outputs, 32 * outputs // 1024, 3, 3)
        how = convolution.windows("depthwise", (40, 42), 2, (3, 3), step, 1, 1)
        groups = 1024 // outputs
        yield f"windows {outputs}", convolution.convolve(x, weight, how, groups)
    transposed = movement.permute(value(6, 20, 5), (1, 0, 2))
    product = contraction.tensordot(transposed, value(5, 6, 24), (1, 2), (1, 0))
    yield "tensordot over groups of axes", product
    mask = value(99, dtype=dtypes.bool)
    running = value(99, dtype=dtypes.int32)
    yield "compress", selection.compress(mask, running, 12)
    yield "iota", selection.iota(9, dtypes.uint32, "webgpu")
    many = value(2, 3, 2, 3, 2, 3, 2, 3)
    transposed = movement.permute(many, (7, 5, 3, 1, 6, 4, 2, 0))
    yield "rank 8", elementwise.elementwise(OPS["add"], transposed, value(2))


def row_formulas() -> Iterator[tuple[str, Node]]:
    """Yield formulas of rows, of an odd length and of whole vectors."""
    for length in (37, 64):
        for name, formula in FORMULAS.items():
            with tw.device("webgpu"):  # a software adapter is not the default
                numbers, labels = given(33, length), given(33, dtype=dtypes.int32)
                promise_interval(labels.node, 0, 0)
                node = formula(numbers, labels, tw).node
            yield f"{name} {length}", node


def accumulations() -> Iterator[tuple[str, Node]]:
    """Yield what accumulates elements and rows, few and many, in every dtype."""
    for name in assignment.COMBINED:
        for dtype in STORED:
            for count, length, row in (
                *((9, 99, ()), (9999, 99, ()), (9, 99, (3,)), (9999, 99, (4,))),
                *((99999, 999, ()), (99999, 9999, ())),
            ):
                items = [Indices(value(count, dtype=dtypes.int32))]
                spans = [Span((0, n, 1)) for n in row]
                x = value(length, *row, dtype=dtype)
                values = value(count, *row, dtype=dtype)
                made = assignment.accumulate(name, x, [*items, *spans], values)
                yield f"{name} {dtype} {count} {length} {row}", made


def with_loops() -> Iterator[tuple[str, Node]]:
    """Yield kernels whose loops are kept for some compilers."""
    x = value(2, 9999)
    yield "sort", sorting.sort(x, 1)
    yield "argsort", sorting.argsort(value(2, 99999), 1)
    yield "sum", reduction.reduce("sum", x, (1,))
    yield "cumulative sum", reduction.scan("cumulative_sum", value(9, 99), 1)
    yield from (
        row for row in accumulations() if row[0].startswith("scatter_add float")
    )


def described_kernels() -> Iterator[tuple[str, Node]]:
    """Yield the rows of `structure_cases.py` that can be planned without a value."""
    for row in STRUCTURES:
        inputs = {
            name: Tensor(leaf(Placeholder(), x.shape, as_dtype(x.dtype), "webgpu"))
            for name, x in inputs_of((*row.dtypes, "float32")[0]).items()
            if row.uses(name)
        }
        if "xp.arange" in row.code or not inputs:
            continue
        with contextlib.suppress(TraceError):
            with tw.device("webgpu"), tracing(row.code):
                node = evaluate(row.code, tw, inputs).node
            yield row.code, node


def families() -> Iterator[tuple[str, list[Node]]]:
    """Yield values of one index space that one kernel computes together."""
    for dtype in STORED:
        for length in (7, 8):
            x = value(5, length, dtype=dtype)
            flag = elementwise.elementwise(OPS["equal"], x, x)
            others = [d for d in WORDS if d is not dtype]
            casts = [elementwise.cast(x, each) for each in others]
            yield f"several of {dtype} {length}", [flag, *casts]
    x = value(5, 8)
    small = [elementwise.cast(x, d) for d in (dtypes.uint8, dtypes.int16)]
    yield "several packed", small
    long = value(5, 8)
    for _ in range(40):
        long = elementwise.elementwise(OPS["tan"], long)
    yield "several, long", [long, elementwise.cast(long, dtypes.bool)]


def unit_products() -> Iterator[tuple[str, Node]]:
    """Yield products of float16 that matrix units multiply."""
    half = dtypes.float16
    for m, k, n in ((128, 64, 128), (4096, 40, 4096), (72, 264, 200)):
        a, b = value(2, m, k, dtype=half), value(2, k, n, dtype=half)
        turned_a = movement.permute(value(2, k, m, dtype=half), (0, 2, 1))
        turned_b = movement.permute(value(n, k, dtype=half), (1, 0))
        for left, right in ((a, b), (turned_a, b), (a, turned_b), (turned_a, turned_b)):
            product = contraction.matmul(left, right)
            yield f"units {m} {k} {n}", product
        bias = elementwise.elementwise(OPS["add"], product, value(n, dtype=half))
        yield f"units epilogue {m} {k} {n}", elementwise.cast(bias, dtypes.float32)


@cache
def unit_corpus() -> dict[str, str]:
    """Return the shaders for matrix units by a name for people, headers included."""
    text = (shader_folder() / f"{UNIT_TEMPLATE}.wgsl").read_text(encoding="utf-8")
    found = {HEADER + text: "as committed"}
    for name, node in unit_products():
        for text in sources(node, target=UNITS):
            found.setdefault(HEADER + text, name)
    return {
        f"{name} #{index}": text for index, (text, name) in enumerate(found.items())
    }


@cache
def corpus() -> dict[str, str]:
    """Return every distinct shader text by a name for people."""
    found: dict[str, str] = {}
    for name in template_names():
        text = (shader_folder() / f"{name}.wgsl").read_text(encoding="utf-8")
        if name != UNIT_TEMPLATE:
            found[text] = f"{name}.wgsl as committed"
    for folder in ("math", "exact"):
        for path in sorted((shader_folder() / folder).glob("*.wgsl")):
            found[_alone(path.read_text(encoding="utf-8"))] = f"{folder}/{path.name}"
    for make in (operations, structures, described_kernels):
        for name, node in make():
            for text in sources(node):
                found.setdefault(text, name)
    for name, nodes in families():
        for text in sources(*nodes):
            found.setdefault(text, name)
    for name, node in with_loops():
        for text in sources(node, target=Target(is_slow_to_compile=True)):
            found.setdefault(text, f"{name} with loops")
    return {
        f"{name} #{index}": text for index, (text, name) in enumerate(found.items())
    }


def _alone(text: str) -> str:
    """Return a file of the library with what it calls from other files."""
    from tensorweb.codegen.template import functions_for

    needed = functions_for(text) or text
    if "parameters.zero" not in needed:
        return needed
    head = "struct Parameters {\n  zero: u32,\n}\n"
    return f"{head}var<private> parameters: Parameters;\n{needed}"
