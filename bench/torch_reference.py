"""`bench torch`: the workloads in PyTorch on CUDA, for reference beside WebGPU.

Runs where PyTorch and its GPU are; needs nothing else but NumPy. float32 without TF32.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from bench import kit, results, torch_families
from bench.ceilings import WARMING_MS
from bench.families import TABLES, of_table
from bench.kit import BenchError
from bench.references import operands
from bench.results import Row
from bench.sampling import error_of
from bench.timer import Timer
from bench.workloads import Workload

IMPL = "PyTorch"
WARMING_SIDE = 4096
TIMED_OPERATIONS = 20
TIMED_MS = 500
"""A batch by CUDA's events has so many operations, or takes so long."""

GPU_BATCHES = 3

Torch = Any
"""The module `torch`; it is not installed where this project is checked."""

Program = Callable[..., Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument("--table", choices=TABLES, default="kernels", help="which rows")
    parser.add_argument("--w", metavar="PATTERN", help="only workloads that match")
    parser.add_argument("--tiny", action="store_true", help="small sizes")
    parser.add_argument("--ms", type=int, default=250, help="milliseconds a case")
    parser.add_argument("--no-compile", action="store_true", help="eager rows only")
    parser.add_argument("--seconds", type=float, default=1800, help="stop after these")


def run(options: argparse.Namespace) -> None:
    """Measure and save.

    Raises:
        BenchError: PyTorch is not there or has no GPU.
    """
    torch = _torch()
    device = "cuda"
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True  # it may choose its convolution by measuring
    name = torch.cuda.get_device_name()
    print(f"PyTorch {torch.__version__} on {name}", flush=True)
    timer = Timer(options.ms / 1e3, torch.cuda.synchronize, _warmer(torch, device))
    rows: list[Row] = []
    end = perf_counter() + options.seconds
    for workload in of_table(options.table, options.w, tiny=options.tiny):
        if perf_counter() > end:
            print(f"stopped after {options.seconds:.0f} s, before {workload.name}")
            break
        rows += _measure(torch, workload, timer, compiles=not options.no_compile)
    about = {
        "adapter": name,
        "driver": name,
        "versions": {**kit.versions(), "PyTorch": torch.__version__},
    }
    print(f"\nsaved to {results.save(options, 'pytorch', about, rows)}")


def programs(torch: Torch) -> dict[str, dict[str, Program]]:
    """Return by workload's program the ways to say it; a way's name may be empty.

    Programs get the operands, indices as int64. `eager` is the composition that the
    workload's definition gives, a name alone what PyTorch has ready.
    """
    functional = torch.nn.functional
    return {
        "matmul": {"": torch.matmul},
        "matmul_nt": {"": lambda a, b: a @ b.mT},
        "matmul_tn": {"": lambda a, b: a.mT @ b},
        "matvec": {"": torch.mv},
        "elem": {"eager": lambda x: torch.exp(-x * x) * 2 + 1},
        "sum": {"": torch.sum},
        "rowsum": {"": lambda x: torch.sum(x, 1)},
        "colsum": {"": lambda x: torch.sum(x, 0)},
        "softmax": {
            "softmax": lambda x: torch.softmax(x, 1),
            "eager": _softmax(torch),
        },
        "layernorm": {
            "layer_norm": lambda x: functional.layer_norm(x, x.shape[1:]),
            "eager": _layernorm(torch),
        },
        "cumsum": {"": lambda x: torch.cumsum(x, 0)},
        "gather": {
            "index_select": lambda table, indices: table.index_select(0, indices),
            "indexing": lambda table, indices: table[indices],
        },
        "scatter_add": {
            "index_add": lambda x, i, values: x.index_add(0, i, values),
            "deterministic": _deterministic(
                torch, lambda x, i, values: x.index_add(0, i, values)
            ),
        },
        "transpose_copy": {"": lambda x: x.T.contiguous()},
        "sort": {"": lambda x: torch.sort(x).values},
        "argsort": {"": partial(torch.argsort, stable=True)},
        "argmax": {"": partial(torch.argmax, dim=1)},
        "increment": {"": lambda x: x + 1},
        "conv2d": {"": partial(functional.conv2d, padding=1)},
        "conv2d_7x7s2": {"": partial(functional.conv2d, stride=2, padding=3)},
    }


INDEXED = ("gather", "scatter_add")
"""Programs whose integers are indices."""


def _deterministic(torch: Torch, program: Program) -> Program:
    """Return the program by algorithms that give the same result in every run."""

    def deterministic(*operands: Any) -> Any:
        torch.use_deterministic_algorithms(True)
        try:
            return program(*operands)
        finally:
            torch.use_deterministic_algorithms(False)

    return deterministic


def _softmax(torch: Torch) -> Program:
    def softmax(x: Any) -> Any:
        e = torch.exp(x - x.max(1, keepdim=True).values)
        return e / e.sum(1, keepdim=True)

    return softmax


def _layernorm(torch: Torch) -> Program:
    def layernorm(x: Any) -> Any:
        centred = x - x.mean(1, keepdim=True)
        variance = (centred * centred).mean(1, keepdim=True)
        return centred / torch.sqrt(variance + 1e-5)

    return layernorm


def _measure(
    torch: Torch, workload: Workload, timer: Timer, *, compiles: bool
) -> list[Row]:
    """Return the rows of one workload; a way that fails becomes a line of the log.

    `torch.compile` is asked to fuse what has an eager composition.
    """
    known = {**programs(torch), **torch_families.programs(torch)}
    ways: Mapping[str, Program] | None = known.get(workload.program)
    if ways is None:
        print(f"{workload.name}: PyTorch has no program")
        return []
    if compiles and "eager" in ways:
        ways = {**ways, "compiled": torch.compile(ways["eager"])}
    inputs = operands(workload)
    given = [torch.from_numpy(values).to("cuda") for values in inputs]
    if workload.program in INDEXED:
        given = [x.long() if x.dtype == torch.int32 else x for x in given]
    rows = []
    for way, program in ways.items():
        impl = " ".join(filter(None, (IMPL, way)))
        try:
            found = _times(torch, program, given, timer)
            result = _flat(program(*given))
        except Exception as error:  # torch.compile has many ways to fail
            print(f"{workload.name}: {impl} failed: {str(error)[:300]}")
            continue
        rows.append(_row(workload, impl, found, error_of(workload, inputs, result)))
        _show(rows[-1])
    torch.cuda.empty_cache()
    return rows


def _flat(found: Any) -> Any:
    """Return the numbers of a result, or of several one after the other."""
    results = found if isinstance(found, tuple) else (found,)
    return np.concatenate([x.cpu().numpy().reshape(-1) for x in results])


def _times(
    torch: Torch, program: Program, given: list[Any], timer: Timer
) -> dict[str, float]:
    """Return times by the wall, and by CUDA's events around a batch."""

    def enqueue(count: int) -> None:
        for _ in range(count):
            program(*given)

    found = timer.measure(enqueue, 1)
    count = max(1, min(TIMED_OPERATIONS, int(TIMED_MS / found["ms"])))
    totals = []
    for _ in range(GPU_BATCHES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        enqueue(count)
        end.record()
        torch.cuda.synchronize()
        totals.append(begin.elapsed_time(end) / count)
    return {**found, "gpu_ms": min(totals)}


def _row(workload: Workload, impl: str, found: dict[str, float], error: float) -> Row:
    return {
        "workload": workload.name,
        "impl": impl,
        "rate": workload.work / found["ms"] / 1e6,
        "unit": workload.unit,
        "err": error,
        "ok": error <= workload.tolerance,
        "gpu_rate": workload.work / found["gpu_ms"] / 1e6,
        **found,
    }


def _show(row: Row) -> None:
    print(
        f"{row['workload']:16} {row['impl']:28} {row['ms']:10.4f} ms "
        f"{row['gpu_ms']:10.4f} by events {row['rate']:10.1f} {row['unit']:8} "
        f"{row['err']:8.1e}{'' if row['ok'] else ' BAD'}",
        flush=True,
    )


def _torch() -> Torch:
    """Return the module.

    Raises:
        BenchError: it is not installed or sees no GPU.
    """
    try:
        torch: Torch = importlib.import_module("torch")
    except ImportError:
        raise BenchError("PyTorch is not installed for this Python") from None
    if not torch.cuda.is_available():
        raise BenchError("PyTorch sees no CUDA device")
    return torch


def _warmer(torch: Torch, device: str) -> Callable[[], None]:
    x = torch.ones((WARMING_SIDE, WARMING_SIDE), device=device)

    def warm() -> None:
        end = perf_counter() + WARMING_MS / 1e3
        while perf_counter() < end:
            torch.mm(x, x)
            torch.cuda.synchronize()

    return warm
