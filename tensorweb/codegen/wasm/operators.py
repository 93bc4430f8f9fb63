"""Write operators and WGSL's own functions as instructions.

A bool is 0 or 1, in a vector all zeros or all ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from tensorweb.codegen.wasm.module import Function, divide_vectors
from tensorweb.codegen.wgsl import Term

LANES = 4
"""Number of 32-bit lanes of a vector."""

VALUE = {"bool": "i32", "u32": "i32", "u64": "i64"}
"""WebAssembly value type of a WGSL type, if their names differ."""

PAIRS = {"vec2f": ("f32", "f32"), "vec2u": ("i32", "i32")}
"""A WGSL vector of two elements is two values on the stack."""

_FLOAT_WORDS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "==": "eq",
    "!=": "ne",
    "<": "lt",
    ">": "gt",
    "<=": "le",
    ">=": "ge",
}
_INTEGER_WORDS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "shl",
    "==": "eq",
    "!=": "ne",
}
_SIGNED_WORDS = {
    "/": "div",
    "%": "rem",
    ">>": "shr",
    "<": "lt",
    ">": "gt",
    "<=": "le",
    ">=": "ge",
    "min": "min",
    "max": "max",
}
_INSTRUCTIONS = {
    "round": "nearest",
    "countLeadingZeros": "clz",
    "countTrailingZeros": "ctz",
    "countOneBits": "popcnt",
}
_CONVERSIONS = {
    ("f32", "i32"): ("i32.trunc_sat_f32_s", "i32x4.trunc_sat_f32x4_s"),
    ("f32", "u32"): ("i32.trunc_sat_f32_u", "i32x4.trunc_sat_f32x4_u"),
    ("i32", "f32"): ("f32.convert_i32_s", "f32x4.convert_i32x4_s"),
    ("u32", "f32"): ("f32.convert_i32_u", "f32x4.convert_i32x4_u"),
    ("f64", "u32"): ("i32.trunc_sat_f64_u", ""),
    ("u32", "f64"): ("f64.convert_i32_u", ""),
}
Scope = Mapping[str, tuple[int, ...]]
"""Locals of the value of each name in scope; a pair has two."""


def stack_types(kind: str) -> tuple[str, ...]:
    """Return the value types that hold a type of WGSL."""
    return PAIRS.get(kind) or (VALUE.get(kind, kind),)


class Operators(ABC):
    """Writes terms that call no function of the library.

    Attributes:
        f: the function that is written.
        lanes: 1, or `LANES` for vectors.
        is_relaxed: whether vectors multiply and add in one rounding.
    """

    def __init__(self, f: Function, lanes: int, is_relaxed: bool) -> None:
        """Begin to write into a function."""
        self.f = f
        self.lanes = lanes
        self.is_vector = lanes > 1
        self.is_relaxed = is_relaxed

    def value_type(self, kind: str) -> str:
        """Return the value type that holds a type of WGSL."""
        return "v128" if self.is_vector else VALUE.get(kind, kind)

    def shape(self, kind: str) -> str:
        """Return the beginning of the names of instructions on a type."""
        if not self.is_vector:
            return VALUE.get(kind, kind)
        return "f32x4" if kind == "f32" else "i32x4"

    @abstractmethod
    def term(self, term: Term, scope: Scope) -> None:
        """Push a term's value on the stack."""

    def number(self, kind: str, value: float) -> None:
        """Emit a constant; vectors keep theirs in a local."""
        if self.is_vector:
            if kind == "bool":
                value = -value
            self.f.get(self.f.constant(self.shape(kind), value))
        else:
            self.f.const(VALUE.get(kind, kind), value)

    def member(self, term: Term, scope: Scope) -> None:
        """Emit a part of a pair."""
        pair = scope[term.parts[0].word]
        self.f.get(pair["xyzw".index(term.word)])

    def bitcast(self, source: str, target: str) -> None:
        """Emit a reinterpretation of bits as another type."""
        if self.is_vector:
            return
        source, target = VALUE.get(source, source), VALUE.get(target, target)
        if source != target:
            self.f.op(f"{target}.reinterpret_{source}")

    def convert(self, source: str, target: str) -> None:
        """Emit the conversion of a number, where there is anything to do."""
        instructions = _CONVERSIONS.get((source, target))
        if instructions is not None:
            self.f.op(instructions[self.is_vector])

    def unary(self, term: Term, scope: Scope) -> None:
        """Emit an operator on one value."""
        (operand,) = term.parts
        shape = self.shape(operand.type)
        if term.word == "-" and operand.type[0] != "f" and not self.is_vector:
            self.f.const(shape, 0)
            self.term(operand, scope)
            self.f.op(f"{shape}.sub")
            return
        self.term(operand, scope)
        if term.word == "-":
            self.f.op(f"{shape}.neg")
        elif self.is_vector:
            self.f.op("v128.not")
        elif term.word == "!":
            self.f.op("i32.eqz")
        else:
            self.f.const(shape, -1)
            self.f.op(f"{shape}.xor")

    def binary(self, term: Term, scope: Scope) -> None:
        """Emit an operator on two values."""
        left, right = term.parts
        if term.word in ("<<", ">>") and self.is_vector:
            self.term(left, scope)
            self.f.const("i32", right.value)
            sign = "" if term.word == "<<" else "_s" if left.type == "i32" else "_u"
            self.f.op(f"i32x4.{'shl' if term.word == '<<' else 'shr'}{sign}")
            return
        self.term(left, scope)
        self.term(right, scope)
        self.operator(term.word, left.type)

    def operator(self, sign: str, kind: str) -> None:
        """Emit an operator, comparison, `min` or `max` on two values of a type."""
        f, shape = self.f, self.shape(kind)
        if kind[0] == "f":
            word = _FLOAT_WORDS.get(sign, sign)
            f.op(f"{shape}.{word}")
        elif kind == "bool" and self.is_vector and sign in ("==", "!="):
            f.op("v128.xor")
            if sign == "==":
                f.op("v128.not")
        elif sign in _INTEGER_WORDS:
            word = _INTEGER_WORDS[sign]
            is_bitwise = self.is_vector and sign in ("&", "|", "^")
            f.op(f"v128.{word}" if is_bitwise else f"{shape}.{word}")
        elif self.is_vector and sign in ("/", "%"):
            divide_vectors(f, "_s" if kind[0] == "i" else "_u", with_rest=sign == "%")
        else:
            suffix = "_s" if kind[0] == "i" else "_u"
            f.op(f"{shape}.{_SIGNED_WORDS[sign]}{suffix}")

    def builtin(self, term: Term, scope: Scope) -> None:
        """Emit a function that WGSL has itself."""
        name, kind, f = term.word, term.type, self.f
        if name == "select":
            no, yes, condition = term.parts
            if self.is_vector and (_is_zero(no) or _is_zero(yes)):
                self.term(no if _is_zero(yes) else yes, scope)
                self.term(condition, scope)
                f.op("v128.andnot" if _is_zero(yes) else "v128.and")
                return
            self.term(yes, scope)
            self.term(no, scope)
            self.term(condition, scope)
            self.choose()
        elif name == "fma":
            for part in term.parts:
                self.term(part, scope)
            self.multiply_add(kind)
        elif name == "clamp":
            value, low, high = term.parts
            largest = Term("builtin", kind, "max", (value, low))
            self.builtin(Term("builtin", kind, "min", (largest, high)), scope)
        elif name in ("min", "max") and kind[0] != "f" and not self.is_vector:
            self._scalar_extreme(term, scope)
        elif name in ("abs", "sign") and kind[0] != "f":
            self._signed_builtin(term, scope)
        else:
            for part in term.parts:
                self.term(part, scope)
            if name in ("min", "max"):
                sign = f"p{name}" if self.is_vector and kind[0] == "f" else name
                self.operator(sign, kind)
            elif name not in PAIRS:
                word = _INSTRUCTIONS.get(name, name)
                f.op(f"{self.shape(kind)}.{word}")

    def choose(self) -> None:
        """Emit a choice between two values by a bool, all of which are on the stack.

        A bool in lanes is all zeros or all ones, for which relaxed SIMD is quicker.
        """
        name = "i32x4.relaxed_laneselect" if self.is_relaxed else "v128.bitselect"
        self.f.op(name if self.is_vector else "select")

    def _scalar_extreme(self, term: Term, scope: Scope) -> None:
        """Emit the least or greatest of two integers."""
        f = self.f
        locals_ = [f.local(self.value_type(term.type)) for _ in term.parts]
        for part, local in zip(term.parts, locals_, strict=True):
            self.term(part, scope)
            f.set(local)
        for local in (*locals_, *locals_):
            f.get(local)
        self.operator("<" if term.word == "min" else ">", term.type)
        f.op("select")
        for local in locals_:
            f.free(local)

    def _signed_builtin(self, term: Term, scope: Scope) -> None:
        """Emit the size or the sign of an integer."""
        (part,) = term.parts
        if term.word == "abs" and self.is_vector:
            self.term(part, scope)
            self.f.op("i32x4.abs")
            return
        local = self.f.local(self.value_type(term.type))
        self.term(part, scope)
        self.f.set(local)
        own, zero = Term("name", term.type, "x"), Term("number", term.type, value=0)
        if term.word == "abs":
            negated = Term("unary", term.type, "-", (own,))
            below = Term("binary", "bool", "<", (own, zero))
            result = Term("builtin", term.type, "select", (own, negated, below))
        else:
            one = Term("number", term.type, value=1)
            above = Term("binary", "bool", ">", (own, zero))
            shifted = Term("binary", term.type, ">>", (own, _last_shift(term.type)))
            result = Term("builtin", term.type, "select", (shifted, one, above))
        self.term(result, {"x": (local,)})
        self.f.free(local)

    def multiply_add(self, kind: str) -> None:
        """Emit `a * b + c` of the stack, with one rounding if the target has it."""
        if self.is_vector and self.is_relaxed:
            self.f.op(f"{self.shape(kind)}.relaxed_madd")
            return
        addend = self.f.local(self.value_type(kind))
        self.f.set(addend)
        self.operator("*", kind)
        self.f.get(addend)
        self.operator("+", kind)
        self.f.free(addend)


def _last_shift(kind: str) -> Term:
    wide = kind in ("i64", "u64")
    return Term("number", "u64" if wide else "u32", value=63 if wide else 31)


def _is_zero(term: Term) -> bool:
    """Whether a term is a number whose bits are all 0."""
    return term.kind == "number" and str(term.value) in ("0", "0.0")
