"""Entries moved by sorting: the key of an element, and its index if carried along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tensorweb.codegen.wasm.elements import store, store_neighbours
from tensorweb.codegen.wasm.keys import Keys, raw_dtype
from tensorweb.codegen.wasm.module import Function
from tensorweb.codegen.wasm.terms import LANES

_LOW, _HIGH, _LAST = range(3)
_SHUFFLES = {
    _LOW: (0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23),
    _HIGH: (8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31),
    _LAST: (4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31),
}
"""Of two vectors: their first and last halves in turn, and every second number."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Layout of an entry in scratch: the key, followed by the index.

    Attributes:
        key_size: bytes of a key.
        carries: whether an index is carried along.
    """

    key_size: int
    carries: bool

    @property
    def size(self) -> int:
        """Number of bytes of an entry."""
        return self.key_size * 2 if self.carries else self.key_size

    @property
    def key_type(self) -> str:
        """The value type of a key."""
        return "i32" if self.key_size == 4 else "i64"

    def write(self, keys: Keys, address: int, key: int, place: int) -> None:
        """Emit the store of entries.

        Args:
            keys: determines the number of entries stored at a time.
            address: local of the address of the first.
            key: local of the keys.
            place: local of the first index.
        """
        f = keys.values.f
        if keys.values.is_vector and self.carries:
            positions = f.local("v128")
            f.get(f.counting())
            f.get(place)
            f.ops("i32x4.splat", "i32x4.add")
            f.set(positions)
            for part, offset in ((_LOW, 0), (_HIGH, 16)):
                f.get(address)
                f.get(key)
                f.get(positions)
                f.shuffle(_SHUFFLES[part])
                f.memory("v128.store", offset)
            f.free(positions)
            return
        f.get(address)
        f.get(key)
        f.memory("v128.store" if keys.values.is_vector else f"{self.key_type}.store")
        if self.carries:
            f.get(address)
            f.get(place)
            f.memory("i32.store", self.key_size)

    def copy(self, f: Function, source: int, offset: int, target: int) -> None:
        """Emit the copy of an entry from one address to another."""
        kind = {4: "i32", 8: "i64", 16: "v128"}[self.size]
        f.get(target)
        f.get(source)
        f.memory(f"{kind}.load", offset)
        f.memory(f"{kind}.store")

    def finish(self, keys: Keys, source: int, target: int) -> None:
        """Emit the store of results of entries: the indices, or the elements.

        Args:
            keys: determines the number of entries at a time.
            source: local of the address of the first entry.
            target: local of the address of the first result.
        """
        f = keys.values.f
        f.get(target)
        if self.carries:
            self._positions(keys, source)
            return
        key = f.local(keys.word)
        f.get(source)
        f.memory("v128.load" if keys.values.is_vector else f"{self.key_type}.load")
        f.set(key)
        keys.bits_of(key)
        f.free(key)
        store_bits(keys)

    def _positions(self, keys: Keys, source: int) -> None:
        f = keys.values.f
        f.get(source)
        if keys.values.is_vector:
            f.memory("v128.load")
            f.get(source)
            f.memory("v128.load", 16)
            f.shuffle(_SHUFFLES[_LAST])
            f.memory("v128.store")
        else:
            f.memory("i32.load", self.key_size)
            f.memory("i32.store")


def store_bits(keys: Keys) -> None:
    """Emit the store of elements by their bits; address and bits are on the stack."""
    dtype = raw_dtype(keys.dtype)
    (store_neighbours if keys.values.is_vector else store)(keys.values, dtype)


def in_fours(
    f: Function,
    end: int,
    pointers: Sequence[int],
    size: int,
    body: Callable[[int], None],
) -> None:
    """Emit a loop over items in memory, unrolled by four while four are left.

    Args:
        f: the function.
        end: local of the address at which the first pointer ends.
        pointers: locals of addresses, which advance together.
        size: bytes of an item, a power of two.
        body: emits the code for the item at a byte offset from the pointers.
    """
    whole = f.local("i32")
    f.get(pointers[0])
    f.get(end)
    f.get(pointers[0])
    f.op("i32.sub")
    f.const("i32", -LANES * size)
    f.ops("i32.and", "i32.add")
    f.set(whole)
    for limit, count in ((whole, LANES), (end, 1)):
        f.begin("block")
        f.begin("loop")
        f.get(pointers[0])
        f.get(limit)
        f.op("i32.eq")
        f.br_if(1)
        for number in range(count):
            body(number * size)
        for pointer in pointers:
            f.get(pointer)
            f.const("i32", count * size)
            f.op("i32.add")
            f.set(pointer)
        f.br(0)
        f.end()
        f.end()
    f.free(whole)
