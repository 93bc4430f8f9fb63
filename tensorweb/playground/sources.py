"""The texts of the running program by file name, to identify its frames.

A program's main file is `main.py`; its modules are in the same folder. The texts are in
Python's `linecache` as well, so that tracebacks find their lines.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence

FILENAME = "main.py"

_texts: dict[str, str] = {}


def remember(texts: Mapping[str, str]) -> None:
    """Set the program's files, replacing those of the previous program."""
    for name in _texts:
        linecache.cache.pop(name, None)
    _texts.clear()
    _texts.update(texts)
    for name, text in texts.items():
        lines = text.splitlines(keepends=True)
        linecache.cache[name] = (len(text), None, lines, name)


def is_program(filename: str) -> bool:
    """Whether a file is one of the program's.

    >>> remember({"main.py": "x = 1"})
    >>> is_program("main.py"), is_program("/lib/json/__init__.py")
    (True, False)
    """
    return filename in _texts


def text_of(filename: str) -> str:
    """Return the text of a file of the program; empty if there is none."""
    return _texts.get(filename, "")


def utf16(lines: Sequence[str], line: int, column: int | None) -> int | None:
    """Convert a UTF-8 byte column of a line to the UTF-16 column that browsers use."""
    if column is None or line > len(lines):
        return None
    before = lines[line - 1].encode()[:column].decode(errors="ignore")
    return len(before.encode("utf-16-le")) // 2
