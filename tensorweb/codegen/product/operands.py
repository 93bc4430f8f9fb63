"""How the operands of a product are read: in vectors along an axis, or one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import indent

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    dependencies,
    read_element,
)
from tensorweb.codegen.launch_builder import LaunchBuilder, ShaderFunction
from tensorweb.codegen.program import Target
from tensorweb.codegen.vector import is_vectorizable, reorder_groups, vector_inputs
from tensorweb.schedule.kernel import Expression, Kernel

# Which elements of a window are in the padding, as bit masks tested in a loop.
#
# Whether a padded element exists depends on its index in the window and on the window's
# offset. Windows are short, so before the loop each row or column computes a mask with
# a bit per index along each axis of the window. The loop then only tests whether the
# mask has the bit of the current index.


BITS = 32
"""Bits of a mask: indices along all axes of a window."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of a guard.

    Attributes:
        step: the step of the comparison.
        access: the access whose index is compared.
        axis: the axis of the window along which that index varies.
        length: length of that axis.
        first: the bit of the axis's first index.
    """

    step: int
    access: int
    axis: int
    length: int
    first: int


@dataclass(frozen=True, slots=True)
class PaddingMask:
    """The guard of a load, and the comparisons of which it is the conjunction."""

    guard: int
    comparisons: tuple[Comparison, ...]


def find_padding_mask(
    expression: Expression, load: int, window: int, tests: int
) -> PaddingMask | None:
    """Return the padding mask of a load's guard, None if it has none or none pays.

    Args:
        expression: the expression of an element.
        load: index of the step that loads.
        window: the group of axes that the loop iterates over.
        tests: number of elements of a row or column that a thread loads.
    """
    guard = expression.steps[load].guard
    if guard not in dependencies(expression, expression.result, {load}):
        return None  # none, or one that the value itself does not depend on
    comparisons: list[Comparison] = []
    first = 0
    for step in _conjuncts(expression, guard):
        comparison = _comparison(expression, step, window, first)
        if comparison is None:
            return None
        comparisons.append(comparison)
        first += comparison.length
    if first > BITS or first * policy.LEAST_MASK_TESTS > tests:
        return None
    return PaddingMask(guard, tuple(comparisons))


def _conjuncts(expression: Expression, step: int) -> list[int]:
    """Return the conditions of which a condition is the conjunction."""
    condition = expression.steps[step]
    if condition.name != "logical_and":
        return [step]
    return [n for arg in condition.args for n in _conjuncts(expression, arg)]


def _comparison(
    expression: Expression, step: int, window: int, first: int
) -> Comparison | None:
    """Return the comparison of an index that varies along one axis, else None."""
    reads = [expression.steps[n] for n in dependencies(expression, step)]
    ramps = [read for read in reads if read.kind == "ramp"]
    is_index_only = all(
        read.kind in ("ramp", "cast", "map") or (read.kind == "scalar" and read.name)
        for read in reads
    )
    if len(ramps) != 1 or not is_index_only:
        return None
    access = ramps[0].access
    strides = expression.accesses[access].strides[window]
    axes = [axis for axis, stride in enumerate(strides) if stride]
    if len(axes) != 1:
        return None
    length = expression.groups[window][axes[0]]
    if length > policy.LONGEST_LITERAL_AXIS:
        return None
    return Comparison(step, access, axes[0], length, first)


# Addresses of an operand in two parts: one fixed, one that varies with depth.
#
# If a group has several axes, its index is divided into coordinates. Convolution
# windows need this for every element, so the part of rows or columns is computed once
# before the loop over depth, and four elements share the part of their depth.
#
# Computations on loaded elements, such as a `where` for padding, would wait for the
# load. They are a separate function, called after the previous tile has been
# multiplied.


def has_several_axes(expression: Expression) -> bool:
    """Return whether rows, columns or depth have several axes, or ramps."""
    return any(len(group) > 1 for group in expression.groups[1:]) or any(
        step.kind == "ramp" for step in expression.steps
    )


def only_load(expression: Expression) -> int | None:
    """Return the index of the step that loads, None if there are other reads."""
    kinds = [step.kind for step in expression.steps]
    is_only = kinds.count("load") == 1 and "gather" not in kinds
    return kinds.index("load") if is_only else None


def loaded_name(name: str) -> str:
    """Return the WGSL type of the loaded value of an operand's element."""
    return f"{name.title()}Loaded"


def position_name(name: str) -> str:
    """Return the WGSL type of one part of an operand's addresses."""
    return f"{name.title()}Position"


def add_position_functions(
    builder: LaunchBuilder,
    function: ShaderFunction,
    expression: Expression,
    ahead: int | None = None,
    tests: int = 0,
) -> None:
    """Add `NAME_fixed(batch, …)`, `NAME_moving(depth)` and `NAME(fixed, moving)`.

    With `ahead`, also `NAME_load(fixed, moving)`, whose result is the third argument of
    `NAME`.

    Args:
        builder: receives the functions, and the parameters they use.
        function: names of the operand and of the groups, `depth` among them.
        expression: the expression of an element, with one group of axes per argument.
        ahead: index of the step to load ahead, without its guard: a read past the end
            of a buffer returns some value, which the `where` that the guard comes from
            discards.
        tests: number of elements of a row or column that a thread loads.
    """
    builder.add_inputs(expression)
    positions = _Positions(builder, function, expression)
    if ahead is None:
        builder.text += positions.parts(None) + positions.value({}, "", "")
        return
    window = function.arguments.index("depth")
    mask = find_padding_mask(expression, ahead, window, tests)
    builder.text += (
        positions.parts(mask)
        + positions.load(ahead)
        + positions.value_of_load(ahead, mask)
    )


def _bit_after(bit: str, first: int) -> str:
    """Return the index of a bit after the bits of other axes."""
    return f"{bit} + {first}" if first else bit


class _Positions:
    """Generate the functions of one operand."""

    def __init__(
        self, builder: LaunchBuilder, function: ShaderFunction, expression: Expression
    ) -> None:
        self.builder = builder
        self.name = function.name
        self.arguments = function.arguments
        self.expression = expression
        self.position = position_name(function.name)
        self.both = f"fixed: {self.position}, moving: {self.position}"
        self._strides: dict[str, str] = {}

    def parts(self, mask: PaddingMask | None) -> str:
        """Return the type of an address part, and the functions of both parts."""
        accesses = range(len(self.expression.accesses))
        fields = "".join(f"  p{n}: i32,\n" for n in accesses)
        if mask:
            fields += "  padding_mask: u32,\n"
        text = f"struct {self.position} {{\n{fields}}}\n"
        for part, is_moving in (("fixed", False), ("moving", True)):
            groups = [
                group
                for group, argument in enumerate(self.arguments)
                if (argument == "depth") is is_moving
            ]
            names = [self.arguments[group] for group in groups]
            sizes = tuple(self.expression.groups[group] for group in groups)
            axes = Expression(sizes, (), (), 0)
            lines = self.builder.coordinates(self.name, names, axes, groups)
            values = [self._address(n, groups, is_moving) for n in accesses]
            if mask:
                values.append(self._bits(mask) if is_moving else "0u")
            position = f"{self.position}({', '.join(values)})"
            if mask and not is_moving:
                lines += f"  var position = {position};\n{self._outside(mask)}"
                position = "position"
            listed = ", ".join(f"{argument}: u32" for argument in names)
            text += (
                f"fn {self.name}_{part}({listed}) -> {self.position} {{\n"
                f"{lines}  return {position};\n}}\n"
            )
        return text

    def load(self, index: int) -> str:
        """Return the function that loads, and the type of its result."""
        step = self.expression.steps[index]
        address = f"fixed.p{step.access} + moving.p{step.access}"
        dtype = self.builder.input_dtypes[step.slot]
        type_name = loaded_name(self.name)
        return (
            f"alias {type_name} = {VALUE_TYPES[step.dtype]};\n"
            f"fn {self.name}_load({self.both}) -> {type_name} {{\n"
            f"  return {read_element(step.slot, address, dtype)};\n}}\n"
        )

    def value_of_load(self, index: int, mask: PaddingMask | None) -> str:
        """Return the function of an element's value, from the loaded value."""
        computed, lines = {index: "loaded"}, ""
        if mask:
            computed[mask.guard] = "is_inside"
            test = "(fixed.padding_mask & moving.padding_mask) == 0u"
            lines = f"  let is_inside = {test};\n"
        return self.value(computed, f", loaded: {loaded_name(self.name)}", lines)

    def value(self, computed: dict[int, str], argument: str, lines: str) -> str:
        """Return the function of an element's value, from the values of some steps."""
        steps = self.expression.steps
        required = dependencies(self.expression, self.expression.result, computed)
        accesses = {steps[step].access for step in required - {*computed}}
        addresses = "".join(
            f"  let address{n} = fixed.p{n} + moving.p{n};\n"
            for n in sorted(accesses - {-1})
        )
        body, value = self._steps(self.expression.result, computed)
        return (
            f"fn {self.name}({self.both}{argument}) -> Value {{\n"
            f"{addresses}{lines}{body}  return {value};\n}}\n"
        )

    def _steps(self, result: int, computed: Mapping[int, str]) -> tuple[str, str]:
        """Return the lines that compute a step's value, and the value."""
        required = dependencies(self.expression, result, computed)
        steps = range(len(self.expression.steps))
        unused = {n: "" for n in steps if n not in required}
        body, values = self.builder.steps(
            self.expression, computed={**unused, **computed}
        )
        return body, values[result]

    def _bits(self, mask: PaddingMask) -> str:
        """Return the bits of an index in the window, one for each comparison."""
        return " | ".join(
            f"(1u << u32({_bit_after(f'depth_{c.axis}', c.first)}))"
            for c in mask.comparisons
        )

    def _outside(self, mask: PaddingMask) -> str:
        """Return the lines that compute the padding mask of a row or column."""
        window = self.arguments.index("depth")
        text = ""
        for comparison in mask.comparisons:
            access, axis = comparison.access, comparison.axis
            stride = self.expression.accesses[access].strides[window][axis]
            moved = self._times("i", access, window, axis, stride)
            body, is_inside = self._steps(comparison.step, {})
            text += (
                f"  for (var i = 0; i < {comparison.length}; i += 1) {{\n"
                f"    let address{access} = position.p{access} + {moved};\n"
                f"{indent(body, '  ')}"
                f"    let bit = 1u << u32({_bit_after('i', comparison.first)});\n"
                f"    position.padding_mask |= select(bit, 0u, {is_inside});\n  }}\n"
            )
        return text

    def _address(self, index: int, groups: list[int], is_moving: bool) -> str:
        """Return one part of an access's address."""
        access = self.expression.accesses[index]
        terms = []
        if access.offset and not is_moving:
            field = f"{self.name}_offset{index}"
            terms.append(self.builder.parameter(field, "i32", access.offset))
        for group in groups:
            for axis, stride in enumerate(access.strides[group]):
                coordinate = f"{self.arguments[group]}_{axis}"
                if stride:
                    terms.append(self._times(coordinate, index, group, axis, stride))
        return " + ".join(terms) or "0"

    def _times(
        self, coordinate: str, access: int, group: int, axis: int, stride: int
    ) -> str:
        """Return a coordinate times a stride of an access; a stride of 1 is omitted."""
        if stride == 1:
            return coordinate
        field = f"{self.name}_stride{access}_{group}_{axis}"
        if field not in self._strides:
            self._strides[field] = self.builder.parameter(field, "i32", stride)
        return f"{coordinate} * {self._strides[field]}"


SWAPPED = (0, 2, 1)
"""Order of an operand's groups of axes with the inner two exchanged."""


@dataclass(frozen=True, slots=True)
class ProductOperand:
    """How an operand is read.

    Attributes:
        name: `left` or `right`.
        expression: the expression of an element.
        is_vector: whether four neighbours are read at once.
        is_swapped: whether its last two groups of axes are exchanged, so that vectors
            extend along the other axis.
        is_split: whether its addresses have a fixed and a moving part, see
            `_Positions`.
        is_ahead: whether an element of a split operand is loaded first and computed
            later.
    """

    name: str
    expression: Expression
    is_vector: bool
    is_swapped: bool
    is_split: bool = False
    is_ahead: bool = False

    @property
    def axis(self) -> str:
        """The axis that the other operand does not have."""
        return "row" if self.name == "left" else "column"

    @property
    def arguments(self) -> tuple[str, str, str]:
        """Names of the parameters of its function."""
        is_depth_last = (self.name == "left") is not self.is_swapped
        inner = (self.axis, "depth") if is_depth_last else ("depth", self.axis)
        return "batch", *inner

    @property
    def is_along_depth(self) -> bool:
        """Whether a vector holds four terms of one row or column."""
        return self.is_vector and self.arguments[2] == "depth"


def reads_elements(expression: Expression) -> bool:
    """Return whether no axis of an operand can be read in vectors of four."""
    swapped = reorder_groups(expression, SWAPPED)
    return not is_vectorizable(expression) and not is_vectorizable(swapped)


def choose_operands(
    kernel: Kernel, is_split: bool, target: Target
) -> tuple[tuple[ProductOperand, ProductOperand], set[int]]:
    """Return how both operands of a product are read, and the inputs read as vectors.

    An input cannot be read both in vectors and by element; in that case all operands
    are read by element. If the inner axis is split, the epilogue is a separate launch
    with its own reads.
    """
    left, right = (
        _choose_operand(name, kernel.expression(name), target)
        for name in ("left", "right")
    )
    in_vectors = [each.expression for each in (left, right) if each.is_vector]
    others = [each.expression for each in (left, right) if not each.is_vector]
    if not is_split:
        others.append(kernel.expression("finish"))
    vectors = vector_inputs(in_vectors, others)
    if in_vectors and not vectors:
        left, right = (
            _operand_of_elements(name, kernel.expression(name), target)
            for name in ("left", "right")
        )
    return (left, right), vectors


def _choose_operand(
    name: str, expression: Expression, target: Target
) -> ProductOperand:
    if is_vectorizable(expression):
        return ProductOperand(name, expression, True, False)
    swapped = reorder_groups(expression, SWAPPED)
    if is_vectorizable(swapped):
        return ProductOperand(name, swapped, True, True)
    return _operand_of_elements(name, expression, target)


def _operand_of_elements(
    name: str, expression: Expression, target: Target
) -> ProductOperand:
    if not has_several_axes(expression):
        return ProductOperand(name, expression, False, False)
    # A software GPU has no memory latency to hide, and would only compute addresses
    # twice.
    is_ahead = only_load(expression) is not None and not target.is_software
    return ProductOperand(name, expression, False, False, True, is_ahead)
