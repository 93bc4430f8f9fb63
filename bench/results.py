"""Files of results: one per machine and day, rows with what they were measured on."""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.kit import BENCH, BenchError

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
"""What every row has: milliseconds per operation, operations, FLOP or bytes per second
in the unit, largest relative error (null where nothing is computed). A row of another
day than the file's has its `date`. Rows of kernels
also have `ok`, `gpu_ms`, `gpu_rate`, `median_ms`, `single_ms`, `cold_ms` and, per
operation, `dispatches`, `submits`, `bind_groups`, `buffers`."""

TINY = ", tiny sizes"
"""Ends the name of a machine where small sizes were measured."""

LIBRARIES = (
    *("tensorweb", "jax-js", "TF.js", "ONNX Runtime Web", "WGSL", "PyTorch"),
    *("NumPy", "WebAssembly"),
)


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
        """Take over runs; rows of the same workload and impl replace older ones."""
        new = {(row["workload"], row["impl"]) for row in rows}
        kept = [row for row in self.rows if (row["workload"], row["impl"]) not in new]
        self.rows = kept + rows
        self.hosts |= hosts

    def days_of(self, workloads: Iterable[str], impl: str) -> str:
        """Say when rows were measured, where that was not on the file's day."""
        rows = filter(None, (self.find(name, impl) for name in workloads))
        days = sorted({row["date"] for row in rows if "date" in row})
        return f", measured on {' and '.join(days)}" if days else ""

    def find(self, workload: str, impl: str) -> Row | None:
        """Return a workload's fastest row whose impl begins with a name."""
        rows = [
            row
            for row in self.rows
            if row["workload"] == workload
            and _begins(row["impl"], impl)
            and row.get("ok", True)
        ]
        return min(rows, key=lambda row: float(row["ms"]), default=None)

    def problems(self) -> list[str]:
        """Return what is wrong with the rows, one sentence each."""
        found = []
        seen = set()
        for number, row in enumerate(self.rows):
            found += [f"row {number}: {text}" for text in row_problems(row)]
            key = (row.get("workload"), row.get("impl"))
            if key in seen:
                found.append(f"row {number}: {key} twice")
            seen.add(key)
        return found


def row_problems(row: Row) -> list[str]:
    """Return what is wrong with one row."""
    found = [f"{key} is missing" for key in REQUIRED if key not in row]
    for key, types in REQUIRED.items():
        if key in row and not isinstance(row[key], types):
            found.append(f"{key} is {row[key]!r}")
    if found:
        return found
    if not math.isfinite(row["ms"]) or row["ms"] < 0:
        found.append(f"ms is {row['ms']}")
    if not row["impl"].startswith(LIBRARIES):
        found.append(f"impl {row['impl']!r} begins with no library's name")
    return found


def path_for(machine: str) -> Path:
    """Return today's file of a machine."""
    slug = re.sub(r"[^a-z0-9]+", "-", machine.lower()).strip("-")
    return FOLDER / f"{datetime.date.today().isoformat()}-{slug}.json"


def save(
    options: argparse.Namespace, host: str, about: dict[str, Any], rows: list[Row]
) -> Path:
    """Add a run to a file and return its path, today's file without `--out`.

    Raises:
        BenchError: a row breaks the schema.
    """
    machine = options.machine or _default_machine(about["driver"])
    if options.tiny:
        machine += TINY  # rows have the same names, so a file of their own
    if options.note:
        about = {**about, "note": options.note}
    path: Path = options.out or path_for(machine)
    today = datetime.date.today().isoformat()
    found = load(path) if path.is_file() else Results(machine, today)
    found.date = today
    found.merge({host: about}, rows)
    write(path, found)
    return path


def write(path: Path, found: Results) -> None:
    """Write a file of results.

    Raises:
        BenchError: a row breaks the schema.
    """
    if problems := found.problems():
        raise BenchError(f"{path}: {'; '.join(problems)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_text(found), "utf-8")


def load(path: Path) -> Results:
    """Return a file's results.

    Raises:
        BenchError: the file is not there or has another shape.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
        return Results(**content)
    except (OSError, ValueError, TypeError) as error:
        raise BenchError(f"{path}: no file of results ({error})") from None


def newest() -> Path:
    """Return the newest file of `bench/results/`.

    Raises:
        BenchError: there is none.
    """
    found = sorted(FOLDER.glob("*.json"))
    if not found:
        raise BenchError(f"{FOLDER} has no results; run a benchmark first")
    return found[-1]


def _default_machine(adapter: str) -> str:
    """Return a plain name for this machine."""
    return f"{os.cpu_count()} cores, {adapter or 'unknown adapter'}"


def _begins(impl: str, name: str) -> bool:
    return impl == name or impl.startswith(f"{name} ")


def _text(results: Results) -> str:
    """Return JSON with one line a row, so that differences are readable."""
    rows = ",\n".join(f"  {json.dumps(_rounded(row))}" for row in results.rows)
    head = {"machine": results.machine, "date": results.date, "hosts": results.hosts}
    return f'{json.dumps(head, indent=1)[:-2]},\n "rows": [\n{rows}\n ]\n}}\n'


def _rounded(row: Row) -> Row:
    """Return a row with numbers at five digits; more are noise."""
    return {
        key: float(f"{value:.5g}") if isinstance(value, float) else value
        for key, value in row.items()
    }
