"""Sorting methods: values in order along one axis, and the positions that sort them."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

from tensorweb.errors import DataError
from tensorweb.nodes.sorting import argsort, sort
from tensorweb.shapes import normalize_axis
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.numpy_calls import check_default
from tensorweb.tensor.statements import is_dropped

if TYPE_CHECKING:
    from tensorweb.tensor.tensor import Tensor

KINDS = ("q", "h", "m", "s")
"""First letters of NumPy's names of ways to sort, all of which are one way here."""


class SortingMethods(TensorBase):
    """Equal values always keep their order, and NaN comes last in both directions."""

    __slots__ = ()

    def sort(
        self,
        axis: SupportsIndex = -1,
        kind: str | None = None,
        order: None = None,
        *,
        descending: bool = False,
        stable: bool | None = True,
    ) -> Tensor:
        """Return the values in order along an axis; always stable, NaN last.

        As a statement of its own, whose value nobody takes, it sorts the tensor itself,
        as NumPy's method does.

        Raises:
            DataError: a comprehension gathers the value, or a coroutine returns it, so
                that nobody can tell whether it is taken.
        """
        check_kind("sort", kind)
        check_default("sort", "order", order, None)
        dropped = is_dropped()
        if dropped is None:
            raise DataError(
                "sort: whether a comprehension gathers sorted values or sorts tensors "
                "in place cannot be told. For values write tw.sort(x); to sort x "
                "itself write a loop with the statement x.sort()."
            )
        ordered = self._sorted(axis, descending)
        if dropped:
            self._replace(ordered.node)
            return self  # type: ignore[return-value]  # all tensors are Tensor
        return ordered

    def _sorted(self, axis: SupportsIndex, descending: bool) -> Tensor:
        """Return the values in order along an axis."""
        along = normalize_axis(axis, len(self.node.shape))
        return self._wrap(sort(self.node, along, descending))

    def argsort(
        self,
        axis: SupportsIndex = -1,
        kind: str | None = None,
        order: None = None,
        *,
        descending: bool = False,
        stable: bool | None = True,
    ) -> Tensor:
        """Return the positions (int32) that sort an axis; always stable, NaN last."""
        check_kind("argsort", kind)
        check_default("argsort", "order", order, None)
        along = normalize_axis(axis, len(self.node.shape))
        return self._wrap(argsort(self.node, along, descending))


def check_kind(name: str, kind: object) -> None:
    """Raise unless a way to sort is one of NumPy's, which counts its first letter."""
    if kind is not None and not str(kind).lower().startswith(KINDS):
        raise DataError(
            f"{name}: kind {kind!r} is unknown; it is quicksort, heapsort, mergesort "
            "or stable, or left out."
        )
