"""`bench merge`: join files of results measured on one machine into one."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench import results


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument("files", type=Path, nargs="+", help="newest last")
    parser.add_argument("--machine", help="the machine in plain words")


def run(options: argparse.Namespace) -> None:
    """Write the joined file; later rows replace earlier ones, and say of which day.

    Raises:
        BenchError: a file has another shape.
    """
    first, *others = (results.load(path) for path in options.files)
    first.machine = options.machine or first.machine
    for found in others:
        if found.date != first.date:
            found.rows = [{**row, "date": found.date} for row in found.rows]
        first.merge({**found.hosts, **first.hosts}, found.rows)
    target = options.out or results.path_for(first.machine)
    results.write(target, first)
    print(f"saved to {target}")
