"""Read functions and expressions of WGSL into typed terms, for `translation.py`.

The part of WGSL that `shaders/math/` and the op table are written in: numbers of 32
bits, `bool` and pairs of floats, `let` and `var`, `if` that returns, `while` and `for`.
Types of 64 bits are parsed too, so that one text serves both widths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

WIDE = {"i32": "i64", "u32": "u64"}
"""Names of the integer types of a function that computes with 64 bits."""

PAIR_PARTS = {"vec2f": "f32", "vec2u": "u32"}
"""Pair types, and the type of their elements."""

_TOKEN = re.compile(
    r"//[^\n]*|\s+|(?P<number>0x[0-9a-fA-F.]+(?:p[+-]?\d+)?[uif]?"
    r"|\d+\.?\d*(?:[eE][+-]?\d+)?[uif]?|\.\d+)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><<=|>>=|<<|>>|->|==|!=|<=|>=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^!~<>=(){}"
    r"\[\],;:.])"
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
COMPARISONS = frozenset(("==", "!=", "<", ">", "<=", ">="))

_OPEN = ("integer", "float")
"""Types of literals whose final type follows from the other operand."""


class Term(NamedTuple):
    """An expression with its type.

    Attributes:
        kind: `number`, `name`, `call` (of a function with text), `builtin`, `bitcast`,
            `convert`, `binary`, `unary`, `member`.
        type: `f32`, `i32`, `u32`, `bool`, `f64`, `i64`, `u64`, `vec2f` or `vec2u`.
        word: the name, the operator or the member.
        parts: the operands.
        value: of a number.
    """

    kind: str
    type: str
    word: str = ""
    parts: tuple[Term, ...] = ()
    value: float = 0


class Statement(NamedTuple):
    """One statement.

    Attributes:
        kind: `let`, `var`, `set`, `return`, `if` (its body returns), `while`.
        word: the assigned name.
        term: the value or the condition.
        body: of `if` and `while`.
    """

    kind: str
    word: str = ""
    term: Term | None = None
    body: tuple[Statement, ...] = ()


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


class Parser:
    """Reads one text from its beginning to its end."""

    def __init__(
        self, text: str, types: dict[str, str], find: Find, is_wide: bool = False
    ) -> None:
        self.words = [m.group() for m in _TOKEN.finditer(text) if m.lastgroup]
        self.at = 0
        self.types = types
        self.find = find
        self.is_wide = is_wide

    def settled(self, term: Term) -> Term:
        """Return a term with the type that a number alone has."""
        return _settled(term)

    def next(self) -> str:
        """Return the next word and go on."""
        self.at += 1
        return self.words[self.at - 1]

    def take(self, *expected: str) -> None:
        """Consume the expected words."""
        for word in expected:
            token = self.next()
            if token != word:
                raise AssertionError(f"internal: {word!r} expected, not {token!r}")

    def peek(self) -> str:
        """Return the next word, `""` at the end."""
        return self.words[self.at] if self.at < len(self.words) else ""

    def type_name(self) -> str:
        """Read the name of a type."""
        name = self.next()
        return WIDE.get(name, name) if self.is_wide else name

    def function(self) -> Definition:
        """Read a function."""
        self.take("fn")
        name = self.next()
        self.take("(")
        parameters = []
        while self.peek() != ")":
            parameter = self.next()
            self.take(":")
            parameters.append((parameter, self.type_name()))
            if self.peek() == ",":
                self.next()
        self.take(")", "->")
        result = self.type_name()
        self.types.update(parameters)
        return Definition(name, tuple(parameters), result, self.block(result))

    def block(self, result: str) -> tuple[Statement, ...]:
        """Read statements between braces."""
        self.take("{")
        parsed: list[Statement] = []
        while self.peek() != "}":
            parsed += self.statement(result)
        self.take("}")
        return tuple(parsed)

    def statement(self, result: str) -> list[Statement]:
        """Read a statement."""
        word = self.next()
        if word == "{":
            self.at -= 1
            return list(self.block(result))
        if word == "return":
            term = typed(self.expression(), result)
            self.take(";")
            return [Statement("return", term=term)]
        if word in ("if", "while"):
            self.take("(")
            condition = self.expression()
            self.take(")")
            return [Statement(word, term=condition, body=self.block(result))]
        if word == "for":
            return self.loop(result)
        self.at -= 1
        statement = self.assignment()
        self.take(";")
        return [statement]

    def loop(self, result: str) -> list[Statement]:
        """Parse the rest of a `for` statement."""
        self.take("(")
        first = self.assignment()
        self.take(";")
        condition = self.expression()
        self.take(";")
        step = self.assignment()
        self.take(")")
        body = self.block(result)
        return [first, Statement("while", term=condition, body=(*body, step))]

    def assignment(self) -> Statement:
        """Parse an assignment to a name."""
        word = self.next()
        if word in ("let", "var"):
            name = self.next()
            self.take("=")
            term = self.settled(self.expression())
            self.types[name] = term.type
            return Statement(word, name, term)
        sign = self.next()
        own = Term("name", self.types[word], word)
        value = self.expression()
        if sign != "=":
            value = binary(sign[:-1], own, value)
        return Statement("set", word, typed(value, own.type))

    def expression(self, level: int = 0) -> Term:
        """Read an expression, of operators from a level on."""
        if level == len(_LEVELS):
            return self.unary()
        term = self.expression(level + 1)
        while self.peek() in _LEVELS[level]:
            sign = self.next()
            term = binary(sign, term, self.expression(level + 1))
        return term

    def unary(self) -> Term:
        """Read an operand with the signs before it."""
        if self.peek() in ("-", "!", "~"):
            sign = self.next()
            operand = self.unary()
            return Term("unary", operand.type, sign, (operand,))
        term = self.primary()
        while self.peek() == ".":
            self.next()
            kind = PAIR_PARTS[term.type]
            term = Term("member", kind, self.next(), (term,))
        return term

    def primary(self) -> Term:
        """Parse a number, a name, a call, or an expression in parentheses."""
        word = self.next()
        if word == "(":
            term = self.expression()
            self.take(")")
            return term
        if word[0].isdigit() or word[0] == ".":
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
        return Term("name", self.types[word], word)

    def arguments(self) -> list[Term]:
        """Read the arguments of a call."""
        self.take("(")
        parts = []
        while self.peek() != ")":
            parts.append(self.expression())
            if self.peek() == ",":
                self.next()
        self.take(")")
        return parts

    def call(self, name: str) -> Term:
        """Read the rest of a call."""
        arguments = self.arguments()
        if name in ("f32", "i32", "u32"):
            kind = WIDE.get(name, name) if self.is_wide else name
            return Term("convert", kind, parts=(self.settled(arguments[0]),))
        if name in PAIR_PARTS:
            parts = tuple(typed(each, PAIR_PARTS[name]) for each in arguments)
            return Term("builtin", name, name, parts)
        if name == "select":
            first, second = _unified(*arguments[:2])
            return Term("builtin", first.type, name, (first, second, arguments[2]))
        text = self.find(name)
        if text:
            return _call(name, text, arguments)
        kinds = [each.type for each in arguments if each.type not in _OPEN]
        kind = kinds[0] if kinds else "f32"
        parts = tuple(typed(each, kind) for each in arguments)
        return Term("builtin", kind, name, parts)


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


def _number(word: str, is_wide: bool) -> Term:
    if word.startswith("0x"):
        if "p" in word:
            return Term("number", "float", value=float.fromhex(word))
        digits = word.rstrip("ui")
        kind = "u32" if word.endswith("u") else "integer"
        return Term("number", _wider(kind, is_wide), value=int(digits, 16))
    if word[-1] in "ui":
        kind = "u32" if word[-1] == "u" else "i32"
        return Term("number", _wider(kind, is_wide), value=int(word[:-1]))
    if word.endswith("f") or "." in word or "e" in word:
        return Term("number", "float", value=float(word.rstrip("f")))
    return Term("number", "integer", value=int(word))


def _wider(kind: str, is_wide: bool) -> str:
    return WIDE.get(kind, kind) if is_wide else kind


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
    if left.type in _OPEN:
        return typed(left, right.type), right
    if right.type in _OPEN:
        return left, typed(right, left.type)
    return left, right


def _is_number(term: Term) -> bool:
    return term.kind == "number" or (
        term.kind == "unary" and term.parts[0].kind == "number"
    )


def typed(term: Term, kind: str) -> Term:
    """Return a term whose type was open, or a number, with a type."""
    if term.type == kind or (term.type not in _OPEN and not _is_number(term)):
        return term
    return term._replace(
        type=kind, parts=tuple(typed(each, kind) for each in term.parts)
    )


def _settled(term: Term) -> Term:
    """Return a term with the type that a number alone has."""
    if term.type not in _OPEN:
        return term
    return typed(term, "i32" if term.type == "integer" else "f32")
