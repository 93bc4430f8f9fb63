"""The program's standard output: sent in batches and bounded.

The first `policy.OUTPUT_HEAD` characters are sent as they come; after that only the
last `policy.OUTPUT_TAIL` characters are retained and sent periodically, with the count
of omitted characters. A line that carriage returns overwrite, as in progress bars,
counts once. After that limit streams are C objects, so that ten million lines take
seconds.
"""

from __future__ import annotations

import asyncio
import io
from collections import deque
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING

from . import policy, records
from .records import StreamName

if TYPE_CHECKING:
    from typing_extensions import Buffer

Emit = Callable[[str, Mapping[str, object]], None]
"""Receives a message of a running program: a key of `Notes` and its record."""


class Output:
    """Batches and bounds the text of all streams of one run."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self.on_overflow: Callable[[], None] = lambda: None
        self._parts: list[str] = []
        self._stream: StreamName = "stdout"
        self._waiting = 0
        self._sent = 0
        self._meter = LineMeter()
        self._omitted = 0
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._window = 0.0
        self._burst = 0
        self._timer: asyncio.TimerHandle | None = None

    def write(self, text: str, stream: StreamName) -> None:
        """Append text; it is sent at once unless the program prints very fast."""
        # Streams that alternate faster than a reader can see are not separated.
        if stream != self._stream and not self._is_burst():
            self._send()
            self._stream = stream
        self._parts.append(text)
        self._waiting += len(text)
        if self._waiting >= policy.OUTPUT_PIECE:
            self._send()
        elif text.endswith("\n") or "\r" in text:
            self.hurry()

    def flush(self) -> None:
        """Send pending text and the tail; called at the end of a run."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._send()
        if self._tail:
            self._send_tail()

    def hurry(self) -> None:
        """Send pending text now, or soon if the program flushes very often."""
        if not self._parts:
            return
        if not self._is_burst():
            self._send()
        elif self._timer is None:
            self._send_later()

    def _send_later(self) -> None:
        """Send pending text when the program awaits, for example `asyncio.sleep`."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._timer = loop.call_later(policy.OUTPUT_SECONDS, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self._send()

    def _is_burst(self) -> bool:
        """Count one more request to send; return whether there are too many."""
        now = monotonic()
        if now - self._window > policy.OUTPUT_SECONDS:
            self._window = now
            self._burst = 0
        self._burst += 1
        return self._burst >= policy.OUTPUT_BURST

    def _send(self) -> None:
        if not self._parts:
            return
        text = settled("".join(self._parts))
        self._parts.clear()
        self._waiting = 0
        room = policy.OUTPUT_HEAD - self._sent
        if room > 0:
            grown = self._meter.take(text)
            head = text if grown <= room else text[:room]
            self._sent += grown
            printed: records.Output = {"stream": self._stream, "text": head}
            self._emit("output", printed)
            text = text[len(head) :]
        if text:
            self._keep(text)

    def _keep(self, text: str) -> None:
        """Retain the last characters, `policy.OUTPUT_TAIL`; send them periodically."""
        first = not self._tail
        if first:
            self.on_overflow()
        if len(text) > policy.OUTPUT_TAIL:
            self._omitted += len(text) - policy.OUTPUT_TAIL
            text = text[-policy.OUTPUT_TAIL :]
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) >= policy.OUTPUT_TAIL:
            removed = len(self._tail.popleft())
            self._tail_size -= removed
            self._omitted += removed
        now = monotonic()
        if first or now - self._window > policy.OUTPUT_SECONDS:
            self._window = now
            self._send_tail()

    def _send_tail(self) -> None:
        text = "".join(self._tail)
        omitted = self._omitted + max(0, len(text) - policy.OUTPUT_TAIL)
        tail: records.Tail = {
            "stream": self._stream,
            "text": text[-policy.OUTPUT_TAIL :],
            "omitted": omitted,
        }
        self._emit("tail", tail)


class Stream(io.TextIOBase):
    """A text stream that writes to an `Output`."""

    def __init__(self, output: Output, name: StreamName) -> None:
        super().__init__()
        self._output = output
        self._name = name

    @property
    def encoding(self) -> str:  # type: ignore[override]  # the base has no setter to keep
        """The encoding, which some programs read before they print."""
        return "utf-8"

    def writable(self) -> bool:
        """Return True: programs may always print."""
        return True

    def write(self, text: str, /) -> int:
        """Write text and return its length in characters."""
        if not isinstance(text, str):
            raise TypeError(f"write() takes str, not {type(text).__name__}")
        self._output.write(text, self._name)
        return len(text)

    def flush(self) -> None:
        """Send text that was printed without a newline."""
        self._output.hurry()


class _Tail(io.BufferedIOBase):
    """Receives the buffered bytes of a C text stream, some kilobytes at a time."""

    def __init__(self, output: Output, name: StreamName) -> None:
        super().__init__()
        self._output = output
        self.name: StreamName = name

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        gathered = bytes(data)
        self._output.write(gathered.decode("utf-8", "replace"), self.name)
        return len(gathered)


def fast_stream(output: Output, name: StreamName) -> io.TextIOWrapper:
    """Return a stream that buffers text in C before it reaches `output`."""
    return io.TextIOWrapper(_Tail(output, name), "utf-8", "backslashreplace")


def clip(text: str, limit: int = policy.OUTPUT_TAIL) -> str:
    """Return `text`, or its beginning and end if it is longer than `limit`."""
    if len(text) <= limit:
        return text
    half = limit // 2
    omitted = len(text) - 2 * half
    return f"{text[:half]}\n… {omitted:,} characters left out …\n{text[-half:]}"


def clip_line(text: str, limit: int = 200) -> str:
    """Return `text`, or both ends with an ellipsis, at most `limit` characters."""
    if len(text) <= limit:
        return text
    head = (limit - 2) // 2
    return f"{text[:head]} … {text[len(text) - (limit - 3 - head) :]}"


def safe_repr(value: object) -> str:
    """Return `repr(value)`, or the class name if the program's `repr` fails."""
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__} object>"


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
