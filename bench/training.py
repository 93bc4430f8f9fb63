"""`bench train`: training steps of tensorweb beside its peers, in one Chromium.

All libraries begin with the same numbers and learn from the same batch by Adam, so
their losses must agree.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from bench import kit, results
from bench.ceilings import warming
from bench.kernels import install_peers
from bench.kit import BenchError
from bench.page import add_browser_arguments, measured
from bench.results import Row
from bench.train.gpt2 import SHAPES
from bench.train.models import SIZES, data, parameters
from bench.train.values import FIRST_SEED

LIBRARIES = ("tensorweb", "jaxjs", "tfjs")

AGREEMENT = 1e-4
"""By how much losses may differ at the most."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    add_browser_arguments(parser)
    names = ",".join(LIBRARIES)
    parser.add_argument("--libs", default=names, help=f"of {names}")
    parser.add_argument("--w", default="", metavar="PART", help="only names with this")
    parser.add_argument("--tiny", action="store_true", help="sizes for a software GPU")
    parser.add_argument("--seconds", type=float, default=900, help="stop after these")
    parser.add_argument(
        "--torch", action="store_true", help="PyTorch on CUDA instead, no browser"
    )


def run(options: argparse.Namespace) -> None:
    """Measure and save.

    Raises:
        BenchError: a library or the browser is missing, or losses differ.
    """
    if options.torch:
        from bench.train.torch_steps import measure

        host = "pytorch"
        about, rows = measure(options.w, options.tiny)
    else:
        libraries = [name for name in options.libs.split(",") if name]
        if unknown := set(libraries) - set(LIBRARIES):
            raise BenchError(f"--libs: unknown {', '.join(sorted(unknown))}")
        install_peers(libraries)
        host = "chromium"
        about = measured(options, "train.html", _write_specification)
        rows = about.pop("rows")
        about["versions"] = {**kit.versions(), "browser": about.pop("browser", "")}
    path = results.save(options, host, about, rows)
    print(f"\nsaved to {path}")
    if told := disagreements(results.load(path).rows):
        raise BenchError("; ".join(told))


def disagreements(rows: list[Row]) -> list[str]:
    """Return where losses of one network differ between libraries, in words."""
    found = []
    for network in SIZES:
        losses = {
            row["impl"]: row["losses"]
            for row in rows
            if row["workload"] == network and row.get("losses")
        }
        for step, place in (("first", 0), ("twentieth", 1)):
            numbers = {impl: pair[place] for impl, pair in losses.items()}
            if numbers and max(numbers.values()) - min(numbers.values()) > AGREEMENT:
                found.append(f"{network}: losses of the {step} step differ: {numbers}")
    return found


def specified(network: str, *, tiny: bool) -> dict[str, Any]:
    """Return what a library must know of a network, as JSON."""
    size = SIZES[network][tiny]
    inputs, letters, labels, classes = data(network, size)
    rows = enumerate(parameters(network, size).items(), FIRST_SEED)
    return {
        "name": network,
        "layers": size.layers,
        "inputs": {"shape": inputs, "kinds": letters},
        "labels": {"shape": labels, "kinds": classes},
        "tokens": size.batch * size.length,
        "unit": "tokens/s" if letters else "images/s",
        "parameters": [
            {
                "name": name,
                "seed": seed,
                "shape": start.shape,
                "limit": start.limit,
                "constant": start.constant,
            }
            for seed, (name, start) in rows
        ],
    }


def _write_specification(folder: Path, options: argparse.Namespace) -> None:
    """Write what the page shall do, and the files that it fetches."""
    wheel = kit.wheel(options.wheel, folder)
    if wheel.parent != folder:
        (folder / wheel.name).write_bytes(wheel.read_bytes())
    specification = {
        "base": "../../",
        "host": "Chromium",
        "wheel": f"../{wheel.name}",
        "sources": f"../{kit.sources(folder).name}",
        "tiny": options.tiny,
        "libraries": options.libs.split(","),
        "warming": warming(tiny=options.tiny),
        "networks": [
            specified(name, tiny=options.tiny) for name in SIZES if options.w in name
        ],
        "forward": [
            {
                "name": name,
                "tokens": sizes[options.tiny].tokens,
                "unit": "tokens/s",
            }
            for name, sizes in SHAPES.items()
            if options.w in name
        ],
    }
    (folder / "specification.json").write_text(json.dumps(specification), "utf-8")
