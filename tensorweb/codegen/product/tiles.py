"""The tiles of the matrix product: a table, and the choice of a tile for a problem.

A workgroup computes `rows` by `columns` results, `depth` terms at a time; each thread
keeps `thread_rows` by `thread_columns` accumulators in registers. Larger tiles read
less; smaller ones occupy more of the GPU. If there are few tiles, the depth of a tile
is divided into `slices` with separate threads, whose accumulators are added in
workgroup memory at the end: this adds threads without smaller blocks of accumulators.

The tile with the shortest estimated time is chosen. All tiles of a product take equally
long, so that a core with one tile more than the others keeps them waiting: sharing the
depth of each result among several workgroups (`splits`) evens the cores out.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen import policy
from tensorweb.codegen.program import DEFAULT_TARGET, Target, ceil_divide


@dataclass(frozen=True, slots=True)
class ProductTile:
    """One entry of the table.

    Attributes:
        name: name for diagnostics.
        rows, columns, depth: sizes of the tile, multiples of four.
        thread_rows, thread_columns: results of one thread, multiples of four.
        rate: TFLOP/s of the measured GPU if all cores run as many as they can.
        concurrent: workgroups that one core runs concurrently.
        single_rate: fraction of a core's rate that a single workgroup reaches.
        overhead_terms: terms in whose time a workgroup loads its first tile and stores
            its results.
        slices: parts of the depth, each with separate threads.
        unrolled: unrolled iterations of the innermost loop.
    """

    name: str
    rows: int
    columns: int
    depth: int
    thread_rows: int
    thread_columns: int
    rate: float
    concurrent: int
    single_rate: float
    overhead_terms: int
    slices: int = 1
    unrolled: int = 16

    @property
    def across(self) -> int:
        """Threads of a slice along the columns."""
        return self.columns // self.thread_columns

    @property
    def workers(self) -> int:
        """Threads of a slice."""
        return self.across * (self.rows // self.thread_rows)

    @property
    def threads(self) -> int:
        """Threads of a workgroup."""
        return self.workers * self.slices

    @property
    def accumulators(self) -> int:
        """Number of accumulators of a thread, one for each of its results."""
        return self.thread_rows * self.thread_columns

    def loads(self, of_rows: bool) -> int:
        """Return the number of vectors of an operand's tile that a thread loads."""
        vectors = (self.rows if of_rows else self.columns) * self.depth // 4
        return ceil_divide(vectors, self.threads)

    @property
    def slice_vectors(self) -> int:
        """Vectors of workgroup memory in which slices add their accumulators."""
        if self.slices == 1:
            return 0
        return self.threads * min(self.slices, self.accumulators // 4)

    @property
    def workgroup_bytes(self) -> int:
        """Workgroup memory."""
        return (
            max((self.rows + self.columns) * self.depth // 4, self.slice_vectors) * 16
        )

    def groups(self, batch: int, rows: int, columns: int) -> int:
        """Return the number of workgroups of a problem."""
        return batch * ceil_divide(rows, self.rows) * ceil_divide(columns, self.columns)

    def fits(self, target: Target) -> bool:
        """Return whether a target has the threads and the workgroup memory."""
        return (
            self.threads <= target.threads
            and self.workgroup_bytes <= target.workgroup_bytes
        )

    def is_filled(self, rows: int, columns: int) -> bool:
        """Return whether a problem's shorter side fits that of this skinny tile."""
        (tile_side, side), (tile_length, length) = sorted(
            ((self.rows, rows), (self.columns, columns))
        )
        tiles = length // tile_length
        return 2 <= side <= tile_side and tiles >= policy.LEAST_SKINNY_TILES

    def used(self, rows: int, columns: int) -> float:
        """Return the fraction of computed results that a problem of this size needs."""
        area = self.rows * self.columns * self.groups(1, rows, columns)
        return rows * columns / max(area, 1)

    def microseconds(
        self,
        splits: int,
        batch: int,
        rows: int,
        columns: int,
        depth: int,
        cores: int,
    ) -> float:
        """Return the estimated time of a problem whose depth is shared by `splits`."""
        per_core = ceil_divide(self.groups(batch, rows, columns) * splits, cores)
        remaining = per_core % self.concurrent
        passes = float(per_core)
        if remaining:  # fewer workgroups than a core can run use less of it
            idle = (self.concurrent - remaining) / (self.concurrent - 1)
            passes += remaining / self.single_rate**idle - remaining
        terms = (
            ceil_divide(depth, splits * self.depth) * self.depth + self.overhead_terms
        )
        work = passes * 2 * self.rows * self.columns * terms
        time = policy.LAUNCH_TIME + work * policy.MEASURED_CORES / (self.rate * 1e6)
        if splits > 1:  # partial sums are stored, and read by a second launch
            words = batch * rows * columns * (splits + 1)
            time += policy.SPLIT_TIME + words / (policy.CORE_WORDS * cores)
        return time


PRODUCT_TILES: tuple[ProductTile, ...] = (
    ProductTile("large", 128, 128, 16, 8, 16, 45.5, 2, 0.57, 40),
    ProductTile("broad", 128, 128, 16, 8, 8, 45, 2, 0.8, 40),
    ProductTile("wide", 64, 128, 32, 8, 8, 39.5, 1, 1, 13, slices=2),
    ProductTile("tall", 128, 64, 16, 8, 8, 43, 3, 0.82, 15),
    ProductTile("square", 64, 64, 32, 8, 8, 39.4, 2, 0.86, 21, slices=2),
    ProductTile("medium", 64, 64, 16, 8, 4, 41, 4, 0.77, 11),
    ProductTile("narrow", 64, 32, 32, 8, 4, 34.5, 5, 0.93, 35, slices=4),
    ProductTile("small", 32, 16, 64, 4, 4, 22.8, 3, 0.9, 48, slices=4),
)
"""From the largest to the smallest, as measured in `docs/contributing/tuning.md`.

`broad` and `medium` are for devices whose threads keep fewer accumulators.
"""

WINDOW_TILES: tuple[ProductTile, ...] = (
    ProductTile("tall windows", 128, 64, 16, 8, 8, 41, 3, 0.78, 15),
    ProductTile("broad windows", 64, 128, 16, 8, 8, 41, 3, 0.78, 15),
    ProductTile("narrow", 64, 32, 32, 8, 4, 30, 5, 0.93, 35, slices=4),
    ProductTile("low windows", 32, 64, 16, 8, 4, 34, 5, 0.42, 11),
)
"""Tiles for operands with several axes per group: few loads per thread."""

SKINNY_TILES: tuple[ProductTile, ...] = (
    ProductTile("low", 8, 32, 128, 8, 4, 7, 2, 0.8, 128, slices=16),
    ProductTile("flat", 16, 32, 128, 8, 4, 13, 2, 0.8, 128, slices=16),
    ProductTile("thin", 32, 8, 128, 4, 4, 7, 2, 0.8, 128, slices=16),
)
"""Tiles for few rows or columns, which are bound by reading the other operand.

A device with the least limits has too little workgroup memory for them and uses the
smallest tile.
"""


SOFTWARE_TILE = ProductTile("software", 32, 32, 16, 4, 4, 1, 1, 1, 0, unrolled=8)
"""Tile for software adapters, whose threads are run one after another."""


@dataclass(frozen=True, slots=True)
class TileChoice:
    """A tile, and the number of parts of the inner axis."""

    tile: ProductTile
    splits: int


def choose_tile(
    batch: int,
    rows: int,
    columns: int,
    depth: int,
    target: Target = DEFAULT_TARGET,
    in_vectors: bool = True,
    has_windows: bool = False,
) -> TileChoice:
    """Return the tile for `batch` products of (rows, depth) and (depth, columns).

    Args:
        batch: number of products.
        rows: rows of the left operand.
        columns: columns of the right operand.
        depth: terms of each sum.
        target: the device.
        in_vectors: whether both operands can be read in vectors of four; otherwise
            tiles with more threads per element are used.
        has_windows: whether an operand's positions are divided into coordinates.

    >>> choose_tile(1, 4096, 4096, 4096).tile.name
    'large'
    >>> choose_tile(1, 64, 64, 8192).splits > 1
    True
    """
    if target.is_software:
        return TileChoice(SOFTWARE_TILE, 1)
    tiles = candidates(batch, rows, columns, target, in_vectors, has_windows)
    if not has_windows:
        if depth >= policy.LEAST_SKINNY_DEPTH:
            skinny = [tile for tile in SKINNY_TILES if tile.fits(target)]
            filled = [tile for tile in skinny if tile.is_filled(rows, columns)]
            tiles = filled[:1] or tiles
        tuned = dict(target.tuned).get(problem_of(batch, rows, columns, in_vectors))
        few = target.scaled(policy.FEW_GROUPS)
        for tile in tiles:  # what `tune` measures has no windows
            if tile.name == tuned and tile.groups(batch, rows, columns) >= few:
                return TileChoice(tile, 1)
    tiles = tiles or ([WINDOW_TILES[-1]] if has_windows else [])
    tiles = [tile for tile in tiles if tile.accumulators <= target.accumulators]
    tiles = tiles or [PRODUCT_TILES[-1]]
    least = policy.LEAST_WINDOW_SPLIT if has_windows else policy.LEAST_SPLIT_DEPTH
    choices = [
        TileChoice(tile, splits)
        for tile in tiles
        for splits in _splits(
            tile.groups(batch, rows, columns), depth // least, target.cores
        )
    ]
    sizes = batch, rows, columns, depth, target.cores
    return min(
        choices, key=lambda choice: choice.tile.microseconds(choice.splits, *sizes)
    )


def _splits(groups: int, most: int, cores: int) -> list[int]:
    """Return the numbers of parts of the depth that may be fastest, up to `most`.

    For each number of workgroups a core may get, the largest number of parts is enough.
    """
    parts = {
        min(tiles * cores // max(groups, 1), most, policy.MOST_SPLITS)
        for tiles in range(1, policy.MOST_SPLIT_TILES + 1)
    }
    return [1, *sorted(splits for splits in parts if splits > 1)]


def candidates(
    batch: int,
    rows: int,
    columns: int,
    target: Target,
    in_vectors: bool = True,
    has_windows: bool = False,
) -> list[ProductTile]:
    """Return the tiles that a device can run and that a problem does not waste.

    >>> [tile.name for tile in candidates(1, 1000, 1000, Target(), in_vectors=False)]
    ['square', 'narrow', 'small']
    """
    return [
        tile
        for tile in (WINDOW_TILES if has_windows else PRODUCT_TILES)
        if tile.fits(target)
        and (
            in_vectors
            or has_windows
            or (
                tile.rows * tile.columns <= policy.LARGEST_SCALAR_TILE
                and tile.depth >= policy.LEAST_SCALAR_DEPTH
            )
        )
        and tile.used(rows, columns) >= policy.LEAST_TILE_USE
    ]


def problem_of(batch: int, rows: int, columns: int, in_vectors: bool) -> str:
    """Return the class of problems that shares a measured tile.

    A class spans a factor of four in results.

    >>> problem_of(1, 1024, 1024, True), problem_of(1, 1000, 1000, False)
    ('vectors 2^20', 'singles 2^18')
    """
    results = max(batch * rows * columns, 1)
    power = (results.bit_length() - 1) // 2 * 2
    return f"{'vectors' if in_vectors else 'singles'} 2^{power}"
