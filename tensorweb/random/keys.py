"""Keys and their random words: threefry2x32 of the elements' indices.

Word `i` under a key is `x0 ^ x1`, where `x0, x1` is the block of the counter `(i div
2^32, i mod 2^32)` after 20 rounds. Salmon, Moraes, Dror and Shaw, "Parallel random
numbers: as easy as 1, 2, 3", 2011; JAX calls the scheme partitionable.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from itertools import chain
from math import prod
from typing import SupportsIndex

from tensorweb import dtypes
from tensorweb.devices import require_dtype
from tensorweb.dtypes import DType, as_dtype
from tensorweb.errors import DTypeError, RangeError, ShapeError
from tensorweb.evaluate import host_bytes
from tensorweb.functions import asarray, stack, zeros
from tensorweb.graph.node import constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.graph.tracing import is_tracing
from tensorweb.hostdata import pack
from tensorweb.nodes.selection import iota
from tensorweb.ops.random import WORDS, block_of_integers
from tensorweb.public_names import declare_public
from tensorweb.random.arguments import is_whole
from tensorweb.shapes import Shape, as_shape
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, DTypeLike
from tensorweb.tensor.operators import operation

Lengths = SupportsIndex | Iterable[SupportsIndex]

# Limit of words per call: the upper word of the counter is always 0.
MOST_WORDS = 1 << 32

FEW_WORDS = 16
"""Largest count of words that Python computes: it takes 8 µs a word, a graph 150 µs."""

WORD = dtypes.uint32


def key(seed: SupportsIndex | Tensor, *, device: object = None) -> Tensor:
    """Return the key of a seed: the high and the low word of its 64 bits.

    Args:
        seed: an integer of at most 64 bits, or a 0-d integer tensor.
        device: the device of the key and of draws; by default the tensor's device or
            the default device.

    Returns:
        uint32 of shape (2,).

    Raises:
        DTypeError: the seed is no integer.
        RangeError: it has more than 64 bits.
        ShapeError: it is a tensor with axes.

    >>> tw.random.key(7)
    tensor([0, 7], dtype=uint32)
    """
    if isinstance(seed, TensorBase):
        return _key_of_tensor(asarray(seed, device=device))
    if not is_whole(seed):
        raise DTypeError(
            f"key: the seed is {seed!r} of type {type(seed).__name__}; give an "
            "integer, for example tw.random.key(0)."
        )
    number = operator.index(seed)
    if not -(2**63) <= number < 2**64:
        raise RangeError(f"key: the seed {number} has more than 64 bits.")
    words = [number >> 32 & 0xFFFFFFFF, number & 0xFFFFFFFF]
    return asarray(words, dtype=WORD, device=device)


def _key_of_tensor(seed: Tensor) -> Tensor:
    _require_integer("key: the seed", seed)
    if seed.dtype.bits == 64:
        return stack([(seed >> 32).astype(WORD), seed.astype(WORD)])
    low = seed.astype(WORD)
    return stack([zeros((), dtype=WORD, device=seed.device), low])


def _require_integer(what: str, x: Tensor) -> None:
    """Raise unless a tensor is one integer."""
    if x.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"{what} is a tensor of {x.dtype}; give an integer.")
    if x.shape:
        raise ShapeError(
            f"{what} has shape {x.shape}; give one integer, and one for each key with "
            "tw.vmap."
        )


def split(key: ArrayLike, num: Lengths = 2) -> Tensor:
    """Return new, statistically independent keys.

    A key that was split or drawn from must not be used again: draw with the new ones.

    Args:
        key: uint32 of shape (2,).
        num: the count or shape of new keys.

    Returns:
        uint32 of shape (*num, 2).

    Raises:
        ShapeError: the key has another shape, or `num` is no shape.
        DTypeError: the key is no uint32 tensor.

    >>> key, sub = tw.random.split(tw.random.key(0))
    >>> sub
    tensor([ 928981903, 3453687069], dtype=uint32)
    """
    shape = as_shape(num)
    return _blocks("split", checked_key("split", key), (*shape, 2))


def fold_in(key: ArrayLike, data: SupportsIndex | Tensor) -> Tensor:
    """Return a key derived from a key and an integer, such as a step or layer index.

    Args:
        key: uint32 of shape (2,).
        data: an integer from 0 to 2^32 - 1, or a 0-d integer tensor.

    Returns:
        uint32 of shape (2,).

    Raises:
        ShapeError: the key has another shape, or `data` has axes.
        DTypeError: the key is no uint32 tensor, or `data` no integer.
        RangeError: `data` is negative or too large.

    >>> tw.random.fold_in(tw.random.key(0), 3)
    tensor([2467461003, 3840466878], dtype=uint32)
    """
    found = checked_key("fold_in", key)
    if isinstance(data, TensorBase):
        counter = asarray(data)
        _require_integer("fold_in: data", counter)
        return _blocks("fold_in", found, (2,), counter.astype(WORD))
    if not is_whole(data):
        raise DTypeError(
            f"fold_in: data is {data!r} of type {type(data).__name__}; give an integer."
        )
    number = operator.index(data)
    if not 0 <= number < MOST_WORDS:
        raise RangeError(f"fold_in: data is {number}; give one from 0 to 2**32 - 1.")
    return _blocks("fold_in", found, (2,), number)


def bits(key: ArrayLike, shape: Lengths = (), dtype: DTypeLike = WORD) -> Tensor:
    """Return random bits: uniformly distributed unsigned integers of the dtype.

    Args:
        key: uint32 of shape (2,).
        shape: of the result.
        dtype: an unsigned integer dtype that the key's device stores.

    Raises:
        ShapeError: the key has another shape, or there are more than 2^32 elements.
        DTypeError: the key is no uint32 tensor, or the dtype no unsigned integer's.

    >>> tw.random.bits(tw.random.key(0), 3)
    tensor([4070199207, 4202968722, 1427181096], dtype=uint32)
    """
    result_dtype = as_dtype(dtype)
    if result_dtype.kind != "uint":
        raise DTypeError(
            f"bits: {result_dtype} is no unsigned integer dtype; give uint32."
        )
    return random_bits("bits", key, as_shape(shape), result_dtype)


def known_words(key: Tensor) -> tuple[int, int] | None:
    """Return both words of a key as integers, None if only a device has the key.

    None while a function is traced, too: constants would become part of the recording,
    and a key that the function captures may change before the next call.
    """
    data = None if is_tracing() else host_bytes(key.node)
    if data is None:
        return None
    high, low = memoryview(data).cast("I")
    return high, low


def checked_key(name: str, key: ArrayLike) -> Tensor:
    """Return a key as a tensor.

    Raises:
        ShapeError: its shape is not (2,).
        DTypeError: it is no uint32 tensor.
    """
    if is_whole(key):
        raise DTypeError(
            f"{name}: the key is the number {key}; make a key of it with "
            f"tw.random.key({key})."
        )
    tensor = asarray(key)
    if tensor.shape != (2,):
        many = tensor.shape[1:] == (2,)
        advice = (
            "these are several keys: take one, keys[0], or give tw.vmap all of them"
            if many
            else "make one with tw.random.key(0)"
        )
        raise ShapeError(
            f"{name}: the key has shape {tensor.shape}, a key has (2,); {advice}."
        )
    if tensor.dtype is not WORD:
        raise DTypeError(
            f"{name}: the key is a tensor of {tensor.dtype}, keys are uint32; make one "
            "with tw.random.key(0)."
        )
    return tensor


def random_bits(name: str, key: ArrayLike, shape: Shape, dtype: DType) -> Tensor:
    """Return random bits in an unsigned integer dtype.

    Narrow dtypes get the low bits of 32, uint64 both words of the block.
    """
    tensor = checked_key(name, key)
    require_dtype(dtype, tensor.device)
    if dtype.bits < 64:
        (both,) = _drawn(("threefry",), name, tensor, shape)
        return both.astype(dtype)
    first, second = random_words(name, tensor, shape)
    return (first.astype(dtype) << 32) | second.astype(dtype)


def random_words(name: str, key: ArrayLike, shape: Shape) -> tuple[Tensor, Tensor]:
    """Return both words of the block of every element."""
    operations = ("threefry_first", "threefry")
    first, both = _drawn(operations, name, checked_key(name, key), shape)
    return first, first ^ both


def _drawn(
    operations: Sequence[str], name: str, key: Tensor, shape: Shape
) -> list[Tensor]:
    """Return what operations make of the block of each element.

    Few words of a key that the host has are computed in Python.
    """
    # A kernel would be slower for few words. If all its operands are uniform, Mesa's
    # compilers also need minutes: their inlining of uniforms follows every path.
    count = prod(shape)
    if count <= FEW_WORDS and (known := known_words(key)) is not None:
        blocks = [block_of_integers(*known, each) for each in range(count)]
        return [
            _host_tensor([WORDS[one](*block) for block in blocks], shape, key.device)
            for one in operations
        ]
    words, counters = _words_of(key), _counters(name, key, shape)
    return [Tensor(operation(one, *words, counters)) for one in operations]


def _words_of(key: Tensor) -> tuple[Tensor, Tensor]:
    """Return both words of a key, as 0-d tensors.

    If the host has the key, they are constants, so that no key is uploaded.
    """
    known = known_words(key)
    if known is None:
        return key[0], key[1]
    high, low = (Tensor(constant(word, WORD, key.device)) for word in known)
    return high, low


def _blocks(name: str, key: Tensor, shape: Shape, first: Tensor | int = 0) -> Tensor:
    """Return the words of consecutive blocks, two a block, from counter `first` on."""
    count = prod(shape)
    if count <= FEW_WORDS and not isinstance(first, TensorBase):
        known = known_words(key)
        if known is not None:
            counters = range(first, first + count // 2)
            blocks = [block_of_integers(*known, each) for each in counters]
            return _host_tensor([*chain(*blocks)], shape, key.device)
    # Both words are computed for each element, since interleaving would take one more
    # kernel.
    indices = _counters(name, key, shape)
    operands = *_words_of(key), (indices >> 1) + first
    block = Tensor(operation("threefry_first", *operands))
    return block ^ Tensor(operation("threefry", *operands)) * (indices & 1)


def _host_tensor(words: list[int], shape: Shape, device: str) -> Tensor:
    return Tensor(leaf(HostData(pack(words, WORD, shape)), shape, WORD, device))


def _counters(name: str, key: Tensor, shape: Shape) -> Tensor:
    """Return 0, 1, 2, … in a shape, on the key's device."""
    count = prod(shape)
    if count > MOST_WORDS:
        raise ShapeError(
            f"{name}: shape {shape} has {count:,} elements, a key has numbers for "
            "2**32; split the key and draw in parts."
        )
    return Tensor(iota(count, WORD, key.device)).reshape(shape)


declare_public(__name__, hidden="checked_key known_words random_bits random_words")
