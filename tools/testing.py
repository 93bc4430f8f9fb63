"""Run everything that must hold: checks, unit tests, the site, browser tests."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tools import checks, environment, machine, site
from tools.process import ROOT, BuildError, status

BUDGET = 25 * 60
"""Seconds that a whole run may take; what is left of it bounds each pytest."""

UNIT_TESTS = ["tests", "tensorweb", "--doctest-modules", "-n", "2"]

NO_TESTS = 5
"""Pytest's exit code when it found nothing to run."""


@dataclass
class Report:
    """What happened: a line for each step, failures, and the sums over both pytests."""

    started: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)
    is_failed: bool = False
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, step: str, failure: str = "") -> None:
        """Note how `step` ended; an empty `failure` means well."""
        seconds = time.monotonic() - self.started
        self.lines.append(f"{seconds:7.1f} s  {step}: {failure or 'ok'}")
        self.is_failed = self.is_failed or bool(failure)

    def seconds_left(self) -> float:
        """Return what is left of the budget, at least one minute."""
        return max(60.0, BUDGET - (time.monotonic() - self.started))


def run(wheels: Path | None, expression: str | None) -> int:
    """Run everything and print one summary; return the exit code.

    Args:
        wheels: folder of wheels for the site, as `build.py site` takes it.
        expression: pytest's `-k`; then a run without tests is no failure.
    """
    report = Report()
    environment.prepare("test")
    machine.prepare()
    report.add("set-up")
    failed = checks.run()
    report.add("checks", ", ".join(failed))
    _pytest(report, "tests", UNIT_TESTS, expression)
    try:
        print("\n== site", flush=True)
        site.build(ROOT / "dist", wheels)
        report.add("site")
    except BuildError as error:
        print(error)
        report.add("site", "failed, so the browser tests did not run")
    else:
        _pytest(report, "e2e", ["e2e"], expression)
    print("\n== summary", *report.lines, sep="\n")
    counts = report.counts
    print(", ".join(f"{counts[key]} {key}" for key in ("passed", "failed", "skipped")))
    return 1 if report.is_failed else 0


def _pytest(
    report: Report, step: str, arguments: list[str], expression: str | None
) -> None:
    print(f"\n== {step}", flush=True)
    results = environment.CACHE / f"{step}.xml"
    results.unlink(missing_ok=True)
    command = ["-m", "pytest", "-q", f"--junitxml={results}", *arguments]
    if expression:
        command += ["-k", expression]
    env = environment.variables()
    browser = machine.chromium()
    if browser:
        env["TENSORWEB_CHROMIUM"] = browser
    try:
        code = status(
            [environment.PYTHON, *command], env=env, seconds=report.seconds_left()
        )
    except BuildError as error:
        report.counts["failed"] += 1
        report.add(step, str(error))
        return
    counts = count(results)
    report.counts.update(counts)
    if code == NO_TESTS and expression:
        code = 0
    shown = ", ".join(f"{number} {key}" for key, number in counts.items())
    report.add(f"{step} ({shown})", f"pytest exit code {code}" if code else "")


def count(results: Path) -> dict[str, int]:
    """Return how many tests passed, failed and were skipped, from a JUnit file."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    if not results.is_file():
        return counts
    for suite in ElementTree.parse(results).iter("testsuite"):
        number = {
            key: int(suite.get(key, "0"))
            for key in ("tests", "failures", "errors", "skipped")
        }
        failed = number["failures"] + number["errors"]
        counts["failed"] += failed
        counts["skipped"] += number["skipped"]
        counts["passed"] += number["tests"] - failed - number["skipped"]
    return counts
