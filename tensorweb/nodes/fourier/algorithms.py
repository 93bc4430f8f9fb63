"""Unnormalized transforms of pairs of real nodes along any axis, of any length.

`X[k]` is the sum over j of `x[j] · exp(2πi · sign · j · k / n)`. By device and length,
a transform is one FOURIER operation, the four-step algorithm, products of short DFT
matrices (Stockham) or a convolution of chirps (Bluestein).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod

from tensorweb.devices import backend
from tensorweb.graph.attributes import Groups, Transform
from tensorweb.graph.node import Node
from tensorweb.nodes.contraction import contract
from tensorweb.nodes.fourier.pairs import (
    FullPair,
    Pair,
    added,
    conjugate,
    each,
    each_full,
    joined,
    multiplied,
    part,
    product,
    resized,
    scaled,
    zeros,
)
from tensorweb.nodes.fourier.tables import (
    arcs,
    digits_of,
    factors_of,
    matrix,
    primes_of,
    quick_length,
    roots_in_pairs,
    twiddles,
)
from tensorweb.nodes.movement import (
    expand,
    flip,
    move_axis_last,
    move_last_axis_to,
    permute,
    reshape,
    slice_axis,
)
from tensorweb.nodes.policy import LARGEST_ROOT_TABLE
from tensorweb.ops.structure import FOURIER, PERMUTE, RESHAPE, SLICE
from tensorweb.protocol import RowTransformer
from tensorweb.shapes import Shape
from tensorweb.view import View


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
            return _by_four_steps(pair, axis, columns, sign)
    rows = each(lambda node: move_axis_last(node, axis), pair)
    factors = factors_of(length) if device is None else None
    result = by_products(rows, factors, sign) if factors else _by_chirps(rows, sign)
    return each_full(lambda node: move_last_axis_to(node, axis), result)


def _by_four_steps(pair: Pair, axis: int, columns: int, sign: int) -> FullPair:
    """Return the transform by the four-step algorithm: j is (j1, j2), k is (k2, k1).

    Transforms along j1, which gives k1; multiplies by `w^(j2 · k1)`; transforms along
    j2, which gives k2.
    """
    shape = pair[0].shape
    split = (*shape[:axis], columns, shape[axis] // columns, *shape[axis + 1 :])
    matrices = each(lambda node: reshape(node, split), pair)
    columns_done = times_twiddles(transform(matrices, axis, sign), axis, sign)
    rows = each(lambda node: swap_with_next(node, axis), columns_done)
    return each_full(lambda node: reshape(node, shape), transform(rows, axis, sign))


def _by_chirps(pair: Pair, sign: int) -> FullPair:
    """Return the transform by Bluestein's algorithm, as a convolution.

    As `2jk = j² + k² - (k - j)²`, the input times the chirp `c[j] = w^(j²/2)` is
    convolved with the conjugate chirp, and the result is multiplied by the chirp.
    """
    re = pair[0]
    length, axis = re.shape[-1], len(re.shape) - 1
    padded_length = quick_length(2 * length - 1)
    factors = chirp(length, sign, re)
    spectrum = transform(chirp_filter(factors, padded_length), 0, -1)
    padded = each_full(
        lambda node: resized(node, axis, padded_length), product(pair, factors)
    )
    convolved = transform(product(transform(padded, axis, -1), spectrum), axis, 1)
    return product(
        each_full(lambda node: slice_axis(node, axis, 0, length), convolved), factors
    )


def by_rows(pair: Pair, axis: int, sign: int, device: RowTransformer) -> FullPair:
    """Return the transform of an axis whose length the device supports."""
    re, im = pair
    length = re.shape[axis]
    angles = device.angles(length)
    roots = [roots_in_pairs(angles, length, re)] if angles else []
    inputs = (re, zeros(re) if im is None else im, *roots)
    attrs, shape = Transform(axis, sign), (*re.shape, 2)
    pairs = Node(FOURIER, inputs, attrs, shape, re.dtype, re.device)
    last = len(re.shape)
    return part(pairs, last, 0), part(pairs, last, 1)


def interleaved(re: Node, im: Node) -> Node | None:
    """Return the node of pairs whose parts `re` and `im` are; None if there is none."""
    base = re.base
    if base.op is not FOURIER or base is not im.base or base.size != 2 * re.size:
        return None
    view = View.contiguous((*re.shape, 2))
    ranges = [(0, length, 1) for length in re.shape]
    for index, node in enumerate((re, im)):
        if node.view != view.slice((*ranges, (index, 1, 1))).reshape(re.shape):
            return None
        while node is not base:
            if node.op not in (RESHAPE, SLICE, PERMUTE):
                return None
            node = node.inputs[0]
    return reshape(base, (*re.shape, 2))


def columns_of(length: int, device: RowTransformer) -> int | None:
    """Return the length of columns in a split of `length` into two factors.

    It is near the square root. None if the device does not support a prime factor.
    """
    divisors = {1}
    for prime in primes_of(length):
        if not device.takes(prime, is_across=True):
            return None
        divisors |= {divisor * prime for divisor in divisors}
    columns = [d for d in divisors if d > 1 and device.takes(d, is_across=True)]
    # Rows that are too long for the device are split again.
    fitting = [d for d in columns if device.takes(length // d, is_across=True)]
    return min(
        fitting or [max(columns)], key=lambda divisor: abs(divisor * divisor - length)
    )


def times_twiddles(pair: FullPair, axis: int, sign: int) -> FullPair:
    """Return the pair times `w^(j · k)` for k along `axis` and j along the next axis.

    The order of w is the product of both lengths.
    """
    shape = pair[0].shape
    outer, (rows, columns), inner = shape[:axis], shape[axis:][:2], shape[axis + 2 :]
    ones = (1,) * len(inner)
    high, low = digits_of(columns, rows)
    digits = (*outer, high, low, columns, *inner)
    result = each_full(lambda node: reshape(node, digits), pair)
    for count, step, aligned in (
        (high, low, (high, 1, columns, *ones)),
        (low, 1, (1, low, columns, *ones)),
    ):
        if count > 1:
            table = twiddles(count, columns, step, rows * columns, sign, pair[0])
            cosine, sine = (reshape(part(table, 0, i), aligned) for i in (0, 2))
            result = product(result, (cosine, sine))
    return each_full(lambda node: reshape(node, shape), result)


def swap_with_next(node: Node, axis: int) -> Node:
    """Return a node with an axis and the next one exchanged."""
    order = list(range(len(node.shape)))
    order[axis : axis + 2] = axis + 1, axis
    return permute(node, order)


def by_products(pair: Pair, factors: Sequence[int], sign: int) -> FullPair:
    """Return the transform of the last axis, whose length is the product of factors.

    Stockham's algorithm: each stage writes its results in the final order, so no
    reordering is needed. Before a stage, with K points done and n of this stage,

        z[j, m, k] becomes  sum over j of  w_n^(j·l) · w_(K·n)^(j·k) · z[j, m, k]

    at index (m, l, k); j is the point, m counts the points of later stages. Both parts
    of the result are views of one storage.
    """
    *outer, length = pair[0].shape
    state = _first(pair, factors[0], sign)
    for factor in factors[1:]:
        state = _stage(state, factor, sign)
    state = reshape(state, (*outer, 2, length))
    return part(state, len(outer), 0), part(state, len(outer), 1)


def _first(pair: Pair, factor: int, sign: int) -> Node:
    """Return the first stage of (…, point) as (row, rest, part, done)."""
    *outer, length = pair[0].shape
    rest, last = length // factor, len(outer)
    weights = matrix(factor, sign, pair[0])
    total: Node | None = None
    for index, node in enumerate(pair):
        if node is None:
            continue
        points = reshape(node, (*outer, factor, rest))
        left = permute(points, (*range(last), last + 1, last))
        right = permute(part(weights, 3, index), (2, 0, 1))
        result = contract(left, right, Groups(0, last + 1, 1, 2))
        total = result if total is None else added(total, result)
    assert total is not None, "internal: a transform has points"
    return reshape(total, (prod(outer), rest, 2, factor))


def _stage(state: Node, factor: int, sign: int) -> Node:
    """Return the next stage of (row, rest, part, done)."""
    rows, rest, _, done = state.shape
    rest //= factor
    points = _apply_twiddles(reshape(state, (rows, factor, rest, 2, done)), sign)
    right = permute(points, (0, 2, 1, 3, 4))
    weights = matrix(factor, sign, state)
    left = expand(weights, (rows, rest, *weights.shape))
    result = contract(left, right, Groups(2, 2, 2, 1))
    return reshape(result, (rows, rest, 2, factor * done))


def _apply_twiddles(points: Node, sign: int) -> Node:
    """Return (row, point, rest, part, done) times `w^(point · done)`."""
    rows, factor, rest, _, done = points.shape
    order = factor * done
    high, low = digits_of(factor, done)
    digits = reshape(points, (rows, factor, rest, 2, high, low))
    for count, step, shape in (
        (high, low, (factor, 1, 1, high, 1)),
        (low, 1, (factor, 1, 1, 1, low)),
    ):
        if count == 1:
            continue
        angles = twiddles(factor, count, step, order, sign, points)
        cosine = reshape(part(angles, 0, 0), shape)
        sines = permute(slice_axis(angles, 0, 1, 2), (1, 0, 2))
        sine = reshape(sines, (factor, 1, 2, *shape[3:]))
        crossed = multiplied(flip(digits, (3,)), sine)
        digits = added(multiplied(digits, cosine), crossed)
    return reshape(digits, points.shape)


def chirp(length: int, sign: int, like: Node) -> FullPair:
    """Return `exp(πi · sign · k² / length)` for each k.

    A long chirp is a product of three tables, each indexed by two of the three digits
    of k: with `k = a + b + c`, `k² = (a² + 2ab) + 2ac + (b + c)²`.
    """
    order = 2 * length

    def table(
        index: int, squares: Callable[[], Iterable[int]], shape: Shape
    ) -> FullPair:
        both = arcs(
            ("chirp", index, sign),
            lambda: (sign * square for square in squares()),
            order,
            shape,
            like,
        )
        return part(both, 0, 0), part(both, 0, 1)

    if length <= LARGEST_ROOT_TABLE:
        return table(0, lambda: (k * k for k in range(length)), (length,))
    bits = (length - 1).bit_length()
    low, middle = 1 << bits // 3, 1 << (bits + 1) // 3
    high = -(-length // (low * middle))
    a = range(0, high * middle * low, middle * low)
    b = range(0, middle * low, low)
    c = range(low)
    factors = product(
        product(
            table(
                1, lambda: (j * (j + 2 * k) for j in a for k in b), (high, middle, 1)
            ),
            table(2, lambda: (2 * j * k for j in a for k in c), (high, 1, low)),
        ),
        table(3, lambda: ((j + k) ** 2 for j in b for k in c), (1, middle, low)),
    )
    flat = each_full(lambda node: reshape(node, (high * middle * low,)), factors)
    return each_full(lambda node: slice_axis(node, 0, 0, length), flat)


def chirp_filter(chirp: FullPair, period: int) -> Pair:
    """Return the conjugate chirp divided by `period`, as a filter of this period.

    Elements k and `period - k` are equal; elements not covered by the chirp are zero.
    """
    length = chirp[0].shape[0]

    def around(node: Node) -> Node:
        mirrored = flip(slice_axis(node, 0, 1, length - 1), (0,))
        front = resized(node, 0, period - length + 1)
        return scaled(joined(front, mirrored, 0), 1 / period)

    re, im = each_full(around, chirp)
    return conjugate((re, im))
