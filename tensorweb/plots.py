"""`plot` and `bar_chart`: pictures of numbers, drawn by the page or printed.

Lengths and ticks are computed here, so that every host draws the same chart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, SupportsFloat

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


MOST_BARS = 100
MOST_TICKS = 6
MOST_DECADES = 4
"""Steps between the ticks of a logarithmic axis: their texts are long."""

BAR_COLUMNS = 30
SHORTEST_DECADES = 0.15
"""How far the least bar of a logarithmic chart stands above the axis, at least."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its label, value, the value's text, length from 0 to 1, emphasis."""

    label: str
    value: float
    text: str
    length: float
    is_marked: bool


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars with a title, a unit and the ticks of their axis; printing shows them.

    Attributes:
        title: what the numbers are.
        unit: of the numbers; may be empty.
        is_logarithmic: whether equal lengths are equal factors.
        bars: from top to bottom.
        ticks: texts along the axis and their positions from 0 to 1.

    >>> chart = bar_chart({"a": 1, "b": 4}, title="time", unit="s")
    >>> chart.heading, chart.bars[0].length
    ('time, s', 0.25)
    """

    title: str
    unit: str
    is_logarithmic: bool
    bars: tuple[Bar, ...]
    ticks: tuple[tuple[str, float], ...]

    @property
    def heading(self) -> str:
        """Title, unit and kind of scale in one line; empty where nothing is to say."""
        words = ", ".join(filter(None, (self.title, self.unit)))
        scale = "(logarithmic)" if self.is_logarithmic else ""
        return " ".join(filter(None, (words, scale)))

    def __repr__(self) -> str:
        wide = max((len(bar.label) for bar in self.bars), default=0)
        high = max((len(bar.text) for bar in self.bars), default=0)
        lines = [self.heading] if self.heading else []
        for bar in self.bars:
            drawn = "█" * max(round(bar.length * BAR_COLUMNS), bar.length > 0)
            mark = "▸" if bar.is_marked else " "
            line = f"{mark} {bar.label:{wide}}  {bar.text:>{high}} {drawn}"
            lines.append(line.rstrip())
        return "\n".join(lines)


def bar_chart(
    values: Mapping[str, SupportsFloat],
    /,
    *,
    title: str = "",
    unit: str = "",
    log: bool = False,
    mark: Iterable[str] = (),
) -> BarChart:
    """Return horizontal bars of numbers by label: print it, or `show` it on the page.

    Numbers are Python's or tensors of one element, at most 100, zero or more; above
    zero with `log`, where equal lengths are equal factors. Bars named in `mark` stand
    out.

    Raises:
        TypeError: the values are no mapping.
        ValueError: a number is negative or not finite, or zero with `log`; there are
            no bars or too many; `mark` names none of them.

    >>> bar_chart({"sum": 12.0, "matmul": 40.0}, title="time", unit="µs", mark=["sum"])
    time, µs
    ▸ sum     12 █████████
      matmul  40 ██████████████████████████████
    >>> bar_chart({"CPU": 5, "GPU": 40_000}, unit="GFLOP/s", log=True)
    GFLOP/s (logarithmic)
      CPU       5 ████
      GPU  40,000 ████████████████████████████
    """
    if not isinstance(values, Mapping):
        raise TypeError(
            f"bar_chart: values are of type {type(values).__name__}; give numbers by "
            "label, a dict such as {'sum': 12.0}."
        )
    numbers = {str(label): float(value) for label, value in values.items()}
    marked = frozenset(mark)
    _check(numbers, marked, log)
    position, ticks = _logarithmic(numbers) if log else _linear(numbers)
    bars = tuple(
        Bar(label, value, text_of(value), position(value), label in marked)
        for label, value in numbers.items()
    )
    return BarChart(title, unit, log, bars, tuple(ticks))


def text_of(value: float) -> str:
    """Return a number with three digits, or more before the point.

    >>> [text_of(x) for x in (0.12345, 5.0, 14.44, 39_734.2)]
    ['0.123', '5', '14.4', '39,734']
    """
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


def tick_text(value: float) -> str:
    """Return a short text of a round number: thousands as k, then M and G.

    >>> [tick_text(x) for x in (0.01, 25.0, 1_000.0, 2_500.0, 100_000.0, 1e9)]
    ['0.01', '25', '1k', '2.5k', '100k', '1G']
    """
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.4g}{letter}"
    return f"{value:.3g}"


def _check(numbers: Mapping[str, float], marked: frozenset[str], log: bool) -> None:
    """Refuse what cannot be drawn."""
    if not 0 < len(numbers) <= MOST_BARS:
        raise ValueError(
            f"bar_chart: {len(numbers)} bars; give 1 to {MOST_BARS}, for more look at "
            "a tensor's heat map with show(x)"
        )
    for label, value in numbers.items():
        if not math.isfinite(value) or value < 0:
            raise ValueError(
                f"bar_chart: {label!r} is {value:g}; bars begin at zero, give finite "
                "numbers of zero or more"
            )
        if log and value == 0:
            raise ValueError(
                f"bar_chart: {label!r} is 0, which has no position on a logarithmic "
                "scale; leave the bar out, or leave out log=True"
            )
    if unknown := sorted(marked - numbers.keys()):
        raise ValueError(
            f"bar_chart: mark names {', '.join(map(repr, unknown))}, but the bars are "
            f"{', '.join(map(repr, numbers))}"
        )


Place = Callable[[float], float]
Ticks = list[tuple[str, float]]


def _linear(numbers: Mapping[str, float]) -> tuple[Place, Ticks]:
    """Return where values stand from zero to the largest, and round ticks."""
    top = max(numbers.values()) or 1.0
    power = 10.0 ** math.floor(math.log10(top))
    steps = (power * factor for factor in (0.2, 0.5, 1.0, 2.0))
    step = next(step for step in steps if top / step < MOST_TICKS)
    count = math.floor(top / step + 1e-9)
    ticks = [(tick_text(i * step), min(i * step / top, 1.0)) for i in range(count + 1)]
    return lambda value: value / top, ticks


def _logarithmic(numbers: Mapping[str, float]) -> tuple[Place, Ticks]:
    """Return where values stand between powers of ten, and ticks at these."""
    low = math.floor(math.log10(min(numbers.values())) - SHORTEST_DECADES)
    high = max(low + 1, math.ceil(math.log10(max(numbers.values())) - 1e-9))
    stride = math.ceil((high - low) / MOST_DECADES)
    ticks = [
        (tick_text(10.0**power), (power - low) / (high - low))
        for power in range(low, high + 1, stride)
    ]
    return lambda value: (math.log10(value) - low) / (high - low), ticks
