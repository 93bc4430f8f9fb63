"""Programs of reductions.

How threads share the terms, and when two launches are used.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tensorweb import dtypes
from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    function,
    identity_bits,
    is_bulky,
    kind_of,
    to_storage,
)
from tensorweb.codegen.launches import (
    constants,
    input_bindings,
    launch,
    vector_inputs,
)
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import (
    COMPONENTS,
    WIDTH,
    Combination,
    reorder_groups,
    vector_function,
    vector_of,
)
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Expression, Kernel, Step

# Pairs of a key and an index, which argmax and argmin reduce to the largest key.
#
# Keys are unsigned integers in the order of the elements, as in sorting: zeros of both
# signs are equal, NaN is above all other keys, and a comparison takes one instruction.


KEYS = {
    "float": "order_of_f32(bitcast<u32>({0}), {1})",
    "int": "order_of_i32(bitcast<u32>({0}), {1})",
    "uint": "order_of_u32({0}, {1})",
    "bool": "order_of_u32(select(0u, 1u, {0}), {1})",
}
"""Key of an element, by kind of its dtype; the second operand flips the order."""

TURNS = {"argmax": "0u", "argmin": "0xffffffffu"}
"""Mask that flips the order so that the element looked for has the largest key."""

TYPES = """\
struct Value {
  key: u32,
  index: u32,
}
fn identity() -> Value {
  return Value(0u, 0xffffffffu);
}
fn combine(a: Value, b: Value) -> Value {
  let is_later = (b.key > a.key) | ((b.key == a.key) & (b.index < a.index));
  return Value(select(a.key, b.key, is_later), select(a.index, b.index, is_later));
}
fn follow(a: Value, b: Value) -> Value {
  let is_larger = b.key > a.key;
  return Value(select(a.key, b.key, is_larger), select(a.index, b.index, is_larger));
}
"""
"""The pair, its identity element, and the choice of the larger key, first index wins.

`follow` assumes that `b` is after `a` and takes half the instructions.
"""

FOUND = "select(i32(total.index), 0, total.key == 0u)"
"""The resulting index; 0 if the largest key is 0, since no pair replaced the identity.
"""

FOUR = (
    "follow(follow(Value({0}, at), Value({1}, at + 1u)), "
    "follow(Value({2}, at + 2u), Value({3}, at + 3u)))"
).replace("at", "position * 4u")


def term_function(
    declarations: Declarations,
    term: Expression,
    inputs: Sequence[str],
    op: str,
    vectors: Collection[int],
    calls: int,
) -> str:
    """Return the function `term`: the pair at an index, or the best of four pairs.

    Args:
        declarations: receives the sizes, strides, offsets and constants it uses.
        term: the elements.
        inputs: dtypes of the kernel's inputs.
        op: `argmax` or `argmin`.
        vectors: inputs that are read as vectors of four; empty if none can.
        calls: number of calls of `term` in the kernel's text.
    """
    form = KEYS[kind_of(term.dtype)].format("{0}", TURNS[op])
    arguments = ("output", "position")
    if vectors:
        signature = Signature("term", arguments, "u32", form)
        four = Combination("Value", FOUR)
        return vector_function(declarations, signature, term, inputs, four, calls=calls)
    signature = Signature("term", arguments, "Value", f"Value({form}, position)")
    return function(declarations, signature, term, inputs)


LOADS_IN_FLIGHT = 4
"""Loads of a thread that are in flight at once."""

FOUR_TERMS = """\
    for (; position + 3u * LANES < end; position += 4u * LANES) {
      total = combine(total, term(output, position));
      total1 = combine(total1, term(output, position + LANES));
      total2 = combine(total2, term(output, position + 2u * LANES));
      total3 = combine(total3, term(output, position + 3u * LANES));
    }
"""


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
        return -(-outputs // self.columns) * self.splits


def _power_of_two(least: int) -> int:
    return 1 << max(least - 1, 0).bit_length()


def choose_layout(outputs: int, length: int, is_row: bool) -> ReductionLayout:
    """Return the layout of a reduction; `is_row`: an output's terms are contiguous.

    >>> choose_layout(1, 1 << 24, True).splits
    1024
    >>> choose_layout(4096, 4096, False).lanes
    8
    """
    if is_row:
        lanes = min(_power_of_two(-(-length // 4)), policy.WORKGROUP)
    else:
        lanes = min(
            _power_of_two(-(-length // 4)), policy.WORKGROUP // policy.REDUCE_COLUMNS
        )
        if outputs < policy.REDUCE_COLUMNS:
            lanes = min(_power_of_two(-(-length // 4)), policy.WORKGROUP)
    groups = -(-outputs // (policy.WORKGROUP // lanes))
    most = max(length // (lanes * policy.REDUCE_TERMS), 1)
    splits = max(min(-(-policy.ENOUGH_REDUCE_GROUPS // max(groups, 1)), most), 1)
    is_little = (
        length <= policy.SHORT_COLUMN and outputs * length <= policy.FEW_COLUMN_TERMS
    )
    if splits > 1 and is_little and not is_row:
        lanes = _power_of_two(-(-length // policy.SHORT_COLUMN_TERMS))
        lanes, splits = max(min(lanes, policy.WORKGROUP), policy.REDUCE_COLUMNS), 1
    chunk = -(-length // splits)
    chunk = max(-(-chunk // lanes) * lanes, 1)
    return ReductionLayout(lanes, max(-(-length // chunk), 1), chunk)


def _is_row(term: Expression) -> bool:
    """Return whether an output's terms are closer in memory than its neighbours.

    Accesses that vary with only the output or only the term are reread from the cache,
    so they count only if no access varies with both.
    """
    score = 0
    whole = [each for each in term.accesses if all(map(any, each.strides))]
    for access in whole or term.accesses:
        kept, reduced = access.strides
        score += bool(reduced) and abs(reduced[-1]) == 1
        score -= bool(kept) and abs(kept[-1]) == 1
    return score >= 0


def _is_window(term: Expression, outputs: int, length: int) -> bool:
    """Return whether many neighbouring outputs have few terms each, close in memory.

    Then one thread computes each output, since neighbouring threads read neighbouring
    elements.
    """
    near = [
        bool(kept) and 0 < abs(kept[-1]) <= policy.FARTHEST_POOLED
        for kept, _ in (term.accesses[s.access].strides for s in _loads(term))
    ]
    return (
        length <= policy.LONGEST_POOLED
        and outputs >= policy.LEAST_POOLED_OUTPUTS
        and any(near)
    )


def _loads(term: Expression) -> list[Step]:
    return [step for step in term.steps if step.kind == "load"]


class _Writer:
    """Generate the launches of one reduction kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.outputs, self.length = kernel.sizes
        self.is_index = kernel.kind == "argreduce"
        term = kernel.expression("term")
        self.term_dtype = term.dtype
        kind = VALUE_TYPES[self.term_dtype]
        self.number_type = "u32" if kind == "bool" else kind
        self.value_type = "Value" if self.is_index else self.number_type
        self.is_row = _is_row(term)
        self.is_wide = False
        self.vectors: set[int] = set()
        self._choose_vectors(term)
        self.terms = self.length
        elements = WIDTH if self.vectors else 1
        self.is_bulky = is_bulky(term, (LOADS_IN_FLIGHT + 1) * elements)
        self.is_window = not self.vectors and _is_window(
            term, self.outputs, self.length
        )
        if self.is_wide:
            self.outputs //= WIDTH
        elif self.vectors:
            self.terms //= WIDTH

    def _choose_vectors(self, term: Expression) -> None:
        """Choose to read four terms of an output, or one of four outputs."""
        finish = [self.kernel.expression("finish")]
        self.vectors = vector_inputs([term], finish)
        if self.vectors or self.term_dtype == "bool" or self.is_index:
            return
        self.vectors = vector_inputs([reorder_groups(term, (1, 0))], finish)
        if self.vectors:
            self.is_wide = True
            self.value_type = f"vec4<{self.number_type}>"

    def _as_number(self) -> str:
        return to_storage("{0}", "bool") if self.term_dtype == "bool" else "{0}"

    def _combine(self) -> str:
        op = OPS[self.kernel.op]
        kind = kind_of(self.term_dtype)
        form = op.form(self.term_dtype, kind)
        if kind == "bool":
            text = to_storage(form.format("(a != 0u)", "(b != 0u)"), "bool")
        elif self.is_wide:
            parts = [form.format(f"a.{c}", f"b.{c}") for c in COMPONENTS]
            text = f"Value({', '.join(parts)})"
        else:
            text = form.format("a", "b")
        return f"fn combine(a: Value, b: Value) -> Value {{\n  return {text};\n}}\n"

    def _types(self, declarations: Declarations) -> str:
        """Return the WGSL type of a total, its identity and its `combine` function."""
        if self.is_index:
            return TYPES
        bits = identity_bits(OPS[self.kernel.op], self.term_dtype)
        declarations.parameter("identity", self.number_type, bits)
        return (
            f"alias Value = {self.value_type};\n"
            "fn identity() -> Value {\n  return Value(parameters.identity);\n}\n"
            + self._combine()
        )

    @property
    def _calls(self) -> int:
        """Number of calls of `term` in the text."""
        return 1 if self.is_bulky else LOADS_IN_FLIGHT + 1

    def _term(self, declarations: Declarations) -> str:
        term, inputs = self.kernel.expression("term"), self.kernel.input_dtypes
        if self.is_index:
            op = self.kernel.op
            return term_function(
                declarations, term, inputs, op, self.vectors, self._calls
            )
        if self.is_wide:
            text = vector_function(
                declarations,
                Signature("wide_term", ("position", "output"), self.number_type),
                reorder_groups(term, (1, 0)),
                inputs,
                vector_of("Value"),
                calls=self._calls,
            )
            return text + (
                "fn term(output: u32, position: u32) -> Value {\n"
                "  return wide_term(position, output);\n}\n"
            )
        arguments = ("output", "position")
        signature = Signature("term", arguments, self.number_type, self._as_number())
        if self.vectors:
            four = Combination("Value", "combine(combine({0}, {1}), combine({2}, {3}))")
            calls = self._calls
            return vector_function(
                declarations, signature, term, inputs, four, calls=calls
            )
        return function(declarations, signature, term, inputs)

    def _finish(self, declarations: Declarations) -> str:
        if self.is_index:
            core = FOUND
        elif self.term_dtype == "bool":
            core = "(total != 0u)"
        else:
            core = "total"
        signature = Signature(
            "store_one",
            ("output",),
            "",
            f"result[output] = {to_storage('{0}', self.kernel.dtype)};",
            more=f"total: {self.number_type if self.is_wide else 'Value'}",
            core=core,
        )
        finish, inputs = self.kernel.expression("finish"), self.kernel.input_dtypes
        text = function(declarations, signature, finish, inputs)
        calls = "  store_one(output, total);\n"
        if self.is_wide and is_bulky(self.kernel.expression("finish"), WIDTH):
            calls = (
                "  for (var i = 0u; i < 4u; i++) {\n"
                "    store_one(output * 4u + i, total[i]);\n  }\n"
            )
        elif self.is_wide:
            calls = "".join(
                f"  store_one(output * 4u + {i}u, total.{c});\n"
                for i, c in enumerate(COMPONENTS)
            )
        return f"{text}fn store(output: u32, chunk: u32, total: Value) {{\n{calls}}}\n"

    def launch(
        self, length: int, layout: ReductionLayout, from_partials: bool, is_last: bool
    ) -> Launch:
        """Return one launch, from terms or partials to partials or results."""
        kernel = self.kernel
        declarations = Declarations(
            kernel.scalar_dtypes, "position" if self.is_window else ""
        )
        declarations.parameter("outputs", "u32", self.outputs)
        declarations.parameter("length", "u32", length)
        declarations.parameter("splits", "u32", layout.splits)
        declarations.parameter("chunk", "u32", layout.chunk)
        text = self._types(declarations)
        read = [] if from_partials else [kernel.expression("term")]
        if is_last:
            read.append(kernel.expression("finish"))
        vectors = () if from_partials else self.vectors
        bindings = input_bindings(kernel, read, vectors)
        if from_partials:
            bindings.append(("partials", "r", self.value_type, scratch(0)))
            text += (
                "fn term(output: u32, position: u32) -> Value {\n"
                "  return partials[output * parameters.length + position];\n}\n"
            )
        else:
            text += self._term(declarations)
        if is_last:
            text += self._finish(declarations)
            element = dtypes.BY_NAME[kernel.dtype].wgsl
            bindings.append(("result", "w", element, OUTPUT))
        else:
            text += (
                "fn store(output: u32, chunk: u32, total: Value) {\n"
                "  result[output * parameters.splits + chunk] = total;\n}\n"
            )
            bindings.append(("result", "w", self.value_type, scratch(0)))
        four = FOUR_TERMS if from_partials or not self.is_bulky else ""
        if self.is_index and not from_partials:
            four = four.replace("combine(", "follow(")
        shape = constants({"LANES": layout.lanes, "COLUMNS": layout.columns})
        groups = layout.groups(self.outputs)
        return launch(
            "reduce", declarations, bindings, text, groups, shape=shape, four=four
        )


def reduce(kernel: Kernel, _: Target) -> Program:
    """Return the program of a reduction.

    One launch, or two if there are few outputs.
    """
    writer = _Writer(kernel)
    outputs, length = writer.outputs, writer.terms
    layout = choose_layout(outputs, length, writer.is_row)
    if writer.is_window:
        layout = ReductionLayout(1, 1, length)
    if layout.splits == 1:
        return Program((writer.launch(length, layout, False, True),))
    lanes = min(_power_of_two(layout.splits), policy.WORKGROUP)
    last = ReductionLayout(lanes, 1, layout.splits)
    width = 16 if writer.is_wide else 8 if writer.is_index else 4
    return Program(
        (
            writer.launch(length, layout, False, False),
            writer.launch(layout.splits, last, True, True),
        ),
        (outputs * layout.splits * width,),
    )
