"""What the driver tests run inside Pyodide: small kernels, tapes, error texts."""

import json
import struct
import time
from array import array
from collections.abc import Callable

from tensorweb import drivers, errors
from tensorweb.drivers.protocol import CLEAR, COPY, DISPATCH, PARAMETER_WORDS
from tensorweb.waits import run_async, run_blocking

__all__ = [
    "ADD",
    "CLEAR",
    "COPY",
    "DISPATCH",
    "SPIN",
    "array",
    "errors",
    "floats",
    "json",
    "launch_tape",
    "message_of",
    "open_driver",
    "open_driver_async",
    "run_async",
    "run_blocking",
    "slot",
    "struct",
    "time",
]

ADD = """
struct Parameters { size: u32, addend: f32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < parameters.size) { y[id.x] = x[id.x] + parameters.addend; }
}
"""

SPIN = """
struct Parameters { rounds: u32 }
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@group(0) @binding(1) var<uniform> parameters: Parameters;
@compute @workgroup_size(1)
fn main() {
  var state = 1u;
  for (var i = 0u; i < parameters.rounds; i++) { state = state * 1664525u + y[0] + i; }
  y[0] = state;
}
"""


def open_driver() -> drivers.ShaderDriver:
    """Open the page's GPU, waiting for it."""
    return run_blocking(drivers.open_driver())


async def open_driver_async() -> drivers.ShaderDriver:
    """Open the page's GPU by awaiting."""
    return await run_async(drivers.open_driver())


def slot(size: int, addend: float = 0.0) -> list[int]:
    """Return one launch's parameter words."""
    words = [size, struct.unpack("i", struct.pack("f", addend))[0]]
    return words + [0] * (PARAMETER_WORDS - 2)


def launch_tape(
    pipeline: int, buffers: list[int], words: list[int], launches: int = 1
) -> array[int]:
    """Return a tape that launches one pipeline several times, each with one group."""
    tape = array("i", [len(words), *words])
    command = [DISPATCH, pipeline, 1, 1, 1, 0, len(buffers), *buffers]
    for _ in range(launches):
        tape.extend(command)
    return tape


def floats(data: bytes) -> list[float]:
    """Return bytes as float32."""
    return list(struct.unpack(f"{len(data) // 4}f", data))


def message_of(call: Callable[[], object]) -> str:
    """Return class and text of what `call` raises."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing raised"
