"""Runs every function of `shaders/math` on a WebGPU adapter and judges it by NumPy.

Needs any adapter that wgpu-py finds, else it skips. The comments of the functions state
the bounds; subnormal operands and results may be flushed to zero.
"""

from __future__ import annotations

import re
from typing import Any

import math_wgsl_cases
import numpy as np
import pytest
from math_errors import Judge
from numpy.typing import NDArray

from tensorweb.ops import OPS
from tools.accuracy import FOLDER, bounded, functions

SOURCE = "\n".join(path.read_text() for path in sorted(FOLDER.glob("*.wgsl")))
SOURCE += "\nstruct Parameters { zero: u32 }\nvar<private> parameters: Parameters;\n"
FUNCTIONS = functions(SOURCE)
BOUNDED = bounded()
CASES = math_wgsl_cases.cases(BOUNDED.values())
WORKGROUP = 64
DTYPES = {"f32": np.float32, "i32": np.int32, "u32": np.uint32, "bool": np.uint32}


@pytest.fixture(scope="module")
def device() -> Any:
    """Return a wgpu device of the default adapter."""
    wgpu = pytest.importorskip("wgpu", reason="wgpu-py is not installed")
    try:
        adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    except RuntimeError as error:
        pytest.skip(f"no WebGPU adapter: {error}")
    return adapter.request_device_sync()


def program(name: str) -> str:
    """Return a shader that maps bound columns of words through the function `name`."""
    types, result = FUNCTIONS[name].takes, FUNCTIONS[name].gives
    columns = range(len(types))
    bindings = [
        f"@group(0) @binding({i}) var<storage, read> column_{i}: array<u32>;"
        for i in columns
    ]
    output = (
        f"@group(0) @binding({len(types)}) var<storage, read_write> result: array<u32>;"
    )
    arguments = ", ".join(
        f"bitcast<{t}>(column_{i}[index])" for i, t in enumerate(types)
    )
    call = f"{name}({arguments})"
    word = f"select(0u, 1u, {call})" if result == "bool" else f"bitcast<u32>({call})"
    main = f"""
@compute @workgroup_size({WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {{
    let index = id.x;
    if (index < arrayLength(&result)) {{ result[index] = {word}; }}
}}"""
    return "\n".join([SOURCE, *bindings, output, main])


def evaluate(device: Any, name: str, columns: tuple[NDArray, ...]) -> NDArray:
    """Run `name` on equal-length columns and return its results in their dtype."""
    usage = 128 | 4  # STORAGE | COPY_SRC
    buffers = [device.create_buffer_with_data(data=c, usage=usage) for c in columns]
    buffers.append(device.create_buffer(size=columns[0].nbytes, usage=usage))
    module = device.create_shader_module(code=program(name))
    stage = {"module": module, "entry_point": "main"}
    pipeline = device.create_compute_pipeline(layout="auto", compute=stage)
    entries = [{"binding": i, "resource": {"buffer": b}} for i, b in enumerate(buffers)]
    group = device.create_bind_group(
        layout=pipeline.get_bind_group_layout(0), entries=entries
    )
    encoder = device.create_command_encoder()
    launch = encoder.begin_compute_pass()
    launch.set_pipeline(pipeline)
    launch.set_bind_group(0, group)
    launch.dispatch_workgroups(-(-columns[0].size // WORKGROUP))
    launch.end()
    device.queue.submit([encoder.finish()])
    return np.frombuffer(
        device.queue.read_buffer(buffers[-1]), DTYPES[FUNCTIONS[name].gives]
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_function_keeps_its_bound(device: Any, case: math_wgsl_cases.Case) -> None:
    judge = Judge(case, FUNCTIONS[case.name].gives)
    error, where = judge.worst(evaluate(device, case.name, judge.columns))
    assert error <= BOUNDED[case.name].ulp, f"{case.name}: {error} ULP at {where}"


def results(device: Any, name: str, *columns: Any) -> list[float]:
    """Return what `name` gives for short columns of f32."""
    return evaluate(
        device, name, tuple(np.array(c, np.float32) for c in columns)
    ).tolist()


def test_rows_are_for_functions_that_tell_a_bound() -> None:
    assert {row.name for row in math_wgsl_cases.ROWS} <= {*BOUNDED}


def test_functions_of_the_op_table_tell_a_bound() -> None:
    forms = (form for op in OPS.values() for form in op.wgsl.values())
    words = {word for form in forms for word in re.findall(r"\w+", form)}
    assert words & {*FUNCTIONS} <= {*BOUNDED}


def test_powers_of_integers_are_exact(device: Any) -> None:
    pairs = [(b, e) for b in range(2, 100) for e in range(25) if b**e < 2**24]
    base, exponent = zip(*pairs, strict=True)
    assert results(device, "pow_f32", base, exponent) == [b**e for b, e in pairs]


def test_cube_roots_of_cubes_are_exact(device: Any) -> None:
    roots = [float(n) for n in range(-256, 257)] + [2.0**n for n in range(-42, 43)]
    assert results(device, "cbrt_f32", [n**3 for n in roots]) == roots


def test_exponentials_of_integers_are_exact(device: Any) -> None:
    exponents = range(-126, 128)
    assert results(device, "exp2_f32", exponents) == [2.0**e for e in exponents]


def test_logarithms_of_powers_are_exact(device: Any) -> None:
    exponents = range(-149, 128)
    assert results(device, "log2_f32", [2.0**e for e in exponents]) == [*exponents]
    assert results(device, "log10_f32", [10.0**e for e in range(11)]) == [*range(11)]


def test_sine_of_huge_arguments_keeps_its_digits(device: Any) -> None:
    # The first is the f32 whose cosine is closest to zero.
    angles = np.array([16367173 * 2.0**72, 1e22, 3e38], np.float32)
    expected = np.cos(angles.astype(np.float64))
    assert results(device, "cos_f32", angles) == pytest.approx(
        expected, rel=3e-7, abs=0
    )
