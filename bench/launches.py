"""What launches, statements, derivatives, reads, transfers and first calls cost.

Runs in Pyodide and natively on a host that can wait for the GPU; every function returns
rows of results. A driver that caches compiled shaders on disk shortens first calls:
`__GL_SHADER_DISK_CACHE=0` disables NVIDIA's.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from time import perf_counter
from typing import Any

import tensorweb as tw
from bench.cases import driver
from bench.programs import tensorweb_programs
from bench.workloads import workloads
from tensorweb import Tensor, devices
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.dtypes import BY_NAME
from tensorweb.events import count_plans, listening
from tensorweb.graph.tracing import tracing
from tensorweb.memory_log import MemoryLog, logging_memory
from tensorweb.playground.kernels import Tally

Row = dict[str, Any]

BATCHES = 32
STREAM = 8  # flushes of a stream before a wait

ELEMENTS = 64
CHAIN = 100
FLUSH = 300
LENGTHS = (1, FLUSH)
MEBIBYTE = 1 << 20


def measure(*, tiny: bool = False) -> str:
    """Return all rows as JSON."""
    measured: list[Row] = []
    parts = (library, statements, derivatives, flushes, replays, plans, reads, heard)
    for part in parts:
        measured += part()
    measured += transfers(4 if tiny else 64)
    # Last, because they open devices; a software adapter is not worth warming up.
    for is_warm in (False,) if driver().is_software else (False, True):
        measured += first_calls(is_warm, tiny=tiny)
    return json.dumps(measured)


def library() -> Iterator[Row]:
    """Measure the full path of a cached plan: build the graph, flush it."""
    inputs = _small_tensors(max(LENGTHS))
    for length in LENGTHS:
        chosen = inputs[:length]

        def run(chosen: list[Tensor] = chosen) -> None:
            tw.realize(*[x + 1.0 for x in chosen])

        run()
        before = driver().counters()["dispatches"]
        run()
        launched = driver().counters()["dispatches"] - before
        assert launched == length, f"internal: {launched} launches of {length} kernels"
        yield from _launch_rows("library", length, run)


def statements() -> Iterator[Row]:
    """Measure Python's time per elementwise operation added to a graph."""
    x, y = _small_tensors(2)
    step: dict[str, Callable[[Tensor], Tensor]] = {
        "tensor": lambda z: z + y,
        "number": lambda z: z * 1.5,
        "function": lambda z: tw.exp(z),
        "broadcast": lambda z: z + y[:1],
    }
    for name, function in step.items():

        def run(function: Callable[[Tensor], Tensor] = function) -> None:
            z = x
            for _ in range(CHAIN):
                z = function(z)

        yield _row(f"python_op_{name}", [s / CHAIN for s in _times(run)], "op/s")


def derivatives() -> Iterator[Row]:
    """Measure Python's time of a backward pass, and a Hessian of 50 inputs."""

    def network(layers: Any, x: Tensor) -> Tensor:
        for w, b in layers[:-1]:
            x = tw.tanh(x @ w + b)
        w, b = layers[-1]
        loss: Tensor = ((x @ w + b) ** 2).mean()
        return loss

    def layers_of(*sizes: int) -> Any:
        return [(tw.full((a, b), 1.0 / a), tw.zeros(b)) for a, b in pairwise(sizes)]

    gradient = tw.value_and_grad(network)
    deep, x = layers_of(*(8,) * 41), tw.ones((4, 8))

    def build() -> None:
        with tracing("network", {}):
            gradient(deep, x)

    yield _row("python_gradient_40_layers", _times(build, 8), "call/s")
    wide = layers_of(50, 32, 32, 1)
    second = tw.hessian(lambda x: network(wide, x))
    inputs = tw.linspace(-1.0, 1.0, 50)
    samples = _times(lambda: second(inputs).tolist(), 8)
    yield _row("hessian_50_inputs", samples, "call/s")


def flushes() -> Iterator[Row]:
    """Measure Python's time of a flush with a cached plan, without building its graph.

    `flush_cached` waits for the GPU before each flush, so that other processes use the
    CPU's caches meanwhile; `flush_streamed` is a loop that reads no values.
    """
    inputs = _small_tensors(FLUSH)
    for name, between in (("cached", 1), ("streamed", STREAM)):
        samples: dict[int, list[float]] = {1: [], FLUSH: []}
        for length, seconds in samples.items():
            for step in range(BATCHES):
                outputs = [x + 1.0 for x in inputs[:length]]
                start = perf_counter()
                tw.realize(*outputs)
                seconds.append(perf_counter() - start)
                if (step + 1) % between == 0:
                    tw.synchronize()
        one, many = samples.values()
        pairs = zip(sorted(one), sorted(many), strict=True)
        per_kernel = [max((m - o) / (FLUSH - 1), 0.0) for o, m in pairs]
        yield _row(f"flush_{name}_kernel", per_kernel, "kernel/s")
        yield _row(f"flush_{name}_fixed", one, "flush/s")


def replays() -> Iterator[Row]:
    """Measure Python's time of a recorded step of 100 kernels, and its wall time."""

    @tw.jit
    def step(x: Tensor) -> Tensor:
        for _ in range(CHAIN // 2 + 8):
            x = x * x.sum(axis=0)
        return x

    x = tw.realize(tw.ones((8, 8)) * 0.1)
    assert isinstance(x, Tensor)
    step(x)
    before = driver().counters()["dispatches"]
    step(x)
    launched = driver().counters()["dispatches"] - before
    assert launched >= CHAIN, f"internal: {launched} launches of a recorded step"
    cpu, waited = [], []
    for _ in range(BATCHES):
        tw.synchronize()
        start = perf_counter()
        step(x)
        cpu.append(perf_counter() - start)
        tw.synchronize()
        waited.append(perf_counter() - start)
    yield _row("jit_100_cpu", cpu, "step/s")
    yield _row("jit_100_waited", waited, "step/s")


def plans() -> Iterator[Row]:
    """Measure a flush whose shape is new while its pipelines are not."""
    samples = []
    for length in range(100, 100 + BATCHES):
        x = tw.realize(tw.ones((length, 3)) + 0.0)
        assert isinstance(x, Tensor)
        e = tw.exp(x - tw.max(x, axis=1, keepdims=True))
        y = e / tw.sum(e, axis=1, keepdims=True)
        start = perf_counter()
        tw.realize(y)
        samples.append(perf_counter() - start)
        tw.synchronize()
    yield _row("flush_new_shape", samples[1:], "flush/s")


def reads() -> Iterator[Row]:
    """Measure small reads: of a driver's buffer, of a computed or pending tensor."""
    gpu = driver()
    buffer = gpu.create_buffer(4096)
    x = tw.realize(tw.ones(()) + 1.0)
    row = tw.realize(tw.ones((1024,)) + 1.0)
    assert isinstance(x, Tensor)
    assert isinstance(row, Tensor)
    cases: dict[str, Callable[[], object]] = {
        "read_raw_4B": lambda: gpu.read(buffer, 0, 4),
        "read_raw_4KiB": lambda: gpu.read(buffer, 0, 4096),
        "read_item": x.item,
        "read_item_computed": lambda: (x + 1.0).item(),
        "read_tolist_4KiB": row.tolist,
    }
    for name, function in cases.items():
        yield _row(name, _times(function, 50), "read/s")
    gpu.destroy_buffer(buffer)


def heard() -> Iterator[Row]:
    """Measure a small statement and its flush alone, and as runs of the page record it.

    `heard` has its times, as the first flushes of a run have, `counted` has none, as
    the later ones. With the log of memory they are `logged`, whose buffers it lists,
    and `watched`, when it is full.
    """
    for device in dict.fromkeys((tw.default_device(), "cpu")):
        if not isinstance(devices.backend(device), KernelBackend):
            continue
        x = tw.realize(tw.ones(16, device=device) + 0.0)
        assert isinstance(x, Tensor)
        samples: dict[str, list[float]] = {
            name: [] for name in ("alone", "counted", "watched", "heard", "logged")
        }

        def run(x: Tensor = x) -> None:
            for _ in range(CHAIN):
                tw.realize(x + 1.0)

        for _ in range(BATCHES):  # alternating, since the machine is never still
            for name, seconds in samples.items():
                tally = Tally()
                is_counted = name in ("counted", "watched")
                is_logged = name in ("watched", "logged")
                with ExitStack() as scopes:
                    if name != "alone":
                        reads = tally.add_read
                        scopes.enter_context(listening(tally.add, reads=reads))
                    if is_counted:
                        count_plans()
                    if is_logged:
                        log = MemoryLog(0) if is_counted else MemoryLog()
                        scopes.enter_context(logging_memory(log))
                    start = perf_counter()
                    run()
                    seconds.append((perf_counter() - start) / CHAIN)
        for name, seconds in samples.items():
            yield _row(f"statement_{name}_{device}", seconds, "flush/s")


def transfers(mebibytes: int) -> Iterator[Row]:
    """Measure one large upload and download through the driver."""
    gpu = driver()
    data = bytes(mebibytes * MEBIBYTE)
    buffer = gpu.create_buffer(len(data))

    def upload() -> None:
        gpu.write_buffer(buffer, 0, data)
        gpu.check()

    def download() -> None:
        gpu.read(buffer, 0, len(data))

    for name, function in (("upload", upload), ("download", download)):
        samples = _times(function, 5)
        row = _row(f"{name}_{mebibytes}MiB", samples, "GB/s")
        yield {**row, "rate": len(data) / min(samples) / 1e9}
    gpu.destroy_buffer(buffer)


SAME_KERNELS = ("matmul_odd2", "matmul2048", "gather_rows", "scatter_add_rows")
"""Workloads whose kernels another one compiles, or nearly."""


def first_calls(is_warm: bool, *, tiny: bool) -> Iterator[Row]:
    """Measure the first call of each workload on a fresh device, cold or warmed up."""
    driver().close()  # its buffers would be freed in the middle of a measurement
    devices.forget("webgpu")
    gc.collect()
    tw.set_default_device("webgpu")
    prefix = "first_call_warm" if is_warm else "first_call"
    if is_warm:
        started = perf_counter()
        tw.warm_up()
        yield _row("warm_up", [perf_counter() - started], "call/s")
    programs = tensorweb_programs()
    for workload in workloads(tiny=tiny):
        if workload.name in SAME_KERNELS:
            continue
        operands = [
            tw.realize(tw.zeros(each.shape, dtype=BY_NAME[each.dtype]) + 0)
            for each in workload.inputs
        ]
        tw.synchronize()
        started = perf_counter()
        result = tw.realize(programs[workload.program](*operands))
        tw.synchronize()
        seconds = perf_counter() - started
        yield _row(f"{prefix}_{workload.name}", [seconds], "call/s")
        del result, operands


def _launch_rows(path: str, length: int, run: Callable[[], None]) -> Iterator[Row]:
    """Measure CPU time, and time in a stream of flushes."""
    run()
    tw.synchronize()
    cpu, streamed = [], []
    flushes = max(1, min(10, 1000 // length))
    for _ in range(BATCHES):
        start = perf_counter()
        run()
        cpu.append((perf_counter() - start) / length)
        tw.synchronize()
        start = perf_counter()
        for _ in range(flushes):
            run()
        tw.synchronize()
        streamed.append((perf_counter() - start) / length / flushes)
    name = f"launch_{path}_{length}"
    yield _row(f"{name}_cpu", cpu, "launch/s")
    yield _row(f"{name}_all", streamed, "launch/s")


def _times(function: Callable[[], object], count: int = BATCHES) -> list[float]:
    """Return the seconds of `count` calls after one that is not timed."""
    function()
    samples = []
    for _ in range(count):
        start = perf_counter()
        function()
        samples.append(perf_counter() - start)
    return samples


def _row(workload: str, seconds: list[float], unit: str) -> Row:
    """Return a row of the best sample and the median."""
    best, middle = min(seconds), sorted(seconds)[len(seconds) // 2]
    return {
        "workload": workload,
        "ms": best * 1e3,
        "median_ms": middle * 1e3,
        "rate": 1 / best if best > 0 else None,
        "unit": unit,
        "err": None,
    }


def _small_tensors(count: int) -> list[Tensor]:
    made = tw.realize(*[tw.full((ELEMENTS,), i / 8) + 0.0 for i in range(count)])
    assert isinstance(made, tuple)
    return list(made)
