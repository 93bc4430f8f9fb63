"""`plot`: line, point, histogram and image plots, drawn by the page or printed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from tensorweb.show import show

Kind = Literal["lines", "points", "histogram", "image"]
KINDS: tuple[Kind, ...] = ("lines", "points", "histogram", "image")

BINS = 40
MOST_SERIES = 12
COLUMNS = 40
LEVELS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Series:
    """The name and coordinates of one line or point set."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot; its text is one line per series.

    Attributes:
        title: the title.
        kind: `lines`, `points` or `histogram`; for a histogram, `x` are the lower bin
            edges and `y` the counts.
        series: the series in drawing order.

    >>> Plot("loss", "lines", (Series("", (0, 1, 2), (4, 2, 1)),))
    loss
    █▃▁  1 … 4, 3 values
    """

    title: str
    kind: Kind
    series: tuple[Series, ...]

    def __repr__(self) -> str:
        lines = [self.title] if self.title else []
        wide = max((len(one.name) for one in self.series), default=0)
        lines.extend(_line_of(one, wide) for one in self.series)
        return "\n".join(lines)


def plot(y: object, x: object = None, *, kind: Kind = "lines", title: str = "") -> None:
    """Show numbers as lines, points, a histogram or an image.

    `y` is a list, an array or a tensor, or a mapping from the names of several series
    to such values. `x` are the coordinates along the x axis, by default 0, 1, 2 …; a
    mapping gives each series its own. In the playground, a plot shown repeatedly in a
    loop replaces the previous one; elsewhere each series is printed as a line of text.

    Raises:
        TypeError: there is text among the numbers.
        ValueError: `kind` is none of the four; `x` and `y` have different lengths, or
            as mappings different names; there are more than 12 series.

    >>> plot([1, 2, 4, 8], title="powers")
    powers
    ▁▂▄█  1 … 8, 4 values
    >>> plot({"way": [0, 2, 1]}, {"way": [3, 0, 3]})
    way  ▁█▅  0 … 2, 3 values
    >>> plot({"a": [0, 1], "bc": [1, 0]}, kind="points")
    a   ▁█  0 … 1, 2 values
    bc  █▁  0 … 1, 2 values
    """
    if kind not in KINDS:
        raise ValueError(
            f"plot: kind is {kind!r}; it must be one of {', '.join(map(repr, KINDS))}"
        )
    if kind == "image":
        show(y, title or None)
        return
    named = y if isinstance(y, Mapping) else {"": y}
    if len(named) > MOST_SERIES:
        raise ValueError(
            f"plot: {len(named)} series; give at most {MOST_SERIES}, for more look at "
            'a tensor with kind="image"'
        )
    abscissae = x if isinstance(x, Mapping) else dict.fromkeys(named, x)
    if abscissae.keys() != named.keys():
        raise ValueError(
            f"plot: x has series {_names(abscissae)} and y has {_names(named)}; name "
            "the same, or give one x for all"
        )
    series = [_series_of(str(k), y, abscissae[k], kind) for k, y in named.items()]
    show(Plot(str(title), kind, tuple(series)))


def numbers_of(values: object) -> tuple[float, ...]:
    """Return the numbers of a list, an array or a tensor, in row-major order.

    Raises:
        TypeError: a value is text.
    """
    if hasattr(values, "detach"):
        values = values.detach()  # A plot inside of `grad` takes no derivative.
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, str):
        raise TypeError(
            f"plot: {values[:40]!r} is text; give numbers, or {{name: numbers}} for "
            "series with names"
        )
    if not isinstance(values, Iterable):
        return (float(values),)  # type: ignore[arg-type]  # a number, or float says why
    return tuple(number for value in values for number in numbers_of(value))


def _names(series: Mapping[object, object]) -> str:
    return ", ".join(repr(str(name)) for name in series)


def _series_of(name: str, values: object, x: object, kind: Kind) -> Series:
    y = numbers_of(values)
    if kind == "histogram":
        return _histogram(name, y)
    abscissae = tuple(map(float, range(len(y)))) if x is None else numbers_of(x)
    if len(abscissae) != len(y):
        raise ValueError(
            f"plot: x has {len(abscissae)} values and y has {len(y)}; give one x for "
            "each y, or leave x out"
        )
    return Series(name, abscissae, y)


def _histogram(name: str, values: Iterable[float]) -> Series:
    """Count the finite values in equal bins from the least to the greatest."""
    real = [value for value in values if math.isfinite(value)]
    low, high = (min(real), max(real)) if real else (0.0, 0.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    width = (high - low) / BINS
    counts = [0.0] * BINS
    for value in real:
        counts[min(int((value - low) / width), BINS - 1)] += 1
    return Series(name, tuple(low + i * width for i in range(BINS)), tuple(counts))


def _line_of(series: Series, wide: int) -> str:
    """Return a series as a line of bars followed by its range."""
    real = [value for value in series.y if math.isfinite(value)]
    if not real:
        return f"{series.name:{wide}}  no finite values".lstrip()
    low, high = min(real), max(real)
    step = max(1, math.ceil(len(series.y) / COLUMNS))
    drawn = "".join(_level(value, low, high) for value in series.y[::step])
    name = f"{series.name:{wide}}  " if wide else ""
    return f"{name}{drawn}  {low:.4g} … {high:.4g}, {len(series.y)} values"


def _level(value: float, low: float, high: float) -> str:
    if not math.isfinite(value):
        return " "
    part = (value - low) / (high - low) if high > low else 0.5
    return LEVELS[min(int(part * len(LEVELS)), len(LEVELS) - 1)]
