"""`bench native`: the table of kernels and the launch path through wgpu-py."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import tensorweb as tw
from bench import cases, launches, results
from bench.cases import CeilingCase, ProgramCase, Timer
from bench.programs import error_of, operands, samples
from bench.results import Row
from bench.workloads import Workload, chosen

IMPL = "tensorweb native"


class Way(NamedTuple):
    """One way to compute a workload.

    Attributes:
        impl: in results.
        run: enqueues a number of operations.
        read: returns the numbers of the last result.
        group: operations that one flush computes; `regroup` changes it.
    """

    impl: str
    run: Callable[[int], None]
    read: Callable[[], Any]
    group: int = 1
    regroup: Callable[[int], None] | None = None


def run(options: argparse.Namespace) -> None:
    """Measure and save."""
    tw.set_default_device("webgpu")
    adapter = cases.driver().description
    print(f"adapter: {adapter}", flush=True)
    busy = CeilingCase(cases.ceilings(tiny=options.tiny)[-1])
    timer = Timer(options.ms / 1e3, tw.synchronize, lambda: busy.run(20), options.tiny)
    rows: list[Row] = []
    for ceiling in cases.ceilings(tiny=options.tiny):
        case = CeilingCase(ceiling)
        times = timer.measure(case.run)
        case.free()
        name, work = ceiling.name, ceiling.work
        rows.append(results.row(name, "WGSL native", times, work, ceiling.unit))
        results.show(rows[-1])
    for workload in chosen(options.table, options.w, tiny=options.tiny):
        rows += measured(workload, _ways(workload), timer)
    if options.launches:
        found = json.loads(launches.measure(tiny=options.tiny))
        rows += [{**row, "impl": IMPL} for row in found]
    about = {"adapter": adapter, "driver": adapter, "versions": results.versions()}
    results.save(options, "native", about, rows)


def measured(workload: Workload, ways: Iterable[Way], timer: Timer) -> list[Row]:
    """Return the rows of one workload; a way that fails becomes a line of the log."""
    expected = samples(workload)
    rows = []
    for way in ways:
        try:
            times = timer.measure(way.run, way.group, way.regroup)
            error = error_of(expected, way.read())
        except Exception as problem:  # PyTorch's compiler has many ways to fail
            print(f"{workload.name}: {way.impl} failed: {str(problem)[:300]}")
            continue
        row = results.row(workload.name, way.impl, times, workload.work, workload.unit)
        rows.append({**row, "err": error, "ok": error <= workload.tolerance})
        results.show(rows[-1])
    return rows


def _ways(workload: Workload) -> Iterable[Way]:
    """Yield results that share a submit, each in its own, and through `jit`."""
    inputs = operands(workload)
    given = [(values.tobytes(), values.shape, str(values.dtype)) for values in inputs]
    kinds = [(IMPL, workload.group, False), (f"{IMPL}, one submit per op", 1, False)]
    if workload.is_jitted:
        kinds.append((f"{IMPL}, jit", workload.group, True))
    for impl, group, is_jitted in kinds:
        case = ProgramCase(workload.program, given, group, is_jitted=is_jitted)

        def read(case: ProgramCase = case) -> Any:
            return np.frombuffer(case.result(), workload.dtype)

        yield Way(impl, case.run, read, group, case.regroup)
