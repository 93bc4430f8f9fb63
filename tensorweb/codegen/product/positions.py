"""Addresses of an operand in two parts: one fixed, one that varies with depth.

If a group has several axes, its index is divided into coordinates. Convolution windows
need this for every element, so the part of rows or columns is computed once before the
loop over depth, and four elements share the part of their depth.

Computations on loaded elements, such as a `where` for padding, would wait for the load.
They are a separate function, called after the previous tile has been multiplied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import indent

from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    Signature,
    coordinates,
    read_element,
    steps_text,
)
from tensorweb.codegen.product.padding_masks import PaddingMask, find_padding_mask
from tensorweb.codegen.subexpressions import reached
from tensorweb.schedule.kernel import Access, Expression


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
    return writer.parts(mask) + writer.load(ahead) + writer.later(ahead, mask)


def _after(bit: str, first: int) -> str:
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

    def later(self, number: int, mask: PaddingMask | None) -> str:
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
        needed = reached(self.expression, self.expression.result, given)
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
        needed = reached(self.expression, result, given)
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
            f"(1u << u32({_after(f'depth_{each.axis}', each.first)}))"
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
                f"    let bit = 1u << u32({_after('i', each.first)});\n"
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
