"""Functions that write into an array: the tensor gets another value."""

from __future__ import annotations

import builtins
from typing import SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DataError, ShapeError
from tensorweb.numpy.arguments import as_operand_like, as_tensors, resolve_indices
from tensorweb.shapes import normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike

__all__ = [
    "copyto",
    "fill_diagonal",
    "place",
    "put",
    "put_along_axis",
    "putmask",
]


def _written(name: str, x: object) -> Tensor:
    """Return what is written into, which must be a tensor."""
    if isinstance(x, Tensor):
        return x
    raise DataError(
        f"{name}: {type(x).__name__} cannot be written into; make a tensor of it with "
        "np.array first."
    )


def copyto(
    dst: Tensor,
    src: ArrayLike,
    casting: str = "same_kind",
    where: ArrayLike = True,
) -> None:
    """Write values into an array, where a condition holds.

    Raises:
        ShapeError: the values do not broadcast to the array.
        DTypeError: the array cannot hold them.

    >>> x = np.zeros(3)
    >>> np.copyto(x, [1, 2, 3], where=[True, False, True])
    >>> x
    tensor([1., 0., 3.])
    """
    target = _written("copyto", dst)
    values: ArrayLike = src
    if casting == "unsafe":
        values = as_operand_like(src, target).astype(target.dtype)
    if where is True:
        target[...] = values
        return
    mask = as_operand_like(where, target).broadcast_to(target.shape)
    target[...] = tw.where(mask, as_operand_like(values, target), target)


def put(a: Tensor, ind: ArrayLike, v: ArrayLike, mode: str = "raise") -> None:
    """Write values at positions of the flattened array; few values are repeated.

    Raises:
        TensorIndexError: an index is out of range.

    >>> x = np.arange(5)
    >>> np.put(x, [0, 2], [-44, -55])
    >>> x
    tensor([-44,   1, -55,   3,   4])
    """
    target = _written("put", a)
    places = resolve_indices(as_tensors((target, ind))[1].ravel(), target.size, mode)
    flat = target.ravel()
    if places.size and as_operand_like(v, target).size:
        flat[places] = _repeated(v, places.size, target)
    target[...] = flat.reshape(target.shape)


def _repeated(values: ArrayLike, length: int, target: Tensor) -> Tensor:
    """Return `length` of values that follow each other again and again."""
    flat = as_operand_like(values, target).ravel()
    if not flat.size:
        raise ShapeError("there are no values to write; give at least one.")
    if flat.size < length:
        flat = flat.tile(-(-length // flat.size))
    return flat[:length].astype(target.dtype)


def putmask(a: Tensor, /, mask: ArrayLike, values: ArrayLike) -> None:
    """Write values where a mask holds, each at its own position; few are repeated.

    >>> x = np.arange(4)
    >>> np.putmask(x, x > 1, [10, 20])
    >>> x
    tensor([ 0,  1, 10, 20])
    """
    target = _written("putmask", a)
    if not as_operand_like(values, target).size:
        return
    spread = _repeated(values, target.size, target).reshape(target.shape)
    target[...] = tw.where(_mask(mask, target), spread, target)


def _mask(mask: ArrayLike, target: Tensor) -> Tensor:
    _, found = as_tensors((target, mask))
    if found.size != target.size:
        raise ShapeError(
            f"a mask of shape {found.shape} for shape {target.shape}; give one of as "
            "many elements."
        )
    return tw.not_equal(found, 0 if found.dtype.kind != "bool" else False).reshape(
        target.shape
    )


def place(arr: Tensor, mask: ArrayLike, vals: ArrayLike) -> None:
    """Write the first values, one after another, where a mask holds; repeated if few.

    >>> x = np.arange(4)
    >>> np.place(x, x > 1, [10, 20])
    >>> x
    tensor([ 0,  1, 10, 20])
    """
    target = _written("place", arr)
    chosen = _mask(mask, target).ravel()
    values = as_operand_like(vals, target).ravel()
    if not values.size:
        if tw.any(chosen):
            raise ShapeError("place: there are no values to write; give at least one.")
        return
    order = tw.cumulative_sum(chosen.astype(int)) - 1
    spread = values[tw.remainder(order, values.size)].astype(target.dtype)
    found = tw.where(chosen, spread, target.ravel())
    target[...] = found.reshape(target.shape)


def put_along_axis(
    arr: Tensor,
    indices: ArrayLike,
    values: ArrayLike,
    axis: SupportsIndex | None,
) -> None:
    """Write values at indices along an axis, the other axes matched one to one.

    Raises:
        ShapeError: the numbers of axes differ.
        TensorIndexError: an index is out of range.

    >>> x = np.array([[10, 30, 20], [60, 40, 50]])
    >>> np.put_along_axis(x, np.array([[1], [0]]), 99, axis=1)
    >>> x
    tensor([[10, 99, 20],
            [99, 40, 50]])
    """
    target = _written("put_along_axis", arr)
    _, chosen = as_tensors((target, indices))
    if axis is None:
        flat = target.ravel()
        flat[chosen] = values
        target[...] = flat.reshape(target.shape)
        return
    along = normalize_axis(axis, target.ndim)
    if chosen.ndim != target.ndim:
        raise ShapeError(
            f"put_along_axis: indices of shape {chosen.shape} for shape "
            f"{target.shape}; give as many axes."
        )
    key = []
    for number, length in enumerate(target.shape):
        shape = [1] * target.ndim
        shape[number] = length
        ramp = tw.arange(length, device=target.device).reshape(shape)
        key.append(chosen if number == along else ramp)
    target[tuple(key)] = values


def fill_diagonal(a: Tensor, val: ArrayLike, wrap: builtins.bool = False) -> None:
    """Write a value, or values one after another, on the main diagonal.

    With `wrap` the diagonal of a tall matrix goes on from the top after a free row.

    Raises:
        ShapeError: there are fewer than two axes, or more that are not equally long.

    >>> x = np.zeros((2, 2), int)
    >>> np.fill_diagonal(x, 5)
    >>> x
    tensor([[5, 0],
            [0, 5]])
    """
    target = _written("fill_diagonal", a)
    shape = target.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ShapeError(f"fill_diagonal: shape {shape}; give a matrix or equal axes.")
    step, end = 1, target.size
    if len(shape) == 2:
        step = shape[1] + 1
        end = end if wrap else shape[1] * shape[1]
    else:
        step += sum(shape[0] ** power for power in range(1, len(shape)))
    count = len(range(target.size)[:end:step])
    flat = target.ravel()
    if count:
        flat[:end:step] = _repeated(val, count, target)
    target[...] = flat.reshape(shape)
