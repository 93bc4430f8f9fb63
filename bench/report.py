"""`bench report`: a file of results as markdown tables, printed or in the documents."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench import aims, results
from bench.aims import PEERS, PYTORCH
from bench.families import families
from bench.first_report import first_call_table
from bench.kit import ROOT, BenchError
from bench.results import TINY, Results, Row
from bench.train_report import training_table
from bench.workloads import Workload, workloads

HOSTS = ("tensorweb", "tensorweb in Chromium", "tensorweb native")
ALONE = "one submit per op"
JIT = "jit"

PAGE = ROOT / "docs" / "benchmarks.md"

BEGIN = "<!-- bench:begin -->"
END = "<!-- bench:end -->"

LAUNCHES: dict[str, tuple[str, str, float]] = {
    "start_cold": ("page: navigation to first result, cold", "ms", 0),
    "start_warm": ("page: navigation to first result, warm", "ms", 1000),
    "start_cold_50_mbit": ("the same cold at 50 Mbit/s", "ms", 3000),
    "start_cold_10_mbit": ("the same cold at 10 Mbit/s", "ms", 0),
    "page_picture_256": ("page: picture of 256 by 256 elements", "ms", 0),
    "page_picture_1024": ("page: picture of 1024 by 1024", "ms", 0),
    "page_picture_4096": ("page: picture of 4096 by 4096, pooled", "ms", 0),
    "page_picture_20000": ("page: picture of 20,000 by 20,000, pooled", "ms", 0),
    "page_slider": ("page: last position of a slider", "ms", 100),
    "page_live_256": ("page: a picture of a loop, 256 by 256", "ms", 33),
    "page_live_512": ("page: a picture of a loop, 512 by 512", "ms", 33),
    "page_live_512_gap": ("page: longest time without a frame, loop", "ms", 100),
    "page_longest_gap": ("page: longest time without a frame, all", "ms", 100),
    "launch_tape_1_cpu": ("launch by raw tape, 1 a flush, CPU", "µs", 0),
    "launch_tape_1_all": ("launch by raw tape, 1 a flush, all in", "µs", 0),
    "launch_tape_300_cpu": ("launch by raw tape, 300 a flush, CPU", "µs", 0),
    "launch_tape_300_all": ("launch by raw tape, 300 a flush, all in", "µs", 10),
    "launch_library_1_cpu": ("graph + flush, 1 kernel a flush, CPU", "µs", 0),
    "launch_library_1_all": ("graph + flush, 1 kernel a flush, all in", "µs", 0),
    "launch_library_300_cpu": ("graph + flush, 300 kernels a flush, CPU", "µs", 0),
    "launch_library_300_all": ("graph + flush, 300 kernels, all in", "µs", 10),
    "python_op_tensor": ("Python per operation, tensor + tensor", "µs", 15),
    "python_op_number": ("Python per operation, tensor * number", "µs", 15),
    "python_op_function": ("Python per operation, exp", "µs", 15),
    "python_op_broadcast": ("Python per operation, slice and broadcast", "µs", 15),
    "flush_cached_fixed": ("flush of a graph seen before, fixed", "µs", 150),
    "flush_cached_kernel": ("flush of a graph seen before, per kernel", "µs", 3),
    "flush_streamed_kernel": ("the same without waiting between", "µs", 3),
    "jit_100_cpu": ("recorded step of 100 kernels, CPU", "ms", 0.4),
    "jit_100_waited": ("recorded step of 100 kernels, awaited", "ms", 0),
    "flush_new_shape": ("flush of softmax in a new shape", "µs", 0),
    "read_raw_4B": ("read of 4 B, driver", "ms", 1),
    "read_raw_4KiB": ("read of 4 KiB, driver", "ms", 1),
    "read_item": ("item() of a computed tensor", "ms", 1),
    "read_item_computed": ("item() of a new sum", "ms", 1),
    "read_tolist_4KiB": ("tolist() of 1,024 numbers", "ms", 1),
    "upload_64MiB": ("upload of 64 MiB", "GB/s", 0),
    "download_64MiB": ("download of 64 MiB", "GB/s", 0),
}
"""Rows of the launch path: description, unit shown, aim (0: none); lower is better."""

SCALES = {"ms": 1.0, "µs": 1e3}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument("file", type=Path, nargs="?", help="default: the newest")
    parser.add_argument(
        "--write",
        action="store_true",
        help="write docs/benchmarks.md",
    )


def run(options: argparse.Namespace) -> None:
    """Print or write the tables.

    Raises:
        BenchError: the file or the markers are missing.
    """
    found = results.load(options.file or results.newest())
    text = markdown(found)
    if options.out:
        options.out.write_text(text, "utf-8")
    if options.write:
        write_between(PAGE, text)
    else:
        print(text)


def markdown(found: Results) -> str:
    """Return the tables of a file, with where it was measured."""
    lines = [f"Measured on {found.machine}, {found.date}."]
    for host, about in sorted(found.hosts.items()):
        versions = ", ".join(f"{k} {v}" for k, v in about["versions"].items() if v)
        note = f". {about['note']}" if "note" in about else ""
        adapter = about["adapter"] or about["driver"]
        lines.append(f"- {host}: {adapter}; {versions}{note}")
    head = "\n".join([lines[0], "", *lines[1:]])
    parts = (
        kernel_table(found),
        family_table(found),
        training_table(found),
        launch_table(found),
        first_call_table(found),
    )
    tables = [head, *filter(None, parts)]
    return "\n\n".join(tables) + "\n"


def kernel_table(found: Results) -> str:
    """Return a row per workload: the best peer, ours, ratio, share of the ceiling.

    Ours is the best of results that share a submit, by a flush or by `tw.jit`.
    """
    rows = workloads(tiny=found.machine.endswith(TINY))
    table = _comparison(found, rows)
    ceilings = [row for row in found.rows if row["workload"].startswith("ceiling_")]
    shown = ", ".join(
        f"{row['workload'].removeprefix('ceiling_')} {_rate(row)} {row['unit']}"
        f" ({', '.join(filter(None, (row['impl'], row.get('date'))))})"
        for row in ceilings
    )
    note = f"\n\nCeilings: {shown}." if table and shown else ""
    return table + note


def family_table(found: Results) -> str:
    """Return the same of the second table, empty where nothing of it was measured."""
    rows = families(tiny=found.machine.endswith(TINY))
    days = found.days_of((row.name for row in rows), HOSTS[0])
    table = _comparison(found, rows)
    return f"What programs do besides these kernels{days}.\n\n{table}" if table else ""


def _comparison(found: Results, rows: Sequence[Workload]) -> str:
    """Return a line per workload that somebody has measured."""
    host, *others = [name for name in HOSTS if _has(found, name)] or HOSTS[:1]
    lines = []
    for workload in rows:
        name = workload.name
        best = _best([_row(found, name, peer) for peer in PEERS])
        alone = _row(found, name, f"{host}, {ALONE}")
        ours = _ours(found, name, host)
        own = _best(ours)
        reference = _row(found, name, PYTORCH)
        further = [_best(_ours(found, name, other)) for other in others]
        if not any((best, own, reference, *further)):
            continue
        line = {
            "workload": f"{name}, {workload.unit}",
            "best peer": _named(best),
            host: _named(own),
            "ours / best peer": _ratio(own, best),
            "share of ceiling": _share(found, own),
            "aim": aims.shown(found, name, ours, host),
            "PyTorch (CUDA)": _named(reference),
            **dict(zip(others, map(_named, further), strict=True)),
            ALONE: _rate(alone),
            "by the GPU's time": _rate(own, "gpu_rate"),
        }
        lines.append(line)
    if not lines:
        return ""
    heads = [head for head in lines[0] if any(line[head] for line in lines)]
    return _table(heads, [[line[head] for head in heads] for line in lines])


def launch_table(found: Results) -> str:
    """Return what launches, statements, reads and transfers cost on each host."""
    ours = [name for name in HOSTS if any(_row(found, w, name) for w in LAUNCHES)]
    lines = []
    for workload, (title, unit, aim) in LAUNCHES.items():
        rows = [_row(found, workload, name) for name in ours]
        if any(rows):
            shown = [_cost(row, unit, aim) for row in rows]
            lines.append([title, *shown, f"≤ {aim:g} {unit}" if aim else ""])
    if not lines:
        return ""
    of_days: dict[str, list[str]] = {}
    for row in found.rows:
        if row["workload"] in LAUNCHES and "date" in row:
            of_days.setdefault(row["date"], []).append(f"`{row['workload']}`")
    notes = (f"Measured on {day}: {', '.join(of_days[day])}." for day in of_days)
    return "\n\n".join([_table(["what", *ours, "aim"], lines), *notes])


def write_between(
    path: Path, text: str, markers: tuple[str, str] = (BEGIN, END)
) -> None:
    """Replace what stands between the markers of a file.

    Raises:
        BenchError: the markers are not there.
    """
    content = path.read_text("utf-8")
    before, begin, rest = content.partition(markers[0])
    _, end, after = rest.partition(markers[1])
    if not begin or not end:
        raise BenchError(f"{path} has no {' … '.join(markers)}")
    path.write_text(f"{before}{begin}\n\n{text}\n{end}{after}", "utf-8")


def _row(found: Results, workload: str, name: str) -> Row | None:
    """Return ours by its whole name, a peer by its fastest variant; only right ones."""
    if name in (*PEERS, PYTORCH):
        return found.find(workload, name)
    rows = [r for r in found.rows if r["workload"] == workload and r["impl"] == name]
    return rows[0] if rows and rows[0].get("ok", True) else None


def _has(found: Results, name: str) -> bool:
    names = {workload.name for workload in workloads(tiny=False)}
    names |= {workload.name for workload in workloads(tiny=True)}
    return any(_row(found, workload, name) for workload in names)


def _ours(found: Results, workload: str, host: str) -> list[Row]:
    """Return our rows whose results share a submit, where there are such."""
    plain = _row(found, workload, host) or _row(found, workload, f"{host}, {ALONE}")
    return [*filter(None, (plain, _row(found, workload, f"{host}, {JIT}")))]


def _best(rows: Sequence[Row | None]) -> Row | None:
    return min(filter(None, rows), key=lambda row: float(row["ms"]), default=None)


def _ratio(own: Row | None, best: Row | None) -> str:
    return f"{best['ms'] / own['ms']:.2f}" if own and best else ""


def _share(found: Results, own: Row | None) -> str:
    """Return which part of the copy or multiply-add ceiling a rate is."""
    if own is None:
        return ""
    kind = "ceiling_fma" if own["unit"] == "GFLOP/s" else "ceiling_copy"
    rates = [
        float(row["rate"])
        for row in found.rows
        if row["workload"].startswith(kind) and row["rate"]
    ]
    return f"{own['rate'] / max(rates):.0%}" if rates else ""


def _named(row: Row | None) -> str:
    """Return a rate, with the peer's name and whether it went through a `jit`."""
    if row is None:
        return ""
    impl = row["impl"]
    names = [name for name in PEERS if impl.startswith(name)]
    names += [JIT] if impl.endswith(f" {JIT}") else []
    names += impl.split()[1:] if impl.startswith(PYTORCH) else []
    names += ["estimated"] if "estimated_from" in row else []
    return f"{_rate(row)} ({' '.join(names)})" if names else _rate(row)


def _rate(row: Row | None, key: str = "rate") -> str:
    rate = row.get(key) if row else None
    if rate is None:
        return ""
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def _cost(row: Row | None, unit: str, aim: float) -> str:
    """Return a time or a rate; a time above its aim says by how much."""
    if row is None:
        return ""
    value = row["ms"] * SCALES[unit] if unit in SCALES else row["rate"]
    text = f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
    return f"{text}, {value / aim:.2g} times the aim" if aim and value > aim else text


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *lines))
