"""The slots of `matmul.wgsl` that depend on a tile and on how operands are read."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent

from tensorweb.codegen.launches import constants
from tensorweb.codegen.product.operands import Operand
from tensorweb.codegen.product.staging import Staging, either
from tensorweb.codegen.product.tiles import Tile
from tensorweb.codegen.vector import WIDTH

WARP = 32
"""Neighbouring threads that compute a block of the tile."""

WARP_ACROSS = 8
"""Number of these threads along the columns."""

VECTOR_BYTES = 16
"""Bytes of four accumulators."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Lengths of a product's axes, which decide where bounds checks are needed."""

    rows: int
    columns: int
    depth: int


def tile_slots(
    tile: Tile,
    operands: tuple[Operand, Operand],
    sizes: Sizes,
    value: str,
    workgroup_bytes: int,
) -> dict[str, str]:
    """Return the lines of each slot.

    Args:
        tile: its sizes.
        operands: how the left, (rows, depth), and the right, (depth, columns), are
            read.
        sizes: of the product.
        value: WGSL type of an accumulator.
        workgroup_bytes: workgroup memory that the device has.
    """
    left, right = _staged(tile, operands, sizes, True)
    if (left.size + right.size) * VECTOR_BYTES > workgroup_bytes:
        left, right = _staged(tile, operands, sizes, False)
    is_ragged = sizes.depth % tile.depth != 0
    load = _load(left, right, is_ragged)
    return {
        "tile": _constants(tile, left, right, value),
        "sources": left.sources() + right.sources(),
        "load_first": load,
        "stage": indent(_stage(left, is_ragged) + _stage(right, is_ragged), "  "),
        "load_next": indent(load, "    "),
    }


def _staged(
    tile: Tile, operands: tuple[Operand, Operand], sizes: Sizes, is_padded: bool
) -> tuple[Staging, Staging]:
    left = Staging(tile, operands[0], sizes.rows, 0, is_padded)
    return left, Staging(tile, operands[1], sizes.columns, left.size, is_padded)


def _load(left: Staging, right: Staging, is_ragged: bool) -> str:
    """Return the loads of a pair of tiles; only the last pair needs guards."""
    whole = left.load(False) + right.load(False)
    if not is_ragged:
        return whole
    return either("next + DEPTH <= end", whole, left.load(True) + right.load(True))


def _stage(side: Staging, is_ragged: bool) -> str:
    """Return the stores into a tile; values computed here may be past the depth."""
    if not (is_ragged and side.operand.is_ahead):
        return side.stage(False)
    return either("depth + DEPTH <= end", side.stage(False), side.stage(True))


def _constants(tile: Tile, left: Staging, right: Staging, value: str) -> str:
    """Return the slot of a tile's sizes."""
    vectors = max(left.size + right.size, tile.slice_vectors)
    accumulators = tile.accumulators // WIDTH
    fitting = vectors // tile.threads
    together = min(accumulators, 1 << (fitting.bit_length() - 1))
    numbers = {
        "ROWS": tile.rows,
        "COLUMNS": tile.columns,
        "DEPTH": tile.depth,
        "SLICES": tile.slices,
        "WORKERS": tile.workers,
        "DOWN": tile.workers // tile.across,
        "ACROSS": tile.across,
        "WARP": min(WARP, tile.workers),
        "WARP_ACROSS": min(WARP_ACROSS, tile.across),
        "ROW_VECTORS": tile.thread_rows // WIDTH,
        "COLUMN_VECTORS": tile.thread_columns // WIDTH,
        "ACCUMULATORS": accumulators,
        "TOGETHER": together,
        "SHARE": max(together // tile.slices, 1),
        "UNROLLED": min(tile.unrolled, tile.depth // tile.slices),
        "VECTORS": vectors,
    }
    for side in (left, right):
        name = side.operand.name.upper()
        numbers |= {f"{name}_{key}": size for key, size in side.constants().items()}
    return constants({**numbers, "HAS_FMA": value == "f32"})
