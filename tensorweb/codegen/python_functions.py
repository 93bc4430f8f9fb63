"""Functions of a program of WGSL, written and computed in Python."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from tensorweb.codegen.wgsl import (
    COMPARISONS,
    Definition,
    Statement,
    Term,
    refuse,
)
from tensorweb.codegen.wgsl_program import BARRIERS, FUNCTIONS, Array
from tensorweb.codegen.wgsl_types import VECTORS, array_parts, members_of, scalar

Value = Any
"""A number, a bool, a tuple for a vector or a struct, a list for an array."""

FORMATS = {"f32": "f", "i32": "i", "u32": "I", "f16": "e"}

_WORD = 0xFFFFFFFF
_single = array("f", [0.0])


def _f32(x: float) -> float:
    _single[0] = x
    return _single[0]


def _f16(x: float) -> float:
    try:
        (found,) = struct.unpack("e", struct.pack("e", x))
    except OverflowError:
        return math.copysign(math.inf, x)
    return float(found)


def _i32(x: int) -> int:
    return ((x + 0x80000000) & _WORD) - 0x80000000


def _u32(x: int) -> int:
    return x & _WORD


ROUND: dict[str, Callable[[Any], Any]] = {
    "f32": _f32,
    "f16": _f16,
    "i32": _i32,
    "u32": _u32,
}


def divide(a: float, b: float) -> float:
    """Return a quotient of floats, also by zero."""
    if b:
        return a / b
    if a != a or not a or b != b:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def quotient(a: int, b: int) -> int:
    """Return an integer quotient; that of a division by zero is the dividend."""
    if not b:
        return a
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


def rest(a: int, b: int) -> int:
    """Return the remainder of integers; 0 by zero."""
    return a - b * quotient(a, b) if b else 0


def float_rest(a: float, b: float) -> float:
    """Return the remainder of floats, of the dividend's sign."""
    return math.fmod(a, b) if b and math.isfinite(a) else math.nan


def _safe(f: Callable[..., float]) -> Callable[..., float]:
    """Return a function of C that gives NaN or infinity where Python's raises."""

    def call(*x: float) -> float:
        try:
            return f(*x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return call


def _logarithm(f: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: -math.inf if x == 0 else _safe(f)(x)


def _power(x: float, y: float) -> float:
    return math.inf if x == 0 and y < 0 else _safe(math.pow)(x, y)


def _integral(f: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: float(f(x)) if math.isfinite(x) else x


def _smoothstep(low: float, high: float, x: float) -> float:
    t = min(max(divide(x - low, high - low), 0.0), 1.0)
    return t * t * (3 - 2 * t)


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "ceil": _integral(math.ceil),
    "clamp": lambda x, low, high: min(max(x, low), high),
    "countLeadingZeros": lambda x: 32 - (x & _WORD).bit_length(),
    "countOneBits": lambda x: (x & _WORD).bit_count(),
    "countTrailingZeros": lambda x: ((x & -x) - 1).bit_length() if x else 32,
    "exp2": _safe(lambda x: 2.0**x),
    "floor": _integral(math.floor),
    "fma": lambda a, b, c: a * b + c,
    "fract": lambda x: x - math.floor(x) if math.isfinite(x) else math.nan,
    "inverseSqrt": lambda x: divide(1.0, _safe(math.sqrt)(x)),
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "max": max,
    "min": min,
    "mix": lambda a, b, t: a * (1 - t) + b * t,
    "pow": _power,
    "reverseBits": lambda x: int(f"{x & _WORD:032b}"[::-1], 2),
    "round": _integral(round),
    "saturate": lambda x: min(max(x, 0.0), 1.0),
    "sign": lambda x: (x > 0) - (x < 0),
    "smoothstep": _smoothstep,
    "step": lambda edge, x: float(edge <= x),
    "trunc": _integral(math.trunc),
}
ELEMENTWISE |= {
    name: _safe(getattr(math, name)) for name in FUNCTIONS if name not in ELEMENTWISE
}
"""Functions of WGSL on numbers, before their result is rounded."""


def each(f: Callable[..., Value], *operands: Value) -> Value:
    """Return a function's results on the elements of vectors; numbers are repeated."""
    width = next(len(each) for each in operands if isinstance(each, tuple))
    wide = (x if isinstance(x, tuple) else (x,) * width for x in operands)
    return tuple(f(*each) for each in zip(*wide, strict=True))


def _dot(a: Value, b: Value) -> Value:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _length(a: Value) -> float:
    return math.hypot(*a) if isinstance(a, tuple) else abs(a)


def _normalize(a: Value) -> Value:
    length = _length(a)
    return tuple(divide(x, length) for x in a)


def _cross(a: Value, b: Value) -> Value:
    pairs = ((1, 2), (2, 0), (0, 1))
    return tuple(a[i] * b[j] - a[j] * b[i] for i, j in pairs)


WHOLE: dict[str, Callable[..., Value]] = {
    "all": lambda a: all(a) if isinstance(a, tuple) else a,
    "any": lambda a: any(a) if isinstance(a, tuple) else a,
    "cross": _cross,
    "distance": lambda a, b: _length(
        each(lambda x, y: x - y, a, b) if isinstance(a, tuple) else a - b
    ),
    "dot": _dot,
    "length": _length,
    "normalize": _normalize,
}
ATOMIC: dict[str, Callable[[Any, Any], Any]] = {
    "atomicAdd": lambda a, b: a + b,
    "atomicAnd": lambda a, b: a & b,
    "atomicExchange": lambda a, b: b,
    "atomicMax": max,
    "atomicMin": min,
    "atomicOr": lambda a, b: a | b,
    "atomicStore": lambda a, b: b,
    "atomicSub": lambda a, b: a - b,
    "atomicXor": lambda a, b: a ^ b,
}
"""What atomic functions leave in memory."""


def _integer(kind: str) -> Callable[[float], int]:
    # The largest floats that have an integer, as WGSL has it.
    low, high = (-0x80000000, 0x7FFFFF80) if kind == "i32" else (0, 0xFFFFFF00)
    return lambda x: 0 if x != x else int(min(max(x, low), high))


def convert(source: str, target: str) -> Callable[[Any], Value]:
    """Return the conversion of numbers of a type to another."""
    if target == "bool":
        return bool
    if source[0] == "f" and target in ("i32", "u32"):
        return _integer(target)
    return ROUND[target] if target[0] == "f" else lambda x: ROUND[target](int(x))


def bitcast(source: str, target: str) -> Callable[[Any], Value]:
    """Return the change of a type that leaves the bits."""

    def cast(x: Value) -> Value:
        return struct.unpack(FORMATS[target], struct.pack(FORMATS[source], x))[0]

    return cast


def vector(width: int, *parts: Value) -> Value:
    """Return a vector of numbers and shorter vectors."""
    flat = [x for each in parts for x in (each if isinstance(each, tuple) else (each,))]
    return tuple(flat * width if len(flat) == 1 else flat)


def replaced(vector: Value, at: int, value: Value) -> Value:
    """Return a vector with one new element, if it has this one."""
    if not 0 <= at < len(vector):
        return vector
    return (*vector[:at], value, *vector[at + 1 :])


def copied(value: Value) -> Value:
    """Return a value that no assignment to another variable changes."""
    return [copied(each) for each in value] if isinstance(value, list) else value


def zero(kind: str) -> Value:
    """Return the value of a type that is all zeros.

    >>> zero("array<vec2f,2>")
    [(0.0, 0.0), (0.0, 0.0)]
    """
    if kind in VECTORS:
        element, width = VECTORS[kind]
        return (zero(element),) * width
    if kind[-1] == "}":
        return tuple(zero(member) for _, member in members_of(kind))
    if kind.startswith("array<"):
        element, length = array_parts(kind)
        return [zero(element) for _ in range(length or 0)]
    return False if kind == "bool" else 0.0 if kind[0] == "f" else 0


TOOLS: dict[str, Any] = {
    "each": each,
    "copied": copied,
    "replaced": replaced,
    "vector": vector,
    "swizzle": lambda vector, at: tuple(vector[i] for i in at),
    "select": lambda no, yes, condition: yes if condition else no,
    "divide": divide,
    "quotient": quotient,
    "rest": rest,
    "float_rest": float_rest,
    "zero": zero,
    "inf": math.inf,
    **{f"round_{kind}": f for kind, f in ROUND.items()},
    **{f"call_{name}": f for name, f in {**ELEMENTWISE, **WHOLE}.items()},
}
"""What programs that became Python call."""


DIVISIONS = {"/": ("divide", "quotient"), "%": ("float_rest", "rest")}
"""Functions of floats and of integers that compute an operator."""


class Writer:
    """Writes the functions of a program in Python.

    Attributes:
        lines: the text.
        origins: for each of these the line of the program.
        line: of the program, which is written now.
        tools: values that it names.
        waiting: names of the functions with barriers.
    """

    def __init__(self, arrays: Mapping[str, Array], waiting: set[str]) -> None:
        """Begin without functions."""
        self.arrays = arrays
        self.waiting = waiting
        self.tools: dict[str, Any] = {}
        self.lines: list[str] = []
        self.origins: list[int] = []
        self.line = 1
        self.fixed: set[str] = set()

    def function(self, own: Definition) -> None:
        """Write a function; one with barriers becomes a generator."""
        self.fixed = {name for name, _ in own.parameters}
        names = ", ".join(f"v_{name}" for name, _ in own.parameters)
        self.write(0, f"def f_{own.name}({names}):")
        self.block(own.body, 1, ())

    def write(self, depth: int, line: str) -> None:
        """Write a line."""
        self.lines.append(" " * depth + line)
        self.origins.append(self.line)

    def block(
        self, body: Sequence[Statement], depth: int, tail: Sequence[Statement]
    ) -> None:
        """Write statements; `tail` is what ends an iteration of the loop around."""
        for one in body:
            self.statement(one, depth, tail)
        self.write(depth, "pass")

    def statement(self, own: Statement, depth: int, tail: Sequence[Statement]) -> None:
        """Write one statement."""
        self.line, kind, term = own.line, own.kind, own.term
        text = "" if term is None else self.term(term)
        if kind == "if":
            self.write(depth, f"if {text}:")
            self.block(own.body, depth + 1, tail)
            self.write(depth, "else:")
            self.block(own.other, depth + 1, tail)
        elif kind == "while":
            self.write(depth, "while True:")
            self.write(depth + 1, f"tick({own.line})")
            self.write(depth + 1, f"if not {text}: break")
            self.block((*own.body, *own.other), depth + 1, own.other)
        elif kind == "continue":
            self.block(tail, depth, ())
            self.write(depth, "continue")
        elif kind in ("break", "return"):
            self.write(depth, f"{kind} {text}")
        elif kind == "call":
            self.write(depth, text)
        elif kind in ("set", "store"):
            target = own.target or Term("name", "", own.word)
            self.assign(target, text, depth, own.line)
        else:
            self.fixed |= {own.word} if kind != "var" else set()
            self.write(depth, f"v_{own.word} = copied({text})")

    def assign(
        self, target: Term, text: str, depth: int, line: int, part: str = ""
    ) -> None:
        """Write an assignment of a value to a variable, an element or a member."""
        if target.kind == "member" or _is_in_vector(target):
            base, *index = target.parts
            at = self.term(index[0]) if index else _positions(target)[0]
            if self.array(self.path(base)[0]) is not None:
                self.assign(base, text, depth, line, f", {at}")
                return
            text = f"replaced({self.term(base)}, {at}, {text})"
            self.assign(base, text, depth, line)
            return
        root, indices = self.path(target)
        shared = self.array(root)
        if shared is not None:
            if not shared.is_written:
                refuse(line, f"{root.word!r} is an input, which no text may write")
            element = self.element(shared, indices, line, is_atomic=False)
            text = f"store({element}, {text}, {line}{part})"
        elif root.kind != "name" or root.word in self.fixed:
            refuse(line, f"{root.word or 'this'!r} is no variable; declare it by var")
        elif indices:
            path = _tuple(indices)
            text = f"put(v_{root.word}, {root.word!r}, {path}, {text}, {line})"
        else:
            text = f"v_{root.word} = copied({text})"
        self.write(depth, text)

    def path(self, term: Term) -> tuple[Term, list[str]]:
        """Return the array of an element, and the indices as text."""
        found: list[str] = []
        while term.kind == "index" and not _is_in_vector(term):
            term, index = term.parts
            found.insert(0, self.term(index))
        return term, found

    def array(self, root: Term) -> Array | None:
        """Return the shared array that a term is, if it is one."""
        return self.arrays.get(root.word) if root.kind == "name" else None

    def element(
        self, shared: Array, indices: Sequence[str], line: int, *, is_atomic: bool
    ) -> str:
        """Return the name and the indices of an element of shared memory."""
        if len(indices) != len(shared.shape):
            refuse(line, f"{shared.name!r} is an array; use its elements, one by one")
        if shared.is_atomic and not is_atomic:
            refuse(line, f"{shared.name!r} has atomics: use atomicLoad, atomicStore")
        return f"{shared.name!r}, {_tuple(indices)}"

    def term(self, term: Term) -> str:
        """Return a term as an expression of Python."""
        found: str = getattr(self, f"_{term.kind}")(term)
        return found

    def parts(self, term: Term) -> list[str]:
        """Return the operands of a term."""
        return [self.term(part) for part in term.parts]

    def tool(self, name: str, value: object) -> str:
        """Return the name of a value that the text uses."""
        self.tools[name] = value
        return name

    def _number(self, term: Term) -> str:
        if term.type == "bool":
            return str(bool(term.value))
        if term.type[0] != "f":
            return str(int(term.value))
        return repr(ROUND.get(term.type, float)(term.value))

    def _name(self, term: Term) -> str:
        if term.word in self.arrays:
            return self._index(term)
        return f"v_{term.word}".replace(".", "_")

    def _zero(self, term: Term) -> str:
        return f"zero({term.type!r})"

    def _index(self, term: Term) -> str:
        line = int(term.value) or self.line
        if _is_in_vector(term):
            base, index = term.parts
            at = self.term(index)
            return self.shared(base, line, f", {at}") or (
                f"get({self.term(base)}, 'the vector', ({at},), {line})"
            )
        root, indices = self.path(term)
        name = root.word or "the array"
        return self.shared(term, line) or (
            f"get({self.term(root)}, {name!r}, {_tuple(indices)}, {line})"
        )

    def shared(self, term: Term, line: int, part: str = "") -> str:
        """Return the load of an element of shared memory, or of a part of it."""
        root, indices = self.path(term)
        array = self.array(root)
        if array is None:
            return ""
        element = self.element(array, indices, line, is_atomic=False)
        return f"load({element}, {line}{part})"

    def _member(self, term: Term) -> str:
        found = _positions(term)
        at = ", ".join(map(str, found))
        is_one = len(found) == 1
        (base,) = term.parts
        line = int(base.value) or self.line
        if load := self.shared(base, line, f", {at}" if is_one else f", ({at})"):
            return load
        text = self.term(base)
        return f"{text}[{at}]" if is_one else f"swizzle({text}, ({at}))"

    def _reference(self, term: Term) -> NoReturn:
        refuse(self.line, "addresses are arguments of atomic functions only")

    def _bitcast(self, term: Term) -> str:
        return self.mapped(term, "bitcast", bitcast)

    def _convert(self, term: Term) -> str:
        return self.mapped(term, "convert", convert)

    def mapped(self, term: Term, name: str, make: Any) -> str:
        """Return a call of a function from one type to another."""
        source, target = scalar(term.parts[0].type), scalar(term.type)
        name = self.tool(f"{name}_{source}_{target}", make(source, target))
        (text,) = self.parts(term)
        return f"each({name}, {text})" if term.type in VECTORS else f"{name}({text})"

    def _unary(self, term: Term) -> str:
        kind = scalar(term.type)
        form = "(not {})" if term.word == "!" else _rounded(kind, f"{term.word}{{}}")
        (text,) = self.parts(term)
        if term.type in VECTORS:
            return f"each(lambda x: {form.format('x')}, {text})"
        return form.format(text)

    def _binary(self, term: Term) -> str:
        left, right = self.parts(term)
        kind, sign = scalar(term.parts[0].type), term.word
        if sign in DIVISIONS:
            name = DIVISIONS[sign][kind[0] not in "f"]
            form = _rounded(kind, f"{name}({{}}, {{}})")
        elif sign in ("<<", ">>"):
            form = _rounded(kind, f"{{}} {sign} ({{}} & 31)")
        elif sign in ("&&", "||"):
            form = f"({{}} {'and' if sign == '&&' else 'or'} {{}})"
        elif sign in COMPARISONS or kind == "bool":
            form = f"({{}} {sign} {{}})"
        else:
            form = _rounded(kind, f"{{}} {sign} {{}}")
        if any(part.type in VECTORS for part in term.parts):
            return f"each(lambda x, y: {form.format('x', 'y')}, {left}, {right})"
        return form.format(left, right)

    def _call(self, term: Term) -> str:
        call = f"f_{term.word}({', '.join(self.parts(term))})"
        return f"(yield from {call})" if term.word in self.waiting else call

    def _builtin(self, term: Term) -> str:
        name, kind = term.word, scalar(term.type)
        if name in BARRIERS:
            barrier = f"(yield {int(term.value)}, {BARRIERS[name]!r})"
            loaded = "".join(self.parts(term))
            return f"({barrier}, {loaded}, {barrier})[1]" if loaded else barrier
        if name.startswith("atomic"):
            return self._atomic(term)
        texts = ", ".join(self.parts(term))
        if name == "array":
            return f"[{texts}]"
        if name == "struct":
            return f"({texts},)"
        if name == "vector":
            return f"vector({VECTORS[term.type][1]}, {texts})"
        if name == "select":
            is_wide = term.parts[2].type in VECTORS
            return f"each(select, {texts})" if is_wide else f"select({texts})"
        called = f"call_{name}"
        if term.type not in VECTORS:
            return _rounded(kind, f"{called}({texts})")
        if name in WHOLE:
            return f"each(round_{kind}, {called}({texts}))"
        names = ", ".join("xyz"[: len(term.parts)])
        form = _rounded(kind, f"{called}({names})")
        return f"each(lambda {names}: {form}, {texts})"

    def _atomic(self, term: Term) -> str:
        reference, *values = term.parts
        root, indices = self.path(reference.parts[0])
        line = int(term.value)
        element = self.element(self.arrays[root.word], indices, line, is_atomic=True)
        value = self.term(values[0]) if values else "0"
        return f"atomic({term.word!r}, {element}, {value}, {line})"


def _is_in_vector(term: Term) -> bool:
    return term.kind == "index" and term.parts[0].type in VECTORS


def _positions(term: Term) -> list[int]:
    """Return which members of its operand a member is."""
    kind = term.parts[0].type
    if kind in VECTORS:
        return ["xyzw".index(letter) for letter in term.word]
    return [[name for name, _ in members_of(kind)].index(term.word)]


def _tuple(texts: Sequence[str]) -> str:
    return f"({''.join(f'{text}, ' for text in texts)})"


def _rounded(kind: str, text: str) -> str:
    return f"round_{kind}({text})" if kind in ROUND else f"({text})"


def called(body: Iterable[Statement]) -> Iterator[str]:
    """Yield the names of functions that statements call."""
    for own in body:
        terms = [term for term in (own.term, own.target) if term is not None]
        while terms:
            term = terms.pop()
            terms += term.parts
            if term.kind in ("call", "builtin"):
                yield term.word
        yield from called((*own.body, *own.other))


def waiting(functions: Mapping[str, Definition]) -> set[str]:
    """Return the names of the functions with barriers, also in what they call."""
    calls = {name: set(called(each.body)) for name, each in functions.items()}
    found = set(BARRIERS)
    while more := {name for name, own in calls.items() if own & found} - found:
        found |= more
    return found
