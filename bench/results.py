"""Files of results, one per machine and day, and what every benchmark needs to run."""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import re
import sys
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
FOLDER = BENCH / "results"

Row = dict[str, Any]

REQUIRED: dict[str, tuple[type, ...]] = {
    "workload": (str,),
    "impl": (str,),
    "ms": (int, float),
    "rate": (int, float, type(None)),
    "unit": (str,),
    "err": (int, float, type(None)),
}
"""Of every row: milliseconds per operation, operations, FLOP or bytes per second in the
unit, largest relative error (null where nothing is checked). A row of another day than
the file's has its `date`. Other columns are optional (bench/README.md)."""

RECORDED = (
    *("ms", "rate", "err", "ok", "gpu_ms", "gpu_rate", "cold_ms", "date"),
    *("library", "threads", "losses", "first_ms", "python_ms"),
    *("dispatches", "single_ms"),
)
"""Columns of files in addition to names and unit; `ok` only where it is false."""

TINY = ", tiny sizes"
"""Ends the name of a machine where small sizes were measured."""

LIBRARIES = (
    *("tensorweb", "jax-js", "TF.js", "ONNX Runtime Web", "WGSL", "PyTorch"),
    *("NumPy", "WebAssembly"),
)


class BenchError(Exception):
    """A benchmark cannot run here; the message says what is missing."""


@dataclass
class Results:
    """One file.

    Attributes:
        machine: the machine in plain words.
        date: ISO date of the newest row.
        hosts: by host (`node`, `chromium`, `native`): adapter, driver, versions.
        rows: see `REQUIRED`.
    """

    machine: str
    date: str
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    def merge(self, hosts: dict[str, dict[str, Any]], rows: list[Row]) -> None:
        """Add runs; rows of the same workload and impl replace older ones."""
        new = {(row["workload"], row["impl"]) for row in rows}
        old = [row for row in self.rows if (row["workload"], row["impl"]) not in new]
        self.rows = old + rows
        self.hosts |= hosts

    def days_of(self, workloads: Iterable[str], impl: str) -> str:
        """Return when rows were measured, where that was not on the file's day."""
        rows = filter(None, (self.find(name, impl) for name in workloads))
        days = sorted({row["date"] for row in rows if "date" in row})
        return f", measured on {' and '.join(days)}" if days else ""

    def find(self, workload: str, impl: str) -> Row | None:
        """Return a workload's fastest correct row whose impl begins with a name."""
        rows = [
            row
            for row in self.rows
            if row["workload"] == workload
            and (row["impl"] == impl or row["impl"].startswith(f"{impl} "))
            and row.get("ok", True)
        ]
        return min(rows, key=lambda row: float(row["ms"]), default=None)

    def exact(self, workload: str, impl: str) -> Row | None:
        """Return the correct row of a workload and an impl's full name."""
        key = (workload, impl)
        rows = [row for row in self.rows if (row["workload"], row["impl"]) == key]
        return rows[0] if rows and rows[0].get("ok", True) else None

    def problems(self) -> list[str]:
        """Return what is wrong with the rows, one sentence each."""
        texts = []
        seen = set()
        for index, row in enumerate(self.rows):
            texts += [f"row {index}: {text}" for text in row_problems(row)]
            key = (row.get("workload"), row.get("impl"))
            if key in seen:
                texts.append(f"row {index}: {key} twice")
            seen.add(key)
        return texts


def row_problems(row: Row) -> list[str]:
    """Return what is wrong with one row."""
    texts = [f"{key} is missing" for key in REQUIRED if key not in row]
    for key, types in REQUIRED.items():
        if key in row and not isinstance(row[key], types):
            texts.append(f"{key} is {row[key]!r}")
    if texts:
        return texts
    if not math.isfinite(row["ms"]) or row["ms"] < 0:
        texts.append(f"ms is {row['ms']}")
    if not row["impl"].startswith(LIBRARIES):
        texts.append(f"impl {row['impl']!r} begins with no library's name")
    return texts


def row(name: str, impl: str, times: dict[str, float], work: float, unit: str) -> Row:
    """Return the row of a workload whose result is right or not checked."""
    rate = work / times["ms"] / 1e6
    named = {"workload": name, "impl": impl, "rate": rate, "unit": unit}
    return {**named, "err": None, "ok": True, **times}


def show(row: Row) -> None:
    """Print a row."""
    print(
        f"{row['workload']:18} {row['impl']:38} {row['ms']:10.4f} ms "
        f"{row['cold_ms']:8.1f} cold {row['rate']:10.1f} {row['unit']:8}"
        f"{'' if row.get('ok', True) else ' BAD'}",
        flush=True,
    )


def save(
    options: argparse.Namespace, host: str, about: dict[str, Any], rows: list[Row]
) -> Path:
    """Add a run to today's file, or that of `--out`, and return its path.

    Raises:
        BenchError: a row breaks the schema.
    """
    machine = options.machine or f"{os.cpu_count()} cores, {about['driver']}"
    if options.tiny:
        machine += TINY  # rows have the same names, so a file of their own
    if options.note:
        about = {**about, "note": options.note}
    today = datetime.date.today().isoformat()
    slug = re.sub(r"[^a-z0-9]+", "-", machine.lower()).strip("-")
    path: Path = options.out or FOLDER / f"{today}-{slug}.json"
    record = load(path) if path.is_file() else Results(machine, today)
    if record.date != today:
        record.rows = [{"date": record.date, **row} for row in record.rows]
    record.date = today
    record.merge({host: about}, rows)
    write(path, record)
    print(f"\nsaved to {path}")
    return path


def write(path: Path, record: Results) -> None:
    """Write a file: one line per workload, with the columns of each impl.

    Raises:
        BenchError: a row breaks the schema.
    """
    if problems := record.problems():
        raise BenchError(f"{path}: {'; '.join(problems)}")
    grouped: dict[str, dict[str, Any]] = {}
    for row in record.rows:
        entry = grouped.setdefault(row["workload"], {"unit": row["unit"]})
        entry[row["impl"]] = {
            key: float(f"{value:.5g}") if isinstance(value, float) else value
            for key in RECORDED
            if (value := row.get(key)) is not None and (key, value) != ("ok", True)
        }
    lines = (
        f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in grouped.items()
    )
    head = {"machine": record.machine, "date": record.date}
    parts = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    hosts = (
        f"  {json.dumps(key)}: {json.dumps(value)}"
        for key, value in record.hosts.items()
    )
    for name, rows in (("hosts", hosts), ("rows", lines)):
        joined = ",\n".join(rows)
        parts.append(f' "{name}": {{\n{joined}\n }}')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")


def load(path: Path) -> Results:
    """Return a file's results.

    Raises:
        BenchError: the file is not there or has another shape.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
        rows = [
            {"workload": name, "impl": impl, "unit": entry["unit"], **_filled(columns)}
            for name, entry in content.pop("rows").items()
            for impl, columns in entry.items()
            if impl != "unit"
        ]
        return Results(**content, rows=rows)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BenchError(f"{path}: no file of results ({error})") from None


def _filled(columns: dict[str, Any]) -> dict[str, Any]:
    return {"rate": None, "err": None, "ok": True, **columns}


CPU = ", cpu"
"""Ends the name of a machine whose CPU was measured."""


def newest(*, cpu: bool = False) -> Path:
    """Return the newest file of a GPU or of a CPU.

    Raises:
        BenchError: there is none.
    """
    files = sorted(FOLDER.glob("*.json"))
    paths = [path for path in files if ("-cpu" in path.stem) == cpu]
    if not paths:
        raise BenchError(f"{FOLDER} has no results; run a benchmark first")
    return paths[-1]


INSIDE = ("__init__", "cases", "launches", "programs", "training", "workloads")
"""Modules that run inside Pyodide."""


def wheel(given: Path | None, folder: Path) -> Path:
    """Return the wheel that was given, or build a fresh one into `folder`.

    Raises:
        BenchError: the given file is not there.
    """
    if given is not None:
        if not given.is_file():
            raise BenchError(f"--wheel {given}: no such file")
        return given.resolve()
    from tools import site

    return site.build_wheel(folder)


def sources(folder: Path) -> Path:
    """Write the modules that run inside Pyodide to `folder` as a zip."""
    target = folder / "bench.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for name in INSIDE:
            archive.write(BENCH / f"{name}.py", f"bench/{name}.py")
    return target


def npm_version(package: str) -> str | None:
    """Return the version of an installed npm package, None when it is not there."""
    for folder in (BENCH, ROOT):
        path = folder / "node_modules" / package / "package.json"
        if path.is_file():
            return str(json.loads(path.read_text("utf-8"))["version"])
    return None


def versions() -> dict[str, str]:
    """Return the versions of the installed libraries."""
    packages = {
        "jax-js": "@jax-js/jax",
        "TF.js": "@tensorflow/tfjs-core",
        "Dawn (npm webgpu)": "webgpu",
        "Pyodide": "pyodide",
    }
    numbers = {name: npm_version(package) for name, package in packages.items()}
    numbers["Python"] = sys.version.split()[0]
    return {name: version for name, version in numbers.items() if version}
