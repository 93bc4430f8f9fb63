"""Read the shader templates and fill their slots.

A template is valid WGSL as committed. A slot is a run of lines between `// slot NAME`
and `// end NAME`; filling it replaces those lines and nothing else.
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


@cache
def _parts(name: str) -> tuple[str, ...]:
    """Return a template cut at its slots: text, slot name, text, slot name, … text."""
    text = (shader_folder() / f"{name}.wgsl").read_text(encoding="utf-8")
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
