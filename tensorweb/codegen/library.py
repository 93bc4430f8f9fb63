"""The functions of `shaders/math/`: which of them a piece of WGSL calls."""

from __future__ import annotations

import re
from functools import cache

from tensorweb.codegen.template import shader_folder

_DEFINITION = re.compile(
    r"^(?:fn (\w+)\(.*?^\}\n|const (\w+)[^\n]*;\n)", re.MULTILINE | re.DOTALL
)
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


@cache
def _definitions(pattern: str = "math/*") -> dict[str, str]:
    """Return the text of the functions and constants in `shaders/`, by name."""
    found: dict[str, str] = {}
    for path in sorted(shader_folder().glob(f"{pattern}.wgsl")):
        for match in _DEFINITION.finditer(path.read_text(encoding="utf-8")):
            found[match.group(1) or match.group(2)] = match.group(0)
    return found


def names() -> tuple[str, ...]:
    """Return the names of all functions.

    >>> "exp_f32" in names()
    True
    """
    found = _definitions()
    return tuple(name for name in found if found[name].startswith("fn"))


def definition(name: str) -> str:
    """Return the text of a function, `""` if the library has none of that name."""
    return _definitions().get(name, "")


@cache
def _needs(name: str) -> tuple[str, ...]:
    """Return the names of all definitions that one depends on, itself last."""
    text = _definitions()[name]
    order: dict[str, None] = {}
    for word in dict.fromkeys(_WORD.findall(text)):
        if word != name and word in _definitions():
            order.update(dict.fromkeys(_needs(word)))
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
            order.update(dict.fromkeys(_needs(word)))
    return "".join(_definitions()[name] for name in order)


def worked_around(source: str, workarounds: tuple[str, ...]) -> str:
    """Return a kernel's text with library functions replaced by their workarounds.

    >>> text = functions_for("negative_i32(x)")
    >>> "x * " in worked_around(text, ("negation",))
    True
    """
    for file in workarounds:
        for name, text in _definitions(f"workarounds/{file}").items():
            source = source.replace(definition(name), text)
    return source
