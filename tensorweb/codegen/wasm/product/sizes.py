"""How a product is cut: into tiles of registers, parts of the depth, and units of work.

The order in which a sum is made follows from the depth alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.wasm.elements import KINDS
from tensorweb.codegen.wasm.operators import LANES
from tensorweb.codegen.wasm.policy import (
    DEPTH_PART,
    FEW_ROWS,
    LEAST_UNIT,
    LEAST_UNITS,
    MOST_UNIT,
    MOST_UNIT_ROWS,
    PRODUCT_SLICE,
    SMALL_MATRIX,
    THIN_COLUMNS,
    THIN_DEPTH,
    THIN_ROWS,
    WORK_PER_SUM,
)
from tensorweb.codegen.wasm.product.panel import NUMBERS, Numbers

Costs = dict[tuple[int, int], float]
"""Time of a product of numbers in a tile, by the tile's rows and vectors."""

_PLAIN: Costs = {
    (4, 2): 1.0,
    (5, 2): 1.0,
    (3, 3): 1.04,
    (2, 4): 1.08,
    (2, 3): 1.13,
    (3, 2): 1.1,
    (2, 2): 1.55,
    (5, 1): 1.34,
    (4, 1): 1.5,
    (3, 1): 1.9,
    (2, 1): 2.7,
}
_FUSED: Costs = {
    (4, 2): 1.0,
    (6, 2): 1.01,
    (3, 3): 1.04,
    (5, 2): 1.05,
    (2, 4): 1.2,
    (3, 2): 1.4,
    (2, 3): 1.4,
    (2, 2): 2.1,
    (8, 1): 1.4,
    (6, 1): 1.47,
    (5, 1): 1.8,
    (4, 1): 2.1,
    (3, 1): 2.75,
    (2, 1): 4.0,
}
COSTS: dict[str, Costs] = {
    "f32": _PLAIN,
    "f32 fused": _FUSED,
    "f64": _PLAIN,
    "f64 fused": _FUSED,
    "i32": {each: cost for each, cost in _PLAIN.items() if each != (5, 2)},
    "i64": {(2, 2): 1.0, (2, 1): 1.1},
}
"""Measured in Chromium; with more sums they leave the registers."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The lengths of a product, and of its parts.

    Attributes:
        batch, rows, columns, depth: of the product.
        kind: the type of its sums.
        tile: rows and vectors of a tile.
        unit_batch, unit_rows, unit_columns: sizes of a unit.
        depth_part: the longest part of the depth.
    """

    batch: int
    rows: int
    columns: int
    depth: int
    kind: str
    tile: tuple[int, int]
    unit_batch: int
    unit_rows: int
    unit_columns: int
    depth_part: int

    @property
    def numbers(self) -> Numbers:
        """How they are computed."""
        return NUMBERS[self.kind]

    @property
    def vectors(self) -> int:
        """Vectors that hold all columns."""
        return -(-self.columns // self.numbers.together)

    @property
    def width(self) -> int:
        """Columns of a panel."""
        return self.tile[1] * self.numbers.together

    @property
    def panels(self) -> int:
        """Panels of that width."""
        return self.vectors // self.tile[1]

    @property
    def narrow(self) -> int:
        """Vectors of the last, narrower panel, 0 if there is none."""
        return self.vectors % self.tile[1]

    @property
    def computed_columns(self) -> int:
        """Columns that all panels compute."""
        return self.vectors * self.numbers.together

    @property
    def is_whole(self) -> bool:
        """Whether columns end where vectors do."""
        return self.columns == self.computed_columns

    @property
    def row_blocks(self) -> int:
        """Units along the rows."""
        return -(-self.rows // self.unit_rows)

    @property
    def column_blocks(self) -> int:
        """Units along the columns."""
        return -(-self.columns // self.unit_columns)

    def units(self, matrices: int) -> int:
        """Return the number of units of some matrices of the batch."""
        blocks = self.row_blocks * self.column_blocks
        return -(-matrices // self.unit_batch) * blocks

    @property
    def per_slice(self) -> int:
        """Units of a slice."""
        work = self.unit_batch * self.unit_rows * self.unit_columns
        work *= (self.depth + WORK_PER_SUM) * 4 // self.numbers.together
        return max(PRODUCT_SLICE // max(work, 1), 1)


def best_tile(
    rows: int, columns: int, kind: str, is_fused: bool
) -> tuple[tuple[int, int], float]:
    """Return the tile that computes a product of matrices soonest, and its time.

    The time is for each of its depths, in products of vectors at full speed.

    >>> best_tile(512, 512, "f32", False)[0], best_tile(2, 512, "f32", False)[0]
    ((4, 2), (2, 4))
    """
    costs = COSTS[f"{kind} fused" if is_fused and kind[0] == "f" else kind]
    vectors = -(-columns // NUMBERS[kind].together)

    def time(tile: tuple[int, int]) -> float:
        down, across = tile
        narrow = vectors % across
        wide = (vectors - narrow) * costs[tile]
        rest = narrow * costs[down, narrow] if narrow else 0
        return -(-rows // down) * down * (wide + rest)

    best = min(costs, key=time)
    return best, time(best)


def sizes_of(
    batch: int, rows: int, columns: int, depth: int, dtype: str, is_fused: bool
) -> Sizes:
    """Return how a product of matrices is cut.

    Args:
        batch: number of matrices.
        rows: of the left operand.
        columns: of the right operand.
        depth: terms of each sum.
        dtype: of its sums.
        is_fused: whether multiplying and adding round once.
    """
    kind = kind_of(dtype)
    tile, _ = best_tile(rows, columns, kind, is_fused)
    is_thin = rows <= THIN_ROWS and depth * columns * NUMBERS[kind].size > SMALL_MATRIX
    parts = max(-(-depth // (THIN_DEPTH if is_thin else DEPTH_PART)), 1)
    part = max(-(-depth // (4 * parts)) * 4, 4)
    work = batch * rows * columns * (depth + WORK_PER_SUM)
    unit_work = min(max(work // LEAST_UNITS, LEAST_UNIT), MOST_UNIT)
    results = max(unit_work // (depth + WORK_PER_SUM), 1)
    block = rows, columns
    together = 1
    if results >= rows * columns:
        together = min(results // (rows * columns), batch)
    else:
        if is_thin:
            results = max(results, rows * THIN_COLUMNS)
        block = _unit(rows, columns, results, tile[0], tile[1] * NUMBERS[kind].together)
    return Sizes(batch, rows, columns, depth, kind, tile, together, *block, part)


def kind_of(dtype: str) -> str:
    """Return the type of the numbers that are sums of a dtype."""
    return KINDS[dtype].replace("u", "i")


def _unit(
    rows: int, columns: int, results: int, down: int, across: int
) -> tuple[int, int]:
    """Return the rows and columns of units of about `results` results.

    Args:
        rows: of the product.
        columns: of the product.
        results: of a unit.
        down: rows of a tile.
        across: columns of a panel.
    """
    side = round(results**0.5)
    if rows <= FEW_ROWS:
        return rows, _block(columns, results // rows, across)
    unit_columns = _block(columns, side, across)
    about = results // unit_columns
    if unit_columns > across:
        about = min(about, MOST_UNIT_ROWS)
    return _block(rows, about, down), unit_columns


def _block(length: int, about: int, multiple: int) -> int:
    """Return the length of about equal blocks of an axis, of whole tiles.

    The last one is not narrower than a vector.
    """
    if about >= length:
        return length
    blocks = -(-length // max(about, 1))
    block = -(-length // (blocks * multiple)) * multiple
    while block < length and 0 < length % block < LANES:
        block += multiple
    return min(block, length)
