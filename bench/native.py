"""`bench native`: the table of kernels and the launch path through wgpu-py."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from time import perf_counter

import numpy as np

import tensorweb as tw
from bench import cases, launches, results
from bench.cases import CeilingCase, ProgramCase, Timer
from bench.programs import error_of, operands, samples
from bench.results import Row
from bench.workloads import Workload, chosen

IMPL = "tensorweb native"


def run(options: argparse.Namespace) -> None:
    """Measure and save."""
    tw.set_default_device("webgpu")
    adapter = cases.driver().description
    print(f"adapter: {adapter}", flush=True)
    timer = Timer(options.ms / 1e3, tw.synchronize, _warmer(tiny=options.tiny))
    rows: list[Row] = []
    for ceiling in cases.ceilings(tiny=options.tiny):
        case = CeilingCase(ceiling)
        times = timer.measure(case.run)
        case.free()
        name, work = ceiling.name, ceiling.work
        rows.append(results.row(name, "WGSL native", times, work, ceiling.unit))
        results.show(rows[-1])
    for workload in chosen(options.table, options.w, tiny=options.tiny):
        rows += _measure(workload, timer)
    if options.launches:
        measured = json.loads(launches.measure(tiny=options.tiny))
        rows += [{**row, "impl": IMPL} for row in measured]
    about = {"adapter": adapter, "driver": adapter, "versions": results.versions()}
    results.save(options, "native", about, rows)


def _warmer(*, tiny: bool) -> Callable[[], None]:
    """Return what keeps the GPU busy before a case; nothing at tiny sizes."""
    case = CeilingCase(cases.ceilings(tiny=tiny)[-1])

    def warm() -> None:
        end = perf_counter() + cases.WARMING_MS / 1e3
        while perf_counter() < end:
            case.run(20)
            tw.synchronize()

    return (lambda: None) if tiny else warm


def _measure(workload: Workload, timer: Timer) -> list[Row]:
    """Return the rows of one workload: results sharing a submit, and each its own."""
    inputs = operands(workload)
    given = [(values.tobytes(), values.shape, str(values.dtype)) for values in inputs]
    expected = samples(workload)
    ways = [(IMPL, workload.group, False), (f"{IMPL}, one submit per op", 1, False)]
    if workload.is_jitted:
        ways.append((f"{IMPL}, jit", workload.group, True))
    rows = []
    for impl, group, is_jitted in ways:
        case = ProgramCase(workload.program, given, group, is_jitted=is_jitted)
        times = timer.measure(case.run, group, case.regroup)
        error = error_of(expected, np.frombuffer(case.result(), workload.dtype))
        row = results.row(workload.name, impl, times, workload.work, workload.unit)
        rows.append({**row, "err": error, "ok": error <= workload.tolerance})
        results.show(rows[-1])
    return rows
