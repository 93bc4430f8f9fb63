"""Programs that sort rows: short rows in workgroup memory, long ones digit by digit.

Elements travel as their bits and are compared by keys made of the bits, so that zeros
keep their sign and NaN its payload.
"""

from __future__ import annotations

from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    function,
    kind_of,
)
from tensorweb.codegen.families import Storages, input_storages, launch
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.scanning import Scan
from tensorweb.codegen.target import Target
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Kernel

TILE = 2048
"""Places for elements in a workgroup that sorts short rows."""

BLOCK = 2048
"""Elements of a long row that a workgroup moves in one pass."""

DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS

LONGEST_TILED = 512
"""Longer rows are sorted by digits, shorter ones are compared, several to a tile."""

_COUNTED_BEFORE = """\
fn counted_before(row: u32, digit: u32, block: u32) -> u32 {
  let place = digit * parameters.blocks + block;
  if (row >= parameters.rows || place == 0u) {
    return 0u;
  }
  return running_counts[row * parameters.blocks * 256u + place - 1u];
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
_TO_BITS = {
    "float": "bitcast<u32>({0})",
    "int": "bitcast<u32>({0})",
    "uint": "{0}",
    "bool": "select(0u, 1u, {0})",
}


class _Sort:
    """Writes the launches of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.rows, self.length, self.is_descending = kernel.sizes
        self.term = kernel.expression("term")
        self.kind = kind_of(self.term.dtype)
        self.gives_positions = kernel.op == "argsort"
        self.scratch_bytes: list[int] = []
        is_half = kernel.dtype == "float16"
        self.element = "f16" if is_half else "u32"
        self.from_bits = "f16(bitcast<f32>(bits))" if is_half else "bits"

    def _declarations(self, reads_terms: bool, **words: int) -> Declarations:
        scalars = self.kernel.scalar_dtypes if reads_terms else ()
        declarations = Declarations(scalars)
        lengths = {"rows": self.rows, "length": self.length, **words}
        for name, word in lengths.items():
            declarations.parameter(name, "u32", word)
        declarations.parameter("flip", "u32", -self.is_descending)
        return declarations

    def _key(self) -> str:
        return (
            "fn key(bits: u32) -> u32 {\n"
            f"  return {_KEYS[self.kind]}(bits, parameters.flip);\n}}\n"
        )

    def _terms(self, declarations: Declarations) -> tuple[str, Storages, list[int]]:
        """Return the function of a term's bits and what it reads."""
        value = VALUE_TYPES[self.term.dtype]
        text = function(
            declarations,
            "term",
            ("row", "position"),
            self.term,
            self.kernel.input_dtypes,
            value,
        )
        bits = _TO_BITS[self.kind].format("term(row, position)")
        text += f"fn bits_of(row: u32, position: u32) -> u32 {{\n  return {bits};\n}}\n"
        storages, places = input_storages(self.kernel, [self.term])
        return text, storages, places

    def tiled(self) -> Program:
        """Return the one launch that compares elements of short rows."""
        width = max(1 << (self.length - 1).bit_length(), 2)
        declarations = self._declarations(True, width=width)
        text, storages, places = self._terms(declarations)
        value = "position" if self.gives_positions else self.from_bits
        text += self._key() + (
            "fn store(at: u32, bits: u32, position: u32) {\n"
            f"  result[at] = {value};\n}}\n"
        )
        storages.append(("result", "w", self.element))
        groups = -(-self.rows // (TILE // width))
        places.append(OUTPUT)
        return Program(
            (launch("sort_rows", declarations, storages, places, text, groups),)
        )

    def whole(self) -> Program:
        """Return the one launch that sorts rows of one block by all bits."""
        declarations = self._declarations(True, blocks=1, shift=0)
        text, storages, places = self._terms(declarations)
        result = "position" if self.gives_positions else self.from_bits
        bits = 4 if self.kind == "bool" else 32
        text += self._moves("position", f"  result[at] = {result};\n", bits)
        return Program(
            (
                launch(
                    "sort_blocks",
                    declarations,
                    [*storages, ("result", "w", self.element)],
                    (*places, OUTPUT),
                    text + _NOTHING_BEFORE + self._key(),
                    self.rows,
                ),
            )
        )

    def _moves(self, position: str, stores: str, bits: int) -> str:
        """Return what the sort of a block needs to know of its elements."""
        return (
            f"const BITS: u32 = {bits}u;\n"
            f"const CARRIES_POSITIONS: bool = {str(self.gives_positions).lower()};\n"
            "fn position_of(row: u32, position: u32) -> u32 {\n"
            f"  return {position};\n}}\n"
            "fn store(at: u32, bits: u32, position: u32) {\n"
            f"{stores}}}\n"
        )

    def _scratch(self, words: int) -> int:
        self.scratch_bytes.append(words * 4)
        return scratch(len(self.scratch_bytes) - 1)

    def long(self) -> Program:
        """Return the launches that sort rows by one digit after the other."""
        blocks = -(-self.length // BLOCK)
        passes = 1 if self.kind == "bool" else 32 // DIGIT_BITS
        size = self.rows * self.length
        counted = self.rows * DIGITS * blocks
        counts, running = self._scratch(counted), self._scratch(counted)
        # Elements go to and fro between two storages; the last pass fills the output.
        spare = [self._scratch(size) for _ in range(min(passes - 1, 2))]
        positions = [OUTPUT, OUTPUT]
        if self.gives_positions and passes > 1:
            positions[0] = self._scratch(size)
        launches: list[Launch] = []
        source, first = OUTPUT, OUTPUT
        scan = Scan(OPS["cumulative_sum"], "uint32", self.rows, self.scratch_bytes)
        for number in range(passes):
            is_first, is_last = number == 0, number == passes - 1
            shift = number * DIGIT_BITS
            target = OUTPUT if is_last else spare[number % 2]
            second = OUTPUT if is_last else positions[number % 2]
            launches.append(self._count(blocks, shift, is_first, source, counts))
            launches += scan.launches(None, counts, DIGITS * blocks, running)
            read = (source, first, running)
            written = (target, second)
            launches.append(
                self._scatter(blocks, shift, is_first, is_last, read, written)
            )
            source, first = target, second
        return Program(tuple(launches), tuple(self.scratch_bytes))

    def _elements(
        self, declarations: Declarations, is_first: bool, source: int
    ) -> tuple[str, Storages, list[int]]:
        """Return the function of an element's bits in a pass and what it reads."""
        if is_first:
            return self._terms(declarations)
        text = (
            "fn bits_of(row: u32, position: u32) -> u32 {\n"
            "  return last_bits[row * parameters.length + position];\n}\n"
        )
        return text, [("last_bits", "r", "u32")], [source]

    def _count(
        self, blocks: int, shift: int, is_first: bool, source: int, counts: int
    ) -> Launch:
        declarations = self._declarations(is_first, blocks=blocks, shift=shift)
        text, storages, places = self._elements(declarations, is_first, source)
        storages.append(("counts", "w", "u32"))
        return launch(
            "sort_count",
            declarations,
            storages,
            (*places, counts),
            text + self._key(),
            self.rows * blocks,
        )

    def _scatter(
        self,
        blocks: int,
        shift: int,
        is_first: bool,
        is_last: bool,
        read: tuple[int, int, int],
        written: tuple[int, int],
    ) -> Launch:
        """Return the launch that moves elements, and their positions for argsort."""
        declarations = self._declarations(is_first, blocks=blocks, shift=shift)
        text, storages, places = self._elements(declarations, is_first, read[0])
        place = "position"
        if self.gives_positions and not is_first:
            place = "last_positions[row * parameters.length + position]"
            storages.append(("last_positions", "r", "u32"))
            places.append(read[1])
        storages.append(("running_counts", "r", "u32"))
        places.append(read[2])
        stores = ""
        if not (is_last and self.gives_positions):
            result = self.from_bits if is_last else "bits"
            stores += f"  next_bits[at] = {result};\n"
            storages.append(("next_bits", "w", self.element if is_last else "u32"))
            places.append(written[0])
        if self.gives_positions:
            stores += "  next_positions[at] = position;\n"
            storages.append(("next_positions", "w", "u32"))
            places.append(written[1])
        text += self._moves(place, stores, DIGIT_BITS) + _COUNTED_BEFORE
        return launch(
            "sort_blocks",
            declarations,
            storages,
            places,
            text + self._key(),
            self.rows * blocks,
        )


def sort(kernel: Kernel, _: Target) -> Program:
    """Return the program that sorts rows, or finds the positions that sort them."""
    writer = _Sort(kernel)
    if writer.length <= LONGEST_TILED:
        return writer.tiled()
    return writer.whole() if writer.length <= BLOCK else writer.long()
