"""Kernels that reduce some axes: one launch, or several when there are parts.

Terms are walked along the reduced axes where these lie together in memory
(`row_reduction.py`), else of neighbouring outputs side by side
(`column_reduction.py`). What the parts of a reduction made is combined by a second
launch. Parts follow from the sizes alone, so results do not depend on threads.
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
    way = way_through(kernel)
    first = _launch(kernel, target, way)
    if not way.makes_records:
        return Program((first,))
    size = kernel.sizes[0] * way.parts * itemsize(record_dtype(way.term.dtype))
    if way.parts == 1:
        value = finish_of_records(kernel)
        second = map_launch(kernel, target, value, "finish", kernel.sizes[0])
    else:
        combined = of_records(kernel, way.parts)
        way = way_through(combined, is_of_records=True)
        second = _launch(combined, target, way)
    return Program((first, reading_records(kernel, second)), (size,))


def _launch(kernel: Kernel, target: WasmTarget, way: Traversal) -> Launch:
    writer = ColumnReduction if way.is_by_columns else RowReduction
    return writer(kernel, target, way).launch()
