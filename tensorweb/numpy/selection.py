"""Elements taken from arrays: by index, by condition, by choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from tensorweb import functions as tw
from tensorweb.errors import DataError, DTypeError, ShapeError, TensorIndexError
from tensorweb.lookups.keys import ends_within
from tensorweb.numpy.arguments import (
    Out,
    as_first_operand,
    as_tensors,
    into,
    resolve_indices,
)
from tensorweb.numpy.creation import asarray
from tensorweb.shapes import broadcast_shapes, normalize_axis
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, is_scalar

__all__ = [
    "choose",
    "compress",
    "extract",
    "select",
    "take",
    "take_along_axis",
]


def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: SupportsIndex | None = None,
    out: Out = None,
    mode: str = "raise",
) -> Tensor:
    """Return the slices at `indices` along an axis; elements of all without one.

    The indices may have any shape, which stands for the axis. `mode="wrap"` counts on
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
    x, given = as_tensors((a, indices))
    if axis is None:
        x, axis = x.ravel(), 0
    along = normalize_axis(axis, x.ndim)
    chosen = resolve_indices(given, x.shape[along], mode)
    return into(x[(*(slice(None),) * along, chosen)], out)


def take_along_axis(
    arr: ArrayLike, indices: ArrayLike, axis: SupportsIndex | None = -1
) -> Tensor:
    """Return elements at `indices` along an axis, the other axes matched one to one.

    Raises:
        TensorIndexError: an index is out of range or no integer.
        ShapeError: the numbers of axes differ.

    >>> x = np.array([[3, 1, 2], [6, 5, 4]])
    >>> np.take_along_axis(x, np.array([[1], [2]]), axis=1)
    tensor([[1],
            [4]])
    """
    x, chosen = as_tensors((arr, indices))
    if axis is None:
        x, axis = x.ravel(), 0
    along = normalize_axis(axis, x.ndim)
    if chosen.ndim == x.ndim:  # other axes of length 1 broadcast, as in NumPy
        lengths = [list(array.shape) for array in (x, chosen)]
        ends = [shape.pop(along) for shape in lengths]
        others = broadcast_shapes(*map(tuple, lengths))
        x, chosen = (
            array.broadcast_to((*others[:along], end, *others[along:]))
            for array, end in zip((x, chosen), ends, strict=True)
        )
    return x.take_along_axis(chosen, along)


def choose(
    a: ArrayLike,
    choices: Sequence[ArrayLike] | Tensor,
    out: Out = None,
    mode: str = "raise",
) -> Tensor:
    """Return for each element the value that the array of its number has there.

    Raises:
        DTypeError: the numbers are no integers.
        TensorIndexError: a number is out of range.
        ShapeError: the shapes do not broadcast.

    >>> np.choose([1, 0, 1], [[1, 2, 3], [10, 20, 30]])
    tensor([10,  2, 30])
    """
    index, *arrays = tw.broadcast_arrays(a, *choices)
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
        given = (x if is_scalar(x) else asarray(x) for x in choices)
        stacked = stacked.astype(tw.result_type(*given))
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
    given = (*condlist, *choicelist, default)
    found: ArrayLike = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        test = as_first_operand(condition, *given)
        if test.dtype.kind != "bool":
            raise DTypeError(
                f"select: a condition is {test.dtype}; write one that is bool, such as "
                "x != 0."
            )
        found = tw.where(test, choice, found)
    return asarray(found)


def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: Out = None,
) -> Tensor:
    """Return the slices of an axis where a condition holds; elements without an axis.

    Their number is read from the device.

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

    Their number is read from the device.

    >>> np.extract([[True, False], [False, True]], [[1, 2], [3, 4]])
    tensor([1, 4])
    """
    return compress(*(x.ravel() for x in as_tensors((condition, arr))))
