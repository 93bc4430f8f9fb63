"""Programs that sort rows, by radix or by merging.

Elements are moved as their bits and compared by keys made of the bits, so that zeros
keep their sign and NaN its payload. A word may be carried along with each element: its
original index or any value. Accumulation sorts its indices with the same launches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    ORDER_FUNCTIONS,
    TO_BITS,
    VALUE_TYPES,
    kind_of,
)
from tensorweb.codegen.launch_builder import LaunchBuilder, ShaderFunction, constants
from tensorweb.codegen.program import (
    OUTPUT,
    Launch,
    Program,
    ScratchBuffers,
    Target,
    ceil_divide,
)
from tensorweb.codegen.reduction import Scan
from tensorweb.codegen.template import alternative
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Expression, Kernel

BLOCK = 2048
"""Elements of a long row that a workgroup moves in one pass, as in the templates."""

DIGIT_BITS = 8
"""Bits of a key that one pass over a long row sorts by."""

DIGITS = 1 << DIGIT_BITS
"""Number of values of a digit, each of which is counted."""


@dataclass(frozen=True, slots=True)
class SortTask:
    """What is sorted, by which bits, and where the results are stored.

    Attributes:
        kernel: the kernel whose expressions are read.
        term: the elements, an expression over (row, position).
        rows: number of rows.
        length: elements of each row.
        key_bits: number of low bits in which keys differ.
        first_bit: the lowest bit that long rows are sorted by.
        flip: 0 for ascending order, -1 for descending order.
        elements_to: buffer of the sorted elements, None if they are not a result.
        carried_to: buffer of the words carried along, None without them.
        carried: the words carried along, an expression like `term`; None: the index.
    """

    kernel: Kernel
    term: Expression
    rows: int
    length: int
    key_bits: int
    first_bit: int = 0
    flip: int = 0
    elements_to: int | None = OUTPUT
    carried_to: int | None = None
    carried: Expression | None = None

    @property
    def carries(self) -> bool:
        """Return whether a word is carried along with each element."""
        return self.carried_to is not None

    @property
    def is_half(self) -> bool:
        """Return whether elements are stored in fewer bits than they are moved in."""
        return self.elements_to == OUTPUT and self.kernel.dtype == "float16"


SortBuffers = tuple[int | None, int | None]
"""Buffers of elements and of the words carried along, None where there are none."""


class _Sort:
    """Generate the launches that sort rows; they use scratch buffers of the kernel."""

    def __init__(self, task: SortTask, scratches: ScratchBuffers) -> None:
        """Start without launches, which add the buffers they need to `scratches`."""
        self.task = task
        self.rows, self.length = task.rows, task.length
        self.results: SortBuffers = task.elements_to, task.carried_to
        self.scratches = scratches

    def _scratch_pair(self) -> SortBuffers:
        """Return scratch buffers for the elements and the words carried along."""
        size = self.rows * self.length
        elements = self.scratches.add(size)
        return elements, self.scratches.add(size) if self.task.carries else None

    def _builder(self, reads_terms: bool, **sizes: int) -> LaunchBuilder:
        """Return a builder with the sizes of a launch."""
        builder = LaunchBuilder(self.task.kernel if reads_terms else None)
        builder.add_sizes(rows=self.rows, length=self.length, **sizes)
        builder.add_sizes(flip=self.task.flip)
        return builder

    def _add_key(self, builder: LaunchBuilder) -> None:
        function = ORDER_FUNCTIONS[kind_of(self.task.term.dtype)]
        builder.text += (
            "fn key(bits: u32) -> u32 {\n"
            f"  return {function}(bits, parameters.flip);\n}}\n"
        )

    def _add_terms(self, builder: LaunchBuilder, reads_carried: bool = False) -> None:
        """Add the functions of a term's bits and of the word carried along."""
        expressions = [("term", "bits_of", self.task.term)]
        if reads_carried and self.task.carried is not None:
            expressions.append(("carried", "carried_bits", self.task.carried))
        for name, bits_name, expression in expressions:
            value = VALUE_TYPES[expression.dtype]
            builder.add_function(
                ShaderFunction(name, ("row", "position"), value), expression
            )
            bits = TO_BITS[kind_of(expression.dtype)].format(f"{name}(row, position)")
            builder.text += (
                f"fn {bits_name}(row: u32, position: u32) -> u32 {{\n"
                f"  return {bits};\n}}\n"
            )

    def _stores(
        self, builder: LaunchBuilder, target: SortBuffers, is_last: bool
    ) -> str:
        """Return the lines that store an element and its word; add their buffers."""
        elements, words = target
        lines = ""
        if elements is not None:
            is_half = is_last and self.task.is_half
            stored = "f16(bitcast<f32>(bits))" if is_half else "bits"
            lines += f"  next_bits[at] = {stored};\n"
            builder.add_buffer("next_bits", "w", "f16" if is_half else "u32", elements)
        if words is not None:
            lines += "  next_positions[at] = position;\n"
            builder.add_buffer("next_positions", "w", "u32", words)
        return lines


class RadixSort(_Sort):
    """Generate the launches that sort rows by radix: one block in memory, or passes."""

    def launches(self) -> list[Launch]:
        """Return the launches that sort rows of any length into their final buffers."""
        if self.length > BLOCK:
            return self.passes()[0]
        builder = self._builder(True, blocks=1, shift=0)
        self._add_terms(builder, self.task.carries)
        # With 8 bits the template would sort by one digit of a long row.
        bits = ceil_divide(self.task.key_bits, 4) * 4
        bits = 12 if bits == 8 else bits
        self._add_moves(builder, self._first_word, self.results, bits, is_last=True)
        builder.text += alternative("sort_blocks", "nothing_before")
        self._add_key(builder)
        return [builder.launch("sort_blocks", self.rows)]

    def passes(self) -> tuple[list[Launch], int]:
        """Return the launches that sort rows by one digit per pass.

        Also returns the buffer of the last pass's running counts of digits, (digit,
        block).
        """
        task = self.task
        blocks = ceil_divide(self.length, BLOCK)
        passes = ceil_divide(task.key_bits - task.first_bit, DIGIT_BITS)
        counted = self.rows * DIGITS * blocks
        counts, running = self.scratches.add(counted), self.scratches.add(counted)
        # Elements and words alternate between two buffers; the last pass writes the
        # results.
        buffers = [self.results, self.results]
        if passes > 1:
            buffers[passes % 2] = self._scratch_pair()
        if passes > 2 and (task.elements_to is None or task.is_half):
            elements = self.scratches.add(self.rows * self.length)
            buffers[(passes - 1) % 2] = elements, task.carried_to
        launches: list[Launch] = []
        source: SortBuffers = OUTPUT, OUTPUT
        scan = Scan(OPS["cumulative_sum"], "uint32", self.rows, self.scratches)
        for index in range(passes):
            is_first, is_last = index == 0, index == passes - 1
            sizes = {"blocks": blocks, "shift": task.first_bit + index * DIGIT_BITS}
            target = self.results if is_last else buffers[index % 2]
            launches.append(self._count(sizes, is_first, source, counts))
            launches += scan.launches(None, counts, DIGITS * blocks, running)
            launches.append(
                self._scatter(sizes, is_first, is_last, source, running, target)
            )
            source = target
        return launches, running

    @property
    def _first_word(self) -> str:
        """The word carried along with an element that was not moved yet."""
        return (
            "position" if self.task.carried is None else "carried_bits(row, position)"
        )

    def _add_elements(
        self,
        builder: LaunchBuilder,
        is_first: bool,
        source: SortBuffers,
        carries: bool,
    ) -> None:
        """Add the function of an element's bits in a pass."""
        if is_first:
            self._add_terms(builder, carries)
            return
        elements, _ = source
        assert elements is not None, "internal: only the last pass drops elements"
        builder.text += (
            "fn bits_of(row: u32, position: u32) -> u32 {\n"
            "  return last_bits[row * parameters.length + position];\n}\n"
        )
        builder.add_buffer("last_bits", "r", "u32", elements)

    def _add_moves(
        self,
        builder: LaunchBuilder,
        word: str,
        target: SortBuffers,
        bits: int,
        *,
        is_last: bool,
    ) -> None:
        """Add the constants and functions of the template that sorts a block."""
        stores = self._stores(builder, target, is_last)
        shape = constants({"BITS": bits, "CARRIES_POSITIONS": self.task.carries})
        builder.text += (
            f"{shape}fn position_of(row: u32, position: u32) -> u32 {{\n"
            f"  return {word};\n}}\n"
            f"fn store(at: u32, bits: u32, position: u32) {{\n{stores}}}\n"
        )

    def _count(
        self, sizes: dict[str, int], is_first: bool, source: SortBuffers, counts: int
    ) -> Launch:
        builder = self._builder(is_first, **sizes)
        self._add_elements(builder, is_first, source, False)
        builder.add_buffer("counts", "w", "u32", counts)
        self._add_key(builder)
        return builder.launch("sort_count", self.rows * sizes["blocks"])

    def _scatter(
        self,
        sizes: dict[str, int],
        is_first: bool,
        is_last: bool,
        source: SortBuffers,
        running: int,
        target: SortBuffers,
    ) -> Launch:
        """Return the launch that moves elements and the words carried along."""
        builder = self._builder(is_first, **sizes)
        self._add_elements(builder, is_first, source, self.task.carries)
        word = self._first_word
        _, words = source
        if words is not None and self.task.carries and not is_first:
            word = "last_positions[row * parameters.length + position]"
            builder.add_buffer("last_positions", "r", "u32", words)
        builder.add_buffer("running_counts", "r", "u32", running)
        self._add_moves(builder, word, target, DIGIT_BITS, is_last=is_last)
        builder.text += alternative("sort_blocks", "counted_before")
        self._add_key(builder)
        return builder.launch("sort_blocks", self.rows * sizes["blocks"])


# Programs that merge sort rows: tiles in workgroup memory, then sorted runs.
#
# A row that fits in one tile takes one launch. Runs of longer rows are merged in pairs
# up to `policy.LONGEST_MERGED` elements; still longer rows are sorted by radix.


NO_GAPS = 1 << 20
"""A distance between words of padding that no tile reaches: no padding."""


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
class SortTile:
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


SORT_TILES = (SortTile(each=16), SortTile(), SortTile(each=16, gap=NO_GAPS))
"""Tiles in order of preference."""

SMALL_SORT_TILE = SortTile(32)
"""Tile for compilers that are slow per word of workgroup memory."""

CARRYING_SORT_TILES = (SortTile(128), SortTile(), SortTile(gap=NO_GAPS), SortTile(512))
"""Tiles in order of preference if each element carries a word along."""


def choose_sort_tile(length: int, target: Target, *, carries: bool) -> SortTile:
    """Return the first tile that holds a row, or the last one that fits the target.

    >>> choose_sort_tile(100, Target(), carries=False)
    SortTile(threads=256, each=8, gap=32)
    >>> lengths = (2000, 3000)
    >>> [choose_sort_tile(n, Target(), carries=True).length for n in lengths]
    [2048, 1024]
    """
    if target.is_slow_to_compile:
        return SMALL_SORT_TILE
    tiles = CARRYING_SORT_TILES if carries else SORT_TILES
    fitting = [tile for tile in tiles if tile.fits(length, target, carries=carries)]
    return next((tile for tile in fitting if length <= tile.length), fitting[-1])


class MergeSort(_Sort):
    """Generate the launches that sort rows by merging."""

    def __init__(
        self, task: SortTask, scratches: ScratchBuffers, tile: SortTile
    ) -> None:
        """Start without launches, which add the buffers they need to `scratches`."""
        super().__init__(task, scratches)
        self.tile = tile
        self.blocks = ceil_divide(self.length, tile.length)
        self.shape = constants(
            {
                "THREADS": tile.threads,
                "EACH": tile.each,
                "GAP": tile.gap,
                "CARRIES": task.carries,
            }
        )

    def launches(self) -> list[Launch]:
        """Return the launch that sorts tiles, and one per doubling of the runs."""
        merges = (self.blocks - 1).bit_length()
        alternating = [self._scratch_pair() for _ in range(min(merges, 2))]
        buffers = [alternating[n % 2] for n in range(merges)] + [self.results]
        launches = [self._sort_tiles(buffers[0], is_last=merges == 0)]
        for index in range(merges):
            run = self.tile.length << index
            is_last = index + 1 == merges
            launches.append(
                self._merge(run, buffers[index], buffers[index + 1], is_last=is_last)
            )
        return launches

    def _add_store(
        self, builder: LaunchBuilder, target: SortBuffers, *, is_last: bool
    ) -> None:
        """Add the functions of an element's key and of its store."""
        self._add_key(builder)
        stores = self._stores(builder, target, is_last)
        builder.text += f"fn store(at: u32, bits: u32, position: u32) {{\n{stores}}}\n"

    def _sort_tiles(self, target: SortBuffers, *, is_last: bool) -> Launch:
        """Return the launch that sorts every tile."""
        width = self.tile.length
        if self.blocks == 1:
            width = max(1 << (self.length - 1).bit_length(), self.tile.each)
        builder = self._builder(True, width=width, blocks=self.blocks)
        kind = kind_of(self.task.term.dtype)
        last = _LAST[kind] ^ (0 if kind == "float" else self.task.flip & 0xFFFF_FFFF)
        builder.add_sizes(last=last - ((last >> 31) << 32))
        self._add_terms(builder)
        self._add_store(builder, target, is_last=is_last)
        groups = ceil_divide(self.rows * self.blocks, self.tile.length // width)
        return builder.launch("sort_rows", groups, shape=self.shape)

    def _merge(
        self, run: int, source: SortBuffers, target: SortBuffers, *, is_last: bool
    ) -> Launch:
        """Return the launch that merges pairs of sorted runs."""
        builder = self._builder(False, run=run, blocks=self.blocks)
        elements, words = source
        assert elements is not None, "internal: only the last merge drops elements"
        builder.add_buffer("last_bits", "r", "u32", elements)
        position = "0u"
        if words is not None:
            builder.add_buffer("last_positions", "r", "u32", words)
            position = "last_positions[at]"
        builder.text += f"fn position_at(at: u32) -> u32 {{\n  return {position};\n}}\n"
        self._add_store(builder, target, is_last=is_last)
        return builder.launch("sort_merge", self.rows * self.blocks, shape=self.shape)


def sort(kernel: Kernel, target: Target) -> Program:
    """Return the program that sorts rows, or computes the indices that sort them."""
    rows, length, is_descending = kernel.sizes
    scratches = ScratchBuffers()
    term = kernel.expression("term")
    key_bits = 1 if kind_of(term.dtype) == "bool" else 32
    task = SortTask(kernel, term, rows, length, key_bits, flip=-is_descending)
    if kernel.op == "argsort":
        task = replace(task, elements_to=None, carried_to=OUTPUT)
    tile = choose_sort_tile(length, target, carries=task.carries)
    longest = policy.LONGEST_MERGED_PAIRS if task.carries else policy.LONGEST_MERGED
    if key_bits == 1:
        longest = tile.length
    if target.is_slow_to_compile:
        longest = length
    if length <= longest:
        launches = MergeSort(task, scratches, tile).launches()
    else:
        launches = RadixSort(task, scratches).launches()
    return Program(tuple(launches), tuple(scratches.nbytes))
