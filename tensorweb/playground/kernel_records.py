"""The messages about one kernel of a run, which are sent when the page asks."""

from __future__ import annotations

from typing import Annotated, TypedDict

from .records import Most, Pair, Position, Span, Text


class KernelLine(TypedDict):
    """What neighbouring lines of a kernel's text compute, read or write."""

    first: Position
    """Index of the first line, and of the last one."""
    last: Position
    span: Span | None
    """The expression of `main.py` that built it."""
    buffers: list[int]
    """Indices of the buffers whose elements they read or write."""


class KernelBuffer(TypedDict):
    """A buffer that a kernel binds."""

    name: str
    """In the text."""
    value: str
    """Dtype and shape."""
    bytes: int
    written: bool
    span: Span | None
    """The expression of `main.py` that built its value."""


class KernelSource(TypedDict):
    """The text of a kernel, or both ends of a text that is too long."""

    text: Text
    lines: list[KernelLine]
    """Those of WGSL that belong to an expression of `main.py`, or to a buffer."""
    buffers: list[KernelBuffer]


class KernelSplit(TypedDict):
    """A value that one kernel writes and another one reads."""

    writer: int
    """Index of the kernel among those of the run, like `reader`."""
    reader: int
    value: str
    """Its dtype and shape."""
    written: int
    """Bytes that are written, and bytes that are read, each element once."""
    read: int
    why: str
    """A sentence: the rule by which one kernel does not do both."""


class ShaderProblem(TypedDict):
    """What a compiler said about a text; line and column begin at 1, 0 is unknown."""

    text: Text
    line: Position
    column: Position


class Attempt(TypedDict):
    """The results of a captured kernel by its own text and by another one."""

    problems: Annotated[list[ShaderProblem], Most(100)]
    """Why the other text did not run; empty if it did."""
    seconds: Annotated[list[float], Most(2)]
    """Device time of both; empty where the device cannot tell."""
    pairs: Annotated[list[Pair], Most(1)]
    """The first output that differs, else the first one."""


class KernelCode(TypedDict):
    """A statement that defines a kernel of the program's own."""

    text: Annotated[str, Most(1 << 20)]
