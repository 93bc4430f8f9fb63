"""Cases to time: a tensorweb program on given operands, or a ceiling of the GPU.

A case enqueues operations; whoever times it waits for the GPU. Runs in Pyodide and
natively, imports no NumPy.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, cast

import tensorweb as tw
from bench.programs import tensorweb_programs
from bench.workloads import COMPLEX
from tensorweb import Tensor, devices, evaluate
from tensorweb.drivers.protocol import DISPATCH, PARAMETER_WORDS
from tensorweb.performance.rates import MULTIPLY_ADDS, PER_STEP

if TYPE_CHECKING:
    from tensorweb.backends.webgpu import WebGpuBackend
    from tensorweb.drivers import ShaderDriver
    from tensorweb.graph.node import Node

TYPE_CODES: dict[str, Literal["f", "i"]] = {"float32": "f", "int32": "i"}

SEPARATE = frozenset({"elem", "gelu", "life", "heat", "gray_scott", "mandelbrot"})
"""Programs whose results one kernel would compute together if they shared operands:
each result of a group has its own copy."""


def driver() -> ShaderDriver:
    """Return the open GPU's driver."""
    return cast("WebGpuBackend", devices.backend("webgpu")).driver


class ProgramCase:
    """One program; `group` of its results are computed by one flush.

    With `is_jitted`, one function recorded by `tw.jit` returns them: `group` kernels in
    one submit, replayed without Python for each operation. With `is_chained`, each
    result is the next operation's operand, and forced before it.
    """

    def __init__(
        self,
        program: str,
        operands: Sequence[tuple[bytes, Sequence[int], str]],
        group: int,
        *,
        is_jitted: bool = False,
        is_chained: bool = False,
        device: str = "webgpu",
    ) -> None:
        """Put the operands (bytes, shape, dtype) on the device."""
        self.program = tensorweb_programs()[program]
        self.is_jitted = is_jitted
        self.is_chained = is_chained
        self.is_separate = program in SEPARATE
        self.given = [_tensor(*operand, device) for operand in operands]
        tw.realize(*[x + 0 for x in self.given])
        self.last: list[Tensor] = []
        self.regroup(group)

    def regroup(self, group: int) -> None:
        """Set the count of results that one flush computes."""
        self.group = group
        copies = group - 1 if self.is_separate else 0
        copied = [(x + 0).realize() for _ in range(copies) for x in self.given]
        self.operands = [*self.given, *copied]
        self.step = tw.jit(self._results) if self.is_jitted else self._results

    def run(self, count: int) -> None:
        """Enqueue operations; `count` is a multiple of the group."""
        operands = self.operands
        for _ in range(0, count, self.group):
            self.last.clear()
            self.last = self.step(*operands)
            tw.realize(*self.last)
            if self.is_chained:
                operands = self.last[:]

    def _results(self, *operands: Tensor) -> list[Tensor]:
        """Return results that share nothing: a graph does not merge equal nodes."""
        count = len(self.given)
        starts = (
            range(0, len(operands), count) if self.is_separate else [0] * self.group
        )
        tensors: list[Tensor] = []
        for at in starts:
            result = self.program(*operands[at : at + count])
            tensors += [result] if isinstance(result, Tensor) else result
        return tensors

    def _newest(self) -> list[Node]:
        """Return the nodes of the last operation's results."""
        return [x.node for x in self.last[-(len(self.last) // self.group) :]]

    def result(self) -> bytes:
        """Wait and return the bytes of the last result."""
        return b"".join(evaluate.read(self._newest()))

    async def result_async(self) -> bytes:
        """Return the bytes of the last result by awaiting."""
        return b"".join(await evaluate.read_async(self._newest()))


def make(
    program: str,
    operands: Any,
    group: int,
    is_jitted: bool,
    is_chained: bool,
    device: str,
) -> ProgramCase:
    """Return a case of operands that JavaScript gives."""
    given = [(data.to_bytes(), shape.to_py(), dtype) for data, shape, dtype in operands]
    return ProgramCase(
        program,
        given,
        group,
        is_jitted=is_jitted,
        is_chained=is_chained,
        device=device,
    )


def _tensor(data: bytes, shape: Sequence[int], dtype: str, device: str) -> Tensor:
    """Return a tensor on the device of row-major bytes."""
    if dtype == COMPLEX:
        parts = _tensor(data, (*shape, 2), "float32", device)
        return parts[..., 0] + 1j * parts[..., 1]
    elements = memoryview(data).cast(TYPE_CODES[dtype], tuple(shape))
    return tw.asarray(elements, device=device)


THREADS = 256
MEBIBYTE = 1 << 20

WARMING_MS = 120  # work before a case: a GPU that has waited is slow for about as long

COPY = """
@group(0) @binding(0) var<storage, read> original: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> copied: array<vec4f>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.y * groups.x + group.x) * 256u + lane;
  if index < arrayLength(&copied) {
    copied[index] = original[index];
  }
}
"""

FMA = f"""
struct Parameters {{
  steps: u32, // a multiple of four
}}

@group(0) @binding(0) var<storage, read> original: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> sums: array<vec4f>;
@group(0) @binding(2) var<uniform> parameters: Parameters;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {{
  let factor = original[lane];
  let steps = parameters.steps;
  {MULTIPLY_ADDS}
  let index = (group.x * 256u + lane) % arrayLength(&sums);
  sums[index] = sum;
}}
"""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A hand-written kernel that does one thing as fast as the GPU can.

    Attributes:
        shader: its text.
        nbytes: of each of the two buffers.
        grid: workgroups along two axes.
        steps: of its loop.
        work: floating-point operations or bytes.
    """

    name: str
    shader: str
    nbytes: int
    grid: tuple[int, int]
    steps: int
    work: int
    unit: str

    def as_json(self) -> dict[str, Any]:
        """Return the ceiling for JavaScript; its result is not checked."""
        return {**asdict(self), "is_chained": False}


def ceilings(*, tiny: bool = False) -> list[Ceiling]:
    """Return the ceilings; 64 MiB may fit a cache, 256 MiB do not."""
    ceilings_ = []
    for size in (1,) if tiny else (64, 256):
        nbytes = size * MEBIBYTE
        groups = nbytes // 16 // THREADS
        grid = (256, groups // 256) if groups > 256 else (groups, 1)
        name = f"ceiling_copy{size}"
        ceilings_.append(Ceiling(name, COPY, nbytes, grid, 0, 2 * nbytes, "GB/s"))
    groups, steps = (64, 64) if tiny else (4096, 512)
    work = groups * THREADS * steps * PER_STEP
    fma = Ceiling("ceiling_fma", FMA, 1 << 16, (groups, 1), steps, work, "GFLOP/s")
    return [*ceilings_, fma]


def warming(*, tiny: bool) -> dict[str, Any]:
    """Return for JavaScript what keeps the GPU busy before a case, and how long."""
    row = ceilings(tiny=tiny)[-1].as_json()
    return {"row": row, "milliseconds": 0 if tiny else WARMING_MS}


class CeilingCase:
    """A ceiling's pipeline, buffers and tape on the open device; no tensors."""

    def __init__(self, given: Any) -> None:
        """Take a ceiling, as JSON where JavaScript gives it."""
        row = given if isinstance(given, Ceiling) else _ceiling(given)
        gpu = driver()
        self.buffers = [gpu.create_buffer(row.nbytes) for _ in range(2)]
        pipeline = gpu.create_pipeline(row.shader, "rw", row.name)
        words = [PARAMETER_WORDS, row.steps, *[0] * (PARAMETER_WORDS - 1)]
        words += [DISPATCH, pipeline, *row.grid, 1, 0, 2, *self.buffers]
        self._tape = array("i", words)

    def run(self, count: int) -> None:
        """Enqueue the kernel."""
        for _ in range(count):
            driver().submit(self._tape)

    def free(self) -> None:
        """Free the buffers."""
        for buffer in self.buffers:
            driver().destroy_buffer(buffer)


def _ceiling(given: dict[str, Any]) -> Ceiling:
    fields = {name: given[name] for name in Ceiling.__slots__}
    return Ceiling(**{**fields, "grid": tuple(given["grid"])})


HOPELESS_SECONDS = 0.8
ROUNDS = 5
MOST_PER_BATCH = 4000
MOST_GROWTH = 16
GROUP_SECONDS = 0.004


@dataclass
class Timer:
    """Times what runs from Python by the rules of `js/timing.mjs`.

    Attributes:
        budget: seconds of batches of a case.
        wait: returns when the GPU has finished.
        occupy: enqueues work, repeated before a case's batches.
        is_tiny: whether nothing keeps the GPU busy before a case.
    """

    budget: float
    wait: Callable[[], None]
    occupy: Callable[[], object]
    is_tiny: bool = False

    def measure(
        self,
        run: Callable[[int], None],
        group: int = 1,
        regroup: Callable[[int], None] | None = None,
    ) -> dict[str, float]:
        """Return milliseconds per operation: best and median batch, one group, cold.

        `regroup` makes smaller groups where operations are long, so that the GPU does
        not wait for a full group.
        """
        cold = self.timed(run, group)
        if cold < HOPELESS_SECONDS * group:
            self.timed(run, group)
        single = self.timed(run, group)
        times = {"cold_ms": cold * 1e3, "single_ms": single * 1e3}
        one = single / group
        if one > HOPELESS_SECONDS:
            return {**times, "ms": one * 1e3, "median_ms": one * 1e3}
        fitting = math.ceil(GROUP_SECONDS / one)
        if regroup is not None and fitting < group:
            group = fitting
            regroup(group)
            self.timed(run, group)  # plans it
        end = perf_counter() + (0 if self.is_tiny else WARMING_MS / 1e3)
        while perf_counter() < end:
            self.occupy()
            self.wait()
        count = self._fitting_count(run, group)
        batches = sorted(self.timed(run, count) / count for _ in range(ROUNDS))
        middle = batches[ROUNDS // 2]
        return {**times, "ms": batches[0] * 1e3, "median_ms": middle * 1e3}

    def timed(self, run: Callable[[int], None], count: int) -> float:
        """Return the seconds of `count` operations and the wait for them."""
        start = perf_counter()
        run(count)
        self.wait()
        return perf_counter() - start

    def _fitting_count(self, run: Callable[[int], None], group: int) -> int:
        """Return how many operations fill one round of the budget."""
        target = self.budget / ROUNDS
        most = max(1, MOST_PER_BATCH // group)
        groups = 1
        while True:
            spent = self.timed(run, groups * group)
            if spent >= target or groups == most:
                return groups * group
            growth = min(MOST_GROWTH, 1.1 * target / max(spent, 1e-5))
            groups = min(most, math.ceil(groups * growth))
