"""Write the functions of a program of WGSL in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from tensorweb.codegen.wgsl import (
    COMPARISONS,
    VECTORS,
    Definition,
    Statement,
    Term,
    refuse,
)
from tensorweb.codegen.wgsl_program import BARRIERS, Array, scalar
from tensorweb.codegen.wgsl_values import ROUND, WHOLE, bitcast, convert

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
            at = self.term(index[0]) if index else "xyzw".index(target.word)
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
        at = ", ".join(str("xyzw".index(letter)) for letter in term.word)
        is_one = len(at) == 1
        (base,) = term.parts
        line = int(base.value) or self.line
        if found := self.shared(base, line, f", {at}" if is_one else f", ({at})"):
            return found
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
            return f"yield {int(term.value)}, {BARRIERS[name]!r}"
        if name.startswith("atomic"):
            return self._atomic(term)
        texts = ", ".join(self.parts(term))
        if name == "array":
            return f"[{texts}]"
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
