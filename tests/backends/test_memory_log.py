"""The log of memory: which buffers, for which values, when they are freed, the peak."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import tensorweb as tw
from tensorweb import devices
from tensorweb.backends.kernel_backend import KernelBackend
from tensorweb.backends.planning import Plan
from tensorweb.backends.pool import Buffer, Pool
from tensorweb.frames import line_of, noting
from tensorweb.memory_log import Block, MemoryLog, logging_memory, memory_log


def pool_of(device: str) -> Pool:
    backend = devices.backend(device)
    assert isinstance(backend, KernelBackend)
    return backend.pool


def matrix(device: str, size: int = 64) -> tw.Tensor:
    numbers = [float(n % 7) for n in range(size * size)]
    return tw.reshape(tw.asarray(numbers, device=device), (size, size))


@contextmanager
def logged(most: int = 1000) -> Iterator[MemoryLog]:
    log = MemoryLog(most)
    with noting(), logging_memory(log):
        yield log


def line_here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def freed_at(block: Block) -> int | None:
    if block.code is None or block.code.co_filename != __file__:
        return None
    line = line_of((block.code, block.instruction, 0))
    return line and line.number


def test_nothing_is_logged_outside_of_a_block(webgpu: str) -> None:
    assert memory_log() is None
    with logged() as log:
        assert memory_log() is log
    tw.realize(matrix(webgpu) + 1)
    assert log.blocks == []
    assert memory_log() is None


def test_a_block_has_the_lines_that_made_and_freed_it(webgpu: str) -> None:
    x = tw.realize(matrix(webgpu) + 0)
    with logged() as log:
        y = x * 2
        made = line_here() - 1
        tw.realize(y)
        z = tw.realize(x + 3)
        del y
        freed = line_here() - 1
        tw.realize(z * 5)
    first, second, third = log.blocks
    (value,) = first.values()
    assert (value.op, value.shape, value.dtype) == ("multiply", (64, 64), "float32")
    assert value.location is not None
    assert line_of(value.location) == (__file__, made)
    assert first.nbytes == 64 * 64 * 4
    assert (first.begin, first.end, freed_at(first)) == (0, 2, freed)
    assert (second.begin, second.end) == (1, None)
    assert (third.begin, third.end) == (2, 3)


def test_the_end_of_a_function_frees_at_the_line_of_its_call(webgpu: str) -> None:
    x = tw.realize(matrix(webgpu) + 0)

    def inner() -> float:
        y = tw.realize(x * 2)
        return float(tw.sum(y).item())  # type: ignore[arg-type]  # y is one tensor

    with logged() as log:
        inner()
        call = line_here() - 1
    assert freed_at(log.blocks[0]) == call


def test_views_are_one_block(webgpu: str) -> None:
    x = tw.realize(matrix(webgpu) + 0)
    assert isinstance(x, tw.Tensor)
    with logged() as log:
        y = x * 2
        rows, columns = y[3:], y.T
        tw.realize(y, rows, columns)
        del y, rows
    (block,) = log.blocks
    assert block.end is None


def test_a_buffer_that_is_reused_inside_a_flush_lists_its_values(webgpu: str) -> None:
    x = tw.realize(matrix(webgpu, 512) + 0)
    assert isinstance(x, tw.Tensor)
    with logged() as log:
        tw.realize(x @ x @ x @ x @ x)
    assert log.step == 4
    served = sorted(len(block.values()) for block in log.blocks)
    assert served == [2, 2]
    for block in log.blocks:
        one, other = block.values()
        assert one.end <= other.begin
    assert sum(value.is_result for b in log.blocks for value in b.values()) == 1


def test_the_peak_is_what_the_pool_has_in_use(webgpu: str) -> None:
    gc.collect()
    pool = pool_of(webgpu)
    before = pool.in_use
    x = tw.realize(matrix(webgpu, 128) + 0)
    with logged() as log:
        y = tw.realize(x + 1)
        z = tw.realize(y * 2, y * 3, y * 5)
        in_use = pool.in_use
        at_peak = log.alive_at_peak(webgpu)
        del y, z
        tw.realize(x + 7)
    peak = log.peaks[webgpu]
    size = 128 * 128 * 4
    assert peak.nbytes == in_use == before + 5 * size
    assert peak.before == before + size
    assert peak.before + sum(block.nbytes for block in at_peak) == peak.nbytes
    handles = [block.handle for block in log.alive_at_peak(webgpu)]
    assert handles == [block.handle for block in at_peak]
    assert len(at_peak) == 4


def test_data_of_the_host_is_a_block(webgpu: str) -> None:
    with logged() as log:
        x = tw.asarray([1.0, 2.0, 3.0], device=webgpu)
        line = line_here() - 1
        tw.realize(x + 1)
    (value,) = log.blocks[0].values()
    assert log.blocks[0].use == "data"
    assert (value.op, value.shape) == ("leaf", (3,))
    assert value.location is not None
    assert line_of(value.location) == (__file__, line)


def test_calls_of_jit_have_the_lines_of_the_trace(webgpu: str) -> None:
    x = tw.realize(matrix(webgpu) + 0)

    @tw.jit
    def step(x: tw.Tensor) -> tw.Tensor:
        return x @ x @ x + 1

    with logged() as log:
        for _ in range(4):
            x = step(x)  # type: ignore[arg-type]  # one tensor gives one
    assert {block.use for block in log.blocks} >= {"flush", "jit"}
    results = [block for block in log.blocks if block.use == "flush"]
    assert all(value.location for block in results for value in block.values())
    assert [block.end is None for block in results[-3:]] == [False, False, True]


def test_a_full_log_lists_only_new_peaks(webgpu: str) -> None:
    x = tw.realize(matrix(webgpu) + 0)
    assert isinstance(x, tw.Tensor)
    with logged(most=10) as log:
        y = x
        for _ in range(100):
            y = y + 1
            tw.realize(y)
        assert len(log.blocks) == 10
        assert (log.flushes, log.unlisted, log.step) == (100, 90, 10)
        large = tw.realize(tw.concat([x] * 50))
        assert len(log.blocks) == 11
        assert log.blocks[-1] in log.alive_at_peak(webgpu)
        del large
    assert log.blocks[-1].end is not None


def test_a_closed_log_stays_as_it_is(webgpu: str) -> None:
    x = tw.realize(matrix(webgpu) + 0)
    with logged() as log:
        y = tw.realize(x + 1)
    del y
    assert log.alive_at_peak(webgpu) == log.blocks
    assert log.blocks[0].end is None


@pytest.mark.parametrize("size", [8, 512])
def test_logged_buffers_return_to_the_pool(webgpu: str, size: int) -> None:
    pool = pool_of(webgpu)
    pool.trim()
    gc.collect()
    before = pool.in_use
    with logged():
        x = tw.realize(matrix(webgpu, size) + 0)
        for _ in range(20):
            x = tw.realize(x + 1)
        assert pool.allocated <= before + 3 * pool.size_for(size * size * 4)
        del x
    assert pool.in_use == before


def test_short_flushes_fill_a_log_earlier(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = tw.realize(matrix(webgpu) + 0)
    for seconds, listed in ((0.0, 20), (60.0, 5)):
        monkeypatch.setattr("tensorweb.memory_log.SECONDS_A_BLOCK", seconds)
        log = MemoryLog(20, 5)
        with logging_memory(log):
            for _ in range(40):
                tw.realize(x + 1)
        assert len(log.blocks) == listed
        assert (log.flushes, log.unlisted) == (40, 40 - listed)


def test_a_plan_is_described_once_and_a_full_log_leaves_buffers_alone(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = tw.realize(matrix(webgpu, 61) + 0)
    described, inner = [], Plan.purpose
    monkeypatch.setattr(
        Plan, "purpose", lambda *given: (described.append(1), inner(*given))[1]
    )
    hooked, when_freed = [], Buffer.when_freed
    monkeypatch.setattr(
        Buffer, "when_freed", lambda *given: (hooked.append(1), when_freed(*given))[1]
    )
    with logged(most=7) as log:
        for _ in range(50):
            x = tw.realize(x * 0.75 + 2)
        assert (len(described), len(hooked)) == (1, 7)
        large = tw.realize(tw.concat([x] * 50))  # type: ignore[list-item]  # one tensor
        assert log.peaks[webgpu].nbytes == pool_of(webgpu).in_use
    del large
