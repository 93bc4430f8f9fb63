"""`progress`: how far a loop is, how fast it goes, how long it still takes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sized
from time import perf_counter
from typing import TypeVar

from tensorweb.show import has_host

T = TypeVar("T")

PERIOD = 0.1
"""Seconds between two lines."""

COLUMNS = 20


def progress(
    items: Iterable[T], *, total: int | None = None, name: str = ""
) -> Iterator[T]:
    """Yield `items` and tell how far the loop is, with its rate and the time left.

    The line is written over again and again: in the output of the playground, elsewhere
    on standard error. `total` is how many items there are, if `items` has no length.

    >>> sum(progress(range(4)))
    6
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    began = last = perf_counter()
    done = 0
    try:
        for item in items:
            yield item
            done += 1
            now = perf_counter()
            if now - last >= PERIOD:
                last = now
                _write(f"\r{line_of(name, done, total, now - began)}")
    finally:
        _write(f"\r{line_of(name, done, total, perf_counter() - began)}\n")


def line_of(name: str, done: int, total: int | None, seconds: float) -> str:
    """Return the line that `progress` shows.

    >>> line_of("train", 30, 120, 1.5)
    'train  30/120 █████░░░░░░░░░░░░░░░ 20 /s · 4.5 s left'
    >>> line_of("", 7, None, 2.0)
    '7 · 3.5 /s'
    """
    rate = done / seconds if seconds > 0 else 0.0
    head = f"{name}  " if name else ""
    speed = f"{rate:,.0f} /s" if rate >= 10 else f"{rate:.2g} /s"
    if total is None:
        return f"{head}{done:,} · {speed}"
    full = round(COLUMNS * min(done / total, 1)) if total else COLUMNS
    bar = "█" * full + "░" * (COLUMNS - full)
    if done >= total:
        left = f"{duration(seconds)} in all"
    else:
        left = f"{duration((total - done) / rate)} left" if rate else "…"
    return f"{head}{done:,}/{total:,} {bar} {speed} · {left}"


def duration(seconds: float) -> str:
    """Return seconds as short text.

    >>> [duration(s) for s in (0.01, 4.5, 75, 7300)]
    ['0.01 s', '4.5 s', '1:15 min', '2:01 h']
    """
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes = round(seconds // 60)
    if minutes < 60:
        return f"{minutes}:{int(seconds % 60):02} min"
    return f"{minutes // 60}:{minutes % 60:02} h"


def _write(text: str) -> None:
    stream = sys.stdout if has_host() else sys.stderr
    # A shorter line leaves nothing of the one before.
    end = "\n" if text.endswith("\n") else ""
    text = f"{text.rstrip():<79}{end}"
    stream.write(text)
    stream.flush()
