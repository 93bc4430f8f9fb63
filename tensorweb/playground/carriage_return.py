"""The effect of carriage returns on printed text."""

from __future__ import annotations


def settled(text: str) -> str:
    r"""Return text without the parts that carriage returns overwrite.

    Of a line with ANSI colours only the last state is retained, even if earlier ones
    were longer.

    >>> settled("10 %\r20 %\r30 %\ndone")
    '10 %\r30 %\ndone'
    """
    if "\r" not in text:
        return text
    return "\n".join(map(_settled_line, text.split("\n")))


def _settled_line(line: str) -> str:
    # The first part may continue a line that was sent before.
    first, *others = line.split("\r")
    if len(others) < 2:
        return line
    seen = ""
    for part in filter(None, others):
        has_colours = "\x1b" in part or "\x1b" in seen
        seen = part if has_colours else part + seen[len(part) :]
    back = "\r" if not others[-1] else ""
    return f"{first}\r{seen}{back}"


class LineMeter:
    r"""Count characters as a terminal shows them: an overwritten line once.

    >>> meter = LineMeter()
    >>> meter.take("10 %\r20 %\r")
    4
    >>> meter.take("100 %\n")
    2
    """

    def __init__(self) -> None:
        self._column = 0
        self._length = 0

    def take(self, text: str) -> int:
        """Return by how many characters `text` lengthens the visible text."""
        if "\r" not in text and self._column == self._length:
            return self._append(text)
        *complete, rest = text.split("\n")
        grown = len(complete)
        for line in complete:
            grown += self._overwrite(line)
            self._column = self._length = 0
        return grown + self._overwrite(rest)

    def _append(self, text: str) -> int:
        end = text.rfind("\n")
        begun = 0 if end >= 0 else self._length
        self._column = self._length = begun + len(text) - end - 1
        return len(text)

    def _overwrite(self, line: str) -> int:
        first, *others = line.split("\r")
        grown = self._write(first)
        for part in others:
            self._column = 0
            grown += self._write(part)
        return grown

    def _write(self, text: str) -> int:
        self._column += len(text)
        grown = max(self._column - self._length, 0)
        self._length += grown
        return grown
