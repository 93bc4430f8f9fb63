"""How a workgroup computes pairs: result blocks, tiles, matrices per workgroup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import WIDTH

DEPTHS = (4, 8, 16)
"""Depths of a tile; the smallest that holds all terms is used, or the last."""

SMALL_DEPTHS = (4, 8)
"""Depths of a tile of small matrices, which are limited by memory latency."""

MUCH_BUSIER = 0.25
"""Least decrease of the idle fraction that justifies more threads in a workgroup."""

THREADS = (64, 128, 256)
"""Threads of a workgroup; the fewest with few idle threads are used."""

SIDES = (16, 8)
"""Blocks along each side of the tiles of a large matrix."""

LONGEST_SIDE = 31
"""Blocks along the longer side of a tile of a narrow matrix."""

ENOUGH_GROUPS = 264
"""Workgroups below which smaller tiles are used."""

TILE_VECTORS = 512
"""Vectors of one operand's tile that fit on every device."""


def pieces(length: int, size: int) -> int:
    """Return how many pieces of length `size` cover a length."""
    return -(-length // size)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a workgroup is laid out.

    Attributes:
        down, across: blocks of 4 x 4 results of a tile.
        tiles_down, tiles_across: tiles of a matrix.
        together: matrices of a workgroup.
        threads: threads of a workgroup.
        depth: terms of a tile.
    """

    down: int
    across: int
    tiles_down: int
    tiles_across: int
    together: int
    threads: int
    depth: int

    def groups(self, batch: int) -> int:
        """Return the number of workgroups."""
        return pieces(batch, self.together) * self.tiles_down * self.tiles_across


def layout_of(
    batch: int,
    rows: int,
    columns: int,
    depth: int,
    target: Target,
    depths: Sequence[int] = DEPTHS,
) -> Layout:
    """Return the layout for `batch` matrices of results.

    >>> layout_of(4096, 16, 16, 16, Target()).together
    4
    >>> layout_of(1, 4096, 4096, 3, Target()).threads
    256
    """
    deep = next((each for each in depths if each >= depth), depths[-1])
    blocks_down, blocks_across = pieces(rows, WIDTH), pieces(columns, WIDTH)
    sides = (SIDES[-1],) if target.is_software else SIDES
    for side in sides:
        area = side * side
        down = min(blocks_down, side)
        across = min(blocks_across, area // down, LONGEST_SIDE)
        down = min(blocks_down, area // across, LONGEST_SIDE)
        tiles_down = pieces(blocks_down, down)
        tiles_across = pieces(blocks_across, across)
        down, across = (
            pieces(blocks_down, tiles_down),
            pieces(blocks_across, tiles_across),
        )
        is_whole = tiles_down * tiles_across == 1
        together, threads = _shared(down, across, deep, is_whole, target)
        found = Layout(down, across, tiles_down, tiles_across, together, threads, deep)
        if found.groups(batch) >= target.scaled(ENOUGH_GROUPS):
            break
    return found


def _shared(
    down: int, across: int, deep: int, is_whole: bool, target: Target
) -> tuple[int, int]:
    """Return the number of matrices of a workgroup, and its threads."""
    area = down * across
    room = TILE_VECTORS // (deep * (max(down, across) | 1))
    best = (-1.0, 1, THREADS[-1])
    for threads in THREADS:
        if threads > target.threads or threads < area:
            continue
        together = min(threads // area, room) if is_whole else 1
        busy = together * area / threads
        if busy > best[0] + MUCH_BUSIER:
            best = busy, together, threads
    return best[1], best[2]
