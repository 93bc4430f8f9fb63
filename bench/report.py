"""`bench report`: files of results as markdown tables, printed or in the documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from bench import results
from bench.results import CPU, ROOT, TINY, BenchError, Results, Row
from bench.training import FORWARD, SIZES
from bench.workloads import Workload, cpu_workloads, families, workloads

PAGE = ROOT / "docs" / "reference" / "benchmarks.md"

MARKERS = ("<!-- bench:begin -->", "<!-- bench:end -->")
CPU_MARKERS = ("<!-- bench cpu:begin -->", "<!-- bench cpu:end -->")

HOSTS = ("tensorweb", "tensorweb in Chromium", "tensorweb native")
PEERS = ("jax-js", "TF.js", "ONNX Runtime Web")
PYTORCH = "PyTorch"
ALONE = "one submit per op"
JIT = "jit"

LAUNCHES: dict[str, tuple[str, str, float]] = {
    "start_cold": ("page: navigation to first result, cold", "ms", 0),
    "start_warm": ("page: navigation to first result, warm", "ms", 1000),
    "start_cold_50_mbit": ("page: cold at 50 Mbit/s", "ms", 3000),
    "start_cold_10_mbit": ("page: cold at 10 Mbit/s", "ms", 0),
    "page_picture_256": ("page: picture of 256 by 256 elements", "ms", 0),
    "page_picture_1024": ("page: picture of 1024 by 1024", "ms", 0),
    "page_picture_4096": ("page: picture of 4096 by 4096, pooled", "ms", 0),
    "page_picture_20000": ("page: picture of 20,000 by 20,000, pooled", "ms", 0),
    "page_slider": ("page: last position of a slider", "ms", 100),
    "page_dragged": ("page: results after a number is dragged", "ms", 100),
    "page_live_256": ("page: a picture of a loop, 256 by 256", "ms", 33),
    "page_live_512": ("page: a picture of a loop, 512 by 512", "ms", 33),
    "page_live_512_gap": ("page: longest time without a frame, loop", "ms", 100),
    "page_view_why": ("page: why a cell has its value, from the click", "ms", 300),
    "page_view_film": ("page: a film, its script included", "ms", 300),
    "page_view_model": ("page: a model as a map", "ms", 300),
    "page_view_kernels": ("page: kernels of a run", "ms", 300),
    "page_view_timeline": ("page: timeline of a run", "ms", 300),
    "page_view_memory": ("page: memory, before it is recorded", "ms", 300),
    "page_view_compare": ("page: two runs", "ms", 300),
    "page_view_lit_kernel": ("page: a kernel's expressions are lit", "ms", 100),
    "page_longest_gap": ("page: longest time without a frame, all", "ms", 100),
    "launch_library_1_cpu": ("graph + flush, 1 kernel a flush, CPU", "µs", 0),
    "launch_library_1_all": ("graph + flush, 1 kernel a flush, all in", "µs", 0),
    "launch_library_300_cpu": ("graph + flush, 300 kernels a flush, CPU", "µs", 0),
    "launch_library_300_all": ("graph + flush, 300 kernels, all in", "µs", 10),
    "python_op_tensor": ("Python per operation, tensor + tensor", "µs", 15),
    "python_op_number": ("Python per operation, tensor * number", "µs", 15),
    "python_op_function": ("Python per operation, exp", "µs", 15),
    "python_op_broadcast": ("Python per operation, slice and broadcast", "µs", 15),
    "python_gradient_40_layers": ("Python: backward pass of 40 layers", "µs", 0),
    "hessian_50_inputs": ("Hessian of 50 inputs", "ms", 0),
    "flush_cached_fixed": ("flush with a cached plan, fixed", "µs", 150),
    "flush_cached_kernel": ("flush with a cached plan, per kernel", "µs", 3),
    "flush_streamed_kernel": ("the same without waiting between flushes", "µs", 3),
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
    "warm_up": ("warm_up of every family", "ms", 0),
}
"""The launch path: description, unit shown, limit (0: none); lower is better."""

COLD, WARM = "first_call_", "first_call_warm_"
FIRST_CALL_MS = 60.0  # most milliseconds of a first call after warm_up

TITLES = {
    "train_mlp": "step of an MLP 784-128-10, 128 images",
    "train_cnn": "step of a CNN 16-32, 128 images of 28 by 28",
    "train_gpt": "step of a GPT: 4 layers of 128, 32 texts of 64",
    "gpt2_forward": "GPT-2 124M forward, 8 texts of 1,024 tokens",
    "gpt2_short": "GPT-2 124M forward, 1 text of 64 tokens",
}

CPU_TITLES = {
    "tensorweb": ("tensorweb", True),
    "numpy": ("NumPy in Pyodide", False),
    "jaxjs": ("jax-js", True),
    "tfjs": ("TF.js", True),
    "ortweb": ("ONNX Runtime Web", True),
}
"""Libraries of the CPU by name: title, and whether they have threads; ours first."""

LOOSE = 1e-3  # error up to which a less exact peer is compared, with a mark
MARK = "†"


def write() -> None:
    """Write the newest results into docs/reference/benchmarks.md."""
    gpu = results.load(results.newest())
    cpu = results.load(results.newest(cpu=True))
    write_between(PAGE, markdown(gpu), MARKERS)
    write_between(PAGE, markdown(cpu), CPU_MARKERS)


def write_between(path: Path, text: str, markers: tuple[str, str]) -> None:
    """Replace the text between the markers of a file.

    Raises:
        BenchError: the markers are not there.
    """
    content = path.read_text("utf-8")
    before, begin, rest = content.partition(markers[0])
    _, end, after = rest.partition(markers[1])
    if not begin or not end:
        raise BenchError(f"{path} has no {' … '.join(markers)}")
    path.write_text(f"{before}{begin}\n\n{text}\n{end}{after}", "utf-8")


def markdown(record: Results) -> str:
    """Return the tables of a file, with where it was measured."""
    if record.machine.removesuffix(TINY).endswith(CPU):
        return _cpu_markdown(record)
    lines = []
    for host, about in sorted(record.hosts.items()):
        versions = ", ".join(f"{k} {v}" for k, v in about["versions"].items() if v)
        note = f". {about['note']}" if "note" in about else ""
        lines.append(
            f"- {host}: {about['adapter'] or about['driver']}; {versions}{note}"
        )
    head = [f"Measured on {record.machine}, {record.date}.", "\n".join(lines)]
    is_tiny = record.machine.endswith(TINY)
    days = record.days_of((row.name for row in families()), HOSTS[0])
    parts = (
        comparison(record, workloads(tiny=is_tiny)),
        _ceilings(record),
        _titled(f"Families{days}", comparison(record, families(tiny=is_tiny))),
        training_table(record),
        launch_table(record),
        first_call_table(record),
    )
    return "\n\n".join([*head, *filter(None, parts)]) + "\n"


def comparison(record: Results, entries: Sequence[Workload]) -> str:
    """Return a line per measured workload: the best peer, ours, ratio, ceiling.

    Ours is the best of the results that share a submit, by a flush or by `tw.jit`.
    """
    measured = {row["impl"].partition(",")[0] for row in record.rows}
    hosts = [name for name in HOSTS if name in measured] or [HOSTS[0]]
    host, others = hosts[0], hosts[1:]
    lines = []
    for workload in entries:
        name = workload.name
        best = _best([record.find(name, peer) for peer in PEERS])
        own, *further = (_best(_ours(record, name, each)) for each in hosts)
        reference = record.find(name, PYTORCH)
        if any((best, own, reference, *further)):
            line = {
                "workload": f"{name}, {workload.unit}",
                "best peer": _named(best),
                host: _named(own),
                "ours / best peer": _ratio(own, best),
                "share of ceiling": _share(record, own),
                "PyTorch (CUDA)": _named(reference),
                "ours / PyTorch": _ratio(own, reference),
                **dict(zip(others, map(_named, further), strict=True)),
                ALONE: _rate(record.exact(name, f"{host}, {ALONE}")),
                "by the GPU's time": _rate(own, "gpu_rate"),
            }
            lines.append(line)
    return _columns(lines)


def _ceilings(record: Results) -> str:
    rows = [row for row in record.rows if row["workload"].startswith("ceiling_")]
    shown = ", ".join(
        f"{row['workload'].removeprefix('ceiling_')} {_rate(row)} {row['unit']}"
        f" ({', '.join(filter(None, (row['impl'], row.get('date'))))})"
        for row in rows
    )
    return f"Ceilings: {shown}." if shown else ""


def training_table(record: Results) -> str:
    """Return a line per network that was measured, empty without any."""
    peers = PEERS[:2]
    host = (
        HOSTS[1] if any(record.exact(name, HOSTS[1]) for name in TITLES) else HOSTS[0]
    )
    lines = []
    for name in (*SIZES, *FORWARD):
        own = record.exact(name, host)
        if own is None:
            continue
        others = [record.find(name, peer) for peer in peers]
        line = {
            "what": TITLES[name],
            **{peer: _time(row) for peer, row in zip(peers, others, strict=True)},
            host: _time(own),
            "ours / best peer": _ratio(own, _best(others), digits=0),
            "PyTorch eager": _time(record.exact(name, f"{PYTORCH} eager")),
            "PyTorch, best": _time(record.find(name, PYTORCH)),
            "by the GPU's time": _milliseconds(own.get("gpu_ms")),
            "Python and bridge": _milliseconds(own.get("python_ms")),
            "launches": f"{own.get('dispatches', 0):.0f}",
            "first step": _milliseconds(own.get("first_ms")),
        }
        lines.append(line)
    days = record.days_of((*SIZES, *FORWARD), host)
    title = f"Training by Adam: forward, backward and update{days}"
    return _titled(title, _columns(lines, all_columns=True))


def launch_table(record: Results) -> str:
    """Return what launches, statements, reads and transfers cost on each host."""
    hosts = [name for name in HOSTS if any(record.exact(w, name) for w in LAUNCHES)]
    lines = []
    for name, (title, unit, limit) in LAUNCHES.items():
        rows = [record.exact(name, host) for host in hosts]
        if any(rows):
            shown = [_cost(row, unit, limit) for row in rows]
            lines.append([title, *shown, f"≤ {limit:g} {unit}" if limit else ""])
    if not lines:
        return ""
    days: dict[str, list[str]] = {}
    for row in record.rows:
        if row["workload"] in LAUNCHES and "date" in row:
            days.setdefault(row["date"], []).append(f"`{row['workload']}`")
    notes = (f"Measured on {day}: {', '.join(names)}." for day, names in days.items())
    return "\n\n".join([_table(["what", *hosts, "limit"], lines), *notes])


def first_call_table(record: Results) -> str:
    """Return a line per workload whose first call was measured, cold and warmed up."""
    rows = {(row["workload"], row["impl"]): row for row in record.rows}
    hosts = sorted({impl for name, impl in rows if name.startswith(COLD)})
    names = dict.fromkeys(
        name.removeprefix(COLD)
        for name, _ in rows
        if name.startswith(COLD) and not name.startswith(WARM)
    )
    if not names:
        return ""
    heads = [f"{host}, {how}" for host in hosts for how in ("cold", "after warm_up")]
    lines = []
    for name in names:
        times = [rows.get((how + name, host)) for host in hosts for how in (COLD, WARM)]
        cells = [
            _cost(row, "ms", FIRST_CALL_MS if i % 2 else 0)
            for i, row in enumerate(times)
        ]
        lines.append([name, *cells])
    limit = f"Limit: {FIRST_CALL_MS:g} ms after `warm_up`."
    return f"{_table(['first call of', *heads], lines)}\n\n{limit}"


def _cpu_markdown(record: Results) -> str:
    """Return a table for one thread and for all cores, and where it was measured."""
    about = record.hosts["chromium"]
    versions = ", ".join(f"{name} {text}" for name, text in about["versions"].items())
    note = f" {about['note']}" if "note" in about else ""
    before, after = about["load"]
    machine = record.machine.replace(CPU, "")
    parts = [
        f"Measured on {machine}, {record.date}, {about['browser']}; {versions}. Load "
        f"of the machine before {before:g}, after {after:g}.{note}",
        _titled("One thread", cpu_table(record, 1)),
    ]
    if about["threads"] > 1:
        title = f"{about['threads']} threads; NumPy has one"
        parts.append(_titled(title, cpu_table(record, about["threads"])))
    return "\n\n".join(filter(None, parts)) + "\n"


def cpu_table(record: Results, threads: int) -> str:
    """Return a line per workload: rates, and ours to the best peer's."""
    lines = []
    for workload in cpu_workloads(tiny=record.machine.endswith(TINY)):
        rows = {
            name: _cpu_best(record, workload.name, name, threads) for name in CPU_TITLES
        }
        if any(rows.values()):
            cells = {CPU_TITLES[name][0]: _cpu_cell(row) for name, row in rows.items()}
            peers = [row for name, row in rows.items() if name != "tensorweb"]
            unit = "µs" if workload.unit == "launches/ms" else workload.unit
            lines.append(
                {
                    "workload": f"{workload.name}, {unit}",
                    **cells,
                    "ours / best peer": _ratio(rows["tensorweb"], _best(peers)),
                }
            )
    return _columns(lines)


def _cpu_best(record: Results, workload: str, library: str, threads: int) -> Row | None:
    """Return the best correct row of a library; of peers also a less exact one."""
    key = (workload, library, threads if CPU_TITLES[library][1] else 1)
    return _best(
        row
        for row in record.rows
        if (row["workload"], row["library"], row["threads"]) == key
        and (row["ok"] or (library != "tensorweb" and row["err"] <= LOOSE))
    )


def _cpu_cell(row: Row | None) -> str:
    """Return a rate, or the time of a launch, and whether it went through `jit`."""
    if row is None:
        return ""
    value = row["ms"] * 1e3 if row["unit"] == "launches/ms" else row["rate"]
    text = _number(value) + ("" if row["ok"] else MARK)
    return f"{text} (jit)" if " jit," in row["impl"] else text


def _ours(record: Results, workload: str, host: str) -> list[Row]:
    """Return our rows whose results share a submit, where there are such."""
    plain = record.exact(workload, host) or record.exact(workload, f"{host}, {ALONE}")
    return [*filter(None, (plain, record.exact(workload, f"{host}, {JIT}")))]


def _best(rows: Iterable[Row | None]) -> Row | None:
    return min(filter(None, rows), key=lambda row: float(row["ms"]), default=None)


def _ratio(own: Row | None, other: Row | None, digits: int = 2) -> str:
    return f"{other['ms'] / own['ms']:.{digits}f}" if own and other else ""


def _share(record: Results, own: Row | None) -> str:
    """Return the share of the copy or multiply-add ceiling that a rate reaches."""
    if own is None:
        return ""
    kind = "ceiling_fma" if own["unit"] == "GFLOP/s" else "ceiling_copy"
    rates = [row["rate"] for row in record.rows if row["workload"].startswith(kind)]
    return f"{own['rate'] / max(rates):.0%}" if rates else ""


def _named(row: Row | None) -> str:
    """Return a rate, with the peer's name and whether it went through a `jit`."""
    if row is None:
        return ""
    impl = row["impl"]
    names = [name for name in PEERS if impl.startswith(name)]
    names += [JIT] if impl.endswith(f" {JIT}") else []
    names += impl.split()[1:] if impl.startswith(PYTORCH) else []
    return f"{_rate(row)} ({' '.join(names)})" if names else _rate(row)


def _rate(row: Row | None, key: str = "rate") -> str:
    rate = row.get(key) if row else None
    return "" if rate is None else _number(rate)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _time(row: Row | None) -> str:
    return _milliseconds(row["ms"]) if row else ""


def _milliseconds(number: float | None) -> str:
    return "" if number is None else f"{_number(number)} ms"


def _cost(row: Row | None, unit: str, limit: float) -> str:
    """Return a time or a rate; a time above its limit as a multiple of it."""
    if row is None:
        return ""
    scale = {"ms": 1.0, "µs": 1e3}.get(unit)
    value = row["ms"] * scale if scale else row["rate"]
    text = f"{_number(value)} {unit}"
    is_above = limit and value > limit
    return f"{text}, {value / limit:.2g} times the limit" if is_above else text


def _titled(title: str, table: str) -> str:
    return f"{title}.\n\n{table}" if table else ""


def _columns(lines: list[dict[str, str]], *, all_columns: bool = False) -> str:
    """Return a table of lines by column, without columns that are empty."""
    if not lines:
        return ""
    heads = [h for h in lines[0] if all_columns or any(line[h] for line in lines)]
    return _table(heads, [[line[head] for head in heads] for line in lines])


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *lines))
