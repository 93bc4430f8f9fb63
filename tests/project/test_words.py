"""The words of the glossary are used: phrases that it replaces do not come back."""

from __future__ import annotations

import re

from tools.process import ROOT
from tools.tracked import tracked_files

PHRASES = (
    r"hangs? on",
    r"(?:way|walk)s? back",
    r"(?:from )?so many",
    r"[Rr]eturn the same",
    r"[Tt]hose that",
    r"[Tt]he same of",
    r"let(?:s|ting)? go",
    r"means of blocks",
    r"turn(?:s|ed)?",
    r"(?<!in )(?<!in-)(?<!decimal )(?<!last )(?<!np\.)(?<!numpy\.)(?<!def )(?<![\"`])"
    r"places?",
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
"""As words of their own; docs/contributing/glossary.md has what to write instead."""

KINDS = (".py", ".md", ".ts", ".js", ".mjs", ".wgsl")

LESSONS = ("web/examples/", "docs/guide/lessons.md")
"""Lessons explain what a gradient is: the slope of a curve."""

QUOTED = ("docs/contributing/glossary.md", "tests/project/test_words.py")
"""Files that name the phrases in order to say what to write instead."""


def phrases_by_file() -> dict[str, list[str]]:
    """Return the phrases in each tracked file that has any."""
    pattern = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b")
    phrases: dict[str, list[str]] = {}
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        if not name.endswith(KINDS) or name in QUOTED:
            continue
        is_lesson = name.startswith(LESSONS)
        matches = pattern.findall(path.read_text("utf-8"))
        if matches := [m for m in matches if not (is_lesson and m.startswith("slope"))]:
            phrases[name] = matches
    return phrases


def test_no_file_has_replaced_phrases() -> None:
    assert phrases_by_file() == {}, (
        "write the words of docs/contributing/glossary.md instead"
    )
