"""`progress`: how far a loop is, how long it still takes, and curves of its numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import count
from time import perf_counter
from typing import Any, Generic, TypeVar

from tensorweb.errors import DataError
from tensorweb.functions import stack
from tensorweb.plots import Plot, Series
from tensorweb.show import has_host, show
from tensorweb.tensor import Tensor

T = TypeVar("T")

_loops = count()

PERIOD = 0.1
"""Seconds between two lines."""

COLUMNS = 20

# Points of a curve, about as many as a picture has columns.
MOST_POINTS = 1000


class progress(Generic[T]):
    """A loop's items; it tells how far the loop is, its rate and the time left.

    The line is written over again and again: in the output of the playground, elsewhere
    on standard error. `log` adds numbers such as a loss to it, of which the playground
    draws a curve while the loop runs.

    >>> sum(tw.progress(range(4)))
    6
    """

    def __init__(
        self, items: Iterable[T], *, total: int | None = None, name: str = ""
    ) -> None:
        """Make a loop.

        Args:
            items: what it runs over.
            total: count of the items, if `items` has no length.
            name: a text before the line.
        """
        if total is None and isinstance(items, Sized):
            total = len(items)
        self._items, self._total, self._name = items, total, name
        self._done, self._width = 0, 79
        self._display = f"progress {next(_loops)}"
        self._curves: dict[str, tuple[list[int], list[float]]] = {}
        # Read from the device together, at the next line.
        self._waiting: list[tuple[str, int, Any]] = []

    def __iter__(self) -> Iterator[T]:
        """Yield the items."""
        began = last = perf_counter()
        self._done = 0
        try:
            for item in self._items:
                yield item
                self._done += 1
                now = perf_counter()
                if now - last >= PERIOD:
                    self._tell(now - began, "")
                    last = perf_counter()
        finally:
            self._tell(perf_counter() - began, "\n")

    def log(self, **values: object) -> None:
        """Add numbers of this iteration to the line and to the curves.

        A tensor is not read at once, so that its device need not wait.

        Args:
            values: numbers or 0-d tensors by name.

        Raises:
            DataError: a value is no single real number.

        >>> loop = tw.progress(range(100), name="train")
        >>> for step in loop:
        ...     loop.log(loss=1 / (1 + step))
        """
        for name, value in values.items():
            if not isinstance(value, Tensor):
                value = _number(name, value)
            elif value.size != 1 or value.dtype.kind == "complex":
                raise DataError(
                    f"progress.log: {name} is {value.dtype} of shape {value.shape}; "
                    "give one number, such as its mean."
                )
            else:
                value = value.detach().reshape(())
            self._waiting.append((name, self._done, value))

    def _tell(self, seconds: float, end: str) -> None:
        """Write the line, and draw the curves."""
        is_new = bool(self._waiting)
        if is_new:
            waiting, self._waiting = self._waiting, []
            by_device: dict[str, list[Tensor]] = {}
            for *_, value in waiting:
                if isinstance(value, Tensor):
                    by_device.setdefault(value.device, []).append(value)
            read = {device: iter(stack(x).tolist()) for device, x in by_device.items()}
            for name, step, value in waiting:
                steps, known = self._curves.setdefault(name, ([], []))
                steps.append(step)
                is_tensor = isinstance(value, Tensor)
                known.append(float(next(read[value.device])) if is_tensor else value)
        line = line_of(self._name, self._done, self._total, seconds)
        for name, (_, known) in self._curves.items():
            line += f" · {name} {known[-1]:.4g}"
        # A shorter line leaves nothing of the one before.
        self._width = max(self._width, len(line))
        _write(f"\r{line:<{self._width}}{end}")
        if is_new and has_host():
            series = [
                Series(name, tuple(map(float, _thinned(steps))), tuple(_thinned(known)))
                for name, (steps, known) in self._curves.items()
            ]
            show(Plot(self._name, "lines", tuple(series)), self._display)


def _number(name: str, value: Any) -> float:
    """Return a value as a number.

    Raises:
        DataError: it is none.
    """
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"progress.log: {name}={value!r} is no number; give one."
        ) from error


def _thinned(values: Sequence[float]) -> Sequence[float]:
    """Return every n-th of many values, and always the last."""
    step = -(-len(values) // MOST_POINTS)
    return values[(len(values) - 1) % step :: step]


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
    stream.write(text)
    stream.flush()
