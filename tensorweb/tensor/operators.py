"""Python's operators, also in place, and elementwise operations with arguments.

`x += v` writes to `x`, as `x[key] = v`. Methods without further arguments are in
`elementwise.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex
from weakref import WeakSet

from tensorweb import dtypes
from tensorweb.errors import DTypeError, RangeError, ShapeError
from tensorweb.graph.autograd import is_leaf_of
from tensorweb.graph.node import Node, constant, pair_of
from tensorweb.graph.op import CONSTANT, LEAF
from tensorweb.graph.tracing import note_move
from tensorweb.nodes.contraction import matmul
from tensorweb.nodes.elementwise import cast, elementwise, rounded
from tensorweb.nodes.sorting import clip, isin
from tensorweb.ops import OPS
from tensorweb.tensor.arguments import into
from tensorweb.tensor.base import TensorBase, become_leaf
from tensorweb.tensor.convert import ArrayLike, as_operands, is_number, number_of_scalar
from tensorweb.tensor.hostarrays import is_foreign
from tensorweb.tensor.values import peek

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
"""Operations that accept an integer beyond the range of the tensor's dtype."""


def operation(name: str, *operands: ArrayLike) -> Node:
    """Return an elementwise operation; Python numbers adopt the tensors' dtype.

    A tensor of integers compares with integers of every size, as in NumPy.

    Raises:
        RangeError: an integer does not fit the tensor's dtype and is not compared.
    """
    try:
        return elementwise(OPS[name], *as_operands(*operands))
    except RangeError:
        if name not in COMPARISONS:
            raise
        return _compared(name, *operands)


def _compared(name: str, x: ArrayLike, other: ArrayLike) -> Node:
    """Return the comparison with an integer out of range, equal for all elements.

    Every value of the dtype is on the same side of the integer, 0 among them.
    """
    # NumPy hands the first operand over as an array without axes.
    pair = [y[()] if getattr(y, "shape", None) == () else y for y in (x, other)]  # type: ignore[index]  # an array
    tensors = [operand for operand in pair if isinstance(operand, TensorBase)]
    if len(tensors) != 1 or not any(map(is_number, pair)):
        raise  # the error that is being handled
    numbers = [
        0 if isinstance(operand, TensorBase) else number_of_scalar(operand)
        for operand in pair
    ]
    node = tensors[0].node
    return constant(COMPARISONS[name](*numbers), dtypes.bool, node.device, node.shape)


def clipped(x: ArrayLike, low: ArrayLike, high: ArrayLike) -> Node:
    """Return values raised to one limit and lowered to the other; None is no limit.

    A limit beyond all integers of the dtype is none.
    """
    if isinstance(x, TensorBase) and x.node.dtype.kind in ("int", "uint"):
        least, greatest = dtypes.integer_range(x.node.dtype)
        low = None if type(low) is int and low <= least else low
        high = None if type(high) is int and high >= greatest else high
    node, *limits = as_operands(
        x, *(limit for limit in (low, high) if limit is not None)
    )
    return clip(
        node,
        limits[0] if low is not None else None,
        limits[-1] if high is not None else None,
    )


class OperationMethods(TensorBase):
    """Elementwise methods with arguments that are no operands."""

    __slots__ = ()

    def round(
        self, decimals: SupportsIndex = 0, out: TensorBase | None = None
    ) -> Tensor:
        """Return the nearest number with `decimals` decimals, halves to even.

        >>> tw.tensor([0.5, 1.5, 2.4]).round()
        tensor([0., 2., 2.])
        """
        return into(self._wrap(rounded(self.node, operator.index(decimals))), out)

    def __round__(self, ndigits: SupportsIndex | None = None) -> Any:
        if ndigits is None and not self.node.shape:
            return round(peek(self))
        return self.round(0 if ndigits is None else ndigits)

    def clip(
        self,
        min: ArrayLike = None,
        max: ArrayLike = None,
        out: TensorBase | None = None,
        *,
        casting: str = "same_kind",
    ) -> Tensor:
        """Return values below `min` raised to it, values above `max` lowered to it.

        `casting="unsafe"` converts them to the dtype of `out`, whatever that is.

        >>> tw.tensor([1, 5, 9]).clip(2, 7)
        tensor([2, 5, 7])
        """
        return into(self._wrap(clipped(self, min, max)), out, casting)

    def isin(self, other: ArrayLike, /, *, invert: bool = False) -> Tensor:
        """Return whether each element occurs in `other`; negated for `invert=True`.

        >>> tw.tensor([1, 2, 3]).isin([3, 1])
        tensor([ True, False,  True])
        """
        return self._wrap(isin(*as_operands(self, other), invert=invert))


if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

REPEATED = frozenset((list, tuple, str, bytes))
"""Sequences that a product with an integer repeats, as in `[0] * n`."""

_PLAIN_OPERANDS = (TensorBase, int, float)
"""Types of operands that are neither foreign arrays nor repeated sequences."""

_IN_PLACE_KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "uint": ("bool", "uint"),
    "int": ("bool", "uint", "int"),
    "float": ("bool", "uint", "int", "float"),
    "complex": ("bool", "uint", "int", "float", "complex"),
}
"""Kinds of results that a tensor can hold in place, by its own kind, as in NumPy."""

_scalars_written: WeakSet[Node] = WeakSet()
"""Computed nodes of 0-d tensors that were created as data and changed in place."""

_computed_scalars: WeakSet[Node] = WeakSet()
"""Nodes of computed 0-d values that are leaves or constants of the graph."""


class Operators(TensorBase):
    """Operators; operands broadcast and Python numbers adopt the tensor's dtype."""

    __slots__ = ()

    __array_priority__ = 1000

    def _binary(self, name: str, x1: ArrayLike, x2: ArrayLike) -> Tensor:
        """Return an elementwise operation on two operands.

        Containers of arrays (a pandas Series, a dask array) compute the result instead.
        """
        if not isinstance(x2, _PLAIN_OPERANDS):
            if is_foreign(x2):
                return NotImplemented  # type: ignore[no-any-return]  # Python calls the other operand
            if name == "multiply" and type(x2) in REPEATED and is_count(self.node):
                return x2 * self.__index__()  # type: ignore[attr-defined,no-any-return]  # a list
        return self._wrap(operation(name, x1, x2))

    def __add__(self, other: ArrayLike) -> Tensor:
        return self._binary("add", self, other)

    def __radd__(self, other: ArrayLike) -> Tensor:
        return self._binary("add", other, self)

    def __sub__(self, other: ArrayLike) -> Tensor:
        return self._binary("subtract", self, other)

    def __rsub__(self, other: ArrayLike) -> Tensor:
        return self._binary("subtract", other, self)

    def __mul__(self, other: ArrayLike) -> Tensor:
        return self._binary("multiply", self, other)

    def __rmul__(self, other: ArrayLike) -> Tensor:
        if type(other) in REPEATED and is_count(self.node):
            return other * self.__index__()  # type: ignore[attr-defined,no-any-return]  # a list
        return self._binary("multiply", other, self)

    def __truediv__(self, other: ArrayLike) -> Tensor:
        return self._binary("divide", self, other)

    def __rtruediv__(self, other: ArrayLike) -> Tensor:
        return self._binary("divide", other, self)

    def __floordiv__(self, other: ArrayLike) -> Tensor:
        return self._binary("floor_divide", self, other)

    def __rfloordiv__(self, other: ArrayLike) -> Tensor:
        return self._binary("floor_divide", other, self)

    def __mod__(self, other: ArrayLike) -> Tensor:
        return self._binary("remainder", self, other)

    def __rmod__(self, other: ArrayLike) -> Tensor:
        return self._binary("remainder", other, self)

    def __divmod__(self, other: ArrayLike) -> tuple[Tensor, Tensor]:
        return self // other, self % other

    def __rdivmod__(self, other: ArrayLike) -> tuple[Tensor, Tensor]:
        return other // self, other % self

    def __pow__(self, other: ArrayLike) -> Tensor:
        return self._binary("pow", self, other)

    def __rpow__(self, other: ArrayLike) -> Tensor:
        return self._binary("pow", other, self)

    def __and__(self, other: ArrayLike) -> Tensor:
        return self._binary("bitwise_and", self, other)

    def __rand__(self, other: ArrayLike) -> Tensor:
        return self._binary("bitwise_and", other, self)

    def __or__(self, other: ArrayLike) -> Tensor:
        return self._binary("bitwise_or", self, other)

    def __ror__(self, other: ArrayLike) -> Tensor:
        return self._binary("bitwise_or", other, self)

    def __xor__(self, other: ArrayLike) -> Tensor:
        return self._binary("bitwise_xor", self, other)

    def __rxor__(self, other: ArrayLike) -> Tensor:
        return self._binary("bitwise_xor", other, self)

    def __lshift__(self, other: ArrayLike) -> Tensor:
        return self._binary("bitwise_left_shift", self, other)

    def __rlshift__(self, other: ArrayLike) -> Tensor:
        return self._binary("bitwise_left_shift", other, self)

    def __rshift__(self, other: ArrayLike) -> Tensor:
        return self._binary("bitwise_right_shift", self, other)

    def __rrshift__(self, other: ArrayLike) -> Tensor:
        return self._binary("bitwise_right_shift", other, self)

    def __eq__(self, other: ArrayLike) -> Tensor:  # type: ignore[override]  # elementwise, as in NumPy
        return self._binary("equal", self, other)

    def __ne__(self, other: ArrayLike) -> Tensor:  # type: ignore[override]  # elementwise, as in NumPy
        return self._binary("not_equal", self, other)

    def __lt__(self, other: ArrayLike) -> Tensor:
        return self._binary("less", self, other)

    def __le__(self, other: ArrayLike) -> Tensor:
        return self._binary("less_equal", self, other)

    def __gt__(self, other: ArrayLike) -> Tensor:
        return self._binary("greater", self, other)

    def __ge__(self, other: ArrayLike) -> Tensor:
        return self._binary("greater_equal", self, other)

    def __hash__(self) -> int:
        """Return the hash of a computed 0-d tensor, whose value never changes.

        Raises:
            DTypeError: the tensor has axes or can change in place (also a TypeError).
        """
        node = self.node
        if node.shape or not is_number_of_its_own(node) or is_leaf_of(node, self):
            raise DTypeError(
                "hash(): a tensor is unhashable, as == compares its elements, and its "
                "value can be changed. In sets and as keys take numbers: x.item(), or "
                "set(x.tolist())."
            )
        return hash(peek(self))

    def __neg__(self) -> Tensor:
        return self._wrap(elementwise(OPS["negative"], self.node))

    def __pos__(self) -> Tensor:
        return self._wrap(elementwise(OPS["positive"], self.node))

    def __abs__(self) -> Tensor:
        return self._wrap(elementwise(OPS["abs"], self.node))

    def __invert__(self) -> Tensor:
        return self._wrap(elementwise(OPS["bitwise_invert"], self.node))

    def __matmul__(self, other: ArrayLike) -> Tensor:
        if not isinstance(other, _PLAIN_OPERANDS) and is_foreign(other):
            return NotImplemented
        return self._wrap(matmul(*as_operands(self, other)))

    def __rmatmul__(self, other: ArrayLike) -> Tensor:
        return self._wrap(matmul(*as_operands(other, self)))


class InPlaceOperators(TensorBase):
    """Operators in place, which also update the views and the base of the tensor.

    Shape and dtype stay: a result of another shape, or of a kind that the dtype cannot
    hold, is an error. A computed 0-d tensor is immutable, as NumPy's scalars are: the
    operator returns a new tensor.
    """

    __slots__ = ()

    def _update(self, name: str, other: ArrayLike) -> Tensor:
        """Replace the value by the result of an elementwise operation."""
        return self._take_over(name, elementwise(OPS[name], *as_operands(self, other)))

    def _take_over(self, name: str, node: Node) -> Tensor:
        """Replace the value of this tensor; return a new tensor for a computed scalar.

        Raises:
            ShapeError: the value has another shape.
            DTypeError: the value's kind does not fit the dtype.
            TransformError: the tensor is a leaf and gradients are enabled.
        """
        old = self.node
        is_leaf = is_leaf_of(old, self)
        if not old.shape and not is_leaf and is_number_of_its_own(old):
            return self._wrap(node)
        if node.shape != old.shape:
            raise ShapeError(
                f"{name} in place: x has shape {old.shape} and the result "
                f"{node.shape}; an in-place operation keeps the shape. Write "
                "x = x + v, with the operator meant, for a new tensor."
            )
        if node.dtype is not old.dtype:
            if node.dtype.kind not in _IN_PLACE_KINDS[old.dtype.kind]:
                raise DTypeError(
                    f"{name} in place: x is {old.dtype} and the result {node.dtype}, "
                    "which it cannot hold. Write x = x + v, with the operator meant, "
                    f"for a new tensor, or give x the dtype: x.astype(tw.{node.dtype})."
                )
            node = cast(node, old.dtype)
        self._replace(node)
        if not node.shape and not is_leaf:
            _scalars_written.add(node)
        return self  # type: ignore[return-value]  # all tensors are Tensor

    def __iadd__(self, other: ArrayLike) -> Tensor:
        return self._update("add", other)

    def __isub__(self, other: ArrayLike) -> Tensor:
        return self._update("subtract", other)

    def __imul__(self, other: ArrayLike) -> Tensor:
        return self._update("multiply", other)

    def __itruediv__(self, other: ArrayLike) -> Tensor:
        return self._update("divide", other)

    def __ifloordiv__(self, other: ArrayLike) -> Tensor:
        return self._update("floor_divide", other)

    def __imod__(self, other: ArrayLike) -> Tensor:
        return self._update("remainder", other)

    def __ipow__(self, other: ArrayLike) -> Tensor:
        return self._update("pow", other)

    def __iand__(self, other: ArrayLike) -> Tensor:
        return self._update("bitwise_and", other)

    def __ior__(self, other: ArrayLike) -> Tensor:
        return self._update("bitwise_or", other)

    def __ixor__(self, other: ArrayLike) -> Tensor:
        return self._update("bitwise_xor", other)

    def __ilshift__(self, other: ArrayLike) -> Tensor:
        return self._update("bitwise_left_shift", other)

    def __irshift__(self, other: ArrayLike) -> Tensor:
        return self._update("bitwise_right_shift", other)

    def __imatmul__(self, other: ArrayLike) -> Tensor:
        return self._take_over("matmul", matmul(*as_operands(self, other)))


def is_number_of_its_own(node: Node) -> bool:
    """Whether a 0-d value was computed, so that NumPy would have a scalar."""
    if pair_of(node).op in (LEAF, CONSTANT):
        return node in _computed_scalars
    return node not in _scalars_written


def is_count(node: Node) -> bool:
    """Whether a value is a computed integer, so that NumPy would have a scalar."""
    return (
        not node.shape
        and node.dtype.kind in ("int", "uint")
        and is_number_of_its_own(node)
    )


def mark_number(node: Node) -> None:
    """Mark a leaf or constant as a computed 0-d value."""
    _computed_scalars.add(node)


def overwrite(tensor: TensorBase, node: Node) -> None:
    """Replace the value of a tensor; a 0-d tensor stays changeable in place."""
    tensor._replace(node)
    if not node.shape:
        _computed_scalars.discard(tensor.node)
        _scalars_written.add(tensor.node)


def rehouse(tensor: TensorBase, node: Node) -> None:
    """Replace the node of a tensor by another node of the same value."""
    old = tensor.node
    if is_leaf_of(old, tensor):
        become_leaf(tensor, node)
        return
    if not node.shape and not is_number_of_its_own(old):
        _scalars_written.add(node)
    note_move(old, node)
    tensor.node = node
