"""Find the user's line in the stack, for errors, events, displays and warnings there.

All looks at frames are here. Inside `noting` blocks the location that builds a node is
recorded; outside of one the cost is an integer comparison per node.
"""

from __future__ import annotations

import linecache
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from types import CodeType, FrameType
from typing import NamedTuple

PACKAGE = os.path.dirname(__file__) + os.sep
"""Folder of this package, whose files are no part of the user's program."""

Location = tuple[CodeType, int, int]
"""A code object and an instruction offset, which are faster to get than the line; and
the number of the execution: nodes of one line that differ in it were built at different
times, for example in two iterations of a loop."""

left = 0
"""Count of nodes whose locations are still to be recorded, in all threads."""

_execution = 0
_last: tuple[CodeType | None, int] = None, 0
"""Code object and offset of the last location."""

_open_blocks = 0

copies: dict[tuple[CodeType, int], None] | None = None
"""The code objects and instructions that copied elements, if they are requested."""


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
    global left, _execution, _last
    left -= 1
    frame = sys._getframe(2)
    while True:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            instruction = frame.f_lasti
            before, reached = _last
            if code is not before or instruction < reached:
                _execution += 1
            _last = code, instruction
            return code, instruction, _execution
        if frame.f_back is None:
            return None
        frame = frame.f_back


def note_copy() -> None:
    """Note that the user's line copies elements, if that is requested."""
    if copies is not None:
        frame = user_frame(2)
        copies[frame.f_code, frame.f_lasti] = None


def end_execution() -> int:
    """Count nodes that are built from now on as of another execution of their line.

    Return its number; those before it have smaller ones.
    """
    global _execution, _last
    _execution += 1
    _last = None, 0
    return _execution


def line_of(location: Location) -> Line | None:
    """Return the line of a location, None if the code object has none for it."""
    code, instruction, _ = location
    for start, end, number in code.co_lines():
        if start <= instruction < end:
            return None if number is None else Line(code.co_filename, number)
    return None


def user_frame(start: int = 1) -> FrameType:
    """Return the innermost frame that is outside this package, else the outermost."""
    frame = sys._getframe(start)
    while frame.f_code.co_filename.startswith(PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def frames_in(
    frame: FrameType | None, is_chosen: Callable[[str], bool]
) -> Iterator[FrameType]:
    """Yield a frame and its callers, innermost first, of the chosen files."""
    while frame is not None:
        if is_chosen(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


Position = tuple[int | None, int | None, int | None, int | None]
"""First and last line, first and last column in bytes; None where unknown."""


def position_of(code: CodeType, instruction: int) -> Position:
    """Return the part of the source that an instruction runs."""
    positions = islice(code.co_positions(), instruction // 2, None)
    return next(positions, (None, None, None, None))


def segment(filename: str, position: Position) -> str:
    """Return the source text of a position, whose columns are in bytes."""
    line, end_line, column, end_column = position
    if line is None or end_line is None or column is None or end_column is None:
        return ""
    lines = linecache.getlines(filename)[line - 1 : end_line]
    if not lines:
        return ""
    encoded = [text.encode() for text in lines]
    encoded[-1] = encoded[-1][:end_column]
    encoded[0] = encoded[0][column:]
    return b"".join(encoded).decode(errors="replace")


MOST_REMEMBERED = 100

_said: list[tuple[type[Warning], object]] = []
"""Warnings issued by `warn_once`, with the filters at that time, so that code inside
`warnings.catch_warnings` gets them again."""

_begun = 0


def warn(category: type[Warning], message: str) -> None:
    """Issue a warning at the user's line."""
    frame = user_frame(2)
    names = frame.f_globals
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        names.get("__name__", "__main__"),
        names.setdefault("__warningregistry__", {}),
    )


def warn_once(category: type[Warning], message: str) -> None:
    """Issue a warning at the user's line, once per program and category."""
    filters = warnings.filters
    if any(kind is category and seen is filters for kind, seen in _said):
        return
    warn(category, message)
    del _said[: -MOST_REMEMBERED + 1]
    _said.append((category, filters))


def begin_program() -> None:
    """Reset `warn_once`: another program begins in this process."""
    global _begun
    _begun += 1
    _said.clear()


def have_been_issued(names: Mapping[str, object]) -> bool:
    """Whether a program with these names was warned at one of its lines."""
    return bool(_said) or "__warningregistry__" in names


def programs() -> int:
    """Return the count of programs begun in this process, without the first."""
    return _begun
