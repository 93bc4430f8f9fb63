"""Fourier transforms along any axes of complex or real nodes.

Axes are truncated or zero-padded to the required lengths. Real and imaginary parts are
separate nodes until the last axis is transformed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tensorweb import dtypes
from tensorweb.errors import DTypeError
from tensorweb.graph.node import Node, complex_of
from tensorweb.nodes.complex_parts import (
    imaginary_part,
    is_complex,
    join_parts,
    real_part,
)
from tensorweb.nodes.elementwise import cast
from tensorweb.nodes.fourier.pairs import Pair, each, resized, scaled, zeros
from tensorweb.nodes.fourier.real import from_real, to_real
from tensorweb.nodes.fourier.rows import interleaved
from tensorweb.nodes.fourier.transform import transform
from tensorweb.nodes.movement import move_axis_last, move_last_axis_to

Lengths = Sequence[tuple[int, int]]
"""Pairs of an axis and its length in the transform."""


def complex_to_complex(
    name: str, node: Node, lengths: Lengths, sign: int, factor: float
) -> Node:
    """Return the transform along axes, the last axis first, times a factor.

    Raises:
        DTypeError: the node is neither complex nor of a float dtype.
    """
    pair = each(lambda part: scaled(part, factor), _pair(name, node))
    return _joined(_along_all(pair, lengths, sign))


def real_to_complex(name: str, node: Node, lengths: Lengths, factor: float) -> Node:
    """Return the forward transform of real numbers, as `rfftn`.

    The last axis of `lengths` gets its nonnegative frequencies, `length // 2 + 1`.

    Raises:
        DTypeError: the node is not of a float dtype.
    """
    if is_complex(node):
        other = "ifft" if name == "ihfft" else name[1:]
        raise DTypeError(
            f"{name}: {node.dtype} operands; it takes real numbers. Use tw.fft.{other} "
            "for complex ones, or take tw.real(x)."
        )
    *others, (axis, length) = lengths
    re, _ = _pair(name, node)
    rows = move_axis_last(resized(scaled(re, factor), axis, length), axis)
    found = each(lambda part: move_last_axis_to(part, axis), from_real(rows))
    return _joined(_along_all(found, others, -1))


def complex_to_real(name: str, node: Node, lengths: Lengths, factor: float) -> Node:
    """Return the real inverse transform, as `irfftn`.

    The last axis of `lengths` has its nonnegative frequencies, `length // 2 + 1`.

    Raises:
        DTypeError: the node is neither complex nor of a float dtype.
    """
    *others, (axis, length) = lengths
    pair = each(lambda part: scaled(part, factor), _pair(name, node))
    pair = _along_all(pair, others, 1)

    def half(part: Node) -> Node:
        return move_axis_last(resized(part, axis, length // 2 + 1), axis)

    return move_last_axis_to(to_real(each(half, pair), length), axis)


def _pair(name: str, node: Node) -> Pair:
    """Return the real and imaginary part of a node, in float32 or float64.

    Raises:
        DTypeError: it is neither complex nor of a float dtype.
    """
    if is_complex(node):
        return real_part(node), imaginary_part(node)
    if node.dtype.kind != "float":
        raise DTypeError(
            f"{name}: {node.dtype} operands; it takes floating dtypes. Convert with "
            "astype(tw.float32)."
        )
    wide = dtypes.float32 if node.dtype is dtypes.float16 else node.dtype
    return cast(node, wide), None


def _along_all(pair: Pair, lengths: Lengths, sign: int) -> Pair:
    for axis, length in reversed(lengths):
        cut = each(partial(resized, axis=axis, length=length), pair)
        pair = transform(cut, axis, sign)
    return pair


def _joined(pair: Pair) -> Node:
    """Return a complex node of two parts, without a copy if they are interleaved."""
    re, im = pair
    if im is None:
        return join_parts(re, zeros(re))
    pairs = interleaved(re, im)
    return join_parts(re, im) if pairs is None else complex_of(pairs)
