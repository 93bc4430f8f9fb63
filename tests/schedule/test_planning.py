"""Planning: what a blocked kernel starts again, and what is written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import transformers
from pretend_driver import PretendDriver

import tensorweb as tw
from tensorweb import Tensor, devices
from tensorweb.backends import webgpu
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.codegen.program import Program
from tensorweb.graph.node import Node
from tensorweb.graph.tracing import tracing
from tensorweb.schedule.fusion import Fusion
from tensorweb.schedule.kernel import Planned
from tensorweb.schedule.kernel_builder import KernelBuilder
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import LinearGraph, linearize


@pytest.fixture(autouse=True)
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebGpuBackend]:
    """A GPU that is not there, the default device meanwhile."""
    backend = WebGpuBackend(PretendDriver())
    monkeypatch.setitem(devices._backends, "webgpu", backend)
    with devices.device("webgpu"):
        yield backend


def graph_of(*results: Tensor) -> LinearGraph:
    return linearize(list(dict.fromkeys(each.node.base for each in results)))


def gradients(*, is_transposed: bool = False) -> LinearGraph:
    """A step of training; if transposed, one result is read without strides."""
    model = transformers.parameters(2, 128, 64, 65)
    tokens = tw.zeros((32, 64), "int32").contiguous()
    tw.realize(tokens, *tw.tree.leaves(model))
    with tracing("a step", {}):
        found = transformers.step(model, model, model, tokens, tokens)
    results = tw.tree.leaves(found)
    if is_transposed:
        widest = max(results, key=lambda each: each.size)
        results.append((widest.T * 3.0).reshape((2, widest.size // 2)) + 1.0)
    return graph_of(*results)


def folded() -> LinearGraph:
    """A product that only one of its readers sees in an order without strides."""
    x = tw.realize(tw.full((6, 4), 2.0) * 1.5)
    y = x.T * 3.0
    return graph_of(y.reshape((8, 3)) + 1.0, y * tw.exp(x.T), y.sum(axis=1))


def drawn(seed: int) -> LinearGraph:
    draw = np.random.default_rng(seed)
    found = [tw.realize(tw.full((6, 4), float(n)) * 1.5) for n in range(12)]
    for _ in range(60):
        a, b = (found[int(n)] for n in draw.integers(0, len(found), 2))
        kind = int(draw.integers(0, 6))
        found.append(
            [
                lambda a, b: a + b,
                lambda a, b: a * tw.exp(b),
                lambda a, b: a.T.reshape((6, 4)) - b,
                lambda a, b: tw.cumulative_sum(a, axis=1) * b,
                lambda a, b: a - b.sum(axis=1, keepdims=True),
                lambda a, b: (a @ b.T) @ b,
            ][kind](a, b)
        )
    return graph_of(*found[-4:])


@pytest.mark.parametrize(
    "build", [gradients, folded, *(lambda n=n: drawn(n) for n in range(12))]
)
def test_cached_kernels_equal_rebuilt_ones(
    build: Callable[[], LinearGraph], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = build()
    kept = plan(graph, 8)
    monkeypatch.setattr(Fusion, "changed_since", lambda self, earlier: set(self.stored))
    assert plan(graph, 8) == kept


def test_a_blocked_kernel_builds_few_others_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built: list[Node] = []
    build_kernel, decide = KernelBuilder.build, Fusion.__init__
    passes = 0

    def count(builder: KernelBuilder) -> Planned:
        built.append(builder.root)
        return build_kernel(builder)

    def note(fusion: Fusion, *given: object) -> None:
        nonlocal passes
        passes += 1
        decide(fusion, *given)  # type: ignore[arg-type]  # passed on

    graph = gradients(is_transposed=True)
    monkeypatch.setattr(KernelBuilder, "build", count)
    monkeypatch.setattr(Fusion, "__init__", note)
    plan(graph, 5)
    assert passes > 1
    assert len(built) <= 1.3 * len(set(built))


def test_layers_share_the_programs_of_their_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[object] = []
    write = webgpu.compile_kernel

    def note(kernel: object, target: object) -> Program:
        written.append(kernel)
        return write(kernel, target)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(webgpu, "compile_kernel", note)
    counts: list[int] = []
    for layers in (2, 6):
        model = transformers.parameters(layers, 32, 16, 11)
        tokens = tw.zeros((2, 16), "int32").contiguous()
        tw.realize(tokens, *tw.tree.leaves(model))
        written.clear()
        tw.realize(transformers.loss_of(model, tokens, tokens))
        counts.append(len(written))
    assert counts[1] < counts[0] / 2
