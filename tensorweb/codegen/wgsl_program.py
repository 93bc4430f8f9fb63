"""Read a complete program of WGSL: storages, constants, functions and `main`.

No compiler has checked these texts, so types are checked here, and what lies outside
of the part of WGSL that is read is refused with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import NamedTuple, NoReturn

from tensorweb.codegen.wgsl import (
    COMPARISONS,
    TRUE,
    Definition,
    Parser,
    Statement,
    Term,
    refuse,
    typed,
)
from tensorweb.codegen.wgsl_types import (
    FLOATS,
    INTEGERS,
    OPEN,
    RANGES,
    SCALARS,
    SIGNED,
    VECTORS,
    array_parts,
    members_of,
    scalar,
)
from tensorweb.errors import ShaderError

OPERANDS = {
    **dict.fromkeys(("~", "^", "<<", ">>"), INTEGERS),
    **dict.fromkeys(("&", "|"), INTEGERS | {"bool"}),
    **dict.fromkeys(("==", "!="), INTEGERS | SIGNED | {"bool"}),
    "!": frozenset(("bool",)),
    **dict.fromkeys(("countLeadingZeros", "countOneBits"), INTEGERS),
    **dict.fromkeys(("countTrailingZeros", "reverseBits"), INTEGERS),
    **dict.fromkeys(("abs", "clamp", "max", "min"), INTEGERS | SIGNED),
    "sign": SIGNED,
}
"""Types that operators and functions take; other operators take all numbers."""

_OF_ONE = (
    "abs acos asin atan ceil cos cosh countLeadingZeros countOneBits "
    "countTrailingZeros degrees exp exp2 floor fract inverseSqrt log log2 radians "
    "reverseBits round saturate sign sin sinh sqrt tan tanh trunc"
)
FUNCTIONS = {
    **dict.fromkeys(_OF_ONE.split(), 1),
    **dict.fromkeys(("atan2", "max", "min", "pow", "step"), 2),
    **dict.fromkeys(("clamp", "fma", "mix", "smoothstep"), 3),
}
"""Functions of WGSL on elements: how many arguments each has."""

OF_VECTORS = ("all", "any", "cross", "distance", "dot", "length", "normalize")

ATOMICS = (
    *("atomicAdd", "atomicAnd", "atomicExchange", "atomicLoad", "atomicMax"),
    *("atomicMin", "atomicOr", "atomicStore", "atomicSub", "atomicXor"),
)

BARRIERS = {
    "workgroupBarrier": "workgroup",
    "storageBarrier": "storage",
    "workgroupUniformLoad": "workgroup",
}
"""The memory whose accesses a barrier orders."""

INSTEAD = {
    "switch": "write if and else",
    "override": "use const",
    "private": "declare the variable in a function",
    "ptr": "pass the value, and return the new one",
}
"""What a text may have instead of what is refused."""

LENGTH_LEVEL = 8
"""The level of `+`: at lower ones `>` would continue the length in `array<f32, 8>`."""


class Array(NamedTuple):
    """Memory that the invocations of a workgroup share.

    Attributes:
        name: in the text.
        kind: type of its elements.
        shape: lengths of nested arrays; -1 is that of a storage.
        space: `storage` or `workgroup`.
        is_written: whether the text may write it.
        is_atomic: whether its elements are atomics.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    space: str
    is_written: bool
    is_atomic: bool


class Module(NamedTuple):
    """A program.

    Attributes:
        arrays: by name; storages in order of their bindings, then those of workgroups.
        parameters: names and types of the values that a launch gets.
        constants: declarations of constants that are no single numbers.
        functions: by name, with `main`.
        builtins: for each parameter of `main` WGSL's name of it.
        workgroup: invocations along x, y and z.
    """

    arrays: dict[str, Array]
    parameters: tuple[tuple[str, str], ...]
    constants: tuple[Statement, ...]
    functions: dict[str, Definition]
    builtins: dict[str, str]
    workgroup: tuple[int, int, int]


class OutsideError(ShaderError):
    """A text has what only a GPU runs."""


Fold = Callable[[Term, tuple[Statement, ...]], object]
"""Computes a constant from its term and the constants that are no single numbers."""


class ProgramParser(Parser):
    """Reads a program, and refuses what it cannot."""

    def __init__(self, text: str, fold: Fold) -> None:
        """Begin at the first line; `fold` computes constants."""
        super().__init__(text, {}, lambda _: "")
        self.fold = fold
        self.values: dict[str, Term] = {}
        self.constants: list[Statement] = []
        self.arrays: dict[str, Array] = {}
        self.named: dict[str, str] = {}
        self.uniform = ""
        self.heads: dict[str, tuple[tuple[tuple[str, str], ...], str]] = {}
        self.here: set[str] = set()
        self.calls: dict[str, dict[str, int]] = {}
        self.caller = ""
        self.is_in_loop = False

    def program(self) -> Module:
        """Return the program.

        Raises:
            ShaderError: with a report for the first line that is not understood.
        """
        begins: list[tuple[bool, int]] = []
        bodies: list[int] = []
        builtins: dict[str, str] = {}
        workgroup = 0
        while self.peek():
            word, line = self.next(), self.line
            if word == "@":
                if self.next() == "workgroup_size":
                    workgroup = self.at
                if self.peek() == "(":
                    self.go_behind(")")
            elif word in ("struct", "alias", "var", "const"):
                begins.append((word == "var", self.at - 1))
                self.go_behind("}" if word == "struct" else ";")
            elif word == "fn":
                self.at -= 1
                bodies.append(self.at)
                builtins |= self.without_builtins()
                self.go_behind("}")
            elif word in ("enable", "diagnostic", "requires"):
                self.go_behind(";")
            elif word != ";":
                self.outside(word, line)
        for _, self.at in sorted(begins):  # they may stand below of what names them
            self.declare_global()
        for self.at in bodies:
            name, parameters, result = self.head()
            self.new(name)
            self.heads[name] = parameters, result
        self.reserved = {*self.types, *self.arrays}
        functions = {}
        for self.at in bodies:
            found = self.function()
            functions[found.name] = found
        self.refuse_recursion()
        if "main" not in functions:
            self.refuse("the text has no function main")
        arrays = sorted(self.arrays.values(), key=lambda each: each.space)
        names = {each.name: each for each in arrays}
        parameters = members_of(self.types.get(self.uniform, ""))
        constants = tuple(self.constants)
        x, y, z = self.sizes(workgroup)
        return Module(names, parameters, constants, functions, builtins, (x, y, z))

    # Declarations

    def refuse(self, message: str, line: int = 0) -> NoReturn:
        """Raise the error about a line, in which structs are named without members."""
        super().refuse(re.sub(r"(?<=\w)\{\S*\}", "", message), line)

    def outside(self, what: str, line: int = 0) -> NoReturn:
        """Refuse what is not read."""
        instead = f"; {INSTEAD[what]}" if what in INSTEAD else ""
        refuse(
            line or self.line,
            f"{what!r} is not in the part of WGSL that runs without a GPU{instead}",
            OutsideError,
        )

    def without_builtins(self) -> dict[str, str]:
        """Remove the attributes of parameters before the next brace; return them."""
        found, at = {}, self.at
        while self.words[at] != "{":
            if self.words[at] == "@":
                found[self.words[at + 5]] = self.words[at + 3]
                del self.words[at : at + 5]
                del self.lines[at : at + 5], self.columns[at : at + 5]
            at += 1
        return found

    def go_behind(self, last: str) -> None:
        """Skip past the next `last`; a closing bracket is the one that matches."""
        opening = {"}": "{", ")": "("}.get(last, "")
        depth = 0
        while True:
            word = self.next()
            depth += (word == opening) - (word == last)
            if word == last and depth <= 0:
                return

    def declare_global(self) -> None:
        """Read a declaration outside of functions that is no function."""
        word = self.next()
        if word == "var":
            self.array()
        elif word == "const":
            self.at -= 1
            self.declaration()
            self.take(";")
        elif word == "struct":
            name = self.next()
            self.named[name] = f"{name}{{{self.members()}}}"
        else:
            name = self.next()
            self.take("=")
            self.named[name] = self.type_name()
            self.take(";")

    def sizes(self, at: int) -> list[int]:
        """Read the invocations of a workgroup along its axes."""
        self.at = at
        found = [int(self.folded(each)) for each in self.arguments()] if at else []
        return [*found, 1, 1, 1][:3]

    def members(self) -> str:
        """Read the members of a struct; the type has them in its name."""
        self.take("{")
        found = []
        while not self.skip("}"):
            name = self.next()
            self.take(":")
            found.append(f"{name}:{self.type_name()}")
            self.skip(",")
        return ",".join(found)

    def array(self) -> None:
        """Read the rest of the declaration of shared memory or of parameters."""
        line = self.line
        space = mode = ""
        if self.skip("<"):
            space = self.next()
            mode = self.next() if self.skip(",") else "read_write"
            self.take(">")
        name = self.next()
        self.new(name)
        self.take(":")
        if space not in ("storage", "workgroup", "uniform"):
            self.outside(space or "private", line)
        kind = self.type_name()
        self.take(";")
        self.types[name] = kind
        if space == "uniform":
            self.uniform = name
            return
        shape: list[int] = []
        while kind.startswith("array<"):
            kind, length = array_parts(kind)
            shape.append(-1 if length is None else length)
        for _, member in members_of(kind) if space == "storage" else ():
            if member not in ("f32", "i32", "u32"):
                self.outside(f"a storage of structs with a {member}", line)
        is_atomic = kind.startswith("atomic<")
        if is_atomic:
            kind = kind[len("atomic<") : -1]
            if kind not in ("i32", "u32"):
                self.refuse(f"an atomic is of type i32 or u32, not {kind}", line)
        self.types[name] = self.types[name].replace(f"atomic<{kind}>", kind)
        is_written = mode == "read_write"
        found = Array(name, kind, tuple(shape), space, is_written, is_atomic)
        self.arrays[name] = found

    def length(self) -> int:
        """Read the length of an array."""
        return int(self.folded(self.expression(LENGTH_LEVEL)))

    def folded(self, term: Term) -> float:
        """Return the value of a constant."""
        value = self.fold(term, tuple(self.constants))
        if not isinstance(value, int | float):
            self.refuse("a constant number is expected")
        return value

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Forget the names that are declared inside a `with` block after it."""
        outer = self.values, self.here
        self.values, self.here = dict(self.values), set()
        with super().scope():
            yield
        self.values, self.here = outer

    def new(self, name: str) -> None:
        """Note a name of this scope; refuse a second declaration."""
        if name in self.here and name[:2] != "__":
            self.refuse(f"{name!r} is declared already in this scope")
        self.here.add(name)

    def declare(self, name: str, kind: str) -> str:
        """Declare a name; returns it, changed if the function has another such name."""
        self.new(name)
        self.values.pop(name, None)
        return super().declare(name, kind)

    def declaration(self) -> Statement:
        """Read a declaration; a constant number stands for its value from now on."""
        if self.peek() != "const":
            if self.words[self.at + 1] == "<":
                self.outside(self.words[self.at + 2])
            found = super().declaration()
            if found.term is not None and not found.term.type:
                self.refuse(f"{found.term.word} returns nothing", found.line)
            return found
        line, _, name = self.line, self.next(), self.next()
        kind = self.type_name() if self.skip(":") else ""
        self.take("=")
        term = self.expression()
        term = self.fitted(term, kind) if kind else term
        found = Statement("const", self.declare(name, term.type), term, line=line)
        if term.type in SCALARS or term.type in OPEN:
            value = self.folded(term)
            self.values[name] = Term("number", term.type, value=value)
        elif not self.reserved:  # outside of functions
            self.constants.append(found)
        return found

    # Statements and expressions

    def statement(self, result: str) -> list[Statement]:
        """Read a statement."""
        word, was_in_loop = self.peek(), self.is_in_loop
        if word in INSTEAD:
            self.outside(word)
        if word in ("break", "continue") and not was_in_loop:
            self.refuse(f"{word!r} is outside of a loop")
        if result and [word, *self.words[self.at + 1 : self.at + 2]] == ["return", ";"]:
            self.refuse(f"return without a value; the function returns {result}")
        self.is_in_loop |= word in ("for", "while", "loop")
        found = super().statement(result)
        self.is_in_loop = was_in_loop
        return found

    def function(self) -> Definition:
        """Read a function."""
        self.caller = self.words[self.at + 1]
        found = super().function()
        if found.result and not returns(found.body):
            line = self.lines[self.at - 1]
            self.refuse(f"{found.name} ends without a return of {found.result}", line)
        return found

    def refuse_recursion(self) -> None:
        """Refuse functions that call themselves, also by others."""
        for name in self.calls:
            seen: set[str] = set()
            waiting = [name]
            while waiting:
                for called, line in self.calls.get(waiting.pop(), {}).items():
                    if called == name:
                        self.refuse(f"{name} calls itself, which WGSL has not", line)
                    if called not in seen:
                        seen.add(called)
                        waiting.append(called)

    def type_name(self) -> str:
        """Read a type."""
        if self.peek() in INSTEAD or self.peek()[:3] == "mat":
            self.outside(self.peek())
        if self.peek() in self.named:
            return self.named[self.next()]
        return super().type_name()

    def condition(self) -> Term:
        """Read a condition."""
        return self.fitted(self.expression(), "bool")

    def fitted(self, term: Term, kind: str) -> Term:
        """Return a term of a type; raise if it has another one."""
        is_narrow = term.type == "float" and kind not in ("f32", "f16", "float")
        if term.type in OPEN and kind != "bool" and not is_narrow:
            term = self.checked(typed(term, kind))
        if term.type != kind:
            found = {"integer": "an integer", "float": "a float"}.get(term.type)
            self.refuse(
                f"{kind or 'nothing'} is expected, and this is "
                f"{found or term.type}; WGSL converts no types, write {kind}(…)"
            )
        return term

    def unified(self, what: str, *terms: Term) -> tuple[Term, ...]:
        """Return terms of one type, or of vectors of it and elements."""
        kinds = [scalar(each.type) for each in terms]
        fixed = {kind for kind in kinds if kind not in OPEN}
        widths = {each.type for each in terms if each.type in VECTORS}
        is_narrow = "float" in kinds and fixed - {"f32", "f16"}
        if len(fixed) > 1 or len(widths) > 1 or is_narrow:
            listed = " and ".join(dict.fromkeys(each.type for each in terms))
            self.refuse(
                f"{what} has operands of the types {listed}; WGSL converts no types, "
                f"write {(sorted(fixed) or ['f32'])[0]}(…)"
            )
        kind = fixed.pop() if fixed else "float" if "float" in kinds else "integer"
        return tuple(
            self.checked(typed(each, kind)) if each.type in OPEN else each
            for each in terms
        )

    def settled(self, term: Term) -> Term:
        """Return a term with the type that a number alone has."""
        return self.checked(super().settled(term))

    def checked(self, term: Term) -> Term:
        """Return a term; refuse a constant that its type has not."""
        if term.kind == "number":
            low, high = RANGES[term.type]
            if not low <= term.value <= high:
                kind = {"integer": "i32", "float": "f32"}.get(term.type, term.type)
                self.refuse(f"{term.value} is no value of {kind}")
        return term

    def takes(self, what: str, term: Term, kinds: Set[str]) -> None:
        """Refuse an operand of another type."""
        if scalar(term.type) not in kinds:
            listed = ", ".join(sorted(kinds - {*OPEN}))
            self.refuse(f"{what} takes {listed}, not {term.type or 'nothing'}")

    def constant(self, term: Term) -> Term:
        """Return an operator, computed if its operands are numbers."""
        if any(part.kind != "number" for part in term.parts):
            return term
        exact = term
        if term.type in ("i32", "u32") and term.word in "+-*/%":  # not wrapped
            parts = tuple(each._replace(type="integer") for each in term.parts)
            exact = term._replace(type="integer", parts=parts)
        value = self.fold(exact, ())
        assert isinstance(value, int | float), "internal: a constant without value"
        return self.checked(Term("number", term.type, value=value))

    def signed(self, sign: str, operand: Term) -> Term:
        """Return an operand with a sign before it."""
        self.takes(sign, operand, OPERANDS.get(sign, SIGNED))
        return self.constant(super().signed(sign, operand))

    def indexed(self, term: Term, index: Term, line: int) -> Term:
        """Return an element of an array or a vector."""
        if term.type not in VECTORS and term.type[:6] != "array<":
            self.refuse(f"{term.type or 'nothing'} has no elements", line)
        if index.type not in ("i32", "u32"):
            self.refuse(f"an index is an i32 or a u32, not {index.type}", line)
        found = VECTORS.get(term.type) or array_parts(term.type)
        if index.kind == "number" and not 0 <= index.value < (found[1] or 2**32):
            self.refuse(f"{term.type} has no element {index.value}", line)
        return super().indexed(term, index, line)

    def binary(self, sign: str, left: Term, right: Term) -> Term:
        """Return an operator on two terms."""
        for each in (left, right) if sign not in ("&&", "||") else ():
            self.takes(sign, each, OPERANDS.get(sign, INTEGERS | SIGNED))
        if sign in ("<<", ">>"):
            is_constant = left.kind == right.kind == "number"
            left = left if is_constant else self.settled(left)
            kind = left.type if left.type in VECTORS else "u32"
            kind = kind.replace("i", "u") if left.type in VECTORS else kind
            right = self.fitted(right, kind)
            if right.kind == "number" and right.value > 31:
                self.refuse(f"{sign} by {right.value} of 32 bits")
            return self.constant(Term("binary", left.type, sign, (left, right)))
        if sign in ("&&", "||"):
            sides = self.fitted(left, "bool"), self.fitted(right, "bool")
            return Term("binary", "bool", sign, sides)
        first, second = self.unified(sign, left, right)
        kind = first.type if first.type in VECTORS else second.type
        if sign in COMPARISONS:
            kind = f"{kind[:4]}b" if kind in VECTORS else "bool"
        is_zero = second.kind == "number" and not second.value
        if sign in ("/", "%") and is_zero and scalar(second.type) in INTEGERS:
            self.refuse(f"{sign} by zero")
        return self.constant(Term("binary", kind, sign, (first, second)))

    def unary(self) -> Term:
        """Read an operand with the signs before it."""
        if self.peek() == "*":
            self.outside("ptr")
        return super().unary()

    def member(self, term: Term, word: str) -> Term:
        """Return elements of a vector, a member, or a parameter of the launch."""
        fields = dict(members_of(term.type))
        if word in fields:
            if term.kind == "name" and term.word == self.uniform:
                return Term("name", fields[word], f"{term.word}.{word}")
            return Term("member", fields[word], word, (term,))
        width = VECTORS.get(term.type, ("", 0))[1]
        word = word.translate(str.maketrans("rgba", "xyzw")) if width else word
        if not word or set(word) - set("xyzw"[:width]) or len(word) > 4:
            self.refuse(f"{term.type} has no member {word!r}")
        return super().member(term, word)

    def primary(self) -> Term:
        """Read a number, a name, a call, or an expression in parentheses."""
        word, behind = self.peek(), self.words[self.at + 1 : self.at + 2]
        is_generic = behind == ["<"] and (word == "array" or word[:3] == "vec")
        if is_generic or (behind == ["("] and word in self.named):
            kind = self.type_name()
            return self.made(kind, self.arguments())
        if word in self.values and behind != ["("]:
            return self.values[self.next()]
        return self.checked(super().primary())

    def made(self, kind: str, arguments: list[Term]) -> Term:
        """Return a value of a type with given elements or members."""
        if kind in SCALARS:
            return self.call_of(kind, arguments, self.line)
        if not arguments:
            return Term("zero", kind)
        if kind[-1] == "}":
            members = members_of(kind)
            self.check_count(kind, len(arguments), len(members))
            kinds = [each for _, each in members]
            parts = tuple(map(self.fitted, arguments, kinds))
            return Term("builtin", kind, "struct", parts)
        if kind in VECTORS:
            element, width = VECTORS[kind]
            (first,) = arguments[:1]
            if len(arguments) == 1 and VECTORS.get(first.type, ("", 0))[1] == width:
                return Term("convert", kind, parts=(first,))
            parts = tuple(
                each if each.type in VECTORS else self.fitted(each, element)
                for each in arguments
            )
            count = sum(VECTORS.get(each.type, ("", 1))[1] for each in parts)
            if count not in (1, width):
                self.refuse(f"{kind} of {count} elements")
            return Term("builtin", kind, "vector", parts)
        element, length = array_parts(kind)
        if length is not None and length != len(arguments):
            self.refuse(f"{kind} of {len(arguments)} elements")
        parts = tuple(self.fitted(each, element) for each in arguments)
        return Term("builtin", kind, "array", parts)

    def call(self, name: str) -> Term:
        """Read the rest of a call."""
        line = self.lines[self.at - 1]
        return self.call_of(name, self.arguments(), line)

    def call_of(self, name: str, arguments: list[Term], line: int) -> Term:
        """Return a call in a line."""
        if name in self.heads:
            parameters, result = self.heads[name]
            self.calls.setdefault(self.caller, {}).setdefault(name, line)
            self.check_count(name, len(arguments), len(parameters))
            kinds = [kind for _, kind in parameters]
            parts = tuple(map(self.fitted, arguments, kinds))
            return Term("call", result, name, parts, line)
        if name in SCALARS:
            self.check_count(name, len(arguments), 1)
            (first,) = arguments
            if first.type not in (*SCALARS, *OPEN):
                self.refuse(
                    f"{name} takes a number, not {first.type or 'nothing'}", line
                )
            if first.type == "integer" and name != "bool":
                return self.fitted(first, name)
            return Term("convert", name, parts=(self.settled(first),))
        if name in VECTORS:
            return self.made(name, arguments)
        if name in ("vec2", "vec3", "vec4", "array") and arguments:
            parts = self.unified(name, *map(self.settled, arguments))
            kind = scalar(parts[0].type) if name != "array" else parts[0].type
            ended = f"{kind[0] if kind != 'f16' else 'h'}"
            is_array = name == "array"
            made = f"array<{kind},{len(parts)}>" if is_array else f"{name}{ended}"
            return self.made(made, list(parts))
        return self.builtin(name, arguments, line)

    def builtin(self, name: str, arguments: list[Term], line: int) -> Term:
        """Return a call of a function that WGSL has itself."""
        if name == "workgroupUniformLoad":
            self.check_count(name, len(arguments), 1)
            (reference,) = arguments
            if reference.kind != "reference":
                self.refuse(f"{name} needs an address, &x", line)
            return Term("builtin", reference.type, name, reference.parts, line)
        if name in BARRIERS:
            return Term("builtin", "", name, value=line)
        if name in ATOMICS:
            return self.atomic(name, arguments, line)
        if name == "select":
            self.check_count(name, len(arguments), 3)
            first, second = self.unified(name, *arguments[:2])
            found = arguments[2].type
            width = VECTORS.get(first.type, ("", 0))[1]
            if found != "bool" and VECTORS.get(found) != ("bool", width):
                self.refuse(f"the condition of select is a bool, not {found}", line)
            return Term("builtin", first.type, name, (first, second, arguments[2]))
        if name in OF_VECTORS:
            parts = self.unified(name, *arguments)
            is_vector = name in ("cross", "normalize")
            kind = parts[0].type if is_vector else scalar(parts[0].type)
            return Term("builtin", kind, name, parts)
        if name not in FUNCTIONS:
            self.outside(name, line)
        self.check_count(name, len(arguments), FUNCTIONS[name])
        parts = self.unified(name, *arguments)
        kinds = OPERANDS.get(name, FLOATS)
        if kinds is FLOATS:
            parts = tuple(
                typed(each, "float") if each.type == "integer" else each
                for each in parts
            )
        for each in parts:
            self.takes(name, each, kinds)
        kind = next((p.type for p in parts if p.type in VECTORS), parts[0].type)
        return Term("builtin", kind, name, parts)

    def atomic(self, name: str, arguments: list[Term], line: int) -> Term:
        """Return a call of an atomic function."""
        count = 1 if name == "atomicLoad" else 2
        self.check_count(name, len(arguments), count)
        reference, *rest = arguments
        root = reference.parts[0] if reference.kind == "reference" else reference
        while root.kind == "index":
            root = root.parts[0]
        array = self.arrays.get(root.word)
        if reference.kind != "reference" or array is None or not array.is_atomic:
            self.refuse(f"{name} needs the address of an atomic, &x[i]", line)
        values = (self.fitted(each, reference.type) for each in rest)
        parts = (reference, *values)
        return Term("builtin", reference.type, name, parts, line)

    def check_count(self, name: str, count: int, expected: int) -> None:
        """Refuse a wrong count of arguments."""
        if count != expected:
            self.refuse(f"{name} takes {expected} arguments, not {count}")


def returns(body: Sequence[Statement]) -> bool:
    """Return whether statements always end by a return."""
    return any(
        each.kind == "return"
        or (each.kind == "if" and returns(each.body) and returns(each.other))
        or (each.term is TRUE and not breaks((*each.body, *each.other)))
        for each in body
    )


def breaks(body: Sequence[Statement]) -> bool:
    """Return whether statements of a loop may end it."""
    return any(
        each.kind == "break"
        or (each.kind == "if" and breaks((*each.body, *each.other)))
        for each in body
    )
