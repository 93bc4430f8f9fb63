"""The text format of a WebAssembly module, shown by `explain` and the page.

One statement per line: the instructions up to one that stores, sets a local or
branches. https://webassembly.github.io/spec/core/text/index.html
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from functools import lru_cache

from tensorweb.codegen.wasm.module import (
    CODES,
    NO_RESULT,
    ORIGINS,
    SATURATING_PREFIX,
    TYPES,
    VECTOR_PREFIX,
    Origin,
)

WIDTH = 100
"""Columns after which a long statement is wrapped."""

NAMES = {code: name for name, code in CODES.items()}
"""Names of instructions, by the bytes before their immediates."""

KINDS = {code: name for name, code in TYPES.items()}

PARAMETERS = ("$parameters", "$buffers", "$first", "$last")
"""Names of the parameters of `run`."""

ENDING = re.compile(r"local\.set|.*\.store|br|return|unreachable|drop|nop")
"""Instructions that push no value: they end a statement."""

OPENING = ("block", "loop", "if")

PREFIXES = (SATURATING_PREFIX, VECTOR_PREFIX)


class ModuleText:
    r"""A module's bytes, whose `str` is their text, made when somebody looks.

    >>> str(ModuleText(b"\0asm\1\0\0\0"))
    '(module)'
    """

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        """Keep the bytes."""
        self.data = data

    def __str__(self) -> str:
        """Return the text."""
        return wat(self.data)

    def line_steps(self) -> list[tuple[str, int] | None]:
        """Return which step of which expression each line of the text computes.

        The name is empty for other lines of `run`, None stands for lines outside of it.
        """
        text = _Text(self.data)
        count = len(text.text().splitlines())
        found: list[tuple[str, int] | None] = [None] * count
        for line, end in text.ends.items():
            found[line] = ("", -1)
            for first, last, name, step in text.origins:
                if first < end <= last:
                    found[line] = (name, step)
        return found

    def __eq__(self, other: object) -> bool:
        """Whether both are the same module."""
        return isinstance(other, ModuleText) and self.data == other.data

    def __hash__(self) -> int:
        """Return the hash of the bytes."""
        return hash(self.data)


@lru_cache(maxsize=256)
def wat(module: bytes) -> str:
    """Return a module's text.

    >>> print(wat(bytes.fromhex("0061736d01000000010401600000030201000a05010300010b")))
    (module
      (func $0
        nop))
    """
    return _Text(module).text()


class _ByteReader:
    """Reads the parts of a module's binary format in order."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    @property
    def has_more(self) -> bool:
        return self.at < len(self.data)

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self) -> int:
        start = self.at
        value = self.unsigned()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) else value

    def name(self) -> str:
        return self.take(self.unsigned()).decode()

    def types(self) -> list[str]:
        return [KINDS[self.byte()] for _ in range(self.unsigned())]


class _Text:
    """State of one module's conversion to text."""

    def __init__(self, module: bytes) -> None:
        self.reader = _ByteReader(module)
        self.reader.take(8)
        self.lines: list[str] = []
        self.signatures: list[tuple[list[str], list[str]]] = []
        self.imports: list[str] = []
        self.functions: list[int] = []
        self.exports: dict[int, str] = {}
        # By line of `run`, the position in its code at which the line ends.
        self.ends: dict[int, int] = {}
        self.origins: list[Origin] = []

    def text(self) -> str:
        """Return the text; sections that kernels do not have are omitted."""
        sections = {1: self._types, 2: self._imports, 3: self._functions}
        sections |= {7: self._exports, 10: self._codes}
        while self.reader.has_more:
            section, size = self.reader.byte(), self.reader.unsigned()
            end = self.reader.at + size
            if section in sections:
                sections[section]()
            elif section == 0:
                self._custom(end)
            else:
                self.lines.append(f"  ;; section {section}: {size} bytes")
            self.reader.at = end
        return "\n".join(["(module", *self.lines]) + ")"

    def _custom(self, end: int) -> None:
        if self.reader.name() != ORIGINS:
            return
        read = self.reader.unsigned
        names = [self.reader.name() for _ in range(read())]
        while self.reader.at < end:
            start, size, name, step = read(), read(), names[read()], read()
            self.origins.append((start, start + size, name, step))

    def _types(self) -> None:
        for _ in range(self.reader.unsigned()):
            self.reader.byte()
            self.signatures.append((self.reader.types(), self.reader.types()))

    def _imports(self) -> None:
        for _ in range(self.reader.unsigned()):
            path, name = self.reader.name(), self.reader.name()
            if self.reader.byte():  # a memory; kernels import nothing else
                flags = self.reader.byte()
                limits = [str(self.reader.unsigned()) for _ in range(1 + (flags & 1))]
                limits += ["shared"] if flags & 2 else []
                what = f"(memory {' '.join(limits)})"
            else:
                signature = self._signature(self.reader.unsigned())
                self.imports.append(f"${name}")
                what = f"(func {self.imports[-1]}{signature})"
            self.lines.append(f'  (import "{path}" "{name}" {what})')

    def _functions(self) -> None:
        for _ in range(self.reader.unsigned()):
            self.functions.append(self.reader.unsigned())

    def _exports(self) -> None:
        for _ in range(self.reader.unsigned()):
            name, kind, number = (
                self.reader.name(),
                self.reader.byte(),
                self.reader.unsigned(),
            )
            if kind == 0:
                self.exports[number] = name

    def _signature(self, number: int, names: tuple[str, ...] = ()) -> str:
        taken, given = self.signatures[number]
        parts = [f" (param {n} {t})" for n, t in zip(names, taken, strict=False)]
        rest = taken[len(names) :]
        parts += [f" (param {' '.join(rest)})"] if rest else []
        parts += [f" (result {' '.join(given)})"] if given else []
        return "".join(parts)

    def _codes(self) -> None:
        for at in range(self.reader.unsigned()):
            size = self.reader.unsigned()
            self._function(at, self.reader.at + size)

    def _function(self, at: int, end: int) -> None:
        number = len(self.imports) + at
        exported = self.exports.get(number)
        takes = self.signatures[self.functions[at]][0]
        is_run = exported == "run" and len(takes) == len(PARAMETERS)
        names = PARAMETERS if is_run else ()
        head = f"  (func {self._callee(number)}"
        head += f' (export "{exported}")' if exported else ""
        self.lines.append(head + self._signature(self.functions[at], names))
        first = len(takes)
        for _ in range(self.reader.unsigned()):
            count, kind = self.reader.unsigned(), KINDS[self.reader.byte()]
            kinds = " ".join([kind] * count)
            self.lines.append(f"    (local (; from {first} ;) {kinds})")
            first += count
        self._body(end, names, is_run)
        self.lines[-1] += ")"

    def _callee(self, number: int) -> str:
        if number < len(self.imports):
            return self.imports[number]
        return f"${self.exports.get(number, number)}"

    def _body(self, end: int, names: tuple[str, ...], is_run: bool) -> None:
        """Add a body's statements, indented by block structure."""
        depth, words = 2, ""
        begin = before = self.reader.at
        ends: list[int] = []
        for word in self._words(end, names):
            name = word.split(" ", 1)[0]
            is_structure = name in ("else", "end")
            if is_structure or len(words) + len(word) > WIDTH - 2 * depth:
                self._write(depth, words)
                ends += [before - begin] if words else []
                words = ""
            depth -= is_structure
            words += f"  {word}" if words else word
            before = self.reader.at
            if is_structure or name in OPENING or ENDING.match(name):
                self._write(depth, words)
                ends.append(before - begin)
                words = ""
            depth += name in OPENING or name == "else"
        self._write(depth, words)
        if is_run:
            # The first line is that of `(module`.
            first = len(self.lines) + 1 - len(ends) - bool(words)
            self.ends = dict(enumerate(ends, first))

    def _write(self, depth: int, words: str) -> None:
        if words:
            self.lines.append("  " * depth + words)

    def _words(self, end: int, names: tuple[str, ...]) -> Iterator[str]:
        """Yield a body's instructions, each with its immediates."""
        reader = self.reader
        while reader.at < end - 1:
            start = reader.at
            if reader.byte() in PREFIXES:
                reader.unsigned()
            code = reader.data[start : reader.at]
            name = NAMES.get(code)
            if name is None:
                yield f"(; instruction {code.hex()} is not known ;)"
                break
            yield f"{name}{self._immediates(name, names)}"
        reader.at = end

    def _immediates(self, name: str, names: tuple[str, ...]) -> str:
        """Return the immediates after an instruction's name."""
        reader = self.reader
        kind, _, action = name.partition(".")
        if name in OPENING:
            code = reader.byte()
            return "" if code == NO_RESULT else f" (result {KINDS[code]})"
        if name in ("br", "br_if"):
            return f" {reader.unsigned()}"
        if name == "call":
            return f" {self._callee(reader.unsigned())}"
        if kind == "local":
            number = reader.unsigned()
            return f" {names[number] if number < len(names) else number}"
        if action == "const":
            return f" {self._constant(kind)}"
        if action.startswith(("load", "store")):
            return self._address(action)
        if "lane" in action and "select" not in action:
            return f" {reader.byte()}"
        if action == "shuffle":
            return "".join(f" {lane}" for lane in reader.take(16))
        if kind == "memory":
            reader.byte()
        return ""

    def _constant(self, kind: str) -> str:
        reader = self.reader
        if kind in ("i32", "i64"):
            return str(reader.signed())
        if kind == "v128":
            words = struct.unpack("<4I", reader.take(16))
            return "i32x4" + "".join(f" {word:#010x}" for word in words)
        data = reader.take(4 if kind == "f32" else 8)
        return _float(data)

    def _address(self, action: str) -> str:
        """Return the offset of an address; its alignment is a hint and omitted."""
        _, offset = self.reader.unsigned(), self.reader.unsigned()
        text = f" offset={offset}" if offset else ""
        return f"{text} {self.reader.byte()}" if action.endswith("lane") else text


def _float(data: bytes) -> str:
    """Return a float in the text format: NaN with its payload."""
    bits = int.from_bytes(data, "little")
    mantissa = bits & ((1 << (23 if len(data) == 4 else 52)) - 1)
    value = struct.unpack("<f" if len(data) == 4 else "<d", data)[0]
    sign = "-" if data[-1] & 0x80 else ""
    if value != value:
        return f"{sign}nan:{mantissa:#x}"
    return f"{value:.9g}" if len(data) == 4 else repr(value).removesuffix(".0")
