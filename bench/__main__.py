"""The command line of the benchmarks: `python3 build.py bench [COMMAND]`.

Without a command it measures the kernels and the launch path, then reports.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import report, results
from bench.results import BENCH, ROOT, BenchError, Row

PEERS = {
    "jaxjs": "@jax-js/jax",
    "tfjs": "@tensorflow/tfjs-core",
}
"""Names on the command line, and the npm package of each."""

VENDOR = BENCH / "js/vendor"

SWITCHING = "--experimental-wasm-stack-switching"
"""Lets Python wait in Node before 24; later ones can by themselves."""

LOSSES_MAY_DIFFER = 1e-4


def kernels(options: argparse.Namespace) -> None:
    """Measure a table and the peers', in Node with Dawn; --launches for launches."""
    from bench.programs import checked_json
    from bench.workloads import chosen

    names = libraries(options.libs, ("tensorweb", *PEERS))
    install_peers(names)
    rows = chosen(options.table, options.w, tiny=options.tiny)
    extra = {"workloads": [checked_json(row) for row in rows], "libraries": names}
    _in_node(options, extra)


def page(options: argparse.Namespace) -> None:
    """Measure start, pictures, launches and reads in Chromium; --kernels: the table."""
    from bench.programs import checked_json
    from bench.workloads import chosen

    rows = chosen(options.table, options.w, tiny=options.tiny)
    is_opened = options.kernels or not options.no_launches
    extra = {
        "site": "../../index.html",
        "starts": not options.no_starts,
        "looks": not options.no_looks,
        "network": f"_{options.mbit:g}_mbit" if options.mbit else "",
        "launches": not options.no_launches,
        "workloads": [checked_json(row) for row in rows] if options.kernels else [],
        "libraries": ["tensorweb"] if is_opened else [],
    }
    _in_browser(options, extra)


def train(options: argparse.Namespace) -> None:
    """Measure training in Chromium; --node for Dawn, --torch for PyTorch."""
    from bench.training import FORWARD, SIZES, as_json

    if options.torch:
        importlib.import_module("bench.pytorch").run(options)
        return
    networks = [name for name in (*SIZES, *FORWARD) if (options.w or "") in name]
    extra = {
        "networks": [as_json(name, tiny=options.tiny) for name in networks],
        "libraries": ["tensorweb"],
        "launches": False,
    }
    path = (_in_node if options.node else _in_browser)(options, extra)
    if texts := disagreements(results.load(path).rows):
        raise BenchError("; ".join(texts))


def disagreements(rows: list[Row]) -> list[str]:
    """Return where losses of one network differ between libraries, in words."""
    differences = []
    for network in sorted({row["workload"] for row in rows if row.get("losses")}):
        for index, step in enumerate(("first", "twentieth")):
            losses = {
                row["impl"]: row["losses"][index]
                for row in rows
                if row["workload"] == network and row.get("losses")
            }
            if max(losses.values()) - min(losses.values()) > LOSSES_MAY_DIFFER:
                differences.append(
                    f"{network}: losses of the {step} step differ: {losses}"
                )
    return differences


def cpu(options: argparse.Namespace) -> None:
    """Measure the CPU, NumPy and the peers' WebAssembly in Chromium."""
    from bench.programs import checked_json
    from bench.workloads import chosen

    rows = contenders(options.libs, options.threads)
    install_peers([row["library"] for row in rows], tfjs="tfjs-wasm")
    numpy = max((options.wheels or Path()).glob("numpy-*_wasm32.whl"), default=None)
    numpy = numpy if options.wheels else None
    before = os.getloadavg()

    def specify(folder: Path) -> dict[str, Any]:
        if numpy:
            shutil.copyfile(numpy, folder / numpy.name)
        workloads = chosen("cpu", options.w, tiny=options.tiny)
        return {
            **_specification(options, folder),
            "contenders": rows,
            "numpy": f"../{numpy.name}" if numpy else None,
            "rounds": options.rounds,
            "workloads": [checked_json(row) for row in workloads],
        }

    from bench.browser import measured

    posted = measured(options, ROOT / "node_modules", specify)
    measured_rows = posted.pop("rows")
    options.machine = options.machine or f"{os.cpu_count()} cores"
    about = {**posted, "driver": options.machine, "threads": options.threads}
    about["load"] = [round(before[0], 2), round(os.getloadavg()[0], 2)]
    about["versions"] = results.versions()
    if numpy:
        about["versions"]["NumPy"] = numpy.name.split("-")[1]
    options.machine += results.CPU
    results.save(options, "chromium", about, measured_rows)


def contenders(names: str | None, threads: int) -> list[dict[str, Any]]:
    """Return what the page opens: a library with one thread, or with all cores.

    Raises:
        BenchError: a name is unknown.
    """
    rows = []
    for name in libraries(names, ("tensorweb", "numpy", *PEERS)):
        title, has_threads = report.CPU_TITLES[name]
        for count in sorted({1, threads}) if has_threads else [1]:
            plural = "thread" if count == 1 else "threads"
            row = {"library": name, "threads": count}
            rows.append({**row, "title": f"{title}, {count} {plural}"})
    return rows


def native(options: argparse.Namespace) -> None:
    """Measure a table and the launch path through wgpu-py."""
    importlib.import_module("bench.native").run(options)


def torch(options: argparse.Namespace) -> None:
    """Measure a table in PyTorch on CUDA, for reference."""
    importlib.import_module("bench.pytorch").run(options)


def show(options: argparse.Namespace) -> None:
    """Print results as tables, or --write the newest into the documents."""
    if options.write:
        report.write()
        return
    for path in options.files or [results.newest()]:
        print(report.markdown(results.load(path)))


COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {
    "kernels": kernels,
    "page": page,
    "train": train,
    "cpu": cpu,
    "native": native,
    "torch": torch,
    "report": show,
}


def libraries(given: str | None, known: tuple[str, ...]) -> list[str]:
    """Return the libraries that a comma-separated list names, all without one.

    Raises:
        BenchError: a name is unknown.
    """
    names = [name for name in (given or "").split(",") if name] or list(known)
    if unknown := set(names) - set(known):
        raise BenchError(f"--libs: unknown {', '.join(sorted(unknown))}")
    return [name for name in known if name in names]


def install_peers(names: list[str], tfjs: str = "tfjs") -> None:
    """Install missing peers, and bundle TensorFlow.js.

    Args:
        names: of `PEERS`; others need nothing.
        tfjs: which of TensorFlow.js's entries in `js/` is bundled.

    Raises:
        BenchError: npm or esbuild failed.
    """
    needed = [PEERS[name] for name in names if name in PEERS]
    if any(results.npm_version(package) is None for package in needed):
        from tools import environment, process

        npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        process.output([*npm, "--prefix", BENCH], env=environment.variables())
    bundle = VENDOR / f"{tfjs}.mjs"
    if "tfjs" in names and not bundle.is_file():
        from tools import environment, process

        esbuild = environment.npm_tool("esbuild", "bin/esbuild")
        entry = BENCH / f"js/{tfjs}-entry.mjs"
        flags = ["--bundle", "--format=esm", "--platform=browser", "--minify"]
        process.output([*esbuild, entry, *flags, f"--outfile={bundle}"])


def _specification(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Return what every page needs, with its files in the folder."""
    wheel = results.wheel(options.wheel, folder)
    if wheel.parent != folder:
        shutil.copyfile(wheel, folder / wheel.name)
    return {
        "pyodide": "/pyodide/",
        "wheel": f"../{wheel.name}",
        "sources": f"../{results.sources(folder).name}",
        "tiny": options.tiny,
        "budget": options.ms,
    }


def _gpu(options: argparse.Namespace) -> dict[str, Any]:
    """Return further fields for `js/run.mjs`, without measurements."""
    from bench.cases import ceilings, warming

    is_table = options.command == "kernels" or options.kernels
    rows = ceilings(tiny=options.tiny) if is_table else []
    return {
        "warming": warming(tiny=options.tiny),
        "ceilings": [row.as_json() for row in rows],
        "workloads": [],
        "networks": [],
        "launches": options.launches,
    }


def _in_browser(options: argparse.Namespace, extra: dict[str, Any]) -> Path:
    from bench.browser import measured

    if not (options.site / "build.json").is_file():
        raise BenchError(f"{options.site} is no site; run `python3 build.py site`")
    gpu = {**_gpu(options), **extra}
    posted = measured(
        options,
        options.site,
        lambda folder: {**_specification(options, folder), **gpu},
    )
    rows = posted.pop("rows")
    posted["versions"] = {**results.versions(), "browser": posted.pop("browser")}
    return results.save(options, "chromium", posted, rows)


def _in_node(options: argparse.Namespace, extra: dict[str, Any]) -> Path:
    """Run Node and save what it measured, also when it was stopped."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        specification = {
            **_specification(options, folder),
            **_gpu(options),
            **extra,
            "pyodide": (ROOT / "node_modules/pyodide").as_uri() + "/",
            "wheel": str(results.wheel(options.wheel, folder)),
            "sources": str(folder / "bench.zip"),
        }
        paths = [folder / "specification.json", folder / "results.json"]
        paths[0].write_text(json.dumps(specification), "utf-8")
        program = _node()
        flags = [f"--v8-pool-size={os.cpu_count()}"]
        flags += [] if _major(program) >= 24 else [SWITCHING]
        command = [program, *flags, str(BENCH / "js/node.mjs"), *map(str, paths)]
        env = {"XDG_RUNTIME_DIR": name, **os.environ}  # Dawn warns without it
        try:
            code = subprocess.run(
                command, timeout=options.seconds, check=False, env=env
            ).returncode
        except subprocess.TimeoutExpired:
            print(f"stopped after {options.seconds:.0f} s; rows until then are saved")
            code = 0
        if not paths[1].is_file():
            raise BenchError(f"Node ended with code {code} and measured nothing")
        posted = json.loads(paths[1].read_text("utf-8"))
    rows = posted.pop("rows")
    posted["versions"] = {"node": posted.pop("node"), **results.versions()}
    return results.save(options, "node", posted, rows)


def _node() -> str:
    """Return the Node program: the build's own, or the one that `remote.sh` packed."""
    packed = ROOT / "node"
    if packed.is_file():
        return str(packed)
    from tools import environment

    return str(environment.node())


def _major(program: str) -> int:
    shown = subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=True
    ).stdout
    match = re.match(r"v(\d+)\.", shown)
    return int(match[1]) if match else 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; commands ignore what they do not use."""
    made = argparse.ArgumentParser(prog="build.py bench", description=__doc__)
    summary = "; ".join(f"{name}: {run.__doc__}" for name, run in COMMANDS.items())
    made.add_argument("command", choices=COMMANDS, help=summary)
    made.add_argument("files", nargs="*", type=Path, help="of report")
    made.add_argument("--table", choices=("kernels", "families"), default="kernels")
    made.add_argument("--w", metavar="PATTERN", help="only workloads that match")
    made.add_argument("--libs", metavar="NAMES", help="only these libraries: a,b")
    made.add_argument("--tiny", action="store_true", help="sizes for a software GPU")
    made.add_argument("--ms", type=int, help="milliseconds a case; cpu: a batch")
    made.add_argument("--rounds", type=int, default=40, help="cpu: batches of a case")
    made.add_argument("--threads", type=int, default=os.cpu_count(), metavar="N")
    made.add_argument("--seconds", type=float, default=3600, help="stop after these")
    made.add_argument("--launches", action="store_true", help="launches, first calls")
    made.add_argument("--kernels", action="store_true", help="page: the table as well")
    made.add_argument("--torch", action="store_true", help="train: PyTorch on CUDA")
    made.add_argument("--node", action="store_true", help="train: in Node with Dawn")
    for name in ("starts", "looks", "launches"):
        made.add_argument(f"--no-{name}", action="store_true", help="page: omit these")
    made.add_argument("--mbit", type=float, help="page: the network's megabits/s")
    made.add_argument("--site", type=Path, default=ROOT / "dist", metavar="DIR")
    made.add_argument("--wheels", type=Path, help="cpu: folder with NumPy's wheel")
    made.add_argument("--wheel", type=Path, help="instead of a fresh build")
    made.add_argument(
        "--chrome-gpu",
        type=Path,
        metavar="PROGRAM",
        help="opens a browser with a GPU at an address; without it SwiftShader",
    )
    made.add_argument("--url", action="store_true", help="open no browser")
    made.add_argument("--machine", help="the machine in plain words")
    made.add_argument("--note", help="what a reader of the results should know")
    made.add_argument("--out", type=Path, metavar="FILE", help="file of results")
    made.add_argument("--write", action="store_true", help="report: the documents")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given:
        return main(["kernels", "--launches"]) or main(["report"])
    options = parser().parse_args(given)
    options.ms = options.ms or (10 if options.command == "cpu" else 250)
    try:
        COMMANDS[options.command](options)
    except (BenchError, ValueError) as error:
        print(f"\nbench {options.command}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
