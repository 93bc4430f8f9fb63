"""What happened to each test of a pytest run, read from its progress file."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Record:
    """A test so far: its outcome, the seconds it took, why it was skipped or failed."""

    outcome: str = ""
    seconds: float = 0.0
    reason: str = ""
    is_done: bool = False

    def add(self, entry: dict[str, object]) -> None:
        """Take a line of the file in: a failure of any phase is the test's."""
        if entry.get("phase") in ("done", "collect"):
            self.is_done = True
        self.seconds += float(str(entry.get("seconds", 0)))
        outcome = str(entry.get("outcome", ""))
        if entry.get("reason"):
            self.reason = str(entry["reason"])
        if (
            outcome
            and self.outcome != "failed"
            and (outcome != "passed" or not self.outcome)
        ):
            self.outcome = outcome


@dataclass
class Results:
    """The tests of a run by their ids, and how many there should have been."""

    tests: dict[str, Record] = field(default_factory=dict)
    collected: int = 0

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read a file that may end in the middle, or be missing."""
        results = cls()
        text = path.read_text("utf-8") if path.is_file() else ""
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue  # the last line of a run that was killed
            if "collected" in entry:
                results.collected = max(results.collected, entry["collected"])
            else:
                results.tests.setdefault(entry["test"], Record()).add(entry)
        return results

    def named(self, outcome: str) -> list[str]:
        """Return the tests that ended so: `passed`, `failed`, `skipped`."""
        return [
            name
            for name, test in self.tests.items()
            if test.is_done and test.outcome == outcome
        ]

    def unfinished(self) -> list[str]:
        """Return the tests that had begun and did not end."""
        return [name for name, test in self.tests.items() if not test.is_done]

    def counts(self) -> Counter[str]:
        """Return how many passed, failed and were skipped; unfinished is failed."""
        found = Counter(
            {key: len(self.named(key)) for key in ("passed", "failed", "skipped")}
        )
        found["failed"] += len(self.unfinished())
        return found

    def not_begun(self) -> int:
        """Return how many tests were never reached."""
        return max(0, self.collected - len(self.tests))

    def skips(self) -> dict[str, list[str]]:
        """Return the skipped tests by reason, the cases of one test as one name."""
        found: dict[str, dict[str, list[str]]] = {}
        for name in self.named("skipped"):
            families = found.setdefault(self.tests[name].reason, {})
            families.setdefault(re.sub(r"\[.*", "", name), []).append(name)
        return {
            reason: [
                names[0] if len(names) == 1 else f"{family} ({len(names)} cases)"
                for family, names in families.items()
            ]
            for reason, families in found.items()
        }
