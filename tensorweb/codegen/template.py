"""Read the shader templates and fill their slots.

A template is valid WGSL as committed. A slot is a run of lines between `// slot NAME`
and `// end NAME`; filling it replaces those lines and nothing else. A loop under a line
`// unroll` is written out, so that arrays it indexes can stay in registers.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_PLACES = (_PACKAGE / "shaders", _PACKAGE.parent / "shaders")


def shader_folder() -> Path:
    """Return the folder of shaders: in the wheel, or beside the package's source."""
    for place in _PLACES:
        if place.is_dir():
            return place
    raise AssertionError("internal: the package carries no shaders")


@cache
def template_names() -> tuple[str, ...]:
    """Return the names of all templates.

    >>> "reduce" in template_names()
    True
    """
    return tuple(sorted(path.stem for path in shader_folder().glob("*.wgsl")))


def unrolled(text: str) -> str:
    """Return WGSL with its marked loops written out, one block for each turn.

    >>> lines = ["// unroll", "for (var i = 0u; i < 2u; i++) {", "  a[i] = i;", "}", ""]
    >>> unrolled(chr(10).join(lines)).split(chr(10))
    ['{', '  a[0u] = 0u;', '}', '{', '  a[1u] = 1u;', '}', '']
    """
    pattern = (
        r"^( *)// unroll\n\1for \(var (\w+) = 0u; \2 < (\d+)u; \2\+\+\) \{\n"
        r"(.*?)^\1\}\n"
    )

    def turns(match: re.Match[str]) -> str:
        indent, name, count, body = match.groups()
        word = rf"\b{name}\b"
        blocks = (re.sub(word, f"{turn}u", body) for turn in range(int(count)))
        return "".join(f"{indent}{{\n{block}{indent}}}\n" for block in blocks)

    return re.sub(pattern, turns, text, flags=re.MULTILINE | re.DOTALL)


@cache
def _parts(name: str) -> tuple[str, ...]:
    """Return a template cut at its slots: text, slot name, text, slot name, … text."""
    text = unrolled((shader_folder() / f"{name}.wgsl").read_text(encoding="utf-8"))
    pattern = r"^ *// slot (\w+)[^\n]*\n.*?^ *// end \1\n"
    parts: list[str] = []
    end = 0
    for match in re.finditer(pattern, text, re.MULTILINE | re.DOTALL):
        parts += [text[end : match.start()], match.group(1)]
        end = match.end()
    return (*parts, text[end:])


def fill(name: str, slots: dict[str, str]) -> str:
    """Return a template with every slot replaced by the given lines."""
    parts = list(_parts(name))
    names = parts[1::2]
    if set(names) != set(slots):
        given = list(slots)
        raise AssertionError(f"internal: {name}.wgsl has slots {names}, not {given}")
    for place in range(1, len(parts), 2):
        parts[place] = slots[parts[place]]
    return "".join(parts)
