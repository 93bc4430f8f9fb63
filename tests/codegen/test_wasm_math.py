"""Runs every function of `shaders/math` as WebAssembly and judges it by NumPy.

Each is translated twice: for single numbers and for four at once, the latter also with
a fused multiply-add. The bounds are stated in comments.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import math_wgsl_cases
import numpy as np
import pytest
from math_errors import Judge
from numpy.typing import NDArray

from tensorweb.codegen.wasm.frame import BUFFERS, FIRST, LAST
from tensorweb.codegen.wasm.functions import expression, read_all
from tensorweb.codegen.wasm.loops import counted
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wasm.translation import Translation, Writer
from tensorweb.drivers.protocol import DISPATCH
from tensorweb.drivers.wasm_native import WasmNativeDriver, open_wasm_native
from tools.accuracy import FOLDER, bounded, functions

FUNCTIONS = functions("\n".join(path.read_text() for path in FOLDER.glob("*.wgsl")))
BOUNDED = bounded()
CASES = math_wgsl_cases.cases(BOUNDED.values())
DTYPES = {"f32": np.float32, "i32": np.int32, "u32": np.uint32, "bool": np.uint32}
WAYS = {
    "single": (1, False),
    "four": (4, False),
    "four fused": (4, True),
}
"""Lanes, and whether multiply-adds round once."""


@pytest.fixture(scope="module")
def driver() -> Iterator[WasmNativeDriver]:
    opened = open_wasm_native()
    yield opened
    opened.close()


def module_of(name: str, lanes: int, is_relaxed: bool) -> bytes:
    """Return a module that maps columns of words through a function."""
    writer = Writer(WasmTarget(False, is_relaxed))
    f = Function(("i32",) * 4)
    values = Translation(writer, f, lanes)
    takes, gives = FUNCTIONS[name].takes, FUNCTIONS[name].gives
    offset = f.local("i32")
    with counted(f, FIRST, LAST) as unit:
        f.get(unit)
        f.const("i32", 4 * lanes)
        f.op("i32.mul")
        f.set(offset)

        def address(column: int) -> None:
            f.get(BUFFERS)
            f.memory("i32.load", 4 * column)
            f.get(offset)
            f.op("i32.add")

        scope = {}
        for column, kind in enumerate(takes):
            local = f.local(values.value_type(kind))
            address(column)
            single = "f32" if kind == "f32" else "i32"
            f.memory("v128.load" if lanes > 1 else f"{single}.load")
            f.set(local)
            scope[f"operand{column}"] = (local,)
        address(len(takes))
        form = f"{name}({', '.join(f'{{{n}}}' for n in range(len(takes)))})"
        values.term(expression(form, tuple(takes)), scope)
        if gives == "bool" and lanes > 1:
            f.get(f.constant("i32x4", 1))
            f.op("v128.and")
        single = "f32" if gives == "f32" else "i32"
        f.memory("v128.store" if lanes > 1 else f"{single}.store")
    return writer.finished(f)


def evaluate(
    driver: WasmNativeDriver, name: str, way: str, columns: tuple[NDArray, ...]
) -> NDArray:
    """Run a function on columns of equal length and return its results."""
    lanes, is_relaxed = WAYS[way]
    size = columns[0].size
    units = -(-size // lanes)
    pipeline = driver.create_pipeline(
        module_of(name, lanes, is_relaxed), "r" * len(columns) + "w", name
    )
    buffers = [driver.create_buffer(units * 4 * lanes) for _ in range(len(columns) + 1)]
    for buffer, column in zip(buffers, columns, strict=False):
        driver.write_buffer(buffer, 0, column.tobytes())
    launch = [DISPATCH, pipeline, units, units, 1, 0, len(buffers), *buffers]
    driver.submit(array("i", [0, *launch]))
    data = driver.read(buffers[-1], 0, 4 * size)
    for buffer in buffers:
        driver.destroy_buffer(buffer)
    return np.frombuffer(data, DTYPES[FUNCTIONS[name].gives])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_function_keeps_its_bound(
    driver: WasmNativeDriver, case: math_wgsl_cases.Case
) -> None:
    judge = Judge(case, FUNCTIONS[case.name].gives)
    for way in WAYS:
        error, where = judge.worst(evaluate(driver, case.name, way, judge.columns))
        said = f"{case.name}, {way}: {error} ULP at {where}"
        assert error <= BOUNDED[case.name].ulp, said


def test_all_functions_are_read_before_a_memory_snapshot() -> None:
    read_all()
