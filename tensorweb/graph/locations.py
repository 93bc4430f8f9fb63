"""Record which line of the user's program built a node, inside `noting` blocks.

Outside of such a block the cost is one integer comparison per node.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import NamedTuple

PACKAGE = __file__[: -len("graph/locations.py")]
"""Folder of this package, whose files are no part of the user's program."""

Location = tuple[CodeType, int]
"""A code object and an instruction offset, which are faster to get than the line."""

left = 0
"""Count of nodes whose locations are still to be recorded, in all threads."""

_open_blocks = 0


class Line(NamedTuple):
    """A line of a program: file name and line number, starting at 1.

    >>> Line("main.py", 3)
    Line(file='main.py', number=3)
    """

    file: str
    number: int


@contextmanager
def noting(most: int = sys.maxsize) -> Iterator[None]:
    """Record the locations of the next `most` nodes built inside a `with` block.

    >>> with noting(10):
    ...     x = tw.ones(2) + 1
    >>> hasattr(x.node, "location"), hasattr((x + 1).node, "location")
    (True, False)
    """
    global left, _open_blocks
    _open_blocks += 1
    left = max(left, most)
    try:
        yield
    finally:
        _open_blocks -= 1
        if not _open_blocks:
            left = 0


def here() -> Location | None:
    """Return the innermost location outside of this package; decrement `left`."""
    global left
    left -= 1
    frame = sys._getframe(2)
    while True:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return code, frame.f_lasti
        if frame.f_back is None:
            return None
        frame = frame.f_back


def line_of(location: Location) -> Line | None:
    """Return the line of a location, None if the code object has none for it."""
    code, instruction = location
    for start, end, number in code.co_lines():
        if start <= instruction < end:
            return None if number is None else Line(code.co_filename, number)
    return None
