"""Programs that finish whole rows: reductions inside a kernel, values in registers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tensorweb.codegen.bulk import bulk
from tensorweb.codegen.expression import (
    VALUE_TYPES,
    Declarations,
    addresses,
    coordinates,
    kind_of,
    loaded,
    steps_text,
    storage_type,
    stored,
)
from tensorweb.codegen.identities import identity_bits
from tensorweb.codegen.launches import input_storages, launch, vector_inputs
from tensorweb.codegen.program import OUTPUT, Program
from tensorweb.codegen.target import Target
from tensorweb.codegen.vector import COMPONENTS, WIDTH, each_of_four, in_vectors
from tensorweb.ops import OPS
from tensorweb.schedule.kernel import Expression, Kernel, Step

LEAST_THREADS = 32
MOST_THREADS = 256

STEPS_OF_THREAD = 4
"""Elements or vectors of a thread, as long as there are threads enough."""

MOST_STATEMENTS = 2560
"""What the elements of a thread may come to, each written out, before they are looped:
more than elsewhere, since a loop may cost the registers that hold a row."""

MEETING = 16
"""Totals that one thread combines when threads meet."""

FOLDS = {("max", "float"): "largest_f32", ("min", "float"): "smallest_f32"}
"""Functions that combine a total with four elements faster than one by one."""


class _Rows:
    """Writes the launch of one kernel of rows."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.rows, self.columns = kernel.sizes
        self.ops = kernel.op.split(",")
        self.expressions = [expression for _, expression in kernel.expressions]
        whole = self.expressions[-1]
        self.vectors = vector_inputs([whole])
        self.width = WIDTH if self.vectors else 1
        self.space = in_vectors(whole) if self.vectors else whole
        self.steps = self.columns // self.width
        self.varying = self._varying()
        self._choose_threads(STEPS_OF_THREAD)
        copies = self.each * self.width
        self.is_bulky = bulk(self.space, self.varying) * copies > MOST_STATEMENTS
        if self.is_bulky:
            self._choose_threads(1)
        self.is_looped = self.is_bulky and self.each > 1
        self.is_ragged = self.each * self.threads != self.steps
        self.kept: set[int] = set()
        self.declarations = Declarations(kernel.scalar_dtypes)

    def _choose_threads(self, steps: int) -> None:
        """Give each thread so many elements or vectors, more where threads run out."""
        threads = 1 << max(-(-self.steps // steps) - 1, 0).bit_length()
        self.threads = min(max(threads, LEAST_THREADS), MOST_THREADS)
        self.each = -(-self.steps // self.threads)

    def _varying(self) -> set[int]:
        """Return the steps whose value changes along a row."""
        found: set[int] = set()
        for number, step in enumerate(self.space.steps):
            moves = step.kind == "load" and any(
                self.space.accesses[step.access].strides[-1]
            )
            if moves or any(arg in found for arg in step.args):
                found.add(number)
        return found

    def _needed(self, result: int) -> list[int]:
        """Return the steps that a result is computed from, in order.

        Results of earlier stages are in registers; nothing below them is needed.
        """
        needed = {result}
        for number in range(result, -1, -1):
            if number in needed and number not in self.kept:
                needed.update(self.space.steps[number].args)
        return sorted(needed)

    def _load(self, number: int, step: Step) -> str:
        """Return the function that reads one load of a row."""
        one = replace(self.space, accesses=(self.space.accesses[step.access],))
        name = f"load{number}"
        lines = coordinates(self.declarations, name, ("row", "column"), one)
        lines += addresses(self.declarations, name, ("row", "column"), one)
        dtype = self.kernel.input_dtypes[step.slot]
        place = f"input{step.slot}[address0]"
        value = VALUE_TYPES[dtype]
        if number in self.varying and self.width > 1:
            parts = ", ".join(loaded(f"quad.{c}", dtype) for c in COMPONENTS)
            lines.append(f"  let quad = {place};\n  return vec4<{value}>({parts});\n")
            value = f"vec4<{value}>"
        else:
            lines.append(f"  return {loaded(place, dtype)};\n")
        return f"fn {name}(row: u32, column: u32) -> {value} {{\n{''.join(lines)}}}\n"

    def _arguments(self, result: int) -> list[int]:
        """Return the steps that an element's function takes: loads and row values."""
        needed = self._needed(result)
        taken = []
        for number in needed:
            step = self.space.steps[number]
            is_load = number in self.varying and step.kind == "load"
            is_load = is_load or number in self.kept
            is_row_value = number not in self.varying and any(
                number in self.space.steps[user].args and user in self.varying
                for user in needed
            )
            is_row_value = is_row_value or (
                number == result and number not in self.varying
            )
            if is_load or (is_row_value and step.kind != "scalar"):
                taken.append(number)
        return taken

    def _element(self, name: str, result: int, type_name: str, form: str) -> str:
        """Return the function of one element of a stage or of the finished row."""
        taken = self._arguments(result)
        listed = ", ".join(
            f"v{n}: {VALUE_TYPES[self.space.steps[n].dtype]}" for n in taken
        )
        keep = self._needed(result)
        given = {number: f"v{number}" for number in range(len(self.space.steps))}
        for number in keep:
            step = self.space.steps[number]
            is_inner = number in self.varying and step.kind != "load"
            is_inner = is_inner and number not in self.kept
            if is_inner or step.kind == "scalar":
                del given[number]
        body, values = steps_text(
            self.space, self.declarations, self.kernel.input_dtypes, "core", given
        )
        return (
            f"fn {name}({listed}) -> {type_name} {{\n{body}"
            f"  return {form.format(values[result])};\n}}\n"
        )

    def _row_value(self, number: int) -> str:
        """Return the WGSL of a value that is the same along a row."""
        step = self.space.steps[number]
        if step.kind == "load":
            return f"load{number}(row, 0u)"
        given = {n: f"v{n}" for n in range(len(self.space.steps)) if n != number}
        for n, other in enumerate(self.space.steps):
            if other.kind == "scalar":
                given.pop(n, None)
        lines, values = steps_text(
            self.space, self.declarations, self.kernel.input_dtypes, "core", given
        )
        if step.kind in ("core", "scalar"):
            return values[number]
        return lines.split(" = ", 1)[1].rsplit(";", 1)[0]

    def _every(self, lines: Callable[[str], str]) -> str:
        """Return lines of main for every turn of a thread; a loop's turn is `j`."""
        if not self.is_looped:
            return "".join(lines(f"{turn}") for turn in range(self.each))
        return (
            f"  for (var j = 0u; j < {self.each}u; j++) {{\n"
            f"  let columnj = lane + j * {self.threads}u;\n{lines('j')}  }}\n"
        )

    def _at(self, number: int, turn: str) -> str:
        """Return the register of a step's value in a turn."""
        return f"v{number}[j]" if self.is_looped else f"v{number}_{turn}"

    def _keep(self, number: int, turn: str, value: str) -> str:
        """Return the line that keeps a step's value of a turn."""
        is_new = "" if self.is_looped else "let "
        return f"  {is_new}{self._at(number, turn)} = {value};\n"

    def _registers(self, number: int) -> str:
        """Return the declaration of a step's values in a loop."""
        if not self.is_looped:
            return ""
        value = VALUE_TYPES[self.space.steps[number].dtype]
        value = f"vec4<{value}>" if self.width > 1 else value
        return f"  var v{number}: array<{value}, {self.each}>;\n"

    def _calls(
        self, name: str, result: int, turn: str, type_name: str
    ) -> tuple[str, list[str]]:
        """Return lines that compute a step's elements, and the elements."""
        place = "[i]" if self.width > 1 else ""
        arguments = [
            f"{self._at(n, turn)}{place}" if n in self.varying else f"v{n}"
            for n in self._arguments(result)
        ]
        call = f"{name}({', '.join(arguments)})"
        if self.width == 1:
            return "", [call]
        return each_of_four(call, type_name, self.is_bulky, f"{name}_{turn}")

    def _components(self) -> list[str]:
        return [f".{c}" for c in COMPONENTS] if self.width > 1 else [""]

    def _stage(self, place: int, expression: Expression, done: set[int]) -> str:
        """Return the lines of main that reduce the row once."""
        text = self._row_values(expression.result, done)
        text += f"  var total{place} = parameters.identity{place};\n"
        result = expression.result
        is_new = result in self.varying and result not in self.kept
        is_new = is_new and self.space.steps[result].kind != "load"
        value = VALUE_TYPES[expression.dtype]

        def turn_of(turn: str) -> str:
            lines, values = self._calls(f"stage{place}", result, turn, value)
            if is_new:
                whole = f"vec4<{value}>({', '.join(values)})"
                one = whole if self.width > 1 else values[0]
                lines += self._keep(result, turn, one)
                values = [f"{self._at(result, turn)}{c}" for c in self._components()]
            return lines + self._inside(turn, self._fold(place, expression, values))

        text += self._registers(result) if is_new else ""
        text += self._every(turn_of)
        if is_new:
            self.kept.add(result)
        return text + f"  let core{place} = reduce{place}(lane, total{place});\n"

    def _fold(self, place: int, expression: Expression, values: list[str]) -> str:
        """Return the lines that combine elements with a thread's running total."""
        whole = FOLDS.get((self.ops[place], kind_of(expression.dtype)))
        if whole and len(values) == WIDTH:
            joined = f"vec4<f32>({', '.join(values)})"
            return f"  total{place} = {whole}(total{place}, {joined});\n"
        return "".join(
            f"  total{place} = combine{place}(total{place}, {value});\n"
            for value in values
        )

    def _is_edge(self, turn: str) -> bool:
        """Whether a turn may be beyond the row's end."""
        return self.is_ragged and (turn == "j" or int(turn) == self.each - 1)

    def _inside(self, turn: str, lines: str) -> str:
        if not self._is_edge(turn):
            return lines
        return f"  if (column{turn} < {self._limit}) {{\n{lines}  }}\n"

    def _row_values(self, result: int, done: set[int]) -> str:
        """Return the lines of main that compute what a stage needs once per row."""
        text = ""
        for number in self._needed(result):
            step = self.space.steps[number]
            if number in self.varying or number in done or step.kind == "scalar":
                continue
            done.add(number)
            text += f"  let v{number} = {self._row_value(number)};\n"
        return text

    def _loads(self) -> str:
        """Return the lines of main that read the row into registers."""
        loads = [n for n in sorted(self.varying) if self.space.steps[n].kind == "load"]

        def turn_of(turn: str) -> str:
            column = f"column{turn}"
            if self._is_edge(turn):
                column = f"min({column}, {self._limit} - 1u)"
            return "".join(
                self._keep(n, turn, f"load{n}(row, {column})") for n in loads
            )

        text = "".join(self._registers(n) for n in loads)
        if not self.is_looped:
            for j in range(self.each):
                text += f"  let column{j} = lane + {j * self.threads}u;\n"
        return text + self._every(turn_of)

    def _finish(self, done: set[int]) -> str:
        """Return the lines of main that store the finished row."""
        finish = self.expressions[-1].result
        text = self._row_values(finish, done)
        element = storage_type(self.kernel.dtype)

        def turn_of(turn: str) -> str:
            lines, parts = self._calls("finish", finish, turn, element)
            value = (
                f"vec4<{element}>({', '.join(parts)})" if self.width > 1 else parts[0]
            )
            lines += f"  result[row * {self._limit} + column{turn}] = {value};\n"
            return self._inside(turn, lines)

        return text + self._every(turn_of)

    def _stage_functions(self, place: int, expression: Expression) -> str:
        """Return the functions of one stage and the parameter of its identity."""
        dtype = expression.dtype
        value = VALUE_TYPES[dtype]
        op = OPS[self.ops[place]]
        form = op.form(dtype, kind_of(dtype))
        self.declarations.parameter(f"identity{place}", value, identity_bits(op, dtype))
        return (
            self._element(f"stage{place}", expression.result, value, "{0}")
            + f"fn combine{place}(a: {value}, b: {value}) -> {value} {{\n"
            f"  return {form.format('a', 'b')};\n}}\n" + self._meeting(place, value)
        )

    def _meeting(self, place: int, value: str) -> str:
        """Return the function that combines the totals of all threads.

        They meet twice, in few large groups: a barrier costs more than some additions.
        """
        totals = f"totals{place}"
        first = self.threads // MEETING
        near = _tree(
            f"combine{place}",
            [f"{totals}[lane + {i * first}u]" for i in range(MEETING)],
        )
        all_ = _tree(f"combine{place}", [f"{totals}[{i}]" for i in range(first)])
        return (
            f"fn reduce{place}(lane: u32, own: {value}) -> {value} {{\n"
            f"  {totals}[lane] = own;\n  workgroupBarrier();\n"
            f"  if (lane < {first}u) {{\n    {totals}[lane] = {near};\n  }}\n"
            f"  workgroupBarrier();\n  return {all_};\n}}\n"
        )

    def program(self) -> Program:
        """Return the one launch."""
        kernel = self.kernel
        self.declarations.parameter("rows", "u32", self.rows)
        self._limit = self.declarations.parameter("columns", "u32", self.steps)
        text = "".join(
            self._load(number, step)
            for number, step in enumerate(self.space.steps)
            if step.kind == "load"
        )
        body = self._loads()
        done: set[int] = set()
        for place, expression in enumerate(self.expressions[:-1]):
            text += self._stage_functions(place, expression)
            body += self._stage(place, expression, done)
        element = storage_type(kernel.dtype)
        text += self._element(
            "finish",
            self.expressions[-1].result,
            element,
            stored("{0}", kernel.dtype),
        )
        shape = f"const THREADS: u32 = {self.threads}u;\n" + "".join(
            f"var<workgroup> totals{place}: "
            f"array<{VALUE_TYPES[expression.dtype]}, THREADS>;\n"
            for place, expression in enumerate(self.expressions[:-1])
        )
        body += self._finish(done)
        storages, slots = input_storages(kernel, [self.space], self.vectors)
        result = f"vec4<{element}>" if self.width > 1 else element
        storages.append(("result", "w", result))
        return Program(
            (
                launch(
                    "rows",
                    self.declarations,
                    storages,
                    (*slots, OUTPUT),
                    text,
                    self.rows,
                    shape=shape,
                    body=body,
                ),
            )
        )


def _tree(combine: str, items: list[str]) -> str:
    """Return the items combined in pairs, and the pairs in pairs, and so on."""
    while len(items) > 1:
        items = [
            f"{combine}({a}, {b})" for a, b in zip(*[iter(items)] * 2, strict=True)
        ]
    return items[0]


def rows(kernel: Kernel, _: Target) -> Program:
    """Return the program of a kernel of rows."""
    return _Rows(kernel).program()
