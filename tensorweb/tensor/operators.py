"""Python's operators: arithmetic, comparison, bits, matrix product."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorweb.errors import DTypeError
from tensorweb.graph.autograd import is_leaf_of
from tensorweb.nodes.contraction import matmul
from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, as_operands
from tensorweb.tensor.foreign import is_foreign
from tensorweb.tensor.in_place import is_count, is_number_of_its_own
from tensorweb.tensor.operations import operation
from tensorweb.tensor.values import peek

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

REPEATED = frozenset((list, tuple, str, bytes))
"""What an integer repeats, as in `[0] * n`."""

_OWN = (TensorBase, int, float)
"""Operands that need no second look; most are these."""


class Operators(TensorBase):
    """Operators broadcast; Python numbers adopt the tensor's dtype."""

    __slots__ = ()

    __array_priority__ = 1000

    def _binary(self, name: str, x1: ArrayLike, x2: ArrayLike) -> Tensor:
        """Return an elementwise operation on two operands.

        What holds arrays of others (a pandas Series, a dask array) answers itself.
        """
        if not isinstance(x2, _OWN):
            if is_foreign(x2):
                return NotImplemented  # type: ignore[no-any-return]  # Python asks the other
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
        """Return the hash of a number that was computed, which never changes.

        Raises:
            DTypeError: this has axes, or can be changed in place (a TypeError as well).
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
        if not isinstance(other, _OWN) and is_foreign(other):
            return NotImplemented
        return self._wrap(matmul(*as_operands(self, other)))

    def __rmatmul__(self, other: ArrayLike) -> Tensor:
        return self._wrap(matmul(*as_operands(other, self)))
