"""The costliest avoidable thing, found in programs with known faults."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import pytest

import tensorweb as tw
from tensorweb import frames
from tensorweb.backends.wasm import WasmBackend
from tensorweb.events import Flush, Read, listening
from tensorweb.inspection import costs
from tensorweb.inspection.costs import Finding, Run


def run_of(program: Callable[[], object], *, seconds: bool = False) -> Run:
    flushes: list[Flush] = []
    reads: list[Read] = []
    heard = listening(flushes.append, seconds=seconds, reads=reads.append)
    started = perf_counter()
    with heard, frames.noting():
        program()
    return Run(flushes, reads, perf_counter() - started)


def only(rule: costs.Rule, run: Run) -> Finding:
    (finding,) = rule(run)
    return finding


def line_after(program: Callable[[], object], lines: int) -> int:
    return program.__code__.co_firstlineno + lines


def stored(*shape: int) -> tw.Tensor:
    x = tw.realize(tw.ones(shape) + 0.5)
    assert isinstance(x, tw.Tensor)
    return x


def test_reads_in_a_loop_wait(webgpu: str) -> None:
    x = stored(8)

    def program() -> None:
        for step in range(20):
            (x * step).sum().item()

    run = run_of(program)
    finding = only(costs.waits, run)
    line = line_after(program, 2)
    assert f"`(x * step).sum().item()` on line {line} waited" in finding.text
    assert "20 times" in finding.text
    assert finding.line == (__file__, line)
    assert 0 < (finding.seconds or 0) < sum(r.done - r.begun for r in run.reads)


def test_one_read_after_the_loop_does_not(webgpu: str) -> None:
    x = stored(8)

    def program() -> None:
        tw.stack([(x * step).sum() for step in range(20)]).tolist()

    assert list(costs.waits(run_of(program))) == []


def test_a_step_that_python_builds_again_wants_jit(wasm: WasmBackend) -> None:
    def step(x: tw.Tensor) -> tw.Tensor:
        return tw.exp(x @ x * 1e-3)

    def program(step: Callable[[tw.Tensor], tw.Tensor]) -> None:
        x = stored(4, 4)
        for _ in range(30):
            x = step(x)
            tw.realize(x)

    finding = only(costs.steps, run_of(lambda: program(step)))
    assert "30 times" in finding.text
    assert f"on line {line_after(step, 1)} " in finding.text
    assert "`tw.jit`" in finding.text
    recorded = tw.jit(step)
    recorded(stored(4, 4))
    assert list(costs.steps(run_of(lambda: program(recorded)))) == []


def test_equal_small_launches_want_one(wasm: WasmBackend) -> None:
    x, w = stored(40, 16), stored(16, 16)

    def rows() -> None:
        tw.realize(*[x[i] @ w for i in range(40)])

    def chain() -> None:
        y = x
        for _ in range(12):
            y = y @ w
        tw.realize(y)

    finding = only(costs.launches, run_of(rows))
    line = line_after(rows, 1)
    assert finding.text.startswith(
        f"40 equal kernels of 1.2 kB are launched on line {line}"
    )
    assert "`tw.vmap`" in finding.text
    assert "`tw.jit` would record them once" in only(costs.launches, run_of(chain)).text
    assert list(costs.launches(run_of(lambda: tw.realize(x @ w)))) == []


def test_a_stored_copy_of_a_view_is_not_needed(wasm: WasmBackend) -> None:
    x, y = stored(600, 500), stored(600, 20)

    def program() -> None:
        z = tw.realize(x.mT.contiguous())
        tw.realize(z @ y)

    finding = only(costs.copies, run_of(program, seconds=True))
    assert finding.line == (__file__, line_after(program, 1))
    assert "`x.mT.contiguous()`" in finding.text
    assert "3.0 times the bytes of a kernel that reads `x.mT` in place" in finding.text
    assert finding.nbytes == 2 * 600 * 500 * 4
    assert (finding.seconds or 0) > 0


def test_a_copy_that_the_scheduler_leaves_out_costs_nothing(wasm: WasmBackend) -> None:
    x, y = stored(60, 50), stored(60, 20)
    assert list(costs.copies(run_of(lambda: tw.realize(x.mT.contiguous() @ y)))) == []


def test_strided_reads_touch_whole_cache_lines(wasm: WasmBackend) -> None:
    x = stored(500, 64)

    def program() -> None:
        for _ in range(3):
            tw.realize(x[:, 7].sum())

    finding = only(costs.strides, run_of(program))
    assert "16.0 times what it needs" in finding.text
    assert f"on line {line_after(program, 2)} " in finding.text
    assert finding.nbytes == 2 * 15 * 500 * 4
    assert list(costs.strides(run_of(lambda: tw.realize(x.mT.sum(axis=0))))) == []


def test_new_shapes_are_planned_anew(wasm: WasmBackend) -> None:
    x = stored(100)

    def program(lengths: range) -> None:
        for n in lengths:
            tw.realize(tw.exp(x[:n]).sum())

    finding = only(costs.shapes, run_of(lambda: program(range(20, 40))))
    assert "planned for 20 shapes" in finding.text
    assert f"on line {line_after(program, 2)} " in finding.text
    assert (finding.seconds or 0) > 0
    assert list(costs.shapes(run_of(lambda: program(range(20, 21))))) == []


def finding(seconds: float | None, nbytes: int = 0) -> Finding:
    return Finding("r", f"{seconds} {nbytes}", None, seconds, nbytes)


def test_the_costliest_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        finding(0.002),
        finding(0.02),
        finding(0.01),
        finding(None, 10**9),
        finding(None, 1000),
    ]
    monkeypatch.setattr(costs, "RULES", (lambda run: iter(found),))
    ranked = costs.ranked(Run([], [], 0.1))
    assert ranked == [found[3], found[1], found[2]]


def test_a_program_without_a_fault_is_told_none(wasm: WasmBackend) -> None:
    x = stored(64, 64)
    assert costs.ranked(run_of(lambda: (x @ x).sum().item())) == []
