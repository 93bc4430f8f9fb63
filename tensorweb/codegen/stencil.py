"""Programs of stencils: elementwise kernels that read several neighbours of a tensor.

A thread computes one element in each of several rows, so that shared neighbours are
read once, and index arithmetic is done once for all rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import prod
from typing import NamedTuple

from tensorweb.codegen import policy
from tensorweb.codegen.expression import (
    form_of,
    read_element,
    storage_type,
    to_storage,
)
from tensorweb.codegen.launch_builder import LaunchBuilder
from tensorweb.codegen.program import Program, ceil_divide, output, workgroups
from tensorweb.codegen.vector import is_vectorizable
from tensorweb.schedule.kernel import Access, Expression, Kernel, Step
from tensorweb.shapes import strides

# Values of a thread that computes several rows of a stencil, each computed once.
#
# Rows of a stencil read the same elements. Values are therefore hashed: `(row + 2,
# column - 1)` is one value whether it is the lower neighbour of one row or the upper
# neighbour of another. A `where` between parts of a tensor, as `roll` and `pad`
# generate it, is resolved at compile time if the thread's rows decide it; a `where`
# between two loads becomes one load of a selected address.


class Address(NamedTuple):
    """An address: strides by axis, plus `rows` rows and `ahead` elements."""

    strides: tuple[int, ...]
    rows: int
    ahead: int


class Constant(NamedTuple):
    """A constant: of the kernel's structure, or of the user in slot `slot`."""

    value: int
    slot: int


class KnownCondition(NamedTuple):
    """A condition that is known at compile time."""

    holds: bool


class AddressValue(NamedTuple):
    """The value of an address itself."""

    address: Address


class LoadedElement(NamedTuple):
    """An element at an address; a move is (condition, shift if true, shift if not)."""

    slot: int
    address: Address
    moves: tuple[tuple[int, int, int], ...]


class GatheredElement(NamedTuple):
    """An element at a computed address: the index of the value that is the address."""

    slot: int
    offset_value: int


class OperationValue(NamedTuple):
    """An operation: its WGSL format and its operands."""

    form: str
    args: tuple[int, ...]


Value = (
    Constant
    | KnownCondition
    | AddressValue
    | LoadedElement
    | GatheredElement
    | OperationValue
)


def conditions(expression: Expression) -> dict[int, frozenset[int]]:
    """Return the tests that decide each `where` step, by index of the step.

    The condition of a nested `where` repeats the tests of the outer one. They are
    omitted: if they fail, the value is not used, since all its loads are guarded by
    them.
    """
    tests: list[frozenset[int]] = []
    guards: list[frozenset[int]] = []
    result: dict[int, frozenset[int]] = {}
    for index, step in enumerate(expression.steps):
        if step.name == "logical_and":
            tests.append(tests[step.args[0]] | tests[step.args[1]])
        else:
            tests.append(frozenset({index}))
        if step.name == "where":
            condition, value, other = step.args
            guards.append(guards[value] & guards[other])
            result[index] = tests[condition] - guards[index]
        else:
            own: frozenset[int] = tests[step.guard] if step.guard >= 0 else frozenset()
            guards.append(own.union(*(guards[arg] for arg in step.args)))
    return result


class Neighbours:
    """The values of all rows of a thread.

    Attributes:
        values: each distinct value once, after its operands.
        results: indices into `values` of the expression's results, by row.
    """

    def __init__(self, expression: Expression, rows: int) -> None:
        """Compute the values of `rows` rows along the second to last axis."""
        self.expression = expression
        (self.sizes,) = expression.groups
        self.axis = len(self.sizes) - 2
        self.rows = rows
        self.values: list[Value] = []
        self._index_of: dict[Value, int] = {}
        self._cached: dict[tuple[int, int], int] = {}
        self._conditions = conditions(expression)
        self.results = [
            [self._value(step, row) for step in expression.results]
            for row in range(rows)
        ]

    def required(self) -> list[int]:
        """Return the sorted indices of the values that the results depend on."""
        required = {index for row in self.results for index in row}
        for index in range(len(self.values) - 1, -1, -1):
            if index in required:
                required.update(operands(self.values[index]))
        return sorted(required)

    def _add(self, value: Value) -> int:
        """Return the index of a value, added if it is new."""
        index = self._index_of.setdefault(value, len(self.values))
        if index == len(self.values):
            self.values.append(value)
        return index

    def _value(self, index: int, row: int) -> int:
        """Return the value of a step in a row."""
        if (index, row) not in self._cached:
            self._cached[index, row] = self._new_value(index, row)
        return self._cached[index, row]

    def _new_value(self, index: int, row: int) -> int:
        step = self.expression.steps[index]
        if step.kind == "scalar":
            return self._add(Constant(int(step.name or 0), step.slot))
        if step.kind == "ramp":
            return self._add(AddressValue(self._address(step, row)))
        if step.kind == "load":
            return self._add(LoadedElement(step.slot, self._address(step, row), ()))
        if step.name == "where":
            tests = [self._value(test, row) for test in sorted(self._conditions[index])]
            value, other = (self._value(arg, row) for arg in step.args[1:])
            return self._choice((self._conjunction(tests), value, other), step)
        args = tuple(self._value(arg, row) for arg in step.args)
        if step.kind == "gather":
            return self._add(GatheredElement(step.slot, args[0]))
        if step.name == "logical_and":
            return self._conjunction(args)
        if step.name == "less":
            known = self._known_comparison(*args)
            if known is not None:
                return self._add(KnownCondition(known))
        return self._add(OperationValue(form_of(step, self.expression), args))

    def _address(self, step: Step, row: int) -> Address:
        """Return the address of a row's load or ramp."""
        access: Access = self.expression.accesses[step.access]
        (by_axis,) = access.strides
        stride = by_axis[self.axis]
        if stride == 0:
            return Address(by_axis, 0, access.offset)
        rows = round(access.offset / stride)
        if abs(rows) > policy.FARTHEST_NEIGHBOUR:
            rows = 0
        return Address(by_axis, rows + row, access.offset - rows * stride)

    def _offset(self, address: Address) -> int:
        return address.rows * address.strides[self.axis] + address.ahead

    def _conjunction(self, tests: Iterable[int]) -> int:
        """Return the conjunction of tests."""
        undecided: list[int] = []
        for test in tests:
            value = self.values[test]
            if not isinstance(value, KnownCondition):
                undecided.append(test)
            elif not value.holds:
                return test
        if not undecided:
            return self._add(KnownCondition(True))
        return reduce(
            lambda a, b: self._add(OperationValue("({0} & {1})", (a, b))), undecided
        )

    def _known_comparison(self, left: int, right: int) -> bool | None:
        """Return whether an address is below a limit, None if that varies."""
        index, limit = self._unsigned(left), self._unsigned(right)
        if not isinstance(index, AddressValue) or not isinstance(limit, Constant):
            return None
        if limit.slot >= 0:
            return None
        low = high = self._offset(index.address)
        for axis, stride in enumerate(index.address.strides):
            last = self.sizes[axis] - (self.rows if axis == self.axis else 1)
            low += min(last * stride, 0)
            high += max(last * stride, 0)
        if low >= 0 and high < limit.value:
            return True
        return False if high < 0 or low >= limit.value else None

    def _unsigned(self, index: int) -> Value | None:
        """Return the operand of a conversion to unsigned, None for other values."""
        value = self.values[index]
        if isinstance(value, OperationValue) and value.form == "u32({0})":
            return self.values[value.args[0]]
        return None

    def _choice(self, parts: tuple[int, int, int], step: Step) -> int:
        """Return a `where` step, as one load if both operands are loads."""
        test, value, other = parts
        condition = self.values[test]
        if isinstance(condition, KnownCondition):
            return value if condition.holds else other
        merged = self._merge(test, value, other)
        if merged is not None:
            return merged
        return self._add(OperationValue(form_of(step, self.expression), parts))

    def _merge(self, test: int, value: int, other: int) -> int | None:
        """Return a `where` between loads, or equal operations on loads, as one value.

        None if the two differ.
        """
        if value == other:
            return value
        one, two = self.values[value], self.values[other]
        if isinstance(one, LoadedElement) and isinstance(two, LoadedElement):
            return self._selected_load(test, one, two)
        if not isinstance(one, OperationValue) or not isinstance(two, OperationValue):
            return None
        if one.form != two.form or len(one.args) != len(two.args):
            return None
        args = []
        for pair in zip(one.args, two.args, strict=True):
            merged = self._merge(test, *pair)
            if merged is None:
                return None
            args.append(merged)
        return self._add(OperationValue(one.form, tuple(args)))

    def _selected_load(
        self, test: int, one: LoadedElement, two: LoadedElement
    ) -> int | None:
        """Return one load of the selected one of two elements of a tensor.

        The load whose address is moved is the same for all rows, so that rows share it.
        """
        is_alike = one.slot == two.slot and one.moves == two.moves
        if not is_alike or one.address.strides != two.address.strides:
            return None
        distance = self._offset(two.address) - self._offset(one.address)
        base, move = one, (test, 0, distance)
        if abs(two.address.ahead) < abs(one.address.ahead):
            base, move = two, (test, -distance, 0)
        return self._add(base._replace(moves=(*base.moves, move)))


def operands(value: Value) -> tuple[int, ...]:
    """Return the indices of the operands of a value."""
    match value:
        case OperationValue(args=args):
            return args
        case GatheredElement(offset_value=index):
            return (index,)
        case LoadedElement(moves=moves):
            return tuple(test for test, _, _ in moves)
        case _:
            return ()


def is_stencil(value: Expression) -> bool:
    """Return whether an expression reads neighbours of a tensor and has enough rows."""
    if len(value.groups) != 1 or len(value.groups[0]) < 2:
        return False
    *_, rows, columns = value.groups[0]
    if (
        rows < policy.STENCIL_ROWS
        or columns < policy.SHORTEST_STENCIL_ROW
        or len(value.steps) > policy.MOST_STENCIL_STEPS
    ):
        return False
    if is_vectorizable(value, may_compute=True):
        return False
    loads = [
        (step.slot, value.accesses[step.access].strides)
        for step in value.steps
        if step.kind == "load" and value.accesses[step.access].strides[0][-2]
    ]
    return len(loads) > len(set(loads))


def stencil(kernel: Kernel) -> Program:
    """Return the program of a stencil kernel: a thread computes several rows."""
    value = kernel.expression("value")
    builder = LaunchBuilder(kernel)
    builder.add_inputs(value)
    *outer, rows, columns = value.groups[0]
    threads = prod(outer) * ceil_divide(rows, policy.STENCIL_ROWS) * columns
    builder.add_sizes(length=threads)
    builder.text = _StencilFunction(kernel, value, builder).text()
    for index, dtype in enumerate(kernel.dtypes):
        builder.add_buffer(f"result{index}", "w", storage_type(dtype), output(index))
    return Program((builder.launch("stencil", workgroups(threads)),))


class _StencilFunction:
    """Generate the function of a thread."""

    def __init__(
        self, kernel: Kernel, value: Expression, builder: LaunchBuilder
    ) -> None:
        self.kernel = kernel
        self.builder = builder
        self.sizes = value.groups[0]
        self.neighbours = Neighbours(value, policy.STENCIL_ROWS)
        self._parameters: dict[tuple[str, int], str] = {}
        self._bases: dict[tuple[str, tuple[int, ...], int], str] = {}
        self._texts: dict[int, str] = {}
        self._lines: list[str] = []

    def text(self) -> str:
        """Return the function `store`."""
        self._add_coordinates()
        for index in self.neighbours.required():
            self._add_value(index, self.neighbours.values[index])
        self._add_stores()
        return f"fn store(index: u32) {{\n{''.join(self._lines)}}}\n"

    def _line(self, name: str, text: str) -> str:
        self._lines.append(f"  let {name} = {text};\n")
        return name

    def _parameter(self, name: str, value: int) -> str:
        """Return the WGSL of a parameter with this value, shared by equal values."""
        key = (name, value)
        if key not in self._parameters:
            field = f"{name}{len(self._parameters)}"
            self._parameters[key] = self.builder.parameter(field, "i32", value)
        return self._parameters[key]

    def _add_coordinates(self) -> None:
        """Add the lines of the thread's coordinates.

        `at2` is that of the third axis.
        """
        *outer, rows, columns = self.sizes
        band_count = ceil_divide(rows, policy.STENCIL_ROWS)
        width = self.builder.parameter("columns", "u32", columns)
        bands = self.builder.parameter("bands", "u32", band_count)
        axis = len(self.sizes) - 1
        self._line(f"at{axis}", f"i32(index % {width})")
        quotient = self._line("above", f"index / {width}")
        band = quotient
        if outer:
            band = self._line("band", f"{quotient} % {bands}")
            quotient = self._line(f"above{axis - 1}", f"{quotient} / {bands}")
        first = f"i32({band}) * {policy.STENCIL_ROWS}"
        if rows % policy.STENCIL_ROWS:
            last = self._parameter("last_row", rows - policy.STENCIL_ROWS)
            own = self._line("own_row", first)
            first = f"min({own}, {last})"
        self._line(f"at{axis - 1}", first)
        for outer_axis in range(axis - 2, 0, -1):
            length = self.sizes[outer_axis]
            size = self.builder.parameter(f"size{outer_axis}", "u32", length)
            self._line(f"at{outer_axis}", f"i32({quotient} % {size})")
            quotient = self._line(f"above{outer_axis}", f"{quotient} / {size}")
        if outer:
            self._line("at0", f"i32({quotient})")

    def _address_text(self, name: str, address: Address) -> str:
        """Return the WGSL of an address; `name` identifies the tensor with its strides.

        Addresses of one tensor share their common terms.
        """
        key = (name, address.strides, address.rows)
        if key not in self._bases:
            terms = []
            for axis, stride in enumerate(address.strides):
                coordinate = f"at{axis}"
                if axis == len(address.strides) - 2 and address.rows:
                    coordinate = f"({coordinate} + {address.rows})"
                if stride == 1:
                    terms.append(coordinate)
                elif stride:
                    factor = self._parameter(f"{name}stride{axis}_", stride)
                    terms.append(f"{coordinate} * {factor}")
            text = " + ".join(terms) or "0"
            self._bases[key] = self._line(f"base{len(self._bases)}", text)
        base = self._bases[key]
        if not address.ahead:
            return base
        if abs(address.ahead) <= policy.FARTHEST_NEIGHBOUR:
            return f"{base} + {address.ahead}"
        return f"{base} + {self._parameter('ahead', address.ahead)}"

    def _add_value(self, index: int, value: Value) -> None:
        """Add a value's line, or record its text if it needs no line."""
        texts = self._texts
        match value:
            case KnownCondition(holds):
                texts[index] = str(holds).lower()
                return
            case Constant(number, slot):
                texts[index] = (
                    self._parameter("number", number)
                    if slot < 0
                    else self.builder.scalar(slot)
                )
                return
            case AddressValue(address):
                text = self._address_text("", address)
            case LoadedElement(slot, address, moves):
                text = self._address_text(f"input{slot}_", address)
                for test, first, second in moves:
                    text = f"{text} + {self._move(test, first, second)}"
                text = self._element(slot, text)
            case GatheredElement(slot, gathered):
                text = self._element(slot, texts[gathered])
            case OperationValue(form, args):
                text = form.format(*(texts[arg] for arg in args))
        texts[index] = self._line(f"v{index}", text)

    def _move(self, test: int, first: int, second: int) -> str:
        """Return the shift of an address selected by a test, shared by equal shifts."""
        key = (f"move {self._texts[test]} {first}", second)
        if key not in self._parameters:
            shifts = [
                self._parameter("number", shift) if shift else "0"
                for shift in (second, first)
            ]
            name = f"move{len(self._parameters)}"
            text = f"select({', '.join(shifts)}, {self._texts[test]})"
            self._parameters[key] = self._line(name, text)
        return self._parameters[key]

    def _element(self, slot: int, address: str) -> str:
        return read_element(slot, address, self.kernel.input_dtypes[slot])

    def _add_stores(self) -> None:
        """Add the stores of all rows; a row of two threads is stored by one of them."""
        rows = self.sizes[-2]
        for row, results in enumerate(self.neighbours.results):
            index = self._address_text("result_", Address(strides(self.sizes), row, 0))
            lines = [
                f"result{n}[{index}] = {to_storage(self._texts[result], dtype)};"
                for n, (result, dtype) in enumerate(
                    zip(results, self.kernel.dtypes, strict=True)
                )
            ]
            if rows % policy.STENCIL_ROWS and row < policy.STENCIL_ROWS - 1:
                axis = len(self.sizes) - 2
                inner = "".join(f"    {line}\n" for line in lines)
                self._lines.append(
                    f"  if (at{axis} + {row} >= own_row) {{\n{inner}  }}\n"
                )
            else:
                self._lines += [f"  {line}\n" for line in lines]
