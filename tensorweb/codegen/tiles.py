"""The tiles of the matrix product: a table, and which row fits a problem.

A workgroup computes `rows` by `columns` outputs, `depth` deep at a time; each thread
keeps `thread_rows` by `thread_columns` sums in registers. Larger tiles read less and
smaller ones keep more of the GPU busy.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen.target import DEFAULT_TARGET, Target


@dataclass(frozen=True, slots=True)
class Tile:
    """One row of the table.

    Attributes:
        name: for people.
        rows, columns, depth: of the tile, multiples of four.
        thread_rows, thread_columns: sums of one thread, multiples of four.
        least: the smallest number of rows and columns it is meant for.
        enough: workgroups below which a smaller tile is faster.
        unrolled: depths written out one after another in the innermost loop.
    """

    name: str
    rows: int
    columns: int
    depth: int
    thread_rows: int
    thread_columns: int
    least: int
    enough: int
    unrolled: int = 8

    @property
    def across(self) -> int:
        """Threads along the columns."""
        return self.columns // self.thread_columns

    @property
    def threads(self) -> int:
        """Threads of a workgroup."""
        return self.across * (self.rows // self.thread_rows)

    @property
    def workgroup_bytes(self) -> int:
        """Workgroup memory."""
        return (self.rows + self.columns) * self.depth * 4

    def groups(self, batch: int, rows: int, columns: int) -> int:
        """Return the number of workgroups of a problem."""
        return batch * -(-rows // self.rows) * -(-columns // self.columns)


TILES: tuple[Tile, ...] = (
    Tile("large", 128, 128, 16, 8, 8, 256, 200, 16),
    Tile("tall", 128, 64, 16, 8, 8, 256, 120, 16),
    Tile("wide", 64, 128, 16, 8, 8, 64, 120),
    Tile("medium", 64, 64, 16, 8, 4, 48, 120),
    Tile("small", 32, 32, 32, 4, 4, 0, 0),
)
"""From the largest to the smallest; the figures behind them are in `bench/`."""

FEW_GROUPS = 32
"""With fewer workgroups than this the inner axis is split, until there are enough."""

LARGEST_ONE_BY_ONE = 64 * 64
"""Elements of the largest tile for operands that are read one by one."""

LEAST_DEPTH_PER_SPLIT = 128
"""Splitting the inner axis into shorter parts costs more than it brings."""

MOST_SPLITS = 64


@dataclass(frozen=True, slots=True)
class Choice:
    """A tile and into how many parts the inner axis is split."""

    tile: Tile
    splits: int


def choose_tile(
    batch: int,
    rows: int,
    columns: int,
    depth: int,
    target: Target = DEFAULT_TARGET,
    in_vectors: bool = True,
) -> Choice:
    """Return the tile for `batch` products of (rows, depth) and (depth, columns).

    Operands that cannot be read in vectors of four take tiles with more threads for
    each element.

    >>> choose_tile(1, 4096, 4096, 4096).tile.name
    'large'
    >>> choose_tile(1, 64, 64, 8192).splits > 1
    True
    """
    smallest = TILES[-1]
    if target.is_software:
        return Choice(smallest, 1)
    for tile in TILES:
        fits = (
            tile.threads <= target.threads
            and tile.workgroup_bytes <= target.workgroup_bytes
            and min(rows, columns) >= tile.least
            and (in_vectors or tile.rows * tile.columns <= LARGEST_ONE_BY_ONE)
            and (columns * 4 >= tile.columns * 3 or tile is smallest)
        )
        groups = tile.groups(batch, rows, columns)
        if fits and groups >= max(tile.enough, FEW_GROUPS):
            return Choice(tile, 1)
    groups = max(smallest.groups(batch, rows, columns), 1)
    wanted = min(-(-4 * FEW_GROUPS // groups), MOST_SPLITS)
    return Choice(smallest, max(min(wanted, depth // LEAST_DEPTH_PER_SPLIT), 1))
