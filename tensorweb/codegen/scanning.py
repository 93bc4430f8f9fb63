"""Programs of cumulative reductions (scans): block totals, their scan, then the blocks.

A row longer than one block is read twice and written once. Sorting counts with the same
launches.
"""

from __future__ import annotations

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    is_long_code,
    number_bits,
    storage_type,
)
from tensorweb.codegen.launch_builder import LaunchBuilder, ShaderFunction, constants
from tensorweb.codegen.program import (
    OUTPUT,
    Launch,
    Program,
    ScratchBuffers,
    ceil_divide,
)
from tensorweb.codegen.target import Target
from tensorweb.codegen.template import alternative
from tensorweb.codegen.vector import WIDTH, add_vector_function, vector_inputs
from tensorweb.graph.op import Op
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Kernel

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
