"""How a product is cut: into tiles of registers, parts of the depth, and units of work.

The order in which a sum is made follows from the depth alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.wasm.elements import KINDS
from tensorweb.codegen.wasm.product.panel import NUMBERS, Numbers

DEPTH = 512
"""The longest part of the depth: a panel of its columns stays in the smallest cache."""

MOST_ROWS = 256
"""Rows of a unit with several panels, which read them again and again from a cache."""

UNITS = 64
"""Units that a product should have, so that threads share the work evenly."""

LEAST_UNIT = 1 << 17
"""Products of numbers that a unit should have, so that beginning one costs little."""

MOST_UNIT = 1 << 24
"""Those of the largest unit, a millisecond."""

SLICE = 1 << 23
"""Those of a slice, in vectors of four."""

_COSTS = {
    "f32": {4: 1.0, 5: 1.04, 3: 1.13, 2: 1.45},
    "f32 fused": {4: 1.0, 6: 1.01, 5: 1.04, 3: 1.27, 2: 2.08},
    "i32": {4: 1.0, 3: 1.03, 2: 1.5},
    "i64": {2: 1.0, 3: 1.2},
}
"""Time of a tile's product by its rows, in Chromium, of types with their own figures.

With more rows, accumulators leave the registers.
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The lengths of a product, and of its parts.

    Attributes:
        batch, rows, columns, depth: of the product.
        kind: the type of its sums.
        tile_rows: rows of a tile; its columns are two vectors.
        unit_batch, unit_rows, unit_columns: what a unit computes.
        depth_part: the longest part of the depth.
    """

    batch: int
    rows: int
    columns: int
    depth: int
    kind: str
    tile_rows: int
    unit_batch: int
    unit_rows: int
    unit_columns: int
    depth_part: int

    @property
    def numbers(self) -> Numbers:
        """How they are computed."""
        return NUMBERS[self.kind]

    @property
    def half(self) -> int:
        """Columns of a vector."""
        return self.numbers.together

    @property
    def width(self) -> int:
        """Columns of a panel."""
        return 2 * self.numbers.together

    @property
    def narrow(self) -> int:
        """How many of the last columns are done by a panel of one vector."""
        rest = self.columns % self.width
        return rest if rest <= self.half else 0

    @property
    def panels(self) -> int:
        """Panels of two vectors."""
        return -(-(self.columns - self.narrow) // self.width)

    @property
    def computed_columns(self) -> int:
        """Columns that all panels compute."""
        return self.panels * self.width + (self.half if self.narrow else 0)

    @property
    def row_blocks(self) -> int:
        """Units along the rows."""
        return -(-self.rows // self.unit_rows)

    @property
    def column_blocks(self) -> int:
        """Units along the columns."""
        return -(-self.columns // self.unit_columns)

    @property
    def units(self) -> int:
        """All units."""
        blocks = self.row_blocks * self.column_blocks
        return -(-self.batch // self.unit_batch) * blocks

    @property
    def per_slice(self) -> int:
        """Units of a slice."""
        work = self.unit_batch * self.unit_rows * self.unit_columns
        work *= (self.depth + 16) * 4 // self.numbers.together
        return max(SLICE // max(work, 1), 1)


def tile_rows(rows: int, kind: str, is_fused: bool) -> int:
    """Return the rows of a tile: few are computed twice, and registers suffice.

    >>> tile_rows(512, "f32", False), tile_rows(3, "f32", False)
    (4, 3)
    """
    name = "f32" if kind == "f64" else kind
    costs = _COSTS[f"{name} fused" if is_fused and name == "f32" else name]
    return min(costs, key=lambda each: -(-rows // each) * each * costs[each])


def sizes_of(
    batch: int, rows: int, columns: int, depth: int, dtype: str, is_fused: bool
) -> Sizes:
    """Return how a product of matrices is cut.

    Args:
        batch: how many matrices.
        rows: of the left operand.
        columns: of the right operand.
        depth: terms of each sum.
        dtype: of its sums.
        is_fused: whether multiplying and adding round once.
    """
    kind = KINDS[dtype].replace("u", "i")
    numbers = NUMBERS[kind]
    tile = tile_rows(rows, kind, is_fused)
    parts = max(-(-depth // DEPTH), 1)
    part = max(-(-depth // (4 * parts)) * 4, 4)
    width = 2 * numbers.together
    area = batch * rows * columns
    wanted = min(max(area * (depth + 16) // UNITS, LEAST_UNIT), MOST_UNIT)
    results = max(wanted // (depth + 16), 1)
    if results >= rows * columns:
        together = min(results // (rows * columns), batch)
        return Sizes(
            batch, rows, columns, depth, kind, tile, together, rows, columns, part
        )
    side = max(_up(round(results**0.5), width), width)
    unit_columns = _block(columns, side, width)
    most = rows if unit_columns <= width else MOST_ROWS
    unit_rows = min(_up(-(-results // unit_columns), tile), most, rows)
    if unit_rows == rows:
        side = _up(-(-results // rows), width)
        unit_columns = _block(columns, side, width)
    return Sizes(
        batch, rows, columns, depth, kind, tile, 1, unit_rows, unit_columns, part
    )


def _up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def _block(length: int, about: int, width: int) -> int:
    """Return the length of about equal blocks of an axis, of whole panels.

    The last one is not narrower than a vector.
    """
    if about >= length:
        return length
    blocks = -(-length // about)
    block = _up(-(-length // blocks), width)
    while block < length and 0 < length % block < width:
        block += width
    return min(block, length)
