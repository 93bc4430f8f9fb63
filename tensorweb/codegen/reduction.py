"""Programs of reductions, and of cumulative reductions (scans).

A reduction chooses how threads share the terms, and whether it needs two launches. A
scan of rows longer than a block computes totals of blocks, scans these, then the
blocks: it reads a row twice and writes it once. Sorting counts with the same launches.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    identity_bits,
    is_long_code,
    kind_of,
    number_bits,
    order_key,
    storage_type,
    to_storage,
)
from tensorweb.codegen.launch_builder import LaunchBuilder, ShaderFunction, constants
from tensorweb.codegen.program import (
    OUTPUT,
    Launch,
    Program,
    ScratchBuffers,
    Target,
    ceil_divide,
    scratch,
)
from tensorweb.codegen.template import alternative
from tensorweb.codegen.vector import (
    COMPONENTS,
    WIDTH,
    add_vector_function,
    reorder_groups,
    vector_inputs,
    vector_text,
)
from tensorweb.graph.op import Op
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Expression, Kernel

ORDER_FLIPS = {"argmax": "0u", "argmin": "0xffffffffu"}
"""Mask that flips the order so that the element looked for has the largest key."""

# The key is 0 only if no pair replaced the identity.
_INDEX_OF_LARGEST = "select(i32(total.index), 0, total.key == 0u)"

_LARGEST_OF_FOUR = (
    "follow(follow(Value({0}, at), Value({1}, at + 1u)), "
    "follow(Value({2}, at + 2u), Value({3}, at + 3u)))"
).replace("at", "position * 4u")

_ARGUMENTS = ("output", "position")

LOADS_IN_FLIGHT = 4
"""Loads of a thread that are in flight at once, in the alternative `four_terms`."""


@dataclass(frozen=True, slots=True)
class ReductionLayout:
    """How threads share a reduction.

    Attributes:
        lanes: threads that share an output; a workgroup computes 256 / lanes outputs.
        splits: chunks of the terms of each output; each chunk has its own lanes.
        chunk: terms of a chunk.
    """

    lanes: int
    splits: int
    chunk: int

    @property
    def columns(self) -> int:
        """Number of outputs of a workgroup."""
        return policy.WORKGROUP // self.lanes

    def groups(self, outputs: int) -> int:
        """Return the number of workgroups."""
        return ceil_divide(outputs, self.columns) * self.splits


def _power_of_two(least: int) -> int:
    return 1 << max(least - 1, 0).bit_length()


def choose_layout(outputs: int, length: int, is_row: bool) -> ReductionLayout:
    """Return the layout of a reduction; `is_row`: an output's terms are contiguous.

    >>> choose_layout(1, 1 << 24, True).splits
    1024
    >>> choose_layout(4096, 4096, False).lanes
    8
    """
    most_lanes = policy.WORKGROUP
    if not is_row and outputs >= policy.REDUCE_COLUMNS:
        most_lanes //= policy.REDUCE_COLUMNS
    lanes = min(
        _power_of_two(ceil_divide(length, policy.REDUCE_LANE_TERMS)), most_lanes
    )
    groups = max(ceil_divide(outputs, policy.WORKGROUP // lanes), 1)
    most_splits = max(length // (lanes * policy.REDUCE_TERMS), 1)
    splits = min(ceil_divide(policy.ENOUGH_REDUCE_GROUPS, groups), most_splits)
    has_few_terms = (
        length <= policy.SHORT_COLUMN and outputs * length <= policy.FEW_COLUMN_TERMS
    )
    if splits > 1 and has_few_terms and not is_row:
        lanes = _power_of_two(ceil_divide(length, policy.SHORT_COLUMN_TERMS))
        lanes, splits = max(min(lanes, policy.WORKGROUP), policy.REDUCE_COLUMNS), 1
    chunk = ceil_divide(length, splits)
    chunk = max(ceil_divide(chunk, lanes) * lanes, 1)
    return ReductionLayout(lanes, max(ceil_divide(length, chunk), 1), chunk)


def _is_row(term: Expression) -> bool:
    """Return whether an output's terms are closer in memory than its neighbours.

    Accesses that vary with only the output or only the term are reread from the cache,
    so they count only if no access varies with both.
    """
    score = 0
    vary_with_both = [a for a in term.accesses if all(map(any, a.strides))]
    for access in vary_with_both or term.accesses:
        outer, reduced = access.strides
        score += bool(reduced) and abs(reduced[-1]) == 1
        score -= bool(outer) and abs(outer[-1]) == 1
    return score >= 0


def _is_pooling(term: Expression, outputs: int, length: int) -> bool:
    """Return whether many neighbouring outputs have few terms each, close in memory.

    Then one thread computes each output, since neighbouring threads read neighbouring
    elements.
    """
    strides = [
        term.accesses[step.access].strides[0][-1:]
        for step in term.steps
        if step.kind == "load"
    ]
    return (
        length <= policy.LONGEST_POOLED
        and outputs >= policy.LEAST_POOLED_OUTPUTS
        and any(0 < abs(s) <= policy.FARTHEST_POOLED for last in strides for s in last)
    )


class _Reduction:
    """Generate the launches of one reduction kernel.

    Attributes:
        outputs, terms: their numbers; vectors of four count as one.
        of_outputs: whether vectors are terms of four outputs, not four terms of one.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.outputs, self.terms = kernel.sizes
        self.is_index = kernel.kind == "argreduce"
        self.term, self.finish = kernel.expression("term"), kernel.expression("finish")
        value = VALUE_TYPES[self.term.dtype]
        self.is_bool = value == "bool"
        self.number_type = "u32" if self.is_bool else value
        self.value_type = "Value" if self.is_index else self.number_type
        self.vectors = vector_inputs([self.term], [self.finish])
        self.of_outputs = False
        if not (self.vectors or self.is_bool or self.is_index):
            reordered = reorder_groups(self.term, (1, 0))
            self.vectors = vector_inputs([reordered], [self.finish])
            self.of_outputs = bool(self.vectors)
        elements = WIDTH if self.vectors else 1
        self.has_long_term = is_long_code(self.term, (LOADS_IN_FLIGHT + 1) * elements)
        self.calls = 1 if self.has_long_term else LOADS_IN_FLIGHT + 1
        self.is_pooling = not self.vectors and _is_pooling(self.term, *kernel.sizes)
        if self.of_outputs:
            self.value_type = f"vec4<{self.number_type}>"
            self.outputs //= WIDTH
        elif self.vectors:
            self.terms //= WIDTH

    def program(self) -> Program:
        """Return the program: one launch, or two if there are few outputs."""
        outputs, length = self.outputs, self.terms
        layout = choose_layout(outputs, length, _is_row(self.term))
        if self.is_pooling:
            layout = ReductionLayout(1, 1, length)
        if layout.splits == 1:
            return Program((self._launch(length, layout, False, True),))
        lanes = min(_power_of_two(layout.splits), policy.WORKGROUP)
        last = ReductionLayout(lanes, 1, layout.splits)
        width = 16 if self.of_outputs else 8 if self.is_index else 4
        launches = (
            self._launch(length, layout, False, False),
            self._launch(layout.splits, last, True, True),
        )
        return Program(launches, (outputs * layout.splits * width,))

    def _launch(
        self, length: int, layout: ReductionLayout, from_partials: bool, is_last: bool
    ) -> Launch:
        """Return one launch, from terms or partials to partials or results."""
        builder = LaunchBuilder(self.kernel, "position" if self.is_pooling else "")
        builder.add_sizes(outputs=self.outputs, length=length)
        builder.add_sizes(splits=layout.splits, chunk=layout.chunk)
        self._add_types(builder)
        if from_partials:
            builder.add_buffer("partials", "r", self.value_type, scratch(0))
            builder.text += alternative("reduce", "term_of_partials")
        else:
            builder.vectors = self.vectors
            self._add_term(builder)
        if is_last:
            self._add_finish(builder)
            builder.add_result(self.kernel.dtype)
        else:
            builder.text += alternative("reduce", "store_partial")
            builder.add_buffer("result", "w", self.value_type, scratch(0))
        four = ""
        if from_partials or not self.has_long_term:
            four = alternative("reduce", "four_terms")
        if self.is_index and not from_partials:
            four = four.replace("combine(", "follow(")
        shape = constants({"LANES": layout.lanes, "COLUMNS": layout.columns})
        groups = layout.groups(self.outputs)
        return builder.launch("reduce", groups, shape=shape, four=four)

    def _add_types(self, builder: LaunchBuilder) -> None:
        """Add the WGSL type of a total, its identity and its `combine` function."""
        if self.is_index:
            builder.text += alternative("reduce", "key_and_index")
            return
        op, dtype = OPS[self.kernel.op], self.term.dtype
        builder.parameter("identity", self.number_type, identity_bits(op, dtype))
        form = op.form(dtype, kind_of(dtype))
        if self.is_bool:
            combined = to_storage(form.format("(a != 0u)", "(b != 0u)"), "bool")
        elif self.of_outputs:
            parts = [form.format(f"a.{c}", f"b.{c}") for c in COMPONENTS]
            combined = vector_text("Value", parts)
        else:
            combined = form.format("a", "b")
        builder.text += (
            f"alias Value = {self.value_type};\n"
            "fn identity() -> Value {\n  return Value(parameters.identity);\n}\n"
            f"fn combine(a: Value, b: Value) -> Value {{\n  return {combined};\n}}\n"
        )

    def _add_term(self, builder: LaunchBuilder) -> None:
        """Add the function `term`: the value at an index, or of four neighbours."""
        if self.of_outputs:
            function = ShaderFunction(
                "wide_term", ("position", "output"), self.number_type
            )
            reordered = reorder_groups(self.term, (1, 0))
            add_vector_function(builder, function, reordered, "Value", calls=self.calls)
            builder.text += (
                "fn term(output: u32, position: u32) -> Value {\n"
                "  return wide_term(position, output);\n}\n"
            )
            return
        form, four = "{0}", "combine(combine({0}, {1}), combine({2}, {3}))"
        if self.is_index:
            kind = kind_of(self.term.dtype)
            form, four = order_key(kind, ORDER_FLIPS[self.kernel.op]), _LARGEST_OF_FOUR
        elif self.is_bool:
            form = to_storage("{0}", "bool")
        if self.vectors:
            number_type = "u32" if self.is_index else self.number_type
            function = ShaderFunction("term", _ARGUMENTS, number_type, form)
            add_vector_function(
                builder, function, self.term, "Value", four, calls=self.calls
            )
        elif self.is_index:
            pair = f"Value({form}, position)"
            function = ShaderFunction("term", _ARGUMENTS, "Value", pair)
            builder.add_function(function, self.term)
        else:
            function = ShaderFunction("term", _ARGUMENTS, self.number_type, form)
            builder.add_function(function, self.term)

    def _add_finish(self, builder: LaunchBuilder) -> None:
        """Add the functions that apply the epilogue to a total and store it."""
        core = "(total != 0u)" if self.is_bool else "total"
        function = ShaderFunction(
            "store_one",
            ("output",),
            "",
            f"result[output] = {to_storage('{0}', self.kernel.dtype)};",
            more=f"total: {self.number_type if self.of_outputs else 'Value'}",
            core=_INDEX_OF_LARGEST if self.is_index else core,
        )
        builder.add_function(function, self.finish)
        calls = "  store_one(output, total);\n"
        if self.of_outputs and is_long_code(self.finish, WIDTH):
            calls = (
                "  for (var i = 0u; i < 4u; i++) {\n"
                "    store_one(output * 4u + i, total[i]);\n  }\n"
            )
        elif self.of_outputs:
            calls = "".join(
                f"  store_one(output * 4u + {i}u, total.{c});\n"
                for i, c in enumerate(COMPONENTS)
            )
        builder.text += (
            f"fn store(output: u32, chunk: u32, total: Value) {{\n{calls}}}\n"
        )


def reduce(kernel: Kernel, _: Target) -> Program:
    """Return the program of a reduction."""
    return _Reduction(kernel).program()


QUADS_OF_THREAD = 4
"""Vectors of four terms of each thread of a block, as in `scan.wgsl`."""

SHORT_ROWS_TILE = 1024
"""Terms of short rows in one workgroup, as in `scan_short.wgsl`."""

_TERM = ShaderFunction("term", ("row", "position"), "Value")


class Scan:
    """Generate the launches that scan rows into a buffer."""

    def __init__(
        self,
        op: Op,
        dtype: str,
        rows: int,
        scratches: ScratchBuffers,
        threads: int = policy.WORKGROUP,
    ) -> None:
        """Start without launches.

        Args:
            op: the op table's entry of the scan; its dtype is the result's.
            dtype: dtype of terms and totals.
            rows: number of independent rows.
            scratches: receives the buffers of block totals.
            threads: threads of a workgroup, which scans one block of a long row.
        """
        self.op = op
        self.dtype = dtype
        self.rows = rows
        self.scratches = scratches
        self.value = VALUE_TYPES[dtype]
        self.threads = threads
        self.block = threads * QUADS_OF_THREAD * WIDTH

    def launches(
        self, kernel: Kernel | None, source: int, length: int, result: int
    ) -> list[Launch]:
        """Return the launches that scan a kernel's terms, or `source` without one."""
        blocks = max(ceil_divide(length, self.block), 1)
        if blocks == 1:
            return [self._launch("scan", kernel, source, length, None, result)]
        words = max(self.rows * blocks, 1)
        totals = self.scratches.add(words)
        launches = [self._launch("scan_totals", kernel, source, length, None, totals)]
        before = totals
        if blocks > policy.FEW_SCAN_BLOCKS:
            before = self.scratches.add(words)
            launches += self.launches(None, totals, blocks, before)
        return [*launches, self._launch("scan", kernel, source, length, before, result)]

    def _launch(
        self,
        template: str,
        kernel: Kernel | None,
        source: int,
        length: int,
        before: int | None,
        result: int,
    ) -> Launch:
        """Return one launch.

        Args:
            template: `scan`, or `scan_totals` for the totals of blocks alone.
            kernel: the kernel whose terms are scanned, if any.
            source: the buffer of the terms without a kernel.
            length: terms of a row.
            before: the buffer of the totals before each block, or of each block if the
                blocks are few; None for rows of one block.
            result: the buffer of the results.
        """
        blocks = max(ceil_divide(length, self.block), 1)
        builder = LaunchBuilder(kernel)
        builder.add_sizes(rows=self.rows, length=length, blocks=blocks)
        element = storage_type(kernel.dtype) if kernel else self.value
        self._add_types(builder, element if template == "scan" else "")
        quads = "quads"
        if kernel:
            if _is_long_term(kernel):
                quads = "quads_in_loop"
            self._add_terms(builder, kernel)
        else:
            builder.text += alternative("scan", "term_of_buffer")
            builder.text += alternative("scan", "quad_of_terms")
            builder.add_buffer("terms", "r", self.value, source)
        if template == "scan":
            if before is None:
                function = "nothing_before"
            else:
                is_few = blocks <= policy.FEW_SCAN_BLOCKS
                function = "few_blocks_before" if is_few else "blocks_before"
                totals = "block_totals" if is_few else "running_totals"
                builder.add_buffer(totals, "r", self.value, before)
            store = "store_vectors" if builder.vectors else "store_elements"
            builder.text += alternative("scan", store) + alternative("scan", function)
            type_name = f"vec4<{element}>" if builder.vectors else element
            builder.add_buffer("result", "w", type_name, result)
        else:
            builder.add_buffer("block_totals", "w", self.value, result)
        return builder.launch(
            template,
            self.rows * blocks,
            quads=alternative("scan", quads),
            shape=constants({"THREADS": self.threads}),
        )

    def _add_types(self, builder: LaunchBuilder, element: str) -> None:
        """Add the identity, the types, and the functions that combine two totals."""
        identity = number_bits(float(self.op.identity), self.dtype)
        builder.parameter("identity", self.value, identity)
        builder.text += f"alias Value = {self.value};\nalias Value4 = vec4<Value>;\n"
        form = self.op.wgsl["any"].format("a", "b")
        for name, kind in (("combine", "Value"), ("combine4", "Value4")):
            builder.text += f"fn {name}(a: {kind}, b: {kind}) -> {kind} {{\n"
            builder.text += f"  return {form};\n}}\n"
        if element:
            builder.text += f"alias Element = {element};\n"

    def _add_terms(self, builder: LaunchBuilder, kernel: Kernel) -> None:
        """Add the functions that read four neighbouring terms of a kernel."""
        term = kernel.expression("term")
        builder.vectors = vector_inputs([term])
        is_long = _is_long_term(kernel)
        if builder.vectors:
            calls = 1 if is_long else QUADS_OF_THREAD
            add_vector_function(builder, _TERM, term, "Value4", calls=calls)
            quad = "quad_of_vectors"
        else:
            builder.add_function(_TERM, term)
            quad = "quad_in_loop" if is_long else "quad_of_terms"
        builder.text += alternative("scan", quad)

    def short(self, kernel: Kernel, length: int) -> Launch:
        """Return the one launch that scans a kernel's short rows."""
        builder = LaunchBuilder(kernel)
        width = 1 << (length - 1).bit_length()
        builder.add_sizes(rows=self.rows, length=length, width=width)
        term, element = kernel.expression("term"), storage_type(kernel.dtype)
        self._add_types(builder, element)
        builder.add_function(_TERM, term)
        builder.add_result(kernel.dtype)
        is_long = is_long_code(term, SHORT_ROWS_TILE // policy.LONGEST_SHORT_SCAN)
        terms = ("" if is_long else "  // unroll\n") + alternative(
            "scan_short", "terms"
        )
        groups = ceil_divide(self.rows, SHORT_ROWS_TILE // width)
        return builder.launch("scan_short", groups, terms=terms)


def _is_long_term(kernel: Kernel) -> bool:
    """Return whether a thread's terms of a long row are too long to unroll."""
    return is_long_code(kernel.expression("term"), QUADS_OF_THREAD * WIDTH)


def scan(kernel: Kernel, target: Target) -> Program:
    """Return the program of a scan along rows."""
    rows, length = kernel.sizes
    scratches = ScratchBuffers()
    is_slow = target.is_slow_to_compile
    threads = policy.FEW_SCAN_THREADS if is_slow else policy.WORKGROUP
    writer = Scan(OPS[kernel.op], kernel.dtype, rows, scratches, threads)
    if length <= policy.LONGEST_SHORT_SCAN and rows > 1 and not is_slow:
        return Program((writer.short(kernel, length),))
    launches = writer.launches(kernel, OUTPUT, length, OUTPUT)
    return Program(tuple(launches), tuple(scratches.nbytes))
