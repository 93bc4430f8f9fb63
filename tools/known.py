"""Reviewed lists of tests that do not pass, and how a run differs from one.

For suites of others, where a test that fails is not always a mistake of ours. A list is
a TOML file of rows: names of tests, devices and the reason.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.process import ROOT
from tools.results import Results


@dataclass(frozen=True, slots=True)
class Known:
    """A row of the list: tests that do not pass, on which devices, and why.

    Attributes:
        tests: names as the suite's report has them after its folder; `*` is anything.
        devices: where.
        why: the reason.
        errors: what these tests' errors say, `*` is anything; none for any words.
        ends: whether a test would end the process, so that it must not begin.
    """

    tests: tuple[str, ...]
    devices: tuple[str, ...]
    why: str
    errors: tuple[str, ...] = ()
    ends: bool = False

    def has(self, name: str) -> bool:
        """Whether a test is one of them."""
        return any(_matches(pattern, name) for pattern in self.tests)

    def explains(self, name: str, error: str) -> bool:
        """Whether a test that failed with an error is one of them."""
        return (not self.tests or self.has(name)) and (
            not self.errors or any(_matches(words, error) for words in self.errors)
        )


def _matches(pattern: str, name: str) -> bool:
    return _compiled(pattern).fullmatch(name) is not None


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


def known(path: Path) -> list[Known]:
    """Return the rows of the list."""
    rows = tomllib.loads(path.read_text("utf-8")).get("known", [])
    return [
        Known(
            tuple(row.get("tests", ())),
            tuple(row["devices"]),
            row["why"],
            tuple(row.get("errors", ())),
            row.get("ends", False),
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run says, compared with the list.

    Attributes:
        unknown: tests that did not pass and are in no row.
        passing: patterns of the list that were met by passing tests only.
        counts: tests by row of the list, in its order.
    """

    unknown: tuple[str, ...]
    passing: tuple[str, ...]
    counts: tuple[int, ...]


def compare(results: Results, rows: Sequence[Known], inside: str) -> Verdict:
    """Hold the results of a run against the rows of its device.

    Args:
        results: tests by their whole names.
        rows: the list.
        inside: what the names of the list begin after, a folder.
    """
    names = {
        name.partition(inside)[2] or name: test for name, test in results.tests.items()
    }
    good = {name for name, test in names.items() if test.outcome == "passed"}
    bad = names.keys() - good
    explained = {name for name in bad for row in rows if row.has(name)}
    patterns = [pattern for row in rows for pattern in row.tests]
    met = {
        pattern: [name for name in names if _matches(pattern, name)]
        for pattern in patterns
    }
    return Verdict(
        tuple(sorted(bad - explained)),
        tuple(p for p, found in met.items() if found and good.issuperset(found)),
        tuple(sum(map(row.has, bad)) for row in rows),
    )


def report(
    results: Results, rows: Sequence[Known], verdict: Verdict, path: Path
) -> list[str]:
    """Return the lines that compare a run with its list; the last one has the sums."""
    counts = results.counts()
    lines = []
    for row, number in zip(rows, verdict.counts, strict=True):
        lines += [f"{number:5} known: {row.why}"] if number else []
    for pattern in verdict.passing:
        lines.append(f"passes, take it from {path.relative_to(ROOT)}: {pattern}")
    lines += [f"NEW, in no row of the list: {name}" for name in verdict.unknown]
    shown = ", ".join(f"{counts[key]} {key}" for key in ("passed", "failed", "skipped"))
    return [*lines, f"{shown} of {results.collected} collected"]
