"""Translate terms of WGSL into instructions, for one number or for four at once.

WebAssembly computes IEEE floats exactly, so freedoms of WGSL need no care here:
`NATIVE` names the functions of `shaders/math/` that are single instructions. Others are
translated from their text and inlined; for vectors, a function that has
no vector instructions is called lane by lane.

A bool is 0 or 1, in a vector all zeros or all ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from tensorweb.codegen.wasm.functions import (
    LIBRARY,
    fits_vectors,
    function,
    is_straight,
)
from tensorweb.codegen.wasm.module import Function, divide_vectors, module
from tensorweb.codegen.wasm.policy import WasmTarget
from tensorweb.codegen.wgsl import Definition, Statement, Term

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
            self.f.emit((shape, -1), f"{shape}.xor")

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
        f.free(*locals_)

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


NATIVE = {
    "divide_f32": "/",
    "quotient_f32": "/",
    "minimum_f32": "min",
    "maximum_f32": "max",
    "less_f32": "<",
    "less_equal_f32": "<=",
    "greater_f32": ">",
    "greater_equal_f32": ">=",
    "equal_f32": "==",
    "not_equal_f32": "!=",
    "abs_f32": "abs",
    "negative_f32": "neg",
    "sqrt_f32": "sqrt",
    "floor_f32": "floor",
    "ceil_f32": "ceil",
    "trunc_f32": "trunc",
    "round_f32": "nearest",
}
"""Functions of `shaders/math/` that are one instruction; of f64 as well."""

_FIRST = frozenset(("pinned_f32",))
"""Functions that return their first argument where floats are exact."""

_CONVERTING = {
    "f32_from_i32": ("i32", "f32"),
    "f32_from_u32": ("u32", "f32"),
    "i32_from_f32": ("f32", "i32"),
    "u32_from_f32": ("f32", "u32"),
}


class Writer:
    """A module under construction.

    Attributes:
        target: the engine that runs the module.
    """

    def __init__(self, target: WasmTarget) -> None:
        """Begin without functions."""
        self.target = target
        self._functions: dict[str, Function] = {}
        self._imports: dict[str, int] = {}

    def imported(self, name: str, count: int) -> str:
        """Return the name of an imported function of f64."""
        self._imports[name] = count
        return name

    def called(self, name: str, is_wide: bool) -> str:
        """Return the name of a function of single numbers, written when it is new."""
        key = f"{name} wide" if is_wide else name
        if key not in self._functions:
            definition = function(name, is_wide)
            kinds = [VALUE.get(kind, kind) for _, kind in definition.parameters]
            results = stack_types(definition.result)
            written = self._functions[key] = Function(kinds, results)
            scope = {
                parameter: (number,)
                for number, (parameter, _) in enumerate(definition.parameters)
            }
            Translation(self, written).body(definition.body, dict(scope))
        return key

    def defined(self, name: str, function: Function) -> str:
        """Define a function that calls no other; return its name."""
        self._functions[name] = function
        return name

    def finished(self, run: Function) -> bytes:
        """Return the module, whose entry is `run`."""
        functions = {**self._functions, "run": run}
        return module(functions, self._imports, self.target.shared)


class Translation(Operators):
    """Writes terms into a function.

    Attributes:
        writer: of the module.
    """

    def __init__(self, writer: Writer, f: Function, lanes: int = 1) -> None:
        """Begin to write into a function."""
        super().__init__(f, lanes, writer.target.relaxed)
        self.writer = writer
        self._is_marked = False

    def body(
        self, statements: Sequence[Statement], scope: dict[str, tuple[int, ...]]
    ) -> None:
        """Emit the statements of a function of single numbers."""
        f = self.f
        for each in statements:
            assert each.term is not None, "internal: every statement has a term"
            if each.target is not None:
                self.store(each.target, each.term, scope)
                continue
            self.term(each.term, scope)
            if each.kind == "return":
                f.op("return")
            elif each.kind == "if":
                with f.block("if"):
                    self.body(each.body, scope)
                    if each.other:
                        f.orelse()
                        self.body(each.other, scope)
            elif each.kind == "while":
                with f.block("if"), f.block("loop"):
                    self.body((*each.body, *each.other), scope)
                    self.term(each.term, scope)
                    f.br_if(0)
            else:
                self.keep(each, scope)
        if statements and statements[-1].kind == "return":
            f.op("unreachable")

    def store(self, target: Term, value: Term, scope: Scope) -> None:
        """Store an element of an array."""
        raise AssertionError(f"internal: {target.kind} is assigned to")

    def keep(self, each: Statement, scope: dict[str, tuple[int, ...]]) -> None:
        """Take the value on the stack into the locals of a name."""
        assert each.term is not None, "internal: it has a value"
        if each.kind != "set":
            scope[each.word] = tuple(
                self.f.local("v128" if self.is_vector else kind)
                for kind in stack_types(each.term.type)
            )
        for local in reversed(scope[each.word]):
            self.f.set(local)

    def term(self, term: Term, scope: Scope) -> None:
        """Push a term's value on the stack."""
        kind = term.kind
        if kind in ("number", "zero"):
            self.number(term.type, term.value)
        elif kind == "name":
            for local in scope[term.word]:
                self.f.get(local)
        elif kind == "member":
            self.member(term, scope)
        elif kind == "bitcast":
            self.term(term.parts[0], scope)
            self.bitcast(term.parts[0].type, term.type)
        elif kind == "convert":
            self.term(term.parts[0], scope)
            self.convert(term.parts[0].type, term.type)
        elif kind == "unary":
            self.unary(term, scope)
        elif kind == "binary":
            self.binary(term, scope)
        elif kind == "call":
            self._call(term, scope)
        else:
            self.builtin(term, scope)

    def step(self, term: Term, scope: Scope) -> None:
        """Emit a term; a function inlined for it gets a mark after each statement."""
        self._is_marked = term.kind == "call"
        self.term(term, scope)

    def _call(self, term: Term, scope: Scope) -> None:
        """Emit a call of a function of the library."""
        is_marked, self._is_marked = self._is_marked, False
        name, is_wide = term.word, bool(term.value)
        plain = name.replace("_f64", "_f32")
        if plain in NATIVE:
            for part in term.parts:
                self.term(part, scope)
            self.operator(NATIVE[plain], term.parts[0].type)
        elif name in _FIRST:
            self.term(term.parts[0], scope)
        elif name in _CONVERTING:
            self.term(term.parts[0], scope)
            self.convert(*_CONVERTING[name])
        elif name in LIBRARY:
            for part in term.parts:
                self.term(part, scope)
            self.f.call(self.writer.imported(LIBRARY[name], len(term.parts)))
        elif self.is_vector and not fits_vectors(name):
            self._by_lanes(term, scope)
        elif self.is_vector or is_straight(name, is_wide):
            self._inline(term, scope, is_marked)
        else:
            for part in term.parts:
                self.term(part, scope)
            self.f.call(self.writer.called(name, is_wide))

    def _argument(self, part: Term, scope: Scope) -> tuple[tuple[int, ...], bool]:
        """Return the locals that hold an argument, and whether they are new."""
        if part.kind == "name":
            return scope[part.word], False
        if part.kind == "number" and self.is_vector:
            value = -part.value if part.type == "bool" else part.value
            return (self.f.constant(self.shape(part.type), value),), False
        local = self.f.local(self.value_type(part.type))
        self.term(part, scope)
        self.f.set(local)
        return (local,), True

    def _inline(self, term: Term, scope: Scope, is_marked: bool) -> None:
        """Emit the statements of a function inline, for the arguments of a call."""
        definition = function(term.word, bool(term.value))
        inner: dict[str, tuple[int, ...]] = {}
        own: list[int] = []
        for (name, _), part in zip(definition.parameters, term.parts, strict=True):
            inner[name], is_new = self._argument(part, scope)
            if is_new:
                own += inner[name]
        body = definition.body
        if body[0].kind == "if":
            own += self._either(definition, inner)
        else:
            own += self._straight(body, inner, is_marked)
        self.f.free(*own)

    def _straight(
        self,
        body: Sequence[Statement],
        inner: dict[str, tuple[int, ...]],
        is_marked: bool = False,
    ) -> list[int]:
        """Write statements; leaves the result on the stack, returns the locals used."""
        own: list[int] = []
        for each in body:
            assert each.term is not None, "internal: every statement has a term"
            self.term(each.term, inner)
            if each.kind != "return":
                self.keep(each, inner)
                if is_marked:
                    self.f.mark()
                if each.kind != "set":
                    own += inner[each.word]
        return own

    def _either(
        self, definition: Definition, inner: dict[str, tuple[int, ...]]
    ) -> list[int]:
        """Emit a function that begins with `if (condition) { return … }`, for vectors.

        The early result is computed if the condition holds for any lane.
        """
        f = self.f
        first, *rest = definition.body
        assert first.term is not None, "internal: an if has a condition"
        results = [f.local("v128") for _ in stack_types(definition.result)]
        mask = f.local("v128")
        own = self._straight(rest, dict(inner))
        for local in reversed(results):
            f.set(local)
        self.term(first.term, inner)
        f.tee(mask)
        with f.block("if", "v128.any_true"):
            own += self._straight(first.body, dict(inner))
            for local in reversed(results):
                f.emit(local, mask)
                self.choose()
                f.set(local)
        for local in results:
            f.get(local)
        return [*own, *results, mask]

    def _by_lanes(self, term: Term, scope: Scope) -> None:
        """Emit a call for each lane of vectors."""
        f = self.f
        name = self.writer.called(term.word, False)
        arguments = [self._argument(part, scope) for part in term.parts]
        kinds = stack_types(term.type)
        shapes = ["f32x4" if kind == "f32" else "i32x4" for kind in kinds]
        singles = [f.local(kind) for kind in kinds]
        results = [f.local("v128") for _ in kinds]
        for lane in range(LANES):
            for ((local,), _), part in zip(arguments, term.parts, strict=True):
                f.get(local)
                f.lane(f"{self.shape(part.type)}.extract_lane", lane)
                if part.type == "bool":
                    f.emit(("i32", 1), "i32.and")
            f.call(name)
            for local in reversed(singles):
                f.set(local)
            for shape, single, result in zip(shapes, singles, results, strict=True):
                f.emit(result, single)
                if term.type == "bool":
                    f.emit(("i32", 0), "i32.ne", ("i32", -1), "i32.mul")
                f.lane(f"{shape}.replace_lane", lane)
                f.set(result)
        for local in results:
            f.get(local)
        fresh = [local for locals_, is_new in arguments if is_new for local in locals_]
        f.free(*singles, *results, *fresh)
