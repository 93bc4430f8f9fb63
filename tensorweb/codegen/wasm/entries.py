"""What sorting moves: a key for each element, and its position where it goes along."""

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
    """How a key lies in scratch storage, the position behind it.

    Attributes:
        key_size: bytes of a key.
        carries: whether a position goes along.
    """

    key_size: int
    carries: bool

    @property
    def size(self) -> int:
        """Bytes of an entry."""
        return self.key_size * 2 if self.carries else self.key_size

    @property
    def key_type(self) -> str:
        """The value type of a key."""
        return "i32" if self.key_size == 4 else "i64"

    def write(self, keys: Keys, address: int, key: int, place: int) -> None:
        """Write what stores entries.

        Args:
            keys: tell how many at a time.
            address: the local with the address of the first.
            key: the local with the keys.
            place: the local with the first position.
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
        """Write what copies an entry from one address to another."""
        kind = {4: "i32", 8: "i64", 16: "v128"}[self.size]
        f.get(target)
        f.get(source)
        f.memory(f"{kind}.load", offset)
        f.memory(f"{kind}.store")

    def finish(self, keys: Keys, source: int, target: int) -> None:
        """Write what stores results of entries: the positions, or the elements.

        Args:
            keys: tell how many at a time.
            source: the local with the address of the first entry.
            target: that of the first result.
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
    """Write what stores elements by their bits; on the stack are address and bits."""
    dtype = raw_dtype(keys.dtype)
    (store_neighbours if keys.values.is_vector else store)(keys.values, dtype)


def in_fours(
    f: Function,
    end: int,
    pointers: Sequence[int],
    size: int,
    body: Callable[[int], None],
) -> None:
    """Write a loop over things in memory, four in one turn while there are as many.

    Args:
        f: the function.
        end: the local with the address at which the first pointer ends.
        pointers: locals with addresses, which move together.
        size: bytes of a thing, a power of two.
        body: writes what is done to the one so many bytes behind the pointers.
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
