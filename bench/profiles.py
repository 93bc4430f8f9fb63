"""Where Python's time goes on the launch path, by function, on this host."""

from __future__ import annotations

import cProfile
import io
import pstats
from collections.abc import Callable

import tensorweb as tw

LINES = 28


def report() -> str:
    """Return profiles of building a graph, of flushes seen before and of new plans."""
    inputs = tw.realize(*[tw.full((64,), i / 8) + 0.0 for i in range(300)])
    assert isinstance(inputs, tuple)
    first, second = inputs[:2]

    def build() -> None:
        for _ in range(50):
            z = first
            for _ in range(50):
                z = (z + second) * 1.5

    def many() -> None:
        for _ in range(10):
            tw.realize(*[x + 1.0 for x in inputs])

    def single() -> None:
        for _ in range(500):
            tw.realize(first + 1.0)

    def plans(begin: int) -> None:
        for length in range(begin, begin + 20):
            x = tw.ones((length, 3)) + 0.0
            e = tw.exp(x - tw.max(x, axis=1, keepdims=True))
            tw.realize(e / tw.sum(e, axis=1, keepdims=True))

    many()
    single()
    plans(200)
    parts = {
        "5,000 elementwise operations added to graphs": build,
        "10 flushes of 300 kernels, seen before": many,
        "500 flushes of one kernel, seen before": single,
        "20 flushes of softmax in a new shape": lambda: plans(300),
    }
    return "\n".join(_profile(title, function) for title, function in parts.items())


def _profile(title: str, function: Callable[[], None]) -> str:
    profiler = cProfile.Profile()
    profiler.enable()
    function()
    profiler.disable()
    tw.synchronize()
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("tottime").print_stats(
        LINES
    )
    return f"== {title}\n{text.getvalue()}"
