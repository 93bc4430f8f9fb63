"""Each limit of `backends/policy.py` decides something that can be counted."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from pretend_driver import PretendDriver

import tensorweb as tw
from tensorweb import devices, evaluate
from tensorweb.backends import kernel_backend, planning
from tensorweb.backends.kernel_backend import KernelBackend, read_together
from tensorweb.backends.layouts import Layout, Span, allocations, make_tapes
from tensorweb.backends.liveness import Lifetimes, call_invariants, worth_storing
from tensorweb.backends.pipelines import Programs
from tensorweb.backends.pool import Pool, size_class
from tensorweb.backends.tapes import Command
from tensorweb.backends.wasm import TRAITS
from tensorweb.backends.webgpu import WebGpuBackend, _checked, traits_of
from tensorweb.codegen.product.tiles import PRODUCT_TILES
from tensorweb.codegen.program import Program
from tensorweb.graph import node as nodes
from tensorweb.schedule.kernel import Kernel
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import LinearGraph, linearize
from tensorweb.tensor import Tensor
from tests.shader_corpus import value

MIB = 1 << 20


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebGpuBackend]:
    """A GPU that is not there, the default device meanwhile."""
    monkeypatch.setattr(nodes, "_pending", dict(nodes._pending))
    made = WebGpuBackend(PretendDriver())
    monkeypatch.setitem(devices._backends, "webgpu", made)
    with devices.device("webgpu"):
        yield made


def stored(*shape: int) -> Tensor:
    return Tensor(value(*shape))


def flushes(build: Tensor, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return nodes and outputs of each flush that computes a tensor."""
    found: list[tuple[int, int]] = []
    flush = KernelBackend._flush

    def counted(self: KernelBackend, graph: LinearGraph, begun: float) -> None:
        found.append((len(graph.nodes), len(graph.outputs)))
        flush(self, graph, begun)

    with monkeypatch.context() as patch:
        patch.setattr(KernelBackend, "_flush", counted)
        tw.realize(build)
    return found


@pytest.mark.parametrize(("size", "is_together"), [(MIB // 2, True), (MIB, False)])
def test_small_tensors_are_read_together(
    backend: WebGpuBackend, size: int, is_together: bool
) -> None:
    buffers = [backend.pool.take(size, str, "a tensor") for _ in range(2)]
    regions = [(buffer, 0, size) for buffer in buffers]
    assert (read_together(backend.pool, regions) is not None) == is_together


@pytest.mark.parametrize(("count", "outputs"), [(12, 13), (13, 1)])
def test_a_deep_graph_stores_the_few_values_that_a_loop_retains(
    backend: WebGpuBackend,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    outputs: int,
) -> None:
    found: list[int] = []
    compute = KernelBackend._compute

    def counted(self: KernelBackend, graph: LinearGraph, begun: float) -> None:
        found.append(len(graph.outputs))
        compute(self, graph, begun)

    monkeypatch.setattr(KernelBackend, "_compute", counted)
    x = tw.realize(tw.full(4, 0.5) * 1.0)
    held = [x]
    for _ in range(count):
        held.append(tw.sin(held[-1]))
    last = tw.cos(held[-1])
    evaluate.realize([last.node], alive=True)
    assert found[-1] == outputs


def test_a_large_graph_takes_several_flushes(
    backend: WebGpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate, "DEEPEST", 1 << 20)
    monkeypatch.setattr(kernel_backend.KernelBackend, "_run", lambda *_: None)

    def chain(length: int) -> Tensor:
        x = stored(4)
        for _ in range(length):
            x = tw.sin(x)
        return x

    assert len(flushes(chain(4095), monkeypatch)) == 1
    assert len(flushes(chain(4096), monkeypatch)) == 2


def test_large_buffers_are_reused_at_once_and_small_ones_later() -> None:
    def buffers(size: int) -> int:
        chain = [Span(number, size, number, number + 1) for number in range(100)]
        return len(allocations(chain, frozenset()))

    assert buffers(MIB) == 2
    assert buffers(MIB - 4) == 10


def test_a_tape_has_a_thousand_commands(backend: WebGpuBackend) -> None:
    def tapes(count: int) -> int:
        return len(
            make_tapes([Command(None, (0,), nbytes=4)] * count, backend._pipelines)
        )

    assert (tapes(1000), tapes(1001)) == (1, 2)


def chained(length: int) -> LinearGraph:
    x = stored(4)
    for _ in range(length):
        x = tw.sin(x)
    return linearize([x.node])


def test_sets_of_referenced_nodes_are_bounded() -> None:
    graph = chained(10)
    inner = range(1, 10)
    lifetimes = Lifetimes(graph, {*inner, *graph.outputs})
    for subset in range(300):
        held = [graph.nodes[n] for bit, n in enumerate(inner) if subset >> bit & 1]
        assert len(lifetimes.survivors(graph)) == len(held)
    assert 40 <= len(lifetimes._known) <= 256


@pytest.mark.parametrize(("size", "count"), [(1 << 16, 1), ((1 << 16) + 1, 0)])
def test_small_values_are_worth_storing_in_any_graph(size: int, count: int) -> None:
    value = tw.broadcast_to(tw.sin(stored(1)), (size,)) * tw.cos(stored(1))
    graph = linearize([value.sum().node])
    assert len(list(worth_storing(graph, graph.outputs))) == count


@pytest.mark.parametrize(("size", "count"), [(1 << 22, 1), ((1 << 22) + 1, 0)])
def test_large_invariants_of_a_call_are_not_stored(size: int, count: int) -> None:
    argument = stored(size)
    graph = linearize([(tw.sin(stored(size)) * argument).node])
    assert len(call_invariants(graph, [argument.node])) == count


def test_a_large_batch_is_multiplied_without_a_copy(cpu: str) -> None:
    """Columns of this batch lie between others, so that a matrix is a copy."""

    def peak(length: int) -> int:
        x = np.ones((4, 2, length, 64, 2), np.float32)
        a = tw.realize(tw.asarray(x)).permute_dims((0, 2, 1, 4, 3))
        b = tw.realize(tw.ones((4, 64, 3)) * 2)
        result = tw.einsum("brsck,bkd->brscd", a, b)
        tracemalloc.start()
        tw.realize(result)
        _, bytes_ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return bytes_ // x.nbytes

    assert peak(1 << 12) == 1
    assert peak(1 << 13) == 0


def test_programs_plans_and_layouts_are_bounded(backend: WebGpuBackend) -> None:
    programs = Programs()
    made: list[int] = []

    def write(kernel: Kernel, target: int) -> Program:
        made.append(target)
        return Program(())

    kernel = Kernel("elementwise", "", (1,), (), (), (), "", ("float32",))
    for target in [*range(2049), *range(1, 2049), 0]:
        programs.get(kernel, target, write)
    assert len(made) == 2050
    plans = planning.Plans()
    graphs = [replace(chained(1), key=(n,)) for n in range(1025)]
    for graph in graphs:
        plans.find(graph, lambda *_: planning.Plan())
    assert len(plans) == 1024
    plans.find(graphs[0], lambda *_: made.append(-1) or planning.Plan())
    plans.find(graphs[-1], lambda *_: made.append(-2) or planning.Plan())
    assert made[-1] == -1
    plan = planning.Plan()
    for number in range(40):
        plan._cache((frozenset({number}), False), Layout([], 0, [], []))
        assert len(plan._layouts) == number % 16 + 1


def test_commands_of_plans_are_bounded() -> None:
    """A long loop whose flushes differ leaves no plans of them all."""
    plans = planning.Plans()
    command = planning.Command(None, (0,), nbytes=4)
    for n in range(60):
        graph = replace(chained(1), key=(n,))
        plans.find(graph, lambda *_: planning.Plan(commands=[command] * 250))
    assert len(plans) == 40


def test_sizes_of_buffers_begin_at_sixteen_bytes() -> None:
    assert [size_class(nbytes) for nbytes in (1, 16, 17)] == [16, 16, 20]


@pytest.fixture
def pool() -> Pool:
    driver = PretendDriver()
    return Pool(driver, traits_of(driver))


def test_the_budget_grows_by_an_eighth(pool: Pool) -> None:
    pool._set_budget(64 * MIB)
    buffers = [pool.take(MIB, str, "a tensor") for _ in range(65)]
    assert pool.budget == 72 * MIB
    del buffers


@pytest.mark.parametrize(("kib", "is_checked"), [(8, False), (9, True)])
def test_large_releases_check_the_free_buffers(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, kib: int, is_checked: bool
) -> None:
    pool.budget = 4 * MIB
    checks: list[int] = []
    monkeypatch.setattr(Pool, "notice", lambda self, size: checks.append(size))
    buffer = pool.take(kib << 10, str, "a tensor")
    del buffer
    assert bool(checks) == is_checked


def test_half_of_the_budget_may_be_free(pool: Pool) -> None:
    pool.budget = 64 * MIB
    buffers = [pool.take(MIB, str, "a tensor") for _ in range(64)]
    del buffers
    assert pool.free_bytes == 32 * MIB


def test_stored_tiles_are_short() -> None:
    text = json.dumps({"a" * 100: PRODUCT_TILES[0].name})
    assert _checked(text)
    with pytest.raises(ValueError, match="short"):
        _checked(text + " " * (1 << 16))


def test_an_elementwise_kernel_of_webassembly_binds_64_storages() -> None:
    def kernels(count: int) -> int:
        total = stored(4)
        for _ in range(count - 1):
            total = total + stored(4)
        return len(plan(linearize([total.node]), TRAITS.most_inputs))

    assert (kernels(63), kernels(64)) == (1, 2)


def test_parts_are_divided_again_for_less_memory(backend: WebGpuBackend) -> None:
    x = stored(1 << 17)
    for _ in range(20):
        x = tw.cumulative_sum(x)
    graph = linearize([x.node])
    pipelines = backend._pipelines
    plan = planning.make_plan(graph, backend.pool, pipelines)
    first = plan.layout_in_parts(graph, 64 * MIB, pipelines)
    second = plan.layout_in_parts(graph, 3 * MIB, pipelines)
    assert first is not None
    assert second is not None
    assert second.nbytes <= 3 * MIB < first.nbytes
