"""Sort by one digit: count how often each occurs, find where each begins, move entries.

A digit is a byte of a key. Equal digits keep their order, so that sorting by one digit
after the other, the last one last, sorts by the whole keys.
"""

from __future__ import annotations

from tensorweb.codegen.wasm.entries import Entry, in_fours
from tensorweb.codegen.wasm.module import Function

DIGITS = 256
"""Values of a digit."""

TABLE = 4 * DIGITS
"""Bytes of a table with a number for each."""


def clear(f: Function, address: int, size: int) -> None:
    """Write what fills memory with zeros.

    Args:
        f: the function.
        address: the local with the address.
        size: how many bytes, a multiple of 64.
    """
    pointer, end = f.local("i32"), f.local("i32")
    f.get(address)
    f.tee(pointer)
    f.const("i32", size)
    f.op("i32.add")
    f.set(end)
    f.begin("loop")
    for offset in range(0, 64, 16):
        f.get(pointer)
        f.get(f.constant("i32x4", 0))
        f.memory("v128.store", offset)
    f.get(pointer)
    f.const("i32", 64)
    f.op("i32.add")
    f.tee(pointer)
    f.get(end)
    f.op("i32.ne")
    f.br_if(0)
    f.end()
    f.free(pointer)
    f.free(end)


def count(f: Function, entry: Entry, first: int, end: int, table: int) -> None:
    """Write what counts a digit of entries.

    Args:
        f: the function.
        entry: what the entries look like.
        first: the local with the address of the first digit.
        end: the local with the address behind the last one, as many bytes further as
            the entries have.
        table: the local with the address of the table.
    """
    clear(f, table, TABLE)
    pointer, slot = f.local("i32"), f.local("i32")
    f.get(first)
    f.set(pointer)

    def one(offset: int) -> None:
        f.get(pointer)
        f.memory("i32.load8_u", offset)
        _slot(f, table)
        f.tee(slot)
        f.get(slot)
        f.memory("i32.load")
        f.const("i32", 1)
        f.op("i32.add")
        f.memory("i32.store")

    in_fours(f, end, (pointer,), entry.size, one)
    f.free(pointer)
    f.free(slot)


def _slot(f: Function, table: int) -> None:
    """Write what turns a digit on the stack into its address in a table."""
    f.const("i32", 2)
    f.op("i32.shl")
    f.get(table)
    f.op("i32.add")


def begins(f: Function, entry: Entry, table: int, target: int) -> None:
    """Write what makes of counts the addresses where entries of each digit begin.

    Args:
        f: the function.
        entry: what the entries look like.
        table: the local with the table's address.
        target: the local with the address where the first entry goes.
    """
    pointer, end = f.local("i32"), f.local("i32")
    place, size = f.local("i32"), f.local("i32")
    f.get(target)
    f.set(place)
    f.get(table)
    f.tee(pointer)
    f.const("i32", TABLE)
    f.op("i32.add")
    f.set(end)

    def one(offset: int) -> None:
        f.get(pointer)
        f.memory("i32.load", offset)
        f.const("i32", entry.size.bit_length() - 1)
        f.op("i32.shl")
        f.set(size)
        f.get(pointer)
        f.get(place)
        f.memory("i32.store", offset)
        f.get(place)
        f.get(size)
        f.op("i32.add")
        f.set(place)

    in_fours(f, end, (pointer,), 4, one)
    for local in (pointer, end, place, size):
        f.free(local)


def move(
    f: Function, entry: Entry, first: int, end: int, digit: int, table: int
) -> None:
    """Write what moves entries to where those of their digit go on.

    Args:
        f: the function.
        entry: what the entries look like.
        first: the local with the address of the first.
        end: the local with the address behind the last one.
        digit: the local that says which byte of the keys is the digit.
        table: the local with the address of the table of addresses.
    """
    pointer, byte = f.local("i32"), f.local("i32")
    slot, target = f.local("i32"), f.local("i32")
    f.get(first)
    f.tee(pointer)
    f.get(digit)
    f.op("i32.add")
    f.set(byte)

    def one(offset: int) -> None:
        f.get(byte)
        f.memory("i32.load8_u", offset)
        _slot(f, table)
        f.tee(slot)
        f.memory("i32.load")
        f.set(target)
        entry.copy(f, pointer, offset, target)
        f.get(slot)
        f.get(target)
        f.const("i32", entry.size)
        f.op("i32.add")
        f.memory("i32.store")

    in_fours(f, end, (pointer, byte), entry.size, one)
    for local in (pointer, byte, slot, target):
        f.free(local)


def first_not_below(
    f: Function, entry: Entry, entries: int, length: int, key: int, found: int
) -> None:
    """Write what finds the first of sorted entries whose key is not below another.

    Args:
        f: the function.
        entry: what the entries look like.
        entries: the local with the address of the first.
        length: the local with their number.
        key: the local with the other key.
        found: the local that takes the entry's number.
    """
    left, half = f.local("i32"), f.local("i32")
    f.const("i32", 0)
    f.set(found)
    f.get(length)
    f.set(left)
    f.begin("block")
    f.begin("loop")
    f.get(left)
    f.op("i32.eqz")
    f.br_if(1)
    f.get(left)
    f.const("i32", 1)
    f.op("i32.shr_u")
    f.set(half)
    f.get(found)
    f.get(half)
    f.op("i32.add")
    f.const("i32", entry.size)
    f.op("i32.mul")
    f.get(entries)
    f.op("i32.add")
    f.memory(f"{entry.key_type}.load")
    f.get(key)
    f.op(f"{entry.key_type}.lt_u")
    f.begin("if")
    f.get(found)
    f.get(half)
    f.op("i32.add")
    f.const("i32", 1)
    f.op("i32.add")
    f.set(found)
    f.get(left)
    f.get(half)
    f.op("i32.sub")
    f.const("i32", 1)
    f.op("i32.sub")
    f.set(left)
    f.orelse()
    f.get(half)
    f.set(left)
    f.end()
    f.br(0)
    f.end()
    f.end()
    f.free(left)
    f.free(half)
