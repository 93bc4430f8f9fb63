"""Programs of accumulations independent of order: integer sums and extremes.

Every value is one atomic operation on 32 bits, so the result is the same in any order:
sums wrap around, extremes are compared by keys in the order of the values.
"""

from __future__ import annotations

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    function,
    kind_of,
    storage_type,
    to_storage,
)
from tensorweb.codegen.launches import input_bindings, launch
from tensorweb.codegen.program import OUTPUT, Launch, Program, scratch
from tensorweb.codegen.target import Target
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Kernel

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
