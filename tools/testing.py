"""Run everything that must hold: checks, unit tests, the site, browser tests.

The browser tests begin when the site is built, next to the unit tests: a page waits for
frames and answers now and then, and leaves a core idle. They run on the site with the
wheels that were asked for. With a folder of wheels, the tests that depend on NumPy in
the site run on a site without the folder too.
Part of the unit tests run inside Pyodide as well, see `tests/in_pyodide`.

Less than everything runs with `--changed`, which `tools/reach.py` selects, with
`--quick`, whose tests `conftest.py` selects, and with `-k`: no checks, and the site
only for browser tests of that name.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tools import checks, environment, machine, process, reach, site
from tools.process import ROOT, BuildError, status
from tools.results import Results

# Seconds that a run may take, several times what two idle cores need: a busy machine
# passes too. The rest of it bounds each pytest.
BUDGET = 60 * 60

SLOWEST = 10

# Two halves, each in order: the tests of a file share kernels, texts and pages.
IN_HALVES = ["-n", "2", "--dist", "worksteal"]

# Browser tests wait for answers now and then, and take longer in all: unit tests fill
# what they leave idle, so that both cores have work to the end.
YIELDING = ["nice", "-n", "5"] if os.name == "posix" else []

UNIT_OPTIONS = ["--doctest-modules", *IN_HALVES]
UNIT_TESTS = ["tests", "tensorweb", *UNIT_OPTIONS]

BROWSER_OPTIONS = IN_HALVES
BROWSER_TESTS = ["e2e", *BROWSER_OPTIONS]

NUMPY_MATTERS = ["e2e", "-m", "numpy_or_not"]

UNIT_STEP = "tests"

LAVAPIPE = {"GALLIVM_PERF": "nopt", "LP_NATIVE_VECTOR_WIDTH": "128"}
"""Mesa's Vulkan for processors: compile quickly. Most kernels of a test run once, and
compiling them takes most of the time."""

NO_TESTS = 5
"""Pytest's exit code when it found nothing to run."""


@dataclass(frozen=True)
class Selection:
    """The tests of a run: pytest's arguments for both steps, empty for no such step.

    Attributes:
        unit: of the unit tests.
        browser: of the browser tests.
        expression: pytest's `-k`; then there are no checks, and a run without tests is
            no failure.
    """

    unit: list[str] = field(default_factory=lambda: UNIT_TESTS)
    browser: list[str] = field(default_factory=lambda: BROWSER_TESTS)
    expression: str | None = None


def select(expression: str | None, *, changed: bool, quick: bool) -> Selection:
    """Return what to run.

    Args:
        expression: pytest's `-k`.
        changed: only tests that the difference from `main` can reach.
        quick: only the unit tests of `--quick`, and no browser.
    """
    unit, browser = UNIT_TESTS, BROWSER_TESTS
    if changed:
        files = reach.changed_files()
        print(f"{len(files)} changed files", flush=True)
        found = reach.reached(files)
        unit = [*found.tests, *found.examples, *UNIT_OPTIONS]
        browser = [*found.browser, *BROWSER_OPTIONS] if found.browser else []
    if quick:
        unit, browser = [*unit, "--quick"], []
    return Selection(unit, browser, expression)


@dataclass
class Report:
    """What happened: a line for each step, and the tests of each pytest."""

    started: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)
    is_failed: bool = False
    is_interrupted: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    results: dict[str, Results] = field(default_factory=dict)

    def add(self, step: str, failure: str = "") -> None:
        """Note how `step` ended; an empty `failure` means well."""
        seconds = time.monotonic() - self.started
        self.lines.append(f"{seconds:7.1f} s  {step}: {failure or 'ok'}")
        self.is_failed = self.is_failed or bool(failure)

    def seconds_left(self) -> float:
        """Return the seconds that remain of the budget, at least 60."""
        return max(60.0, BUDGET - (time.monotonic() - self.started))

    def summary(self) -> list[str]:
        """Return the lines that close a run; the last one has the sums."""
        lines = ["", "== summary", *self.lines]
        for step, results in self.results.items():
            lines += _named("failed", step, results.named("failed"))
            lines += _named("unfinished", step, results.unfinished())
        lines += _slowest(self.results)
        for step, results in self.results.items():
            for reason, names in results.skips().items():
                number = len([t for t in results.tests.values() if t.reason == reason])
                lines += _named(f"skipped, {number}: {reason}", step, names)
        keys = ("passed", "failed", "skipped")
        return [*lines, ", ".join(f"{self.counts[key]} {key}" for key in keys)]


def run(wheels: Path | None, selection: Selection) -> int:
    """Run what is selected and print one summary; return the exit code.

    Args:
        wheels: folder of wheels for the site, as `build.py site` takes it.
        selection: the tests.
    """
    report = Report()
    process.end_as_interrupted()
    # The tests start hundreds of Pythons, and each would compile the library again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    environment.prepare("test")
    machine.prepare()
    report.add("set-up")
    browser, expression = selection.browser, selection.expression
    if expression and browser and not _is_any_selected(browser, expression):
        browser = []
    try:
        with ThreadPoolExecutor() as parallel, _ending_pages(report):
            checked = None if expression else parallel.submit(checks.run)
            sites = _sites(wheels, browser)
            pages = parallel.submit(_test_pages, report, sites, expression)
            _pytest(report, UNIT_STEP, selection.unit, expression)
            if checked:
                report.add("checks", ", ".join(checked.result()))
            pages.result()
    finally:
        print(*report.summary(), sep="\n", flush=True)
    return 1 if report.is_failed else 0


@contextlib.contextmanager
def _ending_pages(report: Report) -> Iterator[None]:
    """End the browser tests of the other thread when this one is interrupted."""
    try:
        yield
    except BaseException:
        report.is_interrupted = True
        process.end_bounded()
        raise


def _test_pages(report: Report, sites: dict[str, Site], expression: str | None) -> None:
    """Build the sites and run their tests; the output is shown at the end of each.

    The next site is built while the tests of one run.
    """
    with ThreadPoolExecutor() as parallel, ThreadPoolExecutor(1) as builder:
        # Without the pages of others, their tests are skipped and say why.
        others = parallel.submit(environment.prepare_elsewhere) if sites else None
        builds = [builder.submit(_build, report, *each) for each in sites.items()]
        for (step, planned), build in zip(sites.items(), builds, strict=True):
            is_built = build.result()
            if others:
                others.result()
            if report.is_interrupted:
                break
            if is_built:
                _test_site(report, step, planned, expression)


def _test_site(
    report: Report, step: str, planned: Site, expression: str | None
) -> None:
    """Run the tests of a site, and show their output."""
    variables = {"TENSORWEB_SITE": str(planned.out)}
    with tempfile.TemporaryFile() as log:
        try:
            _pytest(report, step, planned.arguments, expression, variables, log)
        finally:
            log.seek(0)
            print(f"\n== {step}", log.read().decode("utf-8", "replace"), sep="\n")


@dataclass(frozen=True)
class Site:
    """A site that browser tests run on.

    Attributes:
        out: its folder.
        wheels: folder of wheels, as `build.py site` takes it.
        arguments: pytest's.
    """

    out: Path
    wheels: Path | None
    arguments: list[str]


def _sites(wheels: Path | None, arguments: list[str]) -> dict[str, Site]:
    """Return the sites of the steps that run browser tests."""
    if not arguments:
        return {}
    sites = {"e2e": Site(ROOT / "dist", wheels, arguments)}
    if wheels and arguments == BROWSER_TESTS:
        plain = environment.CACHE / "site-without-wheels"
        sites["e2e without --wheels"] = Site(plain, None, NUMPY_MATTERS)
    return sites


def _build(report: Report, step: str, planned: Site) -> bool:
    """Build the site of a step; return whether that succeeded."""
    try:
        site.build(planned.out, planned.wheels)
    except BuildError as error:
        print(error)
        report.add(step, "the site could not be built, so no test ran")
        return False
    report.add(f"site for {step}")
    return True


def _is_any_selected(arguments: list[str], expression: str) -> bool:
    """Return whether an expression selects tests, or cannot be read, by collecting."""
    command: list[str | Path] = [environment.PYTHON, "-m", "pytest", "--collect-only"]
    command += ["-q", *arguments, "-k", expression]
    with open(os.devnull, "wb") as log:
        code = status(command, env=environment.variables(), log=log)
    return code != NO_TESTS


def _pytest(
    report: Report,
    step: str,
    arguments: list[str],
    expression: str | None,
    variables: dict[str, str] | None = None,
    log: IO[bytes] | None = None,
) -> None:
    """Run pytest and note its results, also when it is cut off."""
    if log is None:
        print(f"\n== {step}", flush=True)
    progress = environment.CACHE / f"{step.replace(' ', '-')}.progress"
    progress.unlink(missing_ok=True)
    command: list[str | Path] = [*YIELDING] if step == UNIT_STEP else []
    command += [environment.PYTHON, "-m", "pytest", "-q", "-p", "tools.progress"]
    command += ["--progress", progress, *arguments]
    if expression:
        command += ["-k", expression]
    env = {**environment.variables(), **LAVAPIPE, **(variables or {})}
    if browser := machine.chromium():
        env["TENSORWEB_CHROMIUM"] = browser
    failure, code = "", 0
    try:
        code = status(command, env=env, seconds=report.seconds_left(), log=log)
    except BuildError as error:
        failure = str(error)
    finally:
        results = report.results[step] = Results.read(progress)
    if code and not (code == NO_TESTS and expression):
        failure = f"pytest exit code {code}"
    counts = results.counts()
    if failure and not counts["failed"]:
        counts["failed"] = 1
    report.counts.update(counts)
    shown = ", ".join(f"{number} {key}" for key, number in counts.items())
    if results.not_begun():
        shown += f", {results.not_begun()} not begun"
    report.add(f"{step} ({shown})", failure)


def _named(title: str, step: str, names: list[str]) -> list[str]:
    """Return a heading and a line for each name; nothing where there are none."""
    return ["", f"{step}: {title}", *(f"  {name}" for name in names)] if names else []


def _slowest(results: dict[str, Results]) -> list[str]:
    """Return the tests that took longest, set-up included."""
    taken = [
        (test.seconds, name)
        for found in results.values()
        for name, test in found.tests.items()
    ]
    taken.sort(reverse=True)
    lines = [f"  {seconds:6.1f} s  {name}" for seconds, name in taken[:SLOWEST]]
    return ["", "slowest", *lines] if lines else []
