"""Transforms from and to real numbers along the last axis, at half the cost.

For an even n, the n real numbers are treated as n/2 complex ones: elements of even
index are real parts, elements of odd index imaginary parts.
"""

from __future__ import annotations

from tensorweb.graph.node import Node, constant
from tensorweb.nodes.fourier.pairs import (
    FullPair,
    Pair,
    added,
    between,
    conjugate,
    each,
    each_full,
    joined,
    part,
    product,
    scaled,
    subtracted,
    zeros,
)
from tensorweb.nodes.fourier.rows import interleaved
from tensorweb.nodes.fourier.tables import LONGEST_TABLE, roots
from tensorweb.nodes.fourier.transform import transform
from tensorweb.nodes.movement import flip, reshape
from tensorweb.nodes.selection import concat, pad

LOW_DIGIT = 1 << 10
"""Length of the table of low digits of k for long transforms."""


def from_real(node: Node) -> FullPair:
    """Return the first `n // 2 + 1` elements of the transform of (…, n) real numbers.

    With Z the transform of the h = n/2 complex numbers, E = (Z[k] + Z̄[h-k]) / 2 is the
    transform of the even elements, O = (Z[k] - Z̄[h-k]) / 2i of the odd ones, and
    X = E + w^k · O.
    """
    *outer, length = node.shape
    axis, half = len(outer), length // 2
    if length % 2 or node.size == 0:
        re, im = transform((node, None), axis, -1)
        return between(re, axis, 0, half + 1), between(im, axis, 0, half + 1)
    points = reshape(scaled(node, 0.5), (*outer, half, 2))
    halves = part(points, axis + 1, 0), part(points, axis + 1, 1)
    re, im = transform(halves, axis, -1)
    here_re, here_im = (joined(z, between(z, axis, 0, 1), axis) for z in (re, im))
    there_re, there_im = (
        joined(between(z, axis, 0, 1), flip(z, (axis,)), axis) for z in (re, im)
    )
    even = added(here_re, there_re), subtracted(here_im, there_im)
    odd = added(here_im, there_im), subtracted(there_re, here_re)
    turned = product(odd, _roots(half + 1, -1, length, node))
    return added(even[0], turned[0]), added(even[1], turned[1])


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
    there = conjugate(each(lambda node: flip(node, (axis,)), spectrum))
    (re, im), (other_re, other_im) = (
        each(lambda node: between(node, axis, 0, half), each_pair)
        for each_pair in (spectrum, there)
    )
    root = _roots(half, 1, length, re)
    # Even elements get the sums, odd ones the differences times the roots times i.
    if im is None or other_im is None:
        turned_re, turned_im = product((subtracted(re, other_re), None), root)
        even_im = zeros(re)
    else:
        odd = subtracted(re, other_re), subtracted(im, other_im)
        turned_re, turned_im = product(odd, root)
        even_im = added(im, other_im)
    points = (
        subtracted(added(re, other_re), turned_im),
        added(even_im, turned_re),
    )
    found = transform(points, axis, 1)
    pairs = interleaved(*found)
    if pairs is None:
        sides = [reshape(node, (*outer, half, 1)) for node in found]
        pairs = concat(sides, axis + 1)
    return reshape(pairs, (*outer, length))


def _roots(count: int, sign: int, order: int, like: Node) -> FullPair:
    """Return `exp(2πi · sign · k / order)` for k below a count.

    Long results are products of two tables, by high and low digit of k.
    """
    low = count if count <= LONGEST_TABLE else LOW_DIGIT
    high = -(-count // low)
    units = roots(low, sign, order, like)
    found = part(units, 0, 0), part(units, 0, 1)
    if high == 1:
        return found
    steps = reshape(roots(high, sign * low, order, like), (2, high, 1))
    found = product(found, (part(steps, 0, 0), part(steps, 0, 1)))
    return each_full(
        lambda node: between(reshape(node, (high * low,)), 0, 0, count), found
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
    inside = between(im, axis, 1, count - last)
    return re, pad(inside, widths, constant(0, im.dtype, im.device))


def _all_of_odd(spectrum: Pair, axis: int) -> Node:
    """Return the real numbers of an odd length, from the spectrum and its mirror."""

    def mirrored(node: Node) -> Node:
        return flip(between(node, axis, 1, node.shape[axis]), (axis,))

    re, im = spectrum
    other_re, other_im = conjugate(each(mirrored, spectrum))
    whole_re = joined(re, other_re, axis)
    if im is None or other_im is None:
        return transform((whole_re, None), axis, 1)[0]
    return transform((whole_re, joined(im, other_im, axis)), axis, 1)[0]
