"""The command line of the benchmarks: `python3 build.py bench [COMMAND]`.

Without a command it measures the table of kernels and the launch path, PyTorch where
it is installed, then reports.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from bench.kit import BenchError

COMMANDS = {
    "page": "start, launches, reads and transfers in Chromium; --kernels for the table",
    "kernels": "the table of kernels beside the peers, in Node with Dawn",
    "cpu": "the CPU beside NumPy and the peers' WebAssembly, in Chromium",
    "train": "training steps beside the peers, and GPT-2 forward, in Chromium",
    "native": "the table of kernels and the launch path through wgpu-py",
    "derivatives": "what derivatives cost Python, and memory over 10,000 steps",
    "torch": "the same workloads in PyTorch on CUDA, for reference",
    "merge": "join files of results of one machine",
    "report": "print a file of results as tables, or write them into the documents",
}

MODULES = {"torch": "torch_reference", "train": "training"}
"""Modules of commands that have another name."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given:
        measured = main(["kernels", "--launches"])
        if not measured and importlib.util.find_spec("torch"):
            measured = main(["torch"])
        return measured or main(["report"])
    parser = argparse.ArgumentParser(prog="build.py bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, summary in COMMANDS.items():
        added = commands.add_parser(name, help=summary, description=summary)
        # Only the wanted module: not every machine has what the others import.
        if given[:1] == [name]:
            _add_arguments(added, name)
    options = parser.parse_args(given)
    try:
        _module(options.command).run(options)
    except (BenchError, ValueError) as error:
        print(f"\nbench {options.command}: {error}", file=sys.stderr)
        return 1
    return 0


def _add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    parser.add_argument("--out", type=Path, metavar="FILE", help="file of results")
    if command not in ("merge", "report"):
        parser.add_argument("--machine", help="the machine in plain words")
        parser.add_argument("--note", help="what a reader of the results should know")
        parser.add_argument("--wheel", type=Path, help="instead of a fresh build")
    _module(command).add_arguments(parser)


def _module(command: str) -> ModuleType:
    return importlib.import_module(f"bench.{MODULES.get(command, command)}")


if __name__ == "__main__":
    sys.exit(main())
