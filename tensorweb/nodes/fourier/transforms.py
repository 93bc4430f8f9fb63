"""Fourier transforms of complex or real nodes along any axes.

Axes are truncated or zero-padded to the required lengths. Real and imaginary parts are
separate nodes until the last axis is transformed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tensorweb import dtypes
from tensorweb.errors import DTypeError
from tensorweb.graph.node import Node, complex_of, constant
from tensorweb.nodes.complex_parts import (
    imaginary_part,
    is_complex,
    join_parts,
    real_part,
)
from tensorweb.nodes.elementwise import cast
from tensorweb.nodes.fourier.algorithms import interleaved, transform
from tensorweb.nodes.fourier.pairs import (
    FullPair,
    Pair,
    added,
    conjugate,
    each,
    each_full,
    joined,
    part,
    product,
    resized,
    scaled,
    subtracted,
    zeros,
)
from tensorweb.nodes.fourier.tables import roots
from tensorweb.nodes.movement import (
    flip,
    move_axis_last,
    move_last_axis_to,
    reshape,
    slice_axis,
)
from tensorweb.nodes.policy import LARGEST_ROOT_TABLE, ROOT_TABLE_LOW
from tensorweb.nodes.selection import concat, pad

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
    return _join(_along_all(pair, lengths, sign))


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
    pair = each(lambda part: move_last_axis_to(part, axis), from_real(rows))
    return _join(_along_all(pair, others, -1))


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
        fitted = each(partial(resized, axis=axis, length=length), pair)
        pair = transform(fitted, axis, sign)
    return pair


def _join(pair: Pair) -> Node:
    """Return a complex node of two parts, without a copy if they are interleaved."""
    re, im = pair
    if im is None:
        return join_parts(re, zeros(re))
    pairs = interleaved(re, im)
    return join_parts(re, im) if pairs is None else complex_of(pairs)


def from_real(node: Node) -> FullPair:
    """Return the first `n // 2 + 1` elements of the transform of (…, n) real numbers.

    An even n costs half: elements of even index are the real parts and elements of odd
    index the imaginary parts of h = n/2 complex numbers. With Z their transform,
    E = (Z[k] + Z̄[h-k]) / 2 is the transform of the even elements,
    O = (Z[k] - Z̄[h-k]) / 2i of the odd ones, and X = E + w^k · O.
    """
    *outer, length = node.shape
    axis, half = len(outer), length // 2
    if length % 2 or node.size == 0:
        re, im = transform((node, None), axis, -1)
        return slice_axis(re, axis, 0, half + 1), slice_axis(im, axis, 0, half + 1)
    points = reshape(scaled(node, 0.5), (*outer, half, 2))
    points_pair = part(points, axis + 1, 0), part(points, axis + 1, 1)
    z = transform(points_pair, axis, -1)
    re, im = (joined(node, slice_axis(node, axis, 0, 1), axis) for node in z)
    mirror_re, mirror_im = (
        joined(slice_axis(node, axis, 0, 1), flip(node, (axis,)), axis) for node in z
    )
    even = added(re, mirror_re), subtracted(im, mirror_im)
    odd = added(im, mirror_im), subtracted(mirror_re, re)
    product_re, product_im = product(odd, _roots(half + 1, -1, length, node))
    return added(even[0], product_re), added(even[1], product_im)


def to_real(pair: Pair, length: int) -> Node:
    """Return n times the real inverse transform of `n // 2 + 1` elements.

    The other elements are their conjugates in reverse order, so the imaginary part of
    the first element, and of the last one for an even n, is taken as zero.
    """
    *outer, count = pair[0].shape
    axis, half = len(outer), length // 2
    assert count == half + 1, "internal: as many elements as a real transform has"
    if pair[0].size == 0:
        return constant(0, pair[0].dtype, pair[0].device, (*outer, length))
    spectrum = _with_real_ends(pair, axis, length)
    if length % 2:
        return _all_of_odd(spectrum, axis)
    mirror = conjugate(each(lambda node: flip(node, (axis,)), spectrum))
    (re, im), (mirror_re, mirror_im) = (
        each(lambda node: slice_axis(node, axis, 0, half), pair)
        for pair in (spectrum, mirror)
    )
    root = _roots(half, 1, length, re)
    # Even elements get the sums, odd ones the differences times the roots times i.
    if im is None or mirror_im is None:
        odd_re, odd_im = product((subtracted(re, mirror_re), None), root)
        even_im = zeros(re)
    else:
        odd = subtracted(re, mirror_re), subtracted(im, mirror_im)
        odd_re, odd_im = product(odd, root)
        even_im = added(im, mirror_im)
    points = (
        subtracted(added(re, mirror_re), odd_im),
        added(even_im, odd_re),
    )
    result = transform(points, axis, 1)
    pairs = interleaved(*result)
    if pairs is None:
        parts = [reshape(node, (*outer, half, 1)) for node in result]
        pairs = concat(parts, axis + 1)
    return reshape(pairs, (*outer, length))


def _roots(count: int, sign: int, order: int, like: Node) -> FullPair:
    """Return `exp(2πi · sign · k / order)` for k below a count.

    Long results are products of two tables, by high and low digit of k.
    """
    low = count if count <= LARGEST_ROOT_TABLE else ROOT_TABLE_LOW
    high = -(-count // low)
    low_roots = roots(low, sign, order, like)
    pair = part(low_roots, 0, 0), part(low_roots, 0, 1)
    if high == 1:
        return pair
    high_roots = reshape(roots(high, sign * low, order, like), (2, high, 1))
    pair = product(pair, (part(high_roots, 0, 0), part(high_roots, 0, 1)))
    return each_full(
        lambda node: slice_axis(reshape(node, (high * low,)), 0, 0, count), pair
    )


def _with_real_ends(pair: Pair, axis: int, length: int) -> Pair:
    """Return a spectrum with zero imaginary parts at frequencies 0 and n/2."""
    re, im = pair
    if im is None:
        return pair
    count = re.shape[axis]
    last = 1 - length % 2 if count > 1 else 0
    widths = [(0, 0)] * len(re.shape)
    widths[axis] = (1, last)
    inside = slice_axis(im, axis, 1, count - last - 1)
    return re, pad(inside, widths, constant(0, im.dtype, im.device))


def _all_of_odd(spectrum: Pair, axis: int) -> Node:
    """Return the real numbers of an odd length, from the spectrum and its mirror."""

    def mirrored(node: Node) -> Node:
        return flip(slice_axis(node, axis, 1, node.shape[axis] - 1), (axis,))

    re, im = spectrum
    mirror_re, mirror_im = conjugate(each(mirrored, spectrum))
    full_re = joined(re, mirror_re, axis)
    if im is None or mirror_im is None:
        return transform((full_re, None), axis, 1)[0]
    return transform((full_re, joined(im, mirror_im, axis)), axis, 1)[0]
