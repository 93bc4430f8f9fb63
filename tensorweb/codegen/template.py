"""Read the shader templates and fill their slots.

A template is valid WGSL as committed. A slot is a run of lines between `// slot NAME`
and `// end NAME`; filling it replaces those lines. Lines between `// repeat NAME` and
`// end NAME`, with the slots inside, are repeated once per set of slots.
`unrolling.py` then evaluates what the constants of the filled text decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from tensorweb.codegen.unrolling import apply_marks, unroll, without_unrolling

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
