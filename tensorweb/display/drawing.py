"""Draws cells as pixels, like the page (`web/src/panels/tensors/heatmap.ts`).

NaN is a cross on black, infinities are marks on the colour of their end of the scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tensorweb.hostdata import Number

from .cells import Cells
from .colours import (
    NAN_COLOUR,
    NAN_INK,
    Colour,
    Scale,
    Scheme,
    colour_at,
    ink_on,
)
from .png import indexed_png

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
