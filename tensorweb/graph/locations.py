"""Remember which line of the user's program built a node, while somebody wants to know.

Nothing is noted otherwise: building a node then looks at one number.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import NamedTuple

PACKAGE = __file__[: -len("graph/locations.py")]
"""Files below it are ours, whoever calls them."""

Location = tuple[CodeType, int]
"""Code and an instruction in it: quicker to note than its line."""

left = 0
"""Nodes whose locations are still to be noted, in every thread."""

_wanted = 0


class Line(NamedTuple):
    """A line of a program: file and number, counted from one.

    >>> Line("main.py", 3)
    Line(file='main.py', number=3)
    """

    file: str
    number: int


@contextmanager
def noting(most: int = sys.maxsize) -> Iterator[None]:
    """Note the locations of the next `most` nodes that are built inside a `with` block.

    >>> with noting(10):
    ...     x = tw.ones(2) + 1
    >>> hasattr(x.node, "location"), hasattr((x + 1).node, "location")
    (True, False)
    """
    global left, _wanted
    _wanted += 1
    left = max(left, most)
    try:
        yield
    finally:
        _wanted -= 1
        if not _wanted:
            left = 0


def here() -> Location | None:
    """Return the location outside of this package that is running now; count it."""
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
    """Return the line of a location, None where the compiler noted none."""
    code, instruction = location
    for start, end, number in code.co_lines():
        if start <= instruction < end:
            return None if number is None else Line(code.co_filename, number)
    return None
