"""List the files of the project: the tracked ones, or those of a release.

An unpacked source distribution has no history; everything in it that `.gitignore` does
not name is a file of the project.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from tools.archives import RECORD
from tools.process import ROOT, output


def tracked_files() -> list[Path]:
    """Return the files of the project in order, without deleted ones."""
    if (ROOT / ".git").exists():
        names = output(["git", "ls-files", "-z"]).split("\0")
        paths = [ROOT / name for name in names if name]
        return [path for path in paths if path.is_file()]
    ignored = (ROOT / ".gitignore").read_text("utf-8").split()
    patterns = [pattern.rstrip("/") for pattern in ignored]
    return sorted(path for path in _below(ROOT, patterns) if path != RECORD)


def _below(folder: Path, ignored: list[str]) -> Iterator[Path]:
    for entry in os.scandir(folder):
        if any(fnmatchcase(entry.name, pattern) for pattern in ignored):
            continue
        if entry.is_dir():
            yield from _below(Path(entry), ignored)
        else:
            yield Path(entry)
