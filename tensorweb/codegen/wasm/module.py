"""Encode WebAssembly: instructions, functions of instructions, modules of functions.

The binary format is that of the WebAssembly core specification 2.0, section 5.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

VECTOR_PREFIX = 0xFD
"""The byte before the number of a vector instruction."""

SATURATING_PREFIX = 0xFC
"""The byte before the number of a saturating conversion or of a bulk operation."""


def unsigned(value: int) -> bytes:
    """Return an unsigned LEB128 number.

    >>> unsigned(624485).hex()
    'e58e26'
    """
    if value < 0x80:
        return _ONE_BYTE[value]
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def signed(value: int) -> bytes:
    """Return a signed LEB128 number.

    >>> signed(-123456).hex()
    'c0bb78'
    """
    encoded = bytearray()
    while not -64 <= value < 64:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value & 0x7F)
    return bytes(encoded)


_ONE_BYTE = [bytes((value,)) for value in range(0x80)]

ORIGINS = "origins"
"""Name of the section that maps the code of `run` to steps of expressions."""

Origin = tuple[int, int, str, int]
"""Start and end of some code, the name of the expression, the number of its step."""

TYPES = {"i32": 0x7F, "i64": 0x7E, "f32": 0x7D, "f64": 0x7C, "v128": 0x7B}
"""Value types."""

NO_RESULT = 0x40
"""The type of a block that leaves nothing on the stack."""

_FROM = {
    # control
    0x00: "unreachable",
    0x01: "nop",
    0x02: "block",
    0x03: "loop",
    0x04: "if",
    0x05: "else",
    0x0B: "end",
    0x0C: "br",
    0x0D: "br_if",
    0x0F: "return",
    0x10: "call",
    0x1A: "drop",
    0x1B: "select",
    0x20: "local.get",
    0x21: "local.set",
    0x22: "local.tee",
    0x28: (
        "i32.load i64.load f32.load f64.load i32.load8_s i32.load8_u i32.load16_s "
        "i32.load16_u i64.load8_s i64.load8_u i64.load16_s i64.load16_u i64.load32_s "
        "i64.load32_u i32.store i64.store f32.store f64.store i32.store8 i32.store16 "
        "i64.store8 i64.store16 i64.store32 memory.size memory.grow"
    ),
    0x41: "i32.const i64.const f32.const f64.const",
    0x45: (
        "i32.eqz i32.eq i32.ne i32.lt_s i32.lt_u i32.gt_s i32.gt_u i32.le_s i32.le_u "
        "i32.ge_s i32.ge_u i64.eqz i64.eq i64.ne i64.lt_s i64.lt_u i64.gt_s i64.gt_u "
        "i64.le_s i64.le_u i64.ge_s i64.ge_u f32.eq f32.ne f32.lt f32.gt f32.le f32.ge "
        "f64.eq f64.ne f64.lt f64.gt f64.le f64.ge"
    ),
    0x67: (
        "i32.clz i32.ctz i32.popcnt i32.add i32.sub i32.mul i32.div_s i32.div_u "
        "i32.rem_s i32.rem_u i32.and i32.or i32.xor i32.shl i32.shr_s i32.shr_u "
        "i32.rotl i32.rotr i64.clz i64.ctz i64.popcnt i64.add i64.sub i64.mul "
        "i64.div_s i64.div_u i64.rem_s i64.rem_u i64.and i64.or i64.xor i64.shl "
        "i64.shr_s i64.shr_u i64.rotl i64.rotr f32.abs f32.neg f32.ceil f32.floor "
        "f32.trunc f32.nearest f32.sqrt f32.add f32.sub f32.mul f32.div f32.min "
        "f32.max f32.copysign f64.abs f64.neg f64.ceil f64.floor f64.trunc f64.nearest "
        "f64.sqrt f64.add f64.sub f64.mul f64.div f64.min f64.max f64.copysign "
        "i32.wrap_i64 i32.trunc_f32_s i32.trunc_f32_u i32.trunc_f64_s i32.trunc_f64_u "
        "i64.extend_i32_s i64.extend_i32_u i64.trunc_f32_s i64.trunc_f32_u "
        "i64.trunc_f64_s i64.trunc_f64_u f32.convert_i32_s f32.convert_i32_u "
        "f32.convert_i64_s f32.convert_i64_u f32.demote_f64 f64.convert_i32_s "
        "f64.convert_i32_u f64.convert_i64_s f64.convert_i64_u f64.promote_f32 "
        "i32.reinterpret_f32 i64.reinterpret_f64 f32.reinterpret_i32 "
        "f64.reinterpret_i64 i32.extend8_s i32.extend16_s i64.extend8_s i64.extend16_s "
        "i64.extend32_s"
    ),
}

_SATURATING = (
    "i32.trunc_sat_f32_s i32.trunc_sat_f32_u i32.trunc_sat_f64_s i32.trunc_sat_f64_u "
    "i64.trunc_sat_f32_s i64.trunc_sat_f32_u i64.trunc_sat_f64_s i64.trunc_sat_f64_u"
)

_VECTORS = {
    0: (
        "v128.load v128.load8x8_s v128.load8x8_u v128.load16x4_s v128.load16x4_u "
        "v128.load32x2_s v128.load32x2_u v128.load8_splat v128.load16_splat "
        "v128.load32_splat v128.load64_splat v128.store v128.const i8x16.shuffle "
        "i8x16.swizzle i8x16.splat i16x8.splat i32x4.splat i64x2.splat f32x4.splat "
        "f64x2.splat i8x16.extract_lane_s i8x16.extract_lane_u i8x16.replace_lane "
        "i16x8.extract_lane_s i16x8.extract_lane_u i16x8.replace_lane "
        "i32x4.extract_lane i32x4.replace_lane i64x2.extract_lane i64x2.replace_lane "
        "f32x4.extract_lane f32x4.replace_lane f64x2.extract_lane f64x2.replace_lane "
        "i8x16.eq i8x16.ne i8x16.lt_s i8x16.lt_u i8x16.gt_s i8x16.gt_u i8x16.le_s "
        "i8x16.le_u i8x16.ge_s i8x16.ge_u i16x8.eq i16x8.ne i16x8.lt_s i16x8.lt_u "
        "i16x8.gt_s i16x8.gt_u i16x8.le_s i16x8.le_u i16x8.ge_s i16x8.ge_u i32x4.eq "
        "i32x4.ne i32x4.lt_s i32x4.lt_u i32x4.gt_s i32x4.gt_u i32x4.le_s i32x4.le_u "
        "i32x4.ge_s i32x4.ge_u f32x4.eq f32x4.ne f32x4.lt f32x4.gt f32x4.le f32x4.ge "
        "f64x2.eq f64x2.ne f64x2.lt f64x2.gt f64x2.le f64x2.ge v128.not v128.and "
        "v128.andnot v128.or v128.xor v128.bitselect v128.any_true v128.load8_lane "
        "v128.load16_lane v128.load32_lane v128.load64_lane v128.store8_lane "
        "v128.store16_lane v128.store32_lane v128.store64_lane v128.load32_zero "
        "v128.load64_zero f32x4.demote_f64x2_zero f64x2.promote_low_f32x4 i8x16.abs "
        "i8x16.neg i8x16.popcnt i8x16.all_true i8x16.bitmask i8x16.narrow_i16x8_s "
        "i8x16.narrow_i16x8_u f32x4.ceil f32x4.floor f32x4.trunc f32x4.nearest "
        "i8x16.shl i8x16.shr_s i8x16.shr_u i8x16.add"
    ),
    0x71: "i8x16.sub",
    0x74: "f64x2.ceil f64x2.floor i8x16.min_s i8x16.min_u i8x16.max_s i8x16.max_u",
    0x7A: "f64x2.trunc",
    0x7C: (
        "i16x8.extadd_pairwise_i8x16_s i16x8.extadd_pairwise_i8x16_u "
        "i32x4.extadd_pairwise_i16x8_s i32x4.extadd_pairwise_i16x8_u i16x8.abs "
        "i16x8.neg i16x8.q15mulr_sat_s i16x8.all_true i16x8.bitmask "
        "i16x8.narrow_i32x4_s i16x8.narrow_i32x4_u i16x8.extend_low_i8x16_s "
        "i16x8.extend_high_i8x16_s i16x8.extend_low_i8x16_u i16x8.extend_high_i8x16_u "
        "i16x8.shl i16x8.shr_s i16x8.shr_u i16x8.add"
    ),
    0x91: "i16x8.sub",
    0x94: "f64x2.nearest i16x8.mul i16x8.min_s i16x8.min_u i16x8.max_s i16x8.max_u",
    0xA0: "i32x4.abs i32x4.neg",
    0xA3: "i32x4.all_true i32x4.bitmask",
    0xA7: (
        "i32x4.extend_low_i16x8_s i32x4.extend_high_i16x8_s i32x4.extend_low_i16x8_u "
        "i32x4.extend_high_i16x8_u i32x4.shl i32x4.shr_s i32x4.shr_u i32x4.add"
    ),
    0xB1: "i32x4.sub",
    0xB5: "i32x4.mul i32x4.min_s i32x4.min_u i32x4.max_s i32x4.max_u",
    0xC0: "i64x2.abs i64x2.neg",
    0xC3: "i64x2.all_true i64x2.bitmask",
    0xC7: (
        "i64x2.extend_low_i32x4_s i64x2.extend_high_i32x4_s i64x2.extend_low_i32x4_u "
        "i64x2.extend_high_i32x4_u i64x2.shl i64x2.shr_s i64x2.shr_u i64x2.add"
    ),
    0xD1: "i64x2.sub",
    0xD5: (
        "i64x2.mul i64x2.eq i64x2.ne i64x2.lt_s i64x2.gt_s i64x2.le_s i64x2.ge_s "
        "i64x2.extmul_low_i32x4_s i64x2.extmul_high_i32x4_s i64x2.extmul_low_i32x4_u "
        "i64x2.extmul_high_i32x4_u f32x4.abs f32x4.neg"
    ),
    0xE3: (
        "f32x4.sqrt f32x4.add f32x4.sub f32x4.mul f32x4.div f32x4.min f32x4.max "
        "f32x4.pmin f32x4.pmax f64x2.abs f64x2.neg"
    ),
    0xEF: (
        "f64x2.sqrt f64x2.add f64x2.sub f64x2.mul f64x2.div f64x2.min f64x2.max "
        "f64x2.pmin f64x2.pmax i32x4.trunc_sat_f32x4_s i32x4.trunc_sat_f32x4_u "
        "f32x4.convert_i32x4_s f32x4.convert_i32x4_u i32x4.trunc_sat_f64x2_s_zero "
        "i32x4.trunc_sat_f64x2_u_zero f64x2.convert_low_i32x4_s "
        "f64x2.convert_low_i32x4_u"
    ),
    0x105: (
        "f32x4.relaxed_madd f32x4.relaxed_nmadd f64x2.relaxed_madd f64x2.relaxed_nmadd "
        "i8x16.relaxed_laneselect i16x8.relaxed_laneselect i32x4.relaxed_laneselect"
    ),
}


def _codes() -> dict[str, bytes]:
    """Return the bytes of every instruction before its immediates, by name."""
    codes: dict[str, bytes] = {}
    for start, names in _FROM.items():
        for code, name in enumerate(names.split(), start):
            codes[name] = bytes((code,))
    for code, name in enumerate(_SATURATING.split()):
        codes[name] = bytes((SATURATING_PREFIX, code))
    for start, names in _VECTORS.items():
        for code, name in enumerate(names.split(), start):
            codes[name] = bytes((VECTOR_PREFIX,)) + unsigned(code)
    return codes


CODES: dict[str, bytes] = _codes()
"""The bytes of every instruction before its immediates, by name."""


MOST_PAGES = 65536
"""Pages of 64 KiB in a memory of 32-bit addresses."""

_GET, _SET, _TEE = CODES["local.get"], CODES["local.set"], CODES["local.tee"]
_GETS, _SETS = ([code + bytes((n,)) for n in range(128)] for code in (_GET, _SET))
_I32, _BRANCH, _BRANCH_IF = CODES["i32.const"], CODES["br"], CODES["br_if"]
_FORMATS = {"f32": "<f", "f64": "<d"}
_NUMBER_TO_COME = bytes(5)
_COUNTING = struct.pack("<4i", 0, 1, 2, 3)


Part = int | str | tuple[str, float]
"""A local that is read; an instruction; a constant as its type and value; a load or
store and its offset."""


class Block:
    """An open block of a function; leaving a `with` block ends it."""

    __slots__ = ("_f",)

    def __init__(self, f: Function) -> None:
        """Take the function in which it is open."""
        self._f = f

    def __enter__(self) -> None:
        """Do nothing: the block is open."""

    def __exit__(self, *_: object) -> None:
        """End the block."""
        self._f.end()


class Function:
    """One function while it is written.

    Attributes:
        parameters, results: its value types.
        code: the instructions written so far.
        head: code before the instructions, which computes values once.
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
        self._origins: list[Origin] = []

    def local(self, kind: str) -> int:
        """Return the index of a local: a free one if there is any, else a new one."""
        free = self._free.get(kind)
        return free.pop() if free else self.own_local(kind)

    def own_local(self, kind: str) -> int:
        """Return the number of a local that nothing else ever uses.

        Code at the head needs such locals: others may be in use already.
        """
        self._locals.append(kind)
        return len(self.parameters) + len(self._locals) - 1

    def free(self, *numbers: int) -> None:
        """Free locals, for other values of their types."""
        for number in numbers:
            kind = self._locals[number - len(self.parameters)]
            self._free.setdefault(kind, []).append(number)

    def op(self, name: str) -> None:
        """Emit an instruction without immediates."""
        self.code += CODES[name]

    def emit(self, *parts: Part) -> None:
        """Emit operands and instructions in postfix order, as engines compute them.

        >>> f = Function(["i32", "i32"])
        >>> f.emit(0, 1, "i32.add", ("i32", 4), "i32.mul")  # (local 0 + local 1) * 4
        """
        code = self.code
        for part in parts:
            if isinstance(part, str):
                code += CODES[part]
            elif isinstance(part, int):
                code += _GETS[part] if part < 128 else _GET + unsigned(part)
            elif "." in part[0]:
                self.memory(part[0], int(part[1]))
            else:
                self.const(*part)

    def get(self, number: int) -> None:
        """Write `local.get`."""
        self.code += _GETS[number] if number < 128 else _GET + unsigned(number)

    def set(self, number: int, *value: Part) -> None:
        """Emit the assignment to a local of the last value, or of a given one."""
        if value:
            self.emit(*value)
        self.code += _SETS[number] if number < 128 else _SET + unsigned(number)

    def tee(self, number: int, *value: Part) -> None:
        """Emit an assignment whose value stays on the stack."""
        if value:
            self.emit(*value)
        self.code += _TEE + unsigned(number)

    def i32(self, value: int) -> None:
        """Emit a constant of 32 bits, signed or unsigned."""
        value &= 0xFFFFFFFF
        self.code += _I32 + signed(value - (1 << 32) if value >> 31 else value)

    def const(self, kind: str, value: float) -> None:
        """Emit a constant of a value type; a vector gets it in every lane.

        `kind` may be `i32x4` or `f32x4` for vectors.
        """
        if kind in ("i32", "i64"):
            bits = 32 if kind == "i32" else 64
            integer = int(value) & ((1 << bits) - 1)
            if integer >> (bits - 1):
                integer -= 1 << bits
            self.code += CODES[f"{kind}.const"] + signed(integer)
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
        """Emit a load or store, which may have an offset, and of one lane its number.

        The alignment is said to be one byte, which promises nothing and costs nothing.
        """
        self.code += CODES[name] + b"\0" + unsigned(offset)
        if lane is not None:
            self.code.append(lane)

    def lane(self, name: str, number: int) -> None:
        """Emit an instruction about one lane."""
        self.code += CODES[name]
        self.code.append(number)

    def shuffle(self, lanes: Sequence[int]) -> None:
        """Emit a shuffle of 16 bytes of two vectors."""
        self.code += CODES["i8x16.shuffle"] + bytes(lanes)

    def begin(self, name: str, result: str = "") -> None:
        """Open a `block`, `loop` or `if` with at most one result."""
        self.code += CODES[name]
        self.code.append(TYPES[result] if result else NO_RESULT)

    def block(self, name: str, *condition: Part, result: str = "") -> Block:
        """Open a `block`, `loop` or `if`, which ends with a `with` block."""
        if condition:
            self.emit(*condition)
        self.begin(name, result)
        return Block(self)

    def orelse(self) -> None:
        """Write `else`."""
        self.code += CODES["else"]

    def end(self) -> None:
        """Close the innermost block."""
        self.code += CODES["end"]

    def br(self, depth: int) -> None:
        """Emit a jump out of an enclosing block, or to the start of a loop."""
        self.code += _BRANCH + unsigned(depth)

    def br_if(self, depth: int, *condition: Part) -> None:
        """Emit a conditional jump out of, or to the start of, an enclosing block."""
        if condition:
            self.emit(*condition)
        self.code += _BRANCH_IF + unsigned(depth)

    def call(self, name: str) -> None:
        """Emit a call of one of the module's functions, imported or defined."""
        self.code += CODES["call"]
        self._calls.append((len(self.code), name))
        self.code += _NUMBER_TO_COME

    def originate(self, start: int, expression: str, step: int) -> None:
        """Note that the code from a position on computes a step of an expression."""
        self._origins.append((start, len(self.code), expression, step))

    def mark(self) -> None:
        """Mark a point with an unchanged stack; see `interleave`."""
        self._marks.append(len(self.code))

    def interleave(self, writers: Sequence[Callable[[], None]]) -> None:
        """Interleave the code of several writers: up to a mark of each, round robin.

        All write the same but for the numbers of locals and offsets. What one reads
        again and again, a constant for example, is then read for all at once.
        """
        code, calls, marks, free = self.code, self._calls, self._marks, self._free
        origins = self._origins
        strands, freed = [], []
        for write in writers:
            # Locals that a writer frees are reused only after all writers are done.
            self.code, self._calls, self._marks, self._free = bytearray(), [], [0], {}
            self._origins = []
            write()
            self.mark()
            noted = self._calls, self._origins
            strands.append((self.code, *noted, list(pairwise(self._marks))))
            freed.append(self._free)
        self.code, self._calls, self._marks, self._free = code, calls, marks, free
        self._origins = origins
        for parts in zip(*(parts for *_, parts in strands), strict=True):
            for (text, called, made, _), (start, end) in zip(
                strands, parts, strict=True
            ):
                moved = len(code) - start
                origins += [
                    (max(first, start) + moved, min(last, end) + moved, name, step)
                    for first, last, name, step in made
                    if first < end and start < last
                ]
                calls += [
                    (at + moved, name) for at, name in called if start <= at < end
                ]
                code += text[start:end]
        for locals_ in freed:
            for kind, numbers in locals_.items():
                free.setdefault(kind, []).extend(numbers)

    def constant(self, kind: str, value: float) -> int:
        """Return a local that holds a constant from the function's beginning on.

        Engines materialize a vector constant at every occurrence.
        """
        key = (kind, float(value) if value else str(value))
        cached = self._constants.get(key)
        if cached is None:
            cached = self._constants[key] = self.own_local(
                "v128" if kind in ("i32x4", "f32x4") else kind
            )
            code, self.code = self.code, bytearray()
            self.const(kind, value)
            self.set(cached)
            self.head += self.code
            self.code = code
        return cached

    def counting(self) -> int:
        """Return a local that holds the vector 0, 1, 2, 3."""
        return self.vector(_COUNTING)

    def vector(self, lanes: bytes) -> int:
        """Return a local that holds a vector of these 16 bytes."""
        key = (lanes.hex(), 0.0)
        cached = self._constants.get(key)
        if cached is None:
            cached = self._constants[key] = self.own_local("v128")
            self.head += CODES["v128.const"] + lanes + _SET + unsigned(cached)
        return cached

    def encoded_origins(self) -> bytes:
        """Return a section that says which of the code computes which steps.

        After the names of expressions, each entry has the position and the count of
        bytes, the index of a name and the number of a step.
        """
        if not self._origins:
            return b""
        names = list(dict.fromkeys(name for _, _, name, _ in self._origins))
        content = _name(ORIGINS) + unsigned(len(names)) + b"".join(map(_name, names))
        merged: list[Origin] = []
        for start, end, name, step in self._origins:
            if merged and merged[-1][1:] == (start, name, step):
                start = merged.pop()[0]
            merged.append((start, end, name, step))
        for start, end, name, step in merged:
            at = len(self.head) + start
            for number in (at, end - start, names.index(name), step):
                content += unsigned(number)
        return b"\0" + unsigned(len(content)) + content

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
        functions: the functions that it defines, by name.
        imports: number of arguments of each function of f64 that it imports.
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
            functions["run"].encoded_origins(),
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


_HIGH = [*range(8, 16), *range(8, 16)]
_LOW_HALVES = [*range(8), *range(16, 24)]


def divided(f: Function, number: int, by: int, quotient: int, rest: int) -> None:
    """Emit a division by a local, and its remainder."""
    f.set(quotient, number, by, "i32.div_u")
    f.set(rest, number, quotient, by, "i32.mul", "i32.sub")


def smaller(f: Function, value: int, limit: int) -> None:
    """Push the smaller of two locals, unsigned, on the stack."""
    f.emit(value, limit, value, limit, "i32.lt_u", "select")


def divide_vectors(f: Function, sign: str, *, with_rest: bool) -> None:
    """Emit a division of the two vectors of four integers on the stack, cut to zero.

    Two lanes at a time as floats of 64 bits, since there is no such instruction. That
    is exact: a quotient that is not whole is at least 1/y away from a whole number, and
    rounded by less than a millionth of that. No lane traps; of a division by 0 the
    result means nothing.

    Args:
        f: where to write.
        sign: `_s` for signed integers, `_u` for others.
        with_rest: whether to compute the remainder, not the quotient.
    """
    by, number, quotient = (f.local("v128") for _ in range(3))
    f.set(by)
    f.set(number)
    for half in range(2):
        for each in (number, by):
            f.get(each)
            if half:
                f.get(each)
                f.shuffle(_HIGH)
            f.op(f"f64x2.convert_low_i32x4{sign}")
        f.emit("f64x2.div", f"i32x4.trunc_sat_f64x2{sign}_zero")
    f.shuffle(_LOW_HALVES)
    if with_rest:
        f.set(quotient)
        f.emit(number, quotient, by, "i32x4.mul", "i32x4.sub")
    for each in (by, number, quotient):
        f.free(each)
