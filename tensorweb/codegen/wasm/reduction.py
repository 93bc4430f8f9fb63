"""Kernels that reduce some axes: one launch, or several when there are parts.

Terms are walked along the reduced axes where these lie together in memory
(`row_reduction.py`), else of neighbouring outputs side by side
(`column_reduction.py`). What the parts of a reduction made is combined by another
launch, which reduces records and may have parts again. Parts follow from the sizes
alone, so results do not depend on threads.
"""

from __future__ import annotations

from tensorweb.codegen.program import Launch, Program
from tensorweb.codegen.wasm.column_reduction import ColumnReduction
from tensorweb.codegen.wasm.elements import itemsize
from tensorweb.codegen.wasm.elementwise import map_launch
from tensorweb.codegen.wasm.finishing import (
    finish_of_records,
    of_records,
    reading_records,
    record_dtype,
)
from tensorweb.codegen.wasm.row_reduction import RowReduction
from tensorweb.codegen.wasm.target import WasmTarget
from tensorweb.codegen.wasm.traversal import Traversal, way_through
from tensorweb.schedule.kernel import Kernel


def reduce(kernel: Kernel, target: WasmTarget) -> Program:
    """Return the program of a reduction."""
    launches: list[Launch] = []
    scratch_bytes: list[int] = []
    way = way_through(kernel)
    launches.append(_launch(kernel, target, way))
    while way.makes_records:
        record = itemsize(record_dtype(way.term.dtype))
        scratch_bytes.append(way.outputs * way.parts * record)
        before, number, parts = kernel, way.scratch, way.parts
        if parts == 1:
            value = finish_of_records(kernel)
            launch = map_launch(kernel, target, value, "finish", way.outputs)
            launches.append(reading_records(before, launch, number))
            break
        kernel = of_records(kernel, parts)
        way = way_through(kernel, number + 1)
        launch = _launch(kernel, target, way)
        launches.append(reading_records(before, launch, number))
    return Program(tuple(launches), tuple(scratch_bytes))


def _launch(kernel: Kernel, target: WasmTarget, way: Traversal) -> Launch:
    writer = ColumnReduction if way.is_by_columns else RowReduction
    return writer(kernel, target, way).launch()
