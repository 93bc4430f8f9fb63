"""A pytest plugin that writes a line of JSON whenever a test begins or ends a phase.

`-p tools.progress --progress FILE`. The file of a run that is cut off has
the failed tests and those under way; `tools/results.py` reads it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

LONGEST_REASON = 500


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--progress`."""
    parser.addoption("--progress", type=Path, help="write each test's progress here")


def pytest_configure(config: pytest.Config) -> None:
    """Begin the file; in the process that hears of every test, not in its workers."""
    path = config.getoption("progress")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(path))


class Progress:
    """Writes to one file."""

    def __init__(self, path: Path) -> None:
        # Whole lines are there at once: a run may be killed.
        self._file = path.open("w", encoding="utf-8", buffering=1)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Tell how many tests there are."""
        self._tell(collected=len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Tell how many tests a worker found: all of them."""
        self._tell(collected=len(ids))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Tell of a file that could not be read."""
        if report.failed:
            self._tell(
                test=report.nodeid,
                phase="collect",
                outcome="failed",
                reason=str(report.longrepr)[-LONGEST_REASON:],
            )

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Tell that a test begins."""
        self._tell(test=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tell how set-up, call or tear-down ended."""
        self._tell(
            test=report.nodeid,
            phase=report.when,
            outcome=report.outcome,
            seconds=report.duration,
            reason=_reason(report),
        )

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Tell that a test is done."""
        self._tell(test=nodeid, phase="done")

    def _tell(self, **entry: object) -> None:
        self._file.write(json.dumps(entry) + "\n")

    def pytest_unconfigure(self) -> None:
        """Close the file."""
        self._file.close()


def _reason(report: pytest.TestReport) -> str:
    """Return why a test was skipped, or the words of its error, or nothing."""
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        return str(crash.message if crash else report.longrepr)[:LONGEST_REASON]
    if not report.skipped:
        return ""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return f"expected to fail: {getattr(report, 'wasxfail', '')}"
