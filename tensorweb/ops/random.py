"""Entries of random words: threefry2x32 with 20 rounds on a counter.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tensorweb.graph.op import FLAT, Op
from tensorweb.ops.blocks import in_blocks

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
"""Bits by which words rotate in four rounds, and in the next four."""

PARITY = 0x1BD11BDA
"""Threefry's constant in the third word of a key, so that no key is all zeros."""

LARGEST = 0xFFFFFFFF
"""The largest word, 2^32 - 1."""


def _block(np: Any, high: Any, low: Any, counter: Any) -> tuple[Any, Any]:
    """Return both words of the blocks (0, counter) under keys, modulo 2^32."""
    word = np.uint32
    keys = (high, low, high ^ low ^ word(PARITY))
    x, y = np.broadcast_to(high, counter.shape).copy(), counter + low
    low_bits = np.empty_like(y)
    for group in range(5):
        for count in ROTATIONS[group % 2]:
            x += y
            np.right_shift(y, word(32 - count), out=low_bits)
            np.left_shift(y, word(count), out=y)
            y |= low_bits
            y ^= x
        x += keys[(group + 1) % 3]
        y += keys[(group + 2) % 3] + word(group + 1)
    return x, y


def block_of_integers(high: int, low: int, counter: int) -> tuple[int, int]:
    """Return both words of a block, as `_block` does for arrays.

    >>> block_of_integers(0, 0, 0)
    (1797259609, 2579123966)
    """
    keys = (high, low, high ^ low ^ PARITY)
    x, y = high, counter + low & LARGEST
    for group in range(5):
        for count in ROTATIONS[group % 2]:
            x = x + y & LARGEST
            y = (y << count & LARGEST | y >> 32 - count) ^ x
        x = x + keys[(group + 1) % 3] & LARGEST
        y = y + keys[(group + 2) % 3] + group + 1 & LARGEST
    return x, y


WORDS: dict[str, Callable[[Any, Any], Any]] = {
    "threefry": operator.xor,
    "threefry_first": lambda first, second: first,
}
"""The function of each operation from both words of a block to a random word."""


def _threefry(np: Any, high: Any, low: Any, counter: Any) -> Any:
    """Return the exclusive or of both words."""
    return _of_columns(np, WORDS["threefry"], high, low, counter)


def _threefry_first(np: Any, high: Any, low: Any, counter: Any) -> Any:
    """Return the first word."""
    return _of_columns(np, WORDS["threefry_first"], high, low, counter)


def _of_columns(np: Any, combined: Any, high: Any, low: Any, counter: Any) -> Any:
    def made(*columns: Any) -> Any:
        return combined(*_block(np, *columns))

    shape = np.broadcast_shapes(high.shape, low.shape, counter.shape)
    counters = np.broadcast_to(counter, shape)
    return in_blocks(np, made, np.uint32, high, low, counters)


def _words(name: str, summary: str, numpy: Any) -> Op:
    return Op(
        name,
        summary,
        arity=3,
        accepts="uint32",
        numpy=numpy,
        wgsl={"uint": f"{name}_u32({{0}}, {{1}}, {{2}})"},
        weight=100,
        derivative=FLAT,
    )


RANDOM: tuple[Op, ...] = (
    _words(
        "threefry",
        "both words of a random block, combined by exclusive or",
        _threefry,
    ),
    _words("threefry_first", "the first word of a random block", _threefry_first),
)
