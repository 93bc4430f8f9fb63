"""Reads the interfaces of TypeScript files, as far as records of JSON need them.

A type is a value that can be compared: `"number"`, `Named("Frame")`, `Many("string")`
for a list, a `frozenset` for a union, `Literal` for a text. Aliases are written out;
interfaces stay names, whose fields `Interfaces.fields` returns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Named:
    """An interface, or a class of Python's side."""

    name: str


@dataclass(frozen=True)
class Text:
    """One text and no other."""

    value: str


@dataclass(frozen=True)
class Many:
    """A list."""

    item: object


@dataclass(frozen=True)
class Field:
    """What a field holds; `Inline` where it is a record of its own."""

    type: object
    is_optional: bool = False


@dataclass(frozen=True)
class Inline:
    """A record without a name."""

    fields: tuple[tuple[str, Field], ...]


PLAIN = {"number", "string", "boolean", "null", "Uint8Array"}

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

INTERFACE = re.compile(
    r"^export interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)

ALIAS = re.compile(r"^export type (\w+) =(.*?);\n", re.MULTILINE | re.DOTALL)

TOKEN = re.compile(r"\s*(\"[^\"]*\"|\w+|\[\]|[{}()\[\]<>|?:;,=])")


def union(types: list[object]) -> object:
    """Return a union without unions in it; one type stays what it is."""
    flat = {part for one in types for part in (one if is_union(one) else [one])}
    return next(iter(flat)) if len(flat) == 1 else frozenset(flat)


def is_union(found: object) -> bool:
    return isinstance(found, frozenset)


class Interfaces:
    """The declarations of some files, each read when it is asked for."""

    def __init__(self, *paths: Path) -> None:
        text = COMMENT.sub("", "\n".join(path.read_text("utf-8") for path in paths))
        found = INTERFACE.findall(text)
        self._interfaces = {name: (base, body) for name, base, body in found}
        self._aliases = dict(ALIAS.findall(text))

    def fields(self, name: str) -> dict[str, Field]:
        """Return the fields of an interface, those that it extends among them."""
        base, body = self._interfaces[name]
        inherited = self.fields(base) if base else {}
        return inherited | dict(self._reader(f"{{{body}}}").record().fields)

    def type_of(self, name: str) -> object:
        """Return what a name in a type stands for."""
        if name in PLAIN:
            return name
        if name in self._aliases:
            return self._reader(self._aliases[name]).union()
        assert name in self._interfaces, f"{name} is not declared"
        return Named(name)

    def _reader(self, text: str) -> _Reader:
        return _Reader(TOKEN.findall(text), self)


class _Reader:
    """Reads types from tokens, front to back."""

    def __init__(self, tokens: list[str], interfaces: Interfaces) -> None:
        self._tokens = tokens
        self._interfaces = interfaces

    def _take(self, *wanted: str) -> str | None:
        if self._tokens and (not wanted or self._tokens[0] in wanted):
            return self._tokens.pop(0)
        return None

    def _expect(self, token: str) -> None:
        assert self._take(token), f"{token} expected before {self._tokens[:5]}"

    def union(self) -> object:
        self._take("|")
        parts = [self._list()]
        while self._take("|"):
            parts.append(self._list())
        return union(parts)

    def _list(self) -> object:
        found = self._one()
        while self._take("[]"):
            found = Many(found)
        return found

    def _one(self) -> object:
        if self._tokens[0] == "{":
            return self.record()
        token = self._take() or ""
        if token == "(":
            found = self.union()
            self._expect(")")
            return found
        if token == "[":  # a tuple is a list in JSON
            parts = [self.union()]
            while self._take(","):
                parts.append(self.union())
            self._expect("]")
            return Many(union(parts))
        if token.startswith('"'):
            return Text(token.strip('"'))
        if token == "Record":  # of this the protocol has the empty one alone
            assert self._tokens[:5] == ["<", "string", ",", "never", ">"]
            del self._tokens[:5]
            return Inline(())
        return self._interfaces.type_of(token)

    def record(self) -> Inline:
        fields: list[tuple[str, Field]] = []
        self._expect("{")
        while not self._take("}"):
            name = self._take() or ""
            is_optional = self._take("?") is not None
            self._expect(":")
            fields.append((name, Field(self.union(), is_optional)))
            self._take(";")
        return Inline(tuple(fields))
