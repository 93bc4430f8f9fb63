"""The command line: `python3 build.py fuzz SECONDS SEED`.

Draws one graph after another, runs each on every device, and counts operations. The
first failure is made small and printed as a program; the exit code is 1. With
`--outputs` it compares outputs of one flush with each of them computed alone, with
`--pairs` every operation in front of every other with `cpu`: the seed `3/16` goes
through part 3 of 16 of that matrix once. `--dawn NUMPY` does the same inside Pyodide,
under Node with Dawn, the WebGPU of Chromium.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzz import keys, meetings, outputs, pairs
from fuzz.program import LARGE_ELEMENTS, MOST_ELEMENTS, Drawing, Program, Unfit
from fuzz.running import MANNERS, Failure, can_jit, lines, run
from fuzz.shrinking import shrink, text_of
from fuzz.steps import add_step
from tensorweb.devices import DEVICES
from tensorweb.devices import device as using_device
from tools import in_pyodide
from tools.process import ROOT, status

CURRENT = Path(".cache") / "fuzz-current.txt"
"""Holds the graph that runs, so that a crash or a hang can be found again."""

SLOW = 60.0
"""Seconds from which on a graph is mentioned."""


@dataclass(slots=True)
class Tally:
    """What has been run.

    Attributes:
        operations: by device.
        names: how often each operation was drawn.
        elements, known: compared results' elements, and those with a narrow bound.
    """

    operations: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    graphs: int = 0
    failures: int = 0
    elements: int = 0
    known: float = 0.0
    started: float = field(default_factory=time.monotonic)

    def line(self) -> str:
        seconds = time.monotonic() - self.started
        total = sum(self.operations.values())
        devices = ", ".join(f"{self.operations[d]:,} on {d}" for d in DEVICES)
        share = 100 * self.known / max(self.elements, 1)
        return (
            f"{seconds:7.0f} s  {self.graphs:,} graphs, operations: {devices} "
            f"({total / max(seconds, 1e-9):.0f}/s), {share:.2f} % of "
            f"{self.elements:,} elements bounded, {self.failures} failures"
        )


def drawn(seed: str) -> Program:
    """Return the random program of a seed."""
    rng = random.Random(seed)
    program = Program(is_wide=rng.random() < 0.2)
    most = LARGE_ELEMENTS if rng.random() < 0.02 else MOST_ELEMENTS
    draw = Drawing(rng, program, most, rng.choice((0.0, 0.3, 0.3, 1.0)))
    length = rng.choice((4, 8, 12, 20, 30)) if most == MOST_ELEMENTS else 6
    draw.leaf(draw.any_shape(), "float32")
    draw.leaf(draw.any_shape(), draw.dtype())
    tries = 0
    while program.count < length and tries < 12 * length:
        tries += 1
        try:
            add_step(draw)
        except Unfit:
            continue
    return program


def manners_for(program: Program, device: str, rng: random.Random) -> list[str]:
    """Return how a program is run: lazily, and in one other manner."""
    others = [name for name in MANNERS[1:] if name != "jit" or can_jit(program)]
    if device == "cpu":
        others = [name for name in others if name != "jit"]
    elif "jit" in others and rng.random() < 0.4:
        return ["lazy", "jit"]
    return ["lazy", rng.choice(others)]


def check_graph(
    seed: str, devices: tuple[str, ...], tally: Tally
) -> tuple[Program, Failure] | None:
    """Draw and run one graph; return it with its failure, if there is one."""
    program = drawn(seed)
    rng = random.Random(f"{seed} manner")
    tally.graphs += 1
    for step in program.steps:
        tally.names[step.operation] += 1
    for number in program.sinks:
        ball = program.balls[number]
        tally.elements += ball.centre.size
        tally.known += ball.known * ball.centre.size
    for device in devices:
        if program.is_wide and device != "cpu":
            continue
        for manner in manners_for(program, device, rng):
            note(f"{seed} {device} {manner}")
            failure = run(program, device, manner, seed)
            tally.operations[device] += program.count
            if failure is not None:
                return program, failure
    return None


BATCH = 16
"""Graphs that a page runs before it answers."""


def check_in_page(options: argparse.Namespace, tally: Tally) -> None:
    """Run graphs in a browser's page until the time is over or one fails."""
    from fuzz.pages import opened, run_all

    index = options.graph or 0
    with opened(options.page) as page:
        while time.monotonic() - tally.started < options.seconds:
            batch = []
            for _ in range(1 if options.graph is not None else BATCH):
                seed = f"{options.seed}-{index}"
                program = drawn(seed)
                rng = random.Random(f"{seed} manner")
                manners = [
                    name for name in MANNERS if name != "jit" or can_jit(program)
                ]
                batch.append((program, rng.choice(manners), seed))
                tally.operations["cpu"] += program.count
                index += 1
            tally.graphs += len(batch)
            note(f"{batch[0][2]} {options.page}, or one of the {len(batch)} from it on")
            answers = zip(batch, run_all(page, batch), strict=True)
            for (program, manner, seed), failure in answers:
                if failure is not None:
                    tally.failures += 1
                    text = "\n".join(lines(program, manner, seed))
                    print(f"\ngraph {seed}: {failure}\n{text}", flush=True)
            if options.graph is not None or (tally.failures and not options.all):
                return


def check_outputs(options: argparse.Namespace, tally: Tally) -> None:
    """Compare outputs of one flush until the time is over or some differ."""
    index = options.graph or 0
    names = (options.device,) if options.device else tuple(DEVICES)
    while time.monotonic() - tally.started < options.seconds:
        seed = f"{options.seed}-{index}"
        for device in names:
            note(f"{seed} {device} --outputs")
            program = outputs.drawn(seed, outputs.dtypes_of(device))
            tally.operations[device] += len(program.outputs)
            if program.wrong(device):
                tally.failures += 1
                small = outputs.smaller(program, device)
                print(f"\ngraph {seed} on {device}: together wrong\n{small.text}")
        tally.graphs += 1
        index += 1
        if options.graph is not None or (tally.failures and not options.all):
            return


SUITES: dict[str, Callable[[str], Iterator[str]]] = {
    "keys": keys.failures,
    "pairs": pairs.failures,
    "meetings": meetings.failures,
}
"""Cases that are no graphs: what fails in that of a seed, in words."""

COUNTS: dict[str, Callable[[str], int | None]] = {"pairs": pairs.count_of}
"""How many cases a seed has, where they end."""


def check_suite(name: str, options: argparse.Namespace) -> int:
    """Run the cases of a suite until the time is over; return how many failed."""
    started, index, failed = time.monotonic(), options.graph or 0, 0
    devices = (options.device,) if options.device else tuple(DEVICES)
    count = COUNTS[name](options.seed) if name in COUNTS else None
    while time.monotonic() - started < options.seconds and index != count:
        for device_name in devices:
            note(f"{name} {options.seed}-{index} {device_name}")
            with using_device(device_name):
                for words in SUITES[name](f"{options.seed}-{index}"):
                    failed += 1
                    print(f"{name} {index} on {device_name}: {words}", flush=True)
        index += 1
        if options.graph is not None or (failed and not options.all):
            break
    print(f"{name}: {index} cases on {' and '.join(devices)}, {failed} failures")
    return failed


def note(text: str) -> None:
    """Keep what runs now in a file."""
    CURRENT.parent.mkdir(exist_ok=True)
    CURRENT.write_text(text)


def report(seed: str, program: Program, failure: Failure) -> None:
    """Print a failure, made small, as a program."""
    print(f"\nfailure in graph {seed} ({failure.device}, {failure.manner}):")
    print(f"  {failure.words}\n  {failure.line}", flush=True)

    def fails(candidate: Program) -> Failure | None:
        if failure.manner == "jit" and not can_jit(candidate):
            return None
        found = run(candidate, failure.device, failure.manner, seed)
        lazy = "lazy" if failure.manner not in ("jit", "lazy") else ""
        return found or (run(candidate, failure.device, lazy, seed) if lazy else None)

    small, cause = shrink(program, failure, fails)
    print("\n" + text_of(small, cause, seed) + "\n", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Fuzz for some seconds; return 1 when something failed."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser().parse_args(arguments)
    if options.dawn:
        return inside_pyodide(options.dawn, arguments)
    if options.suite:
        return 1 if check_suite(options.suite, options) else 0
    devices = (options.device,) if options.device else tuple(DEVICES)
    tally = Tally()
    shown = time.monotonic()
    index = options.graph or 0
    other = (
        check_in_page if options.page else check_outputs if options.outputs else None
    )
    if other is not None:
        other(options, tally)
    while other is None and time.monotonic() - tally.started < options.seconds:
        seed = f"{options.seed}-{index}"
        began = time.monotonic()
        found = check_graph(seed, devices, tally)
        if time.monotonic() - began > SLOW:
            print(f"slow: graph {seed} took {time.monotonic() - began:.0f} s")
        if found is not None:
            tally.failures += 1
            report(seed, *found)
            if not options.all:
                break
        if time.monotonic() - shown > 30:
            shown = time.monotonic()
            print(tally.line(), flush=True)
        if options.graph is not None:
            break
        index += 1
    print(tally.line())
    if options.names:
        print(", ".join(f"{name} {count}" for name, count in tally.names.most_common()))
    return 1 if tally.failures else 0


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
    made.add_argument("seconds", type=float, help="how long to go on")
    made.add_argument("seed", help="the same seed draws the same graphs")
    made.add_argument("--device", choices=DEVICES, help="only this one")
    made.add_argument(
        "--page", choices=("chromium", "firefox"), help="cpu in a browser's page"
    )
    made.add_argument("--dawn", type=Path, help="in Pyodide; NumPy's wheel for it")
    made.add_argument(
        "--outputs", action="store_true", help="several of one flush, not graphs"
    )
    for name in SUITES:
        made.add_argument(
            f"--{name}",
            dest="suite",
            action="store_const",
            const=name,
            help=f"no graphs, but what fuzz/{name}.py draws",
        )
    made.add_argument("--graph", type=int, help="only this graph of the seed")
    made.add_argument("--all", action="store_true", help="go on after a failure")
    made.add_argument("--names", action="store_true", help="count the operations")
    return made


if __name__ == "__main__":
    sys.exit(main())
