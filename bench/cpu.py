"""`bench cpu`: device `cpu` beside its peers on WebAssembly, in one Chromium.

Each library has a worker of its own, with one thread, as in a page that is not
isolated, or with all cores; batches of all are timed in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench import cpu_report, kit, results
from bench.kernels import install_peers
from bench.kit import ROOT, BenchError
from bench.page import PLACE, BenchServer, await_answer, open_browser
from bench.results import Row
from bench.workloads import chosen

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Library:
    """Something to compare.

    Attributes:
        name: on the command line and in `page/cpu-worker.mjs`.
        title: what people call it.
        has_threads: whether it computes on several threads where it may.
    """

    name: str
    title: str
    has_threads: bool


LIBRARIES = (
    Library("tensorweb", "tensorweb", True),
    Library("numpy", "NumPy in Pyodide", False),
    Library("jaxjs", "jax-js", True),
    Library("tfjs", "TF.js", True),
    Library("ortweb", "ONNX Runtime Web", True),
    Library("roofs", "hand-made WebAssembly", False),
)

ROOFS = (
    ("roof_microkernel", "microkernel", 2 * 40 * 512 * 4096, "GFLOP/s"),
    ("roof_microkernel_relaxed", "microkernel_relaxed", 2 * 40 * 512 * 4096, "GFLOP/s"),
    ("roof_sum_4MiB", "sum", 4 * MIB, "GB/s"),
    ("roof_sum_64MiB", "sum", 64 * MIB, "GB/s"),
    ("roof_copy_8MiB", "copy", 8 * MIB, "GB/s"),
    ("roof_copy_64MiB", "copy", 64 * MIB, "GB/s"),
)
"""Name, program in `js/cpu/roofs.mjs`, floating-point operations or bytes, unit."""

FOLDER = results.FOLDER / "cpu"
"""One file per machine and day, with the rows of `results.REQUIRED`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        "--wheels",
        type=Path,
        metavar="DIR",
        help="folder with NumPy's wheel for Pyodide; without it NumPy is left out",
    )
    names = ", ".join(row.name for row in LIBRARIES)
    parser.add_argument("--libs", default="", help=f"only these of {names}")
    parser.add_argument("--w", metavar="PATTERN", help="only workloads that match")
    parser.add_argument("--tiny", action="store_true", help="tiny sizes: does it run?")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--ms", type=int, default=10, help="milliseconds a batch")
    parser.add_argument("--rounds", type=int, default=40, help="batches of each case")
    parser.add_argument("--seconds", type=float, default=3600, help="stop after these")
    parser.add_argument(
        "--url", action="store_true", help="print the address and open no browser"
    )
    parser.add_argument(
        "--better",
        action="store_true",
        help="keep the faster of these and of what the file has: of a busy machine",
    )
    parser.add_argument(
        "--write", action="store_true", help="write the tables into bench/CPU.md too"
    )
    parser.add_argument(
        "--report", action="store_true", help="measure nothing, show the newest results"
    )
    parser.set_defaults(chrome_gpu=None)


def run(options: argparse.Namespace) -> None:
    """Measure and save, then print the tables.

    Raises:
        BenchError: the browser or a package is missing, or the page failed.
    """
    path = cpu_report.newest(FOLDER) if options.report else _measure(options)
    found = results.load(path)
    print(cpu_report.markdown(found))
    if options.write:
        cpu_report.write(found)


def _measure(options: argparse.Namespace) -> Path:
    """Measure and return the file of results."""
    libraries = contenders(options.libs, options.threads)
    install_peers([row["library"] for row in libraries], tfjs="tfjs-wasm")
    before = os.getloadavg()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = BenchServer(ROOT / "node_modules", folder)
        _write_specification(folder, options, libraries)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"{server.url}{PLACE.strip('/')}/page/cpu.html"
        print(f"measuring at {address}", flush=True)
        browser = None if options.url else open_browser(options, address, folder)
        try:
            found = collect(
                lambda: await_answer(server, browser, folder, options.seconds)
            )
        finally:
            if browser:
                browser.terminate()
                browser.wait()
            server.shutdown()
    path = _save(options, found, before)
    print(f"\nsaved to {path}\n")
    return path


def collect(answer: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Join what the page posts after each workload, until it says that was the last.

    Where it ends early, what was measured is kept.

    Raises:
        BenchError: it ends before anything was measured.
    """
    found: dict[str, Any] = {"rows": []}
    while not found.get("is_last"):
        try:
            part = answer()
            if "error" in part:
                raise BenchError(f"the page failed: {part['error']}")
        except BenchError as error:
            if not found["rows"]:
                raise
            print(f"\nended early, what was measured is kept: {error}", flush=True)
            break
        found = {**part, "rows": found["rows"] + part["rows"]}
    return found


def better(known: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
    """Return rows, each replaced by the known one where that was right and faster."""
    right = {(row["workload"], row["impl"]): row for row in known if row["ok"]}
    found = []
    for row in rows:
        before = right.get((row["workload"], row["impl"]), row)
        found.append(before if before["ms"] < row["ms"] else row)
    return found


def contenders(names: str, threads: int) -> list[dict[str, Any]]:
    """Return what the page opens: a library with one thread, or with all cores.

    Raises:
        BenchError: a name is unknown.
    """
    wanted = set(filter(None, names.split(",")))
    if unknown := wanted - {row.name for row in LIBRARIES}:
        raise BenchError(f"--libs: unknown {', '.join(sorted(unknown))}")
    found = []
    for row in LIBRARIES:
        if wanted and row.name not in wanted:
            continue
        for count in sorted({1, threads}) if row.has_threads else [1]:
            plural = "thread" if count == 1 else "threads"
            found.append(
                {
                    "library": row.name,
                    "title": f"{row.title}, {count} {plural}",
                    "threads": count,
                    "is_roof": row.name == "roofs",
                }
            )
    return found


def numpy_wheel(folder: Path | None) -> Path | None:
    """Return NumPy's wheel for Pyodide in a folder; None where there is none."""
    if folder is None:
        return None
    return max(folder.glob("numpy-*_wasm32.whl"), default=None)


def _write_specification(
    folder: Path, options: argparse.Namespace, libraries: list[dict[str, Any]]
) -> None:
    """Write what the page shall do, and the files that it fetches."""
    wheel = kit.wheel(options.wheel, folder)
    numpy = numpy_wheel(options.wheels)
    for path in filter(None, (wheel, numpy)):
        if path.parent != folder:
            shutil.copyfile(path, folder / path.name)
    rows = chosen(options.w, tiny=options.tiny, cpu=True)
    keys = ("name", "program", "work", "unit")
    roofs = [dict(zip(keys, row, strict=True), is_roof=True) for row in ROOFS]
    specification = {
        "libraries": libraries,
        "pyodide": "../../pyodide/",
        "modules": "../node_modules/",
        "wheel": f"../{wheel.name}",
        "sources": f"../{kit.sources(folder).name}",
        "numpy": f"../{numpy.name}" if numpy else None,
        "batch": options.ms,
        "rounds": options.rounds,
        "roofs": [] if options.w else roofs,
        # Smaller sizes and groups are for GPUs.
        "workloads": [
            {**replace(row, smaller=()).as_json(), "is_roof": False} for row in rows
        ],
    }
    (folder / "specification.json").write_text(json.dumps(specification), "utf-8")


def _save(
    options: argparse.Namespace, found: dict[str, Any], before: tuple[float, ...]
) -> Path:
    """Add a run to a file of results and return its path."""
    machine = options.machine or f"{os.cpu_count()} cores"
    about = {
        "adapter": "",
        "driver": machine,
        "browser": found["browser"],
        "isolated": found["isolated"],
        "threads": options.threads,
        "load_before": round(before[0], 2),
        "load_after": round(os.getloadavg()[0], 2),
        "versions": {**kit.versions(), **_numpy_version(options.wheels)},
    }
    options.machine = machine
    path = (
        options.out
        or FOLDER
        / results.path_for(machine + (results.TINY if options.tiny else "")).name
    )
    options.out = path
    rows = found["rows"]
    if options.better and path.is_file():
        rows = better(results.load(path).rows, rows)
    return results.save(options, "chromium", about, rows)


def _numpy_version(folder: Path | None) -> dict[str, str]:
    wheel = numpy_wheel(folder)
    return {"NumPy": wheel.name.split("-")[1]} if wheel else {}
