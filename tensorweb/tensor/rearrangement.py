"""Rearranging methods: borders, cuts, rolls, tiles, repeats, and sorted order."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, SupportsIndex, overload

from tensorweb import dtypes
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.evaluate import read
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.graph.tracing import is_traced
from tensorweb.hostdata import unpack
from tensorweb.nodes import movement as build
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.indexing import select, take_along
from tensorweb.nodes.keys import Indices, Item, Span, whole_spans
from tensorweb.nodes.selection import iota, pad, roll
from tensorweb.nodes.sorting import argsort, sort
from tensorweb.ops import OPS
from tensorweb.shapes import is_integer, normalize_axis
from tensorweb.tensor.arguments import axis_of, check_default
from tensorweb.tensor.base import FLOWING, TensorBase
from tensorweb.tensor.convert import ArrayLike, as_node, scalar_node
from tensorweb.tensor.movement import Axes
from tensorweb.tensor.reductions import ValuesAndIndices
from tensorweb.tensor.views import ITEM, read_item

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor


Widths = SupportsIndex | Sequence[SupportsIndex] | Sequence[Sequence[SupportsIndex]]

MOST_REPEATED = 2**31 - 1
"""Elements along an axis that int32 positions reach."""


class RearrangementMethods(TensorBase):
    """The same elements at other positions, some of them several times or left out."""

    __slots__ = ()

    def pad(self, widths: Widths, value: ArrayLike = 0) -> Tensor:
        """Return a border of `value` around the tensor.

        `widths` is one number, one `(before, after)` for all axes, or one per axis.

        Raises:
            DTypeError: the value does not fit the dtype.

        >>> tw.tensor([[1, 2]]).pad([(1, 0), (0, 2)])
        tensor([[0, 0, 0, 0],
                [1, 2, 0, 0]])
        """
        checked = _pairs(widths, len(self.node.shape))
        fill = scalar_node(value, self.node.dtype, self.node.device)
        kind = self.node.dtype.kind
        if (fill.dtype.kind == "float" and kind not in FLOWING) or (
            fill.dtype.kind == "complex" != kind
        ):
            raise DTypeError(
                f"pad: value {value!r} does not fit {self.node.dtype}; convert the "
                "tensor with astype."
            )
        return self._wrap(pad(self.node, checked, fill))

    def crop(self, ranges: Iterable[Sequence[SupportsIndex] | None]) -> Tensor:
        """Return half-open `(start, end)` of each axis, as a view; None keeps an axis.

        Raises:
            ShapeError: a range leaves the tensor, or their count is not the axes'.

        >>> tw.arange(5).crop([(1, 4)])
        tensor([1, 2, 3])
        """
        listed = list(ranges)
        shape = self.node.shape
        if len(listed) != len(shape):
            raise ShapeError(
                f"crop: {len(listed)} ranges for the {len(shape)} axes of {shape}; "
                "give (start, end) or None for each."
            )
        checked = []
        for axis, (pair, length) in enumerate(zip(listed, shape, strict=True)):
            start, end = (0, length) if pair is None else map(operator.index, pair)
            if not 0 <= start <= end <= length:
                raise ShapeError(
                    f"crop: range ({start}, {end}) leaves axis {axis} of shape {shape} "
                    f"(0 to {length})."
                )
            checked.append((start, end - start, 1))
        return self._item(tuple(slice(s, s + length) for s, length, _ in checked))

    def _item(self, key: tuple[slice | int, ...]) -> Tensor:
        """Return the view that a plain key names."""
        return self._view(read_item(self.node, key), ITEM, key)

    def roll(self, shift: Axes, axis: Axes | None = None) -> Tensor:
        """Return elements moved along axes; those leaving one end enter the other.

        A shift may depend on an argument of `jit` and `vmap`.

        >>> tw.tensor([1, 2, 3, 4]).roll(1)
        tensor([4, 1, 2, 3])
        """
        node = self.node
        if axis is None:
            if not is_integer(shift):
                raise ShapeError("roll: several shifts need as many axes; give axis=.")
            flat = build.reshape(node, (node.size,))
            return self._wrap(build.reshape(_rolled(flat, shift, 0), node.shape))
        axes = [axis] if is_integer(axis) else list(axis)
        shifts = [shift] if is_integer(shift) else list(shift)
        if len(shifts) == 1:
            shifts *= len(axes)
        if len(axes) == 1:
            axes *= len(shifts)
        if len(shifts) != len(axes):
            raise ShapeError(f"roll: {len(shifts)} shifts for {len(axes)} axes.")
        for amount, along in zip(shifts, axes, strict=True):
            number = normalize_axis(along, len(node.shape))
            node = _rolled(node, amount, number)
        return self._wrap(node)

    def tile(self, repetitions: Axes) -> Tensor:
        """Return the tensor repeated as a whole, a number of times along each axis.

        >>> tw.tensor([1, 2]).tile((2, 2))
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
        """
        counts = _counts(repetitions)
        rank = max(len(counts), len(self.node.shape))
        counts = (*(1,) * (rank - len(counts)), *counts)
        shape = (*(1,) * (rank - len(self.node.shape)), *self.node.shape)
        narrow = tuple(chain.from_iterable((1, length) for length in shape))
        wide = tuple(chain.from_iterable(zip(counts, shape, strict=True)))
        result = tuple(n * length for n, length in zip(counts, shape, strict=True))
        repeated = build.expand(build.reshape(self.node, narrow), wide)
        return self._wrap(build.reshape(repeated, result))

    def repeat(
        self, repeats: ArrayLike, /, axis: SupportsIndex | None = None
    ) -> Tensor:
        """Return each element repeated, all equally often or each by its own count.

        Without `axis` the elements are taken in row-major order. This is NumPy's
        `repeat`; PyTorch's `x.repeat(2, 1)` is `x.tile((2, 1))`.

        >>> tw.tensor([1, 2]).repeat(3)
        tensor([1, 1, 1, 2, 2, 2])
        """
        node = self.node
        if axis is None:
            node = build.reshape(node, (node.size,))
        along = normalize_axis(0 if axis is None else axis, len(node.shape))
        counts = _repeat_counts(repeats, node.shape[along])
        if isinstance(counts, int):
            before, after = node.shape[: along + 1], node.shape[along + 1 :]
            wide = build.expand(
                build.reshape(node, (*before, 1, *after)), (*before, counts, *after)
            )
            length = node.shape[along] * counts
            return self._wrap(build.reshape(wide, (*before[:-1], length, *after)))
        chosen = array(
            "i", chain.from_iterable(map(repeat, range(len(counts)), counts))
        )
        indices = leaf(
            HostData(chosen.tobytes()), (len(chosen),), dtypes.int32, node.device
        )
        items: list[Item] = [Span((0, length, 1)) for length in node.shape]
        items[along] = Indices(indices)
        return self._wrap(select(node, items))

    def unstack(self, axis: SupportsIndex = 0) -> tuple[Tensor, ...]:
        """Return the slices along an axis, as views without that axis.

        >>> tw.tensor([[1, 2], [3, 4]]).unstack()
        (tensor([1, 2]), tensor([3, 4]))
        """
        along = normalize_axis(axis, len(self.node.shape))
        before = (slice(None),) * along
        return tuple(self._item((*before, i)) for i in range(self.node.shape[along]))

    @overload
    def sort(
        self,
        axis: SupportsIndex = -1,
        kind: str | None = None,
        order: None = None,
        *,
        descending: bool = False,
        stable: bool | None = True,
        dim: None = None,
    ) -> None: ...

    @overload
    def sort(
        self,
        *,
        descending: bool = False,
        stable: bool | None = True,
        dim: SupportsIndex,
    ) -> ValuesAndIndices: ...

    def sort(
        self,
        axis: SupportsIndex = -1,
        kind: str | None = None,
        order: None = None,
        *,
        descending: bool = False,
        stable: bool | None = True,
        dim: SupportsIndex | None = None,
    ) -> ValuesAndIndices | None:
        """Sort the tensor in place along an axis; always stable, NaN last.

        With PyTorch's word `dim`, return values and indices and leave `x` as it is.
        `tw.sort(x)` returns sorted values.

        >>> x = tw.tensor([3, 1, 2])
        >>> x.sort()
        >>> x
        tensor([1, 2, 3])
        """
        if dim is not None:
            along = axis_of("sort", None if axis == -1 else axis, dim)
            along = normalize_axis(along, len(self.node.shape))
            indices = argsort(self.node, along, descending)
            values = take_along(self.node, indices, along)
            return ValuesAndIndices(self._wrap(values), self._wrap(indices))
        check_kind("sort", kind)
        check_default("sort", "order", order, None)
        along = normalize_axis(axis, len(self.node.shape))
        self._replace(sort(self.node, along, descending))
        return None

    def argsort(
        self,
        axis: SupportsIndex = -1,
        kind: str | None = None,
        order: None = None,
        *,
        descending: bool = False,
        stable: bool | None = True,
    ) -> Tensor:
        """Return the indices (int32) that sort an axis; always stable, NaN last.

        >>> tw.tensor([30, 10, 20, 10]).argsort()
        tensor([1, 3, 2, 0])
        """
        check_kind("argsort", kind)
        check_default("argsort", "order", order, None)
        along = normalize_axis(axis, len(self.node.shape))
        return self._wrap(argsort(self.node, along, descending))


def _rolled(node: Node, shift: SupportsIndex, axis: int) -> Node:
    """Return a node rolled along an axis; a traced shift, without a value, gathers."""
    if not isinstance(shift, TensorBase) or not is_traced(shift.node):
        return roll(node, operator.index(shift), axis)
    if shift.node.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"roll: a shift is {shift.node.dtype}; give an integer.")
    length = node.shape[axis]
    ramp = iota(length, dtypes.DEFAULT_INT, node.device)
    amount = cast(shift.node, dtypes.DEFAULT_INT)
    moved = elementwise(OPS["subtract"], ramp, amount)
    size = constant(max(length, 1), dtypes.DEFAULT_INT, node.device)
    items: list[Item] = list(whole_spans(node.shape))
    items[axis] = Indices(elementwise(OPS["remainder"], moved, size))
    return select(node, items)


def _pairs(widths: Widths, rank: int) -> list[tuple[int, int]]:
    pair_of_axis: list[Sequence[SupportsIndex]]
    if is_integer(widths):
        pair_of_axis = [(widths, widths)] * rank
    else:
        listed = list(widths)
        if listed and all(map(is_integer, listed)):
            pair_of_axis = [listed] * rank  # type: ignore[list-item]  # one pair for all axes
        else:
            pair_of_axis = listed  # type: ignore[assignment]  # one pair per axis
    if len(pair_of_axis) != rank or any(len(pair) != 2 for pair in pair_of_axis):
        raise ShapeError(
            f"pad: widths {widths!r} for {rank} axes; give one number, one "
            "(before, after), or one such pair per axis."
        )
    pairs = [
        (operator.index(before), operator.index(after))
        for before, after in pair_of_axis
    ]
    if any(before < 0 or after < 0 for before, after in pairs):
        raise ShapeError(f"pad: widths {widths!r} are negative; use crop to cut.")
    return pairs


def _counts(repetitions: Axes) -> tuple[int, ...]:
    listed = [repetitions] if is_integer(repetitions) else repetitions
    counts = tuple(operator.index(count) for count in listed)
    if any(count < 0 for count in counts):
        raise ShapeError(f"tile: repetitions {counts} are negative.")
    return counts


def _repeat_counts(repeats: ArrayLike, length: int) -> int | list[int]:
    """Return one count for all, or one per element."""
    counts = [repeats] if isinstance(repeats, int) else _read_counts(repeats)
    if any(count < 0 for count in counts):
        raise ShapeError(f"repeat: counts {counts[:5]} must not be negative.")
    if len(counts) == 1:
        return counts[0]
    if len(counts) != length:
        raise ShapeError(
            f"repeat: {len(counts)} counts for {length} elements; give one for each."
        )
    if sum(counts) > MOST_REPEATED:
        raise ShapeError(
            f"repeat: the counts sum to {sum(counts)}; positions are int32, so that "
            f"the result has at most {MOST_REPEATED} elements along the axis."
        )
    return counts


def _read_counts(repeats: ArrayLike) -> list[int]:
    device = None if isinstance(repeats, TensorBase) else "cpu"
    node = as_node(repeats, device=device)
    if node.size and node.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"repeat: counts are {node.dtype}; they must be integers.")
    if len(node.shape) > 1:
        raise ShapeError(f"repeat: counts of shape {node.shape}; give one axis.")
    counts: list[int] = unpack(read([node])[0], node.dtype, (node.size,))  # type: ignore[assignment]  # a flat read gives a list
    return counts


# NumPy compares first letters; every kind is the same stable sort here.
KINDS = ("q", "h", "m", "s")


def check_kind(name: str, kind: object) -> None:
    """Raise unless `kind` names one of NumPy's algorithms."""
    if kind is not None and not str(kind).lower().startswith(KINDS):
        raise DataError(
            f"{name}: kind {kind!r} is unknown; it is quicksort, heapsort, mergesort "
            "or stable, or left out."
        )
