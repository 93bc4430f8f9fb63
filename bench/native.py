"""`bench native`: the table of kernels and the launch path through wgpu-py."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from bench import kit, results
from bench.ceilings import WARMING_MS, ceilings
from bench.families import TABLES, of_table
from bench.references import operands
from bench.results import Row
from bench.sampling import error_of
from bench.timer import Timer
from bench.workloads import GROUP, Workload

IMPL = "tensorweb native"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument("--table", choices=TABLES, default="kernels", help="which rows")
    parser.add_argument("--w", metavar="PATTERN", help="only workloads that match")
    parser.add_argument("--tiny", action="store_true", help="sizes for a software GPU")
    parser.add_argument("--ms", type=int, default=250, help="milliseconds a case")
    parser.add_argument("--no-launches", action="store_true", help="leave these out")
    parser.add_argument("--profile", action="store_true", help="print Python's profile")


def run(options: argparse.Namespace) -> None:
    """Measure and save."""
    import tensorweb as tw
    from bench import cases, first_calls, launches, profiles

    tw.set_default_device("webgpu")
    rows: list[Row] = []
    print(f"adapter: {cases.driver().description}", flush=True)
    timer = Timer(options.ms / 1e3, tw.synchronize, warmer(tiny=options.tiny))
    for ceiling in ceilings(tiny=options.tiny):
        case = cases.CeilingCase(ceiling.name, tiny=options.tiny)
        found = timer.measure(case.run, 1)
        rows.append(
            _row(ceiling.name, "WGSL native", ceiling.work, ceiling.unit, found)
        )
        case.ceiling.free()
        _show(rows[-1])
    for workload in of_table(options.table, options.w, tiny=options.tiny):
        rows += _measure(workload, timer)
    if not options.no_launches:
        measured = json.loads(launches.measure(tiny=options.tiny))
        measured += json.loads(first_calls.measure(tiny=options.tiny))
        rows += [{**row, "impl": IMPL} for row in measured]
    if options.profile:
        print(profiles.report())
    adapter = cases.driver().description
    about = {"adapter": adapter, "driver": adapter, "versions": kit.versions()}
    print(f"\nsaved to {results.save(options, 'native', about, rows)}")


def warmer(*, tiny: bool) -> Callable[[], None]:
    """Return what keeps the GPU busy before a case; nothing at tiny sizes."""
    from bench.cases import CeilingCase
    from tensorweb import synchronize

    case = CeilingCase("ceiling_fma", tiny=tiny)

    def warm() -> None:
        end = perf_counter() + WARMING_MS / 1e3
        while perf_counter() < end:
            case.run(20)
            synchronize()

    return (lambda: None) if tiny else warm


def _measure(workload: Workload, timer: Timer) -> list[Row]:
    """Return the rows of one workload: results sharing a submit, and each its own."""
    from bench.cases import ProgramCase

    inputs = operands(workload)
    given = [(values.tobytes(), values.shape, str(values.dtype)) for values in inputs]
    rows = []
    ways = [(IMPL, workload.group, False), (f"{IMPL}, one submit per op", 1, False)]
    if workload.is_jitted:
        ways.append((f"{IMPL}, jit", workload.group, True))
    assert workload.group <= GROUP
    for impl, group, is_jitted in ways:
        case = ProgramCase(workload.program, given, group, is_jitted=is_jitted)
        found: dict[str, Any] = timer.measure(case.run, group, case.regroup)
        result = np.frombuffer(case.result(), workload.dtype)
        error = error_of(workload, inputs, result)
        row = _row(workload.name, impl, workload.work, workload.unit, found)
        rows.append({**row, "err": error, "ok": error <= workload.tolerance})
        _show(rows[-1])
    return rows


def _row(name: str, impl: str, work: int, unit: str, found: dict[str, float]) -> Row:
    rate = work / found["ms"] / 1e6
    return {
        "workload": name,
        "impl": impl,
        "ms": found["ms"],
        "rate": rate,
        "unit": unit,
        "err": None,
        "ok": True,
        **found,
    }


def _show(row: Row) -> None:
    print(
        f"{row['workload']:16} {row['impl']:36} {row['ms']:10.4f} ms "
        f"{row['cold_ms']:8.1f} cold {row['rate']:10.1f} {row['unit']:8}"
        f"{'' if row['ok'] else ' BAD'}",
        flush=True,
    )
