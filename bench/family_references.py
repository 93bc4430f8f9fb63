"""Float64 references of the second table's rows, with NumPy.

A reference takes the operands and index arrays of places in the result; complex results
have a last axis of two, real and imaginary part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from bench.families import STEPS
from bench.references import Array, Reference, dot, exact

Found = tuple[Array, Array]
Inputs = Sequence[Array]


def _precise(x: Array) -> Array:
    return x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)


def _per_row(of_rows: Callable[[Array], Array]) -> Reference:
    """A function of whole rows."""
    return lambda inputs, where: exact(of_rows(_precise(inputs[0][where[0]])))


def _logsumexp(rows: Array) -> Array:
    top = rows.max(1)
    found: Array = np.log(np.exp(rows - top[:, None]).sum(1)) + top
    return found


def _gelu(inputs: Inputs, where: Array) -> Found:
    """The scale is the operand's: near zero and far left the result is tiny."""
    x = _precise(inputs[0][tuple(where)])
    shares = np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in x])
    return x * shares, np.abs(x)


def _sorted(inputs: Inputs, where: Array) -> Found:
    rows = np.sort(inputs[0][where[0]], axis=1)
    return exact(_precise(rows[np.arange(len(rows)), where[1]]))


def _product(inputs: Inputs, where: Array) -> Found:
    a, b = inputs
    *batch, row, column = where
    return dot(a[(*batch, row)], np.swapaxes(b, -1, -2)[(*batch, column)])


def _complex_product(inputs: Inputs, where: Array) -> Found:
    """Either part of a product is a sum of two real products."""
    row, column, part = where
    left, right = _precise(inputs[0][row]), _precise(inputs[1].T[column])
    is_imaginary = part[:, None] == 1
    first = np.where(is_imaginary, right.imag, right.real)
    second = np.where(is_imaginary, right.real, -right.imag)
    return dot(np.hstack([left.real, left.imag]), np.hstack([first, second]))


def _convolution(inputs: Inputs, where: Array) -> Found:
    """Groups follow from the channels of images and weights; the size stays."""
    images, weights = inputs
    filters, channels, height, width = weights.shape
    border = ((0, 0), (0, 0), (height // 2, height // 2), (width // 2, width // 2))
    images = np.pad(images, border)
    per_group = filters * channels // images.shape[1]
    seen = [
        images[n, start : start + channels, y : y + height, x : x + width]
        for n, start, y, x in zip(
            where[0], where[1] // per_group * channels, *where[2:], strict=True
        )
    ]
    count = len(seen)
    return dot(np.reshape(seen, (count, -1)), weights[where[1]].reshape(count, -1))


def _pairwise(inputs: Inputs, where: Array) -> Found:
    a, b = _precise(inputs[0][where[0], 0]), _precise(inputs[1][0, where[1]])
    return exact(((a - b) ** 2).sum(1))


def _around(x: Array, where: Array, distances: int) -> Array:
    """Sum the neighbours at a city-block distance of at most so much, or 2: all 8."""
    shifts = [s for s in product((-1, 0, 1), repeat=2) if any(s)]
    near = [s for s in shifts if abs(s[0]) + abs(s[1]) <= distances]
    row, column = where
    rows, columns = x.shape
    terms = [x[(row + i) % rows, (column + j) % columns] for i, j in near]
    found: Array = np.sum(_precise(np.array(terms)), axis=0)
    return found


def _life(inputs: Inputs, where: Array) -> Found:
    alive = inputs[0][tuple(where)]
    count = _around(inputs[0], where, 2)
    value = (count == 3) | ((alive == 1) & (count == 2))
    return value.astype(np.float64), np.ones(len(value))


def _heat(inputs: Inputs, where: Array) -> Found:
    x = _precise(inputs[0][tuple(where)])
    value = x + 0.1 * (_around(inputs[0], where, 1) - 4 * x)
    return value, np.ones(len(value))


def _gray_scott(inputs: Inputs, where: Array) -> Found:
    """The two fields one after the other; borders have no result."""
    field, *inner = where
    at = np.array(inner) + 1
    u, v = (_precise(x[tuple(at)]) for x in inputs)
    spread_u, spread_v = (
        _around(x, at, 1) - 4 * value for x, value in zip(inputs, (u, v), strict=True)
    )
    reaction = u * v * v
    new_u = u + 0.16 * spread_u - reaction + 0.035 * (1 - u)
    new_v = v + 0.08 * spread_v + reaction - 0.1 * v
    return np.where(field == 0, new_u, new_v), np.ones(len(u))


def _mandelbrot(inputs: Inputs, where: Array) -> Found:
    """Where a millionth decides about the count no precision tells it: scale inf."""
    x, y = _precise(inputs[0][where[1]]), _precise(inputs[1][where[0], 0])
    counts = [
        _escapes(x * a, y * b) for a, b in product((1, 1 - 1e-6, 1 + 1e-6), repeat=2)
    ]
    is_told = np.ptp(counts, axis=0) == 0
    return counts[0], np.where(is_told, 1.0, np.inf)


def _escapes(x: Array, y: Array) -> Array:
    """Count the steps after which a point is within 2 of the origin."""
    point, z = x + 1j * y, np.zeros(len(x), np.complex128)
    count = np.zeros(len(x))
    is_near = np.ones(len(x), bool)
    for _ in range(STEPS):
        z = np.where(is_near, z * z + point, z)
        is_near &= np.abs(z) ** 2 < 4
        count += is_near
    return count


def _attention(*, is_causal: bool) -> Reference:
    def at(inputs: Inputs, where: Array) -> Found:
        """The scale is the largest value that may be weighted."""
        head, row, column = where
        q, k, v = (_precise(x[head]) for x in inputs)
        scores = np.einsum("nd,nsd->ns", q[np.arange(len(q)), row], k)
        scores /= math.sqrt(q.shape[-1])
        if is_causal:
            scores[np.arange(scores.shape[1]) > row[:, None]] = -np.inf
        e = np.exp(scores - scores.max(1, keepdims=True))
        values = v[np.arange(len(v)), :, column]
        return (e * values).sum(1) / e.sum(1), np.abs(values).max(1)

    return at


def _transform(whole: Callable[[Array], Array]) -> Reference:
    def at(inputs: Inputs, where: Array) -> Found:
        """The scale is the root mean square of the transform."""
        x = _precise(inputs[0])
        *place, part = where
        found = whole(x)[tuple(place)]
        scale = np.full(len(found), np.sqrt((np.abs(x) ** 2).sum()))
        return np.where(part == 1, found.imag, found.real), scale

    return at


def _cholesky(inputs: Inputs, where: Array) -> Found:
    """The scale is the root of the largest number, which a row of the factor has."""
    given = _precise(inputs[0][where[0]])
    found = np.linalg.cholesky(given)
    value = found[np.arange(len(found)), where[1], where[2]]
    return value, np.sqrt(given.max((1, 2)))


def _solve(inputs: Inputs, where: Array) -> Found:
    """The scale is the largest result, times the condition of the matrix."""
    a, b = (_precise(x[where[0]]) for x in inputs)
    found = np.linalg.solve(a, b)
    scale = np.abs(found).max((1, 2)) * np.linalg.cond(a)
    return found[np.arange(len(found)), where[1], where[2]], scale


def _rebuilt(inputs: Inputs, where: Array) -> Found:
    """Factors multiplied give the operand; the scale is its largest singular value."""
    given = _precise(inputs[0][where[0]])
    return _precise(inputs[0][tuple(where)]), np.linalg.norm(given, 2, (1, 2))


FAMILY_REFERENCES: dict[str, Reference] = {
    "argmax_rows": _per_row(lambda x: np.argmax(x, 1)),
    "var_rows": _per_row(lambda x: x.var(1)),
    "logsumexp_rows": _per_row(_logsumexp),
    "norm_rows": _per_row(lambda x: np.linalg.norm(x, axis=1)),
    "sum_strided": _per_row(lambda x: x[:, ::2].sum(1)),
    "gelu": _gelu,
    "matmul_complex": _complex_product,
    "conv2d_grouped": _convolution,
    "conv2d_depthwise": _convolution,
    "conv2d_1x1": _convolution,
    "pairwise": _pairwise,
    "life": _life,
    "heat": _heat,
    "gray_scott": _gray_scott,
    "mandelbrot": _mandelbrot,
    "sort_rows": _sorted,
    "attention": _attention(is_causal=False),
    "attention_causal": _attention(is_causal=True),
    "fft": _transform(np.fft.fft),
    "fft2": _transform(np.fft.fft2),
    "cholesky": _cholesky,
    "solve": _solve,
    "svd": _rebuilt,
    "eigh": _rebuilt,
}
"""By program; those of the first table are in `references.py`."""
