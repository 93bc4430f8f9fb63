"""Steps as training takes them, and what they hold: memory must stay bounded.

Runs natively and inside Pyodide, without NumPy. Each step multiplies, fuses, reduces,
assigns and replays; numbers change, shapes alternate, now and then a value is read.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from typing import Any, cast

import tensorweb as tw
from tensorweb import Tensor, devices
from tensorweb.backends.webgpu import WebGpuBackend

ROWS = (5, 8, 13)
FEATURES, CLASSES = 7, 3
READ_EVERY = 30
RARELY = 15
LOGGED = 15
"""Every 30 steps all is as before but the numbers."""

TAIL = 240
"""Steps whose memory is traced, at the end: tracing slows Python."""


class Training:
    """A small network, its optimiser as a recorded step, and a log of losses."""

    def __init__(self) -> None:
        self.batches = [_batch(rows) for rows in ROWS]
        self.weights = tw.realize(tw.ones((FEATURES, CLASSES)) * 0.1)
        self.speed = tw.realize(tw.zeros((FEATURES, CLASSES)) + 0.0)
        self.losses = tw.realize(tw.zeros((LOGGED,)) + 0.0)
        self.update = tw.jit(_update)

    def step(self, number: int) -> None:
        """Do one step; rare actions depend on its number."""
        x, target = self.batches[number % len(self.batches)]
        scores = x @ self.weights
        exponents = tw.exp(scores - tw.max(scores, axis=1, keepdims=True))
        chances = exponents / tw.sum(exponents, axis=1, keepdims=True)
        wrong = chances - target
        gradient = tw.sum(x[:, :, None] * wrong[:, None, :], axis=0)
        gradient = gradient * (1.0 / (1.0 + number % 97))
        self.weights, self.speed = self.update(self.weights, self.speed, gradient)
        self.losses[number % LOGGED] = tw.mean(wrong * wrong)
        if number % RARELY == 0:
            self.losses[2:5] = self.losses[tw.argsort(self.losses)][:3] + number
            tw.realize(tw.concat([tw.cumulative_sum(self.losses), wrong[0]]))
        if number % READ_EVERY == 0:
            assert float(self.losses[number % LOGGED]) >= 0.0


def _batch(rows: int) -> tuple[Tensor, Tensor]:
    """Return inputs `(rows, features)` and targets `(rows, classes)`."""
    count = rows * FEATURES
    x = tw.sin(tw.arange(count, dtype=tw.float32)).reshape((rows, FEATURES))
    classes = tw.arange(rows)[:, None] % CLASSES == tw.arange(CLASSES)
    return cast("tuple[Tensor, Tensor]", tw.realize(x, tw.astype(classes, tw.float32)))


def _update(weights: Tensor, speed: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor]:
    speed = speed * 0.9 - gradient * 0.01
    return weights + speed, speed


class Leaking(Training):
    """The same, but every result is kept: what a test must notice."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Tensor] = []

    def step(self, number: int) -> None:
        super().step(number)
        self.kept.append(self.weights)


def usage() -> dict[str, int]:
    """Return the memory in use: of the device, the pool, Python and the process."""
    tw.synchronize()
    gc.collect()
    backend = cast("WebGpuBackend", devices.backend("webgpu"))
    counters = backend.driver.counters()
    names = ("live_buffers", "live_bytes", "pipelines", "bind_groups", "buffers")
    found = {name: counters[name] for name in names}
    found["pool_allocated"] = backend.pool.allocated
    found["pool_in_use"] = backend.pool.in_use
    # A frozen object that is replaced, as in a full cache, is none that was added.
    found["objects"] = len(gc.get_objects()) + gc.get_freeze_count()
    found["blocks"] = sys.getallocatedblocks()
    found["process_bytes"] = _process_bytes()
    return found


def _process_bytes() -> int:
    """Return bytes of WebAssembly's memory, or of the process, or 0 if not known."""
    if sys.platform == "emscripten":
        import pyodide_js

        return int(pyodide_js._module.HEAPU8.length)
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096
    return 0


SLACK = {"objects": 100, "blocks": 500, "process_bytes": 4 << 20, "traced": 4000}
"""How much may seem to be more though nothing leaks: Python's own caches and arenas."""


def measure(steps: int, first: int, kind: type[Training] = Training) -> dict[str, Any]:
    """Do `first` steps, then `steps` more, both multiples of the period.

    Returns `before` and `after` of `usage`, `traced`: bytes that the last steps left
    behind, `sources`: where most of them are, and `loss`.
    """
    training = kind()
    for number in range(first):
        training.step(number)
    before = usage()
    for number in range(first, first + steps - TAIL):
        training.step(number)
    traced, sources = _traced(training, first + steps - TAIL)
    after = usage()
    before["traced"], after["traced"] = 0, traced
    loss = float(training.losses[0])
    return {"before": before, "after": after, "sources": sources, "loss": loss}


def leaks(answer: dict[str, Any]) -> list[str]:
    """Return what `measure` found to have grown, in words."""
    before, after = answer["before"], answer["after"]
    grown = [
        f"{name}: {before[name]} before, {after[name]} after"
        for name in before
        if after[name] > before[name] + SLACK.get(name, 0)
    ]
    return grown + answer["sources"] if grown else []


def _traced(training: Training, number: int) -> tuple[int, list[str]]:
    """Do the last steps; return the bytes that they left behind, and where."""
    half = TAIL // 2
    tracemalloc.start()
    try:
        for i in range(half):
            training.step(number + i)
        usage()
        begin = tracemalloc.take_snapshot()
        for i in range(half, TAIL):
            training.step(number + i)
        usage()
        found = tracemalloc.take_snapshot().compare_to(begin, "lineno")
    finally:
        tracemalloc.stop()
    own = [row for row in found if row.traceback[0].filename != tracemalloc.__file__]
    largest = sorted(own, key=lambda row: -row.size_diff)[:5]
    return sum(row.size_diff for row in own), [str(row) for row in largest]
