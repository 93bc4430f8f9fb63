"""Find the functions that kernels call, and their properties.

A function in `shaders/exact/`, for processors with exact IEEE floats, is preferred to
the one in `shaders/math/`. Functions of float64 are imported from the C library or
written as instructions.
"""

from __future__ import annotations

from functools import cache

from tensorweb.codegen.template import definition, names, shader_folder
from tensorweb.codegen.wgsl import (
    Definition,
    Term,
    read_expression,
    read_function,
)
from tensorweb.ops.inverse_error import (
    HALF_ROOT_OF_PI,
    NEAR,
    NEAR_END,
    TAIL,
    TAIL_BEGIN,
    Coefficients,
)

_UNARY = (
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "cbrt",
    "erf",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
)
_BINARY = ("pow", "atan2", "hypot", "fmod", "nextafter")

LIBRARY: dict[str, str] = {f"{name}_f64": name for name in (*_UNARY, *_BINARY)}
"""The C function of each function of float64."""

_CODE = """
fn sign_f64(x: f64) -> f64 {
    let one = select(select(x, -1.0, x < 0.0), 1.0, x > 0.0);
    return select(one, 0.0, x == 0.0);
}
fn nan_where_f64(invalid: bool, value: f64) -> f64 {
    return select(value, 0.0 / 0.0, invalid);
}
fn isnan_f64(x: f64) -> bool {
    return x != x;
}
fn isinf_f64(x: f64) -> bool {
    return abs(x) > 0x1.fffffffffffffp1023;
}
fn isfinite_f64(x: f64) -> bool {
    return abs(x) <= 0x1.fffffffffffffp1023;
}
fn signbit_f64(x: f64) -> bool {
    return bitcast<i64>(x) < 0;
}
fn copysign_f64(size: f64, sign: f64) -> f64 {
    return copysign(size, sign);
}
fn sigmoid_f64(x: f64) -> f64 {
    let small = exp_f64(-abs(x));
    return select(small, 1.0, x >= 0.0) / (1.0 + small);
}
fn logaddexp_f64(x: f64, y: f64) -> f64 {
    let sum = max(x, y) + log1p_f64(exp_f64(-abs(x - y)));
    return select(sum, x + 0.693147180559945309417, x == y);
}
fn remainder_f64(x: f64, y: f64) -> f64 {
    let rest = fmod_f64(x, y);
    let moved = select(rest, rest + y, (rest < 0.0) != (y < 0.0));
    return select(moved, copysign(0.0, y), rest == 0.0);
}
fn floor_divide_f64(x: f64, y: f64) -> f64 {
    let rest = fmod_f64(x, y);
    let is_opposite = (rest != 0.0) & ((rest < 0.0) != (y < 0.0));
    let quotient = (x - rest) / y - select(0.0, 1.0, is_opposite);
    let below = floor(quotient);
    let whole = below + select(0.0, 1.0, quotient - below > 0.5);
    let signed = select(whole, copysign(0.0, x / y), quotient == 0.0);
    let is_finite = (x - x == 0.0) & (y - y == 0.0);
    return select(x / y, signed, is_finite & (y != 0.0));
}
fn order_of_f64(bits: u64, flip: u64) -> u64 {
    let magnitude = bits & 0x7fffffffffffffffu;
    let sign = 0x8000000000000000u;
    let ordered = select(bits | sign, ~bits, bits > sign);
    return select(ordered ^ flip, ~0u, magnitude > 0x7ff0000000000000u);
}
fn f64_of_order(key: u64, flip: u64) -> u64 {
    let ordered = key ^ flip;
    let sign = 0x8000000000000000u;
    let bits = select(~ordered, ordered ^ sign, ordered >= sign);
    return select(bits, 0x7ff8000000000000u, key == ~0u);
}
fn order_of_i64(bits: u64, flip: u64) -> u64 {
    return bits ^ 0x8000000000000000u ^ flip;
}
fn order_of_u64(bits: u64, flip: u64) -> u64 {
    return bits ^ flip;
}
"""


def _polynomial(coefficients: Coefficients, t: str) -> str:
    """Return the text of a polynomial, the constant's coefficient first."""
    text = repr(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        text = f"({text} * {t} + {coefficient!r})"
    return text


_CODE += f"""
fn erfinv_f64(x: f64) -> f64 {{
    let a = abs(x);
    if (a <= {NEAR_END}) {{
        let u = a * a;
        let c = {NEAR_END**2} - u;
        let part = u * ({_polynomial(NEAR[0], "c")} / {_polynomial(NEAR[1], "c")});
        return copysign({HALF_ROOT_OF_PI!r} * a + a * part, x);
    }}
    let s = sqrt(-log_f64(1.0 - a));
    let t = s - {TAIL_BEGIN};
    let far = s - s * ({_polynomial(TAIL[0], "t")} / {_polynomial(TAIL[1], "t")});
    return copysign(select(far, 1.0 / (1.0 - a), a == 1.0), x);
}}
"""

TEXTS: dict[str, str] = {
    part.split("(")[0]: f"fn {part}" for part in _CODE.split("\nfn ")[1:]
}
"""The text of the functions of float64 that call others, and of keys of 64 bits,
as in `shaders/math/order.wgsl`; floats go in and out as their bits."""


@cache
def _exact() -> dict[str, str]:
    """Return the functions of `shaders/exact/` by name."""
    texts = {}
    for path in sorted((shader_folder() / "exact").glob("*.wgsl")):
        for part in path.read_text(encoding="utf-8").split("\nfn ")[1:]:
            texts[part.split("(")[0]] = f"fn {part.split(chr(10) + '}')[0]}\n}}\n"
    return texts


def text_of(name: str) -> str:
    """Return the text of a function as this device computes it, `""` if it has none.

    A function of float64 that is an instruction or one of C's has the head of that of
    float32.
    """
    source = _exact().get(name) or TEXTS.get(name) or definition(name)
    if not source and name.endswith("_f64"):
        return definition(name.replace("_f64", "_f32")).replace("f32", "f64")
    return source


@cache
def expression(form: str, kinds: tuple[str, ...]) -> Term:
    """Return the typed term of a form, whose operands are `{0}`, `{1}` and so on."""
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
    """Return the text of a function of 32-bit integers, rewritten for 64 bits.

    Where it says 31 and 32, it means the width.
    """
    return text_of(name).replace("31u", "63u").replace("32u", "64u")


def read_all() -> None:
    """Read every function of the library, so that no kernel waits for that."""
    for name in names():
        # Reads of parameters hide values from the compilers of GPUs; not needed here.
        if "vec4" not in definition(name) and "parameters." not in text_of(name):
            function(name)


@cache
def is_straight(name: str, is_wide: bool = False) -> bool:
    """Whether a function is a row of values and a result, without jumps."""
    body = function(name, is_wide).body
    return all(each.kind in ("let", "var", "set", "return") for each in body)


@cache
def fits_vectors(name: str) -> bool:
    """Whether all operations of a function have vector instructions.

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
