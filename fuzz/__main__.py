"""The command line: `python3 build.py fuzz SECONDS SEED`.

Draws one graph after another and runs each on every device; `--pairs`, `--keys`
and `--meetings` draw the cases of the module of that name. The first failure
is printed and ends the run with exit code 1. `--dawn NUMPY` runs inside Pyodide, under
Node with Dawn, the WebGPU of Chromium.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from fuzz import graphs, keys, meetings, pairs
from tensorweb.devices import DEVICES
from tensorweb.devices import device as using_device
from tools import in_pyodide
from tools.process import ROOT, status

CURRENT = Path(".cache") / "fuzz-current.txt"
"""The case that runs, so that a crash or a hang can be repeated."""

SUITES: dict[str, Callable[[str], Iterator[str]]] = {
    "graphs": graphs.failures,
    "keys": keys.failures,
    "pairs": pairs.failures,
    "meetings": meetings.failures,
}
"""By name: yields what fails in the case of a seed on the default device, in words."""


def check(options: argparse.Namespace) -> int:
    """Run cases until the time is over or one fails; return how many failed."""
    started = shown = time.monotonic()
    index, failed = options.graph or 0, 0
    devices = (options.device,) if options.device else tuple(DEVICES)
    count = pairs.count_of(options.seed) if options.suite == "pairs" else None
    while time.monotonic() - started < options.seconds and index != count:
        seed = f"{options.seed}-{index}"
        for device in devices:
            note(f"{options.suite} {seed} {device}")
            with using_device(device):
                for words in SUITES[options.suite](seed):
                    failed += 1
                    print(f"{options.suite} {seed} on {device}: {words}", flush=True)
        index += 1
        if options.graph is not None or (failed and not options.all):
            break
        if options.suite == "graphs" and time.monotonic() - shown > 30:
            shown = time.monotonic()
            print(graphs.TALLY.line(), flush=True)
    print(f"{index} cases on {' and '.join(devices)}, {failed} failures")
    return failed


def note(text: str) -> None:
    """Write the case that runs into a file."""
    CURRENT.parent.mkdir(exist_ok=True)
    CURRENT.write_text(text)


def main(arguments: list[str] | None = None) -> int:
    """Fuzz for some seconds; return 1 when something failed."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser().parse_args(arguments)
    if options.dawn:
        return inside_pyodide(options.dawn, arguments)
    failed = check(options)
    if options.suite == "graphs":
        print(graphs.TALLY.line())
    if options.names:
        names = graphs.TALLY.names.most_common()
        print(", ".join(f"{name} {count}" for name, count in names))
    return 1 if failed else 0


PROGRAM = """
import sys
sys.path.insert(0, {root!r})
import os
os.chdir({root!r})
import tensorweb
await tensorweb.open_device_async("webgpu")
from fuzz.__main__ import main
main({arguments!r})
"""


def inside_pyodide(numpy: Path, arguments: Sequence[str]) -> int:
    """Run the command line inside Pyodide, with NumPy's wheel for it and Dawn."""
    rest = list(arguments)
    at = rest.index("--dawn")
    del rest[at : at + 2]
    program = PROGRAM.format(root=str(ROOT), arguments=rest)
    return status(in_pyodide.node_command(program, [str(ROOT)], [str(numpy)]))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="build.py fuzz", description=__doc__)
    made.add_argument("seconds", type=float, help="how long to continue")
    made.add_argument("seed", help="the same seed draws the same cases")
    made.add_argument("--device", choices=DEVICES, help="only this one")
    made.add_argument("--dawn", type=Path, help="in Pyodide; NumPy's wheel for it")
    for name in list(SUITES)[1:]:
        made.add_argument(
            f"--{name}",
            dest="suite",
            action="store_const",
            const=name,
            default="graphs",
            help=f"no graphs, but the cases of fuzz/{name}.py",
        )
    made.add_argument("--graph", type=int, help="only this case of the seed")
    made.add_argument("--all", action="store_true", help="continue after a failure")
    made.add_argument("--names", action="store_true", help="count the operations")
    return made


if __name__ == "__main__":
    sys.exit(main())
