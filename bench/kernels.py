"""`bench kernels`: tensorweb beside its peers, in one Node process on one Dawn."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import kit, results
from bench.ceilings import ceilings, warming
from bench.families import TABLES, of_table
from bench.kit import BENCH, BenchError

LIBRARIES = {
    "tensorweb": "",
    "jaxjs": "@jax-js/jax",
    "tfjs": "@tensorflow/tfjs-core",
    "ortweb": "onnxruntime-web",
}
"""Names on the command line, and the npm package that a peer needs."""

VENDOR = BENCH / "js/vendor"

SWITCHING = "--experimental-wasm-stack-switching"
"""Lets Python wait in Node before 24; later ones can by themselves."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        "--libs",
        default=",".join(LIBRARIES),
        help="of tensorweb, jaxjs, tfjs, ortweb; a peer not installed is installed",
    )
    parser.add_argument(
        "--table", choices=TABLES, default="kernels", help="which rows; default kernels"
    )
    parser.add_argument("--w", metavar="PATTERN", help="only workloads that match")
    parser.add_argument("--tiny", action="store_true", help="sizes for a software GPU")
    parser.add_argument("--ms", type=int, default=250, help="milliseconds a case")
    parser.add_argument("--launches", action="store_true", help="the launch path too")
    parser.add_argument(
        "--liftoff",
        action="store_true",
        help="V8's fast compiler only: saves ONNX Runtime's minute of compilation, "
        "slows everything that runs on the CPU in WebAssembly, Python included",
    )
    parser.add_argument("--profile", action="store_true", help="print Python's profile")
    parser.add_argument("--seconds", type=float, default=1800, help="stop after these")


def run(options: argparse.Namespace) -> None:
    """Measure and save.

    Raises:
        BenchError: Node or a package is missing, or Node failed.
    """
    names = [name for name in options.libs.split(",") if name]
    if unknown := set(names) - LIBRARIES.keys():
        raise BenchError(f"--libs: unknown {', '.join(sorted(unknown))}")
    install_peers(names)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        specification = {
            "libraries": names,
            "wheel": str(kit.wheel(options.wheel, folder)),
            "sources": str(kit.sources(folder)),
            "tiny": options.tiny,
            "budget": options.ms,
            "launches": options.launches,
            "liftoff": options.liftoff,
            "profile": options.profile,
            "versions": kit.versions(),
            "warming": warming(tiny=options.tiny),
            "ceilings": [asdict(row) for row in ceilings(tiny=options.tiny)],
            "workloads": _rows(options),
        }
        found = _node(folder, specification, options.seconds)
    about = {key: value for key, value in found.items() if key != "rows"}
    print(f"\nsaved to {results.save(options, 'node', about, found['rows'])}")


def _rows(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the wanted rows for JavaScript.

    Those of the families bring their samples, which need NumPy, while JavaScript has
    the references of the kernels itself.
    """
    rows = of_table(options.table, options.w, tiny=options.tiny)
    if options.table == "kernels":
        return [row.as_json() for row in rows]
    from bench import sampling

    return [sampling.as_json(row) for row in rows]


def install_peers(names: list[str], tfjs: str = "tfjs") -> None:
    """Install the peers that are asked for and not there; join TensorFlow.js's files.

    Args:
        names: of `LIBRARIES`; others need nothing.
        tfjs: which of TensorFlow.js's entries in `js/` is joined.

    Raises:
        BenchError: npm or esbuild failed.
    """
    needed = [LIBRARIES[name] for name in names if LIBRARIES.get(name)]
    if "tfjs" in names and tfjs == "tfjs-wasm":
        needed.append("@tensorflow/tfjs-backend-wasm")
    if any(kit.npm_version(package) is None for package in needed):
        from tools import environment, process

        npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        process.output([*npm, "--prefix", BENCH], env=environment.variables())
    joined = VENDOR / f"{tfjs}.mjs"
    if "tfjs" in names and not joined.is_file():
        from tools import environment, process

        esbuild = environment.npm_tool("esbuild", "bin/esbuild")
        entry = BENCH / f"js/{tfjs}-entry.mjs"
        flags = ["--bundle", "--format=esm", "--platform=browser", "--minify"]
        process.output([*esbuild, entry, *flags, f"--outfile={joined}"])


def _node(
    folder: Path, specification: dict[str, Any], seconds: float
) -> dict[str, Any]:
    """Run Node and return what it measured, also when it was stopped on the way."""
    specification_path = folder / "specification.json"
    results_path = folder / "results.json"
    specification_path.write_text(json.dumps(specification), "utf-8")
    program = kit.node()
    flags = [f"--v8-pool-size={os.cpu_count()}"]
    flags += ["--liftoff-only"] if specification["liftoff"] else []
    if _major(program) < 24:
        flags.append(SWITCHING)
    command = [program, *flags, str(BENCH / "js/main.mjs")]
    env = {"XDG_RUNTIME_DIR": str(folder), **os.environ}  # Dawn warns without it
    try:
        code = subprocess.run(
            [*command, str(specification_path), str(results_path)],
            timeout=seconds,
            check=False,
            env=env,
        ).returncode
    except subprocess.TimeoutExpired:
        print(f"stopped after {seconds:.0f} s; what was measured is kept")
        code = 0
    if not results_path.is_file():
        raise BenchError(f"Node ended with code {code} and measured nothing")
    found: dict[str, Any] = json.loads(results_path.read_text("utf-8"))
    return found


def _major(program: str) -> int:
    shown = subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=True
    ).stdout
    found = re.match(r"v(\d+)\.", shown)
    return int(found[1]) if found else 0
