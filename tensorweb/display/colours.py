"""Colours of values, those of the page (`web/src/panels/tensors/colours.ts`).

Sequential, or diverging from zero with blue positive, red negative, which has other
stops on light and on dark pages. `tests/tensor/test_colours.py` compares the two files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Colour = tuple[int, int, int]
Scheme = Literal["light", "dark"]

SEQUENTIAL: tuple[Colour, ...] = (
    *((68, 1, 84), (72, 36, 117), (65, 68, 135), (53, 95, 141), (42, 120, 142)),
    *((33, 145, 140), (34, 168, 132), (68, 191, 112), (122, 209, 81)),
    *((189, 223, 38), (253, 231, 37)),
)
"""Viridis in eleven stops (Smith and van der Walt, CC0), dark is low."""

DIVERGING: dict[Scheme, tuple[Colour, ...]] = {
    "light": (
        *((112, 15, 35), (166, 38, 48), (207, 89, 82), (232, 152, 138)),
        *((246, 208, 199), (247, 247, 246), (200, 220, 238), (138, 184, 222)),
        *((77, 138, 198), (36, 92, 164), (16, 52, 116)),
    ),
    "dark": (
        *((255, 170, 156), (243, 118, 104), (209, 74, 68), (152, 49, 50)),
        *((92, 38, 42), (37, 41, 49), (32, 58, 92), (36, 88, 146)),
        *((56, 125, 199), (104, 166, 235), (166, 208, 255)),
    ),
}

NAN_COLOUR: Colour = (0, 0, 0)
NAN_INK: Colour = (255, 92, 240)
BLACK: Colour = (0, 0, 0)
WHITE: Colour = (255, 255, 255)


@dataclass(frozen=True, slots=True)
class Scale:
    """Which value gets which colour; `low` and `high` are the ends."""

    low: float
    high: float
    is_diverging: bool

    def part(self, value: float) -> float:
        """Return where a finite value lies, from 0 to 1; one value alone: 0.5."""
        # The difference of two finite numbers may be infinite, that of halves not.
        span = self.high / 2 - self.low / 2
        if span <= 0:
            return 0.5
        return min(max((value / 2 - self.low / 2) / span, 0.0), 1.0)

    def stops(self, scheme: Scheme) -> tuple[Colour, ...]:
        """Return the colours from low to high, in equal steps."""
        return DIVERGING[scheme] if self.is_diverging else SEQUENTIAL


def scale_of(low: float, high: float) -> Scale:
    """Return the scale of a picture: symmetric about zero where values change sign."""
    if low < 0 < high:
        limit = max(-low, high)
        return Scale(-limit, limit, True)
    return Scale(low, high, False)


def colour_at(stops: Sequence[Colour], part: float) -> Colour:
    """Return the colour between stops; `part` runs from 0 to 1.

    >>> colour_at([(0, 0, 0), (100, 50, 10)], 0.5)
    (50, 25, 5)
    """
    position = part * (len(stops) - 1)
    index = min(int(position), len(stops) - 2)
    rest = position - index
    pairs = zip(stops[index], stops[index + 1], strict=True)
    red, green, blue = (int(a + (b - a) * rest + 0.5) for a, b in pairs)
    return red, green, blue


def ink_on(colour: Colour) -> Colour:
    """Return black or white, whichever reads better on a colour."""
    red, green, blue = colour
    is_bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 140
    return BLACK if is_bright else WHITE
