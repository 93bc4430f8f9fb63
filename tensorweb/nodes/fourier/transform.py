"""Unnormalized transforms of complex numbers along any axis, of any length.

`X[k]` is the sum over j of `x[j] · exp(2πi · sign · j · k / n)`.
"""

from __future__ import annotations

from math import prod

from tensorweb.devices import backend
from tensorweb.nodes.fourier.chirps import chirp, chirp_filter
from tensorweb.nodes.fourier.lengths import factors_of, quick_length
from tensorweb.nodes.fourier.pairs import (
    FullPair,
    Pair,
    between,
    each,
    each_full,
    product,
    resized,
    zeros,
)
from tensorweb.nodes.fourier.products import by_products
from tensorweb.nodes.fourier.rows import by_rows, columns_of, swapped, turned
from tensorweb.nodes.movement import move_axis_last, move_last_axis_to, reshape


def transform(pair: Pair, axis: int, sign: int) -> FullPair:
    """Return the transform of an axis of length 1 or more.

    Args:
        pair: real and imaginary parts.
        axis: the axis, not negative.
        sign: -1 for the forward transform, 1 for the inverse one.
    """
    re, im = pair
    length = re.shape[axis]
    if length == 1 or re.size == 0:
        return re, zeros(re) if im is None else im
    device = backend(re.device).row_transformer
    if device is not None:
        is_across = prod(re.shape[axis + 1 :]) > 1
        if device.takes(length, is_across=is_across):
            return by_rows(pair, axis, sign, device)
        columns = columns_of(length, device)
        if columns is not None:
            return _by_table(pair, axis, columns, sign)
    rows = each(lambda node: move_axis_last(node, axis), pair)
    factors = factors_of(length) if device is None else None
    found = by_products(rows, factors, sign) if factors else _by_chirps(rows, sign)
    return each_full(lambda node: move_last_axis_to(node, axis), found)


def _by_table(pair: Pair, axis: int, columns: int, sign: int) -> FullPair:
    """Return the transform by the four-step algorithm: j is (j1, j2), k is (k2, k1).

    Transforms along j1, which gives k1; multiplies by `w^(j2 · k1)`; transforms along
    j2, which gives k2.
    """
    shape = pair[0].shape
    split = (*shape[:axis], columns, shape[axis] // columns, *shape[axis + 1 :])
    table = each(lambda node: reshape(node, split), pair)
    found = turned(transform(table, axis, sign), axis, sign)
    found = transform(each(lambda node: swapped(node, axis), found), axis, sign)
    return each_full(lambda node: reshape(node, shape), found)


def _by_chirps(pair: Pair, sign: int) -> FullPair:
    """Return the transform by Bluestein's algorithm, as a convolution.

    As `2jk = j² + k² - (k - j)²`, the input times the chirp `c[j] = w^(j²/2)` is
    convolved with the conjugate chirp, and the result is multiplied by the chirp.
    """
    re = pair[0]
    length, axis = re.shape[-1], len(re.shape) - 1
    whole = quick_length(2 * length - 1)
    turn = chirp(length, sign, re)
    filling = transform(chirp_filter(turn, whole), 0, -1)
    widened = each(lambda node: resized(node, axis, whole), product(pair, turn))
    found = transform(product(transform(widened, axis, -1), filling), axis, 1)
    return product(each_full(lambda node: between(node, axis, 0, length), found), turn)
