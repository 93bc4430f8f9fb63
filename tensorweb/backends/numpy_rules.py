"""How NumPy computes each kind of node, given the arrays of its inputs; no graphs.

Results may have any strides. Where C leaves a result open, the GPU's answer holds:
a float that fits no integer becomes the nearest one (NaN becomes 0), an integer
divided by 0 gives 0, and an integer to a negative power is the real result cut
towards zero (0 unless the base is 1 or -1; 0 to a negative power is 0 too).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tensorweb.backends import policy
from tensorweb.devices import fastest
from tensorweb.dtypes import ALL, DType, bfloat16, integer_range
from tensorweb.errors import ShapeError
from tensorweb.graph.attributes import (
    Box,
    Factoring,
    Groups,
    Joining,
    Ordering,
    Padding,
    Reduction,
    Taking,
    Transform,
    Writing,
)
from tensorweb.graph.node import Node, attributes_of, number_of_constant
from tensorweb.graph.op import Op
from tensorweb.ops.structure import ARGSORT, CAST, SORT
from tensorweb.shapes import Shape, strides
from tensorweb.view import Range


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
    """Concatenate the elements of all parts, one row per matrix of the batch."""
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
    for begin in range(0, steps, policy.LU_PANEL):
        end = min(begin + policy.LU_PANEL, steps)
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
            below, right = a[:, j + 1 :, j : j + 1], a[:, j : j + 1, j + 1 : end]
            a[:, j + 1 :, j + 1 : end] -= below * right
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
    starts = range(0, n, policy.TRIANGULAR_BLOCK)
    for begin in reversed(starts) if attrs.is_upper else starts:
        end = min(begin + policy.TRIANGULAR_BLOCK, n)
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
    diagonal = np.arange(a.shape[-1])
    triangle[..., diagonal, diagonal] = values
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


MOST_AXES = 64
"""Axes of a NumPy array; NumPy's own constant is not public."""

MOST_ELEMENTS = 2**60 - 1
"""Elements of a NumPy array, whose bytes have to fit 63 bits."""

Array = npt.NDArray[Any]
Rule = Callable[[Node, Sequence[Array]], Array]


_NUMPY_DTYPES = {
    dtype.name: np.dtype((dtype if dtype is not bfloat16 else dtype.wide).name)
    for dtype in ALL
}


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """Return NumPy's dtype of the same name; float32 for bfloat16, see `narrowed`."""
    return _NUMPY_DTYPES[dtype.name]


def widened(bits: Array) -> Array:
    """Return the float32 numbers of the bits of bfloat16 ones."""
    wide = bits.astype(np.uint32)
    wide <<= 16
    return wide.view(np.float32)


def narrowed(values: Array) -> Array:
    """Return the bits of the nearest bfloat16 numbers, halves to even."""
    near = np.asarray(values, np.float32)
    bits = np.asarray(near.view(np.uint32))
    if values.dtype == np.float64:
        # An inexact result gets an odd last bit, so that the second rounding is exact.
        bits = bits - (np.abs(near) > np.abs(values))
        bits |= (near != values) & (values == values)
    rounded = bits >> 16
    rounded &= 1  # in place: each temporary array costs as much as a sum
    rounded += 0x7FFF
    rounded += bits
    rounded >>= 16
    is_nan = np.isnan(near)
    if is_nan.any():
        rounded = np.where(is_nan, (bits >> 16) | 0x40, rounded)
    return np.asarray(rounded).astype(np.uint16)


def _exact(array: Array) -> Array:
    """Return floats that bfloat16 rounds as it would these numbers."""
    if array.dtype.kind == "f":
        return array
    exact = array.astype(np.float64)
    is_large = np.abs(exact) >= 2.0**48
    if is_large.any():
        # A bit that bfloat16 does not have stands for all lower ones.
        odd = (array >> 16) | (array & 0xFFFF != 0)
        exact = np.where(is_large, odd.astype(np.float64) * 2.0**16, exact)
    return exact


def cast_array(array: Array, dtype: DType) -> Array:
    """Return an array in another dtype; floats beyond an integer's range saturate."""
    target = numpy_dtype(dtype)
    if dtype is bfloat16 and array.dtype.itemsize > 2 and array.dtype.kind in "fiu":
        return _exact(array)  # `narrowed` rounds it once.
    if array.dtype.kind != "f" or dtype.kind not in ("int", "uint"):
        return array.astype(target, copy=False)
    low, high = integer_range(dtype)
    wide = array if array.dtype.itemsize > 2 else array.astype(np.float32)
    is_inside = (wide > float(low - 1)) & (wide < float(high + 1))
    if is_inside.all():
        return wide.astype(target)
    result = np.where(is_inside, wide, 0).astype(target)
    result[wide >= float(high + 1)] = high
    result[wide <= float(low)] = low
    return result


def _map(node: Node, inputs: Sequence[Array]) -> Array:
    if node.op is CAST:
        return cast_array(inputs[0], node.dtype)
    rule = node.op.numpy
    if isinstance(rule, str):
        result = getattr(np, rule)(*inputs)
        if rule == "nextafter" and node.dtype is bfloat16:
            # The next float32 lies one bit above or below.
            bits = np.asarray(result).view(np.uint32)
            bits = bits + 0xFFFF * (bits & 0xFFFF == 1) & 0xFFFF0000
            result = np.asarray(bits).astype(np.uint32).view(np.float32)
    elif node.dtype.wide is not node.dtype:
        result = rule(np, *(array.astype(np.float32) for array in inputs))
    else:
        result = rule(np, *inputs)
    target = numpy_dtype(node.dtype)
    # Comparing is faster than a conversion that has nothing to do.
    if type(result) is np.ndarray and result.dtype is target:
        return result
    return np.asarray(result).astype(target, copy=False)


def _iota(node: Node, inputs: Sequence[Array]) -> Array:
    return np.arange(node.size).astype(numpy_dtype(node.dtype))


def number(constant: Node) -> Array:
    """Return a constant's number as a 0-d array."""
    return np.array(number_of_constant(constant)).astype(numpy_dtype(constant.dtype))


def check_shape(shape: Shape, name: str) -> None:
    """Raise `ShapeError` for a shape that no NumPy array can have."""
    if len(shape) > MOST_AXES:
        raise ShapeError(
            f"{name}: a tensor of {len(shape)} axes; device 'cpu' computes with NumPy, "
            f"which has {MOST_AXES} at most. Merge axes with reshape, or use "
            f"device={fastest()!r}."
        )
    if prod(shape) > MOST_ELEMENTS:
        raise ShapeError(
            f"{name}: shape {shape} has more elements than device 'cpu' can count "
            f"({MOST_ELEMENTS:,}); work in parts."
        )


def repeated(constant: Node, shape: Shape) -> Array:
    """Return a constant's number in a shape, by strides 0."""
    if not shape:
        return number(constant)
    check_shape(shape, constant.op.name)
    with np.errstate(all="ignore"):
        return np.broadcast_to(number(constant), shape)


def _constant(node: Node, inputs: Sequence[Array]) -> Array:
    return repeated(node, node.shape)


def _copy(node: Node, inputs: Sequence[Array]) -> Array:
    return inputs[0].copy()


def _wide(dtype: DType) -> np.dtype[Any]:
    """Return the dtype that adds and multiplies many numbers: float16 rounds once."""
    return numpy_dtype(dtype.wide)


def _reduce(node: Node, inputs: Sequence[Array]) -> Array:
    function = getattr(np, str(node.op.numpy))
    axes = attributes_of(node, Reduction).axes
    if node.op.result == "sum":
        result = np.asarray(function(inputs[0], axes, dtype=_wide(node.dtype)))
        return result.astype(numpy_dtype(node.dtype), copy=False)
    return np.asarray(function(inputs[0], axes))


def _argreduce(node: Node, inputs: Sequence[Array]) -> Array:
    (axis,) = attributes_of(node, Reduction).axes
    found = getattr(np, str(node.op.numpy))(inputs[0], axis)
    return np.asarray(found).astype(numpy_dtype(node.dtype))


def _scan(node: Node, inputs: Sequence[Array]) -> Array:
    function = getattr(np, str(node.op.numpy))
    result = np.asarray(function(inputs[0], -1, dtype=_wide(node.dtype)))
    return result.astype(numpy_dtype(node.dtype), copy=False)


def _sort(node: Node, inputs: Sequence[Array]) -> Array:
    """Sort or argsort the last axis; descending order sorts what is negated."""
    (values,) = inputs
    keys = values
    if attributes_of(node, Ordering).descending:
        keys = -values if values.dtype.kind == "f" else ~values
    elif node.op is SORT:
        return np.sort(values, axis=-1, kind="stable")
    order = np.argsort(keys, axis=-1, kind="stable")
    if node.op is ARGSORT:
        return order.astype(numpy_dtype(node.dtype))
    return np.take_along_axis(values, order, -1)


def _box(starts: Sequence[int], lengths: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(s, s + n) for s, n in zip(starts, lengths, strict=True))


def _pad(node: Node, inputs: Sequence[Array]) -> Array:
    inner, fill = inputs
    widths = attributes_of(node, Padding).widths
    result = np.full(node.shape, fill, numpy_dtype(node.dtype))
    result[_box([before for before, _ in widths], inner.shape)] = inner
    return result


def _concat(node: Node, inputs: Sequence[Array]) -> Array:
    return np.concatenate(inputs, attributes_of(node, Joining).axis)


def _embed(node: Node, inputs: Sequence[Array]) -> Array:
    outer, values = inputs
    lengths = node.inputs[1].shape
    outer[_box(attributes_of(node, Box).starts, lengths)] = values
    return outer


def _key(
    taking: Taking, indices: Sequence[Array], rank: int
) -> tuple[slice | Array, ...]:
    """Return the key by which NumPy addresses what index tensors take."""
    key: list[slice | Array] = [slice(None)] * rank
    for axis, index in zip(taking.axes, indices, strict=True):
        key[axis] = index
    return tuple(key)


def _numpys_first(taking: Taking) -> int:
    """Return where NumPy lets the axes of index tensors begin."""
    first, last = taking.axes[0], taking.axes[-1]
    return first if last - first == len(taking.axes) - 1 else 0


def _moved(array: Array, count: int, source: int, target: int) -> Array:
    """Return an array with `count` neighbouring axes at another position."""
    if source == target or not count:
        return array
    return np.moveaxis(
        array, range(source, source + count), range(target, target + count)
    )


def _gather(node: Node, inputs: Sequence[Array]) -> Array:
    source, *indices = inputs
    taking = attributes_of(node, Taking)
    count = len(node.shape) - source.ndim + len(taking.axes)
    if source.flags.c_contiguous and len(indices) == 1:
        result = np.take(source, indices[0], taking.axes[0])
    elif source.flags.c_contiguous and len(indices) == source.ndim:
        # NumPy takes single elements by one number quicker than by one for each axis.
        steps = strides(source.shape)
        terms = [
            index.astype(np.intp) * n for index, n in zip(indices, steps, strict=True)
        ]
        result = np.take(source.reshape(-1), sum(terms[1:], terms[0]))
    else:
        result = source[_key(taking, indices, source.ndim)]
    return _moved(np.asarray(result), count, _numpys_first(taking), taking.first)


def _scatter(node: Node, inputs: Sequence[Array]) -> Array:
    target, *indices, values = inputs
    writing = attributes_of(node, Writing)
    taking = writing.taking
    # The part must be a view of what is written; NumPy would copy it else.
    target = np.ascontiguousarray(target)
    part = target[tuple(_slice(each) for each in writing.ranges)]
    part = part.reshape(writing.shape)
    count = values.ndim - part.ndim + len(taking.axes)
    numpys = _moved(values, count, taking.first, _numpys_first(taking))
    part[_key(taking, indices, part.ndim)] = numpys
    return target


def _slice(found: Range) -> slice:
    start, length, step = found
    end = start + length * step
    return slice(start, end if end >= 0 else None, step)


def _accumulate(node: Node, inputs: Sequence[Array]) -> Array:
    """Combine elements one after another in the order of positions.

    NumPy is quick at this in one dimension only. float16 is rounded once, at the end.
    """
    target, positions, values = inputs
    width = prod(values.shape[positions.ndim :])
    at = positions.reshape(-1).astype(np.intp)
    if width > 1:
        at = (at[:, None] * width + np.arange(width)).reshape(-1)
    wide = np.dtype(np.float32) if target.dtype == np.float16 else target.dtype
    result = target.reshape(-1).astype(wide)
    getattr(np, str(node.op.numpy)).at(result, at, values.reshape(-1).astype(wide))
    return result.astype(target.dtype).reshape(node.shape)


def _compress(node: Node, inputs: Sequence[Array]) -> Array:
    return np.flatnonzero(inputs[0]).astype(numpy_dtype(node.dtype))


def _fourier(node: Node, inputs: Sequence[Array]) -> Array:
    """Transform with NumPy, which takes all lengths; float32 stays what it is."""
    re, im = inputs[:2]
    axis, sign = attributes_of(node, Transform)
    points = np.empty(re.shape, np.result_type(re.dtype, np.complex64))
    points.real, points.imag = re, im
    if sign < 0:
        found = np.fft.fft(points, axis=axis)
    else:
        found = np.fft.ifft(points, axis=axis, norm="forward")
    found = np.ascontiguousarray(found)
    return found.view(re.dtype).reshape(node.shape)


def _matmul(node: Node, inputs: Sequence[Array]) -> Array:
    left, right = inputs
    groups = attributes_of(node, Groups)
    if groups[1:] == (1, 1, 1):
        return np.asarray(np.matmul(left, right))
    batch, rows, depth = groups.split_left(left.shape)
    columns = groups.split_right(right.shape)[2]
    m, k, n = prod(rows), prod(depth), prod(columns)
    if max(left.size, right.size) <= policy.LARGEST_BATCH_COPY:
        whole = np.matmul(left.reshape(*batch, m, k), right.reshape(*batch, k, n))
        return np.asarray(whole).reshape(node.shape)
    result = np.empty((*batch, m, n), left.dtype)
    for index in np.ndindex(batch):
        np.matmul(
            left[index].reshape(m, k), right[index].reshape(k, n), out=result[index]
        )
    return result.reshape(node.shape)


OVERWRITING = frozenset({"embed", "scatter"})
"""Kinds whose rules write into the array of their first input, which is theirs."""

SPREADING = frozenset({"map", "embed"})
"""Kinds whose rules take the number of a constant for all its elements."""


def _custom(node: Node, inputs: Sequence[Array]) -> Array:
    from tensorweb.backends.custom_kernels import computed

    data = computed(node, [each.tobytes() for each in inputs])
    return np.frombuffer(data, numpy_dtype(node.dtype)).reshape(node.shape)


RULES: dict[str, Rule] = {
    "custom": _custom,
    "map": _map,
    "iota": _iota,
    "constant": _constant,
    "copy": _copy,
    "reduce": _reduce,
    "argreduce": _argreduce,
    "scan": _scan,
    "sort": _sort,
    "pad": _pad,
    "concat": _concat,
    "embed": _embed,
    "gather": _gather,
    "scatter": _scatter,
    "accumulate": _accumulate,
    "compress": _compress,
    "fourier": _fourier,
    "factor": factor,
    "matmul": _matmul,
}
"""What computes a node, by `Op.kind`; movement and leaves need nothing."""


def rule_of(op: Op) -> Rule:
    """Return what computes an operation: the function in its row, else its kind's."""
    return _map if callable(op.numpy) else RULES[op.kind]
