"""The working folder of programs: valid file names, and messages for missing files.

The page writes the reader's files there before a run and removes them afterwards.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

from tensorweb.errors import DataError

LONGEST_NAME = 200
MOST_NAMED = 10

lost: frozenset[str] = frozenset()
"""Names of files of an earlier page that no longer exist."""


def remember_lost(names: Iterable[str]) -> None:
    """Set the names of files of an earlier page that no longer exist."""
    global lost
    lost = frozenset(names)


def path_of(name: str) -> Path:
    """Return the path of a file; raise for anything but a plain name."""
    is_plain = name == os.path.basename(name) and name not in ("", ".", "..")
    if not is_plain or "\0" in name or len(name) > LONGEST_NAME:
        raise DataError(f"{name[:LONGEST_NAME]!r} is no name for a file")
    return Path(name)


def advice(error: BaseException) -> str | None:
    """Return the message for a missing file, None for another failure.

    >>> advice(FileNotFoundError(2, "No such file", "/etc/nothing"))
    """
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, str):
        return None
    name = error.filename.removeprefix("./")
    if os.path.basename(name) != name:
        return None
    said = f"There is no file {name!r}"
    if name in lost:
        return (
            f"{said} any more: it went when the page was loaded anew, as the browser "
            "did not keep it. Drop it on the page again, or add it in the panel Files."
        )
    there = sorted(path for path in os.listdir() if not path.startswith("."))
    near = difflib.get_close_matches(name, there, 1)
    if near:
        return f"{said}. Did you mean {near[0]!r}?"
    found = ", ".join(map(repr, there[:MOST_NAMED])) or "none"
    more = f" and {len(there) - MOST_NAMED} more" if len(there) > MOST_NAMED else ""
    return (
        f"{said}. The program has these files: {found}{more}. Drop yours on the page, "
        "or add it in the panel Files."
    )
