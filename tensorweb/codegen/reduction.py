"""Programs of reductions.

How threads share the terms, and when two launches are used.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    identity_bits,
    is_long_code,
    kind_of,
    order_key,
    to_storage,
)
from tensorweb.codegen.launch_builder import LaunchBuilder, ShaderFunction, constants
from tensorweb.codegen.program import Launch, Program, ceil_divide, scratch
from tensorweb.codegen.target import Target
from tensorweb.codegen.template import alternative
from tensorweb.codegen.vector import (
    COMPONENTS,
    WIDTH,
    add_vector_function,
    reorder_groups,
    vector_inputs,
    vector_text,
)
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
