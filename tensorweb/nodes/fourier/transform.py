"""Transforms of complex numbers along any axis, of any length.

`X[k]` is the sum over j of `x[j] · exp(2πi · sign · j · k / n)`; nothing is divided.
"""

from __future__ import annotations

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
from tensorweb.protocol import RowTransformer


def transform(pair: Pair, axis: int, sign: int) -> FullPair:
    """Return the transform of an axis, which has one point or more.

    Args:
        pair: real and imaginary parts.
        axis: counted from the front.
        sign: -1 forwards, 1 backwards.
    """
    re, im = pair
    length = re.shape[axis]
    if length == 1 or re.size == 0:
        return re, zeros(re) if im is None else im
    device = backend(re.device).row_transformer
    if device is not None and device.takes(length):
        return by_rows(pair, axis, sign, device)
    rows = each(lambda node: move_axis_last(node, axis), pair)
    found = _last_axis(rows, sign, device)
    return each_full(lambda node: move_last_axis_to(node, axis), found)


def _last_axis(pair: Pair, sign: int, device: RowTransformer | None) -> FullPair:
    """Return the transform of the last axis, which is not transformed at once."""
    length = pair[0].shape[-1]
    if device is not None:
        columns = columns_of(length, device)
        if columns is not None:
            return _by_table(pair, columns, sign)
    else:
        factors = factors_of(length)
        if factors is not None:
            return by_products(pair, factors, sign)
    return _by_chirps(pair, sign)


def _by_table(pair: Pair, columns: int, sign: int) -> FullPair:
    """Return the transform of a row in two steps: point j is (j1, j2), k is (k2, k1).

    First along j1, which is k1 then; turned by `w^(j2 · k1)`, then along j2.
    """
    *outer, length = pair[0].shape
    first = len(outer)
    shape = (*outer, columns, length // columns)
    table = each(lambda node: reshape(node, shape), pair)
    found = turned(transform(table, first, sign), sign)
    found = transform(each(swapped, found), first, sign)
    return each_full(lambda node: reshape(node, (*outer, length)), found)


def _by_chirps(pair: Pair, sign: int) -> FullPair:
    """Return the transform as a convolution, after Bluestein.

    As `2jk = j² + k² - (k - j)²`, what is turned by the chirp `c[j] = w^(j²/2)` is
    convolved with the chirp that turns back, and turned once more.
    """
    re = pair[0]
    length, axis = re.shape[-1], len(re.shape) - 1
    whole = quick_length(2 * length - 1)
    turn = chirp(length, sign, re)
    filling = transform(chirp_filter(turn, whole), 0, -1)
    widened = each(lambda node: resized(node, axis, whole), product(pair, turn))
    found = transform(product(transform(widened, axis, -1), filling), axis, 1)
    return product(each_full(lambda node: between(node, axis, 0, length), found), turn)
