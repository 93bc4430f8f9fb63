"""Programs that accumulate values at indices in a deterministic order.

If the order does not matter (integer sums, extremes), each value is an atomic
operation; many single floats are added in tables. Otherwise (products, rows of
floats, few values for many indices) the indices are sorted as keys, which makes the
values of each index contiguous and ordered, and runs of equal keys are combined:

    indices    4 1 4 2 4 1        values  a b c d e f
    sort       1 1 2 4 4 4                b f d a c e
    blocks     1 1 2 | 4 4 4              b f d | a c e
    combine    run 1 = b·f   run 2 = d    run 4 = (a·c)·e
    result     original[1]·(b·f), original[2]·d, original[4]·((a·c)·e)

The total of a run inside a block goes to the result. The first and the last run of a
block may continue in other blocks: their totals, the two edges of the block, are the
values of the next launch, until there is one block. Single elements are sorted with
their indices; of longer rows only the index is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from tensorweb.codegen import policy
from tensorweb.codegen.elementwise import elementwise, find_transposed, transposition
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    identity_bits,
    kind_of,
    number_bits,
    order_key,
    storage_type,
    to_storage,
)
from tensorweb.codegen.launch_builder import LaunchBuilder, ShaderFunction, constants
from tensorweb.codegen.program import (
    Launch,
    Program,
    ScratchBuffers,
    Target,
    ceil_divide,
    scratch,
    workgroups,
)
from tensorweb.codegen.sorting import (
    BLOCK,
    DIGITS,
    MergeSort,
    RadixSort,
    SortTask,
    choose_sort_tile,
)
from tensorweb.codegen.template import alternative
from tensorweb.codegen.vector import WIDTH, add_vector_function, vector_inputs
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Access, Expression, Kernel


def accumulate(kernel: Kernel, target: Target) -> Program:
    """Return the program that combines a tensor with values at indices."""
    is_sum = kernel.op == "scatter_add"
    if kernel.op in EXTREMES or (is_sum and kind_of(kernel.dtype) != "float"):
        return _atomic_accumulation(kernel, target)
    table = _choose_table(kernel, target) if is_sum else None
    if table:
        return _TableAccumulation(kernel, table).program()
    return _SortedAccumulation(kernel).program(target)


def _combined(kernel: Kernel, a: str, b: str) -> str:
    """Return the WGSL that combines two values."""
    forms = OPS[kernel.op].wgsl
    form = forms.get(kind_of(kernel.dtype)) or forms["any"]
    return form.format(a, b)


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


# Integer sums and extremes do not depend on order: each value is one atomic operation
# on 32 bits. Sums wrap around, extremes are compared by keys in the order of values.


EXTREMES = ("scatter_minimum", "scatter_maximum")

_FROM_ORDER = {
    "float": "f32_of_order({0}, {1})",
    "int": "bitcast<i32>(order_of_i32({0}, {1}))",
    "uint": "order_of_u32({0}, {1})",
    "bool": "((order_of_u32({0}, {1}) & 1u) != 0u)",
}
"""The value with a key, by kind of dtype; the second operand flips the order."""


def _atomic_accumulation(kernel: Kernel, target: Target) -> Program:
    """Return the launch of the updates and the one that finishes every element."""
    rows, _, width = kernel.sizes
    # Keys of minima ascend where values descend, so that the largest key wins.
    flip = "0xffffffffu" if kernel.op == "scatter_minimum" else "0u"
    launches = (
        _atomic_updates(kernel, target, flip),
        _finish_totals(kernel, flip),
    )
    return Program(launches, (rows * width * 4,), frozenset({0}))


def _atomic_updates(kernel: Kernel, target: Target, flip: str) -> Launch:
    rows, writes, width = kernel.sizes
    totals, updates = rows * width, writes * width
    builder = LaunchBuilder(kernel)
    builder.add_sizes(updates=updates, width=width)
    form, call = "bitcast<u32>({0})", "atomicAdd"
    if kernel.op in EXTREMES:
        form, call = order_key(kind_of(kernel.dtype), flip), "atomicMax"
    row_of = ShaderFunction("row_of", ("write",), "u32", "u32({0})")
    builder.add_function(row_of, kernel.expression("position"))
    bits_of = ShaderFunction("bits_of", ("write", "column"), "u32", form)
    builder.add_function(bits_of, kernel.expression("written"))
    builder.text += (
        f"fn join(at: u32, bits: u32) {{\n  {call}(&totals[at], bits);\n}}\n"
    )
    builder.add_buffer("totals", "w", "atomic<u32>", scratch(0))
    # Each workgroup has private totals where updates contend, as in histograms.
    is_privatized = (
        not target.is_slow_to_compile
        and totals <= policy.MOST_PRIVATE_TOTALS
        and updates >= policy.LEAST_UPDATES
    )
    if not is_privatized:
        return builder.launch("scatter_atomic", workgroups(updates))
    stride = totals | 1  # copies of a total lie in different banks
    copies = min(policy.MOST_PRIVATE_COPIES, policy.MOST_PRIVATE_TOTALS // stride)
    builder.add_sizes(bins=totals, copies=max(copies, 1), stride=stride)
    builder.text += (
        "fn join_private(at: u32, bits: u32) {\n"
        f"  {call}(&private_totals[at], bits);\n}}\n"
    )
    enough = target.scaled(policy.PRIVATE_GROUPS) * policy.WORKGROUP
    each = min(ceil_divide(updates, enough), policy.MOST_PRIVATE_UPDATES)
    # A multiple of AHEAD of the template, which would else count updates twice.
    each = max(ceil_divide(each, policy.ELEMENTS_AHEAD), 2) * policy.ELEMENTS_AHEAD
    builder.add_sizes(each=each)
    groups = ceil_divide(updates, each * policy.WORKGROUP)
    return builder.launch("scatter_privatized", groups)


def _finish_totals(kernel: Kernel, flip: str) -> Launch:
    """Return the launch that combines the original with the totals."""
    rows, _, width = kernel.sizes
    value, element = VALUE_TYPES[kernel.dtype], storage_type(kernel.dtype)
    builder = LaunchBuilder(kernel)
    builder.add_sizes(length=rows * width)
    original = kernel.expression("original")
    builder.add_function(ShaderFunction("original", ("index",), value), original)
    total = f"{value}(found)"
    if kernel.op in EXTREMES:
        total = _FROM_ORDER[kind_of(kernel.dtype)].format("found", flip)
    before = to_storage("before", kernel.dtype)
    after = to_storage(_combined(kernel, "before", total), kernel.dtype)
    # Only the identity element has the key 0 in the order of its dtype.
    builder.text += (
        f"fn value(index: u32) -> {element} {{\n"
        "  let before = original(index);\n"
        "  let found = totals[index];\n"
        f"  if (found == 0u) {{\n    return {before};\n  }}\n"
        f"  return {after};\n}}\n"
    )
    builder.add_buffer("totals", "r", "u32", scratch(0))
    builder.add_result(kernel.dtype)
    return builder.launch("elementwise", workgroups(rows * width))


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


class AccumulationTable(NamedTuple):
    """A size of tables.

    Attributes:
        bins: number of indices for which a table has a sum.
        nbytes: least workgroup memory, in bytes, of the devices that use such tables.
        threads: threads of a workgroup.
    """

    bins: int
    nbytes: int
    threads: int


TABLES = (
    AccumulationTable(1024, 16384, 256),
    AccumulationTable(2048, 32768, 256),
    AccumulationTable(4096, 49152, 512),
)


def _choose_table(kernel: Kernel, target: Target) -> AccumulationTable | None:
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


class _TableAccumulation:
    """Generate the launches of an accumulation through tables."""

    def __init__(self, kernel: Kernel, table: AccumulationTable) -> None:
        self.kernel = kernel
        self.table = table
        self.position = _as_one_row(kernel.expression("position"))
        self.written = _as_one_row(kernel.expression("written"))
        self.length, self.writes, _ = kernel.sizes
        self.buckets = ceil_divide(self.length, table.bins)
        self.scratches = ScratchBuffers()

    def program(self) -> Program:
        """Return the launches: into buckets if there are several, tables, totals."""
        launches: list[Launch] = []
        elements: tuple[int, ...] = ()
        running: int | None = None
        if self.buckets > 1:
            elements = (
                self.scratches.add(self.writes),
                self.scratches.add(self.writes),
            )
            task = SortTask(
                self.kernel,
                self.position,
                1,
                self.writes,
                key_bits=(self.length - 1).bit_length(),
                first_bit=(self.table.bins - 1).bit_length(),
                elements_to=elements[0],
                carried_to=elements[1],
                carried=self.written,
            )
            launches, running = RadixSort(task, self.scratches).passes()
        groups = self.writes // CHUNK + self.buckets
        sums = self.scratches.add(groups * self.table.bins)
        launches.append(self._fill_tables(elements, running, sums, groups))
        launches.append(self._add_tables(running, sums))
        return Program(tuple(launches), tuple(self.scratches.nbytes))

    def _builder(self) -> LaunchBuilder:
        builder = LaunchBuilder(self.kernel)
        blocks = ceil_divide(self.writes, BLOCK)
        builder.add_sizes(writes=self.writes, buckets=self.buckets, blocks=blocks)
        builder.parameter("identity", "f32", number_bits(-0.0, "float32"))
        return builder

    def _add_bucket_ends(self, builder: LaunchBuilder, running: int | None) -> None:
        """Add the function of the ends of buckets, from running counts of elements."""
        end = "parameters.writes"
        if running is not None:
            end = "running_counts[(bucket + 1u) * parameters.blocks - 1u]"
            builder.add_buffer("running_counts", "r", "u32", running)
        builder.text += constants({"BINS": self.table.bins})
        builder.text += f"fn end_of(bucket: u32) -> u32 {{\n  return {end};\n}}\n"

    def _fill_tables(
        self, elements: Sequence[int], running: int | None, sums: int, groups: int
    ) -> Launch:
        builder = self._builder()
        for name, buffer in zip(("keys", "words"), elements, strict=False):
            builder.add_buffer(name, "r", "u32", buffer)
        self._add_bucket_ends(builder, running)
        builder.text += constants({"THREADS": self.table.threads})
        if not elements:
            for name, form, expression in (
                ("position", "u32({0})", self.position),
                ("written", "bitcast<u32>({0})", self.written),
            ):
                function = ShaderFunction(name, ("row", "index"), "u32", form)
                builder.add_function(function, expression)
        name = "sorted_elements" if elements else "elements_in_order"
        builder.text += alternative("scatter_tables", name)
        builder.add_buffer("partial_sums", "w", "f32", sums)
        return builder.launch("scatter_tables", groups)

    def _add_tables(self, running: int | None, sums: int) -> Launch:
        """Return the launch that adds the bins of all tables to the original."""
        kernel = self.kernel
        builder = self._builder()
        builder.add_sizes(length=self.length)
        self._add_bucket_ends(builder, running)
        value = VALUE_TYPES[kernel.dtype]
        function = ShaderFunction("original", ("index",), value)
        builder.add_function(function, kernel.expression("original"))
        builder.text += (
            "fn store(index: u32, value: f32) {\n"
            f"  result[index] = {to_storage('value', kernel.dtype)};\n}}\n"
        )
        builder.add_buffer("partial_sums", "r", "f32", sums)
        builder.add_result(kernel.dtype)
        return builder.launch("scatter_total", workgroups(self.length))


# Other accumulations sort their indices and combine runs of equal indices.


RUN_BLOCK = 2048
"""Sorted elements of one workgroup, as in `scatter_runs.wgsl`."""

ROW_BLOCK = 64
"""Sorted rows that a thread combines, as in `scatter_rows.wgsl`."""


class _SortedAccumulation:
    """Generate the launches of an accumulation in a fixed order.

    A launch combines elements, or the edges of earlier blocks: then a pair of edges
    represents `span` sorted elements, which is 0 for the elements themselves.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.rows, self.writes, self.width = kernel.sizes
        self.element = storage_type(kernel.dtype)
        self.value = VALUE_TYPES[kernel.dtype]
        self.columns = self.width
        self.row_element, self.row_value = self.element, self.value
        self.vectors = vector_inputs([kernel.expression("written")])
        if self.vectors:
            self.columns //= WIDTH
            self.row_element, self.row_value = (
                f"vec{WIDTH}<{name}>" for name in (self.element, self.value)
            )
        self.scratches = ScratchBuffers()

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
        transposed = find_transposed(original)
        copy = transposition(copied, transposed) if transposed else elementwise(copied)
        assert not copy.scratch_bytes, "internal: a copy needs no scratch"
        keys, words = self.scratches.add(self.writes), self.scratches.add(self.writes)
        # A compiler that takes long for workgroup memory gets elements as short rows.
        is_slow = target.is_slow_to_compile
        carries_elements = self.width == 1 and not is_slow
        written = self.kernel.expression("written") if carries_elements else None
        task = SortTask(
            self.kernel,
            _as_one_row(self.kernel.expression("position")),
            1,
            self.writes,
            key_bits=max((self.rows - 1).bit_length(), 1),
            elements_to=keys,
            carried_to=words,
            carried=_as_one_row(written) if written else None,
        )
        launches = [*copy.launches]
        if is_slow:
            tile = choose_sort_tile(self.writes, target, carries=True)
            launches += MergeSort(task, self.scratches, tile).launches()
        else:
            launches += RadixSort(task, self.scratches).launches()
        combine = self._combine_elements if carries_elements else self._combine_rows
        launches += combine(keys, words)
        return Program(tuple(launches), tuple(self.scratches.nbytes))

    def _builder(self, length: int, span: int, type_name: str) -> LaunchBuilder:
        """Return a builder with the type of values, `combine` and `key`."""
        builder = LaunchBuilder(None if span else self.kernel)
        builder.add_sizes(length=length)
        identity = identity_bits(OPS[self.kernel.op], self.kernel.dtype)
        builder.parameter("identity", self.value, identity)
        if span:
            builder.add_sizes(span=span, writes=self.writes)
        key = alternative("scatter_runs", "key_of_edges" if span else "key_of_elements")
        builder.text = (
            f"alias Value = {type_name};\n"
            "fn combine(a: Value, b: Value) -> Value {\n"
            f"  return {_combined(self.kernel, 'a', 'b')};\n}}\n{key}"
        )
        return builder

    def _combine_elements(self, keys: int, words: int) -> list[Launch]:
        """Return the launches that combine runs of single elements."""
        value, element = self.value, self.element
        settled = f"result[key] = {element}(combine({value}(result[key]), total));"
        launches: list[Launch] = []
        source, length, span = words, self.writes, 0
        while True:
            blocks = ceil_divide(length, RUN_BLOCK)
            builder = self._builder(length, span, value)
            term = "term_of_edges" if span else "term_of_words"
            builder.text += alternative("scatter_runs", term)
            builder.add_buffer("keys", "r", "u32", keys)
            builder.add_buffer("terms", "r", value if span else "u32", source)
            builder.add_result(self.kernel.dtype)
            arguments = "key: u32, edge: u32, total: Value"
            builder.text += _store_or_pass(arguments, settled, "edge", blocks > 1)
            if blocks > 1:
                source = self.scratches.add(2 * blocks)
                builder.add_buffer("edges", "w", value, source)
            launches.append(builder.launch("scatter_runs", blocks))
            if blocks == 1:
                return launches
            length, span = 2 * blocks, max(span, 2) // 2 * RUN_BLOCK

    def _combine_rows(self, keys: int, words: int) -> list[Launch]:
        """Return the launches that combine runs of rows, in vectors where possible."""
        source, length, span = words, self.writes, 0
        launches: list[Launch] = []
        while span == 0 or length > policy.FEW_EDGES:
            blocks = ceil_divide(length, ROW_BLOCK)
            edges = self.scratches.add(2 * blocks * self.width) if blocks > 1 else None
            launches.append(self._row_blocks(keys, source, length, span, edges))
            if edges is None:
                return launches
            source, length = edges, 2 * blocks
            span = max(span, 2) // 2 * ROW_BLOCK
        launches.append(self._row_edges(keys, source, length, span))
        return launches

    def _row_builder(self, length: int, span: int) -> LaunchBuilder:
        """Return a builder for rows, in vectors where possible."""
        builder = self._builder(length, span, self.row_value)
        builder.vectors = self.vectors
        builder.add_sizes(width=self.columns)
        return builder

    def _row_blocks(
        self, keys: int, source: int, length: int, span: int, edges: int | None
    ) -> Launch:
        """Return the launch that combines rows or edges in blocks."""
        builder, value = self._row_builder(length, span), self.row_value
        lanes = min(1 << (self.columns - 1).bit_length(), policy.WORKGROUP)
        builder.add_sizes(lanes=lanes)
        if span:
            builder.text += alternative("scatter_runs", "row_of_edges")
            builder.add_buffer("terms", "r", value, source)
        else:
            self._add_written_rows(builder)
            builder.add_buffer("order", "r", "u32", source)
        builder.add_buffer("keys", "r", "u32", keys)
        builder.add_result(self.kernel.dtype, in_vectors=bool(self.vectors))
        at = "result[key * parameters.width + column]"
        builder.text += constants({"HAS_EDGES": edges is not None})
        builder.text += "fn before(key: u32, column: u32) -> Value {\n"
        builder.text += f"  return Value({at});\n}}\n"
        arguments = "key: u32, edge: u32, column: u32, total: Value, start: Value"
        settled = f"{at} = {self.row_element}(combine(start, total));"
        edge = "edge * parameters.width + column"
        builder.text += _store_or_pass(arguments, settled, edge, edges is not None)
        if edges is not None:
            builder.add_buffer("edges", "w", value, edges)
        blocks = ceil_divide(ceil_divide(length, ROW_BLOCK), policy.WORKGROUP // lanes)
        return builder.launch("scatter_rows", blocks * ceil_divide(self.columns, lanes))

    def _add_written_rows(self, builder: LaunchBuilder) -> None:
        """Add the function of an element or vector of a written row."""
        written, arguments = self.kernel.expression("written"), ("write", "column")
        if self.vectors:
            function = ShaderFunction("written", arguments, self.value)
            add_vector_function(builder, function, written, "Value")
        else:
            function = ShaderFunction("written", arguments, "Value")
            builder.add_function(function, written)
        builder.text += alternative("scatter_runs", "row_of_order")

    def _row_edges(self, keys: int, source: int, length: int, span: int) -> Launch:
        """Return the launch that combines the last few edges."""
        builder = self._row_builder(length, span)
        at = "result[key * parameters.width + column]"
        builder.text += alternative("scatter_runs", "row_of_edges")
        builder.text += (
            "fn give(key: u32, column: u32, total: Value) {\n"
            f"  {at} = {self.row_element}(combine(Value({at}), total));\n}}\n"
        )
        builder.add_buffer("terms", "r", self.row_value, source)
        builder.add_buffer("keys", "r", "u32", keys)
        builder.add_result(self.kernel.dtype, in_vectors=bool(self.vectors))
        return builder.launch("scatter_edges", workgroups(length * self.columns))


def _store_or_pass(arguments: str, settled: str, edge: str, has_edges: bool) -> str:
    """Return the function that stores a run's total: in the result, or as an edge."""
    lines = f"  {settled}\n"
    if has_edges:
        lines = (
            f"  if (edge == INSIDE) {{\n  {lines}  }} else {{\n"
            f"    edges[{edge}] = total;\n  }}\n"
        )
    return f"fn give({arguments}) {{\n{lines}}}\n"
