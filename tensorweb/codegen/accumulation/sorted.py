"""Programs that accumulate values at positions in a deterministic order.

If the order does not matter (integer sums, extremes), `atomics.py` uses an atomic
operation per value; `tables.py` adds many single floats. Otherwise (products, rows of
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

from dataclasses import replace

from tensorweb.codegen import policy
from tensorweb.codegen.accumulation.atomics import (
    accumulate_in_any_order,
    combine_text,
    is_any_order,
)
from tensorweb.codegen.accumulation.tables import add_through_tables, table_of
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    function,
    identity_bits,
    storage_type,
)
from tensorweb.codegen.launches import (
    Bindings,
    elementwise,
    input_bindings,
    launch,
    vector_inputs,
)
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.sorting import MergeSort, Sort, Sorting, tile_for
from tensorweb.codegen.target import Target
from tensorweb.codegen.transposition import find_transposed, transposition
from tensorweb.codegen.vector import WIDTH, vector_function, vector_of
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Access, Expression, Kernel

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
