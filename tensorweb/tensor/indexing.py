"""Indexing methods: `x[key]`, `x[key] = v`, `x.at[key]`, iteration, `take`.

The names of `x.at[key]` are those of JAX's `jax.numpy.ndarray.at`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, SupportsIndex

from tensorweb import dtypes
from tensorweb.devices import as_device
from tensorweb.dtypes import DType
from tensorweb.errors import (
    AxisError,
    DataError,
    DeviceError,
    DTypeError,
    RangeError,
    ShapeError,
    TensorIndexError,
)
from tensorweb.evaluate import host_bytes, read, realize
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.graph.tracing import is_traced, is_tracing
from tensorweb.hostdata import SEQUENCES, pack, unpack
from tensorweb.lookups import (
    accumulate,
    assign,
    checked_indices,
    mask_positions,
    parse_checked,
    select,
)
from tensorweb.nodes.assignment import assign_plain
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.indexing import is_basic, select_plain, take_along
from tensorweb.nodes.keys import Indices, Item, unravel_positions, whole_spans
from tensorweb.nodes.movement import expand_dims
from tensorweb.nodes.reduction import reduce
from tensorweb.nodes.selection import concat
from tensorweb.ops import OPS
from tensorweb.shapes import normalize_axis
from tensorweb.tensor.arguments import numpys
from tensorweb.tensor.base import FLOWING, TensorBase
from tensorweb.tensor.convert import (
    PLAIN_NUMBERS,
    ArrayLike,
    as_node,
    as_operands,
    is_number,
    number_of_scalar,
    scalar_node,
)
from tensorweb.tensor.hostarrays import array_node, is_numpy_scalar
from tensorweb.tensor.views import ITEM

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor


class IndexingMethods(TensorBase):
    """Integers and slices give views; tensors of integers and masks give copies."""

    __slots__ = ()

    def __getitem__(self, key: object) -> Tensor:
        view = select_plain(self.node, key)
        if view is not None:
            return self._view(view, ITEM, key if type(key) is tuple else (key,))
        parts = node_key(key, self.node.device)
        if (view := select_plain(self.node, parts)) is not None:  # integers of tensors
            return self._view(view, ITEM, parts)
        items = parse_checked(parts, self.node.shape)
        selected = select(self.node, items)
        if is_basic(items):
            return self._view(selected, ITEM, parts)
        return self._wrap(selected)

    def __setitem__(self, key: object, value: ArrayLike) -> None:
        values = written_values(value, self.node)
        assigned = assign_plain(self.node, key, values)
        if assigned is None:
            key = parts = node_key(key, self.node.device)
            assigned = assign_plain(self.node, parts, values)
            if assigned is None:
                items = parse_checked(parts, self.node.shape)
                assigned = assign(self.node, items, values)
        self._replace(assigned, key)

    def __iter__(self) -> Iterator[Tensor]:
        if not self.node.shape:
            raise DataError("a 0-d tensor cannot be iterated; read it with item().")
        if not (is_tracing() and is_traced(self.node)):
            realize([self.node])  # else each row would compute what it is a part of
        return map(self.__getitem__, range(self.node.shape[0]))

    def __contains__(self, value: ArrayLike) -> bool:
        equal = elementwise(OPS["equal"], *as_operands(self, value))
        is_equal = reduce("any", equal, tuple(range(len(equal.shape))))
        return read([is_equal])[0] != b"\0"

    def take(
        self,
        indices: ArrayLike,
        /,
        axis: SupportsIndex | None = None,
        out: TensorBase | None = None,
        mode: str = "raise",
    ) -> Tensor:
        """Return the slices at `indices` along an axis.

        >>> tw.tensor([[1, 2, 3], [4, 5, 6]]).take([2, 0], axis=1)
        tensor([[3, 1],
                [6, 4]])
        """
        if out is not None or mode != "raise":
            return numpys("take")(self, indices, axis, out, mode)
        rank = len(self.node.shape)
        if axis is None and rank != 1:
            raise AxisError(
                f"take: shape {self.node.shape} has {rank} axes; say along which "
                "with axis=."
            )
        along = normalize_axis(0 if axis is None else axis, rank)
        chosen = index_node(indices, self.node.device)
        items: list[Item] = list(whole_spans(self.node.shape))
        items[along] = Indices(checked_indices(chosen, along, self.node.shape))
        return self._wrap(select(self.node, items))

    def take_along_axis(
        self, indices: ArrayLike, /, axis: SupportsIndex = -1
    ) -> Tensor:
        """Return elements at `indices` along an axis, other axes matched one to one.

        >>> tw.tensor([[3, 1, 2]]).take_along_axis([[1, 2]])
        tensor([[1, 2]])
        """
        along = normalize_axis(axis, len(self.node.shape))
        chosen = index_node(indices, self.node.device)
        checked = checked_indices(chosen, along, self.node.shape)
        return self._wrap(take_along(self.node, checked, along))

    def split(
        self, split_size: SupportsIndex | Sequence[int], axis: SupportsIndex = 0
    ) -> tuple[Tensor, ...]:
        """Return slices of given lengths along an axis, as PyTorch's `split` does.

        Args:
            split_size: the length of each slice, of which the last may be shorter; or
                all lengths. `np.split` takes the count of slices instead.
            axis: the axis to divide.

        Raises:
            AxisError: the axis does not exist.
            ShapeError: the sum of the lengths is not the axis's length.

        >>> a, b = tw.arange(5).split(3)
        >>> a, b
        (tensor([0, 1, 2]), tensor([3, 4]))
        """
        along = normalize_axis(axis, len(self.node.shape))
        length = self.node.shape[along]
        if isinstance(split_size, Sequence):
            sizes = list(split_size)
        else:
            step = operator.index(split_size)
            sizes = [min(step, length - n) for n in range(0, length, max(step, 1))]
        if sum(sizes) != length or min(sizes, default=0) < 0:
            raise ShapeError(
                f"split: lengths of {split_size!r} do not divide axis {along} of shape "
                f"{self.node.shape}, which has {length}."
            )
        ends = [sum(sizes[: n + 1]) for n in range(len(sizes))]
        before = (slice(None),) * along
        return tuple(
            self[(*before, slice(end - size, end))]
            for end, size in zip(ends, sizes, strict=True)
        )

    def chunk(
        self, chunks: SupportsIndex, axis: SupportsIndex = 0
    ) -> tuple[Tensor, ...]:
        """Return at most `chunks` slices of one length along an axis.

        The last one may be shorter, as in PyTorch.

        Args:
            chunks: how many, at least 1.
            axis: the axis to divide.

        Raises:
            AxisError: the axis does not exist.
            ShapeError: the count is below 1.

        >>> [part.shape for part in tw.ones((2, 7)).chunk(3, axis=1)]
        [(2, 3), (2, 3), (2, 1)]
        """
        length = self.node.shape[normalize_axis(axis, len(self.node.shape))]
        count = operator.index(chunks)
        if count < 1:
            raise ShapeError(f"chunk: chunks={count} is below 1.")
        return self.split(max(1, -(-length // count)), axis)

    def masked_fill(self, mask: ArrayLike, value: ArrayLike) -> Tensor:
        """Return the elements, with a value where a mask is true.

        Args:
            mask: bool; broadcasts against the tensor.
            value: a number, or a 0-d tensor.

        Raises:
            ShapeError: the shapes do not broadcast.

        >>> tw.arange(3.0).masked_fill(tw.asarray([False, True, False]), -tw.inf)
        tensor([  0., -inf,   2.])
        """
        test = as_node(mask, device=self.node.device)
        filled, kept = as_operands(value, self)
        return self._wrap(elementwise(OPS["where"], test, filled, kept))

    def nonzero(self, *, as_tuple: bool = True) -> tuple[Tensor, ...]:
        """Return where elements are not zero: one index tensor per axis.

        With `as_tuple=False` it is one tensor, `(count, axes)`, as PyTorch's.

        >>> tw.tensor([[1, 0], [0, 2]]).nonzero()
        (tensor([0, 1]), tensor([0, 1]))
        """
        if not self.node.shape:
            raise DataError("nonzero: a 0-d tensor has no axes; reshape it to (1,).")
        mask = _as_mask(self.node)
        positions = mask_positions(mask)
        axes = unravel_positions(positions, mask.shape)
        if not as_tuple:
            columns = concat([expand_dims(axis, (1,)) for axis in axes], 1)
            return self._wrap(columns)  # type: ignore[return-value]  # as PyTorch
        return tuple(self._wrap(node) for node in axes)

    @property
    def at(self) -> At:
        """Elements at a key, to change in a new tensor: `x.at[key].add(v)`.

        `key` is any that `x[key] = v` takes. Each method returns a new tensor of the
        shape, dtype and device of `x`, which stays as it is; `v` broadcasts to the
        elements at the key.

        - `x.at[key].set(v)` has `v` there; of equal positions the last wins.
        - `add(v)`, `subtract(v)`, `multiply(v)` and `divide(v)` compute with the
          elements; equal positions accumulate.
        - `min(v)` and `max(v)` have the least and the greatest of both; NaN wins.
        - `get()` is `x[key]`.

        `x[key] += v` keeps NumPy's rule instead: it writes `x[key] + v`, of equal
        positions the last. The result is the same every time on a device: on `cpu`
        values are taken in order, on `webgpu` in a tree. `x.at(i)` is slice `i` of the
        first axis.

        Raises:
            TensorIndexError: an index is out of range, or there are too many.
            ShapeError: `v` does not broadcast to the elements.
            DTypeError: `v` would lose its kind (floats into integers), or `x` is not
                floating-point where it is divided.
            DeviceError: `v` lies on another device.

        >>> x = tw.zeros(4)
        >>> x.at[[1, 3, 1]].add([5, 6, 7])
        tensor([ 0., 12.,  0.,  6.])
        >>> x.at[1:3].set(9)
        tensor([0., 9., 9., 0.])
        >>> x
        tensor([0., 0., 0., 0.])
        """
        return At(self)  # type: ignore[arg-type]  # all tensors are Tensor


def _as_mask(node: Node) -> Node:
    if node.dtype.kind == "bool":
        return node
    zero = scalar_node(0, node.dtype, node.device)
    return elementwise(OPS["not_equal"], node, zero)


def is_argument(node: Node) -> bool:
    """Whether a function is being traced and a value depends on its arguments."""
    return is_tracing() and is_traced(node)


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
        if is_integer and not part.node.shape and not is_argument(part.node):
            return part.__index__()  # type: ignore[attr-defined]  # every tensor has it
        return part.node
    if isinstance(part, int) or (is_numpy_scalar(part) and hasattr(part, "__index__")):
        return part
    if isinstance(part, SEQUENCES) or hasattr(part, "__array__"):
        return index_node(part, device)
    return part


def index_node(indices: ArrayLike, device: str) -> Node:
    """Return indices as a node; an empty list is one of integers."""
    if isinstance(indices, SEQUENCES) and not indices:
        return as_node(indices, dtypes.int32, device)
    if isinstance(indices, TensorBase):
        return indices.node
    if isinstance(indices, SEQUENCES) or is_number(indices):
        return as_node(indices, device=device)
    kind = getattr(getattr(indices, "dtype", None), "kind", "")
    if kind and kind in "iu":
        try:
            return array_node(indices, dtypes.int32, device, must_fit=True)
        except RangeError as error:
            words = str(error).split("; pass")[0].removeprefix("asarray: ")
            raise TensorIndexError(f"an index is out of range: {words}.") from None
    return array_node(indices, None, device)


def written_values(value: ArrayLike, node: Node) -> Node:
    """Return the values of an assignment to a tensor, in a dtype that fits the tensor.

    Raises:
        DTypeError: the values would lose their kind (a float written to integers).
        RangeError: an integer does not fit the tensor's dtype.
    """
    device = as_device(node.device)
    kind = node.dtype.kind
    if type(value) in PLAIN_NUMBERS and (
        kind in FLOWING or (type(value) is int and kind != "bool")
    ):
        return scalar_node(value, node.dtype, device)
    if isinstance(value, TensorBase):
        if value.node.device != device:
            raise DeviceError(
                f"x[key] = v: x lies on {device!r} and v on {value.node.device!r}; "
                f'move v with to_device("{device}").'
            )
        if _ORDER[value.node.dtype.kind] > _ORDER[node.dtype.kind]:
            raise _unfit(value.node.dtype, node.dtype)
        return value.node
    if is_number(value):
        fitting = _fitting_number(number_of_scalar(value), node.dtype)
        return scalar_node(fitting, node.dtype, device)
    host = as_node(value, device="cpu")
    if _ORDER[host.dtype.kind] > _ORDER[node.dtype.kind]:
        data = host_bytes(host)
        if data is None:
            raise _unfit(host.dtype, node.dtype)
        numbers = unpack(data, host.dtype, (host.size,))
        assert isinstance(numbers, list), "internal: a flat read gives a list"
        exact = [_fitting_number(number, node.dtype) for number in numbers]
        packed = pack(exact, node.dtype, host.shape)
        return leaf(HostData(packed), host.shape, node.dtype, device)
    if isinstance(value, SEQUENCES):
        return as_node(value, node.dtype, device)
    return array_node(value, node.dtype, device, must_fit=host.dtype.bits == 64)


_ORDER = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}


def _unfit(value_dtype: DType, tensor_dtype: DType) -> DTypeError:
    return DTypeError(
        f"x[key] = v: v is {value_dtype} and x is {tensor_dtype}, which cannot "
        f"hold it; convert the dtype with v.astype(tw.{tensor_dtype}), or x first."
    )


def _fitting_number(value: object, dtype: DType) -> object:
    """Return a number that is written into a tensor, where its dtype holds it exactly.

    Floats hold every number, rounded; integers whole ones, bool 0 and 1.
    """
    if dtype.kind == "complex" or (
        dtype.kind == "float" and not isinstance(value, complex)
    ):
        return value
    if dtype.kind == "bool":
        if value in (0, 1):
            return bool(value)
    elif isinstance(value, int):
        return value
    elif isinstance(value, float) and value.is_integer():
        return int(value)
    held = "0 and 1" if dtype.kind == "bool" else "whole numbers"
    if isinstance(value, complex):
        held, kind = "no imaginary parts", "complex64"
    else:
        kind = "int32" if isinstance(value, int) else "float32"
    raise DTypeError(
        f"x[key] = v: v is {kind} and x is {dtype}, which cannot hold {value!r}: it "
        f"holds {held}. Convert the dtype of x first, with x.astype(tw.{kind})."
    )


class At:
    """What `x.at` is: `x.at[key]` names elements, `x.at(i)` selects them at once."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Tensor) -> None:
        """Index the elements of a tensor."""
        self._tensor = tensor

    def __getitem__(self, key: object) -> Named:
        """Name the elements of any key that `x[key] = v` takes."""
        node = self._tensor.node
        return Named(
            self._tensor, parse_checked(node_key(key, node.device), node.shape)
        )

    def __call__(self, *index: SupportsIndex | Sequence[SupportsIndex]) -> Tensor:
        """Return slice `i` of the first axis, or the element at an index list.

        Raises:
            TensorIndexError: an index is out of range or there are too many.
        """
        node = self._tensor.node
        indices = index[0] if len(index) == 1 else index
        key = tuple(indices) if isinstance(indices, list | tuple) else (indices,)
        return self._tensor._wrap(
            select(node, parse_checked(node_key(key, node.device), node.shape))
        )


class Named:
    """Elements of a tensor; each method returns a new tensor and leaves the old one.

    Values broadcast to the elements named, as in `x[key] = v`, and take the tensor's
    dtype.

    Raises:
        ShapeError: the values do not broadcast to the elements named.
        DTypeError: the values would lose their kind (floats into integers).
        DeviceError: the values lie on another device.
    """

    __slots__ = ("_items", "_tensor")

    def __init__(self, tensor: Tensor, items: Sequence[Item]) -> None:
        """Name elements by a parsed key."""
        self._tensor = tensor
        self._items = items

    def get(self) -> Tensor:
        """Return the elements, as `x[key]` does."""
        return self._tensor._wrap(select(self._tensor.node, self._items))

    def set(self, values: ArrayLike) -> Tensor:
        """Return the tensor with other elements; of equal positions the last wins.

        >>> tw.zeros(4).at[[1, 3, 1]].set([5, 6, 7])
        tensor([0., 7., 0., 6.])
        """
        node = assign(self._tensor.node, self._items, self._values(values))
        return self._tensor._wrap(node)

    def add(self, values: ArrayLike) -> Tensor:
        """Return the tensor with values added; equal positions add up.

        >>> tw.zeros(4).at[[1, 3, 1]].add([5, 6, 7])
        tensor([ 0., 12.,  0.,  6.])
        """
        return self._accumulate("add", self._values(values))

    def subtract(self, values: ArrayLike) -> Tensor:
        """Return the tensor with values subtracted, as often as positions occur.

        >>> tw.full(3, 10).at[[0, 0, 2]].subtract(1)
        tensor([ 8, 10,  9])
        """
        self._require(
            "subtract", ("int", "uint", "float", "complex"), "astype(tw.int32)"
        )
        fitting = cast(self._values(values), self._tensor.node.dtype)
        return self._accumulate("add", elementwise(OPS["negative"], fitting))

    def multiply(self, values: ArrayLike) -> Tensor:
        """Return the tensor multiplied by values, as often as positions occur.

        >>> tw.ones(3).at[[0, 0, 2]].multiply(3)
        tensor([9., 1., 3.])
        """
        return self._accumulate("multiply", self._values(values))

    def divide(self, values: ArrayLike) -> Tensor:
        """Return the floating tensor divided by the product of values at each position.

        >>> tw.ones(3).at[[0, 0, 2]].divide(2)
        tensor([0.25, 1.  , 0.5 ])
        """
        self._require("divide", ("float", "complex"), "astype(tw.float32)")
        node = self._tensor.node
        ones = constant(1, node.dtype, node.device, node.shape)
        product = accumulate("multiply", ones, self._items, self._values(values))
        return self._tensor._wrap(elementwise(OPS["divide"], node, product))

    def min(self, values: ArrayLike) -> Tensor:
        """Return the tensor with the least of its and the given values; NaN wins.

        >>> tw.full(3, 5).at[[0, 0, 2]].min([4, 1, 9])
        tensor([1, 5, 5])
        """
        return self._accumulate("minimum", self._values(values))

    def max(self, values: ArrayLike) -> Tensor:
        """Return the tensor with the greatest of its and the given values; NaN wins.

        >>> tw.full(3, 5).at[[0, 0, 2]].max([4, 1, 9])
        tensor([5, 5, 9])
        """
        return self._accumulate("maximum", self._values(values))

    def _accumulate(self, name: str, values: Node) -> Tensor:
        node = accumulate(name, self._tensor.node, self._items, values)
        return self._tensor._wrap(node)

    def _values(self, values: ArrayLike) -> Node:
        return written_values(values, self._tensor.node)

    def _require(self, name: str, kinds: tuple[str, ...], conversion: str) -> None:
        dtype = self._tensor.node.dtype
        if dtype.kind not in kinds:
            raise DTypeError(
                f"x.at[key].{name}(v): x is {dtype}, of which {name} gives no {dtype}; "
                f"convert it first with x.{conversion}."
            )
