"""Select elements of arrays by index or condition, and assign to them."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import SupportsIndex

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.errors import DataError, DTypeError, ShapeError, TensorIndexError
from tensorweb.lookups import ends_within
from tensorweb.numpy.arguments import (
    Out,
    as_first_operand,
    as_indices,
    as_operand_like,
    as_tensors,
    flatten_without_axis,
    into,
    resolve_indices,
)
from tensorweb.numpy.creation import asarray, meshgrid
from tensorweb.public_names import declare_public
from tensorweb.shapes import broadcast_shapes, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, is_scalar


def ix_(*args: ArrayLike) -> tuple[Tensor, ...]:
    """Return 1-D sequences as indices of a grid: rows, columns and so on.

    Bool sequences select the positions of true elements, which are read.

    Raises:
        ShapeError: a sequence has not one axis.

    >>> x = np.arange(10).reshape(2, 5)
    >>> x[np.ix_([0, 1], [2, 4])]
    tensor([[2, 4],
            [7, 9]])
    """
    vectors = []
    for index, x in enumerate(as_tensors(args)):
        if x.ndim != 1:
            raise ShapeError(f"ix_: argument {index} has shape {x.shape}; give 1-D.")
        if x.dtype.kind == "bool":
            (x,) = x.nonzero()
        elif not x.size and not hasattr(args[index], "dtype"):
            x = x.astype(dtypes.DEFAULT_INT)
        vectors.append(x)
    return meshgrid(*vectors, sparse=True, indexing="ij")


def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: SupportsIndex | None = None,
    out: Out = None,
    mode: str = "raise",
) -> Tensor:
    """Return the slices at `indices` along an axis; elements of all without one.

    The indices may have any shape, which replaces the axis. `mode="wrap"` counts on
    at the other end, `"clip"` stays at the end.

    Raises:
        TensorIndexError: an index is out of range or no integer.
        AxisError: the axis does not exist.

    >>> np.take([[1, 2, 3], [4, 5, 6]], [2, 0], axis=1)
    tensor([[3, 1],
            [6, 4]])
    >>> np.take([[1, 2], [3, 4]], 3)
    tensor(4)
    """
    x = as_first_operand(a, indices)
    chosen = as_indices(indices, x)
    x, along = flatten_without_axis(x, axis)
    chosen = resolve_indices(chosen, x.shape[along], mode)
    return into(x[(*(slice(None),) * along, chosen)], out)


def take_along_axis(
    arr: ArrayLike, indices: ArrayLike, axis: SupportsIndex | None = -1
) -> Tensor:
    """Return elements at `indices` along an axis, the other axes matched one to one.

    Raises:
        TensorIndexError: an index is out of range or no integer.
        ShapeError: the counts of axes differ.

    >>> x = np.array([[3, 1, 2], [6, 5, 4]])
    >>> np.take_along_axis(x, np.array([[1], [2]]), axis=1)
    tensor([[1],
            [4]])
    """
    x = as_first_operand(arr, indices)
    chosen = as_indices(indices, x)
    x, along = flatten_without_axis(x, axis)
    if chosen.ndim == x.ndim:  # other axes of length 1 broadcast, as in NumPy
        shapes = [(*y.shape[:along], *y.shape[along + 1 :]) for y in (x, chosen)]
        others = broadcast_shapes(*shapes)
        x, chosen = (
            y.broadcast_to((*others[:along], y.shape[along], *others[along:]))
            for y in (x, chosen)
        )
    return x.take_along_axis(chosen, along)


def choose(
    a: ArrayLike,
    choices: Sequence[ArrayLike] | Tensor,
    out: Out = None,
    mode: str = "raise",
) -> Tensor:
    """Return for each index the element that the choice of this index has there.

    Raises:
        DTypeError: the indices are no integers.
        TensorIndexError: an index is out of range.
        ShapeError: the shapes do not broadcast.

    >>> np.choose([1, 0, 1], [[1, 2, 3], [10, 20, 30]])
    tensor([10,  2, 30])
    """
    index = as_indices(a, as_first_operand(a, *choices))
    index, *arrays = tw.broadcast_arrays(index, *choices)
    if index.size and index.dtype.kind not in ("bool", "int", "uint"):
        raise DTypeError(f"choose: numbers are {index.dtype}; give integers.")
    index = resolve_indices(asarray(index), len(arrays), mode).astype(int)
    least, most = ends_within(index.node, 0, len(arrays) - 1, "the choices")
    if index.size and (least < 0 or most >= len(arrays)):
        raise TensorIndexError(
            f"choose: number {least if least < 0 else most} is out of range for "
            f"{len(arrays)} choices; mode='wrap' or mode='clip' takes it."
        )
    stacked = tw.stack([asarray(x) for x in arrays])
    if not all(map(is_scalar, choices)):  # plain numbers take the dtype of the others
        operands = (x if is_scalar(x) else asarray(x) for x in choices)
        stacked = stacked.astype(tw.result_type(*operands))
    if not index.ndim:
        return into(stacked[index], out)
    return into(stacked.take_along_axis(index[None], 0)[0], out)


def select(
    condlist: Sequence[ArrayLike],
    choicelist: Sequence[ArrayLike],
    default: ArrayLike = 0,
) -> Tensor:
    """Return for each element the choice of the first condition that holds there.

    Raises:
        DataError: there are not as many choices as conditions, or none.
        DTypeError: a condition is not bool.

    >>> x = np.arange(5)
    >>> np.select([x < 2, x > 3], [x, x * 10], default=-1)
    tensor([ 0,  1, -1, -1, 40])
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise DataError(
            f"select: {len(condlist)} conditions and {len(choicelist)} choices; give "
            "as many of both, one at least."
        )
    operands = (*condlist, *choicelist, default)
    result: ArrayLike = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        test = as_first_operand(condition, *operands)
        if test.dtype.kind != "bool":
            raise DTypeError(
                f"select: a condition is {test.dtype}; write one that is bool, such as "
                "x != 0."
            )
        result = tw.where(test, choice, result)
    return asarray(result)


def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: Out = None,
) -> Tensor:
    """Return the slices of an axis where a condition holds; elements without an axis.

    Their count is read from the device.

    Raises:
        ShapeError: the condition has not one axis.

    >>> np.compress([False, True], [[1, 2], [3, 4]], axis=1)
    tensor([[2],
            [4]])
    """
    mask, x = as_tensors((condition, a))
    if mask.ndim != 1:
        raise ShapeError(f"compress: a condition of shape {mask.shape}; give one axis.")
    return take(x, mask.nonzero()[0], axis, out)


def extract(condition: ArrayLike, arr: ArrayLike) -> Tensor:
    """Return the elements where a condition of as many elements holds.

    Their count is read from the device.

    >>> np.extract([[True, False], [False, True]], [[1, 2], [3, 4]])
    tensor([1, 4])
    """
    return compress(*(x.ravel() for x in as_tensors((condition, arr))))


def _require_tensor(name: str, x: object) -> Tensor:
    """Return the target of a write, which must be a tensor."""
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
    target = _require_tensor("copyto", dst)
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
    target = _require_tensor("put", a)
    indices = resolve_indices(as_indices(ind, target).ravel(), target.size, mode)
    flat = target.ravel()
    if indices.size and as_operand_like(v, target).size:
        flat[indices] = _repeat_to_length(v, indices.size, target)
    target[...] = flat.reshape(target.shape)


def _repeat_to_length(values: ArrayLike, length: int, target: Tensor) -> Tensor:
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
    target = _require_tensor("putmask", a)
    if not as_operand_like(values, target).size:
        return
    repeated = _repeat_to_length(values, target.size, target).reshape(target.shape)
    target[...] = tw.where(_reshape_mask(mask, target), repeated, target)


def _reshape_mask(mask: ArrayLike, target: Tensor) -> Tensor:
    """Return a mask, which has as many elements as the target, in its shape."""
    _, x = as_tensors((target, mask))
    if x.size != target.size:
        raise ShapeError(
            f"a mask of shape {x.shape} for shape {target.shape}; give one of as "
            "many elements."
        )
    return x.astype(dtypes.bool).reshape(target.shape)


def place(arr: Tensor, mask: ArrayLike, vals: ArrayLike) -> None:
    """Write the first values, one after another, where a mask holds; repeated if few.

    Raises:
        ShapeError: there are no values.

    >>> x = np.arange(4)
    >>> np.place(x, x > 1, [10, 20])
    >>> x
    tensor([ 0,  1, 10, 20])
    """
    target = _require_tensor("place", arr)
    chosen = _reshape_mask(mask, target).ravel()
    values = as_operand_like(vals, target).ravel()
    if not values.size:
        if tw.any(chosen):
            raise ShapeError("place: there are no values to write; give at least one.")
        return
    order = tw.cumulative_sum(chosen.astype(int)) - 1
    placed = values[tw.remainder(order, values.size)].astype(target.dtype)
    target[...] = tw.where(chosen, placed, target.ravel()).reshape(target.shape)


def put_along_axis(
    arr: Tensor,
    indices: ArrayLike,
    values: ArrayLike,
    axis: SupportsIndex | None,
) -> None:
    """Write values at indices along an axis, the other axes matched one to one.

    Raises:
        ShapeError: the counts of axes differ.
        TensorIndexError: an index is out of range.

    >>> x = np.array([[10, 30, 20], [60, 40, 50]])
    >>> np.put_along_axis(x, np.array([[1], [0]]), 99, axis=1)
    >>> x
    tensor([[10, 99, 20],
            [99, 40, 50]])
    """
    target = _require_tensor("put_along_axis", arr)
    chosen = as_indices(indices, target)
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
    ramps = (tw.arange(length, device=target.device) for length in target.shape)
    key = list(meshgrid(*ramps, indexing="ij", sparse=True))
    key[along] = chosen
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
    target = _require_tensor("fill_diagonal", a)
    shape = target.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ShapeError(f"fill_diagonal: shape {shape}; give a matrix or equal axes.")
    step = 1 + sum(shape[-1] ** power for power in range(1, len(shape)))
    end = target.size if wrap or len(shape) > 2 else shape[1] * shape[1]
    count = len(range(target.size)[:end:step])
    flat = target.ravel()
    if count:
        flat[:end:step] = _repeat_to_length(val, count, target)
    target[...] = flat.reshape(shape)


declare_public(__name__)
