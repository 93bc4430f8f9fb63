"""How the operands of a product are read: in vectors along an axis, or one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    coordinates,
    dependencies,
    read_element,
    steps_text,
)
from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import (
    is_vectorizable,
    reorder_groups,
    scalar_slots,
    vector_slots,
)
from tensorweb.schedule.kernel import Access, Expression, Kernel

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
        found = _comparison(expression, step, window, first)
        if found is None:
            return None
        comparisons.append(found)
        first += found.length
    if first > BITS or first * policy.LEAST_MASK_TESTS > tests:
        return None
    return PaddingMask(guard, tuple(comparisons))


def _conjuncts(expression: Expression, step: int) -> list[int]:
    """Return the conditions of which a condition is the conjunction."""
    found = expression.steps[step]
    if found.name != "logical_and":
        return [step]
    return [each for source in found.args for each in _conjuncts(expression, source)]


def _comparison(
    expression: Expression, step: int, window: int, first: int
) -> Comparison | None:
    """Return the comparison of an index that varies along one axis, else None."""
    read = [expression.steps[number] for number in dependencies(expression, step)]
    ramps = [each for each in read if each.kind == "ramp"]
    plain = all(
        each.kind in ("ramp", "cast", "map") or (each.kind == "scalar" and each.name)
        for each in read
    )
    if len(ramps) != 1 or not plain:
        return None
    access = ramps[0].access
    strides = expression.accesses[access].strides[window]
    axes = [axis for axis, stride in enumerate(strides) if stride]
    if len(axes) != 1:
        return None
    length = expression.groups[window][axes[0]]
    if length > policy.LONGEST_FIXED:
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


def type_name(name: str) -> str:
    """Return the WGSL type of one part of an operand's addresses."""
    return f"{name.title()}Position"


def loaded_name(name: str) -> str:
    """Return the WGSL type of the loaded value of an operand's element."""
    return f"{name.title()}Loaded"


def position_functions(
    declarations: Declarations,
    signature: Signature,
    expression: Expression,
    input_dtypes: Sequence[str],
    ahead: int | None = None,
    tests: int = 0,
) -> str:
    """Return `NAME_fixed(batch, …)`, `NAME_moving(depth)` and `NAME(fixed, moving)`.

    With `ahead`, also `NAME_load(fixed, moving)`, whose result is the third argument of
    `NAME`.

    Args:
        declarations: receives the sizes, strides, offsets and constants it uses.
        signature: names of the operand and of the groups, `depth` among them.
        expression: the expression of an element, with one group of axes per argument.
        input_dtypes: dtypes of the kernel's inputs.
        ahead: index of the step to load ahead, without its guard: a read past the end
            of a buffer returns some value, which the `where` that the guard comes from
            discards.
        tests: number of elements of a row or column that a thread loads.
    """
    writer = _Positions(declarations, signature, expression, input_dtypes)
    if ahead is None:
        return writer.parts(None) + writer.value({}, "", "")
    window = signature.arguments.index("depth")
    mask = find_padding_mask(expression, ahead, window, tests)
    return writer.parts(mask) + writer.load(ahead) + writer.value_of_load(ahead, mask)


def _bit_after(bit: str, first: int) -> str:
    """Return the index of a bit after the bits of other axes."""
    return f"{bit} + {first}" if first else bit


class _Positions:
    """Generate the functions of one operand."""

    def __init__(
        self,
        declarations: Declarations,
        signature: Signature,
        expression: Expression,
        input_dtypes: Sequence[str],
    ) -> None:
        self.declarations = declarations
        self.name = signature.name
        self.arguments = signature.arguments
        self.expression = expression
        self.input_dtypes = input_dtypes
        self.position = type_name(signature.name)
        self.both = f"fixed: {self.position}, moving: {self.position}"
        self._strides: dict[str, str] = {}

    def parts(self, mask: PaddingMask | None) -> str:
        """Return the type of an address part, and the functions of both parts."""
        accesses = enumerate(self.expression.accesses)
        fields = "".join(f"  p{number}: i32,\n" for number, _ in accesses)
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
            lines = coordinates(self.declarations, self.name, names, axes, groups)
            sums = [
                self._sum(number, access, groups, is_moving)
                for number, access in enumerate(self.expression.accesses)
            ]
            if mask:
                sums.append(self._bits(mask) if is_moving else "0u")
            made = f"{self.position}({', '.join(sums)})"
            if mask and not is_moving:
                lines += [f"  var position = {made};\n", *self._outside(mask)]
                made = "position"
            listed = ", ".join(f"{argument}: u32" for argument in names)
            text += (
                f"fn {self.name}_{part}({listed}) -> {self.position} {{\n"
                f"{''.join(lines)}  return {made};\n}}\n"
            )
        return text

    def load(self, number: int) -> str:
        """Return the function that loads, and the type of its result."""
        step = self.expression.steps[number]
        address = f"fixed.p{step.access} + moving.p{step.access}"
        dtype = self.input_dtypes[step.slot]
        kind = loaded_name(self.name)
        return (
            f"alias {kind} = {VALUE_TYPES[step.dtype]};\n"
            f"fn {self.name}_load({self.both}) -> {kind} {{\n"
            f"  return {read_element(step.slot, address, dtype)};\n}}\n"
        )

    def value_of_load(self, number: int, mask: PaddingMask | None) -> str:
        """Return the function of an element's value, from the loaded value."""
        given, first = {number: "loaded"}, ""
        if mask:
            given[mask.guard] = "is_inside"
            first = (
                "  let is_inside = (fixed.padding_mask & moving.padding_mask) == 0u;\n"
            )
        return self.value(given, f", loaded: {loaded_name(self.name)}", first)

    def value(self, given: dict[int, str], third: str, first: str) -> str:
        """Return the function of an element's value, from the values of some steps."""
        steps = self.expression.steps
        needed = dependencies(self.expression, self.expression.result, given)
        addresses = "".join(
            f"  let address{number} = fixed.p{number} + moving.p{number};\n"
            for number in sorted({steps[step].access for step in needed - {*given}})
            if number >= 0
        )
        body, value = self._steps(self.expression.result, given)
        return (
            f"fn {self.name}({self.both}{third}) -> Value {{\n"
            f"{addresses}{first}{body}  return {value};\n}}\n"
        )

    def _steps(self, result: int, given: Mapping[int, str]) -> tuple[str, str]:
        """Return the lines that compute a step's value, and the value."""
        needed = dependencies(self.expression, result, given)
        rest = {n: "" for n in range(len(self.expression.steps)) if n not in needed}
        body, values = steps_text(
            self.expression,
            self.declarations,
            self.input_dtypes,
            "core",
            {**rest, **given},
        )
        return body, values[result]

    def _bits(self, mask: PaddingMask) -> str:
        """Return the bits of an index in the window, one for each comparison."""
        return " | ".join(
            f"(1u << u32({_bit_after(f'depth_{each.axis}', each.first)}))"
            for each in mask.comparisons
        )

    def _outside(self, mask: PaddingMask) -> list[str]:
        """Return the lines that compute the padding mask of a row or column."""
        window = self.arguments.index("depth")
        lines = []
        for each in mask.comparisons:
            stride = self.expression.accesses[each.access].strides[window][each.axis]
            moved = self._times("i", each.access, window, each.axis, stride)
            body, is_inside = self._steps(each.step, {})
            lines.append(
                f"  for (var i = 0; i < {each.length}; i += 1) {{\n"
                f"    let address{each.access} = position.p{each.access} + {moved};\n"
                f"{indent(body, '  ')}"
                f"    let bit = 1u << u32({_bit_after('i', each.first)});\n"
                f"    position.padding_mask |= select(bit, 0u, {is_inside});\n  }}\n"
            )
        return lines

    def _sum(
        self, number: int, access: Access, groups: Sequence[int], is_moving: bool
    ) -> str:
        """Return one part of an access's address."""
        terms = []
        if access.offset and not is_moving:
            field = f"{self.name}_offset{number}"
            terms.append(self.declarations.parameter(field, "i32", access.offset))
        for group in groups:
            for axis, stride in enumerate(access.strides[group]):
                coordinate = f"{self.arguments[group]}_{axis}"
                if stride:
                    terms.append(self._times(coordinate, number, group, axis, stride))
        return " + ".join(terms) or "0"

    def _times(
        self, coordinate: str, number: int, group: int, axis: int, stride: int
    ) -> str:
        """Return a coordinate times a stride of an access; a stride of 1 is omitted."""
        if stride == 1:
            return coordinate
        field = f"{self.name}_stride{number}_{group}_{axis}"
        if field not in self._strides:
            factor = self.declarations.parameter(field, "i32", stride)
            self._strides[field] = factor
        return f"{coordinate} * {self._strides[field]}"


SWAPPED = (0, 2, 1)
"""Order of an operand's groups of axes with the inner two exchanged."""


@dataclass(frozen=True, slots=True)
class Operand:
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
    def is_strided(self) -> bool:
        """Whether the four rows or columns of a tile's vector are not adjacent."""
        return not self.is_vector

    @property
    def is_along_depth(self) -> bool:
        """Whether a vector holds four terms of one row or column."""
        return self.is_vector and self.arguments[2] == "depth"


@dataclass(frozen=True, slots=True)
class Operands:
    """Both operands, and the inputs of the kernel that are read as vectors."""

    left: Operand
    right: Operand
    vectors: frozenset[int] = frozenset()


def reads_elements(expression: Expression) -> bool:
    """Return whether no axis of an operand can be read in vectors of four."""
    swapped = reorder_groups(expression, SWAPPED)
    return not is_vectorizable(expression) and not is_vectorizable(swapped)


def operands_of(kernel: Kernel, is_split: bool, target: Target) -> Operands:
    """Return how the operands of a product are read.

    An input cannot be read both in vectors and one by one; in that case all operands
    are read one by one. If the inner axis is split, the epilogue is a separate launch
    with its own reads.
    """
    left = _operand("left", kernel.expression("left"), target)
    right = _operand("right", kernel.expression("right"), target)
    single = set() if is_split else _loaded_slots(kernel.expression("finish"))
    vectors: set[int] = set()
    for operand in (left, right):
        if operand.is_vector:
            single |= scalar_slots(operand.expression)
            vectors |= vector_slots(operand.expression)
        else:
            single |= _loaded_slots(operand.expression)
    if not vectors & single:
        return Operands(left, right, frozenset(vectors))
    return Operands(
        _element_operand("left", kernel.expression("left"), target),
        _element_operand("right", kernel.expression("right"), target),
    )


def _operand(name: str, expression: Expression, target: Target) -> Operand:
    if is_vectorizable(expression):
        return Operand(name, expression, True, False)
    swapped = reorder_groups(expression, SWAPPED)
    if is_vectorizable(swapped):
        return Operand(name, swapped, True, True)
    return _element_operand(name, expression, target)


def _element_operand(name: str, expression: Expression, target: Target) -> Operand:
    if not has_several_axes(expression):
        return Operand(name, expression, False, False)
    # A software GPU has no memory latency to hide, and would only compute addresses
    # twice.
    is_ahead = only_load(expression) is not None and not target.is_software
    return Operand(name, expression, False, False, is_split=True, is_ahead=is_ahead)


def _loaded_slots(expression: Expression) -> set[int]:
    """Return the inputs that an expression loads or gathers."""
    return {s.slot for s in expression.steps if s.kind in ("load", "gather")}
