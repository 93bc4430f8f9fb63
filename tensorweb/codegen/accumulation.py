"""Programs that accumulate values at positions in a deterministic order.

If the order does not matter (integer sums, extremes), each value is an atomic
operation; many single floats are added in tables. Otherwise (products, rows of
floats, few values for many positions) the positions are sorted as keys, which makes
the values of each position contiguous and ordered, and runs of equal keys are combined:

    positions  4 1 4 2 4 1        values  a b c d e f
    sort       1 1 2 4 4 4                b f d a c e
    blocks     1 1 2 | 4 4 4              b f d | a c e
    combine    run 1 = b·f   run 2 = d    run 4 = (a·c)·e
    result     original[1]·(b·f), original[2]·d, original[4]·((a·c)·e)

The total of a run inside a block goes to the result. The first and the last run of a
block may continue in other blocks: their totals, the two edges of the block, are the
values of the next launch, until there is one block. Single elements are sorted with
their positions; of longer rows only the index is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    function,
    identity_bits,
    kind_of,
    number_bits,
    storage_type,
    to_storage,
)
from tensorweb.codegen.launches import (
    Bindings,
    elementwise,
    input_bindings,
    launch,
    vector_inputs,
)
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.sorting import BLOCK, DIGITS, MergeSort, Sort, Sorting, tile_for
from tensorweb.codegen.target import Target
from tensorweb.codegen.transposition import find_transposed, transposition
from tensorweb.codegen.vector import WIDTH, vector_function, vector_of
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Access, Expression, Kernel

# Programs of accumulations independent of order: integer sums and extremes.
#
# Every value is one atomic operation on 32 bits, so the result is the same in any
# order: sums wrap around, extremes are compared by keys in the order of the values.


EXTREMES = ("scatter_minimum", "scatter_maximum")

_TO_ORDER = {
    "float": "order_of_f32(bitcast<u32>({0}), {1})",
    "int": "order_of_i32(bitcast<u32>({0}), {1})",
    "uint": "order_of_u32({0}, {1})",
    "bool": "order_of_u32(select(0u, 1u, {0}), {1})",
}
_FROM_ORDER = {
    "float": "f32_of_order({0}, {1})",
    "int": "bitcast<i32>(order_of_i32({0}, {1}))",
    "uint": "order_of_u32({0}, {1})",
    "bool": "((order_of_u32({0}, {1}) & 1u) != 0u)",
}


def is_any_order(kernel: Kernel) -> bool:
    """Return whether values may be accumulated in any order."""
    is_sum = kernel.op == "scatter_add"
    return kernel.op in EXTREMES or (is_sum and kind_of(kernel.dtype) != "float")


def accumulate_in_any_order(kernel: Kernel, target: Target) -> Program:
    """Return the launch of the updates and the one that finishes every element."""
    return _Atomics(kernel, is_slow=target.is_slow_to_compile).program()


def combine_text(kernel: Kernel, a: str, b: str) -> str:
    """Return the WGSL that combines two values."""
    forms = OPS[kernel.op].wgsl
    form = forms.get(kind_of(kernel.dtype)) or forms["any"]
    return form.format(a, b)


class _Atomics:
    """Generate the launches of an accumulation independent of order."""

    def __init__(self, kernel: Kernel, *, is_slow: bool) -> None:
        self.kernel = kernel
        self.is_slow = is_slow
        self.rows, self.writes, self.width = kernel.sizes
        self.kind = kind_of(kernel.dtype)
        # Keys of minima ascend where values descend, so that the largest key wins.
        self.flip = "0xffffffffu" if kernel.op == "scatter_minimum" else "0u"

    def program(self) -> Program:
        """Return the launch of the updates and the one that finishes every element."""
        totals = scratch(0)
        nbytes = self.rows * self.width * 4
        launches = (self._updates(totals), self._finish(totals))
        return Program(launches, (nbytes,), frozenset({0}))

    def _updates(self, totals: int) -> Launch:
        kernel = self.kernel
        position, written = kernel.expression("position"), kernel.expression("written")
        declarations = Declarations(kernel.scalar_dtypes)
        declarations.parameter("updates", "u32", self.writes * self.width)
        declarations.parameter("width", "u32", self.width)
        inputs = kernel.input_dtypes
        form, call = "bitcast<u32>({0})", "atomicAdd"
        if kernel.op in EXTREMES:
            form, call = _TO_ORDER[self.kind].replace("{1}", self.flip), "atomicMax"
        row_of = Signature("row_of", ("write",), "u32", "u32({0})")
        bits_of = Signature("bits_of", ("write", "column"), "u32", form)
        text = (
            function(declarations, row_of, position, inputs)
            + function(declarations, bits_of, written, inputs)
            + "fn join(at: u32, bits: u32) {\n"
            f"  {call}(&totals[at], bits);\n}}\n"
        )
        template, each = "scatter_atomic", policy.WORKGROUP
        if self.is_privatized:
            template, each = "scatter_privatized", policy.PRIVATE_UPDATES
            bins = self.rows * self.width
            stride = bins | 1  # copies of a bin lie in different banks
            copies = max(
                min(policy.MOST_PRIVATE_COPIES, policy.MOST_PRIVATE_TOTALS // stride), 1
            )
            declarations.parameter("bins", "u32", bins)
            declarations.parameter("copies", "u32", copies)
            declarations.parameter("stride", "u32", stride)
            text += (
                "fn join_private(at: u32, bits: u32) {\n"
                f"  {call}(&private_totals[at], bits);\n}}\n"
            )
        bindings = input_bindings(kernel, [position, written])
        bindings.append(("totals", "w", "atomic<u32>", totals))
        groups = -(-self.writes * self.width // each)
        return launch(template, declarations, bindings, text, groups)

    @property
    def is_privatized(self) -> bool:
        """Return whether each workgroup has private totals, as in histograms."""
        if self.is_slow:
            return False
        updates = self.writes * self.width
        return (
            self.rows * self.width <= policy.MOST_PRIVATE_TOTALS
            and updates >= policy.LEAST_UPDATES
        )

    def _finish(self, totals: int) -> Launch:
        kernel = self.kernel
        original = kernel.expression("original")
        value, element = VALUE_TYPES[kernel.dtype], storage_type(kernel.dtype)
        declarations = Declarations(kernel.scalar_dtypes)
        length = self.rows * self.width
        declarations.parameter("length", "u32", length)
        signature = Signature("original", ("index",), value)
        text = function(declarations, signature, original, kernel.input_dtypes)
        total = f"{value}(found)"
        if kernel.op in EXTREMES:
            total = _FROM_ORDER[self.kind].format("found", self.flip)
        before = to_storage("before", kernel.dtype)
        after = to_storage(combine_text(kernel, "before", total), kernel.dtype)
        # Only the identity element has the key 0 in the order of its dtype.
        text += (
            f"fn value(index: u32) -> {element} {{\n"
            "  let before = original(index);\n"
            "  let found = totals[index];\n"
            f"  if (found == 0u) {{\n    return {before};\n  }}\n"
            f"  return {after};\n}}\n"
        )
        bindings = input_bindings(kernel, [original])
        bindings += [("totals", "r", "u32", totals), ("result", "w", element, OUTPUT)]
        return launch(
            "elementwise",
            declarations,
            bindings,
            text,
            -(-length // policy.WORKGROUP),
        )


# Programs that add floats at positions through tables in workgroup memory.
#
# One pass of the radix sort groups values into buckets of neighbouring positions. Each
# workgroup adds up to 16384 values of one bucket exactly, in a table with a bin per
# position, and a last launch adds the bins of all tables to the original. That is half
# the work of sorting by all bits, if one pass makes the buckets small enough.
#
#     values    7@5  2@1500  4@5  1@31    value @ position
#     bucket 0  7@5  4@5  1@31            positions 0 … 1023
#     bucket 1  2@1500                    positions 1024 … 2047
#     tables    11 in bin 5, 1 in bin 31; 2 in bin 1500 % 1024
#     result    original, and the same bin of all tables of its bucket


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

RUN_BLOCK = 2048
"""Sorted elements of one workgroup."""

ROW_BLOCK = 64
"""Sorted rows that a thread combines."""


def accumulate(kernel: Kernel, target: Target) -> Program:
    """Return the program that combines a tensor with values at indices."""
    if is_any_order(kernel):
        return accumulate_in_any_order(kernel, target)
    table = table_of(kernel, target) if kernel.op == "scatter_add" else None
    if table:
        position = _as_one_row(kernel.expression("position"))
        written = _as_one_row(kernel.expression("written"))
        return add_through_tables(kernel, table, position, written)
    return _Sorted(kernel).program(target)


class _Sorted:
    """Generate the launches of an accumulation in a fixed order."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.rows, self.writes, self.width = kernel.sizes
        self.value = VALUE_TYPES[kernel.dtype]
        self.scratch_bytes: list[int] = []

    def _scratch(self, words: int) -> int:
        self.scratch_bytes.append(words * 4)
        return scratch(len(self.scratch_bytes) - 1)

    def program(self, target: Target) -> Program:
        """Return a copy of the original, then launches that combine runs into it."""
        original = self.kernel.expression("original")
        copied = replace(
            self.kernel,
            kind="elementwise",
            op="",
            sizes=(self.rows * self.width,),
            expressions=(("value", original),),
        )
        found = find_transposed(original)
        first = transposition(copied, found) if found else elementwise(copied, target)
        assert not first.scratch_bytes, "internal: a copy needs no scratch"
        launches = [*first.launches]
        keys, words = self._scratch(self.writes), self._scratch(self.writes)
        # A compiler that takes long for workgroup memory gets elements as short rows.
        is_slow = target.is_slow_to_compile
        carries_elements = self.width == 1 and not is_slow
        task = self._sorting(keys, words, carries_elements=carries_elements)
        if is_slow:
            tile = tile_for(self.writes, target, carries=True)
            sort: Sort = MergeSort(task, self.scratch_bytes, tile)
        else:
            sort = Sort(task, self.scratch_bytes)
        launches += sort.launches()
        combine = self._runs if carries_elements else self._rows
        launches += combine(keys, words)
        return Program(tuple(launches), tuple(self.scratch_bytes))

    def _sorting(self, keys: int, words: int, *, carries_elements: bool) -> Sorting:
        """Return how indices are sorted and the words carried along."""
        written = self.kernel.expression("written") if carries_elements else None
        return Sorting(
            self.kernel,
            _as_one_row(self.kernel.expression("position")),
            1,
            self.writes,
            key_bits=max((self.rows - 1).bit_length(), 1),
            elements_to=keys,
            carried_to=words,
            carried=None if written is None else _as_one_row(written),
        )

    def _combine(self, type_name: str) -> str:
        """Return the type of values and the function that combines two of them."""
        return (
            f"alias Value = {type_name};\n"
            "fn combine(a: Value, b: Value) -> Value {\n"
            f"  return {combine_text(self.kernel, 'a', 'b')};\n}}\n"
        )

    def _runs(self, keys: int, words: int) -> list[Launch]:
        """Return the launches that combine runs of single elements."""
        head = self._combine(self.value)
        element = storage_type(self.kernel.dtype)
        settled = f"result[key] = {element}(combine({self.value}(result[key]), total));"
        launches = []
        source, length, span = words, self.writes, 0
        while True:
            blocks = -(-length // RUN_BLOCK)
            declarations, text = self._level(length, span)
            text = head + text + (_TERM_OF_EDGES if span else _TERM_OF_WORDS)
            bindings: Bindings = [
                ("keys", "r", "u32", keys),
                ("terms", "r", self.value if span else "u32", source),
                ("result", "w", element, OUTPUT),
            ]
            signature = "key: u32, edge: u32, total: Value"
            text += _store_or_pass(signature, settled, "edge", blocks > 1)
            if blocks > 1:
                source = self._scratch(2 * blocks)
                bindings.append(("edges", "w", self.value, source))
            launches.append(
                launch("scatter_runs", declarations, bindings, text, blocks)
            )
            if blocks == 1:
                return launches
            length, span = 2 * blocks, max(span, 2) // 2 * RUN_BLOCK

    def _rows(self, keys: int, words: int) -> list[Launch]:
        """Return the launches that combine runs of rows, in vectors where possible."""
        source, length, span = words, self.writes, 0
        launches: list[Launch] = []
        while span == 0 or length > policy.FEW_EDGES:
            blocks = -(-length // ROW_BLOCK)
            edges = self._scratch(2 * blocks * self.width) if blocks > 1 else None
            launches.append(self._row_blocks(keys, source, (length, span), edges))
            if edges is None:
                return launches
            source, length = edges, 2 * blocks
            span = max(span, 2) // 2 * ROW_BLOCK
        launches.append(self._row_edges(keys, source, (length, span)))
        return launches

    def _row_types(self) -> tuple[set[int], int, str, str]:
        """Return which inputs are read as vectors, columns, element and value types."""
        vectors = vector_inputs([self.kernel.expression("written")])
        element = storage_type(self.kernel.dtype)
        if not vectors:
            return vectors, self.width, element, self.value
        columns = self.width // WIDTH
        return vectors, columns, f"vec{WIDTH}<{element}>", f"vec{WIDTH}<{self.value}>"

    def _row_blocks(
        self, keys: int, source: int, level: tuple[int, int], edges: int | None
    ) -> Launch:
        """Return the launch that combines rows or edges in blocks."""
        vectors, columns, element, value = self._row_types()
        length, span = level
        lanes = min(1 << (columns - 1).bit_length(), policy.WORKGROUP)
        declarations, text = self._level(length, span)
        declarations.parameter("width", "u32", columns)
        declarations.parameter("lanes", "u32", lanes)
        bindings: Bindings = [("terms", "r", value, source)]
        if span:
            text += _ROW_OF_EDGES
        else:
            more, bindings = self._written_rows(declarations, vectors)
            text += more
            bindings.append(("order", "r", "u32", source))
        bindings += [("keys", "r", "u32", keys), ("result", "w", element, OUTPUT)]
        at = "result[key * parameters.width + column]"
        text += f"const HAS_EDGES: bool = {str(edges is not None).lower()};\n"
        text += "fn before(key: u32, column: u32) -> Value {\n"
        text += f"  return Value({at});\n}}\n"
        signature = "key: u32, edge: u32, column: u32, total: Value, start: Value"
        settled = f"{at} = {element}(combine(start, total));"
        text += _store_or_pass(
            signature, settled, "edge * parameters.width + column", edges is not None
        )
        if edges is not None:
            bindings.append(("edges", "w", value, edges))
        blocks = -(-length // ROW_BLOCK)
        groups = -(-blocks // (policy.WORKGROUP // lanes)) * -(-columns // lanes)
        text = self._combine(value) + text
        return launch("scatter_rows", declarations, bindings, text, groups)

    def _row_edges(self, keys: int, source: int, level: tuple[int, int]) -> Launch:
        """Return the launch that combines the last few edges."""
        _, columns, element, value = self._row_types()
        length, span = level
        declarations, text = self._level(length, span)
        declarations.parameter("width", "u32", columns)
        at = "result[key * parameters.width + column]"
        text += _ROW_OF_EDGES + (
            "fn give(key: u32, column: u32, total: Value) {\n"
            f"  {at} = {element}(combine(Value({at}), total));\n}}\n"
        )
        return launch(
            "scatter_edges",
            declarations,
            [
                ("terms", "r", value, source),
                ("keys", "r", "u32", keys),
                ("result", "w", element, OUTPUT),
            ],
            self._combine(value) + text,
            -(-length * columns // policy.WORKGROUP),
        )

    def _written_rows(
        self, declarations: Declarations, vectors: set[int]
    ) -> tuple[str, Bindings]:
        """Return the function of an element of a written row, and its bindings."""
        written = self.kernel.expression("written")
        inputs, arguments = self.kernel.input_dtypes, ("write", "column")
        if vectors:
            signature = Signature("written", arguments, self.value)
            four = vector_of("Value")
            text = vector_function(declarations, signature, written, inputs, four)
        else:
            signature = Signature("written", arguments, "Value")
            text = function(declarations, signature, written, inputs)
        bindings = input_bindings(self.kernel, [written], vectors)
        return text + _ROW_OF_ORDER, bindings

    def _level(self, length: int, span: int) -> tuple[Declarations, str]:
        """Return the parameters of a launch and the keys of its elements.

        A pair of edges represents `span` sorted elements; 0: the elements themselves.
        """
        declarations = Declarations(() if span else self.kernel.scalar_dtypes)
        declarations.parameter("length", "u32", length)
        scalar = VALUE_TYPES[self.kernel.dtype]
        start = identity_bits(OPS[self.kernel.op], self.kernel.dtype)
        declarations.parameter("identity", scalar, start)
        if not span:
            return declarations, _KEY_OF_ELEMENTS
        declarations.parameter("span", "u32", span)
        declarations.parameter("writes", "u32", self.writes)
        return declarations, _KEY_OF_EDGES


_KEY_OF_ELEMENTS = """\
fn key(index: u32) -> u32 {
  return keys[index];
}
"""

_KEY_OF_EDGES = """\
fn key(index: u32) -> u32 {
  let first = index / 2u * parameters.span;
  if (index % 2u == 0u) {
    return keys[first];
  }
  return keys[min(first + parameters.span, parameters.writes) - 1u];
}
"""

_TERM_OF_WORDS = """\
fn term(index: u32) -> Value {
  return bitcast<Value>(terms[index]);
}
"""

_TERM_OF_EDGES = """\
fn term(index: u32) -> Value {
  return terms[index];
}
"""

_ROW_OF_ORDER = """\
fn term(row: u32, column: u32) -> Value {
  return written(order[row], column);
}
"""

_ROW_OF_EDGES = """\
fn term(row: u32, column: u32) -> Value {
  return terms[row * parameters.width + column];
}
"""


def _store_or_pass(signature: str, settled: str, edge: str, has_edges: bool) -> str:
    """Return the function that stores a run's total: in the result, or as an edge."""
    lines = f"  {settled}\n"
    if has_edges:
        lines = (
            f"  if (edge == INSIDE) {{\n  {lines}  }} else {{\n"
            f"    edges[{edge}] = total;\n  }}\n"
        )
    return f"fn give({signature}) {{\n{lines}}}\n"


def _as_one_row(expression: Expression) -> Expression:
    """Return an expression over its first group of axes as one over (row, position)."""
    return replace(
        expression,
        groups=((), expression.groups[0]),
        accesses=tuple(
            Access(access.offset, ((), access.strides[0]))
            for access in expression.accesses
        ),
    )
