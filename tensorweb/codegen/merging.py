"""Programs that merge sort rows: tiles in workgroup memory, then sorted runs.

A row that fits in one tile takes one launch. Runs of longer rows are merged in pairs up
to `LONGEST_MERGED` elements; still longer rows are sorted by radix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tensorweb.codegen.expression import kind_of
from tensorweb.codegen.launches import Storages, launch
from tensorweb.codegen.program import OUTPUT, Launch, Program
from tensorweb.codegen.sorting import Sort, Sorting
from tensorweb.codegen.target import Target
from tensorweb.schedule.kernel import Kernel

NO_GAPS = 1 << 20
"""A distance between words of padding that no tile reaches: no padding."""

LONGEST_MERGED = 16_384
"""Longest row that is merged; longer ones are sorted by radix."""

LONGEST_CARRIED = 8192
"""Longest row that is merged if each element carries a word along."""

BOUNDS_BYTES = 32
"""Workgroup memory for the bounds of the tiles of rows longer than a tile."""

_LAST = {
    "float": 0x7FC0_0000,
    "int": 0x7FFF_FFFF,
    "uint": 0xFFFF_FFFF,
    "bool": 0xFFFF_FFFF,
}
"""Bits of the last element in ascending order, by kind; NaN is last in both orders."""


@dataclass(frozen=True, slots=True)
class Tile:
    """Layout of a tile, of short rows or of a part of a longer row, in a workgroup.

    Attributes:
        threads: threads of the workgroup.
        each: elements of a thread.
        gap: words of workgroup memory between two words of padding.
    """

    threads: int = 256
    each: int = 8
    gap: int = 32

    @property
    def length(self) -> int:
        """Number of elements of a workgroup."""
        return self.threads * self.each

    def fits(self, length: int, target: Target, *, carries: bool) -> bool:
        """Return whether a target has the threads and memory to sort such rows."""
        nbytes = (self.length + self.length // self.gap) * (8 if carries else 4)
        if length > self.length:
            nbytes += BOUNDS_BYTES
        return self.threads <= target.threads and nbytes <= target.workgroup_bytes

    def text(self, *, carries: bool) -> str:
        """Return the constants of the templates."""
        return (
            f"const THREADS: u32 = {self.threads}u;\n"
            f"const EACH: u32 = {self.each}u;\n"
            f"const GAP: u32 = {self.gap}u;\n"
            f"const CARRIES: bool = {str(carries).lower()};\n"
        )


TILES = (Tile(each=16), Tile(), Tile(each=16, gap=NO_GAPS))
"""Tiles in order of preference."""

SMALL_TILE = Tile(32)
"""Tile for compilers that are slow per word of workgroup memory."""

CARRYING_TILES = (Tile(128), Tile(), Tile(gap=NO_GAPS), Tile(512))
"""Tiles in order of preference if each element carries a word along."""


def tile_for(length: int, target: Target, *, carries: bool) -> Tile:
    """Return the first tile that holds a row, or the last one that fits the target.

    >>> tile_for(100, Target(), carries=False)
    Tile(threads=256, each=8, gap=32)
    >>> [tile_for(length, Target(), carries=True).length for length in (2000, 3000)]
    [2048, 1024]
    """
    if target.is_slow_to_compile:
        return SMALL_TILE
    tiles = CARRYING_TILES if carries else TILES
    found = [tile for tile in tiles if tile.fits(length, target, carries=carries)]
    return next((tile for tile in found if length <= tile.length), found[-1])


class MergeSort(Sort):
    """Generate the launches that sort rows by merging."""

    def __init__(self, task: Sorting, scratch_bytes: list[int], tile: Tile) -> None:
        """Start; the launches append the sizes they need to `scratch_bytes`."""
        super().__init__(task, scratch_bytes)
        self.tile = tile
        self.blocks = -(-self.length // tile.length)

    def launches(self) -> list[Launch]:
        """Return the launch that sorts tiles, and one per doubling of the runs."""
        passes = (self.blocks - 1).bit_length()
        targets = [(self.task.elements_to, self.task.carried_to)] * (passes + 1)
        size = self.rows * self.length
        spare = [self._storages(size) for _ in range(min(passes, 2))]
        for number in range(passes):
            targets[number] = spare[number % 2]
        found = [self._tiles(*targets[0], is_last=passes == 0)]
        for number in range(passes):
            found.append(
                self._merge(
                    self.tile.length << number,
                    targets[number],
                    targets[number + 1],
                    is_last=number + 1 == passes,
                )
            )
        return found

    def _storages(self, size: int) -> tuple[int, int | None]:
        """Return scratch buffers for the elements and the words carried along."""
        return self._scratch(size), self._scratch(size) if self.task.carries else None

    def _tiles(
        self, elements: int | None, words: int | None, *, is_last: bool
    ) -> Launch:
        """Return the launch that sorts every tile."""
        each, length = self.tile.each, self.tile.length
        width = length
        if self.blocks == 1:
            width = max(1 << (self.length - 1).bit_length(), each)
        declarations = self._declarations(True, width=width, blocks=self.blocks)
        kind = kind_of(self.task.term.dtype)
        last = _LAST[kind] ^ (0 if kind == "float" else self.task.flip & 0xFFFF_FFFF)
        declarations.parameter("last", "u32", last - ((last >> 31) << 32))
        text, storages, bindings = self._terms(declarations)
        stores, more, others = self._stores(elements, words, is_last)
        text += self._key() + _store(stores)
        return launch(
            "sort_rows",
            declarations,
            [*storages, *more],
            (*bindings, *others),
            text,
            -(-self.rows * self.blocks // (length // width)),
            shape=self.tile.text(carries=self.task.carries),
        )

    def _merge(
        self,
        run: int,
        source: tuple[int | None, int | None],
        target: tuple[int | None, int | None],
        *,
        is_last: bool,
    ) -> Launch:
        """Return the launch that merges pairs of sorted runs."""
        declarations = self._declarations(False, run=run, blocks=self.blocks)
        elements, words = source
        assert elements is not None, "internal: only the last merge drops elements"
        storages: Storages = [("last_bits", "r", "u32")]
        bindings = [elements]
        position = "0u"
        if words is not None:
            storages.append(("last_positions", "r", "u32"))
            bindings.append(words)
            position = "last_positions[at]"
        stores, more, others = self._stores(*target, is_last)
        text = (
            f"fn position_at(at: u32) -> u32 {{\n  return {position};\n}}\n"
            + self._key()
            + _store(stores)
        )
        return launch(
            "sort_merge",
            declarations,
            [*storages, *more],
            (*bindings, *others),
            text,
            self.rows * self.blocks,
            shape=self.tile.text(carries=self.task.carries),
        )


def _store(stores: str) -> str:
    return f"fn store(at: u32, bits: u32, position: u32) {{\n{stores}}}\n"


def sort(kernel: Kernel, target: Target) -> Program:
    """Return the program that sorts rows, or computes the indices that sort them."""
    rows, length, is_descending = kernel.sizes
    scratch_bytes: list[int] = []
    term = kernel.expression("term")
    key_bits = 1 if kind_of(term.dtype) == "bool" else 32
    task = Sorting(kernel, term, rows, length, key_bits, flip=-is_descending)
    if kernel.op == "argsort":
        task = replace(task, elements_to=None, carried_to=OUTPUT)
    tile = tile_for(length, target, carries=task.carries)
    longest = LONGEST_CARRIED if task.carries else LONGEST_MERGED
    if key_bits == 1:
        longest = tile.length
    if target.is_slow_to_compile:
        longest = length
    writer = Sort(task, scratch_bytes)
    if length <= longest:
        writer = MergeSort(task, scratch_bytes, tile)
    return Program(tuple(writer.launches()), tuple(scratch_bytes))
