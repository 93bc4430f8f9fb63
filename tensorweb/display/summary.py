"""A tensor as a line of facts, with a picture where it has several elements."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from tensorweb.display.statistics import shape_text, short, values_of
from tensorweb.errors import counted
from tensorweb.evaluate import read
from tensorweb.graph.node import Node
from tensorweb.hostdata import Number

from .cells import Cells, cells_of, finite_range, plane
from .png import indexed_png
from .statistics import Statistics, answer, drawn, questions, store

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


@dataclass(frozen=True, slots=True)
class Summary:
    """The facts of a tensor that are shown next to its values.

    Attributes:
        facts: dtype, shape, device, range, mean, and what is not finite.
        notes: what the picture shows, for people who see it and for those who do not.
        drawing: the picture.
    """

    facts: str
    notes: str
    drawing: Drawing

    def png(self) -> str:
        """Return the picture in base64, in the colours of light pages."""
        return b64encode(self.drawing.png("light")).decode()

    def html(self, text: str) -> str:
        """Return facts, picture and the values' text for pages of any colours."""
        return HTML.format(
            facts=escape(self.facts),
            sources=self._source() if self.drawing.scale.is_diverging else "",
            png=self.png(),
            width=self.drawing.width,
            height=self.drawing.height,
            notes=escape(self.notes),
            text=escape(text),
        )

    def _source(self) -> str:
        png = b64encode(self.drawing.png("dark")).decode()
        return SOURCE.format(png=png)


SOURCE = (
    '<source media="(prefers-color-scheme: dark)" srcset="data:image/png;base64,{png}">'
)

HTML = """\
<div><div>{facts}</div>
<picture>{sources}<img src="data:image/png;base64,{png}" alt="Picture: {notes}." \
width="{width}" height="{height}" style="image-rendering: pixelated"></picture>
<div><small>{notes}</small></div>
<pre style="max-height: 16em; overflow: auto">{text}</pre></div>"""
"""Takes the colours of the page around it."""


def summary_of(node: Node) -> Summary | None:
    """Return facts and a picture, None of a 0-d tensor and of less than two elements.

    Of more than two axes the last two are drawn, at the first index of the others.

    Raises:
        BlockingError: Python cannot wait here.
    """
    if not node.shape or node.size < 2:
        return None
    store([node])
    last = len(node.shape) - 1
    rows = last - 1 if last else None
    part = plane(node, rows, last, [0] * len(node.shape))
    cells = cells_of(drawn(part), "mean")
    asked = [*questions(node), cells.node]
    *numbers, values = [
        values_of(data, part) for data, part in zip(read(asked), asked, strict=True)
    ]
    statistics = answer(node, [number for (number,) in numbers])
    scale = scale_of(*finite_range(values))
    return Summary(
        facts_of(node, statistics),
        _notes(node, cells, values, scale.is_diverging),
        drawing_of(cells, values, scale),
    )


def facts_of(node: Node, found: Statistics) -> str:
    """Return one line: dtype, shape, device, range, mean and what is not finite."""
    parts = [f"{node.dtype} {shape_text(node.shape)} on {node.device}"]
    if node.dtype.kind == "complex":
        parts.append("abs(x)")
    if found.least is not None and found.greatest is not None:
        parts.append(f"{short(found.least)} … {short(found.greatest)}")
    if found.mean is not None:
        parts.append(f"mean {short(found.mean)}")
    if found.nans:
        parts.append(f"{found.nans:,} NaN")
    if found.infinities:
        parts.append(f"{found.infinities:,} Inf")
    return " · ".join(parts)


def _notes(
    node: Node, cells: Cells, values: Sequence[Number], is_diverging: bool
) -> str:
    """Describe the drawn cells in words, for the caption of a picture."""
    parts = [f"{cells.rows} by {cells.columns} cells"]
    if len(node.shape) > 2:
        parts.append(f"of [{', '.join(['0'] * (len(node.shape) - 2))}, :, :]")
    if cells.how == "each":
        parts.append("each one element")
    else:
        block = f"{cells.block_rows} by {cells.block_columns}"
        parts.append(f"each the mean of {block} elements")
    if node.dtype.kind == "complex":
        parts.append("drawn is abs(x)")
    nans = sum(value != value for value in values)
    infinities = sum(abs(value) == float("inf") for value in values)
    if nans:
        parts.append(f"✕ NaN in {counted(nans, 'cell')}")
    if infinities:
        parts.append(f"I infinity in {counted(infinities, 'cell')}")
    is_red = "red is negative, blue positive"
    parts.append(is_red if is_diverging else "dark is low, bright is high")
    return " · ".join(parts)


WIDTH, HEIGHT, LARGEST_CELL = 360, 240, 20
"""The room of a picture in pixels; one pixel a cell may take more."""

THIN = 28
"""Least width and height of a picture in pixels."""

LEAST_GLYPH = 7
"""Cells of fewer pixels have no room for a mark of five by five dots."""

SHADES = 251
"""Colours of a scale: 25 steps from each stop to the next."""

NAN, NAN_MARK, LOW_MARK, HIGH_MARK = range(SHADES, SHADES + 4)
"""What follows the shades in a palette."""

GLYPHS = {
    "nan": ("#...#", ".#.#.", "..#..", ".#.#.", "#...#"),
    "inf": (".#.#.", "#.#.#", ".#.#."),
    "-inf": ("....#.#.", "##.#.#.#", "....#.#."),
}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture whose colours are still to be chosen: a byte for each pixel."""

    rows: tuple[bytearray, ...]
    scale: Scale

    @property
    def width(self) -> int:
        """Pixels of a row."""
        return len(self.rows[0])

    @property
    def height(self) -> int:
        """Rows of pixels."""
        return len(self.rows)

    def png(self, scheme: Scheme) -> bytes:
        """Return the file in the colours of light or dark pages."""
        return indexed_png(self.rows, palette(self.scale, scheme))


def palette(scale: Scale, scheme: Scheme) -> list[Colour]:
    """Return the colours that the bytes of a drawing stand for."""
    stops = scale.stops(scheme)
    shades = [colour_at(stops, shade / (SHADES - 1)) for shade in range(SHADES)]
    return [*shades, NAN_COLOUR, NAN_INK, ink_on(shades[0]), ink_on(shades[-1])]


def drawing_of(cells: Cells, values: Sequence[Number], scale: Scale) -> Drawing:
    """Return the picture of cells whose values were read, row by row."""
    width, height = cell_size(cells)
    flat = bytes(_shade(value, scale) for value in values)
    rows: list[bytearray] = []
    for start in range(0, len(flat), cells.columns):
        row = bytearray(cells.columns * width)
        for column in range(width):
            row[column::width] = flat[start : start + cells.columns]
        rows += [bytearray(row) for _ in range(height)]
    drawing = Drawing(tuple(rows), scale)
    for index, value in enumerate(values):
        if not math.isfinite(value):
            row_index, column = divmod(index, cells.columns)
            _mark(drawing, value, column * width, row_index * height, (width, height))
    return drawing


def cell_size(cells: Cells) -> tuple[int, int]:
    """Return pixels across and down; a cell has the shape of its block, about."""
    block = cells.block_rows / cells.block_columns
    aspect = block if 1 / 3 <= block <= 3 else 1.0
    width, height = WIDTH / cells.columns, HEIGHT / cells.rows
    if aspect >= 1:
        across = _whole(min(width, height / aspect, LARGEST_CELL / aspect))
        down = round(across * aspect)
    else:
        down = _whole(min(height, width * aspect, LARGEST_CELL * aspect))
        across = round(down / aspect)
    return (
        max(across, math.ceil(THIN / cells.columns)),
        max(down, math.ceil(THIN / cells.rows)),
    )


def _whole(size: float) -> int:
    return max(1, math.floor(size))


def _shade(value: Number, scale: Scale) -> int:
    if math.isnan(value):
        return NAN
    if math.isinf(value):
        return SHADES - 1 if value > 0 else 0
    return round(scale.part(value) * (SHADES - 1))


def _mark(
    drawing: Drawing, value: Number, left: int, top: int, size: tuple[int, int]
) -> None:
    """Put the mark of what is not finite into its cell."""
    width, height = size
    name = str(float(value))
    if min(size) < LEAST_GLYPH:
        if name == "nan":
            _fill(drawing, NAN_MARK, left, top, size)
        return
    ink = {"nan": NAN_MARK, "inf": HIGH_MARK, "-inf": LOW_MARK}[name]
    glyph = GLYPHS[name]
    down, across = len(glyph), len(glyph[0])
    dot = min(width // (across + 1), height // (down + 1))
    left += (width - across * dot) // 2
    top += (height - down * dot) // 2
    for y, dots in enumerate(glyph):
        for x, mark in enumerate(dots):
            if mark == "#":
                _fill(drawing, ink, left + x * dot, top + y * dot, (dot, dot))


def _fill(
    drawing: Drawing, ink: int, left: int, top: int, size: tuple[int, int]
) -> None:
    width, height = size
    for row in drawing.rows[top : top + height]:
        row[left : left + width] = bytes([ink]) * width
