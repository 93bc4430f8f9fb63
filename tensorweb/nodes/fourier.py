"""Fourier transforms of complex or real nodes along any axes.

Axes are truncated or zero-padded to the required lengths. Real and imaginary parts are
separate nodes until the last axis is transformed.

`X[k]` is the sum over j of `x[j] · exp(2πi · sign · j · k / n)`. By device and length,
a transform is one FOURIER operation, the four-step algorithm, products of short DFT
matrices (Stockham) or a convolution of chirps (Bluestein).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import prod

from tensorweb.devices import backend
from tensorweb.errors import DTypeError
from tensorweb.graph.attributes import Groups, Transform
from tensorweb.graph.node import Node, complex_of, constant
from tensorweb.nodes.complex_parts import (
    imaginary_part,
    is_complex,
    join_parts,
    real_part,
)
from tensorweb.nodes.contraction import contract
from tensorweb.nodes.elementwise import cast
from tensorweb.nodes.fourier_pairs import (
    FullPair,
    Pair,
    added,
    arcs,
    conjugate,
    digits_of,
    each,
    each_full,
    factors_of,
    joined,
    matrix,
    multiplied,
    part,
    primes_of,
    product,
    quick_length,
    resized,
    roots,
    roots_in_pairs,
    scaled,
    subtracted,
    twiddles,
    zeros,
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
from tensorweb.nodes.policy import LARGEST_ROOT_TABLE, ROOT_TABLE_LOW
from tensorweb.nodes.selection import concat, pad
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
    """Return the node of pairs with the parts `re` and `im`, None if none exists."""
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
    return cast(node, node.dtype.wide), None


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
