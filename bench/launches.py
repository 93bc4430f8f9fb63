"""What a launch, a Python statement, a read and a transfer cost on this host.

Runs inside Python's host, Pyodide or native; every function returns rows of results.
Needs a host that can wait for the GPU.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import tensorweb as tw
from bench.cases import driver
from tensorweb import Tensor
from tensorweb.drivers.protocol import DISPATCH, PARAMETER_WORDS

Row = dict[str, Any]

LENGTHS = (1, 10, 100, 300, 1000)
BATCHES = 32
STREAM = 8
"""Flushes of a stream until somebody waits."""

ELEMENTS = 64
CHAIN = 100
FLUSH = 300
MEBIBYTE = 1 << 20

SHADER = """
@group(0) @binding(0) var<storage, read> before: array<f32>;
@group(0) @binding(1) var<storage, read_write> after: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  after[id.x] = before[id.x] + 1.0;
}
"""


def measure(*, tiny: bool = False) -> str:
    """Return all rows as JSON."""
    found: list[Row] = []
    for part in (tapes, library, statements, flushes, replays, plans, reads):
        found += part()
    found += transfers(4 if tiny else 64)
    return json.dumps(found)


def tapes() -> Iterator[Row]:
    """Measure raw tapes of the driver: no tensors, no graph."""
    for length in LENGTHS:
        run = partial(driver().submit, _tape(length))
        yield from _launch_rows("tape", length, run)


def library() -> Iterator[Row]:
    """Measure the whole path of a plan seen before: build the graph, flush it."""
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


def flushes() -> Iterator[Row]:
    """Measure Python's time of a flush seen before, without building its graph.

    `flush_cached` waits for the GPU before each, so that other processes have had the
    CPU's caches meanwhile; `flush_streamed` is the loop that does not look at values.
    """
    inputs = _small_tensors(FLUSH)
    for name, between in (("cached", 1), ("streamed", STREAM)):
        samples: dict[int, list[float]] = {1: [], FLUSH: []}
        for length, found in samples.items():
            for step in range(BATCHES):
                outputs = [x + 1.0 for x in inputs[:length]]
                start = perf_counter()
                tw.realize(*outputs)
                found.append(perf_counter() - start)
                if (step + 1) % between == 0:
                    tw.synchronize()
        one, many = samples.values()
        pairs = zip(sorted(one), sorted(many), strict=True)
        slopes = [max((m - o) / (FLUSH - 1), 0.0) for o, m in pairs]
        yield _row(f"flush_{name}_kernel", slopes, "kernel/s")
        yield _row(f"flush_{name}_fixed", one, "flush/s")
        yield _row(f"flush_{name}_{FLUSH}", many, "flush/s")


def replays() -> Iterator[Row]:
    """Measure Python's time of a recorded step of 100 kernels, and one waited for."""

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
    """Measure small reads: of a driver's buffer, of a tensor that is there or not."""
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
        found = _row(f"{name}_{mebibytes}MiB", samples, "GB/s")
        yield {**found, "rate": len(data) / min(samples) / 1e9}
    gpu.destroy_buffer(buffer)


def _launch_rows(path: str, length: int, run: Callable[[], None]) -> Iterator[Row]:
    """Measure CPU time, time in a stream of flushes, and time when each is awaited."""
    run()
    tw.synchronize()
    cpu, waited, streamed = [], [], []
    flushes = max(1, min(10, 1000 // length))
    for _ in range(BATCHES):
        start = perf_counter()
        run()
        cpu.append((perf_counter() - start) / length)
        tw.synchronize()
        waited.append((perf_counter() - start) / length)
        start = perf_counter()
        for _ in range(flushes):
            run()
        tw.synchronize()
        streamed.append((perf_counter() - start) / length / flushes)
    name = f"launch_{path}_{length}"
    yield _row(f"{name}_cpu", cpu, "launch/s")
    yield _row(f"{name}_all", streamed, "launch/s")
    yield _row(f"{name}_waited", waited, "launch/s")


def _times(function: Callable[[], object], count: int = BATCHES) -> list[float]:
    """Return the seconds of `count` calls after one that is not counted."""
    function()
    samples = []
    for _ in range(count):
        start = perf_counter()
        function()
        samples.append(perf_counter() - start)
    return samples


def _row(workload: str, seconds: list[float], unit: str) -> Row:
    """Return a row of the best sample, with the median beside it."""
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


def _tape(length: int) -> array[int]:
    """Return a tape of dependent launches between two buffers, a slot for each."""
    gpu = driver()
    pair = [gpu.create_buffer(4 * ELEMENTS) for _ in range(2)]
    pipeline = gpu.create_pipeline(SHADER, "rw", "launch")
    words = [length * PARAMETER_WORDS, *[0] * (length * PARAMETER_WORDS)]
    for number in range(length):
        slot = number * PARAMETER_WORDS * 4
        source, target = pair[number % 2], pair[1 - number % 2]
        words += [DISPATCH, pipeline, 1, 1, 1, slot, 2, source, target]
    return array("i", words)
