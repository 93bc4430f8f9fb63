"""The tables of `bench cpu`: a workload's rates by library, our ratio to the best peer.

Written into `bench/CPU.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.kit import BENCH, BenchError
from bench.results import TINY, Results, Row
from bench.workloads import Workload, cpu_workloads

PAGE = BENCH / "CPU.md"

OURS = "tensorweb"
COLUMNS = {
    "tensorweb": "tensorweb",
    "numpy": "NumPy in Pyodide",
    "jaxjs": "jax-js",
    "tfjs": "TF.js",
    "ortweb": "ONNX Runtime Web",
}
"""Titles of the columns by library; ours first."""

SUMS = frozenset({"sum", "rowsum", "colsum", "matvec", "argmax"})
"""Programs whose roof is a sum; other bytes are compared with a copy."""

CACHED = 16 << 20
"""Up to so many bytes the roof is the one of few bytes."""

LOOSE = 1e-3
"""Peers' results are compared up to this error, marked where it is above the row's."""

MARK = "†"

HEAD = "\n".join(
    (
        "# tensorweb on the CPU, beside its peers",
        "",
        "`python3 build.py bench cpu --wheels DIR --write` measures this in one "
        "Chromium and writes it. Rates are the best of several",
        "batches, timed in turn; the ratio is ours to the best peer's: above 1 we are "
        'ahead. "Share of roof" compares with hand-made',
        "WebAssembly on one thread: the innermost loop of a matrix product on packed "
        f"operands, a sum, a copy. {MARK}: less exact than the row asks",
        "of us, compared all the same. [README.md](README.md) tells more.",
        "",
    )
)


def newest(folder: Path) -> Path:
    """Return the newest file of results.

    Raises:
        BenchError: there is none.
    """
    found = sorted(folder.glob("*.json"))
    if not found:
        raise BenchError(f"{folder} has no results; run `build.py bench cpu` first")
    return found[-1]


def write(found: Results) -> None:
    """Write the tables into the page."""
    PAGE.write_text(page(found), "utf-8")


def page(found: Results) -> str:
    """Return the whole of `bench/CPU.md`."""
    return f"{HEAD}\n{markdown(found)}"


def markdown(found: Results) -> str:
    """Return where it was measured, and a table for one thread and for all cores."""
    about = found.hosts["chromium"]
    versions = ", ".join(f"{name} {text}" for name, text in about["versions"].items())
    note = f" {about['note']}" if "note" in about else ""
    lines = [
        f"Measured on {found.machine}, {found.date}, {about['browser']}; {versions}. "
        f"Load of the machine before {about['load_before']:g}, "
        f"after {about['load_after']:g}.{note}",
        "## One thread",
        table(found, 1),
        roofs(found),
    ]
    if about["threads"] > 1:
        lines += [
            f"## {about['threads']} threads",
            "NumPy has one thread.",
            table(found, about["threads"]),
        ]
    return "\n\n".join(filter(None, lines)) + "\n"


def table(found: Results, threads: int) -> str:
    """Return a row per workload: rates, ours to the best peer's, share of the roof."""
    has_roof = threads == 1 and any(row["library"] == "roofs" for row in found.rows)
    lines = []
    for workload in cpu_workloads(tiny=found.machine.endswith(TINY)):
        own, peers = compared(found, workload, threads)
        if not own and not peers:
            continue
        others = dict(peers)
        line = [f"{workload.name}, {unit_of(workload)}", cell(own)]
        line += [cell(others.get(name)) for name in COLUMNS if name != OURS]
        line += [ratio(own, peers[0][1] if peers else None)]
        line += [share(found, workload, own)] if has_roof else []
        lines.append(line)
    heads = ["workload", *COLUMNS.values(), "ours / best peer"]
    heads += ["share of roof"] if has_roof else []
    return _table(heads, lines) if lines else ""


def compared(
    found: Results, workload: Workload, threads: int
) -> tuple[Row | None, list[tuple[str, Row]]]:
    """Return our best row, and the peers' by name, the fastest first."""
    rows = {name: fastest(found, workload.name, name, threads) for name in COLUMNS}
    peers = [(name, row) for name, row in rows.items() if row and name != OURS]
    return rows[OURS], sorted(peers, key=lambda peer: float(peer[1]["ms"]))


def ratio(own: Row | None, best: Row | None) -> str:
    """Return how many times as fast as the best peer we are."""
    return f"**{best['ms'] / own['ms']:.2f}**" if own and best else ""


def fastest(found: Results, workload: str, library: str, threads: int) -> Row | None:
    """Return the best right row of a library, eager or jitted.

    A library without threads is compared as it is, a peer that sums less exactly too.
    """
    rows = [
        row
        for row in found.rows
        if row["workload"] == workload
        and row["library"] == library
        and (row["ok"] or (library != OURS and row["err"] <= LOOSE))
    ]
    counts = {row["threads"] for row in rows}
    wanted = threads if threads in counts or library != "numpy" else 1
    rows = [row for row in rows if row["threads"] == wanted]
    return min(rows, key=lambda row: float(row["ms"]), default=None)


def unit_of(workload: Workload) -> str:
    """Return the unit of a row's cells."""
    return "µs" if workload.unit == "launches/ms" else workload.unit


def cell(row: Row | None) -> str:
    """Return a rate, or the time of a launch, and whether it went through `jit`."""
    if row is None:
        return ""
    is_launch = row["unit"] == "launches/ms"
    value = row["ms"] * 1e3 if is_launch else row["rate"]
    text = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    text = text if row["ok"] else text + MARK
    return f"{text} (jit)" if " jit," in row["impl"] else text


def roof_of(workload: Workload) -> str:
    """Return how the names of a workload's roofs begin; empty where there is none."""
    if workload.unit == "GFLOP/s":
        return "roof_microkernel"
    if workload.unit != "GB/s":
        return ""
    if workload.program in SUMS:
        return "roof_sum_4MiB" if workload.work <= CACHED else "roof_sum_64MiB"
    return "roof_copy_8MiB" if workload.work <= CACHED else "roof_copy_64MiB"


def share(found: Results, workload: Workload, own: Row | None) -> str:
    """Return which part of its roof our rate is."""
    begin = roof_of(workload)
    rates = [
        float(row["rate"])
        for row in found.rows
        if begin and row["workload"].startswith(begin)
    ]
    return f"{own['rate'] / max(rates):.0%}" if own and rates else ""


def roofs(found: Results) -> str:
    """Return the rates of the roofs in a sentence."""
    rows = [row for row in found.rows if row["library"] == "roofs"]
    shown = ", ".join(
        f"{row['workload'].removeprefix('roof_').replace('_', ' ')} "
        f"{cell(row)} {row['unit']}"
        for row in rows
    )
    return f"Roofs of one thread: {shown}." if shown else ""


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *lines))
