"""Products of tensors as methods: matmul, dot, tensordot, vecdot, outer, and diff."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, SupportsIndex

from tensorweb.errors import AxisError, ShapeError
from tensorweb.graph.node import Node
from tensorweb.nodes import contraction as build
from tensorweb.nodes.elementwise import elementwise
from tensorweb.nodes.movement import reshape, slice_ranges
from tensorweb.nodes.selection import concat
from tensorweb.ops import OPS
from tensorweb.shapes import is_integer, normalize_axis
from tensorweb.tensor.arguments import into
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.convert import ArrayLike, as_operands

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

ContractedAxes = SupportsIndex | Sequence[Sequence[SupportsIndex]]


class AlgebraMethods(TensorBase):
    """Sums of products; nothing larger than the result is stored."""

    __slots__ = ()

    def matmul(self, other: ArrayLike, /) -> Tensor:
        """Return the matrix product: `(..., m, k) @ (..., k, n)` is `(..., m, n)`.

        >>> tw.tensor([[0, 1], [2, 3]]).matmul([[6, 7], [8, 9]])
        tensor([[ 8,  9],
                [36, 41]])
        """
        return self._wrap(build.matmul(*as_operands(self, other)))

    def dot(self, b: ArrayLike, out: TensorBase | None = None) -> Tensor:
        """Return NumPy's dot: the last axis with the last but one of `b`.

        >>> tw.tensor([1, 2, 3]).dot([4, 5, 6])
        tensor(32)
        """
        x, y = as_operands(self, b)
        if not x.shape or not y.shape:
            product = elementwise(OPS["multiply"], x, y)
        else:
            inner = max(len(y.shape) - 2, 0)
            product = build.tensordot(x, y, (len(x.shape) - 1,), (inner,))
        return into(self._wrap(product), out)

    def tensordot(self, other: ArrayLike, /, *, axes: ContractedAxes = 2) -> Tensor:
        """Return the sum of products over axes: a number of them, or two lists.

        >>> tw.tensor([1, 2]).tensordot([3, 4], axes=1)
        tensor(11)
        """
        a, b = as_operands(self, other)
        if is_integer(axes):
            count = operator.index(axes)
            if not 0 <= count <= min(len(a.shape), len(b.shape)):
                raise AxisError(
                    f"tensordot: axes={count} for shapes {a.shape} and {b.shape}; "
                    "give 0 or more, and no more axes than either has."
                )
            first = list(range(len(a.shape) - count, len(a.shape)))
            second = list(range(count))
        else:
            first, second = _pair_of_axes(axes, a, b)
        return self._wrap(build.tensordot(a, b, first, second))

    def vecdot(self, other: ArrayLike, /, *, axis: SupportsIndex = -1) -> Tensor:
        """Return the sum of products along one axis, the others broadcast.

        >>> tw.tensor([[1, 2], [3, 4]]).vecdot([10, 1])
        tensor([12, 34])
        """
        a, b = as_operands(self, other)
        along = operator.index(axis)
        rank = min(len(a.shape), len(b.shape))
        if not -rank <= along < 0:
            raise AxisError(
                f"vecdot: axis {along} for shapes {a.shape} and {b.shape}; it counts "
                f"from the end, {-rank} to -1."
            )
        return self._wrap(build.vecdot(a, b, along))

    def outer(self, other: ArrayLike, /) -> Tensor:
        """Return all products of two 1-D tensors: `(m,)` and `(n,)` give `(m, n)`.

        >>> tw.tensor([1, 2]).outer([10, 20, 30])
        tensor([[10, 20, 30],
                [20, 40, 60]])
        """
        a, b = as_operands(self, other)
        if len(a.shape) != 1 or len(b.shape) != 1:
            raise ShapeError(
                f"outer: shapes {a.shape} and {b.shape}; both need exactly one axis."
            )
        return self._wrap(elementwise(OPS["multiply"], reshape(a, (a.size, 1)), b))

    def diff(
        self,
        n: SupportsIndex = 1,
        axis: SupportsIndex = -1,
        prepend: ArrayLike = None,
        append: ArrayLike = None,
    ) -> Tensor:
        """Return differences of neighbours along an axis, `n` times over.

        >>> tw.tensor([1, 4, 9, 16]).diff()
        tensor([3, 5, 7])
        """
        node = self.node
        along = normalize_axis(axis, len(node.shape))
        n = operator.index(n)
        if n < 0:
            raise ShapeError(f"diff: n is {n}; it is 0 or more.")
        if n == 0:
            return self._wrap(node)
        parts = [
            node,
            *(
                as_operands(self, part)[1]
                for part in (prepend, append)
                if part is not None
            ),
        ]
        if prepend is not None:
            parts[0], parts[1] = parts[1], parts[0]
        if len(parts) > 1:
            node = concat(parts, along)
        name = "not_equal" if node.dtype.kind == "bool" else "subtract"
        for _ in range(min(n, node.shape[along])):  # then nothing is left
            later, earlier = _shifted(node, along, 1), _shifted(node, along, 0)
            node = elementwise(OPS[name], later, earlier)
        return self._wrap(node)


def _pair_of_axes(
    axes: Sequence[Sequence[SupportsIndex]], a: Node, b: Node
) -> tuple[list[int], list[int]]:
    if len(axes) != 2:
        raise AxisError(
            f"tensordot: axes {axes!r}; give a number or two lists of axes."
        )
    first, second = (
        [normalize_axis(axis, len(node.shape)) for axis in _listed(axes_of_one)]
        for axes_of_one, node in zip(axes, (a, b), strict=True)
    )
    if len(first) != len(second) or len(set(first)) != len(first):
        raise AxisError(
            f"tensordot: axes {axes!r}; both lists name equally many different axes."
        )
    return first, second


def _listed(axes: Sequence[SupportsIndex] | SupportsIndex) -> list[SupportsIndex]:
    return [axes] if is_integer(axes) else list(axes)


def _shifted(node: Node, axis: int, start: int) -> Node:
    ranges = [(0, length, 1) for length in node.shape]
    ranges[axis] = (start, max(node.shape[axis] - 1, 0), 1)
    if ranges[axis][1] == 0:
        ranges[axis] = (0, 0, 1)
    return slice_ranges(node, ranges)
