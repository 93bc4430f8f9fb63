"""Programs that add floats at positions through tables in workgroup memory.

One pass of the radix sort groups values into buckets of neighbouring positions. Each
workgroup adds up to 16384 values of one bucket exactly, in a table with a bin per
position, and a last launch adds the bins of all tables to the original. That is half
the work of sorting by all bits, if one pass makes the buckets small enough.

    values    7@5  2@1500  4@5  1@31    value @ position
    bucket 0  7@5  4@5  1@31            positions 0 … 1023
    bucket 1  2@1500                    positions 1024 … 2047
    tables    11 in bin 5, 1 in bin 31; 2 in bin 1500 % 1024
    result    original, and the same bin of all tables of its bucket
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    function,
    number_bits,
    storage_type,
    to_storage,
)
from tensorweb.codegen.launches import Bindings, input_bindings, launch
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.sorting import BLOCK, DIGITS, Sort, Sorting
from tensorweb.codegen.target import Target
from tensorweb.schedule.kernel import Expression, Kernel

CHUNK = 16384
"""Values that a workgroup adds; more could overflow the words of a table."""


class Table(NamedTuple):
    """A size of tables.

    Attributes:
        bins: number of indices for which a table has a sum.
        nbytes: least workgroup memory, in bytes, of the devices that use such tables.
        threads: threads of a workgroup.
    """

    bins: int
    nbytes: int
    threads: int


TABLES = (Table(1024, 16384, 256), Table(2048, 32768, 256), Table(4096, 49152, 512))


def table_of(kernel: Kernel, target: Target) -> Table | None:
    """Return the tables to use for a kernel, None if other methods are faster."""
    rows, writes, width = kernel.sizes
    if width > 1 or writes < policy.LEAST_UPDATES or rows < policy.LEAST_TABLE_INDICES:
        return None
    if target.is_slow_to_compile:
        return None
    for most_buckets in (1, DIGITS):
        for table in TABLES:
            is_possible = (
                table.nbytes <= target.workgroup_bytes
                and table.threads <= target.threads
            )
            if is_possible and rows <= table.bins * most_buckets:
                return table
    return None


def add_through_tables(
    kernel: Kernel, table: Table, position: Expression, written: Expression
) -> Program:
    """Return the program; both expressions are over (row, position)."""
    return _Tables(kernel, table, position, written).program()


class _Tables:
    """Generate the launches of one kernel."""

    def __init__(
        self, kernel: Kernel, table: Table, position: Expression, written: Expression
    ) -> None:
        self.kernel = kernel
        self.table = table
        self.bins = table.bins
        self.position = position
        self.written = written
        self.length, self.writes, _ = kernel.sizes
        self.buckets = -(-self.length // table.bins)
        self.blocks = -(-self.writes // BLOCK)
        self.scratch_bytes: list[int] = []

    def _scratch(self, words: int) -> int:
        self.scratch_bytes.append(words * 4)
        return scratch(len(self.scratch_bytes) - 1)

    def program(self) -> Program:
        """Return the launches: into buckets if there are several, tables, totals."""
        launches: list[Launch] = []
        elements: tuple[int, ...] = ()
        running: tuple[int, ...] = ()
        if self.buckets > 1:
            elements = (self._scratch(self.writes), self._scratch(self.writes))
            task = Sorting(
                self.kernel,
                self.position,
                1,
                self.writes,
                key_bits=(self.length - 1).bit_length(),
                first_bit=(self.bins - 1).bit_length(),
                elements_to=elements[0],
                carried_to=elements[1],
                carried=self.written,
            )
            sorted_, counts = Sort(task, self.scratch_bytes).long()
            launches += sorted_
            running = (counts,)
        groups = self.writes // CHUNK + self.buckets
        sums = self._scratch(groups * self.bins)
        launches.append(self._tables(elements, running, sums, groups))
        launches.append(self._total(running, sums))
        return Program(tuple(launches), tuple(self.scratch_bytes))

    def _declarations(self) -> Declarations:
        declarations = Declarations(self.kernel.scalar_dtypes)
        declarations.parameter("writes", "u32", self.writes)
        declarations.parameter("buckets", "u32", self.buckets)
        declarations.parameter("blocks", "u32", self.blocks)
        start = number_bits(-0.0, "float32")
        declarations.parameter("identity", "f32", start)
        return declarations

    def _buckets(self, running: Sequence[int]) -> tuple[str, Bindings]:
        """Return the functions of the ends of buckets, and their bindings."""
        text = f"const BINS: u32 = {self.bins}u;\nfn end_of(bucket: u32) -> u32 {{\n"
        if not running:
            return text + "  return parameters.writes;\n}\n", []
        text += "  return running_counts[(bucket + 1u) * parameters.blocks - 1u];\n}\n"
        return text, [("running_counts", "r", "u32", running[0])]

    def _tables(
        self,
        elements: Sequence[int],
        running: Sequence[int],
        sums: int,
        groups: int,
    ) -> Launch:
        declarations = self._declarations()
        text, more = self._buckets(running)
        text += f"const THREADS: u32 = {self.table.threads}u;\n"
        if elements:
            text += _SORTED_ELEMENTS
            bindings: Bindings = [
                (name, "r", "u32", buffer)
                for name, buffer in zip(("keys", "words"), elements, strict=True)
            ]
        else:
            inputs = self.kernel.input_dtypes
            arguments = ("row", "index")
            for name, form, read in (
                ("position", "u32({0})", self.position),
                ("written", "bitcast<u32>({0})", self.written),
            ):
                signature = Signature(name, arguments, "u32", form)
                text += function(declarations, signature, read, inputs)
            text += _ELEMENTS_IN_ORDER
            bindings = input_bindings(self.kernel, [self.position, self.written])
        return launch(
            "scatter_tables",
            declarations,
            [*bindings, *more, ("partial_sums", "w", "f32", sums)],
            text,
            groups,
        )

    def _total(self, running: Sequence[int], sums: int) -> Launch:
        kernel = self.kernel
        declarations = self._declarations()
        declarations.parameter("length", "u32", self.length)
        text, more = self._buckets(running)
        original = kernel.expression("original")
        value, element = VALUE_TYPES[kernel.dtype], storage_type(kernel.dtype)
        signature = Signature("original", ("index",), value)
        text += function(declarations, signature, original, kernel.input_dtypes)
        text += (
            "fn store(index: u32, value: f32) {\n"
            f"  result[index] = {to_storage('value', kernel.dtype)};\n}}\n"
        )
        bindings = [*input_bindings(kernel, [original]), *more]
        bindings += [
            ("partial_sums", "r", "f32", sums),
            ("result", "w", element, OUTPUT),
        ]
        return launch(
            "scatter_total",
            declarations,
            bindings,
            text,
            -(-self.length // policy.WORKGROUP),
        )


_SORTED_ELEMENTS = """\
fn position_of(index: u32) -> u32 {
  return keys[index];
}
fn bits_of(index: u32) -> u32 {
  return words[index];
}
"""

_ELEMENTS_IN_ORDER = """\
fn position_of(index: u32) -> u32 {
  return position(0u, index);
}
fn bits_of(index: u32) -> u32 {
  return written(0u, index);
}
"""
