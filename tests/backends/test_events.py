"""What a flush tells those who listen: nodes, work, lines of the program, times."""

from __future__ import annotations

import inspect
from pathlib import Path
from time import perf_counter

import pytest

import tensorweb as tw
from tensorweb import devices, frames
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.drivers.native import NativeDriver
from tensorweb.events import Flush, NodeRecord, Read, count_plans, listening
from tensorweb.frames import Line


def stored(*shape: int) -> tw.Tensor:
    """Return a matrix that lies on the device."""
    x = tw.asarray([float(n) for n in range(shape[0] * shape[1])]).reshape(shape)
    tw.realize(x.contiguous() + 0)
    return tw.realize(x + 1)  # type: ignore[return-value]  # one tensor gives one


def line_here() -> int:
    """Return the number of the line that calls this."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def driver_of(name: str) -> NativeDriver:
    backend = devices.backend(name)
    assert isinstance(backend, WebGpuBackend)
    assert isinstance(backend.driver, NativeDriver)
    return backend.driver


def test_a_launch_records_its_operations(webgpu: str) -> None:
    x, y = stored(3, 5), stored(5, 2)
    before = perf_counter()
    with tw.record_kernels() as kernels:
        tw.realize(x @ y)
    (kernel,) = kernels
    assert kernel.kind == "matmul"
    assert kernel.name == "matmul matmul [1, 3, 2, 5]"
    assert "@compute" in kernel.source
    assert kernel.buffers == 3
    assert kernel.bytes >= kernel.loaded + kernel.stored
    assert kernel.flops == 2 * 3 * 2 * 5
    assert kernel.loaded == 4 * (3 * 5 + 5 * 2)
    assert kernel.stored == 4 * (3 * 2)
    assert kernel.flush > 0
    assert before < kernel.planned < kernel.submitted < perf_counter()
    assert kernel.line is None
    assert kernel.seconds is None


def test_nodes_are_numbers_in_the_graph_of_the_flush(webgpu: str) -> None:
    x = stored(3, 5)
    flushes: list[Flush] = []
    with listening(flushes.append):
        tw.realize(tw.sum(x.T * 2 + x.T, axis=0))
    (flush,) = flushes
    (launch,) = flush.launches
    assert launch.kind == "reduce"
    (output,) = launch.outputs
    assert flush.graph[output] == NodeRecord("sum", (3,), "float32", (output - 1,))
    inside = [flush.graph[number].op for number in launch.nodes]
    views = ["permute", "permute"]
    assert sorted(inside) == ["add", "constant", "multiply", *views, "sum"]
    (leaf,) = [node for node in flush.graph if node.op == "leaf"]
    assert leaf == NodeRecord("leaf", (15,), "float32")
    assert launch.flops == 15 * 2 + 15
    assert launch.loaded == 4 * 15


def test_every_node_belongs_to_a_kernel_or_was_stored(webgpu: str) -> None:
    x = stored(5, 3)
    flushes: list[Flush] = []
    with listening(flushes.append):
        y = tw.sort(x + 1, axis=1)
        tw.realize(y @ y.T, tw.cumulative_sum(y[0]), tw.argmax(x, axis=1))
    (flush,) = flushes
    inside = {number for launch in flush.launches for number in launch.nodes}
    read = {n for n, node in enumerate(flush.graph) if node.op == "leaf"}
    assert inside | read == set(range(len(flush.graph)))
    assert not inside & read


@pytest.mark.parametrize(
    ("program", "elements"),
    [
        (lambda x: x[:, ::2] + 0, 10 * 8),
        (lambda x: x[:1] + tw.zeros((4, 16)), 16),
        (lambda x: x[1:] - x[:-1], 160),
        (lambda x: tw.sliding_windows(x.reshape(160), 3).sum(axis=-1), 160),
    ],
    ids=["every second", "one row", "overlapping", "windows"],
)
def test_each_element_is_loaded_once(
    program: object, elements: int, webgpu: str
) -> None:
    assert callable(program)
    x = stored(10, 16)
    with tw.record_kernels() as kernels:
        tw.realize(program(x))
    (kernel,) = kernels
    assert kernel.loaded == 4 * elements


def test_launches_of_one_kernel_share_its_work(webgpu: str) -> None:
    x = stored(1000, 100)
    with tw.record_kernels() as kernels:
        tw.realize(tw.cumulative_sum(x.reshape(100_000)))
    assert len(kernels) > 1
    assert {kernel.outputs for kernel in kernels} == {kernels[0].outputs}
    assert [kernel.flops for kernel in kernels] == [100_000] + [0] * (len(kernels) - 1)
    scratch = kernels[0].stored
    assert kernels[-1].loaded == 400_000 + scratch


def test_recorded_lines_are_lines_of_the_program(webgpu: str) -> None:
    x = stored(3, 5)
    with tw.record_kernels(lines=True) as kernels:
        y = tw.exp(x)
        mean, built = tw.mean(y, axis=0), line_here()
        tw.realize(mean)
    (kernel,) = kernels
    assert kernel.line == Line(__file__, built)
    assert Path(kernel.line.file).name == "test_events.py"


def test_a_cached_plan_tells_its_own_flush(webgpu: str) -> None:
    x = stored(3, 5)
    flushes: list[Flush] = []
    lines = []
    with listening(flushes.append), frames.noting():
        for _ in range(2):
            y = x * 3 - 1
            tw.realize(y)
        z, built = x * 5 - 7, line_here()
        tw.realize(z)
    lines = [flush.line(flush.launches[0]) for flush in flushes]
    assert len({id(flush.launches) for flush in flushes}) == 1
    assert len({id(flush.graph) for flush in flushes}) == 1
    assert lines[0] == lines[1] == Line(__file__, built - 2)
    assert lines[2] == Line(__file__, built)
    numbers = [flush.number for flush in flushes]
    assert numbers == sorted(set(numbers))
    assert flushes[0].submitted <= flushes[1].planned


def test_a_replay_tells_the_lines_of_its_function(webgpu: str) -> None:
    built = 0

    @tw.jit
    def step(x: tw.Tensor) -> tw.Tensor:
        nonlocal built
        built = line_here() + 1
        return tw.sum(x * x)

    x = stored(3, 5)
    with tw.record_kernels(lines=True, seconds=True) as kernels:
        step(x)
        step(x)
    first, again = kernels
    assert first.line == again.line == Line(__file__, built)
    assert first.nodes == again.nodes
    assert again.flops == 30
    assert again.flush > first.flush
    assert again.planned >= first.submitted


def test_seconds_are_recorded_on_request(webgpu: str) -> None:
    driver = driver_of(webgpu)
    x = stored(200, 300)
    flushes: list[Flush] = []
    with tw.record_kernels(seconds=True) as kernels, listening(flushes.append):
        tw.realize(tw.sort(tw.sum(x @ x.T, axis=0)))
    assert len(kernels) > 1
    if "timestamp-query" not in driver.features:
        pytest.skip("the adapter writes no timestamps")
    took = [kernel.seconds or 0.0 for kernel in kernels]
    assert all(second >= 0 for second in took)
    assert 0 < sum(took) < kernels[0].submitted - kernels[0].planned
    assert flushes[0].seconds == took


def test_timed_flushes_compute_the_same(webgpu: str) -> None:
    x = stored(20, 30)

    def program() -> tw.Tensor:
        return tw.argsort(tw.sum(x @ x.T, axis=0) * -1)

    expected = program().tolist()
    with tw.record_kernels(seconds=True):
        assert program().tolist() == expected


def test_adapters_without_timestamps_tell_none(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_of(webgpu), "features", frozenset())
    with tw.record_kernels(seconds=True) as kernels:
        tw.realize(stored(2, 3) * 2)
    assert kernels
    assert {kernel.seconds for kernel in kernels} == {None}


def test_nothing_is_recorded_without_a_recorder(webgpu: str) -> None:
    with tw.record_kernels():
        assert not hasattr((tw.ones(3) + tw.arange(3)).node, "location")
    with frames.noting(), frames.noting(5):
        assert hasattr((tw.ones(3) + tw.arange(3)).node, "location")
    assert frames.left == 0
    assert not hasattr((tw.ones(3) + tw.arange(3)).node, "location")


def test_recorded_locations_are_limited(webgpu: str) -> None:
    x = stored(2, 3)
    with frames.noting(1), tw.record_kernels() as kernels:
        y, z = x * x, x - x
        tw.realize(y)
        tw.realize(z)
    assert hasattr(y.node, "location")
    assert not hasattr(z.node, "location")
    assert [kernel.line is None for kernel in kernels] == [False, True]


def test_the_clock_stops_for_one_listener(webgpu: str) -> None:
    x = stored(3, 5)
    flushes: list[Flush] = []
    reads: list[Read] = []
    with listening(flushes.append, reads=reads.append):
        x.tolist()
        count_plans()
        (x + 1).tolist()
        with tw.record_kernels() as kernels:
            count_plans()
            tw.realize(x + 2)
    (kernel,) = kernels
    assert 0 < kernel.planned < kernel.submitted
    assert [flush.submitted > 0 for flush in flushes] == [False, True]
    assert [read.nbytes for read in reads] == [60]
    with listening(flushes.append):
        tw.realize(x + 3)
    assert 0 < flushes[-1].begun < flushes[-1].planned < flushes[-1].submitted


@pytest.mark.parametrize("is_jitted", [False, True])
def test_one_report_counts_the_flushes_of_a_plan(webgpu: str, is_jitted: bool) -> None:
    x = stored(3, 5)
    add = tw.jit(lambda x: x + 1) if is_jitted else lambda x: tw.realize(x + 1)
    add(x)
    flushes: list[Flush] = []

    def heard() -> list[int]:
        for _ in range(4):
            tw.realize(add(x))
        return [flush.times for flush in flushes]

    with listening(flushes.append):
        assert heard() == [1, 1, 1, 1]
        count_plans()
        assert heard() == [1, 1, 1, 1, 4]
        with listening(flushes.append):
            assert heard() == [1, 1, 1, 1, 4, *[1] * 8]
        assert heard() == [1, 1, 1, 1, 4, *[1] * 8, 4]
        assert heard()[-2:] == [1, 8]
        flushes[-1].times = 0
        assert heard()[-2:] == [0, 4]
    assert heard()[-2:] == [0, 4]


def test_durations_are_not_counted(webgpu: str) -> None:
    x = stored(3, 5)
    flushes: list[Flush] = []
    with listening(flushes.append, seconds=True):
        count_plans()
        for _ in range(3):
            tw.realize(x + 1)
    assert [flush.times for flush in flushes] == [1, 1, 1]


def test_a_read_names_what_called_it(webgpu: str) -> None:
    x = stored(3, 5)
    reads: list[Read] = []
    with listening(lambda flush: None, reads=reads.append):
        x.sum().item()
        built = line_here() - 1
    (read,) = reads
    assert frames.line_of((read.code, read.instruction, 0)) == Line(__file__, built)
    assert (read.device, read.nbytes) == (webgpu, 4)
    assert 0 < read.begun <= read.done
