"""Pack the columns of a unit inside of the product, right before they are read.

What a unit packs stays in the cache of its core, and no launch waits for another one.
"""

from __future__ import annotations

from tensorweb.codegen.wasm.integers import smaller
from tensorweb.codegen.wasm.loops import counted, while_below
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.product.counting import Counter
from tensorweb.codegen.wasm.product.operands import Operand
from tensorweb.codegen.wasm.product.packing import Packing, goes_across
from tensorweb.codegen.wasm.product.sizes import Sizes


def packs_own_columns(right: Operand, sizes: Sizes) -> bool:
    """Whether a unit is all that reads its columns of a right operand."""
    is_own = bool(right.matrix) or sizes.batch == 1
    has_all_rows = sizes.unit_rows >= sizes.rows
    is_packed = right.is_packed and sizes.depth > 0
    return is_packed and is_own and has_all_rows and not goes_across(right)


def pack_own_columns(
    packing: Packing, batch: int | None, first: int, last: int
) -> None:
    """Write what packs the columns from one local to below another.

    Args:
        packing: of the right operand, into the launch of the product.
        batch: the local with the number of the matrix, None if there is but one.
        first: the local with the first column.
        last: the local with the one behind the last.
    """
    frame, f, reader = packing.frame, packing.f, packing.reader
    run, depth = frame.number(packing.run), frame.number(packing.lengths[0])
    packing.across = Counter(reader, 1, depth)
    axes = max(len(reader.expression.groups[2]) - 1, 0)
    runs = packing.runs_before = Counter(reader, 2, None, axes)
    packing.matrices = Counter(reader, 0, None)
    begin, start, end = (f.local("i32") for _ in range(3))
    if batch is not None:
        f.get(batch)
        f.set(packing.matrices.index)
        packing.matrices.begin()
    f.get(first)
    f.get(run)
    f.op("i32.div_u")
    f.tee(runs.index)
    f.get(run)
    f.op("i32.mul")
    f.set(begin)
    with while_below(f, begin, last):
        _part_of_run(packing, (begin, run), (first, last), (start, end))
        runs.begin()
        f.const("i32", 0)
        f.set(packing.across.index)
        packing.across.begin()
        with counted(f, f.constant("i32", 0), depth):
            packing.line(start, end)
            packing.across.step()
        runs.step()
        f.get(begin)
        f.get(run)
        f.op("i32.add")
        f.set(begin)


def _part_of_run(
    packing: Packing,
    run: tuple[int, int],
    columns: tuple[int, int],
    to: tuple[int, int],
) -> None:
    """Write which places of a run are among some columns, a whole vector at least.

    Where these are fewer, others are computed a second time.

    Args:
        packing: knows how long a vector is.
        run: locals with its first column and its length.
        columns: locals with the first one and the one behind the last.
        to: locals for the first place and the one behind the last.
    """
    f = packing.f
    (begin, length), (first, last), (start, end) = run, columns, to
    f.get(last)
    f.get(begin)
    f.op("i32.sub")
    f.set(end)
    _larger(f, end, f.constant("i32", packing.lanes))
    smaller(f, end, length)
    f.set(end)
    f.get(first)
    f.get(begin)
    f.op("i32.sub")
    f.set(start)
    _larger(f, start, f.constant("i32", 0))
    latest = f.local("i32")
    f.get(end)
    f.const("i32", packing.lanes)
    f.op("i32.sub")
    f.set(latest)
    smaller(f, start, latest)
    f.set(start)
    f.free(latest)


def _larger(f: Function, value: int, least: int) -> None:
    """Write what makes a local at least as large as another one, both signed."""
    f.get(value)
    f.get(least)
    f.get(value)
    f.get(least)
    f.ops("i32.gt_s", "select")
    f.set(value)
