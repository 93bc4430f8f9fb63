"""Programs of cumulative reductions (scans): block totals, their scan, then the blocks.

A row longer than one block is read twice and written once. Sorting counts with the same
launches.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    function,
    is_bulky,
    number_bits,
    storage_type,
)
from tensorweb.codegen.launches import Bindings, input_bindings, launch, vector_inputs
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.target import Target
from tensorweb.codegen.unrolling import unroll
from tensorweb.codegen.vector import WIDTH, vector_function, vector_of
from tensorweb.graph.op import Op
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Expression, Kernel

QUADS_OF_THREAD = 4
"""Vectors of four terms of each thread of a block."""


SHORT_TILE = 1024
"""Terms of such rows in one workgroup."""

TERM = Signature("term", ("row", "position"), "Value")

QUAD_OF_TERMS = """\
fn term_or_identity(row: u32, position: u32) -> Value {
  if (row < parameters.rows && position < parameters.length) {
    return term(row, position);
  }
  return parameters.identity;
}
fn quad(row: u32, position: u32) -> Value4 {
  return Value4(
    term_or_identity(row, position),
    term_or_identity(row, position + 1u),
    term_or_identity(row, position + 2u),
    term_or_identity(row, position + 3u),
  );
}
"""

QUAD_IN_LOOP = """\
fn quad(row: u32, position: u32) -> Value4 {
  var terms: array<Value, 4>;
  for (var i = 0u; i < 4u; i++) {
    terms[i] = parameters.identity;
    if (row < parameters.rows && position + i < parameters.length) {
      terms[i] = term(row, position + i);
    }
  }
  return Value4(terms[0], terms[1], terms[2], terms[3]);
}
"""

QUADS = """\
  let quad0 = quad(row, position);
  let quad1 = quad(row, position + 4u * THREADS);
  let quad2 = quad(row, position + 8u * THREADS);
  let quad3 = quad(row, position + 12u * THREADS);
"""

QUADS_IN_LOOP = """\
  var quads: array<Value4, 4>;
  for (var i = 0u; i < 4u; i++) {
    quads[i] = quad(row, position + i * 4u * THREADS);
  }
  let quad0 = quads[0];
  let quad1 = quads[1];
  let quad2 = quads[2];
  let quad3 = quads[3];
"""

TERMS_OF_ROWS = """\
  for (var i = 0u; i < 4u; i++) {
    let row = own_row + i * rows_apart;
    own[i] = parameters.identity;
    if (row < parameters.rows && position < parameters.length) {
      own[i] = term(row, position);
    }
    totals[i * 256u + lane] = own[i];
  }
"""

QUAD_OF_VECTORS = """\
fn quad(row: u32, position: u32) -> Value4 {
  if (row < parameters.rows && position < parameters.length) {
    return term(row, position / 4u);
  }
  return Value4(parameters.identity);
}
"""

STORE_ONE_BY_ONE = """\
fn store(row: u32, position: u32, total: Value) {
  if (row < parameters.rows && position < parameters.length) {
    result[row * parameters.length + position] = Element(total);
  }
}
fn store_quad(row: u32, position: u32, totals: Value4) {
  store(row, position, totals.x);
  store(row, position + 1u, totals.y);
  store(row, position + 2u, totals.z);
  store(row, position + 3u, totals.w);
}
"""

STORE_VECTORS = """\
fn store_quad(row: u32, position: u32, totals: Value4) {
  if (row < parameters.rows && position < parameters.length) {
    result[(row * parameters.length + position) / 4u] = vec4<Element>(totals);
  }
}
"""

NOTHING_BEFORE = """\
fn before_block(row: u32, block: u32) -> Value {
  return parameters.identity;
}
"""

BLOCKS_BEFORE = """\
fn before_block(row: u32, block: u32) -> Value {
  if (row < parameters.rows && block > 0u) {
    return running_totals[row * parameters.blocks + block - 1u];
  }
  return parameters.identity;
}
"""


FEW_BLOCKS_BEFORE = """\
fn before_block(row: u32, block: u32) -> Value {
  var before = parameters.identity;
  if (row < parameters.rows) {
    for (var i = 0u; i < block; i++) {
      before = combine(before, block_totals[row * parameters.blocks + i]);
    }
  }
  return before;
}
"""


class Scan:
    """Generate the launches that scan rows into a buffer."""

    def __init__(
        self,
        op: Op,
        dtype: str,
        rows: int,
        scratch_bytes: list[int],
        threads: int = policy.WORKGROUP,
    ) -> None:
        """Start without launches.

        Args:
            op: the op table's entry of the scan; its dtype is the result's.
            dtype: dtype of terms and totals.
            rows: number of independent rows.
            scratch_bytes: scratch sizes of the kernel; the sizes of block totals are
                appended.
            threads: threads of a workgroup, which scans one block of a long row.
        """
        self.op = op
        self.dtype = dtype
        self.rows = rows
        self.scratch_bytes = scratch_bytes
        self.value = VALUE_TYPES[dtype]
        self.threads = threads
        self.block = threads * QUADS_OF_THREAD * WIDTH

    def _scratch(self, length: int) -> int:
        self.scratch_bytes.append(max(self.rows * length, 1) * 4)
        return scratch(len(self.scratch_bytes) - 1)

    def launches(
        self, kernel: Kernel | None, source: int, length: int, target: int
    ) -> list[Launch]:
        """Return the launches that scan a kernel's terms, or `source` without one."""
        blocks = max(-(-length // self.block), 1)
        if blocks == 1:
            return [self._launch("scan", kernel, source, length, (target,))]
        totals = self._scratch(blocks)
        first = self._launch("scan_totals", kernel, source, length, (totals,))
        if blocks <= policy.FEW_SCAN_BLOCKS:
            return [
                first,
                self._launch("scan", kernel, source, length, (totals, target)),
            ]
        running = self._scratch(blocks)
        return [
            first,
            *self.launches(None, totals, blocks, running),
            self._launch("scan", kernel, source, length, (running, target)),
        ]

    def _launch(
        self,
        template: str,
        kernel: Kernel | None,
        source: int,
        length: int,
        others: Sequence[int],
    ) -> Launch:
        """Return one launch; `others` are its buffers other than the terms."""
        declarations = Declarations(kernel.scalar_dtypes if kernel else ())
        blocks = max(-(-length // self.block), 1)
        start = number_bits(float(self.op.identity["any"]), self.dtype)
        declarations.parameter("rows", "u32", self.rows)
        declarations.parameter("length", "u32", length)
        declarations.parameter("blocks", "u32", blocks)
        declarations.parameter("identity", self.value, start)
        element = storage_type(kernel.dtype) if kernel else self.value
        quads = QUADS
        if kernel:
            term = kernel.expression("term")
            vectors = vector_inputs([term])
            if _is_bulky(term):
                quads = QUADS_IN_LOOP
            text = self._terms(declarations, kernel, term, vectors)
            bindings = input_bindings(kernel, [term], vectors)
        else:
            vectors = set()
            text = (
                "fn term(row: u32, position: u32) -> Value {\n"
                "  return terms[row * parameters.length + position];\n}\n"
            ) + QUAD_OF_TERMS
            bindings = [("terms", "r", self.value, source)]
        head = self._head()
        if template == "scan":
            head += f"alias Element = {element};\n"
            text += STORE_VECTORS if vectors else STORE_ONE_BY_ONE
            text += _before(blocks)
        bindings += self._further_bindings(
            template, blocks, element, others, in_vectors=bool(vectors)
        )
        return launch(
            template,
            declarations,
            bindings,
            head + text,
            self.rows * blocks,
            quads=quads,
            shape=f"const THREADS: u32 = {self.threads}u;\n",
        )

    def _head(self) -> str:
        """Return the types and the functions that combine two totals."""
        head = f"alias Value = {self.value};\nalias Value4 = vec4<Value>;\n"
        form = self.op.wgsl["any"].format("a", "b")
        for name, kind in (("combine", "Value"), ("combine4", "Value4")):
            head += f"fn {name}(a: {kind}, b: {kind}) -> {kind} {{\n"
            head += f"  return {form};\n}}\n"
        return head

    def short(self, kernel: Kernel, length: int) -> Launch:
        """Return the one launch that scans a kernel's short rows."""
        declarations = Declarations(kernel.scalar_dtypes)
        width = 1 << (length - 1).bit_length()
        start = number_bits(float(self.op.identity["any"]), self.dtype)
        declarations.parameter("rows", "u32", self.rows)
        declarations.parameter("length", "u32", length)
        declarations.parameter("width", "u32", width)
        declarations.parameter("identity", self.value, start)
        term = kernel.expression("term")
        element = storage_type(kernel.dtype)
        text = self._head() + f"alias Element = {element};\n"
        text += function(declarations, TERM, term, kernel.input_dtypes)
        bindings = input_bindings(kernel, [term])
        terms = TERMS_OF_ROWS
        if not is_bulky(term, SHORT_TILE // policy.LONGEST_SHORT_SCAN):
            terms = unroll(f"  // unroll\n{terms}")
        return launch(
            "scan_short",
            declarations,
            [*bindings, ("result", "w", element, OUTPUT)],
            text,
            -(-self.rows // (SHORT_TILE // width)),
            terms=terms,
        )

    def _terms(
        self,
        declarations: Declarations,
        kernel: Kernel,
        term: Expression,
        vectors: set[int],
    ) -> str:
        """Return the functions that read four neighbouring terms of a kernel."""
        inputs = kernel.input_dtypes
        if not vectors:
            quad = QUAD_IN_LOOP if _is_bulky(term) else QUAD_OF_TERMS
            return function(declarations, TERM, term, inputs) + quad
        calls = 1 if _is_bulky(term) else QUADS_OF_THREAD
        four = vector_of("Value4")
        body = vector_function(declarations, TERM, term, inputs, four, calls=calls)
        return body + QUAD_OF_VECTORS

    def _further_bindings(
        self,
        template: str,
        blocks: int,
        element: str,
        buffers: Sequence[int],
        *,
        in_vectors: bool,
    ) -> Bindings:
        """Return the bindings of a launch after those of its terms."""
        if template == "scan_totals":
            return [("block_totals", "w", self.value, buffers[0])]
        name = "block_totals" if blocks <= policy.FEW_SCAN_BLOCKS else "running_totals"
        before: Bindings = [(name, "r", self.value, buffers[0])] if blocks > 1 else []
        element = f"vec4<{element}>" if in_vectors else element
        return [*before, ("result", "w", element, buffers[-1])]


def _is_bulky(term: Expression) -> bool:
    """Return whether a thread's terms of a long row are too long to unroll."""
    return is_bulky(term, QUADS_OF_THREAD * WIDTH)


def _before(blocks: int) -> str:
    """Return the function of the total before a block of a row of `blocks` blocks."""
    if blocks == 1:
        return NOTHING_BEFORE
    return FEW_BLOCKS_BEFORE if blocks <= policy.FEW_SCAN_BLOCKS else BLOCKS_BEFORE


def scan(kernel: Kernel, target: Target) -> Program:
    """Return the program of a scan along rows."""
    rows, length = kernel.sizes
    scratch_bytes: list[int] = []
    is_slow = target.is_slow_to_compile
    threads = policy.FEW_SCAN_THREADS if is_slow else policy.WORKGROUP
    steps = Scan(OPS[kernel.op], kernel.dtype, rows, scratch_bytes, threads)
    if length <= policy.LONGEST_SHORT_SCAN and rows > 1 and not is_slow:
        return Program((steps.short(kernel, length),))
    launches = steps.launches(kernel, OUTPUT, length, OUTPUT)
    return Program(tuple(launches), tuple(scratch_bytes))
