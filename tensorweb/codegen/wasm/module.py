"""Encode WebAssembly: functions are written instruction by instruction, then a module.

The binary format is that of the WebAssembly core specification 2.0, section 5.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from tensorweb.codegen.wasm.opcodes import CODES, NO_RESULT, TYPES, signed, unsigned

MOST_PAGES = 65536
"""Pages of 64 KiB in a memory of 32-bit addresses."""

_GET, _SET, _TEE = CODES["local.get"], CODES["local.set"], CODES["local.tee"]
_GETS, _SETS = ([code + bytes((n,)) for n in range(128)] for code in (_GET, _SET))
_I32, _BRANCH, _BRANCH_IF = CODES["i32.const"], CODES["br"], CODES["br_if"]
_FORMATS = {"f32": "<f", "f64": "<d"}
_NUMBER_TO_COME = bytes(5)
_COUNTING = struct.pack("<4i", 0, 1, 2, 3)


class Function:
    """One function while it is written.

    Attributes:
        parameters, results: its value types.
        code: the instructions written so far.
        head: what stands before them: values that are made once.
    """

    def __init__(self, parameters: Sequence[str], results: Sequence[str] = ()) -> None:
        """Begin a function without instructions."""
        self.parameters = tuple(parameters)
        self.results = tuple(results)
        self.code = bytearray()
        self.head = bytearray()
        self._locals: list[str] = []
        self._free: dict[str, list[int]] = {}
        self._constants: dict[tuple[str, float | str], int] = {}
        self._calls: list[tuple[int, str]] = []
        self._marks: list[int] = []

    def local(self, kind: str) -> int:
        """Return the number of a new local, one that was let go if there is any."""
        free = self._free.get(kind)
        return free.pop() if free else self.own_local(kind)

    def own_local(self, kind: str) -> int:
        """Return the number of a local that nothing else ever uses.

        What stands at the head needs such ones: others may be used before.
        """
        self._locals.append(kind)
        return len(self.parameters) + len(self._locals) - 1

    def free(self, number: int) -> None:
        """Let a local go, for others of its type."""
        kind = self._locals[number - len(self.parameters)]
        self._free.setdefault(kind, []).append(number)

    def op(self, name: str) -> None:
        """Write an instruction without immediates."""
        self.code += CODES[name]

    def ops(self, *names: str) -> None:
        """Write several of them."""
        for name in names:
            self.code += CODES[name]

    def get(self, number: int) -> None:
        """Write `local.get`."""
        self.code += _GETS[number] if number < 128 else _GET + unsigned(number)

    def set(self, number: int) -> None:
        """Write `local.set`."""
        self.code += _SETS[number] if number < 128 else _SET + unsigned(number)

    def tee(self, number: int) -> None:
        """Write `local.tee`."""
        self.code += _TEE + unsigned(number)

    def i32(self, value: int) -> None:
        """Write a constant of 32 bits, signed or unsigned."""
        value &= 0xFFFFFFFF
        self.code += _I32 + signed(value - (1 << 32) if value >> 31 else value)

    def const(self, kind: str, value: float) -> None:
        """Write a constant of a value type; a vector gets it in every lane.

        `kind` may be `i32x4` or `f32x4` for vectors.
        """
        if kind in ("i32", "i64"):
            bits = 32 if kind == "i32" else 64
            whole = int(value) & ((1 << bits) - 1)
            if whole >> (bits - 1):
                whole -= 1 << bits
            self.code += CODES[f"{kind}.const"] + signed(whole)
        elif kind in _FORMATS:
            self.code += CODES[f"{kind}.const"] + struct.pack(_FORMATS[kind], value)
        else:
            lane = (
                struct.pack("<I", int(value) & 0xFFFFFFFF)
                if kind == "i32x4"
                else struct.pack("<f", value)
            )
            self.code += CODES["v128.const"] + lane * 4

    def memory(self, name: str, offset: int = 0, lane: int | None = None) -> None:
        """Write a load or store, which may have an offset, and of one lane its number.

        The alignment is said to be one byte, which promises nothing and costs nothing.
        """
        self.code += CODES[name] + b"\0" + unsigned(offset)
        if lane is not None:
            self.code.append(lane)

    def lane(self, name: str, number: int) -> None:
        """Write an instruction about one lane."""
        self.code += CODES[name]
        self.code.append(number)

    def shuffle(self, lanes: Sequence[int]) -> None:
        """Write a shuffle of 16 bytes of two vectors."""
        self.code += CODES["i8x16.shuffle"] + bytes(lanes)

    def begin(self, name: str, result: str = "") -> None:
        """Open a `block`, `loop` or `if` with at most one result."""
        self.code += CODES[name]
        self.code.append(TYPES[result] if result else NO_RESULT)

    def orelse(self) -> None:
        """Write `else`."""
        self.code += CODES["else"]

    def end(self) -> None:
        """Close what was opened last."""
        self.code += CODES["end"]

    def br(self, depth: int) -> None:
        """Write a jump out of, or for loops to the begin of, an enclosing block."""
        self.code += _BRANCH + unsigned(depth)

    def br_if(self, depth: int) -> None:
        """Write the same under a condition."""
        self.code += _BRANCH_IF + unsigned(depth)

    def call(self, name: str) -> None:
        """Write a call of one of the module's functions, imported or defined."""
        self.code += CODES["call"]
        self._calls.append((len(self.code), name))
        self.code += _NUMBER_TO_COME

    def mark(self) -> None:
        """Say that the stack is as it was in the beginning; see `interleave`."""
        self._marks.append(len(self.code))

    def interleave(self, writers: Sequence[Callable[[], None]]) -> None:
        """Write what several writers write, up to a mark of each in turn.

        All write the same but for the numbers of locals and offsets. What one reads
        again and again, a constant for example, is then read for all at once.
        """
        code, calls, marks, free = self.code, self._calls, self._marks, self._free
        strands, freed = [], []
        for write in writers:
            # Locals that a writer lets go are no other's until all are done.
            self.code, self._calls, self._marks, self._free = bytearray(), [], [0], {}
            write()
            self.mark()
            strands.append((self.code, self._calls, list(pairwise(self._marks))))
            freed.append(self._free)
        self.code, self._calls, self._marks, self._free = code, calls, marks, free
        for parts in zip(*(parts for _, _, parts in strands), strict=True):
            for (text, called, _), (start, end) in zip(strands, parts, strict=True):
                moved = len(code) - start
                calls += [
                    (at + moved, name) for at, name in called if start <= at < end
                ]
                code += text[start:end]
        for locals_ in freed:
            for kind, numbers in locals_.items():
                free.setdefault(kind, []).extend(numbers)

    def constant(self, kind: str, value: float) -> int:
        """Return a local that holds a constant from the function's beginning on.

        Engines make a vector's constant anew wherever it stands.
        """
        key = (kind, float(value) if value else str(value))
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self.own_local(
                "v128" if kind in ("i32x4", "f32x4") else kind
            )
            code, self.code = self.code, bytearray()
            self.const(kind, value)
            self.set(found)
            self.head += self.code
            self.code = code
        return found

    def counting(self) -> int:
        """Return a local that holds the vector 0, 1, 2, 3."""
        return self.vector(_COUNTING)

    def vector(self, lanes: bytes) -> int:
        """Return a local that holds a vector of these 16 bytes."""
        key = (lanes.hex(), 0.0)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self.own_local("v128")
            self.head += CODES["v128.const"] + lanes + _SET + unsigned(found)
        return found

    def encoded(self, numbers: Mapping[str, int]) -> bytes:
        """Return the function's body as a module holds it.

        Args:
            numbers: of the module's functions by name.
        """
        for at, name in self._calls:
            self.code[at : at + 5] = _padded(numbers[name])
        groups: list[tuple[int, str]] = []
        for kind in self._locals:
            if groups and groups[-1][1] == kind:
                groups[-1] = (groups[-1][0] + 1, kind)
            else:
                groups.append((1, kind))
        declared = b"".join(unsigned(n) + bytes((TYPES[k],)) for n, k in groups)
        body = (
            unsigned(len(groups))
            + declared
            + bytes(self.head + self.code)
            + CODES["end"]
        )
        return unsigned(len(body)) + body


def module(
    functions: Mapping[str, Function],
    imports: Mapping[str, int] = MappingProxyType({}),
    is_shared: bool = False,
) -> bytes:
    """Return a module that imports a memory and exports its function `run`.

    Args:
        functions: those that it defines, by name.
        imports: functions of f64 that it imports: how many arguments each takes.
        is_shared: whether several threads use the memory.
    """
    signatures: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}

    def number_of(parameters: tuple[str, ...], results: tuple[str, ...]) -> bytes:
        return unsigned(signatures.setdefault((parameters, results), len(signatures)))

    limits = b"\x03" + unsigned(1) + unsigned(MOST_PAGES) if is_shared else b"\0\x01"
    imported = [_name("m") + _name("memory") + b"\x02" + limits]
    imported += [
        _name("m") + _name(name) + b"\0" + number_of(("f64",) * count, ("f64",))
        for name, count in imports.items()
    ]
    defined = [number_of(each.parameters, each.results) for each in functions.values()]
    types = [
        b"\x60" + _types(parameters) + _types(results)
        for parameters, results in signatures
    ]
    numbers = {name: number for number, name in enumerate((*imports, *functions))}
    return b"".join(
        (
            b"\0asm\x01\0\0\0",
            _section(1, types),
            _section(2, imported),
            _section(3, defined),
            _section(7, [_name("run") + b"\0" + unsigned(numbers["run"])]),
            _section(10, [each.encoded(numbers) for each in functions.values()]),
        )
    )


def _section(number: int, entries: Sequence[bytes]) -> bytes:
    content = unsigned(len(entries)) + b"".join(entries)
    return bytes((number,)) + unsigned(len(content)) + content


def _name(text: str) -> bytes:
    return unsigned(len(text)) + text.encode()


def _types(kinds: Sequence[str]) -> bytes:
    return unsigned(len(kinds)) + bytes(TYPES[kind] for kind in kinds)


def _padded(value: int) -> bytes:
    """Return an unsigned LEB128 number of five bytes."""
    low = [value >> shift & 0x7F | 0x80 for shift in range(0, 28, 7)]
    return bytes((*low, value >> 28))
