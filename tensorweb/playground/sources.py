"""The texts of the running program by file name, to identify its frames.

A program's main file is `main.py`; its modules are in the same folder. The texts are in
Python's `linecache` as well, so that tracebacks find their lines. Programs outside of
the page have files of any names (`reports/`), of which records have others.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

FILENAME = "main.py"

_texts: dict[str, str] = {}

_tables: ContextVar[tuple[Mapping[str, str], Mapping[str, str]]] = ContextVar(
    "sources", default=(_texts, {})
)
"""Texts and names in this thread or asyncio task."""


def remember(texts: Mapping[str, str]) -> None:
    """Set the program's files, replacing those of the previous program."""
    for name in _texts:
        linecache.cache.pop(name, None)
    _texts.clear()
    _texts.update(texts)
    for name, text in texts.items():
        lines = text.splitlines(keepends=True)
        linecache.cache[name] = (len(text), None, lines, name)


@contextmanager
def standing_in(texts: Mapping[str, str], names: Mapping[str, str]) -> Iterator[None]:
    """Take other files for the program's inside a `with` block.

    Args:
        texts: their texts by file name; `linecache` must know them.
        names: their names in records, one of them `main.py`.
    """
    token = _tables.set((texts, names))
    try:
        yield
    finally:
        _tables.reset(token)


def name_of(filename: str) -> str:
    """Return the name of a file in records."""
    _, names = _tables.get()
    return names.get(filename, filename)


def is_main(filename: str) -> bool:
    """Whether a file is the program's main file."""
    return name_of(filename) == FILENAME


def is_program(filename: str) -> bool:
    """Whether a file is one of the program's.

    >>> remember({"main.py": "x = 1"})
    >>> is_program("main.py"), is_program("/lib/json/__init__.py")
    (True, False)
    """
    texts, _ = _tables.get()
    return filename in texts


def text_of(filename: str) -> str:
    """Return the text of a file of the program; empty if there is none."""
    texts, _ = _tables.get()
    return texts.get(filename, "")


def utf16(lines: Sequence[str], line: int, column: int | None) -> int | None:
    """Convert a UTF-8 byte column of a line to the UTF-16 column that browsers use."""
    if column is None or line > len(lines):
        return None
    before = lines[line - 1].encode()[:column].decode(errors="ignore")
    return len(before.encode("utf-16-le")) // 2
