"""WGSL conversions between packed small integers in a buffer and 32-bit values.

A word of a buffer holds four integers of 8 bits or two of 16, the first one in its
lowest bits. A value is an `i32` or `u32` within the range of its dtype: results of
operations that leave the range are wrapped. The WGSL functions named here are in
`shaders/math/`.
"""

from __future__ import annotations

from tensorweb import dtypes

PER_WORD = {
    dtype.name: 32 // dtype.bits
    for dtype in dtypes.ALL
    if dtype.kind in ("int", "uint") and dtype.bits < 32
}
"""Elements per word, by name of the packed dtypes."""

PER_VECTOR = 4
"""Elements of a vector, which fill one or two words."""


def wrap(text: str, dtype: str) -> str:
    """Return the expression that wraps an integer to the range of a packed dtype.

    >>> wrap("a", "uint8"), wrap("a", "int16"), wrap("a", "int32")
    ('((a) & 255u)', '(((a) << 16u) >> 16u)', 'a')
    """
    if dtype not in PER_WORD:
        return text
    bits = 32 // PER_WORD[dtype]
    if dtypes.BY_NAME[dtype].kind == "uint":
        return f"(({text}) & {(1 << bits) - 1}u)"
    return f"((({text}) << {32 - bits}u) >> {32 - bits}u)"


def clamp(text: str, dtype: str) -> str:
    """Return the expression that clamps an integer to the range of a packed dtype.

    >>> clamp("a", "int8")
    'clamp(a, -128, 127)'
    """
    low, high = dtypes.integer_range(dtypes.BY_NAME[dtype])
    unit = "u" if low == 0 else ""
    return f"clamp({text}, {low}{unit}, {high}{unit})"


def packed_element(words: str, address: str, dtype: str) -> str:
    """Return the value of the element of a packed buffer at `address`.

    >>> packed_element("input0", "at", "uint8")
    'uint8_of(input0[u32(at) / 4u], u32(at))'
    """
    at = f"u32({address})"
    return f"{dtype}_of({words}[{at} / {PER_WORD[dtype]}u], {at})"


def packed_vector(words: str, address: str, dtype: str) -> str:
    """Return four neighbouring values of a packed buffer, by index of the vector.

    >>> packed_vector("input0", "at", "int16")
    'int16_vector(input0[2u * u32(at)], input0[2u * u32(at) + 1u])'
    """
    count = PER_VECTOR // PER_WORD[dtype]
    at = f"u32({address})" if count == 1 else f"{count}u * u32({address})"
    read = [f"{words}[{at}{f' + {n}u' if n else ''}]" for n in range(count)]
    return f"{dtype}_vector({', '.join(read)})"


def packed_word(dtype: str, *elements: str) -> str:
    """Return the word that packs neighbouring values, truncating each to its width.

    >>> packed_word("int16", "a", "b")
    'word_of_halves(u32(a), u32(b))'
    """
    name = "word_of_bytes" if PER_WORD[dtype] == PER_VECTOR else "word_of_halves"
    return f"{name}({', '.join(f'u32({each})' for each in elements)})"
