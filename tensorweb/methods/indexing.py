"""Indexing methods: `x[key]`, `x[key] = v`, iteration, and selection along an axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self, SupportsIndex

from tensorweb import dtypes
from tensorweb.build.assignment import assign
from tensorweb.build.elementwise import elementwise
from tensorweb.build.indexing import select, select_plain, take_along
from tensorweb.build.keys import (
    Indices,
    Item,
    checked_indices,
    mask_positions,
    parse,
    unravel_positions,
    whole_spans,
)
from tensorweb.build.reduction import reduce
from tensorweb.convert import ArrayLike, as_node, as_operands, is_scalar, scalar_node
from tensorweb.devices import as_device
from tensorweb.dtypes import DType
from tensorweb.errors import AxisError, DataError, DeviceError, DTypeError
from tensorweb.evaluate import read, realize
from tensorweb.graph import Node
from tensorweb.hostdata import SEQUENCES
from tensorweb.methods.base import TensorBase
from tensorweb.ops import OPS
from tensorweb.shapes import normalize_axis


class IndexingMethods(TensorBase):
    """Integers and slices give views; tensors of integers and masks give copies."""

    __slots__ = ()

    def __getitem__(self, key: object) -> Self:
        view = select_plain(self.node, key)
        if view is not None:
            return self._wrap(view)
        items = parse(node_key(key, self.node.device), self.node.shape)
        return self._wrap(select(self.node, items))

    def __setitem__(self, key: object, value: ArrayLike) -> None:
        items = parse(node_key(key, self.node.device), self.node.shape)
        values = written_values(value, self.node)
        self.node = self._wrap(assign(self.node, items, values)).node

    def __iter__(self) -> Iterator[Self]:
        if not self.node.shape:
            raise DataError("a 0-d tensor cannot be iterated; read it with item().")
        realize([self.node])
        return (self[i] for i in range(self.node.shape[0]))

    def __contains__(self, value: ArrayLike) -> bool:
        equal = elementwise(OPS["equal"], *as_operands(self, value))
        found = reduce("any", equal, tuple(range(len(equal.shape))))
        return read([found])[0] != b"\0"

    def take(self, indices: ArrayLike, /, axis: SupportsIndex | None = None) -> Self:
        """Return the slices at `indices` along an axis."""
        rank = len(self.node.shape)
        if axis is None and rank != 1:
            raise AxisError(
                f"take: shape {self.node.shape} has {rank} axes; say along which "
                "with axis=."
            )
        place = normalize_axis(0 if axis is None else axis, rank)
        chosen = index_node(indices, self.node.device)
        items: list[Item] = list(whole_spans(self.node.shape))
        items[place] = Indices(checked_indices(chosen, place, self.node.shape))
        return self._wrap(select(self.node, items))

    def take_along_axis(self, indices: ArrayLike, /, axis: SupportsIndex = -1) -> Self:
        """Return elements at `indices` along an axis, other axes matched one to one."""
        place = normalize_axis(axis, len(self.node.shape))
        chosen = index_node(indices, self.node.device)
        checked = checked_indices(chosen, place, self.node.shape)
        return self._wrap(take_along(self.node, checked, place))

    def nonzero(self) -> tuple[Self, ...]:
        """Return where elements are not zero: one index tensor per axis."""
        if not self.node.shape:
            raise DataError("nonzero: a 0-d tensor has no axes; reshape it to (1,).")
        mask = _as_mask(self.node)
        positions = mask_positions(mask)
        return tuple(
            self._wrap(node) for node in unravel_positions(positions, mask.shape)
        )


def _as_mask(node: Node) -> Node:
    if node.dtype.kind == "bool":
        return node
    zero = scalar_node(0, node.dtype, node.device)
    return elementwise(OPS["not_equal"], node, zero)


def node_key(key: object, device: str) -> tuple[object, ...]:
    """Return a key as a tuple in which lists and arrays are nodes."""
    parts = key if isinstance(key, tuple) else (key,)
    return tuple(_node_part(part, device) for part in parts)


def _node_part(part: object, device: str) -> object:
    if part is None or part is Ellipsis or isinstance(part, slice):
        return part
    if isinstance(part, bool):
        return as_node(part, device=device)
    if isinstance(part, TensorBase):
        is_integer = part.node.dtype.kind in ("int", "uint")
        if is_integer and not part.node.shape:
            return part.__index__()  # type: ignore[attr-defined]  # every tensor has it
        return part.node
    if isinstance(part, int) or (is_scalar(part) and hasattr(part, "__index__")):
        return part
    if isinstance(part, SEQUENCES) or hasattr(part, "__array__"):
        return index_node(part, device)
    return part


def index_node(indices: ArrayLike, device: str) -> Node:
    """Return indices as a node; an empty list is one of integers."""
    if isinstance(indices, SEQUENCES) and not len(indices):
        return as_node(indices, dtypes.int32, device)
    if isinstance(indices, TensorBase):
        return indices.node
    kind = getattr(getattr(indices, "dtype", None), "kind", "")
    return as_node(
        indices, dtypes.int32 if kind in ("i", "u") and kind else None, device
    )


def written_values(value: ArrayLike, node: Node) -> Node:
    """Return what is written into a tensor, in a dtype that fits it.

    Raises:
        DTypeError: the values would lose their kind (a float written to integers).
        RangeError: an integer does not fit the tensor's dtype.
    """
    device = as_device(node.device)
    if is_scalar(value):
        found = scalar_node(value, node.dtype, device)
        _check_kind(found.dtype, node.dtype)
        return found
    if isinstance(value, TensorBase):
        if value.node.device != device:
            raise DeviceError(
                f"x[key] = v: x lies on {device!r} and v on {value.node.device!r}; "
                f'move v with to_device("{device}").'
            )
        _check_kind(value.node.dtype, node.dtype)
        return value.node
    if isinstance(value, SEQUENCES):
        _check_kind(as_node(value, device="cpu").dtype, node.dtype)
        return as_node(value, node.dtype, device)
    host = as_node(value, device="cpu")
    _check_kind(host.dtype, node.dtype)
    return as_node(value, node.dtype, device)


_ORDER = {"bool": 0, "uint": 1, "int": 1, "float": 2}


def _check_kind(given: DType, wanted: DType) -> None:
    if _ORDER[given.kind] > _ORDER[wanted.kind]:
        raise DTypeError(
            f"x[key] = v: v is {given} and x is {wanted}, which cannot hold it; "
            f"convert with v.astype(tw.{wanted}), or x first."
        )
