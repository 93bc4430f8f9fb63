"""Programs that add floats at positions through tables in workgroup memory.

Elements are brought into buckets of neighbouring places by one pass of the sort; each
workgroup adds up to 16384 of one bucket exactly, and a last launch adds these sums to
the original. That is half the work of sorting by all bits, where the table is not too
long for one pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    function,
    number_bits,
    storage_type,
    stored,
)
from tensorweb.codegen.launches import GROUP, Storages, input_storages, launch
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.sorting import BLOCK, DIGITS, Sort
from tensorweb.codegen.target import Target
from tensorweb.schedule.kernel import Expression, Kernel

CHUNK = 16384
"""Elements of a workgroup; more could overflow the words of a table."""

LEAST_WRITES = 32768
"""Fewer elements are sorted by all bits in fewer workgroups."""

LEAST_PLACES = 64
"""In a shorter table threads would wait for each other at the same places."""


class Table(NamedTuple):
    """A size of tables: places, the workgroup memory of devices for it, threads."""

    places: int
    nbytes: int
    threads: int


TABLES = (Table(1024, 16384, 256), Table(2048, 32768, 256), Table(4096, 49152, 512))


def table_of(kernel: Kernel, target: Target) -> Table | None:
    """Return the tables that serve a kernel, None where others serve it better."""
    rows, writes, width = kernel.sizes
    if width > 1 or writes < LEAST_WRITES or rows < LEAST_PLACES:
        return None
    for most_buckets in (1, DIGITS):
        for table in TABLES:
            is_possible = (
                table.nbytes <= target.workgroup_bytes
                and table.threads <= target.threads
            )
            if is_possible and rows <= table.places * most_buckets:
                return table
    return None


def add_through_tables(
    kernel: Kernel, table: Table, position: Expression, written: Expression
) -> Program:
    """Return the program; position and value are expressions over (row, position)."""
    return _Tables(kernel, table, position, written).program()


class _Tables:
    """Writes the launches of one kernel."""

    def __init__(
        self, kernel: Kernel, table: Table, position: Expression, written: Expression
    ) -> None:
        self.kernel = kernel
        self.table = table
        self.places = table.places
        self.position = position
        self.written = written
        self.length, self.writes, _ = kernel.sizes
        self.buckets = -(-self.length // table.places)
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
            sort = Sort(
                self.kernel, self.position, (1, self.writes), self.scratch_bytes
            )
            elements = (self._scratch(self.writes), self._scratch(self.writes))
            sort.elements_to, sort.carried_to = elements
            sort.carried = self.written
            sort.first_bit = (self.places - 1).bit_length()
            sort.key_bits = (self.length - 1).bit_length()
            launches += sort.long()
            running = (sort.running,)
        groups = self.writes // CHUNK + self.buckets
        sums = self._scratch(groups * self.places)
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

    def _buckets(self, running: Sequence[int]) -> tuple[str, Storages]:
        """Return the functions that say where buckets end, and what they read."""
        text = (
            f"const PLACES: u32 = {self.places}u;\nfn end_of(bucket: u32) -> u32 {{\n"
        )
        if not running:
            return text + "  return parameters.writes;\n}\n", []
        text += "  return running_counts[(bucket + 1u) * parameters.blocks - 1u];\n}\n"
        return text, [("running_counts", "r", "u32")]

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
            storages: Storages = [("keys", "r", "u32"), ("words", "r", "u32")]
            places = [*elements]
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
            storages, places = input_storages(
                self.kernel, [self.position, self.written]
            )
        return launch(
            "scatter_tables",
            declarations,
            [*storages, *more, ("partial_sums", "w", "f32")],
            (*places, *running, sums),
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
            f"  result[index] = {stored('value', kernel.dtype)};\n}}\n"
        )
        storages, places = input_storages(kernel, [original])
        return launch(
            "scatter_total",
            declarations,
            [*storages, *more, ("partial_sums", "r", "f32"), ("result", "w", element)],
            (*places, *running, sums, OUTPUT),
            text,
            -(-self.length // GROUP),
        )


_SORTED_ELEMENTS = """\
fn place_of(index: u32) -> u32 {
  return keys[index];
}
fn bits_of(index: u32) -> u32 {
  return words[index];
}
"""

_ELEMENTS_IN_ORDER = """\
fn place_of(index: u32) -> u32 {
  return position(0u, index);
}
fn bits_of(index: u32) -> u32 {
  return written(0u, index);
}
"""
