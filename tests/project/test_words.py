"""The words of the glossary are used: phrases that it replaces do not come back.

Each folder has the count of such phrases that are still in it. A count may only fall:
whoever rewrites sentences lowers it, until its entry can go.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from functools import cache

import pytest

from tools.process import ROOT

PHRASES = (
    r"hangs? on",
    r"(?:way|walk)s? back",
    r"(?:from )?so many",
    r"[Rr]eturn the same",
    r"those that",
    r"let(?:s|ting)? go",
    r"means of blocks",
    r"turn(?:s|ed)?",
    r"(?<!in )(?<!in-)(?<!decimal )(?<!last )(?<!np\.)(?<!def )(?<![\"`])places?",
    r"beside",
    r"(?<!\d-)slopes?",
    r"(?<![.\"'-])wanted(?![\"'])",
    r"told",
    r"(?<![.\"])gone(?![\":])",
    r"likewise",
    r"who asks",
    r"in vain",
    r"hand(?:s|ed)? (?:back|over)",
    r"what is (?:asked|done|given|held|kept|known|left|read|said|wanted)",
    r"besides",
)
"""As words of their own; docs/glossary.md has what to write instead."""

KINDS = (".py", ".md", ".ts", ".js", ".mjs", ".wgsl")

LEFT = {
    "web/src": 74,
}
"""By folder, how many are left; a folder that is not named has none."""

LESSONS = ("web/examples/", "docs/lessons.md")
"""Lessons explain what a gradient is: the slope of a curve."""

QUOTED = ("docs/glossary.md", "tests/project/test_words.py")
"""Files that name the phrases in order to say what to write instead."""


@cache
def counts() -> Counter[str]:
    """Return how many phrases the tracked files of each folder have."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    pattern = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b")
    totals: Counter[str] = Counter()
    for name in names:
        path = ROOT / name
        if not name.endswith(KINDS) or name in QUOTED or not path.is_file():
            continue
        parts = name.split("/")[:-1]
        depth = 2 if parts[:1] in (["tensorweb"], ["web"]) else 1
        phrases = pattern.findall(path.read_text("utf-8"))
        totals["/".join(parts[:depth]) or "."] += sum(
            not (name.startswith(LESSONS) and phrase.startswith("slope"))
            for phrase in phrases
        )
    return totals


@pytest.mark.parametrize("folder", sorted({*counts(), *LEFT}))
def test_no_folder_has_more_of_them(folder: str) -> None:
    count, allowed = counts()[folder], LEFT.get(folder, 0)
    assert count <= allowed, "say it with the words of docs/glossary.md"
