"""Read the shader templates, fill their slots, evaluate what constants decide.

A template is valid WGSL as committed. A slot is a run of lines between `// slot NAME`
and `// end NAME`; filling it replaces those lines. Lines between `// repeat NAME` and
`// end NAME`, with the slots inside, are repeated once per set of slots.
Then what the constants of the filled text decide is evaluated.

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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from types import MappingProxyType

_CONSTANT = re.compile(r"^const (\w+): \w+ = (\d+|true|false)u?;$", re.MULTILINE)
_CONDITION_MARK = re.compile(r"^ *// (?:unroll|choose|registers)\b", re.MULTILINE)
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
    mark = _CONDITION_MARK.search(text)
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


_PACKAGE = Path(__file__).resolve().parent.parent
_FOLDERS = (_PACKAGE / "shaders", _PACKAGE.parent / "shaders")


def shader_folder() -> Path:
    """Return the folder of shaders: in the wheel, or next to the package's source."""
    for folder in _FOLDERS:
        if folder.is_dir():
            return folder
    raise AssertionError("internal: the package carries no shaders")


@cache
def template_names() -> tuple[str, ...]:
    """Return the names of all templates.

    >>> "reduce" in template_names()
    True
    """
    return tuple(sorted(path.stem for path in shader_folder().glob("*.wgsl")))


@dataclass(frozen=True, slots=True)
class _Slot:
    """A slot, which is replaced by lines."""

    name: str


@dataclass(frozen=True, slots=True)
class _Repeat:
    """Repeated lines; names that end in _0 get the index of the repetition."""

    name: str
    parts: tuple[str | _Slot, ...]


_MARK = re.compile(r"^ *// (slot|repeat) (\w+)[^\n]*\n(.*?)^ *// end \2\n", re.M | re.S)


def _split_slots(text: str) -> tuple[str | _Slot | _Repeat, ...]:
    """Return a template split at its slots and repeated parts."""
    parts: list[str | _Slot | _Repeat] = []
    end = 0
    for match in _MARK.finditer(text):
        kind, name, inside = match.groups()
        parts.append(text[end : match.start()])
        if kind == "slot":
            parts.append(_Slot(name))
        else:
            inner = tuple(
                part for part in _split_slots(inside) if not isinstance(part, _Repeat)
            )
            parts.append(_Repeat(name, inner))
        end = match.end()
    return (*parts, text[end:])


@cache
def _parts(name: str, retains_loops: bool) -> tuple[str | _Slot | _Repeat, ...]:
    """Return a template's parts, with loops that need no slot unrolled or retained."""
    text = (shader_folder() / f"{name}.wgsl").read_text(encoding="utf-8")
    return _split_slots(without_unrolling(text) if retains_loops else unroll(text))


_retains_loops = ContextVar("retains_loops", default=False)


@contextmanager
def retain_loops(retains_loops: bool) -> Iterator[None]:
    """Within the context, fill templates with loops retained or unrolled as marked."""
    token = _retains_loops.set(retains_loops)
    try:
        yield
    finally:
        _retains_loops.reset(token)


def are_loops_retained() -> bool:
    """Return whether loops are retained, because compilers are slow for longer text."""
    return _retains_loops.get()


def fill(
    name: str,
    slots: Mapping[str, str],
    repeats: Mapping[str, Sequence[Mapping[str, str]]] = MappingProxyType({}),
) -> str:
    """Return a template with every slot replaced by lines.

    Args:
        name: name of the template.
        slots: lines of each slot, by name.
        repeats: slots of each repetition, by name of the repeated part.
    """
    parts = _parts(name, _retains_loops.get())
    arguments = [*slots, *repeats]
    names = {part.name for part in parts if not isinstance(part, str)}
    if names != set(arguments):
        message = f"internal: {name}.wgsl has slots {names}, not {arguments}"
        raise AssertionError(message)
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
        elif isinstance(part, _Slot):
            text += slots[part.name]
        else:
            for index, entry in enumerate(repeats[part.name]):
                text += _repeat_lines(part, index, entry)
    return apply_marks(text)


@cache
def _alternatives(template: str) -> dict[str, str]:
    path = shader_folder() / "alternatives" / f"{template}.wgsl"
    return {
        name: lines
        for _, name, lines in _MARK.findall(path.read_text(encoding="utf-8"))
    }


def alternative(template: str, name: str) -> str:
    """Return lines for a slot of a template, from `shaders/alternatives/`."""
    return _alternatives(template)[name]


def _repeat_lines(repeat: _Repeat, index: int, slots: Mapping[str, str]) -> str:
    """Return one repetition of a repeated part."""
    return "".join(
        re.sub(r"_0\b", f"_{index}", part)
        if isinstance(part, str)
        else slots[part.name]
        for part in repeat.parts
    )


# The functions of `shaders/math/`: which of them a piece of WGSL calls.


_DEFINITION = re.compile(
    r"^(?:fn (\w+)\(.*?^\}\n|const (\w+)[^\n]*;\n)", re.MULTILINE | re.DOTALL
)
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


@cache
def _definitions(pattern: str = "math/*") -> dict[str, str]:
    """Return the text of the functions and constants in `shaders/`, by name."""
    definitions: dict[str, str] = {}
    for path in sorted(shader_folder().glob(f"{pattern}.wgsl")):
        for match in _DEFINITION.finditer(path.read_text(encoding="utf-8")):
            definitions[match.group(1) or match.group(2)] = match.group(0)
    return definitions


def names() -> tuple[str, ...]:
    """Return the names of all functions.

    >>> "exp_f32" in names()
    True
    """
    return tuple(n for n, text in _definitions().items() if text.startswith("fn"))


def definition(name: str) -> str:
    """Return the text of a function, `""` if the library has none of that name."""
    return _definitions().get(name, "")


@cache
def _dependencies(name: str) -> tuple[str, ...]:
    """Return the names of all definitions that one depends on, itself last."""
    text = _definitions()[name]
    order: dict[str, None] = {}
    for word in dict.fromkeys(_WORD.findall(text)):
        if word != name and word in _definitions():
            order.update(dict.fromkeys(_dependencies(word)))
    order[name] = None
    return tuple(order)


@cache
def statements(text: str) -> int:
    """Return the number of statements of a piece of WGSL with its calls inlined.

    >>> statements("sin_f32({0})") > 10 * statements("abs({0})")
    True
    """
    count = text.count(";")
    for word in _WORD.findall(text):
        if _definitions().get(word, "").startswith("fn"):
            count += statements(_definitions()[word].split("{", 1)[1])
    return count


def functions_for(text: str) -> str:
    """Return the library functions that a piece of WGSL calls, dependencies first.

    >>> "fn exp_f32" in functions_for("let y = exp_f32(x);")
    True
    """
    order: dict[str, None] = {}
    for word in dict.fromkeys(_WORD.findall(text)):
        if word in _definitions():
            order.update(dict.fromkeys(_dependencies(word)))
    return "".join(_definitions()[name] for name in order)


def apply_workarounds(source: str, workarounds: tuple[str, ...]) -> str:
    """Return a kernel's text with library functions replaced by their workarounds.

    >>> text = functions_for("negative_i32(x)")
    >>> "x * " in apply_workarounds(text, ("negation",))
    True
    """
    for file in workarounds:
        for name, text in _definitions(f"workarounds/{file}").items():
            source = source.replace(definition(name), text)
    return source
