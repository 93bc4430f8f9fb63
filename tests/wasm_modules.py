"""Small WebAssembly modules for tests of the drivers, and tapes that run them.

Each exports `run(parameters, buffers, first, last)` and does its body once for every
unit from `first` to `last` - 1; in a body local 2 is the unit. They are written byte by
byte: the pages of these tests have the drivers and nothing above them.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence

from tensorweb.drivers.protocol import DISPATCH, PARAMETER_WORDS, ModuleDriver

I32, F64 = 0x7F, 0x7C
UNIT = bytes([0x20, 2])
"""local.get of the unit."""


def number(value: int) -> bytes:
    """Return an unsigned number as LEB128."""
    rows = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        rows.append(low | (0x80 if value else 0))
        if not value:
            return bytes(rows)


def constant(value: int) -> bytes:
    """i32.const of a number below 2**31."""
    rows = bytearray([0x41])
    while True:
        value, low = value >> 7, value & 0x7F
        is_last = value == 0 and not low & 0x40
        rows.append(low | (0 if is_last else 0x80))
        if is_last:
            return bytes(rows)


def vector(rows: Sequence[bytes]) -> bytes:
    return number(len(rows)) + b"".join(rows)


def text(name: str) -> bytes:
    return number(len(name)) + name.encode()


def section(kind: int, rows: Sequence[bytes]) -> bytes:
    content = vector(rows)
    return bytes([kind]) + number(len(content)) + content


def module(
    body: bytes, is_shared: bool = False, functions: Sequence[tuple[str, int]] = ()
) -> bytes:
    """Return a module; its functions of the C library are called by their index."""
    types = [bytes([0x60, 4, I32, I32, I32, I32, 0])]
    limits = bytes([3, 1]) + number(65536) if is_shared else bytes([0, 1])
    imports = [text("m") + text("memory") + b"\x02" + limits]
    for name, arguments in functions:
        imports.append(text("m") + text(name) + b"\x00" + number(len(types)))
        types.append(bytes([0x60, arguments, *[F64] * arguments, 1, F64]))
    code = b"".join(
        (
            b"\x00",  # no locals but the parameters
            b"\x02\x40\x03\x40",  # block, loop
            b"\x20\x02\x20\x03\x4e\x0d\x01",  # leave when first >= last
            body,
            b"\x20\x02\x41\x01\x6a\x21\x02",  # first += 1
            b"\x0c\x00\x0b\x0b\x0b",
        )
    )
    return b"".join(
        (
            b"\x00asm\x01\x00\x00\x00",
            section(1, types),
            section(2, imports),
            section(3, [number(0)]),
            section(7, [text("run") + b"\x00" + number(len(functions))]),
            section(10, [number(len(code)) + code]),
        )
    )


def item(buffer: int, size: int) -> bytes:
    """The address of a unit's item of a buffer, by the bytes of an item."""
    address = b"\x20\x01\x28\x02" + number(4 * buffer)  # i32.load of the list
    return address + UNIT + constant(size) + b"\x6c\x6a"


def empty(is_shared: bool = False) -> bytes:
    """A module that does nothing."""
    return module(b"", is_shared)


def add(is_shared: bool = False) -> bytes:
    """y[unit] = x[unit] + the first parameter, float32; buffers x, y."""
    value = item(0, 4) + b"\x2a\x02\x00" + b"\x20\x00\x2a\x02\x00\x92"
    return module(item(1, 4) + value + b"\x38\x02\x00", is_shared)


def add_vectors(is_shared: bool = False) -> bytes:
    """y[unit] = x[unit] + x[unit], four float32 at a time; buffers x, y."""
    load = item(0, 16) + b"\xfd\x00\x00\x00"
    sums = load + load + b"\xfd\xe4\x01"
    return module(item(1, 16) + sums + b"\xfd\x0b\x00\x00", is_shared)


def madd_relaxed(is_shared: bool = False) -> bytes:
    """y[unit] = x[unit] * x[unit] + x[unit], four float32 by relaxed SIMD."""
    load = item(0, 16) + b"\xfd\x00\x00\x00"
    found = load + load + load + b"\xfd\x85\x02"
    return module(item(1, 16) + found + b"\xfd\x0b\x00\x00", is_shared)


def library(name: str, arguments: int, is_shared: bool = False) -> bytes:
    """y[unit] = name(x[unit]) or name(x[unit], x[unit]), float64; buffers x, y."""
    load = item(0, 8) + b"\x2b\x03\x00"
    value = load * arguments + b"\x10\x00"
    store = item(1, 8) + value + b"\x39\x03\x00"
    return module(store, is_shared, [(name, arguments)])


def out_of_bounds(is_shared: bool = False) -> bytes:
    """Reads where there is no memory."""
    return module(b"\x41\x70\x28\x02\x00\x1a", is_shared)  # at -16


def mark(is_shared: bool = False) -> bytes:
    """y[unit] += 1, int32: tells which units ran; buffer y."""
    value = item(0, 4) + b"\x28\x02\x00\x41\x01\x6a"
    return module(item(0, 4) + value + b"\x36\x02\x00", is_shared)


def slow(count: int, is_shared: bool = False) -> bytes:
    """y[16 * unit] is counted down from `count` to 0, through memory; buffer y.

    Each unit has a cache line of its own, so that threads do not wait for another.
    """
    address = item(0, 64)
    step = address + address + b"\x28\x02\x00\x41\x01\x6b\x36\x02\x00"
    again = address + b"\x28\x02\x00\x0d\x00"
    begin = address + constant(count) + b"\x36\x02\x00"
    return module(begin + b"\x03\x40" + step + again + b"\x0b", is_shared)


def slot(addend: float) -> list[int]:
    """Return one launch's parameter words."""
    word = struct.unpack("i", struct.pack("f", addend))[0]
    return [word] + [0] * (PARAMETER_WORDS - 1)


def tape(slots: list[list[int]], *commands: list[int]) -> array[int]:
    """Return a tape of parameter slots and commands."""
    words = [word for words in slots for word in words]
    return array("i", [len(words), *words, *(w for row in commands for w in row)])


def launch(
    pipeline: int, units: int, slice_: int, *buffers: int, offset: int = 0
) -> list[int]:
    """Return the command of a launch."""
    return [DISPATCH, pipeline, units, slice_, 1, offset, len(buffers), *buffers]


def filled(driver: ModuleDriver, letter: str, *values: float) -> int:
    """Return a new buffer with numbers in it."""
    data = struct.pack(f"{len(values)}{letter}", *values)
    buffer = driver.create_buffer(len(data))
    driver.write_buffer(buffer, 0, data)
    return buffer


def values(driver: ModuleDriver, buffer: int, letter: str, count: int) -> list[float]:
    """Return the numbers in a buffer."""
    size = count * struct.calcsize(letter)
    return list(struct.unpack(f"{count}{letter}", driver.read(buffer, 0, size)))
