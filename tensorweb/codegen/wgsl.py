"""Read functions and expressions of WGSL into typed terms.

The part of WGSL that `shaders/` and the op table are written in: numbers of 32 bits,
`bool`, vectors, arrays, and all statements but `switch`. It trusts these texts;
`wgsl_program.py` also checks complete programs. Types of 64 bits are parsed too, so
that one text serves both widths.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, NoReturn

from tensorweb.codegen.wgsl_types import (
    OPEN,
    SHORT,
    VECTORS,
    WIDE,
    element_type,
)
from tensorweb.errors import ShaderError

_POWER = "[+-]?[0-9]+[fh]?"
_HEX = "[0-9a-fA-F]"
_NUMBER = (
    rf"(?:0[xX](?:{_HEX}+[iu]?"
    rf"|(?=\.?{_HEX}){_HEX}*(?:\.{_HEX}*(?:[pP]{_POWER})?|[pP]{_POWER}))"
    rf"|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE]{_POWER}|[fh]?)|[0-9]+[eE]{_POWER}"
    r"|(?:0|[1-9][0-9]*)[iufh]?)(?![\w.])"
)
"""A literal, as the specification of WGSL has it."""

_TOKEN = re.compile(
    rf"//[^\n]*|\s+|(?P<comment>/\*)|(?P<number>{_NUMBER})"
    r"|(?P<wrong>\.?[0-9][\w.]*)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><<=|>>=|<<|>>|->|==|!=|<=|>=|&&|\|\||\+\+|--|[-+*/%&|^]=|.)"
)
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_COMMENT = re.compile(r"/\*|\*/")
_ASSIGNMENTS = (
    *("=", "++", "--", "+=", "-=", "*=", "/=", "%="),
    *("&=", "|=", "^=", "<<=", ">>="),
)
COMPARISONS = frozenset(("==", "!=", "<", ">", "<=", ">="))


class Term(NamedTuple):
    """An expression with its type.

    Attributes:
        kind: `number`, `name`, `call` (of a function with text), `builtin`, `bitcast`,
            `convert`, `binary`, `unary`, `member`, `index`, `zero`, `reference`.
        type: such as `f32`, `bool`, `u64`, `vec2f`, `array<f32,8>`, `atomic<u32>`,
            `Name{member:f32,another:u32}`.
        word: the name, the operator or the member.
        parts: the operands.
        value: of a number; the line of an index or of an atomic function.
    """

    kind: str
    type: str
    word: str = ""
    parts: tuple[Term, ...] = ()
    value: float = 0


class Statement(NamedTuple):
    """One statement.

    Attributes:
        kind: `let`, `const`, `var`, `set`, `store` (to an element or a member),
            `return`, `if`, `while`, `break`, `continue`, `call`.
        word: the assigned name.
        term: the value or the condition.
        body: of `if` and `while`.
        other: of `else`; what a `while` does after its body.
        target: of a store.
        line: where it begins.
    """

    kind: str
    word: str = ""
    term: Term | None = None
    body: tuple[Statement, ...] = ()
    other: tuple[Statement, ...] = ()
    target: Term | None = None
    line: int = 0


class Definition(NamedTuple):
    """A function: parameters with their types, type of the result, and body."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str
    body: tuple[Statement, ...]


Find = Callable[[str], str]
"""Finds the text of a function by its name, `""` where there is none."""


def read_expression(text: str, types: Mapping[str, str], find: Find) -> Term:
    """Return an expression as a term.

    Args:
        text: for example `exp_f32(a)`.
        types: of the names in it.
        find: where functions are looked up.

    >>> from tensorweb.codegen.template import definition
    >>> read_expression("(a + 1)", {"a": "u32"}, definition).parts[1].type
    'u32'
    """
    parser = Parser(text, dict(types), find)
    return _settled(parser.expression())


def read_function(name: str, is_wide: bool, find: Find) -> Definition:
    """Return a function; of `is_wide` ones the integers have 64 bits.

    >>> from tensorweb.codegen.template import definition
    >>> read_function("exp_f32", False, definition).parameters
    (('x', 'f32'),)
    """
    return Parser(find(name), {}, find, is_wide).function()


TRUE = Term("number", "bool", value=1)


def refuse(
    line: int, message: str, kind: type[ShaderError] = ShaderError, column: int = 0
) -> NoReturn:
    """Raise the error about a line of a text."""
    error = kind(f"line {line}: {message}.")
    error.reports = ((message, line, column),)
    raise error


class Parser:
    """Reads one text from its beginning to its end."""

    def __init__(
        self, text: str, types: dict[str, str], find: Find, is_wide: bool = False
    ) -> None:
        self.words: list[str] = []
        self.lines: list[int] = []
        self.columns: list[int] = []
        line, begin, end = 1, -1, 0
        while found := _TOKEN.match(text, end):
            at, end = found.span()
            if found.lastgroup == "wrong":
                refuse(line, f"{found.group()!r} is no number", column=at - begin)
            if found.lastgroup == "comment":
                end = _comment_end(text, end, line)
            elif found.lastgroup:
                self.words.append(found.group())
                self.lines.append(line)
                self.columns.append(at - begin)
            if "\n" in text[at:end]:
                line += text.count("\n", at, end)
                begin = text.rindex("\n", at, end)
        self.at = 0
        self.types = types
        self.names: dict[str, str] = {}
        self.taken: set[str] = set()
        self.reserved: set[str] = set()
        self.find = find
        self.is_wide = is_wide

    @property
    def line(self) -> int:
        """The line of the next word."""
        return self.lines[min(self.at, len(self.lines) - 1)] if self.lines else 1

    def refuse(self, message: str, line: int = 0) -> NoReturn:
        """Raise the error about a line, which is that of the next word by default."""
        at = min(self.at, len(self.lines) - 1)
        is_here = self.lines and not line
        refuse(line or self.line, message, column=self.columns[at] if is_here else 0)

    def settled(self, term: Term) -> Term:
        """Return a term with the type that a number alone has."""
        return _settled(term)

    def fitted(self, term: Term, kind: str) -> Term:
        """Return a term; an abstract number gets the type that it is assigned to."""
        return typed(term, kind)

    def binary(self, sign: str, left: Term, right: Term) -> Term:
        """Return an operator on two terms."""
        return binary(sign, left, right)

    def condition(self) -> Term:
        """Read a condition."""
        return self.expression()

    def next(self) -> str:
        """Return the next word and go on."""
        if self.at >= len(self.words):
            self.refuse("the text ends too early")
        self.at += 1
        return self.words[self.at - 1]

    def take(self, *expected: str) -> None:
        """Consume the expected words."""
        for word in expected:
            if self.peek() != word:
                self.refuse(f"{word!r} expected, not {self.peek() or 'the end'!r}")
            self.at += 1

    def peek(self) -> str:
        """Return the next word, `""` at the end."""
        return self.words[self.at] if self.at < len(self.words) else ""

    def skip(self, word: str) -> bool:
        """Consume the next word if it is this one; return whether it was."""
        is_next = self.peek() == word
        self.at += is_next
        return is_next

    def type_name(self) -> str:
        """Read a type; `vec3<u32>` is returned as `vec3u`, and so on."""
        name = self.next()
        if not self.skip("<"):
            return WIDE.get(name, name) if self.is_wide else name
        element = self.type_name()
        length = f",{self.length()}" if self.skip(",") else ""
        if self.peek() in (">>", ">=", ">>="):  # of two nested types
            self.words[self.at] = self.peek()[1:]
        else:
            self.take(">")
        if name[:3] == "vec":
            return SHORT.get((element, int(name[3:])), name)
        return f"{name}<{element}{length}>"

    def length(self) -> int:
        """Read the length of an array."""
        return int(self.next().rstrip("ui"))

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Forget the names that are declared inside a `with` block after it."""
        outer = self.types, self.names
        self.types, self.names = dict(self.types), dict(self.names)
        yield
        self.types, self.names = outer

    def declare(self, name: str, kind: str) -> str:
        """Declare a name; returns it, changed if the function has another such name."""
        unique = name
        while unique in self.taken:
            unique += "_"
        self.taken.add(unique)
        self.types[name], self.names[name] = kind, unique
        return unique

    def function(self) -> Definition:
        """Read a function."""
        name, parameters, result = self.head()
        with self.scope():
            self.taken = set(self.reserved)
            named = tuple((self.declare(*each), each[1]) for each in parameters)
            return Definition(name, named, result, self.braced(result))

    def head(self) -> tuple[str, tuple[tuple[str, str], ...], str]:
        """Read the name, the parameters and the result's type of a function."""
        self.take("fn")
        name = self.next()
        self.take("(")
        parameters = []
        while not self.skip(")"):
            parameter = self.next()
            self.take(":")
            parameters.append((parameter, self.type_name()))
            self.skip(",")
        return name, tuple(parameters), self.type_name() if self.skip("->") else ""

    def block(self, result: str) -> tuple[Statement, ...]:
        """Read statements between braces, whose names end with them."""
        with self.scope():
            return self.braced(result)

    def braced(self, result: str) -> tuple[Statement, ...]:
        """Read statements between braces."""
        self.take("{")
        parsed: list[Statement] = []
        while not self.skip("}"):
            parsed += self.statement(result)
        return tuple(parsed)

    def statement(self, result: str) -> list[Statement]:
        """Read a statement."""
        word, line = self.peek(), self.line
        if word == "{":
            return list(self.block(result))
        if word == "if":
            return [self.branch(result)]
        if word == "for":
            return self.loop(result)
        if self.skip("while"):
            condition = self.condition()
            body = self.block(result)
            return [Statement("while", term=condition, body=body, line=line)]
        if self.skip("loop"):
            return [self.endless(result)]
        if self.skip(";"):
            return []
        if self.skip("return"):
            value = None
            if self.peek() != ";":
                value = self.fitted(self.expression(), result)
            statement = Statement("return", term=value, line=line)
        elif self.skip("break"):
            statement = Statement("break", line=line)
            if self.skip("if"):
                condition = self.condition()
                statement = Statement("if", "", condition, (statement,), line=line)
        elif self.skip("continue"):
            statement = Statement("continue", line=line)
        else:
            found = self.assignment()
            self.take(";")
            return found
        self.take(";")
        return [statement]

    def branch(self, result: str) -> Statement:
        """Read an `if` with what follows it."""
        line = self.line
        self.take("if")
        condition = self.condition()
        body = self.block(result)
        other: tuple[Statement, ...] = ()
        if self.skip("else"):
            is_if = self.peek() == "if"
            other = (self.branch(result),) if is_if else self.block(result)
        return Statement("if", "", condition, body, other, line=line)

    def loop(self, result: str) -> list[Statement]:
        """Read a `for` statement: its first one, and a `while`."""
        line = self.line
        self.take("for", "(")
        with self.scope():
            first = [] if self.peek() == ";" else self.assignment()
            self.take(";")
            condition = TRUE if self.peek() == ";" else self.condition()
            self.take(";")
            step = () if self.peek() == ")" else tuple(self.assignment())
            self.take(")")
            body = self.block(result)
        return [*first, Statement("while", "", condition, body, step, line=line)]

    def endless(self, result: str) -> Statement:
        """Read the rest of a `loop`."""
        line = self.line
        self.take("{")
        with self.scope():
            body: list[Statement] = []
            other: tuple[Statement, ...] = ()
            while not self.skip("}"):
                if self.skip("continuing"):
                    other = self.block(result)
                else:
                    body += self.statement(result)
        return Statement("while", "", TRUE, tuple(body), other, line=line)

    def assignment(self) -> list[Statement]:
        """Read a declaration, an assignment or a call."""
        line, word = self.line, self.peek()
        if word in ("let", "var", "const"):
            return [self.declaration()]
        if self.skip("_"):
            self.take("=")
            return [Statement("call", term=self.settled(self.expression()), line=line)]
        target = self.unary()
        if target.kind in ("call", "builtin"):
            return [Statement("call", term=target, line=line)]
        if self.peek() not in _ASSIGNMENTS:
            self.refuse(f"'=' expected, not {self.peek() or 'the end'!r}")
        is_vector = target.kind == "member" and target.parts[0].type in VECTORS
        if is_vector and len(target.word) > 1:
            self.refuse(f"{target.word!r} is several elements; assign each by itself")
        bound: list[Statement] = []
        if _calls(target):
            target = self.bind(target, bound, line)
        sign = self.next()
        if sign in ("++", "--"):
            if target.type[0] not in "iu":
                self.refuse(f"{sign} takes an integer, not {target.type}")
            value = Term("number", "integer", value=1)
        else:
            value = self.expression()
        if sign != "=":
            value = self.binary(sign[:-1], target, value)
        value = self.fitted(value, target.type)
        if target.kind == "name":
            return [Statement("set", target.word, value, line=line)]
        return [*bound, Statement("store", "", value, target=target, line=line)]

    def bind(self, target: Term, bound: list[Statement], line: int) -> Term:
        """Return a target whose indices are computed once, by declarations."""
        if target.kind not in ("index", "member"):
            return target
        base, *index = target.parts
        parts = [self.bind(base, bound, line)]
        for each in index:
            name = self.declare("__index", each.type)  # no text may have such a name
            bound.append(Statement("let", name, each, line=line))
            parts.append(Term("name", each.type, name))
        return target._replace(parts=tuple(parts))

    def declaration(self) -> Statement:
        """Read the declaration of a value or a variable."""
        line, word, name = self.line, self.next(), self.next()
        kind = self.type_name() if self.skip(":") else ""
        if kind and not self.skip("="):
            term = Term("zero", kind)
        else:
            if not kind:
                self.take("=")
            term = self.expression()
            term = self.fitted(term, kind) if kind else self.settled(term)
        return Statement(word, self.declare(name, term.type), term, line=line)

    def expression(self, level: int = 0) -> Term:
        """Read an expression, of operators from a level on."""
        if level == len(_LEVELS):
            return self.unary()
        term = self.expression(level + 1)
        while self.peek() in _LEVELS[level]:
            sign = self.next()
            term = self.binary(sign, term, self.expression(level + 1))
        return term

    def unary(self) -> Term:
        """Read an operand with the signs before it."""
        if self.peek() in ("-", "!", "~", "&"):
            sign = self.next()
            operand = self.unary()
            if sign == "&":
                return Term("reference", operand.type, sign, (operand,))
            return self.signed(sign, operand)
        term = self.primary()
        while self.peek() in (".", "["):
            line = self.line
            if self.next() == ".":
                term = self.member(term, self.next())
                continue
            index = self.settled(self.expression())
            self.take("]")
            term = self.indexed(term, index, line)
        return term

    def signed(self, sign: str, operand: Term) -> Term:
        """Return an operand with a sign before it."""
        return Term("unary", operand.type, sign, (operand,))

    def indexed(self, term: Term, index: Term, line: int) -> Term:
        """Return an element of an array or a vector."""
        return Term("index", element_type(term.type), "", (term, index), line)

    def member(self, term: Term, word: str) -> Term:
        """Return elements of a vector."""
        kind, _ = VECTORS[term.type]
        found = kind if len(word) == 1 else SHORT[kind, len(word)]
        return Term("member", found, word, (term,))

    def primary(self) -> Term:
        """Read a number, a name, a call, or an expression in parentheses."""
        word = self.next()
        if word == "(":
            term = self.expression()
            self.take(")")
            return term
        if word[0].isdigit() or (word[0] == "." and word != "."):
            return _number(word, self.is_wide)
        if word in ("true", "false"):
            return Term("number", "bool", value=float(word == "true"))
        if word == "bitcast":
            self.take("<")
            kind = self.type_name()
            self.take(">")
            return Term(
                "bitcast", kind, parts=tuple(map(self.settled, self.arguments()))
            )
        if self.peek() == "(":
            return self.call(word)
        return self.name(word)

    def name(self, word: str) -> Term:
        """Return what a name stands for."""
        if word not in self.types:
            self.at -= 1
            is_name = word.isidentifier()
            self.refuse(
                f"{word!r} is not declared" if is_name else f"unexpected {word!r}"
            )
        return Term("name", self.types[word], self.names.get(word, word))

    def arguments(self) -> list[Term]:
        """Read the arguments of a call."""
        self.take("(")
        parts = []
        while not self.skip(")"):
            parts.append(self.expression())
            if self.peek() != ")":
                self.take(",")
        return parts

    def call(self, name: str) -> Term:
        """Read the rest of a call."""
        arguments = self.arguments()
        if name in ("f32", "i32", "u32"):
            kind = WIDE.get(name, name) if self.is_wide else name
            return Term("convert", kind, parts=(self.settled(arguments[0]),))
        if name in VECTORS:
            parts = tuple(typed(each, VECTORS[name][0]) for each in arguments)
            return Term("builtin", name, name, parts)
        if name == "select":
            first, second = _unified(*arguments[:2])
            return Term("builtin", first.type, name, (first, second, arguments[2]))
        text = self.find(name)
        if text:
            return _call(name, text, arguments)
        kinds = [each.type for each in arguments if each.type not in OPEN]
        kind = kinds[0] if kinds else "f32"
        parts = tuple(typed(each, kind) for each in arguments)
        return Term("builtin", kind, name, parts)


def _calls(term: Term) -> bool:
    """Return whether a term has a call that may write memory."""
    is_call = term.kind == "call" or term.word[:6] == "atomic"
    return is_call or any(map(_calls, term.parts))


_HEAD = re.compile(r"fn \w+\(([^)]*)\)\s*->\s*(\w+)")


def _call(name: str, text: str, arguments: Sequence[Term]) -> Term:
    """Return a call of a function; of integers of 64 bits it computes with those."""
    head = _HEAD.search(text)
    assert head is not None, f"internal: {name} has no head"
    kinds = [each.split(":")[1].strip() for each in head[1].split(",") if ":" in each]
    is_wide = any(each.type in ("i64", "u64") for each in arguments)
    if is_wide:
        kinds = [WIDE.get(kind, kind) for kind in kinds]
    result = WIDE.get(head[2], head[2]) if is_wide else head[2]
    parts = tuple(map(typed, arguments, kinds))
    return Term("call", result, name, parts, value=float(is_wide))


def _comment_end(text: str, at: int, line: int) -> int:
    """Return the end of a comment, which may have comments inside."""
    depth = 1
    for mark in _COMMENT.finditer(text, at):
        depth += 1 if mark.group() == "/*" else -1
        if not depth:
            return mark.end()
    refuse(line, "the comment that begins here has no end")


def _number(word: str, is_wide: bool) -> Term:
    """Return a literal, which is a valid one."""
    word = word.lower()
    is_hex, has_power = word[:2] == "0x", "p" in word
    ends = "iu" if is_hex and not has_power else "iufh"
    suffix = word[-1] if word[-1] in ends else ""
    digits = word.removesuffix(suffix)
    is_float = "." in word or has_power or suffix in ("f", "h")
    if not is_float and (is_hex or "e" not in word):
        kind = {"u": "u32", "i": "i32"}.get(suffix, "integer")
        kind = WIDE.get(kind, kind) if is_wide else kind
        return Term("number", kind, value=int(digits, 0))
    try:
        value = float.fromhex(digits) if is_hex else float(digits)
    except OverflowError:
        value = math.inf
    kind = {"f": "f32", "h": "f16"}.get(suffix, "float")
    return Term("number", kind, value=value)


def binary(sign: str, left: Term, right: Term) -> Term:
    """Return an operator on two terms."""
    if sign in ("<<", ">>"):
        left = _settled(left)
        wide = left.type in ("i64", "u64")
        return Term(
            "binary", left.type, sign, (left, typed(right, "u64" if wide else "u32"))
        )
    left, right = _unified(left, right)
    kind = "bool" if sign in COMPARISONS else left.type
    return Term("binary", kind, sign, (left, right))


def _unified(left: Term, right: Term) -> tuple[Term, Term]:
    """Return two terms of one type; a number takes that of the other term."""
    if _is_number(right) and right.type != left.type:
        return left, typed(right, left.type)
    if _is_number(left) and right.type != left.type:
        return typed(left, right.type), right
    if left.type in OPEN:
        return typed(left, right.type), right
    if right.type in OPEN:
        return left, typed(right, left.type)
    return left, right


def _is_number(term: Term) -> bool:
    return term.kind == "number" or (
        term.kind == "unary" and term.parts[0].kind == "number"
    )


def typed(term: Term, kind: str) -> Term:
    """Return a term whose type was open, or a number, with a type."""
    if term.type == kind or (term.type not in OPEN and not _is_number(term)):
        return term
    return term._replace(
        type=kind, parts=tuple(typed(each, kind) for each in term.parts)
    )


def _settled(term: Term) -> Term:
    """Return a term with the type that a number alone has."""
    if term.type not in OPEN:
        return term
    return typed(term, "i32" if term.type == "integer" else "f32")
