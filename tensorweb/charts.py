"""`bar_chart`: a few labelled numbers as horizontal bars, printed or drawn by a host.

Lengths and ticks are computed here, so that every host draws the same chart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import SupportsFloat

MOST_BARS = 100
MOST_TICKS = 6
MOST_DECADES = 4
"""Steps between the ticks of a logarithmic axis: their texts are long."""

COLUMNS = 30
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
            drawn = "█" * max(round(bar.length * COLUMNS), bar.length > 0)
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
