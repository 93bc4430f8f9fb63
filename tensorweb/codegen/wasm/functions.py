"""Find the functions that kernels call, and say what is known of each.

What a machine with exact IEEE floats computes otherwise than a GPU stands in
`shaders/exact/` and goes before `shaders/math/`; float64 has its own.
"""

from __future__ import annotations

from functools import cache

from tensorweb.codegen.template import definition, names, shader_folder
from tensorweb.codegen.wasm.float64 import TEXTS
from tensorweb.codegen.wasm.wgsl import (
    Definition,
    Term,
    read_expression,
    read_function,
)


@cache
def _exact() -> dict[str, str]:
    """Return the functions of `shaders/exact/` by name."""
    found = {}
    for path in sorted((shader_folder() / "exact").glob("*.wgsl")):
        for part in path.read_text(encoding="utf-8").split("\nfn ")[1:]:
            found[part.split("(")[0]] = f"fn {part.split(chr(10) + '}')[0]}\n}}\n"
    return found


def text_of(name: str) -> str:
    """Return the text of a function as this device computes it, `""` if it has none.

    A function of float64 that is an instruction or one of C's has the head of that of
    float32.
    """
    found = _exact().get(name) or TEXTS.get(name) or definition(name)
    if not found and name.endswith("_f64"):
        return definition(name.replace("_f64", "_f32")).replace("f32", "f64")
    return found


@cache
def expression(form: str, kinds: tuple[str, ...]) -> Term:
    """Return an operation's form, around `{0}` and so on, as a term of those types."""
    names = [f"operand{number}" for number in range(len(kinds))]
    if "f64" in kinds:
        form = form.replace("_f32(", "_f64(")
    types = dict(zip(names, kinds, strict=True))
    return read_expression(form.format(*names), types, text_of)


@cache
def function(name: str, is_wide: bool = False) -> Definition:
    """Return a function's definition; of `is_wide` ones integers have 64 bits."""
    return read_function(name, is_wide, _wide_text_of if is_wide else text_of)


def _wide_text_of(name: str) -> str:
    """Return the text of a function of integers, for those of 64 bits.

    Where it says 31 and 32, it means the width.
    """
    return text_of(name).replace("31u", "63u").replace("32u", "64u")


def read_all() -> None:
    """Read every function of the library, so that no kernel waits for that."""
    for name in names():
        # What reads parameters hides values from compilers of GPUs alone.
        if "vec4" not in definition(name) and "parameters." not in text_of(name):
            function(name)


@cache
def is_straight(name: str, is_wide: bool = False) -> bool:
    """Whether a function is a row of values and a result, without jumps."""
    body = function(name, is_wide).body
    return all(each.kind in ("let", "var", "set", "return") for each in body)


@cache
def fits_vectors(name: str) -> bool:
    """Whether what a function does itself has vector instructions.

    Of jumps only the return from an `if` at the beginning does.
    """
    body = function(name).body
    if body[0].kind == "if":
        body = (*body[0].body, *body[1:])
    return all(
        each.kind in ("let", "var", "set", "return")
        and each.term is not None
        and _fits(each.term)
        for each in body
    )


def _fits(term: Term) -> bool:
    if term.word in ("<<", ">>") and term.parts[1].kind != "number":
        return False
    if term.word == "countLeadingZeros":
        return False
    return all(map(_fits, term.parts))
