"""Types of WGSL by their names: scalars, vectors, arrays and structs."""

from __future__ import annotations

import sys

SCALARS = ("f32", "i32", "u32", "bool", "f16")

WIDE = {"i32": "i64", "u32": "u64"}
"""Names of the integer types of a function that computes with 64 bits."""

VECTORS = {
    f"vec{width}{kind[0] if kind != 'f16' else 'h'}": (kind, width)
    for kind in ("f32", "i32", "u32", "bool", "f16")
    for width in (2, 3, 4)
}
"""Vector types, the type of their elements and their count; `vec2b` is of `bool`."""

SHORT = {(kind, width): name for name, (kind, width) in VECTORS.items()}

INTEGERS = frozenset(("i32", "u32", "integer"))
FLOATS = frozenset(("f32", "f16", "float"))
SIGNED = FLOATS | {"i32", "integer"}

LARGEST = {"f32": 3.4028235677973362e38, "f16": 65519.0, "float": sys.float_info.max}
RANGES = {
    "i32": (-(2**31), 2**31 - 1),
    "u32": (0, 2**32 - 1),
    "integer": (-(2**63), 2**63 - 1),
    "bool": (0, 1),
    **{kind: (-most, most) for kind, most in LARGEST.items()},
}
"""The least and the greatest constant of a type, before it is rounded."""

OPEN = ("integer", "float")
"""Types of literals whose final type follows from the other operand."""


def array_parts(kind: str) -> tuple[str, int | None]:
    """Return the type of an array's elements, and its length if it has one.

    >>> array_parts("array<array<f32,8>,4>"), array_parts("array<vec2f>")
    (('array<f32,8>', 4), ('vec2f', None))
    """
    inner = kind.removeprefix("array<")[:-1]
    element, _, length = inner.rpartition(",")
    return (element, int(length)) if length.isdigit() else (inner, None)


def element_type(kind: str) -> str:
    """Return the type of the elements of an array or a vector."""
    return VECTORS[kind][0] if kind in VECTORS else array_parts(kind)[0]


def members_of(kind: str) -> tuple[tuple[str, str], ...]:
    """Return names and types of the members of a struct; none of another type.

    >>> members_of("Pair{key:u32,inner:Inner{x:f32,y:array<f32,2>}}")
    (('key', 'u32'), ('inner', 'Inner{x:f32,y:array<f32,2>}'))
    """
    if kind[-1:] != "}":
        return ()
    parts = [""]
    depth = 0
    for letter in kind[kind.index("{") + 1 : -1]:
        depth += (letter in "{<") - (letter in "}>")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    pairs = (part.partition(":") for part in parts if part)
    return tuple((name, member) for name, _, member in pairs)


def scalar(kind: str) -> str:
    """Return the type of a vector's elements, or the type of a number itself."""
    return VECTORS[kind][0] if kind in VECTORS else kind
