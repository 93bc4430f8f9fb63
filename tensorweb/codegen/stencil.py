"""Programs of stencils: elementwise kernels that read several neighbours of a tensor.

A thread computes one element in each of several rows, so that shared neighbours are
read once, and index arithmetic is done once for all rows.
"""

from __future__ import annotations

from collections.abc import Iterable
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

# Values of a thread that computes several rows of a stencil, each computed once.
#
# Rows of a stencil read the same elements. Values are therefore hashed: `(row + 2,
# column - 1)` is one value whether it is the lower neighbour of one row or the upper
# neighbour of another. A `where` between parts of a tensor, as `roll` and `pad`
# generate it, is resolved at compile time if the thread's rows decide it; a `where`
# between two loads becomes one load of a selected address.


class Walk(NamedTuple):
    """An address: strides by axis, plus `rows` rows and `ahead` elements."""

    strides: tuple[int, ...]
    rows: int
    ahead: int


class Number(NamedTuple):
    """A constant: of the kernel's structure, or of the user in slot `slot`."""

    value: int
    slot: int


class Truth(NamedTuple):
    """A condition that is known at compile time."""

    holds: bool


class Ramp(NamedTuple):
    """The value of an address itself."""

    walk: Walk


class Load(NamedTuple):
    """An element at an address; a move is (condition, shift if true, shift if not)."""

    slot: int
    walk: Walk
    moves: tuple[tuple[int, int, int], ...]


class Gather(NamedTuple):
    """An element at a computed address."""

    slot: int
    position: int


class Operation(NamedTuple):
    """An operation: its WGSL format and its operands."""

    form: str
    args: tuple[int, ...]


Value = Number | Truth | Ramp | Load | Gather | Operation


def conditions(expression: Expression) -> dict[int, frozenset[int]]:
    """Return the tests that decide each `where` step, by index of the step.

    The condition of a nested `where` repeats the tests of the outer one. They are
    omitted: if they fail, the value is not used, since all its loads are guarded by
    them.
    """
    steps = expression.steps
    atoms: dict[int, frozenset[int]] = {}
    needs: list[frozenset[int]] = []
    found: dict[int, frozenset[int]] = {}
    none: frozenset[int] = frozenset()
    for number, step in enumerate(steps):
        atoms[number] = frozenset({number})
        if step.name == "logical_and":
            atoms[number] = atoms[step.args[0]] | atoms[step.args[1]]
        if step.name == "where":
            _, value, other = step.args
            needed = needs[value] & needs[other]
            found[number] = atoms[step.args[0]] - needed
            needs.append(needed)
        else:
            own = atoms[step.guard] if step.guard >= 0 else none
            needs.append(own.union(*(needs[arg] for arg in step.args)))
    return found


class Neighbours:
    """The values of all rows of a thread.

    Attributes:
        values: each distinct value once, after its operands.
        results: indices into `values` of the expression's results, by row.
    """

    def __init__(self, expression: Expression, rows: int) -> None:
        """Find the values of `rows` rows along the second to last axis."""
        self.expression = expression
        (self.sizes,) = expression.groups
        self.axis = len(self.sizes) - 2
        self.rows = rows
        self.values: list[Value] = []
        self._numbers: dict[Value, int] = {}
        self._found: dict[tuple[int, int], int] = {}
        self._conditions = conditions(expression)
        self.results = [
            [self._value(step, row) for step in expression.results]
            for row in range(rows)
        ]

    def needed(self) -> list[int]:
        """Return the sorted indices of the values that the results depend on."""
        found = {number for row in self.results for number in row}
        for number in range(len(self.values) - 1, -1, -1):
            if number in found:
                found.update(reads(self.values[number]))
        return sorted(found)

    def _add(self, value: Value) -> int:
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number

    def _value(self, number: int, row: int) -> int:
        key = (number, row)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._new(number, row)
        return found

    def _new(self, number: int, row: int) -> int:
        step = self.expression.steps[number]
        if step.kind == "scalar":
            return self._add(Number(int(step.name or 0), step.slot))
        if step.kind == "ramp":
            return self._add(Ramp(self._walk(step, row)))
        if step.kind == "load":
            return self._add(Load(step.slot, self._walk(step, row), ()))
        if step.name == "where":
            tests = [
                self._value(each, row) for each in sorted(self._conditions[number])
            ]
            value, other = (self._value(arg, row) for arg in step.args[1:])
            return self._choice((self._all(tests), value, other), step)
        args = tuple(self._value(arg, row) for arg in step.args)
        if step.kind == "gather":
            return self._add(Gather(step.slot, args[0]))
        if step.name == "logical_and":
            return self._all(args)
        if step.name == "less":
            decided = self._decide(*args)
            if decided is not None:
                return self._add(Truth(decided))
        return self._add(Operation(form_of(step, self.expression), args))

    def _walk(self, step: Step, row: int) -> Walk:
        """Return the address of a row's load or ramp."""
        access: Access = self.expression.accesses[step.access]
        (strides,) = access.strides
        stride = strides[self.axis]
        if stride == 0:
            return Walk(strides, 0, access.offset)
        rows = round(access.offset / stride)
        if abs(rows) > policy.FARTHEST_NEIGHBOUR:
            rows = 0
        return Walk(strides, rows + row, access.offset - rows * stride)

    def _address(self, walk: Walk) -> int:
        return walk.rows * walk.strides[self.axis] + walk.ahead

    def _all(self, tests: Iterable[int]) -> int:
        """Return the conjunction of tests."""
        left: list[int] = []
        for test in tests:
            value = self.values[test]
            if not isinstance(value, Truth):
                left.append(test)
            elif not value.holds:
                return test
        if not left:
            return self._add(Truth(True))
        whole = left[0]
        for test in left[1:]:
            whole = self._add(Operation("({0} & {1})", (whole, test)))
        return whole

    def _decide(self, left: int, right: int) -> bool | None:
        """Return whether an address is below a limit, None if that varies."""
        position, limit = self._unsigned(left), self._unsigned(right)
        if not isinstance(position, Ramp) or not isinstance(limit, Number):
            return None
        if limit.slot >= 0:
            return None
        low = high = self._address(position.walk)
        for axis, (size, stride) in enumerate(
            zip(self.sizes, position.walk.strides, strict=True)
        ):
            last = size - (self.rows if axis == self.axis else 1)
            low += min(last * stride, 0)
            high += max(last * stride, 0)
        if low >= 0 and high < limit.value:
            return True
        return False if high < 0 or low >= limit.value else None

    def _unsigned(self, number: int) -> Value | None:
        """Return the operand of a conversion to unsigned, None for other values."""
        value = self.values[number]
        if isinstance(value, Operation) and value.form == "u32({0})":
            return self.values[value.args[0]]
        return None

    def _choice(self, parts: tuple[int, int, int], step: Step) -> int:
        """Return a `where` step, as one load if both operands are loads."""
        test, value, other = parts
        decided = self.values[test]
        if isinstance(decided, Truth):
            return value if decided.holds else other
        merged = self._merge(test, value, other)
        if merged is not None:
            return merged
        return self._add(Operation(form_of(step, self.expression), parts))

    def _merge(self, test: int, value: int, other: int) -> int | None:
        """Return a `where` between loads, or equal operations on loads, as one value.

        None if the two differ.
        """
        if value == other:
            return value
        one, two = self.values[value], self.values[other]
        if isinstance(one, Load) and isinstance(two, Load):
            return self._load(test, one, two)
        if not isinstance(one, Operation) or not isinstance(two, Operation):
            return None
        if one.form != two.form or len(one.args) != len(two.args):
            return None
        args = []
        for pair in zip(one.args, two.args, strict=True):
            merged = self._merge(test, *pair)
            if merged is None:
                return None
            args.append(merged)
        return self._add(Operation(one.form, tuple(args)))

    def _load(self, test: int, one: Load, two: Load) -> int | None:
        """Return one load of the selected one of two elements of a tensor.

        The load whose address is moved is the same for all rows, so that rows share it.
        """
        is_alike = one.slot == two.slot and one.moves == two.moves
        if not is_alike or one.walk.strides != two.walk.strides:
            return None
        apart = self._address(two.walk) - self._address(one.walk)
        base, move = one, (test, 0, apart)
        if abs(two.walk.ahead) < abs(one.walk.ahead):
            base, move = two, (test, -apart, 0)
        return self._add(base._replace(moves=(*base.moves, move)))


def reads(value: Value) -> tuple[int, ...]:
    """Return the indices of the operands of a value."""
    match value:
        case Operation(args=args):
            return args
        case Gather(position=position):
            return (position,)
        case Load(moves=moves):
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
    walks = [
        (step.slot, value.accesses[step.access].strides)
        for step in value.steps
        if step.kind == "load" and value.accesses[step.access].strides[0][-2]
    ]
    return len(walks) > len(set(walks))


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
        self._coordinates()
        for number in self.neighbours.needed():
            self._write(number, self.neighbours.values[number])
        self._stores()
        return f"fn store(index: u32) {{\n{''.join(self._lines)}}}\n"

    def _line(self, name: str, text: str) -> str:
        self._lines.append(f"  let {name} = {text};\n")
        return name

    def _parameter(self, name: str, value: int) -> str:
        """Return the WGSL of a parameter with this value, shared by equal values."""
        key = (name, value)
        if key not in self._parameters:
            count = len(self._parameters)
            self._parameters[key] = self.builder.parameter(
                f"{name}{count}", "i32", value
            )
        return self._parameters[key]

    def _coordinates(self) -> None:
        """Add the lines of the thread's coordinates.

        `at2` is that of the third axis.
        """
        *outer, rows, columns = self.sizes
        width = self.builder.parameter("columns", "u32", columns)
        bands = self.builder.parameter("bands", "u32", -(-rows // policy.STENCIL_ROWS))
        axis = len(self.sizes) - 1
        self._line(f"at{axis}", f"i32(index % {width})")
        rest = self._line("above", f"index / {width}")
        band = rest
        if outer:
            band = self._line("band", f"{rest} % {bands}")
            rest = self._line(f"above{axis - 1}", f"{rest} / {bands}")
        first = f"i32({band}) * {policy.STENCIL_ROWS}"
        if rows % policy.STENCIL_ROWS:
            last = self._parameter("last_row", rows - policy.STENCIL_ROWS)
            own = self._line("own_row", first)
            first = f"min({own}, {last})"
        self._line(f"at{axis - 1}", first)
        for number in range(axis - 2, -1, -1):
            if number == 0:
                self._line("at0", f"i32({rest})")
                continue
            size = self.builder.parameter(f"size{number}", "u32", self.sizes[number])
            self._line(f"at{number}", f"i32({rest} % {size})")
            rest = self._line(f"above{number}", f"{rest} / {size}")

    def _position(self, name: str, walk: Walk) -> str:
        """Return the WGSL of an address; `name` identifies the tensor with its strides.

        Addresses of one tensor share their common terms.
        """
        key = (name, walk.strides, walk.rows)
        if key not in self._bases:
            terms = []
            for axis, stride in enumerate(walk.strides):
                at = f"at{axis}"
                if axis == len(walk.strides) - 2 and walk.rows:
                    at = f"({at} + {walk.rows})"
                if stride == 1:
                    terms.append(at)
                elif stride:
                    factor = self._parameter(f"{name}stride{axis}_", stride)
                    terms.append(f"{at} * {factor}")
            text = " + ".join(terms) or "0"
            self._bases[key] = self._line(f"base{len(self._bases)}", text)
        base = self._bases[key]
        if not walk.ahead:
            return base
        if abs(walk.ahead) <= policy.FARTHEST_NEIGHBOUR:
            return f"{base} + {walk.ahead}"
        return f"{base} + {self._parameter('ahead', walk.ahead)}"

    def _write(self, number: int, value: Value) -> None:
        """Add a value's line, or record its text if it needs no line."""
        texts = self._texts
        match value:
            case Truth(holds):
                texts[number] = str(holds).lower()
                return
            case Number(given, slot):
                is_own = slot < 0
                texts[number] = (
                    self._parameter("number", given)
                    if is_own
                    else self.builder.scalar(slot)
                )
                return
            case Ramp(walk):
                text = self._position("", walk)
            case Load(slot, walk, moves):
                text = self._position(f"input{slot}_", walk)
                for test, first, second in moves:
                    move = self._move(test, first, second)
                    text = f"{text} + {move}"
                text = self._element(slot, text)
            case Gather(slot, position):
                text = self._element(slot, texts[position])
            case Operation(form, args):
                text = form.format(*(texts[each] for each in args))
        texts[number] = self._line(f"v{number}", text)

    def _move(self, test: int, first: int, second: int) -> str:
        """Return the shift of an address selected by a test, shared by equal shifts."""
        key = (f"move {self._texts[test]} {first}", second)
        if key not in self._parameters:
            numbers = [
                self._parameter("number", each) if each else "0"
                for each in (second, first)
            ]
            name = f"move{len(self._parameters)}"
            text = f"select({', '.join(numbers)}, {self._texts[test]})"
            self._parameters[key] = self._line(name, text)
        return self._parameters[key]

    def _element(self, slot: int, position: str) -> str:
        return read_element(slot, position, self.kernel.input_dtypes[slot])

    def _stores(self) -> None:
        """Add the stores of all rows; a row of two threads is stored by one of them."""
        rows = self.sizes[-2]
        strides = [prod(self.sizes[axis + 1 :]) for axis in range(len(self.sizes))]
        for row, results in enumerate(self.neighbours.results):
            at = self._position("result_", Walk(tuple(strides), row, 0))
            lines = [
                f"result{number}[{at}] = {to_storage(self._texts[each], dtype)};"
                for number, (each, dtype) in enumerate(
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
