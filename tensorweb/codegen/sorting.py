"""Launches of a radix sort of rows: one block in workgroup memory, or passes.

Elements are moved as their bits and compared by keys made of the bits, so that zeros
keep their sign and NaN its payload. A word may be carried along with each element: its
original index or any value. Accumulation sorts its indices with the same launches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    function,
    kind_of,
)
from tensorweb.codegen.launches import Bindings, input_bindings, launch
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.scanning import Scan
from tensorweb.codegen.target import Target
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Expression, Kernel

BLOCK = 2048
"""Elements of a long row that a workgroup moves in one pass."""

DIGIT_BITS = 8
"""Bits of a key that one pass over a long row sorts by."""

DIGITS = 1 << DIGIT_BITS
"""Number of values of a digit, each of which is counted."""

_COUNTED_BEFORE = """\
fn counted_before(row: u32, digit: u32, block: u32) -> u32 {
  let count = digit * parameters.blocks + block;
  if (row >= parameters.rows || count == 0u) {
    return 0u;
  }
  return running_counts[row * parameters.blocks * 256u + count - 1u];
}
"""

_NOTHING_BEFORE = """\
fn counted_before(row: u32, digit: u32, block: u32) -> u32 {
  return 0u;
}
"""

_KEYS = {
    "float": "order_of_f32",
    "int": "order_of_i32",
    "uint": "order_of_u32",
    "bool": "order_of_u32",
}
TO_BITS = {
    "float": "bitcast<u32>({0})",
    "int": "bitcast<u32>({0})",
    "uint": "{0}",
    "bool": "select(0u, 1u, {0})",
}
"""The word in which a value is moved, by kind of dtype."""


@dataclass(frozen=True, slots=True)
class Sorting:
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


class Sort:
    """Generate the launches that sort rows; they use scratch buffers of the kernel."""

    def __init__(self, task: Sorting, scratch_bytes: list[int]) -> None:
        """Start; the launches append the sizes they need to `scratch_bytes`."""
        self.task = task
        self.kernel = task.kernel
        self.rows, self.length = task.rows, task.length
        self.scratch_bytes = scratch_bytes

    def _declarations(self, reads_terms: bool, **words: int) -> Declarations:
        scalars = self.kernel.scalar_dtypes if reads_terms else ()
        declarations = Declarations(scalars)
        lengths = {"rows": self.rows, "length": self.length, **words}
        for name, word in lengths.items():
            declarations.parameter(name, "u32", word)
        declarations.parameter("flip", "u32", self.task.flip)
        return declarations

    def _key(self) -> str:
        order = _KEYS[kind_of(self.task.term.dtype)]
        return (
            "fn key(bits: u32) -> u32 {\n"
            f"  return {order}(bits, parameters.flip);\n}}\n"
        )

    def _terms(
        self, declarations: Declarations, reads_carried: bool = False
    ) -> tuple[str, Bindings]:
        """Return the functions of a term's bits and carried word, and their inputs."""
        expressions = {"term": self.task.term}
        if reads_carried and self.task.carried is not None:
            expressions["carried"] = self.task.carried
        text = ""
        for name, expression in expressions.items():
            text += function(
                declarations,
                Signature(name, ("row", "position"), VALUE_TYPES[expression.dtype]),
                expression,
                self.kernel.input_dtypes,
            )
            head = "bits_of" if name == "term" else "carried_bits"
            form = TO_BITS[kind_of(expression.dtype)]
            text += (
                f"fn {head}(row: u32, position: u32) -> u32 {{\n"
                f"  return {form.format(f'{name}(row, position)')};\n}}\n"
            )
        return text, input_bindings(self.kernel, list(expressions.values()))

    @property
    def _first_word(self) -> str:
        """The word carried along with an element that was not moved yet."""
        return (
            "position" if self.task.carried is None else "carried_bits(row, position)"
        )

    @property
    def _result(self) -> str:
        """A sorted element in the form in which it is stored."""
        return "f16(bitcast<f32>(bits))" if self.task.is_half else "bits"

    def single_launch(self) -> list[Launch]:
        """Return the one launch that sorts rows of one block by all bits."""
        declarations = self._declarations(True, blocks=1, shift=0)
        text, bindings = self._terms(declarations, self.task.carries)
        stores, more = self._stores(self.task.elements_to, self.task.carried_to, True)
        # With 8 bits the template would sort by one digit of a long row.
        bits = -(-self.task.key_bits // 4) * 4
        text += self._moves(self._first_word, stores, 12 if bits == 8 else bits)
        return [
            launch(
                "sort_blocks",
                declarations,
                [*bindings, *more],
                text + _NOTHING_BEFORE + self._key(),
                self.rows,
            )
        ]

    def _stores(
        self, elements: int | None, words: int | None, is_last: bool
    ) -> tuple[str, Bindings]:
        """Return the lines that store an element and its word, and their bindings."""
        stores = ""
        bindings: Bindings = []
        if elements is not None:
            is_half = is_last and self.task.is_half
            stores += f"  next_bits[at] = {self._result if is_half else 'bits'};\n"
            kind = "f16" if is_half else "u32"
            bindings.append(("next_bits", "w", kind, elements))
        if words is not None:
            stores += "  next_positions[at] = position;\n"
            bindings.append(("next_positions", "w", "u32", words))
        return stores, bindings

    def _moves(self, position: str, stores: str, bits: int) -> str:
        """Return the constants and functions of the template that sorts a block."""
        return (
            f"const BITS: u32 = {bits}u;\n"
            f"const CARRIES_POSITIONS: bool = {str(self.task.carries).lower()};\n"
            "fn position_of(row: u32, position: u32) -> u32 {\n"
            f"  return {position};\n}}\n"
            "fn store(at: u32, bits: u32, position: u32) {\n"
            f"{stores}}}\n"
        )

    def _scratch(self, words: int) -> int:
        self.scratch_bytes.append(words * 4)
        return scratch(len(self.scratch_bytes) - 1)

    def launches(self) -> list[Launch]:
        """Return the launches that sort rows of any length into their final buffers."""
        return self.single_launch() if self.length <= BLOCK else self.long()[0]

    def long(self) -> tuple[list[Launch], int]:
        """Return the launches that sort rows by one digit per pass.

        Also returns the buffer of the last pass's running counts of digits, (digit,
        block).
        """
        blocks = -(-self.length // BLOCK)
        passes = -(-(self.task.key_bits - self.task.first_bit) // DIGIT_BITS)
        size = self.rows * self.length
        counted = self.rows * DIGITS * blocks
        counts, running = self._scratch(counted), self._scratch(counted)
        # Elements and words alternate between two buffers; the last pass writes the
        # results.
        elements = [self.task.elements_to, self.task.elements_to]
        words = [self.task.carried_to, self.task.carried_to]
        if passes > 1:
            elements[passes % 2] = self._scratch(size)
            words[passes % 2] = self._scratch(size) if self.task.carries else None
        if passes > 2 and (self.task.elements_to is None or self.task.is_half):
            elements[(passes - 1) % 2] = self._scratch(size)
        launches: list[Launch] = []
        source: int | None = OUTPUT
        first: int | None = OUTPUT
        scan = Scan(OPS["cumulative_sum"], "uint32", self.rows, self.scratch_bytes)
        for number in range(passes):
            is_first, is_last = number == 0, number == passes - 1
            shift = self.task.first_bit + number * DIGIT_BITS
            target = self.task.elements_to if is_last else elements[number % 2]
            second = words[number % 2]
            assert source is not None, "internal: only the last pass drops elements"
            launches.append(self._count(blocks, shift, is_first, source, counts))
            launches += scan.launches(None, counts, DIGITS * blocks, running)
            launches.append(
                self._scatter(
                    blocks,
                    shift,
                    is_first,
                    is_last,
                    (source, first, running),
                    (target, second),
                )
            )
            source, first = target, second
        return launches, running

    def _elements(
        self, declarations: Declarations, is_first: bool, source: int, carries: bool
    ) -> tuple[str, Bindings]:
        """Return the function of an element's bits in a pass, and its inputs."""
        if is_first:
            return self._terms(declarations, carries)
        text = (
            "fn bits_of(row: u32, position: u32) -> u32 {\n"
            "  return last_bits[row * parameters.length + position];\n}\n"
        )
        return text, [("last_bits", "r", "u32", source)]

    def _count(
        self, blocks: int, shift: int, is_first: bool, source: int, counts: int
    ) -> Launch:
        declarations = self._declarations(is_first, blocks=blocks, shift=shift)
        text, bindings = self._elements(declarations, is_first, source, False)
        bindings.append(("counts", "w", "u32", counts))
        return launch(
            "sort_count",
            declarations,
            bindings,
            text + self._key(),
            self.rows * blocks,
        )

    def _scatter(
        self,
        blocks: int,
        shift: int,
        is_first: bool,
        is_last: bool,
        read: tuple[int, int | None, int],
        written: tuple[int | None, int | None],
    ) -> Launch:
        """Return the launch that moves elements and the words carried along."""
        source, words, running = read
        declarations = self._declarations(is_first, blocks=blocks, shift=shift)
        text, bindings = self._elements(
            declarations, is_first, source, self.task.carries
        )
        word = self._first_word
        if words is not None and self.task.carries and not is_first:
            word = "last_positions[row * parameters.length + position]"
            bindings.append(("last_positions", "r", "u32", words))
        bindings.append(("running_counts", "r", "u32", running))
        stores, more = self._stores(*written, is_last)
        text += self._moves(word, stores, DIGIT_BITS) + _COUNTED_BEFORE
        return launch(
            "sort_blocks",
            declarations,
            [*bindings, *more],
            text + self._key(),
            self.rows * blocks,
        )


# Programs that merge sort rows: tiles in workgroup memory, then sorted runs.
#
# A row that fits in one tile takes one launch. Runs of longer rows are merged in pairs
# up to `LONGEST_MERGED` elements; still longer rows are sorted by radix.


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

    def text(self, *, carries: bool) -> str:
        """Return the constants of the templates."""
        return (
            f"const THREADS: u32 = {self.threads}u;\n"
            f"const EACH: u32 = {self.each}u;\n"
            f"const GAP: u32 = {self.gap}u;\n"
            f"const CARRIES: bool = {str(carries).lower()};\n"
        )


TILES = (SortTile(each=16), SortTile(), SortTile(each=16, gap=NO_GAPS))
"""Tiles in order of preference."""

SMALL_TILE = SortTile(32)
"""SortTile for compilers that are slow per word of workgroup memory."""

CARRYING_TILES = (SortTile(128), SortTile(), SortTile(gap=NO_GAPS), SortTile(512))
"""Tiles in order of preference if each element carries a word along."""


def tile_for(length: int, target: Target, *, carries: bool) -> SortTile:
    """Return the first tile that holds a row, or the last one that fits the target.

    >>> tile_for(100, Target(), carries=False)
    SortTile(threads=256, each=8, gap=32)
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

    def __init__(self, task: Sorting, scratch_bytes: list[int], tile: SortTile) -> None:
        """Start; the launches append the sizes they need to `scratch_bytes`."""
        super().__init__(task, scratch_bytes)
        self.tile = tile
        self.blocks = -(-self.length // tile.length)

    def launches(self) -> list[Launch]:
        """Return the launch that sorts tiles, and one per doubling of the runs."""
        passes = (self.blocks - 1).bit_length()
        targets = [(self.task.elements_to, self.task.carried_to)] * (passes + 1)
        size = self.rows * self.length
        spare = [self._scratch_pair(size) for _ in range(min(passes, 2))]
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

    def _scratch_pair(self, size: int) -> tuple[int, int | None]:
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
        text, bindings = self._terms(declarations)
        stores, more = self._stores(elements, words, is_last)
        text += self._key() + _store(stores)
        return launch(
            "sort_rows",
            declarations,
            [*bindings, *more],
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
        bindings: Bindings = [("last_bits", "r", "u32", elements)]
        position = "0u"
        if words is not None:
            bindings.append(("last_positions", "r", "u32", words))
            position = "last_positions[at]"
        stores, more = self._stores(*target, is_last)
        text = (
            f"fn position_at(at: u32) -> u32 {{\n  return {position};\n}}\n"
            + self._key()
            + _store(stores)
        )
        return launch(
            "sort_merge",
            declarations,
            [*bindings, *more],
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
    longest = policy.LONGEST_MERGED_PAIRS if task.carries else policy.LONGEST_MERGED
    if key_bits == 1:
        longest = tile.length
    if target.is_slow_to_compile:
        longest = length
    writer = Sort(task, scratch_bytes)
    if length <= longest:
        writer = MergeSort(task, scratch_bytes, tile)
    return Program(tuple(writer.launches()), tuple(scratch_bytes))
