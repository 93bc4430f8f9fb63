"""Evaluate at code generation what a shader's constants decide.

GPUs cannot index registers, and an untaken branch costs compile time. A template may
therefore request one of three transformations, in a comment line that leaves it valid
WGSL:

- `// unroll` above a `for`: repeat its body for each value of its variable; `// unroll
  if CONDITION` does so only if the condition holds.
- `// choose` above an `if`: keep only the branch that is taken. If constants do not
  decide, the `if` remains with the undecided part of its condition.
- `// registers` above an array of a function: replace each element by a variable, or by
  a constant if it is assigned once and not inside a block.

Bounds, conditions and subscripts consist of numbers and of the constants that the text
declares in lines like `const ROWS: u32 = 64u;`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product

_CONSTANT = re.compile(r"^const (\w+): \w+ = (\d+|true|false)u?;$", re.MULTILINE)
_MARK = re.compile(r"^ *// (?:unroll|choose|registers)\b", re.MULTILINE)
_LOOP_MARK = re.compile(r"^ *// (?:unroll|registers)\b.*\n", re.MULTILINE)
_FOR = re.compile(
    r" *for \(var (\w+) = ([^;]+); \1 < ([^;]+); \1(?:(\+\+)| ([+*])= ([^)]+))\) \{\n"
)
_IF = re.compile(r"( *)if \((.+)\) \{\n")
_UNDECIDED = re.compile(r"^ *// choose\n( *if \()(.+)(\) \{\n)", re.MULTILINE)
_ARRAY = re.compile(r"( *)var (\w+): (?:array<)+(.+?)((?:, \w+>)+);\n")
_CHANGED = re.compile(r"^( *\w+)(?:[.\[]\S*)? \S?= ", re.MULTILINE)
_ASSIGNED = re.compile(r"^( *\w+) = ", re.MULTILINE)
_NAME = re.compile(r"\b[A-Za-z_][\w.]*")
_NUMBERS = re.compile(r"[\d\s()+*/%<>=!&|-]+")


def apply_marks(text: str) -> str:
    """Return a shader with all requested transformations applied.

    >>> print(apply_marks('''const ROWS: u32 = 2u;
    ... // registers
    ... var squares: array<f32, ROWS>;
    ... // unroll
    ... for (var i = 0u; i < ROWS; i++) {
    ...   squares[i] = f32(i * i);
    ... }
    ... '''), end="")
    const ROWS: u32 = 2u;
    let squares_0 = f32(0u * 0u);
    let squares_1 = f32(1u * 1u);
    """
    mark = _MARK.search(text)
    if mark is None:
        return text
    constants = tuple(_CONSTANT.findall(text))
    return text[: mark.start()] + _apply_marks(text[mark.start() :], constants)


@lru_cache(maxsize=64)
def _apply_marks(text: str, constants: tuple[tuple[str, str], ...]) -> str:
    """Return the part of a shader from its first mark on, transformed."""
    numbers = {"true": "1", "false": "0"}
    values = {name: numbers.get(value, value) for name, value in constants}
    resolver = _MarkResolver(values)
    lines = resolver.without_arrays(text.splitlines(keepends=True))
    text = "".join(resolver.lines(lines))
    if "// choose" in text:
        text = _UNDECIDED.sub(
            lambda m: f"{m[1]}{resolver.undecided_part(m[2])}{m[3]}", text
        )
    assert "// unroll" not in text, f"internal: bounds are no constants in {text}"
    return resolver.with_constants(text)


def without_unrolling(text: str) -> str:
    r"""Return text without the marks that request unrolled loops.

    >>> without_unrolling("// unroll\nfor (var i = 0u; i < 2u; i++) {\n}\n")
    'for (var i = 0u; i < 2u; i++) {\n}\n'
    """
    return _LOOP_MARK.sub("", text)


def unroll(text: str) -> str:
    """Return text with those marked loops unrolled whose bounds are numbers.

    >>> lines = ["// unroll", "for (var i = 0u; i < 2u; i++) {", "  a[i] = i;", "}", ""]
    >>> unroll(chr(10).join(lines)).split(chr(10))
    ['a[0u] = 0u;', 'a[1u] = 1u;', '']
    """
    if "// unroll" not in text:
        return text
    return "".join(_MarkResolver({}).lines(text.splitlines(keepends=True)))


def constant(text: str, constants: Mapping[str, str]) -> int | None:
    """Return the value of an expression of constants; None if it has other names.

    >>> constant("2u * ROWS - 1u", {"ROWS": "4"}), constant("row + 1u", {})
    (7, None)
    """
    return _value(
        _NAME.sub(lambda name: constants.get(name.group(), name.group()), text)
    )


@lru_cache(maxsize=4096)
def _value(text: str) -> int | None:
    text = re.sub(r"\b(\d+)u\b", r"\1", text)
    if not _NUMBERS.fullmatch(text):
        return None
    text = text.replace("/", "//").replace("||", " or ").replace("&&", " and ")
    return int(eval(text.strip(), {}))  # nothing but numbers and operators


class _MarkResolver:
    """Resolve marks of lines by the values of constants."""

    def __init__(self, constants: Mapping[str, str]) -> None:
        self.constants = constants
        self.dimensions: dict[str, int] = {}
        self._declared: dict[str, str] = {}
        self._subscripted: re.Pattern[str] | None = None
        self._variables: dict[str, str] = {}

    def without_arrays(self, lines: list[str]) -> list[str]:
        """Return lines with a variable for each element of the marked arrays."""
        result: list[str] = []
        at = 0
        while at < len(lines):
            if lines[at].strip() != "// registers":
                result.append(lines[at])
                at += 1
                continue
            match = _ARRAY.fullmatch(lines[at + 1])
            assert match, f"internal: registers must be an array, {lines[at + 1]!r}"
            indent, name, element, listed = match.groups()
            sizes = [self._number(size) for size in re.findall(r"\w+", listed)]
            for index in product(*map(range, reversed(sizes))):
                variable = "_".join([name, *map(str, index)])
                declaration = f"{indent}var {variable}: {element};\n"
                self._declared[f"{indent}{variable}"] = declaration
                result.append(declaration)
            self.dimensions[name] = len(sizes)
            at += 2
        if self.dimensions:
            names = "|".join(self.dimensions)
            self._subscripted = re.compile(rf"\b({names})((?:\[[^\[\]]*\])+)")
        return result

    def with_constants(self, text: str) -> str:
        """Return text in which variables that are assigned once are constants."""
        assignments = Counter(_CHANGED.findall(text))
        names = Counter(name.strip() for name in assignments.elements())
        once = {
            name: declaration
            for name, declaration in self._declared.items()
            if assignments[name] == 1 and names[name.strip()] == 1
        }
        if not once:
            return text
        dropped = set(once.values())
        lines = (line for line in text.splitlines(keepends=True) if line not in dropped)

        def declare(match: re.Match[str]) -> str:
            assignment = match.group()
            is_constant = match.group(1) in once
            return (
                re.sub(r"^( *)", r"\1let ", assignment) if is_constant else assignment
            )

        return _ASSIGNED.sub(declare, "".join(lines))

    def replace_registers(self, text: str) -> str:
        """Return text with register subscripts replaced by variables where constant."""
        if self._subscripted is None or "[" not in text:
            return text
        return self._subscripted.sub(self._variable, text)

    def _variable(self, match: re.Match[str]) -> str:
        text = match.group()
        if text not in self._variables:
            self._variables[text] = self._variable_of(text, *match.groups())
        return self._variables[text]

    def _variable_of(self, text: str, name: str, subscripts: str) -> str:
        """Return the variable of a subscript, or the text if it is not constant."""
        texts = subscripts[1:-1].split("][")
        index = [constant(subscript, self.constants) for subscript in texts]
        count = self.dimensions[name]
        if None in index[:count] or len(index) < count:
            return text
        pairs = zip(texts[count:], index[count:], strict=True)
        components = "".join(f"[{t if n is None else f'{n}u'}]" for t, n in pairs)
        return "_".join([name, *map(str, index[:count])]) + components

    def lines(self, lines: list[str]) -> list[str]:
        """Return lines with loops and choices resolved where constants decide them."""
        result: list[str] = []
        at = 0
        while at < len(lines):
            mark = lines[at].strip()
            resolved = None
            if mark.startswith("// unroll"):
                resolved = self._loop(mark, lines, at + 1)
            elif mark == "// choose":
                resolved = self._choice(lines, at + 1)
            if resolved is None:
                result.append(self.replace_registers(lines[at]))
                at += 1
            else:
                new_lines, at = resolved
                result += new_lines
        return result

    def _loop(
        self, mark: str, lines: list[str], at: int
    ) -> tuple[list[str], int] | None:
        """Return a loop's iterations and the line after it; None if it is undecided."""
        end = _closing_line(lines, at)
        if " if " in mark:
            is_unrolled = constant(mark.split(" if ", 1)[1], self.constants)
            if not is_unrolled:
                return None if is_unrolled is None else ([], at)
        match = _FOR.fullmatch(lines[at])
        assert match, f"internal: no loop to unroll, {lines[at]!r}"
        name, *bounds = match.groups()
        values = self._values(*bounds)
        if values is None:
            return None
        body = _block(lines[at], "".join(self.lines(lines[at + 1 : end])))
        pieces = re.split(rf"\b{name}\b", body)
        iterations = [f"{value}u".join(pieces) for value in values]
        if re.search(r"// (?:unroll|choose)", body):
            return self.lines("".join(iterations).splitlines(keepends=True)), end + 1
        if self._subscripted and self._subscripted.search(body):
            iterations = [self.replace_registers(text) for text in iterations]
        return iterations, end + 1

    def _values(
        self, first: str, end: str, one: str | None, operator: str, step: str
    ) -> list[int] | None:
        """Return the values of a loop's variable; None if its bounds are unknown."""
        bounds = [constant(text, self.constants) for text in (first, end)]
        by = 1 if one else constant(step, self.constants)
        if None in bounds or by is None:
            return None
        return list(_iterate(self._number(first), self._number(end), operator, by))

    def _choice(self, lines: list[str], at: int) -> tuple[list[str], int] | None:
        """Return the branch that is taken and the line after it; None if undecided."""
        match = _IF.fullmatch(lines[at])
        assert match, f"internal: no if to choose from, {lines[at]!r}"
        indent, condition = match.groups()
        end = _closing_line(lines, at)
        other, after = end, end + 1
        if lines[end].strip() == "} else {":
            after = _closing_line(lines, end) + 1
        is_taken = constant(self.undecided_part(condition), self.constants)
        if is_taken is None:
            return None
        branch = lines[at + 1 : other] if is_taken else lines[other + 1 : after - 1]
        return [_block(indent, "".join(self.lines(branch)))], after

    def undecided_part(self, condition: str) -> str:
        """Return the undecided part of a disjunction or a conjunction."""
        operator = " || " if " || " in condition else " && "
        parts = condition.split(operator)
        values = [constant(part, self.constants) for part in parts]
        for value in values:
            if value is not None and bool(value) is (operator == " || "):
                return f"{value}"
        undecided = [p for p, value in zip(parts, values, strict=True) if value is None]
        return operator.join(undecided) or f"{values[0]}"

    def _number(self, text: str) -> int:
        value = constant(text, self.constants)
        assert value is not None, f"internal: {text} is no constant of the shader"
        return value


def _iterate(first: int, end: int, operator: str, by: int) -> Iterator[int]:
    """Yield the values of a loop's variable."""
    while first < end:
        yield first
        first = first * by if operator == "*" else first + by


def _closing_line(lines: list[str], at: int) -> int:
    """Return the index of the line that closes a block, by its indentation."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    start = " " * indent + "}"
    return next(n for n in range(at + 1, len(lines)) if lines[n].startswith(start))


def _block(head: str, body: str) -> str:
    """Return lines that run once, in braces if they declare something."""
    indent = head[: len(head) - len(head.lstrip())]
    if f"\n{indent}  let " in f"\n{body}" or f"\n{indent}  var " in f"\n{body}":
        return f"{indent}{{\n{body}{indent}}}\n"
    return "".join(line[2:] for line in body.splitlines(keepends=True))
