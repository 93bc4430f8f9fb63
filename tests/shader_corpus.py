"""Every template as committed, and kernels that fill them, made without a device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache

import tensorweb as tw
from e2e.bare.op_runner import evaluate
from tensorweb import dtypes
from tensorweb.codegen.compiler import compile_kernel
from tensorweb.codegen.template import shader_folder, template_names
from tensorweb.dtypes import DType, as_dtype, is_in_category
from tensorweb.errors import TraceError
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.graph.tracing import Placeholder, tracing
from tensorweb.nodes import (
    accumulation,
    assignment,
    contraction,
    convolution,
    elementwise,
    indexing,
    movement,
    reduction,
    selection,
    sorting,
)
from tensorweb.nodes.keys import Indices, Span
from tensorweb.ops import OPS
from tensorweb.schedule.linear import linearize
from tensorweb.schedule.plan import plan
from tensorweb.tensor import Tensor
from tests.structure_cases import STRUCTURES, inputs_of

STORED = (dtypes.float32, dtypes.int32, dtypes.uint32, dtypes.bool)


def value(*shape: int, dtype: DType = dtypes.float32) -> Node:
    """Return a leaf on webgpu whose bytes nobody reads."""
    return leaf(HostData(b""), shape, dtype, "webgpu")


def sources(*outputs: Node) -> Iterator[str]:
    """Yield the WGSL of all kernels of a graph."""
    for planned in plan(linearize([node.base for node in outputs]), 6):
        for launch in compile_kernel(planned.kernel).launches:
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
    for dtype in (dtypes.float32, dtypes.int32):
        for length in (7, 64, 5000):
            x = value(33, length, dtype=dtype)
            total = reduction.reduce("sum", x, (1,), keepdims=True)
            top = reduction.reduce("max", x, (1,), keepdims=True)
            centred = elementwise.elementwise(OPS["subtract"], x, top)
            rows = elementwise.elementwise(OPS["multiply"], centred, total)
            yield f"rows {dtype} {length}", rows
    for length in (8, 12):
        x, y = value(5, length), value(length)
        yield f"vectors {length}", elementwise.elementwise(OPS["pow"], x, y)
    for dtype in STORED:
        for rows in (33, 36):
            turned = movement.permute(value(3, rows, 40, dtype=dtype), (0, 2, 1))
            yield f"turned {dtype} {rows}", movement.copy(turned)
    for size in (4096, 1000, 800, 512, 256):
        x = value(size, size)
        yield f"matmul of many tiles {size}", contraction.matmul(x, x)
    for name in ("sort", "argsort"):
        for dtype in STORED:
            for length in (9, 999, 9999):
                x = value(3, length, dtype=dtype)
                yield f"{name} {dtype} {length}", getattr(sorting, name)(x, 1)
    yield from accumulations()
    for padding, groups in ((1, 1), (0, 1), (1, 3)):
        for shape in ((2, 9, 8, 8), (2, 9, 17, 15)):
            name = f"convolution {shape} padding {padding} groups {groups}"
            x, weight = value(*shape), value(12, 9 // groups, 3, 3)
            how = convolution.windows(name, shape[2:], (3, 3), 1, padding, 1)
            yield name, convolution.convolve(x, weight, how, groups)
    turned = movement.permute(value(6, 20, 5), (1, 0, 2))
    product = contraction.tensordot(turned, value(5, 6, 24), (1, 2), (1, 0))
    yield "tensordot over groups of axes", product
    mask = value(99, dtype=dtypes.bool)
    running = value(99, dtype=dtypes.int32)
    yield "compress", selection.compress(mask, running, 12)
    yield "iota", selection.iota(9, dtypes.uint32, "webgpu")
    many = value(2, 3, 2, 3, 2, 3, 2, 3)
    turned = movement.permute(many, (7, 5, 3, 1, 6, 4, 2, 0))
    yield "rank 8", elementwise.elementwise(OPS["add"], turned, value(2))


def accumulations() -> Iterator[tuple[str, Node]]:
    """Yield what accumulates elements and rows, few and many, in every dtype."""
    for name in accumulation.COMBINED:
        for dtype in STORED:
            for count, length, row in (
                *((9, 99, ()), (9999, 99, ()), (9, 99, (3,)), (9999, 99, (4,))),
                *((99999, 999, ()), (99999, 9999, ())),
            ):
                items = [Indices(value(count, dtype=dtypes.int32))]
                spans = [Span((0, n, 1)) for n in row]
                x = value(length, *row, dtype=dtype)
                values = value(count, *row, dtype=dtype)
                made = accumulation.accumulate(name, x, [*items, *spans], values)
                yield f"{name} {dtype} {count} {length} {row}", made


def told() -> Iterator[tuple[str, Node]]:
    """Yield the rows of `structure_cases.py` that can be planned without a value."""
    for row in STRUCTURES:
        inputs = {
            name: Tensor(leaf(Placeholder(), x.shape, as_dtype(x.dtype), "webgpu"))
            for name, x in inputs_of((*row.dtypes, "float32")[0]).items()
            if row.uses(name)
        }
        if "xp.arange" in row.code or not inputs:
            continue
        with contextlib.suppress(TraceError), tracing(row.code):
            yield row.code, evaluate(row.code, tw, inputs).node


@cache
def corpus() -> dict[str, str]:
    """Return every distinct shader text by a name for people."""
    found: dict[str, str] = {}
    for name in template_names():
        text = (shader_folder() / f"{name}.wgsl").read_text(encoding="utf-8")
        found[text] = f"{name}.wgsl as committed"
    for folder in ("math", "exact"):
        for path in sorted((shader_folder() / folder).glob("*.wgsl")):
            found[_alone(path.read_text(encoding="utf-8"))] = f"{folder}/{path.name}"
    for make in (operations, structures, told):
        for name, node in make():
            for text in sources(node):
                found.setdefault(text, name)
    return {
        f"{name} #{place}": text for place, (text, name) in enumerate(found.items())
    }


def _alone(text: str) -> str:
    """Return a file of the library with what it calls from other files."""
    from tensorweb.codegen.library import functions_for

    needed = functions_for(text)
    return needed if needed else text
