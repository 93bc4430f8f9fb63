"""The texts of the program that runs, by file name, for whoever looks at its frames.

A program's own file is `main.py`; its modules are beside it. Python's `linecache` knows
the same texts, so that tracebacks find their lines.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping

FILENAME = "main.py"

_texts: dict[str, str] = {}


def remember(texts: Mapping[str, str]) -> None:
    """Take these files for the program's, and no others."""
    for name in _texts:
        linecache.cache.pop(name, None)
    _texts.clear()
    _texts.update(texts)
    for name, text in texts.items():
        lines = text.splitlines(keepends=True)
        linecache.cache[name] = (len(text), None, lines, name)


def is_program(filename: str) -> bool:
    """Return whether a file is one of the program's.

    >>> remember({"main.py": "x = 1"})
    >>> is_program("main.py"), is_program("/lib/json/__init__.py")
    (True, False)
    """
    return filename in _texts
