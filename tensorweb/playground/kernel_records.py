"""The messages about one kernel of a run, which are sent when the page asks."""

from __future__ import annotations

from typing import TypedDict

from .records import Text


class KernelSource(TypedDict):
    """The text of a kernel, or both ends of a text that is too long."""

    text: Text


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
