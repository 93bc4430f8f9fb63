"""Changes at a key, `x.at[key].add(v)`: new tensors where equal positions add up.

The names are those of JAX's `jax.numpy.ndarray.at`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, SupportsIndex

from tensorweb.errors import DTypeError
from tensorweb.graph.node import Node, constant
from tensorweb.lookups.indexing import accumulate, assign, select
from tensorweb.lookups.keys import parse_checked
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.keys import Item
from tensorweb.ops import OPS
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike
from tensorweb.tensor.indexing import node_key, written_values

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor


class AtMethods(TensorBase):
    """Changes at a key that leave the tensor itself as it is."""

    __slots__ = ()

    @property
    def at(self) -> At:
        """Elements at a key, to change in a new tensor: `x.at[key].add(v)`.

        `key` is any that `x[key] = v` takes. Then come `get`, `set`, `add`,
        `subtract`, `multiply`, `divide`, `min` and `max`. Equal positions accumulate,
        where `x[key] += v` keeps NumPy's rule: it writes `x[key] + v`, of equal
        positions the last. The result is the same every time on a device: on `cpu`
        values are taken in order, on `webgpu` in a tree (see docs/numerics.md).
        `x.at(i)` is slice `i` of the first axis.
        """
        return At(self)  # type: ignore[arg-type]  # all tensors are Tensor


class At:
    """What `x.at` is: `x.at[key]` names elements, `x.at(i)` selects them at once."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Tensor) -> None:
        """Look at a tensor."""
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
        given = index[0] if len(index) == 1 else index
        key = tuple(given) if isinstance(given, list | tuple) else (given,)
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

    def _require(self, name: str, kinds: tuple[str, ...], way: str) -> None:
        dtype = self._tensor.node.dtype
        if dtype.kind not in kinds:
            raise DTypeError(
                f"x.at[key].{name}(v): x is {dtype}, of which {name} gives no {dtype}; "
                f"convert it first with x.{way}."
            )
