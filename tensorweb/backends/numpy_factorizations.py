"""How NumPy takes matrices apart: LAPACK where NumPy has it, loops over columns else.

A matrix that cannot be taken apart gives NaN, as on every device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tensorweb.graph.attributes import Factoring
from tensorweb.graph.node import Node, attributes_of

Array = npt.NDArray[Any]

PANEL = 32
"""Columns that are eliminated one by one before the rest follows in one product."""

BLOCK = 64
"""Unknowns that are solved for together."""


def _each(call: Callable[[Array], Sequence[Array]], a: Array) -> list[Array]:
    """Return the factors of a stack; those of matrices that LAPACK refuses are NaN."""
    try:
        if np.isfinite(a).all():
            return list(call(a))
        raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        shape = a.shape[:-2]
    stack = a.reshape(-1, *a.shape[-2:])
    like = call(np.broadcast_to(np.eye(*a.shape[-2:], dtype=a.dtype), stack.shape))
    found = [np.full(part.shape, np.nan, a.dtype) for part in like]
    for number, matrix in enumerate(stack):
        try:
            parts = call(matrix) if np.isfinite(matrix).all() else ()
        except np.linalg.LinAlgError:
            continue
        for whole, part in zip(found, parts, strict=False):
            whole[number] = part
    return [part.reshape(*shape, *part.shape[1:]) for part in found]


def _flat(parts: Sequence[Array], node: Node) -> Array:
    """Return parts one behind the other, a row of them for each matrix."""
    outer = node.shape[:-1]
    return np.concatenate([part.reshape(*outer, -1) for part in parts], -1)


def _cholesky(node: Node, inputs: Sequence[Array]) -> Array:
    (found,) = _each(lambda a: (np.linalg.cholesky(a),), inputs[0])
    return found


def _lu(node: Node, inputs: Sequence[Array]) -> Array:
    """Eliminate columns in panels, for all matrices of the stack at once."""
    (source,) = inputs
    *_, rows, columns = source.shape
    a = np.zeros((*source.shape[:-1], columns + 2), source.dtype)
    a[..., :columns] = source
    a[..., columns] = np.arange(rows)
    a[..., columns + 1] = 1
    a = a.reshape(-1, rows, columns + 2)
    each, steps = np.arange(len(a)), min(rows, columns)
    for begin in range(0, steps, PANEL):
        end = min(begin + PANEL, steps)
        for j in range(begin, end):
            sizes = np.abs(a[:, j:, j])
            other = j + np.argmax(np.where(np.isnan(sizes), -1, sizes), -1)
            upper, lower = a[:, j, : columns + 1].copy(), a[each, other, : columns + 1]
            a[:, j, : columns + 1] = lower
            moved = other != j
            a[each[moved], other[moved], : columns + 1] = upper[moved]
            a[:, j, columns + 1] = np.where(moved, -1, 1)
            pivot = a[:, j, j]
            a[:, j + 1 :, j] /= np.where(pivot == 0, 1, pivot)[:, None]
            below, beside = a[:, j + 1 :, j : j + 1], a[:, j : j + 1, j + 1 : end]
            a[:, j + 1 :, j + 1 : end] -= below * beside
        for j in range(begin, end - 1):
            lower = a[:, j + 1 : end, j : j + 1]
            a[:, j + 1 : end, end:columns] -= lower * a[:, j : j + 1, end:columns]
        product = a[:, end:, begin:end] @ a[:, begin:end, end:columns]
        a[:, end:, end:columns] -= product
    return a.reshape(node.shape)


def _triangular_solve(node: Node, inputs: Sequence[Array]) -> Array:
    """Solve for some unknowns at a time, and take them away from the other rows."""
    triangle, right = inputs
    attrs = attributes_of(node, Factoring)
    found, n = np.array(right), right.shape[-2]
    starts = range(0, n, BLOCK)
    for begin in reversed(starts) if attrs.is_upper else starts:
        end = min(begin + BLOCK, n)
        order = range(end - 1, begin - 1, -1) if attrs.is_upper else range(begin, end)
        for j in order:
            if not attrs.is_unit:
                found[..., j, :] /= triangle[..., j, j, None]
            rest = slice(begin, j) if attrs.is_upper else slice(j + 1, end)
            taken = triangle[..., rest, j, None] * found[..., j, None, :]
            found[..., rest, :] -= taken
        rest = slice(0, begin) if attrs.is_upper else slice(end, n)
        found[..., rest, :] -= triangle[..., rest, begin:end] @ found[..., begin:end, :]
    return found


def _qr(node: Node, inputs: Sequence[Array]) -> Array:
    attrs = attributes_of(node, Factoring)
    assert not attrs.is_packed, "internal: NumPy makes Q and R of any size"
    mode: Literal["complete", "reduced"]
    mode = "complete" if attrs.is_complete else "reduced"
    left, right = np.linalg.qr(inputs[0], mode)
    return _flat([left.mT, right], node)


def _eigh(node: Node, inputs: Sequence[Array]) -> Array:
    values, vectors = _each(np.linalg.eigh, inputs[0])
    return np.concatenate([values[..., None, :], vectors], -2)


def _joined(parts: Sequence[Array]) -> Array:
    """Return complex numbers of their parts."""
    real, imaginary = parts
    whole = np.empty((*real.shape, 2), real.dtype)
    whole[..., 0], whole[..., 1] = real, imaginary
    return whole.view(np.result_type(real.dtype, np.complex64))[..., 0]


def _pairs(a: Array) -> Array:
    """Return complex numbers as pairs of their parts, `(..., 2)`."""
    return np.stack([a.real, a.imag], -1)


def _schur(node: Node, inputs: Sequence[Array]) -> Array:
    """Make Schur's form of eigenvectors, whose QR has the same first factor."""
    a = _joined(inputs)
    values, vectors = _each(_eig, a)
    safe = np.where(np.isnan(vectors), 0, vectors)
    unitary, columns = np.linalg.qr(safe)
    triangle = np.triu(unitary.conj().mT @ a @ unitary, 1)
    places = np.arange(a.shape[-1])
    triangle[..., places, places] = values
    return _flat([_pairs(x) for x in (unitary, triangle, columns)], node)


def _eig(a: Array) -> Sequence[Array]:
    """Return eigenvalues and vectors, complex ones always."""
    return [part.astype(a.dtype) for part in np.linalg.eig(a)]


def _svd(node: Node, inputs: Sequence[Array]) -> Array:
    def svd(a: Array) -> Sequence[Array]:
        return np.linalg.svd(a, full_matrices=False)

    left, values, right = _each(svd, inputs[0])
    return _flat([left.mT, values, right], node)


def _complex_qr(node: Node, inputs: Sequence[Array]) -> Array:
    is_complete = attributes_of(node, Factoring).is_complete
    factors = np.linalg.qr(_joined(inputs), "complete" if is_complete else "reduced")
    return _flat([_pairs(factor) for factor in factors], node)


def _complex_eigh(node: Node, inputs: Sequence[Array]) -> Array:
    """Pack as Schur's form, whose triangle is a diagonal here."""
    values, vectors = _each(np.linalg.eigh, _joined(inputs))
    eye = np.broadcast_to(np.eye(values.shape[-1], dtype=vectors.dtype), vectors.shape)
    triangle = np.where(eye == 1, values[..., None], 0).astype(vectors.dtype)
    return _flat([_pairs(x) for x in (vectors, triangle, eye)], node)


def _complex_svd(node: Node, inputs: Sequence[Array]) -> Array:
    def svd(a: Array) -> Sequence[Array]:
        return np.linalg.svd(a, full_matrices=False)

    left, values, right = _each(svd, _joined(inputs))
    return _flat([_pairs(left.mT), values.real, _pairs(right)], node)


FACTORS: dict[str, Callable[[Node, Sequence[Array]], Array]] = {
    "cholesky": _cholesky,
    "lu": _lu,
    "triangular_solve": _triangular_solve,
    "qr": _qr,
    "eigh": _eigh,
    "schur": _schur,
    "svd": _svd,
    "complex_qr": _complex_qr,
    "complex_eigh": _complex_eigh,
    "complex_svd": _complex_svd,
}
"""By operation."""


def factor(node: Node, inputs: Sequence[Array]) -> Array:
    """Return the factors of a stack of matrices, as `nodes/factorizations.py` packs."""
    return FACTORS[node.op.name](node, inputs)
